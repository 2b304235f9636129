"""The life of a deck: loaded, counted, closed; which rounds are suspect (procedures, "Inventory").

TABLECTL_SOAK=1 takes a thousand decks of each fault.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from random import Random

import msgspec
import pytest
from table.dealt import (
    ANNA,
    BLUE,
    BORIS,
    CLARA,
    RED,
    SETTINGS,
    Dealt,
    cancelled,
    digest,
    every,
    only,
    refusal,
)
from table.played import Played, loaded

from controller.cards import DECK, Card, Order, Scheme, code_map
from controller.games.russian_live import RussianLive
from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import (
    AUDIENCES,
    Audience,
    DeckLoaded,
    DeckOffered,
    DeckRejected,
    DeckVerified,
    Event,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    Loading,
    Refusal,
    Rejection,
    RoundConfirmed,
    RoundsSuspect,
    ShoeClosed,
    ShoeEnd,
    StubCounted,
    Verdict,
    WearFound,
    Worn,
    encode_events,
)
from controller.table.inputs import CancelReason, ChangeReason
from controller.table.limits import Limits
from controller.table.picture import draw
from controller.table.table import Table

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
DECKS = 1_000 if SOAK else 15
DAY_US = 86_400_000_000


def prompt(d: Dealt) -> str:
    return draw(d.table.state).prompt.code


def suspects(events: list[Event]) -> list[tuple[int, int, ShoeEnd]]:
    return [(event.first_round, event.last_round, event.reason) for event in every(events, RoundsSuspect)]


# Loading.


def test_a_deck_that_is_scanned_in_is_loaded_when_it_is_verified() -> None:
    d = Played()
    assert prompt(d) == "LOAD_DECK"
    d.scan_set(d.codes()[:51])
    assert prompt(d) == "SCAN_DECK" and draw(d.table.state).prompt.n == 52
    assert refusal(d.press(i.VerifyDeck(52))) is Refusal.WRONG_COUNT
    assert refusal(d.press(i.LoadDeck("blue", "R-1"))) is Refusal.NOT_OWED
    last = next(card for card in DECK if BLUE.code(card) not in d.table.state.shoe.scanning)
    d.scan(str(last))
    assert prompt(d) == "VERIFY_DECK"
    d.press(i.VerifyDeck(52))
    assert only(d.last, DeckLoaded) == DeckLoaded(deck="blue", number=1, loading=Loading.SCANNED)
    assert only(d.last, DeckVerified).count == 52 and d.phase is Phase.SHUFFLING


def test_nothing_is_verified_before_a_deck_is_loaded() -> None:
    d = Played()
    assert refusal(d.press(i.VerifyDeck(52))) is Refusal.NO_DECK
    assert "verify_deck" not in draw(d.table.state).buttons


def test_a_receipt_takes_two_people_who_name_the_same() -> None:
    d = Played()
    d.press(i.LoadDeck("blue", "R-7"), ANNA)
    assert only(d.last, DeckOffered) == DeckOffered(deck="blue", receipt="R-7", by=ANNA)
    d.press(i.LoadDeck("blue", "R-7"), ANNA)
    assert not every(d.events, DeckLoaded), "one person is not two"
    assert prompt(d) == "ACCEPT_DECK"
    before = digest(d.table)
    assert refusal(d.press(i.LoadDeck("blue", "R-8"), BORIS)) is Refusal.OTHER_RECEIPT
    assert refusal(d.press(i.LoadDeck("moon", "R-7"), BORIS)) is Refusal.UNKNOWN_DECK
    assert refusal(d.press(i.VerifyDeck(52))) is Refusal.NO_DECK
    assert digest(d.table) == before
    d.press(i.LoadDeck("blue", "R-7"), BORIS)
    assert only(d.last, DeckLoaded).loading is Loading.RECEIPT
    assert d.phase is Phase.DECK_CHECK and prompt(d) == "VERIFY_DECK"


def test_a_scan_drops_a_receipt_that_one_person_has_named() -> None:
    d = Played()
    d.press(i.LoadDeck("blue", "R-7"))
    d.scan("As")
    assert d.table.state.shoe.receipt is None and prompt(d) == "SCAN_DECK"


def test_a_second_look_at_a_card_is_dropped_and_the_scan_goes_on() -> None:
    d = Played()
    codes = d.codes()
    d.scan_set(codes[:10]).scan(code=codes[3])
    opened = only(d.last, IncidentOpened)
    assert (opened.place, opened.n, opened.cell) == ("deck", 4, "4"), "named by its number alone"
    assert refusal(d.scan(code=codes[10])) is Refusal.HELD
    d.answer(True)
    assert only(d.last, IncidentDecided).verdict is Verdict.DUPLICATE_READ
    d.scan_set(codes[10:]).press(i.VerifyDeck(52))
    assert d.phase is Phase.SHUFFLING


def test_a_spare_deck_is_loaded_by_its_first_card_and_the_other_is_foreign_then() -> None:
    table = Table(SETTINGS, Dealt().game, BLUE, spare_decks=(RED,))
    d = Dealt()
    d.table = table
    d.start()
    d.press(i.OpenTable())
    for card in DECK:
        d.scan(code=RED.code(card))
    d.press(i.VerifyDeck(52))
    assert only(d.last, DeckLoaded).deck == "red" and table.state.register.deck is RED
    d.press(i.ChangeDeck(ChangeReason.CHANGED), BORIS)
    for card in DECK[:3]:
        d.scan(code=BLUE.code(card))
    d.scan(code=RED.code(DECK[0]))
    assert only(d.last, DeckRejected).reason is Rejection.FOREIGN_CARD


BadSet = Callable[[list[str], Random], list[str]]


def _missing(codes: list[str], random: Random) -> list[str]:
    codes.pop(random.randrange(52))
    return codes


def _extra(codes: list[str], random: Random) -> list[str]:
    codes.insert(random.randrange(1, 53), random.choice(codes))
    return codes


def _foreign(codes: list[str], random: Random) -> list[str]:
    codes[random.randrange(52)] = RED.code(random.choice(DECK))
    return codes


def _doubled(codes: list[str], random: Random) -> list[str]:
    """One card twice, and so another not at all: the count is right."""
    codes[random.randrange(52)] = random.choice(codes)
    return codes if len(set(codes)) < 52 else _doubled(codes, random)


def scanned(seed: int, bad: BadSet | None) -> Played:
    """Scan a set in and verify it as honest people do, who hold every card in their hands."""
    d = Played(seed)
    codes = d.codes() if bad is None else bad(d.codes(), d.random)
    d.scan_set(codes)
    if d.table.state.incident is not None:
        d.answer(False)
    elif not every(d.events, DeckRejected):
        d.press(i.VerifyDeck(len(codes)))
    return d


FOUND = {
    _missing: Rejection.MISSING_CARD,
    _extra: Rejection.DOUBLED_CARD,
    _foreign: Rejection.FOREIGN_CARD,
    _doubled: Rejection.DOUBLED_CARD,
}


@pytest.mark.parametrize("bad", FOUND)
def test_what_is_wrong_in_the_set_at_load_is_found_before_round_1(bad: BadSet) -> None:
    """Must show 3; a whole set is taken by the same people."""
    for seed in range(DECKS):
        d = scanned(seed, bad)
        assert only(d.events, DeckRejected).reason is FOUND[bad]
        assert d.phase is Phase.DECK_CHECK and not every(d.events, DeckLoaded)
        for command in (i.VerifyDeck(52), i.ConfirmShuffle(), i.OpenBetting()):
            assert refusal(d.press(command, BORIS)) is not None
        assert scanned(seed, None).phase is Phase.SHUFFLING


@pytest.mark.parametrize(("count", "reason"), [(51, Rejection.MISSING_CARD), (53, Rejection.EXTRA_CARD)])
def test_a_count_at_the_load_that_says_more_or_less_rejects_the_set(count: int, reason: Rejection) -> None:
    """A card that no scanner reads is counted by hand; whatever the count, 52 alone is a deck."""
    d = Played()
    d.scan_set(d.codes()[: min(count, 52)]).press(i.VerifyDeck(count))
    assert only(d.last, DeckRejected).reason is reason and d.phase is Phase.DECK_CHECK
    assert only(d.last, IncidentDecided).verdict is Verdict.DECK_OUT


@pytest.mark.parametrize("count", [0, 1, 50, 52])
def test_a_count_that_is_not_what_was_scanned_is_refused(count: int) -> None:
    d = Played()
    d.scan_set(d.codes()[:51])
    before = digest(d.table)
    assert refusal(d.press(i.VerifyDeck(count))) is Refusal.WRONG_COUNT
    assert digest(d.table) == before


# Counting.


def test_the_stub_is_counted_at_the_interval_and_before_the_cards_are_collected() -> None:
    d = loaded(count_every=3)
    d.rounds(2)
    assert not every(d.events, StubCounted)
    d.round()
    assert prompt(d) == "COUNT_STUB" and d.phase is Phase.CONFIRMED
    assert refusal(d.press(i.ClearTable())) is Refusal.COUNT_DUE
    assert "clear_table" not in draw(d.table.state).buttons
    d.count()
    counted = only(d.last, StubCounted)
    assert counted.count == counted.expected == 52 - d.table.state.register.out_count
    d.press(i.ClearTable())
    d.rounds(2)
    assert len(every(d.events, StubCounted)) == 1


def test_with_interval_0_nobody_counts() -> None:
    d = loaded(count_every=0)
    d.rounds(8)
    assert not every(d.events, StubCounted)
    d.press(i.CloseTable())
    assert d.phase is Phase.CLOSED


def test_with_interval_1_no_result_is_confirmed_before_the_count() -> None:
    d = loaded(count_every=1)
    for number in range(1, 4):
        d.round()
        assert d.phase is Phase.RESULT_PROPOSED and prompt(d) == "COUNT_STUB"
        assert refusal(d.press(i.ConfirmResult())) is Refusal.COUNT_DUE
        d.count().press(i.ConfirmResult())
        d.press(i.ClearTable())
        assert len(every(d.events, RoundConfirmed)) == number


def test_a_miscount_is_mended_by_a_supervisor_who_is_another_person() -> None:
    d = loaded(count_every=1).round()
    out = d.table.state.register.out_count
    d.press(i.CountStub(51 - out), BORIS)
    assert only(d.last, IncidentOpened).cell == "25" and prompt(d) == "COUNT_AGAIN"
    assert refusal(d.press(i.CountStub(52 - out), ANNA)) is Refusal.WRONG_ROLE
    assert refusal(d.press(i.CountStub(52 - out), BORIS)) is Refusal.SAME_PERSON
    assert refusal(d.press(i.ConfirmResult())) is Refusal.HELD
    d.press(i.CountStub(52 - out), CLARA)
    assert only(d.last, IncidentDecided).verdict is Verdict.WENT_ON
    assert refusal(d.press(i.ConfirmResult())) is None
    assert not every(d.events, ShoeClosed)


def test_row_25_with_interval_1_the_round_is_void_before_the_settlement() -> None:
    """Must show 3: a card is lost in a round; that round alone is suspect, and it is void."""
    for seed in range(DECKS):
        d = loaded(seed, count_every=1)
        random = Random(seed)
        good = random.randrange(3)
        for _ in range(good):
            d.round().count().round()
        d.cards.remove(random.choice(d.cards))
        d.round().counted_by_both()
        cancelled(d, CancelReason.DECK_INTEGRITY)
        assert len(every(d.events, RoundConfirmed)) == good
        d.press(i.ClearTable())
        assert suspects(d.events) == [(good + 1, good + 1, ShoeEnd.COUNT)]
        assert only(d.last, ShoeClosed).reason is ShoeEnd.COUNT and prompt(d) == "LOAD_DECK"


@pytest.mark.parametrize("every_rounds", [2, 5])
def test_row_25_a_card_that_is_lost_is_found_at_the_first_count(every_rounds: int) -> None:
    """Must show 3: exactly the rounds since the last good count or the load are suspect."""
    for seed in range(DECKS):
        d = loaded(seed, count_every=every_rounds)
        random = Random(seed)
        good = every_rounds * random.randrange(3)
        for _ in range(good // every_rounds):
            d.rounds(every_rounds).count().round()
        before = random.randrange(every_rounds)
        d.rounds(before)
        d.cards.remove(random.choice(d.cards))
        d.rounds(every_rounds - before).counted_by_both()
        assert only(d.last, IncidentDecided).verdict is Verdict.DECK_OUT
        d.press(i.ClearTable())
        assert suspects(d.events) == [(good + 1, good + every_rounds, ShoeEnd.COUNT)]
        assert d.phase is Phase.DECK_CHECK and d.table.state.shoe.deck is None


def test_a_cancelled_round_is_not_counted_and_the_next_one_is() -> None:
    d = loaded(count_every=2).round()
    d.until(lambda code: code == "DEAL_CARD")
    d.press(i.ReportCancel(CancelReason.TECHNICAL))
    d.press(i.ConfirmCancel(), BORIS)
    assert prompt(d) == "CLEAR_TABLE" and refusal(d.press(i.CountStub(52))) is Refusal.WRONG_PHASE
    d.press(i.ClearTable())
    d.round()
    assert prompt(d) == "COUNT_STUB"


def test_at_close_all_is_counted() -> None:
    d = loaded().round()
    assert refusal(d.press(i.CloseTable())) is Refusal.COUNT_DUE
    assert "close_table" not in draw(d.table.state).buttons
    d.count()
    assert only(d.last, StubCounted).expected == 52
    assert refusal(d.press(i.CloseTable())) is None


def test_a_card_that_is_missing_at_close_makes_the_rounds_since_the_last_count_suspect() -> None:
    d = loaded(count_every=2).rounds(2).count().round().round()
    d.cards.pop()
    d.count()
    assert d.phase is Phase.SHUFFLING and d.table.carried() is None, "an open incident is no boundary"
    d.count(BORIS)
    assert suspects(d.events) == [(3, 3, ShoeEnd.COUNT)] and d.phase is Phase.DECK_CHECK


def test_no_count_while_the_register_does_not_know_what_is_out() -> None:
    d = loaded(count_every=1).round().count()
    d.press(i.ConfirmResult())
    d.scan()
    assert d.table.state.deck_suspect
    assert refusal(d.press(i.CountStub(52))) is Refusal.NOT_OWED
    d.press(i.ClearTable())
    assert d.phase is Phase.DECK_CHECK and prompt(d) == "VERIFY_DECK"
    d.press(i.VerifyDeck(52))
    assert d.table.state.shoe.deck is not None and len(every(d.events, DeckLoaded)) == 1


@pytest.mark.parametrize("is_lost", [False, True])
def test_row_25_a_wrong_count_at_the_verification_is_repeated_by_a_supervisor(is_lost: bool) -> None:
    d = loaded(count_every=2).rounds(2).count().round().round()
    d.count().press(i.CloseTable())
    d.press(i.OpenTable())
    d.press(i.VerifyDeck(51))
    assert prompt(d) == "COUNT_AGAIN" and refusal(d.press(i.ConfirmShuffle())) is Refusal.WRONG_PHASE
    d.press(i.CountStub(51 if is_lost else 52), BORIS)
    assert prompt(d) == ("LOAD_DECK" if is_lost else "VERIFY_DECK")
    assert suspects(d.events) == []
    assert [closed.reason for closed in every(d.events, ShoeClosed)] == [ShoeEnd.COUNT] * is_lost


def test_a_deck_that_the_night_has_made_short_makes_the_uncounted_rounds_suspect() -> None:
    d = loaded(count_every=0).rounds(3)
    d.press(i.CloseTable())
    d.press(i.OpenTable())
    d.press(i.VerifyDeck(51))
    d.press(i.CountStub(51), BORIS)
    assert suspects(d.events) == [(1, 3, ShoeEnd.COUNT)]


# The end of a deck.


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
            d.press(i.ReportCancel(CancelReason.CARD_ON_FLOOR))
            d.press(i.ConfirmCancel(), BORIS)
    assert not every(d.events, ShoeClosed)
    d.press(i.ClearTable())
    assert only(d.last, ShoeClosed).reason is reason
    assert suspects(d.events) == ([] if first is None else [(first, 3, reason)])
    assert d.phase is Phase.DECK_CHECK and prompt(d) == "LOAD_DECK"


def test_after_a_defective_deck_a_supervisor_verifies_the_next() -> None:
    d = loaded().round()
    d.until(lambda code: code == "DEAL_CARD").scan(code="A01")
    d.press(i.ClearTable())
    d.cards = list(DECK)
    d.scan_set(d.codes())
    assert prompt(d) == "SUPERVISOR_VERIFIES"
    assert refusal(d.press(i.VerifyDeck(52))) is Refusal.WRONG_ROLE
    d.press(i.VerifyDeck(52), BORIS)
    assert d.phase is Phase.SHUFFLING and only(d.last, DeckLoaded).number == 2
    assert refusal(d.press(i.ChangeDeck(ChangeReason.CHANGED), BORIS)) is None
    d.load()
    assert refusal(d.press(i.VerifyDeck(52))) is None


def test_another_change_does_not_do_away_with_the_supervisor() -> None:
    d = loaded()
    d.press(i.ChangeDeck(ChangeReason.INTEGRITY), BORIS)
    d.load().press(i.ChangeDeck(ChangeReason.FLOOR))
    d.load()
    assert refusal(d.press(i.VerifyDeck(52))) is Refusal.WRONG_ROLE


def test_rpl_76_a_card_on_the_floor_in_the_shuffle_changes_the_deck() -> None:
    d = loaded().round()
    d.press(i.ChangeDeck(ChangeReason.FLOOR))
    assert only(d.last, IncidentDecided).by == ANNA and only(d.last, IncidentOpened).cell == "16"
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
        d.press(i.OpenTable())
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
    assert prompt(d) == "LOAD_DECK"


def test_a_deck_in_use_may_be_scanned_again_and_stays_what_it_is() -> None:
    d = loaded().round().count()
    d.press(i.CloseTable())
    d.press(i.OpenTable())
    assert refusal(d.scan(code="A01")) is Refusal.UNKNOWN_DECK, "it lies before the scanner, not in the deck"
    d.scan_set(d.codes()).press(i.VerifyDeck(52))
    assert len(every(d.events, DeckLoaded)) == 1 and d.phase is Phase.SHUFFLING


@pytest.mark.parametrize(("bad", "first"), [(_missing, 2), (_doubled, 1)])
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
    assert prompt(d) == "COUNT_STUB"
    d.count().round()
    assert only(d.events, ShoeClosed).reason is ShoeEnd.AGE and suspects(d.events) == []
    assert d.phase is Phase.DECK_CHECK
    d = aged(29).round()
    assert not every(d.events, ShoeClosed) and d.phase is Phase.SHUFFLING


def test_row_38_a_deck_that_grew_old_while_the_table_was_off_goes_when_it_opens() -> None:
    d = loaded()
    d.press(i.CloseTable())
    d.now += 31 * DAY_US
    d.press(i.OpenTable())
    assert only(d.last, ShoeClosed).reason is ShoeEnd.AGE and prompt(d) == "LOAD_DECK"


# Order.


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
    assert d.phase is Phase.DECK_CHECK and prompt(d) == "LOAD_DECK"


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
        d.press(i.ReportCancel(CancelReason.TECHNICAL))
        d.press(i.ConfirmCancel(), BORIS)
    d.until(lambda code: code == "CLEAR_TABLE")
    kinds = {opened.kind for opened in every(d.events, IncidentOpened)}
    assert IncidentKind.ORDER_ALARM not in kinds and not every(d.events, ShoeClosed)
    d.press(i.ClearTable())
    assert only(d.last, ShoeClosed).reason is ShoeEnd.ORDER


# What is left, worn cards, people, records.


class Greedy(RussianLive):
    """A game that may need more cards than the deck has."""

    most = 52

    @property
    def cards_at_most(self) -> int:
        return self.most


@pytest.mark.parametrize(("most", "opens"), [(52, True), (53, False)])
def test_row_28_no_round_opens_that_the_shoe_may_not_finish(most: int, opens: bool) -> None:
    game = Greedy(Dealt().game.rules)
    game.most = most
    d = Dealt(game=game).to_ready()
    assert ("open_betting" in draw(d.table.state).buttons) is opens
    before = digest(d.table)
    refused = refusal(d.press(i.OpenBetting()))
    assert refused is (None if opens else Refusal.TOO_FEW_CARDS)
    assert opens or digest(d.table) == before


def worn_out(*, limit: int) -> Played:
    """Play until the ace of spades has been scanned again three times."""
    d = loaded(count_every=0)
    limits = msgspec.structs.replace(d.settings.limits, retire_rescans_per_10_000=limit)
    d.table.state.settings = msgspec.structs.replace(d.settings, limits=limits)
    ace = Card.parse("As")
    for _ in range(3):
        d.shoe = [ace, *d.random.sample([card for card in DECK if card != ace], 51)]
        d.press(i.ConfirmShuffle())
        d.until(lambda code: code == "DEAL_CARD").fail()
        assert not every(d.events, WearFound)
        d.scan()
        d.round()
    return d


def test_a_card_that_needs_too_many_rescans_is_named_when_its_cards_are_collected() -> None:
    d = worn_out(limit=500)
    found = {(event.worn, event.name, event.rescans) for event in every(d.last, WearFound)}
    assert found == {(Worn.CARD, "As", 3)}
    assert draw(d.table.state).worn == ("CARD/As",)
    d.round()
    assert not every(d.last, WearFound), "named once"
    d.press(i.ChangeDeck(ChangeReason.INTEGRITY), BORIS)
    assert draw(d.table.state).worn == ()


def test_a_tired_scanner_is_named() -> None:
    names = {(event.worn, event.name) for event in every(worn_out(limit=100).events, WearFound)}
    assert names == {(Worn.CARD, "As"), (Worn.SCANNER, "shoe")}


def test_a_worn_card_is_not_shown_while_a_round_is_played() -> None:
    d = worn_out(limit=500)
    d.until(lambda code: code == "DEAL_CARD")
    assert draw(d.table.state).worn == ()


def test_the_events_of_a_deck_name_people_and_counts_to_the_back_office_alone() -> None:
    d = loaded(count_every=1).round().count(BORIS)
    heard = {
        audience: b"".join(encode_events((seen,)) for event in d.events if (seen := event.seen_by(audience)))
        for audience in AUDIENCES
    }
    for audience in AUDIENCES:
        told = b"stub.counted" in heard[audience] or b"deck.scanned" in heard[audience]
        assert told is (audience is Audience.AUDIT)
        assert (b"deck.loaded" in heard[audience]) is (audience is not Audience.SETTLEMENT)


def test_a_record_in_the_middle_of_a_load_restores_it() -> None:
    d = Played()
    codes = d.codes()
    d.scan_set(codes[:20])
    record = d.table.carried()
    assert record is not None
    again = Table(d.settings, d.game, BLUE, (RED,))
    again.restore(record)
    assert again.carried() == record
    d.table = again
    d.scan_set(codes[20:]).press(i.VerifyDeck(52))
    assert d.phase is Phase.SHUFFLING


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_table_whose_config_has_lost_the_deck_loads_another(shuffled: bool) -> None:
    d = loaded().round()
    if shuffled:
        d.shuffle()
    record = d.table.carried()
    assert record is not None
    d.table = Table(d.settings, d.game, code_map("green", Scheme.PLAIN), (BLUE,))
    d.table.restore(record)
    d.start()
    assert only(d.last, ShoeClosed).reason is ShoeEnd.CHANGED
    assert d.phase is Phase.DECK_CHECK and prompt(d) == "LOAD_DECK"


def test_a_record_from_before_decks_were_registered_asks_for_one() -> None:
    d = loaded().round()
    record = d.table.carried()
    assert record is not None
    fields = msgspec.json.decode(record)
    del fields["shoe"]
    d.table = Table(d.settings, d.game, BLUE, (RED,))
    d.table.restore(msgspec.json.encode(fields))
    d.start()
    assert d.phase is Phase.DECK_CHECK and prompt(d) == "LOAD_DECK"


def test_the_limits_are_those_of_the_procedures() -> None:
    limits = Limits()
    assert (limits.count_every_rounds, limits.order_run) == (5, 7)
