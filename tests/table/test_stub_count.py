"""The stub is counted, and what a wrong count means (procedures, row 25).

TABLECTL_SOAK=1 takes a thousand decks of each fault.
"""

from __future__ import annotations

import os
from random import Random

import pytest
from table.dealt import (
    ANNA,
    BORIS,
    CLARA,
    cancelled,
    every,
    only,
    refusal,
)
from table.played import (
    loaded,
    prompt_of,
    suspects,
)

from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import (
    DeckLoaded,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    Refusal,
    RoundConfirmed,
    ShoeClosed,
    ShoeEnd,
    StubCounted,
    Verdict,
)
from controller.table.inputs import CancelReason
from controller.table.picture import draw

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
DECKS = 1_000 if SOAK else 15


def test_the_stub_is_counted_at_the_interval_and_before_the_cards_are_collected() -> None:
    d = loaded(count_every=3)
    d.rounds(2)
    assert not every(d.events, StubCounted)
    d.round()
    assert prompt_of(d) == "COUNT_STUB" and d.phase is Phase.CONFIRMED
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
        assert d.phase is Phase.RESULT_PROPOSED and prompt_of(d) == "COUNT_STUB"
        assert refusal(d.press(i.ConfirmResult())) is Refusal.COUNT_DUE
        d.count().press(i.ConfirmResult())
        d.press(i.ClearTable())
        assert len(every(d.events, RoundConfirmed)) == number


def test_a_miscount_is_mended_by_a_supervisor_who_is_another_person() -> None:
    d = loaded(count_every=1).round()
    out = d.table.state.register.out_count
    d.press(i.CountStub(51 - out), BORIS)
    assert only(d.last, IncidentOpened).cell == "25" and prompt_of(d) == "COUNT_AGAIN"
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
        assert only(d.last, ShoeClosed).reason is ShoeEnd.COUNT and prompt_of(d) == "LOAD_DECK"


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
    d.press(i.Observed(IncidentKind.DEVICE_FAILED))
    d.press(i.ConfirmCancel(), BORIS)
    assert prompt_of(d) == "CLEAR_TABLE" and refusal(d.press(i.CountStub(52))) is Refusal.NOT_OWED
    d.press(i.ClearTable())
    d.round()
    assert prompt_of(d) == "COUNT_STUB"


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
    assert d.phase is Phase.DECK_CHECK and prompt_of(d) == "VERIFY_DECK"
    d.press(i.VerifyDeck(52))
    assert d.table.state.shoe.deck is not None and len(every(d.events, DeckLoaded)) == 1


@pytest.mark.parametrize("is_lost", [False, True])
def test_row_25_a_wrong_count_at_the_verification_is_repeated_by_a_supervisor(is_lost: bool) -> None:
    d = loaded(count_every=2).rounds(2).count().round().round()
    d.count().press(i.CloseTable())
    d.reopen()
    d.press(i.VerifyDeck(51))
    assert prompt_of(d) == "COUNT_AGAIN" and refusal(d.press(i.ConfirmShuffle())) is Refusal.WRONG_PHASE
    d.press(i.CountStub(51 if is_lost else 52), BORIS)
    assert prompt_of(d) == ("LOAD_DECK" if is_lost else "VERIFY_DECK")
    assert suspects(d.events) == []
    assert [closed.reason for closed in every(d.events, ShoeClosed)] == [ShoeEnd.COUNT] * is_lost


def test_a_deck_that_the_night_has_made_short_makes_the_uncounted_rounds_suspect() -> None:
    d = loaded(count_every=0).rounds(3)
    d.press(i.CloseTable())
    d.reopen()
    d.press(i.VerifyDeck(51))
    d.press(i.CountStub(51), BORIS)
    assert suspects(d.events) == [(1, 3, ShoeEnd.COUNT)]
