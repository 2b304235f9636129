"""Every cell of every profile is executed: its message comes, and what it says is carried out.

What it must say is typed in `procedures_expected`, not read from the profile.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from profiles import profile
from table.carried_out import (
    are_all_scanned,
    is_asked,
    is_confirmed_cancel,
    is_dropped,
    is_entered,
    is_refunded,
    is_scanned,
    messages,
    open_case,
)
from table.cells import HOUSES, Case, House, cases_of, finish
from table.dealt import ANNA, BETS, BORIS, Dealt, every, only, refusal
from table.procedures_expected import Says, expected

from controller.games.procedure import BURN
from controller.table import inputs as i
from controller.table.cells import PRESSES, CellVerdict, Deck
from controller.table.charts import PHASE_INPUTS, IncidentState, Phase
from controller.table.events import (
    BoxVoided,
    CardBurned,
    CardDealt,
    CardHeld,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    Refusal,
    RoundConfirmed,
    RoundRedealt,
    Verdict,
)
from controller.table.picture import draw
from controller.table.situations import SITUATIONS, Axis, Known

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


@pytest.mark.parametrize("name", sorted({house.profile for house in HOUSES}))
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
    is_asked(d, one.kind, says)


def rescan(d: Dealt, house: House, one: Case, says: Says) -> None:
    is_scanned(d, one.kind)
    to_the_end(d)


def rescan_all(d: Dealt, house: House, one: Case, says: Says) -> None:
    are_all_scanned(d)
    to_the_end(d)


def supervisor(d: Dealt, house: House, one: Case, says: Says) -> None:
    """A supervisor has these presses, and no other; each does what it says."""
    open_case(d, IncidentState.SUPERVISOR)
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
    is_entered(d, one.kind)
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
    incident = open_case(d, IncidentState.RESCAN)
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
    """The round is cancelled at once, or by another person than who has reported it."""
    is_confirmed_cancel(d)
    is_cancelled(d, one, says)


def is_cancelled(d: Dealt, one: Case, says: Says) -> None:
    is_refunded(d, one.kind)
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
    is_dropped(d, count=6)
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
