"""How a deck goes out of use: defective, unshuffled, too old (procedures, rows 5, 6, 16, 26 and 38).

TABLECTL_SOAK=1 takes a thousand decks of each fault.
"""

from __future__ import annotations

import os

import pytest
from table.dealt import (
    ANNA,
    BLUE,
    BORIS,
    RED,
    Dealt,
    every,
    only,
    refusal,
)
from table.played import (
    BadSet,
    Played,
    doubled_card,
    loaded,
    missing_card,
    prompt_of,
    suspects,
)

from controller.cards import DECK, Card, Order
from controller.games.russian_live import RussianLive
from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import (
    DeckLoaded,
    DeckRejected,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    Refusal,
    Rejection,
    ShoeClosed,
    ShoeEnd,
)
from controller.table.inputs import ChangeReason
from controller.table.table import Table

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
DECKS = 1_000 if SOAK else 15


DAY_US = 86_400_000_000


@pytest.mark.parametrize(
    ("seen", "reason", "first"),
    [("foreign", ShoeEnd.INTEGRITY, 1), ("doubled", ShoeEnd.INTEGRITY, 1), ("floor", ShoeEnd.FLOOR, None)],
)
def test_rows_5_6_and_16_the_deck_goes_when_its_cards_are_collected(
    seen: str, reason: ShoeEnd, first: int | None
) -> None:
    """A card that should not be there casts doubt on every round since the load, counted or not."""
    d = loaded(count_every=2).rounds(2).count().round()
    d.until(lambda code: code == "DEAL_CARD")
    drawn = d.shoe[0]
    d.scan()
    match seen:
        case "foreign":
            d.scan(code="A01")
        case "doubled":
            d.scan(str(drawn))
            d.answer(False)
        case _:
            d.press(i.Observed(IncidentKind.CARD_ON_FLOOR))
            d.press(i.ConfirmCancel(), BORIS)
    assert not every(d.events, ShoeClosed)
    d.press(i.ClearTable())
    assert only(d.last, ShoeClosed).reason is reason
    assert suspects(d.events) == ([] if first is None else [(first, 3, reason)])
    assert d.phase is Phase.DECK_CHECK and prompt_of(d) == "LOAD_DECK"


def test_after_a_defective_deck_a_supervisor_verifies_the_next() -> None:
    d = loaded().round()
    d.until(lambda code: code == "DEAL_CARD").scan(code="A01")
    d.press(i.ClearTable())
    d.cards = list(DECK)
    d.scan_set(d.codes())
    assert prompt_of(d) == "SUPERVISOR_VERIFIES"
    assert refusal(d.press(i.VerifyDeck(52))) is Refusal.WRONG_ROLE
    d.press(i.VerifyDeck(52), BORIS)
    assert d.phase is Phase.SHUFFLING and only(d.last, DeckLoaded).number == 2
    assert refusal(d.press(i.ChangeDeck(ChangeReason.CHANGED), BORIS)) is None
    d.load()
    assert refusal(d.press(i.VerifyDeck(52))) is None


def test_another_change_does_not_do_away_with_the_supervisor() -> None:
    d = loaded()
    d.press(i.ChangeDeck(ChangeReason.INTEGRITY), BORIS)
    d.load().press(i.ChangeDeck(ChangeReason.CHANGED), BORIS)
    d.load()
    assert refusal(d.press(i.VerifyDeck(52))) is Refusal.WRONG_ROLE


def test_rpl_76_a_card_on_the_floor_in_the_shuffle_changes_the_deck() -> None:
    d = loaded().round()
    d.press(i.Observed(IncidentKind.CARD_ON_FLOOR))
    assert only(d.last, IncidentDecided).by == ANNA and only(d.last, IncidentOpened).cell == "RPL-76"
    assert only(d.last, ShoeClosed).reason is ShoeEnd.FLOOR
    assert d.phase is Phase.DECK_CHECK
    for command in (i.ConfirmShuffle(), i.OpenBetting()):
        assert refusal(d.press(command)) is Refusal.WRONG_PHASE
    d.load().press(i.VerifyDeck(52))
    assert d.phase is Phase.SHUFFLING


@pytest.mark.parametrize("phase", [Phase.DECK_CHECK, Phase.SHUFFLING, Phase.READY])
def test_a_deck_is_changed_by_a_supervisor_between_rounds(phase: Phase) -> None:
    d = Dealt().to_ready()
    if phase is not Phase.READY:
        d.press(i.RepeatShuffle())
    if phase is Phase.DECK_CHECK:
        d.press(i.CloseTable())
        d.reopen()
    assert d.phase is phase
    for reason in (ChangeReason.CHANGED, ChangeReason.INTEGRITY):
        assert refusal(d.press(i.ChangeDeck(reason))) is Refusal.WRONG_ROLE
    d.press(i.ChangeDeck(ChangeReason.CHANGED), BORIS)
    assert only(d.last, ShoeClosed).reason is ShoeEnd.CHANGED
    assert d.phase is Phase.DECK_CHECK
    assert refusal(d.press(i.ChangeDeck(ChangeReason.CHANGED), BORIS)) is Refusal.NO_DECK


def test_a_deck_that_is_changed_without_cause_is_counted_first() -> None:
    d = loaded().round()
    assert refusal(d.press(i.ChangeDeck(ChangeReason.CHANGED), BORIS)) is Refusal.COUNT_DUE
    d.count().press(i.ChangeDeck(ChangeReason.CHANGED), BORIS)
    assert suspects(d.events) == []
    d.load().press(i.VerifyDeck(52))
    d.round().press(i.ChangeDeck(ChangeReason.INTEGRITY), BORIS)
    assert suspects(d.events) == [(2, 2, ShoeEnd.INTEGRITY)]


