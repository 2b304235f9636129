"""Every cell of baccarat's profile is executed: its message comes, and what it says is carried out.

What it must say is typed in `procedures_shoe` and `procedures_expected`, not read from the profile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import pytest
from profiles import profile
from table.dealt import ANNA, BORIS, DORA, RED, SHOE, every, only, refusal
from table.procedures_expected import Says, expected
from table.shoe_dealt import SHOE8, SIX_CARDS, ShoeDealt

from controller.games.baccarat import LAYOUT
from controller.games.procedure import BoxState
from controller.table import inputs as i
from controller.table.charts import PHASE_INPUTS, IncidentState, Phase
from controller.table.events import (
    CardBurned,
    CardDealt,
    IncidentAsked,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    Refusal,
    RoundCancelled,
    RoundConfirmed,
    Verdict,
)
from controller.table.picture import draw
from controller.table.profile import PRESSES, CellVerdict, Deck
from controller.table.quarantine import name_of
from controller.table.situations import SITUATIONS, Axis, Known, cancel_reason

Kind = IncidentKind
B, D, R, C = Phase.BETTING, Phase.DEALING, Phase.RESULT_PROPOSED, Phase.CONFIRMED
Y, N, U = "yes", "no", "unknown"
Do = Callable[[ShoeDealt], object]
PROFILE = "baccarat"


class Case(NamedTuple):
    """A case, and the acts that lead into it: its message comes with the last one."""

    kind: Kind
    phase: Phase
    values: Mapping[Axis, Known]
    acts: tuple[Do, ...]

    def way(self) -> ShoeDealt:
        d = ShoeDealt(SIX_CARDS + " " + "Th 9c 8d 2s 4h 6c " * 6, burn_by_first_card=False)
        d.shoe = d.shoe[2:]  # Nothing is burned at the beginning of these shoes.
        d.to_ready()
        for act in self.acts:
            act(d)
        return d

    def __str__(self) -> str:
        return "-".join((self.kind, self.phase, *(f"{axis}:{value}" for axis, value in self.values.items())))


def case(kind: Kind, phase: Phase, *acts: Do | tuple[Do, ...], **values: str) -> Case:
    flat = tuple(one for act in acts for one in (act if isinstance(act, tuple) else (act,)))
    return Case(kind, phase, {Axis(name): Known(value) for name, value in values.items()}, flat)


def start(d: ShoeDealt) -> object:
    return d.press(i.OpenBetting())


def no_more_bets(d: ShoeDealt) -> object:
    d.press(i.CloseBetting())
    return d.bets()


def dealing(count: int) -> tuple[Do, ...]:
    return (start, no_more_bets, lambda d: d.deal(count))


def report(kind: Kind, place: str | None = None) -> Do:
    return lambda d: d.press(i.Observed(kind, place))


def answer(yes: bool) -> Do:
    return lambda d: d.answer(yes)


def scan(d: ShoeDealt) -> object:
    return d.scan()


def fail(d: ShoeDealt) -> object:
    return d.fail()


def scan_again_at_once(d: ShoeDealt) -> object:
    return d.scan_at_once(str(d.table.state.in_play.laid[-1].card))


def dispute(d: ShoeDealt) -> object:
    return d.press(i.DisputeReading())


def strange(d: ShoeDealt) -> object:
    return d.scan(code=RED.code(d.shoe[0]))


def result(d: ShoeDealt) -> object:
    return d.press(i.ConfirmResult())


def clear(d: ShoeDealt) -> object:
    return d.press(i.ClearTable())


def restart(d: ShoeDealt) -> None:
    d.start()
    d.plug()


def restart_as_another(d: ShoeDealt) -> None:
    d.start(program="2.0")
    d.plug()


def picture(d: ShoeDealt) -> object:
    return d.confirm_picture()


def tell_empty(d: ShoeDealt) -> None:
    d.press(i.CloseBetting())
    d.bets(**{LAYOUT: BoxState.EMPTY})


def bets_were_there(d: ShoeDealt) -> object:
    return d.bets(**{LAYOUT: BoxState.DARK})


def another_scanner(d: ShoeDealt) -> None:
    d.unplug()
    d.plug("mine")
    d.answer(False)
    d.unplug()
    d.plug("other")


def other_dealer(d: ShoeDealt) -> object:
    return d.log_in(DORA)


def hold_and_scan(d: ShoeDealt) -> None:
    d.press(i.Observed(Kind.VIDEO_LOST))
    d.scan()


def go_on(d: ShoeDealt) -> object:
    return d.press(i.GoOn(), BORIS)


def leave_out(d: ShoeDealt, value: i.AnyInput) -> None:
    d.start(quarantined=(name_of(d.table.state, value),))
    d.plug()
    d.confirm_picture()
    d.answer(False)


def leave_out_a_press(d: ShoeDealt) -> None:
    number = d.table.state.round_no
    pressed = i.Commanded(
        at=0, request="", actor=ANNA, role=i.Role.DEALER, round_no=number, command=i.DisputeReading()
    )
    leave_out(d, pressed)
    d.press(i.DisputeReading())


def leave_out_a_card(d: ShoeDealt) -> None:
    code = SHOE8.code(d.shoe[0])
    leave_out(d, i.CardRead(at=0, scanner=SHOE, code=code, device_seq=None, key=""))
    d.scan()


result_proposed = dealing(6)
confirmed = (*result_proposed, result)
ready = (*confirmed, clear)
used = (*dealing(2), fail, scan)
"""The one re-scan of the first four cards is used up."""
third_failed = (*dealing(4), fail, fail, fail, fail)
FLOOR = (*dealing(2), report(Kind.CARD_ON_FLOOR))
PLACED = (*dealing(2), report(Kind.WRONG_PLACE))
MISREAD = (*dealing(3), report(Kind.MISREAD_LATE))
AWAY = (*dealing(2), ShoeDealt.unplug, ShoeDealt.plug)

CASES = (
    case(Kind.FAILED_READ, D, dealing(2), fail, initial=Y, rescan=Y),
    case(Kind.FAILED_READ, D, used, fail, initial=Y, rescan=N),
    case(Kind.FAILED_READ, D, dealing(4), fail, initial=N, rescan=Y),
    case(Kind.FAILED_READ, D, third_failed, initial=N, rescan=N),
    case(Kind.MISREAD_LATE, D, MISREAD, certain=U, initial=Y, rescan=Y),
    case(Kind.MISREAD_LATE, D, MISREAD, answer(True), certain=Y, initial=Y, rescan=Y),
    case(Kind.MISREAD_LATE, D, MISREAD, answer(False), certain=N, initial=Y, rescan=Y),
    case(Kind.MISREAD_LATE, D, MISREAD, answer(True), fail, certain=Y, initial=Y, rescan=N),
    case(Kind.HELD_READ, D, dealing(2), hold_and_scan, go_on, certain=Y, later=U),
    case(Kind.HELD_READ, D, dealing(2), hold_and_scan, go_on, answer(True), certain=Y, later=Y),
    case(Kind.HELD_READ, D, dealing(2), hold_and_scan, go_on, answer(False), certain=Y, later=N),
    case(
        *(Kind.HELD_READ, D, dealing(2), hold_and_scan, go_on, answer(True), lambda d: d.scan("Ks")),
        certain=N,
        later=Y,
    ),
    case(Kind.DISPUTED_READ, D, dealing(2), dispute, later=N, initial=Y, rescan=Y),
    case(Kind.DISPUTED_READ, D, used, dispute, later=N, initial=Y, rescan=N),
    case(Kind.SAME_CODE_AGAIN, D, dealing(2), scan_again_at_once, certain=U),
    case(Kind.SAME_CODE_AGAIN, D, dealing(2), scan_again_at_once, answer(True), certain=Y),
    case(Kind.SAME_CODE_AGAIN, D, dealing(2), scan_again_at_once, answer(False), certain=N),
    case(Kind.FOREIGN_CARD, D, dealing(2), strange),
    case(Kind.FOREIGN_CARD, B, start, strange),
    case(Kind.FOREIGN_CARD, R, result_proposed, strange),
    case(Kind.EARLY_DRAW, Phase.READY, ready, scan, scanned=Y, revealed=U),
    case(Kind.EARLY_DRAW, Phase.READY, ready, scan, answer(False), scanned=Y, revealed=N),
    case(Kind.EARLY_DRAW, Phase.READY, ready, scan, answer(True), scanned=Y, revealed=Y),
    case(Kind.EARLY_DRAW, B, start, scan, scanned=Y, revealed=U),
    case(Kind.EARLY_DRAW, B, start, scan, answer(False), scanned=Y, revealed=N),
    case(Kind.EARLY_DRAW, B, start, scan, answer(True), scanned=Y, revealed=Y),
    case(Kind.EARLY_DRAW, B, start, report(Kind.EARLY_DRAW), answer(False), scanned=N, revealed=N),
    case(Kind.EARLY_DRAW, B, start, report(Kind.EARLY_DRAW), answer(True), scanned=N, revealed=Y),
    case(Kind.BURN_FORGOTTEN, D, start, no_more_bets, report(Kind.BURN_FORGOTTEN), later=N),
    case(Kind.BURN_FORGOTTEN, D, dealing(2), report(Kind.BURN_FORGOTTEN), later=Y),
    case(Kind.TWO_CARDS, D, dealing(2), report(Kind.TWO_CARDS), certain=U, revealed=U, decision=N),
    case(
        Kind.TWO_CARDS, D, dealing(2), report(Kind.TWO_CARDS), answer(True), certain=Y, revealed=U, decision=N
    ),
    case(
        Kind.TWO_CARDS,
        D,
        dealing(2),
        report(Kind.TWO_CARDS),
        answer(False),
        certain=N,
        revealed=U,
        decision=N,
    ),
    case(Kind.SURPLUS_CARD, D, dealing(2), report(Kind.SURPLUS_CARD), scanned=N, revealed=U, decision=N),
    case(
        *(Kind.SURPLUS_CARD, D, dealing(2), report(Kind.SURPLUS_CARD), answer(False)),
        scanned=N,
        revealed=N,
        decision=N,
    ),
    case(
        Kind.SURPLUS_CARD,
        D,
        dealing(2),
        lambda d: d.press(i.CallSurplus()),
        scanned=Y,
        revealed=Y,
        decision=N,
    ),
    case(Kind.SURPLUS_CARD, R, result_proposed, scan, scanned=Y, revealed=U, decision=N),
    case(Kind.SURPLUS_CARD, R, result_proposed, scan, answer(False), scanned=Y, revealed=N, decision=N),
    case(Kind.SURPLUS_CARD, R, result_proposed, scan, answer(True), scanned=Y, revealed=Y, decision=N),
    case(Kind.SURPLUS_CARD, C, confirmed, scan, scanned=Y, revealed=U, decision=N),
    case(Kind.SURPLUS_CARD, C, confirmed, scan, answer(False), scanned=Y, revealed=N, decision=N),
    case(Kind.SURPLUS_CARD, C, confirmed, scan, answer(True), scanned=Y, revealed=Y, decision=N),
    case(Kind.WRONG_PLACE, D, PLACED, later=U, certain=U),
    case(Kind.WRONG_PLACE, D, PLACED, answer(False), later=N, certain=U),
    case(Kind.WRONG_PLACE, D, PLACED, answer(False), answer(True), later=N, certain=Y),
    case(Kind.WRONG_PLACE, D, PLACED, answer(False), answer(False), later=N, certain=N),
    case(Kind.WRONG_PLACE, D, PLACED, answer(True), later=Y, certain=U),
    case(Kind.BOXED_CARD, D, dealing(2), report(Kind.BOXED_CARD), hidden=N, dealers=N),
    case(Kind.CARD_ON_FLOOR, Phase.READY, ready, report(Kind.CARD_ON_FLOOR), scanned=U, revealed=U),
    case(Kind.CARD_ON_FLOOR, D, FLOOR, scanned=U, revealed=U),
    case(Kind.CARD_ON_FLOOR, D, FLOOR, answer(True), scanned=Y, revealed=U),
    case(Kind.CARD_ON_FLOOR, D, FLOOR, answer(False), scanned=N, revealed=U),
    case(Kind.CARD_ON_FLOOR, D, FLOOR, answer(False), answer(False), scanned=N, revealed=N),
    case(Kind.CARD_ON_FLOOR, D, FLOOR, answer(False), answer(True), scanned=N, revealed=Y),
    case(Kind.TABLE_CLEARED, R, result_proposed, report(Kind.TABLE_CLEARED)),
    case(Kind.PRESS_FORGOTTEN, R, result_proposed, report(Kind.PRESS_FORGOTTEN)),
    case(Kind.WRONG_ANNOUNCEMENT, R, result_proposed, report(Kind.WRONG_ANNOUNCEMENT)),
    case(Kind.SHOE_DISAGREES, R, result_proposed, lambda d: d.judged("BANKER")),
    case(Kind.DECK_EMPTY, D, dealing(2), report(Kind.DECK_EMPTY)),
    case(Kind.DEVICE_FAILED, D, dealing(2), report(Kind.DEVICE_FAILED)),
    case(Kind.SCANNER_LOST, D, AWAY, gone=N, other=N, initial=Y, later=U),
    case(Kind.SCANNER_LOST, D, AWAY, answer(False), gone=N, other=N, initial=Y, later=N),
    case(Kind.SCANNER_LOST, D, AWAY, answer(True), gone=N, other=N, initial=Y, later=Y),
    case(Kind.SCANNER_LOST, D, dealing(2), another_scanner, gone=N, other=Y, initial=Y, later=U),
    case(
        *(Kind.SCANNER_LOST, D, dealing(2), ShoeDealt.unplug, lambda d: d.advance(121_000)),
        gone=Y,
        other=N,
        initial=Y,
        later=U,
    ),
    case(Kind.DEALER_CHANGE, D, dealing(2), other_dealer),
    case(Kind.LINK_LOST, D, dealing(2), report(Kind.LINK_LOST)),
    case(Kind.VIDEO_LOST, D, dealing(2), report(Kind.VIDEO_LOST)),
    case(Kind.RESTARTED, D, dealing(2), ShoeDealt.start, certain=U),
    case(Kind.RESTARTED, D, dealing(2), restart, picture, certain=Y),
    case(Kind.RESTARTED, D, dealing(2), restart_as_another, picture, certain=N),
    case(Kind.QUARANTINED, D, dealing(2), leave_out_a_press, certain=Y),
    case(Kind.QUARANTINED, D, dealing(2), leave_out_a_card, certain=N),
    case(Kind.WRONG_FACT, D, start, tell_empty, scan, bets_were_there),
)
NO_WAY = {("23a", "23a"), ("23a", "23a held"), ("23a", "23a seen"), ("3", "3"), ("3", "3 used all")}
"""Cells of the default profile without a case here: no card hangs on a decision, and in a deal without
windows and turns the last card is always the one that is disputed."""


def cell_of(one: Case) -> str:
    return profile(PROFILE).cell(one.kind, one.phase, one.values).id


def test_there_is_a_way_into_every_cell() -> None:
    met = {(SITUATIONS[one.kind].row, cell_of(one)) for one in CASES}
    cells = {(number, cell.id) for number, row in profile(PROFILE).rows.items() for cell in row.cells}
    assert met == cells - NO_WAY


@pytest.mark.parametrize("one", CASES, ids=str)
def test_the_cell_is_named_and_carried_out(one: Case) -> None:
    says = expected(PROFILE, one.kind, one.phase, one.values)
    d = one.way()
    asked = {event.cell for event in (*every(d.last, IncidentOpened), *every(d.last, IncidentAsked))}
    assert cell_of(one) in asked | {event.cell for event in every(d.last, IncidentDecided)}
    CARRIED_OUT[says.verdict](d, one, says)


def to_the_end(d: ShoeDealt) -> None:
    """Nothing is left open: the coup is played to its end, and the next one begins."""
    assert d.table.state.incident is None
    if d.phase is Phase.BETTING:
        no_more_bets(d)
    if d.phase is Phase.DEALING:
        d.coup()
    if d.phase is Phase.RESULT_PROPOSED:
        result(d)
    if d.phase is Phase.CONFIRMED:
        clear(d)
    assert d.phase in (Phase.READY, Phase.DECK_CHECK)


def ask(d: ShoeDealt, one: Case, says: Says) -> None:
    """One question is open, and only its answer is taken."""
    incident = d.table.state.incident
    assert incident is not None and (incident.kind, incident.asks) == (one.kind, says.asks)
    buttons = set(draw(d.table.state).buttons)
    assert {"answer_question", "confirm_picture"} & buttons and not PRESSES & buttons
    assert refusal(d.press(i.ConfirmCancel(), BORIS)) is not None
    assert refusal(d.scan()) is Refusal.HELD


def rescan(d: ShoeDealt, one: Case, says: Says) -> None:
    """The card is scanned, and lies at its place."""
    incident = d.table.state.incident
    assert incident is not None and incident.state is IncidentState.RESCAN
    before = len(d.table.state.in_play.laid)
    if one.kind is Kind.DISPUTED_READ:
        d.scan(str(d.table.state.in_play.laid[-1].card))
        assert only(d.last, CardDealt).reading == 2
    elif one.kind is Kind.HELD_READ:
        d.scan(code=d.table.state.in_play.unplaced_reads.codes[0])
        before += 1
    else:
        d.scan()
        before += 1
    assert every(d.last, IncidentDecided)[0].verdict is Verdict.RESCANNED
    assert len(d.table.state.in_play.laid) == before and only(d.last, CardDealt)
    to_the_end(d)


def rescan_all(d: ShoeDealt, one: Case, says: Says) -> None:
    """Every card is scanned again from the first; values may come again among them."""
    laid = list(d.table.state.in_play.laid)
    for card in laid:
        prompt = draw(d.table.state).prompt
        assert (prompt.code, prompt.place, prompt.n) == ("SCAN_FROM_FIRST", card.place, card.n)
        d.scan(str(card.card))
    assert only(d.last, IncidentDecided).verdict is Verdict.RESCANNED
    assert d.table.state.in_play.laid == laid
    to_the_end(d)


def supervisor(d: ShoeDealt, one: Case, says: Says) -> None:
    """A supervisor has these presses, and no other; each does what it says."""
    incident = d.table.state.incident
    assert incident is not None and incident.state is IncidentState.SUPERVISOR
    taken = says.presses & PHASE_INPUTS[d.phase]
    if one.kind is Kind.RESTARTED:  # Opened by another version of the program, it may only be cancelled.
        taken -= {"go_on"}
    assert taken and PRESSES & set(draw(d.table.state).buttons) == taken
    for press in sorted(taken):
        PRESSED[press](one.way(), one)


def press_cancel(d: ShoeDealt, one: Case) -> None:
    assert refusal(d.press(i.ConfirmCancel(), BORIS)) is None
    is_cancelled(d, one, Deck.KEEP)


def press_go_on(d: ShoeDealt, one: Case) -> None:
    assert refusal(d.press(i.GoOn(), BORIS)) is None
    if one.kind is Kind.SCANNER_LOST:  # Accepted; was a card drawn meanwhile?
        d.answer(False)
    if one.kind is Kind.DEALER_CHANGE:
        d.log_in(ANNA)
        d.press(i.GoOn(), BORIS)
    to_the_end(d)


def press_rescan(d: ShoeDealt, one: Case) -> None:
    assert refusal(d.press(i.OrderRescan(), BORIS)) is None
    incident = d.table.state.incident
    assert incident is not None and incident.state is IncidentState.RESCAN
    if incident.again is not None:
        laid = list(d.table.state.in_play.laid)
        for card in laid:
            d.scan(str(card.card))
    elif incident.fact is not None:
        d.scan(str(d.table.state.in_play.laid[-1].card))
    elif one.kind is Kind.HELD_READ:
        while (codes := d.table.state.in_play.unplaced_reads.codes) and d.table.state.incident is not None:
            if d.table.state.incident.state is IncidentState.QUESTION:
                d.answer(True)
            d.scan(code=codes[0])
    else:
        d.scan()
    assert every(d.events, IncidentDecided)[-1].verdict is Verdict.RESCANNED
    to_the_end(d)


def press_entry(d: ShoeDealt, one: Case) -> None:
    """Two people say which card it is; where all are scanned again, the others are scanned after it."""
    lost = one.kind is Kind.SCANNER_LOST
    laid = list(d.table.state.in_play.laid)
    assert refusal(d.press(i.OrderEntry(), BORIS)) is None
    incident = d.table.state.incident
    assert incident is not None and incident.state is IncidentState.ENTRY
    again = incident.again is not None
    comes = lost or one.kind is Kind.FAILED_READ
    card = d.shoe.pop(0) if comes else laid[0 if again else -1].card
    for actor in (ANNA, BORIS):
        d.press(i.EnterCard(incident.number, str(card)), actor)
    for known in laid[1:] if again else ():
        d.scan(str(known.card))
    assert any(event.manual for event in every(d.last, CardDealt))
    if lost:  # The next card would be entered, too.
        d.plug()
        d.answer(False)
    to_the_end(d)


PRESSED: dict[str, Callable[[ShoeDealt, Case], None]] = {
    "confirm_cancel": press_cancel,
    "go_on": press_go_on,
    "order_rescan": press_rescan,
    "order_entry": press_entry,
}


def cancel(d: ShoeDealt, one: Case, says: Says) -> None:
    """The round is cancelled at once; where a person has only reported it, another one presses."""
    if d.table.state.incident is not None:
        assert d.table.state.incident.reported_by == ANNA
        d.press(i.ConfirmCancel(), BORIS)
    is_cancelled(d, one, says.deck)


def is_cancelled(d: ShoeDealt, one: Case, deck: Deck) -> None:
    event = only(d.last, RoundCancelled)
    assert (event.reason, event.refund) == (cancel_reason(one.kind), "all")
    assert {decided.verdict for decided in every(d.last, IncidentDecided)} == {Verdict.CANCELLED}
    clear(d)
    assert d.phase is (Phase.DECK_CHECK if deck is Deck.OUT else Phase.READY)


def burn(d: ShoeDealt, one: Case, says: Says) -> None:
    """The card goes out, with the next round where none is open; an unscanned one is scanned first."""
    if draw(d.table.state).prompt.code == "SCAN_TO_BURN":
        d.scan()
    if d.phase in (Phase.CONFIRMED, Phase.READY):
        assert only(d.last, IncidentDecided).verdict is Verdict.BURNED and not every(d.events, CardBurned)
        to_the_end(d)
        d.open_round()
    assert only(d.events, CardBurned).n == 1
    to_the_end(d)


def next_due(d: ShoeDealt, one: Case, says: Says) -> None:
    """The card waits, and is the next one that becomes due: of this round, or of the next."""
    assert only(d.last, IncidentDecided).verdict is Verdict.HELD
    scanned = one.values[Axis.SCANNED] is Known.YES
    assert draw(d.table.state).held_count == scanned
    if d.phase is not Phase.BETTING and scanned:
        to_the_end(d)
        d.press(i.OpenBetting())
    if d.phase is Phase.BETTING:
        no_more_bets(d)
    held = [event.held for event in every(d.last, CardDealt)]
    assert held == ([1] if scanned else [])
    to_the_end(d)
    assert not every(d.events, CardBurned)


def drop(d: ShoeDealt, one: Case, says: Says) -> None:
    """The second reading counts as never made."""
    assert only(d.last, IncidentDecided).verdict is Verdict.DUPLICATE_READ
    assert len(d.table.state.in_play.laid) == d.table.state.register.out_count == 2
    to_the_end(d)


def take(d: ShoeDealt, one: Case, says: Says) -> None:
    """It is another card of that value, and lies at the next place."""
    assert only(d.last, IncidentDecided).verdict is Verdict.WENT_ON
    assert only(d.last, CardDealt).n == 2 and len(d.table.state.in_play.laid) == 3
    to_the_end(d)


def goes_on(d: ShoeDealt, one: Case, says: Says) -> None:
    """It is on record, or the cards lie again as shown; the round goes on."""
    assert every(d.last, IncidentDecided)[-1].verdict in GOES_ON
    if one.kind is Kind.RESTARTED:
        d.answer(False)  # The scanner was away, too.
    to_the_end(d)
    if one.kind is Kind.WRONG_FACT:
        row = only(d.events, RoundConfirmed).outcome.box(LAYOUT).hands[0].rows["plain"]
        assert {wager.outcome for wager in row.values()} == {"REFUND"}


GOES_ON = {Verdict.WENT_ON, Verdict.RESTORED, Verdict.REFUND}


def check_deck(d: ShoeDealt, one: Case, says: Says) -> None:
    """No round opens before what is left has been counted; then the shoe goes on."""
    assert only(d.last, IncidentDecided).verdict is Verdict.DECK_CHECK and d.phase is Phase.DECK_CHECK
    assert refusal(d.press(i.OpenBetting())) is Refusal.WRONG_PHASE
    d.press(i.VerifyDeck(d.table.state.register.left_count))
    assert d.phase is Phase.READY


CARRIED_OUT: dict[CellVerdict, Callable[[ShoeDealt, Case, Says], None]] = {
    CellVerdict.ASK: ask,
    CellVerdict.RESCAN: rescan,
    CellVerdict.RESCAN_ALL: rescan_all,
    CellVerdict.SUPERVISOR: supervisor,
    CellVerdict.CANCEL: cancel,
    CellVerdict.BURN: burn,
    CellVerdict.NEXT_DUE: next_due,
    CellVerdict.DROP: drop,
    CellVerdict.TAKE: take,
    CellVerdict.RESTORE: goes_on,
    CellVerdict.GO_ON: goes_on,
    CellVerdict.CHECK_DECK: check_deck,
}
