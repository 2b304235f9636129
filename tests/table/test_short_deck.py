"""Row 28 inside a round: the deck runs out while a card is due."""

from __future__ import annotations

from random import Random

from table.cells import HOUSES, betting
from table.dealt import ANNA, BETS, BORIS, Dealt, cancelled, every, only, refusal
from table.played import loaded, suspects

from controller.cards import DECK
from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import (
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    Refusal,
    ShoeClosed,
    ShoeEnd,
)
from controller.table.inputs import CancelReason
from controller.table.picture import draw

OASIS = HOUSES[2]


def burned(count: int) -> Dealt:
    """A round is open and so many cards came out early, unseen, and were burned."""
    d = betting(OASIS)
    d.shoe = Random(1).sample(DECK, len(DECK))
    for _ in range(count):
        d.scan()
        d.answer(False)
    return d


def test_the_dealer_reports_an_empty_shoe_and_the_rounds_since_the_last_count_are_suspect() -> None:
    d = loaded(count_every=5)
    d.rounds(2)
    d.until("DEAL_CARD".__eq__).deal(9)
    d.press(i.Observed(IncidentKind.DECK_EMPTY))
    assert only(d.last, IncidentOpened).cell == "28"
    assert refusal(d.press(i.ConfirmCancel(), ANNA)) is Refusal.WRONG_ROLE
    d.press(i.ConfirmCancel(), BORIS)
    cancelled(d, CancelReason.INSUFFICIENT)
    d.press(i.ClearTable())
    assert only(d.last, ShoeClosed).reason is ShoeEnd.COUNT
    assert suspects(d.last) == [(1, 3, ShoeEnd.COUNT)]
    assert d.phase is Phase.DECK_CHECK and draw(d.table.state).prompt.code == "LOAD_DECK"


def test_the_table_counts_that_no_card_is_left_and_cancels_by_itself() -> None:
    """All cards are accounted for: the deck stays."""
    d = burned(50)
    d.press(i.CloseBetting())
    d.press(i.BetsTaken(OASIS.states()), BETS)
    d.deal(1)
    assert d.phase is Phase.DEALING
    d.scan()
    assert only(d.last, IncidentDecided).cell == "28"
    cancelled(d, CancelReason.INSUFFICIENT)
    d.press(i.ClearTable())
    assert not every(d.last, ShoeClosed) and d.phase is Phase.SHUFFLING


def test_no_card_left_before_the_first_one_is_due_cancels_when_betting_is_over() -> None:
    d = burned(52)
    assert d.phase is Phase.BETTING
    d.press(i.CloseBetting())
    d.press(i.BetsTaken(OASIS.states()), BETS)
    cancelled(d, CancelReason.INSUFFICIENT)


def test_an_empty_shoe_is_reported_in_the_deal_alone() -> None:
    d = betting(OASIS)
    assert IncidentKind.DECK_EMPTY not in draw(d.table.state).reports
    assert refusal(d.press(i.Observed(IncidentKind.DECK_EMPTY))) is Refusal.NOT_OFFERED
