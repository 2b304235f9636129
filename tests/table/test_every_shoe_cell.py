"""Every cell of baccarat's profile is executed: its message comes, and what it says is carried out.

What it must say is typed in `procedures_shoe` and `procedures_expected`, not read from the profile.
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
from table.dealt import ANNA, BORIS, every, only, refusal
from table.procedures_expected import Says, expected
from table.shoe_cells import CASES, Case, clear, no_more_bets, result
from table.shoe_dealt import ShoeDealt

from controller.games.baccarat import LAYOUT
from controller.table import inputs as i
from controller.table.cells import PRESSES, CellVerdict, Deck
from controller.table.charts import PHASE_INPUTS, IncidentState, Phase
from controller.table.events import (
    CardBurned,
    CardDealt,
    IncidentDecided,
    IncidentKind,
    Refusal,
    RoundConfirmed,
    Verdict,
)
from controller.table.picture import draw
from controller.table.situations import SITUATIONS, Axis, Known

Kind = IncidentKind
PROFILE = "baccarat"
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
    assert cell_of(one) in messages(d)
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
    is_asked(d, one.kind, says)


def rescan(d: ShoeDealt, one: Case, says: Says) -> None:
    held = one.kind is Kind.HELD_READ
    is_scanned(d, one.kind, d.table.state.in_play.unplaced_reads.codes[0] if held else None)
    to_the_end(d)


def rescan_all(d: ShoeDealt, one: Case, says: Says) -> None:
    """Values may come again among them."""
    are_all_scanned(d)
    to_the_end(d)


def supervisor(d: ShoeDealt, one: Case, says: Says) -> None:
    """A supervisor has these presses, and no other; each does what it says."""
    open_case(d, IncidentState.SUPERVISOR)
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
    incident = open_case(d, IncidentState.RESCAN)
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
    is_entered(d, one.kind)
    to_the_end(d)


PRESSED: dict[str, Callable[[ShoeDealt, Case], None]] = {
    "confirm_cancel": press_cancel,
    "go_on": press_go_on,
    "order_rescan": press_rescan,
    "order_entry": press_entry,
}


def cancel(d: ShoeDealt, one: Case, says: Says) -> None:
    """The round is cancelled at once, or by another person than who has reported it."""
    is_confirmed_cancel(d)
    is_cancelled(d, one, says.deck)


def is_cancelled(d: ShoeDealt, one: Case, deck: Deck) -> None:
    is_refunded(d, one.kind)
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
    is_dropped(d, count=2)
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