def test_a_set_that_is_being_scanned_in_can_be_sent_away() -> None:
    d = Played()
    d.scan_set(d.codes()[:7]).press(i.ChangeDeck(ChangeReason.INTEGRITY), BORIS)
    assert only(d.last, DeckRejected) == DeckRejected(reason=Rejection.WITHDRAWN, n=7, missing=45)
    assert prompt_of(d) == "LOAD_DECK"


def test_a_deck_in_use_may_be_scanned_again_and_stays_what_it_is() -> None:
    d = loaded().round().count()
    d.press(i.CloseTable())
    d.reopen()
    assert refusal(d.scan(code="A01")) is Refusal.UNKNOWN_DECK, "it lies before the scanner, not in the deck"
    d.scan_set(d.codes()).press(i.VerifyDeck(52))
    assert len(every(d.events, DeckLoaded)) == 1 and d.phase is Phase.SHUFFLING


@pytest.mark.parametrize(("bad", "first"), [(missing_card, 2), (doubled_card, 1)])
def test_what_a_second_scan_finds_closes_the_deck(bad: BadSet, first: int) -> None:
    d = loaded(count_every=2).round()
    d.count()
    d.until(lambda code: code == "CLEAR_TABLE").scan()
    d.press(i.ClearTable())
    codes = bad(d.codes(), d.random)
    d.scan_set(codes)
    if d.table.state.incident is not None:
        d.answer(False)
    else:
        d.press(i.VerifyDeck(len(codes)))
    assert suspects(d.events) == [(first, 2, every(d.events, ShoeClosed)[0].reason)]


def aged(days: int) -> Played:
    d = loaded(count_every=5)
    d.now += days * DAY_US
    return d


def test_row_38_a_deck_over_its_age_finishes_the_round_is_counted_and_goes() -> None:
    d = aged(31).round()
    assert prompt_of(d) == "COUNT_STUB"
    d.count().round()
    assert only(d.events, ShoeClosed).reason is ShoeEnd.AGE and suspects(d.events) == []
    assert d.phase is Phase.DECK_CHECK
    d = aged(29).round()
    assert not every(d.events, ShoeClosed) and d.phase is Phase.SHUFFLING


def test_row_38_a_deck_that_grew_old_while_the_table_was_off_goes_when_it_opens() -> None:
    d = loaded()
    d.press(i.CloseTable())
    d.now += 31 * DAY_US
    d.reopen()
    assert only(d.last, ShoeClosed).reason is ShoeEnd.AGE and prompt_of(d) == "LOAD_DECK"


def new_deck_round(d: Played) -> Played:
    """The deck goes into the shoe as it came."""
    d.shoe = list(DECK)
    d.press(i.ConfirmShuffle())
    return d.round()


def test_row_26_an_unshuffled_deck_holds_the_table_before_the_next_round() -> None:
    d = new_deck_round(loaded().rounds(2))
    opened = only(d.last, IncidentOpened)
    assert (opened.kind, opened.cell, opened.place) == (IncidentKind.ORDER_ALARM, "26", None)
    closed = only(d.last, ShoeClosed)
    assert (closed.reason, closed.order) == (ShoeEnd.ORDER, Order.NEW_DECK)
    assert suspects(d.events) == [(1, 3, ShoeEnd.ORDER)]
    assert d.phase is Phase.DECK_CHECK and prompt_of(d) == "LOAD_DECK"


def test_row_26_cards_that_were_only_collected_are_an_alarm() -> None:
    """By place, as they lay; a restart between the rounds does not make the table forget."""
    for seed in range(DECKS):
        d = loaded(seed).round()
        record = d.table.carried()
        assert record is not None and len(d.table.state.shoe.last_collected) in (25, 26)
        d.table = Table(d.settings, RussianLive(d.game.rules), BLUE, (RED,))
        d.table.restore(record)
        d.start()
        d.plug()
        top = [Card.parse(card) for card in d.table.state.shoe.last_collected]
        d.shoe = [*top, *(card for card in DECK if card not in top)]
        d.press(i.ConfirmShuffle())
        d.round()
        assert only(d.events, ShoeClosed).order is Order.LAST_ROUND
        assert suspects(d.events) == [(1, 2, ShoeEnd.ORDER)]


@pytest.mark.parametrize("ended", ["confirmed", "cancelled"])
def test_the_order_alarm_says_nothing_before_the_cards_are_collected(ended: str) -> None:
    """Whether the cards of a running round lie in order is nobody's to know."""
    d = loaded(3)
    d.shoe = list(DECK)
    d.press(i.ConfirmShuffle())
    d.until(lambda code: code == "TURN")
    if ended == "cancelled":
        d.press(i.Observed(IncidentKind.DEVICE_FAILED))
        d.press(i.ConfirmCancel(), BORIS)
    d.until(lambda code: code == "CLEAR_TABLE")
    kinds = {opened.kind for opened in every(d.events, IncidentOpened)}
    assert IncidentKind.ORDER_ALARM not in kinds and not every(d.events, ShoeClosed)
    d.press(i.ClearTable())
    assert only(d.last, ShoeClosed).reason is ShoeEnd.ORDER
