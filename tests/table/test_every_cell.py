"""Every cell of every profile is executed: its message comes, and what it says is carried out.

What it must say is typed in `procedures_expected`, not read from the profile.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from profiles import profile
from table.cells import HOUSES, Case, House, cases_of, finish
from table.dealt import ANNA, BETS, BORIS, Dealt, every, only, refusal
from table.procedures_expected import EXPECTED, Says, expected

from controller.games.procedure import BURN
from controller.table import inputs as i
from controller.table.charts import PHASE_INPUTS, IncidentState, Phase
from controller.table.events import (
    BoxVoided,
    CardBurned,
    CardDealt,
    CardHeld,
    CardWithdrawn,
    IncidentAsked,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    Refusal,
    RoundCancelled,
    RoundConfirmed,
    RoundRedealt,
    Verdict,
)
from controller.table.picture import draw
from controller.table.profile import PRESSES, CellVerdict, Deck
from controller.table.situations import SITUATIONS, Axis, Known, cancel_reason

ALL = [(house, one) for house in HOUSES for one in cases_of(house)]
WENT_ON = {
    IncidentKind.WRONG_FACT: Verdict.REFUND,
    IncidentKind.WRONG_PLACE: Verdict.RESTORED,
    IncidentKind.TABLE_CLEARED: Verdict.RESTORED,
    IncidentKind.CARD_ON_FLOOR: Verdict.RESTORED,
    IncidentKind.DEALER_CHANGE: Verdict.DEALER_CHANGED,
}


def cell_of(house: House, one: Case) -> str:
    return profile(house.profile).cell(one.kind, one.phase, one.values).id


def messages(d: Dealt) -> set[str]:
    """Return the cells that the last input's messages name."""
    asked = {event.cell for event in (*every(d.last, IncidentOpened), *every(d.last, IncidentAsked))}
    return asked | {event.cell for event in every(d.last, IncidentDecided)}


@pytest.mark.parametrize("name", EXPECTED)
def test_there_is_a_way_into_every_cell(name: str) -> None:
    met = {(SITUATIONS[one.kind].row, cell_of(house, one)) for house, one in ALL if house.profile == name}
    cells = {(number, cell.id) for number, row in profile(name).rows.items() for cell in row.cells}
    assert met == cells


@pytest.mark.parametrize(("house", "one"), ALL, ids=[f"{house.game}-{one}" for house, one in ALL])
def test_the_cell_is_named_and_carried_out(house: House, one: Case) -> None:
    says = expected(house.profile, one.kind, one.phase, one.values)
    d = one.way(house)
    assert cell_of(house, one) in messages(d)
    CARRIED_OUT[says.verdict](d, house, one, says)


def ask(d: Dealt, house: House, one: Case, says: Says) -> None:
    """One question is open, and only its answer is taken."""
    incident = d.table.state.incident
    assert incident is not None and (incident.kind, incident.asks) == (one.kind, says.asks)
    picture = draw(d.table.state)
    assert {"answer_question", "confirm_picture"} & set(picture.buttons)
    assert not PRESSES & set(picture.buttons) and picture.prompt.incident == incident.number
    assert refusal(d.press(i.ConfirmCancel(), BORIS)) is not None
    assert refusal(d.scan()) is Refusal.HELD


def rescan(d: Dealt, house: House, one: Case, says: Says) -> None:
    """The card is scanned, and lies at its place."""
    incident = d.table.state.incident
    assert incident is not None and incident.state is IncidentState.RESCAN
    before = len(d.table.state.in_play.laid)
    if one.kind is IncidentKind.DISPUTED_READ:
        d.scan(str(d.table.state.in_play.laid[-1].card))
        assert only(d.last, CardDealt).reading == 2
    else:
        d.scan()
        before += 1
    assert every(d.last, IncidentDecided)[0].verdict is Verdict.RESCANNED
    assert len(d.table.state.in_play.laid) == before and only(d.last, CardDealt)
    to_the_end(d)


def rescan_all(d: Dealt, house: House, one: Case, says: Says) -> None:
    """Every card is scanned again from the first, in the order of drawing; all are as they were."""
    laid = list(d.table.state.in_play.laid)
    for index, card in enumerate(laid):
        prompt = draw(d.table.state).prompt
        assert (prompt.code, prompt.place, prompt.n) == ("SCAN_FROM_FIRST", card.place, card.n), index
        d.scan(str(card.card))
    assert only(d.last, IncidentDecided).verdict is Verdict.RESCANNED
    assert not every(d.last, CardWithdrawn) and d.table.state.in_play.laid == laid
    to_the_end(d)


def supervisor(d: Dealt, house: House, one: Case, says: Says) -> None:
    """A supervisor has these presses, and no other; each does what it says."""
    incident = d.table.state.incident
    assert incident is not None and incident.state is IncidentState.SUPERVISOR
    if one.kind is IncidentKind.RESTARTED:
        all_decide(d)
    taken = says.presses & PHASE_INPUTS[d.phase]
    assert taken and PRESSES & set(draw(d.table.state).buttons) == taken
    for press in sorted(taken):
        fresh = one.way(house)
        PRESSED[press](fresh, one, says)
    for press in sorted((PRESSES & PHASE_INPUTS[d.phase]) - taken):
        assert refusal(d.press(COMMANDS[press], BORIS)) is Refusal.NOT_OFFERED, press
    for press in sorted(taken):
        assert refusal(d.press(COMMANDS[press], ANNA)) is Refusal.WRONG_ROLE, press


COMMANDS: dict[str, i.AnyCommand] = {
    "confirm_cancel": i.ConfirmCancel(),
    "go_on": i.GoOn(),
    "order_rescan": i.OrderRescan(),
    "order_entry": i.OrderEntry(),
    "order_redeal": i.OrderRedeal(),
    "void_box": i.VoidBox("box1"),
}


def press_entry(d: Dealt, one: Case, says: Says) -> None:
    """Two people say which card it is; where all are scanned again, the others are scanned after it."""
    lost = one.kind is IncidentKind.SCANNER_LOST
    laid = list(d.table.state.in_play.laid)
    assert refusal(d.press(i.OrderEntry(), BORIS)) is None
    incident = d.table.state.incident
    assert incident is not None and incident.state is IncidentState.ENTRY
    again = incident.again is not None
    comes = lost or one.kind is IncidentKind.FAILED_READ
    card = d.shoe.pop(0) if comes else laid[0 if again else -1].card
    for actor in (ANNA, BORIS):
        d.press(i.EnterCard(incident.number, str(card)), actor)
    for known in laid[1:] if again else ():
        d.scan(str(known.card))
    assert only(every(d.last, CardDealt), CardDealt).manual
    assert every(d.last, IncidentDecided)[0].verdict is Verdict.ENTERED
    if lost:  # The next card would be entered, too.
        d.plug()
        d.answer(False)
    to_the_end(d)


def press_cancel(d: Dealt, one: Case, says: Says) -> None:
    assert refusal(d.press(i.ConfirmCancel(), BORIS)) is None
    is_cancelled(d, one, says)


def press_go_on(d: Dealt, one: Case, says: Says) -> None:
    if one.kind is IncidentKind.RESTARTED:
        all_decide(d)
    assert refusal(d.press(i.GoOn(), BORIS)) is None
    if one.kind is IncidentKind.SCANNER_LOST:
        d.answer(False)  # The other device is accepted; has a card come out meanwhile?
    assert only(d.last, IncidentDecided).verdict is WENT_ON.get(one.kind, Verdict.WENT_ON)
    if one.kind is IncidentKind.RESTARTED:
        d.answer(False)  # The scanner was away, too.
    if one.kind is IncidentKind.DEALER_CHANGE:
        d.log_in(ANNA)
        d.press(i.GoOn(), BORIS)
    to_the_end(d)


def all_decide(d: Dealt) -> None:
    """The window that was interrupted is never judged by silence: going on waits until all have decided."""
    assert "go_on" not in draw(d.table.state).buttons
    d.facts("options", undecided=False)
    for box in d.game.boxes:
        d.press(i.DecisionTaken("options", box, "BET"), BETS)


def press_rescan(d: Dealt, one: Case, says: Says) -> None:
    assert refusal(d.press(i.OrderRescan(), BORIS)) is None
    incident = d.table.state.incident
    assert incident is not None and incident.state is IncidentState.RESCAN
    if incident.again is not None or incident.fact is not None:
        rest = d.table.state.in_play.laid[len(incident.again or ()) if incident.again is not None else -1 :]
        for card in list(rest):
            d.scan(str(card.card))
    else:
        d.scan()
    assert every(d.last, IncidentDecided)[0].verdict is Verdict.RESCANNED
    if one.kind is IncidentKind.HELD_READ and one.values[Axis.CERTAIN] is Known.NO:
        d.answer(True)  # Now the other one.
        d.scan()
    to_the_end(d)


def press_redeal(d: Dealt, one: Case, says: Says) -> None:
    assert refusal(d.press(i.OrderRedeal(), BORIS)) is None
    assert only(d.last, RoundRedealt).deal == 2 and d.phase is Phase.SHUFFLING


def press_void(d: Dealt, one: Case, says: Says) -> None:
    assert refusal(d.press(i.VoidBox("box1"), BORIS)) is None
    assert only(d.last, BoxVoided).box == "box1"
    assert len(every(d.last, CardBurned)) == (one.kind is IncidentKind.EARLY_EXCHANGE)
    to_the_end(d)
    outcome = only(d.events, RoundConfirmed).outcome.box("box1")
    fates = [row for hand in outcome.hands for row in hand.rows.values()]
    assert {judged.outcome for row in fates for judged in row.values()} <= {"REFUND"}


PRESSED: dict[str, Callable[[Dealt, Case, Says], None]] = {
    "confirm_cancel": press_cancel,
    "go_on": press_go_on,
    "order_entry": press_entry,
    "order_rescan": press_rescan,
    "order_redeal": press_redeal,
    "void_box": press_void,
}


def cancel(d: Dealt, house: House, one: Case, says: Says) -> None:
    """The round is cancelled at once; where a person has only reported it, another one presses."""
    if d.table.state.incident is not None:
        assert d.table.state.incident.reported_by == ANNA
        assert PRESSES & set(draw(d.table.state).buttons) == {"confirm_cancel"}
        d.press(i.ConfirmCancel(), BORIS)
    is_cancelled(d, one, says)


def is_cancelled(d: Dealt, one: Case, says: Says) -> None:
    event = only(d.last, RoundCancelled)
    assert (event.reason, event.refund) == (cancel_reason(one.kind), "all")
    assert {decided.verdict for decided in every(d.last, IncidentDecided)} == {Verdict.CANCELLED}
    d.press(i.ClearTable())
    assert d.phase is (Phase.DECK_CHECK if says.deck is Deck.OUT else Phase.SHUFFLING)


def burn(d: Dealt, house: House, one: Case, says: Says) -> None:
    """The card goes out, face down; one that was not scanned is scanned first."""
    if not every(d.last, CardBurned):
        assert draw(d.table.state).prompt.code == "SCAN_TO_BURN"
        d.scan()
    assert only(d.last, CardBurned).n == 1
    assert only(d.last, IncidentDecided).verdict is Verdict.BURNED
    to_the_end(d)
    assert [card.place for card in only(d.events, RoundConfirmed).opened].count(BURN) == 1


def next_due(d: Dealt, house: House, one: Case, says: Says) -> None:
    """The card waits, and is the next one that becomes due."""
    assert only(d.last, IncidentDecided).verdict is Verdict.HELD
    if one.values.get(Axis.SCANNED) is Known.NO:
        assert not every(d.last, CardHeld)
        finish(d, Phase.DECIDING)
        assert not every(d.events, CardBurned)
        return
    assert only(d.last, CardHeld).n == 1 and draw(d.table.state).held_count == 1
    d.press(i.DecisionTaken("options", "box1", "EXCHANGE", (1,)), BETS)
    laid = only(d.last, CardDealt)
    assert (laid.place, laid.n, laid.held) == ("box1", 6, 1) and draw(d.table.state).held_count == 0
    to_the_end(d)


def drop(d: Dealt, house: House, one: Case, says: Says) -> None:
    """The second reading counts as never made."""
    assert only(d.last, IncidentDecided).verdict is Verdict.DUPLICATE_READ
    assert len(d.table.state.in_play.laid) == d.table.state.register.out_count == 6
    to_the_end(d)


def go_on(d: Dealt, house: House, one: Case, says: Says) -> None:
    """It is on record; the round goes on."""
    assert only(d.last, IncidentDecided).verdict is WENT_ON.get(one.kind, Verdict.WENT_ON)
    if one.kind is IncidentKind.RESTARTED:
        d.answer(False)  # The scanner was away, too.
    to_the_end(d)


def check_deck(d: Dealt, house: House, one: Case, says: Says) -> None:
    """No round opens before the deck is checked."""
    out = says.deck is Deck.OUT
    assert only(d.last, IncidentDecided).verdict is (Verdict.DECK_OUT if out else Verdict.DECK_CHECK)
    assert only(d.last, IncidentOpened).prompt == "CHECK_DECK"
    if d.phase is Phase.CONFIRMED:
        d.press(i.ClearTable())
    assert d.phase is Phase.DECK_CHECK
    assert refusal(d.press(i.OpenBetting())) is Refusal.WRONG_PHASE


def shuffle(d: Dealt, house: House, one: Case, says: Says) -> None:
    """The deck is shuffled again before a round opens."""
    assert only(d.last, IncidentDecided).verdict is Verdict.SHUFFLE_AGAIN and d.phase is Phase.SHUFFLING
    assert refusal(d.press(i.OpenBetting())) is Refusal.WRONG_PHASE


CARRIED_OUT: dict[CellVerdict, Callable[[Dealt, House, Case, Says], None]] = {
    CellVerdict.ASK: ask,
    CellVerdict.RESCAN: rescan,
    CellVerdict.RESCAN_ALL: rescan_all,
    CellVerdict.SUPERVISOR: supervisor,
    CellVerdict.CANCEL: cancel,
    CellVerdict.BURN: burn,
    CellVerdict.NEXT_DUE: next_due,
    CellVerdict.DROP: drop,
    CellVerdict.RESTORE: go_on,
    CellVerdict.GO_ON: go_on,
    CellVerdict.CHECK_DECK: check_deck,
    CellVerdict.SHUFFLE: shuffle,
}


def to_the_end(d: Dealt) -> None:
    """Nothing is left open: the round is played to its end and the next one begins."""
    assert d.table.state.incident is None
    finish(d, Phase.CONFIRMED)
    d.press(i.ClearTable())
    assert d.phase in (Phase.SHUFFLING, Phase.DECK_CHECK)
