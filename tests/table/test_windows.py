"""Windows, the guard after them, and the facts of the betting system."""

from __future__ import annotations

import msgspec
import pytest
from table.dealt import (
    BETS,
    FAILS,
    MILLISECOND,
    SETTINGS,
    Dealt,
    digest,
    every,
    only,
    refusal,
)

from controller.games.procedure import BoxState
from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import (
    BetsClosed,
    BettingOpened,
    CardDealt,
    DecisionClosed,
    DecisionOpened,
    FactsSettled,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    Refusal,
    Verdict,
)
from controller.table.picture import draw


def test_a_window_ends_at_its_published_time() -> None:
    d = Dealt().to_options()
    opened = every(d.events, DecisionOpened)[-1]
    assert opened.closes_at_us == opened.opened_at_us + 15_000 * MILLISECOND
    d.advance(14_990)
    assert not every(d.events, DecisionClosed)
    d.advance(20)
    closed = only(d.events, DecisionClosed)
    assert (closed.at_us, closed.ended_by) == (opened.closes_at_us, "time")


def test_a_window_ends_at_its_published_time_while_the_table_is_held() -> None:
    d = Dealt().to_options()
    closes_at = every(d.events, DecisionOpened)[-1].closes_at_us
    d.press(i.Observed(IncidentKind.HIDDEN_CARD_SHOWN, "box1"))
    d.advance(15_100)
    assert only(d.events, DecisionClosed).at_us == closes_at
    d.press(i.WithdrawReport())
    assert refusal(d.facts("options", undecided=True)) is None  # Closed, and never open again.
    assert len(every(d.events, DecisionOpened)) == len(every(d.events, DecisionClosed)) == 1


def test_a_window_ends_early_only_when_nobody_is_undecided() -> None:
    d = Dealt().to_options()
    d.facts("options", undecided=True)
    d.facts("options", acknowledges=True)
    assert not every(d.events, DecisionClosed)
    d.facts("options", undecided=False)
    assert only(d.last, DecisionClosed).ended_by == "all_decided"


def test_betting_ends_by_the_dealer_or_by_time_and_only_once() -> None:
    by_time = Dealt().to_betting()
    by_time.advance(15_001)
    assert only(by_time.events, BetsClosed).at_us == only(by_time.events, BettingOpened).closes_at_us
    assert refusal(by_time.press(i.CloseBetting())) is Refusal.WRONG_PHASE
    by_dealer = Dealt().to_betting()
    by_dealer.press(i.CloseBetting())
    assert only(by_dealer.last, BetsClosed).ended_by == "dealer"
    by_dealer.advance(60_000)
    assert len(every(by_dealer.events, BetsClosed)) == 1


def _early(d: Dealt) -> bool:
    """Whether the next card is an early draw; the guard is asked with a card that goes nowhere."""
    opened = every(d.scan(), IncidentOpened)
    return bool(opened) and opened[0].kind in (IncidentKind.EARLY_DRAW, IncidentKind.EARLY_EXCHANGE)


@pytest.mark.parametrize(("wait_ms", "early"), [(15_990, True), (16_001, False)])
def test_no_card_before_closing_time_and_guard_without_an_acknowledgement(wait_ms: int, early: bool) -> None:
    d = Dealt().to_betting()
    opened_at = only(d.events, BettingOpened).closes_at_us - 15_000 * MILLISECOND
    d.press(i.CloseBetting())  # At once: what counts is the published time.
    d.advance((opened_at - d.now) // MILLISECOND + wait_ms)
    assert only(d.events, FactsSettled).acknowledged is False
    assert _early(d) is early


def test_an_acknowledgement_frees_the_card_at_once() -> None:
    d = Dealt().to_betting()
    d.press(i.CloseBetting())
    d.bets()
    assert not _early(d)


@pytest.mark.parametrize("window", ["options", "buy_time"])
def test_the_guard_holds_after_every_window_that_frees_a_card(window: str) -> None:
    d = Dealt(FAILS).to_options() if window == "options" else Dealt(FAILS).to_buy_time()
    closes_at = every(d.events, DecisionOpened)[-1].closes_at_us
    d.facts(window, undecided=False)
    d.advance(510)
    assert every(d.events, FactsSettled)[-1].window == window
    if window == "buy_time":
        d.press(i.LayCardAside())
    assert draw(d.table.state).prompt.not_before_us == closes_at + 1_000 * MILLISECOND
    assert _early(d)
    d.answer(False)
    d.advance((closes_at - d.now) // MILLISECOND + 1_001)
    assert only(d.scan(), CardDealt)


def test_facts_not_told_in_the_grace_time_are_the_ones_of_the_settings() -> None:
    told = {"box1": BoxState.DARK, "box2": BoxState.EMPTY, "box3": BoxState.DARK}
    d = Dealt(settings=msgspec.structs.replace(SETTINGS, boxes_not_told=told)).to_betting()
    d.press(i.CloseBetting())
    d.advance(499)
    assert not every(d.events, FactsSettled)
    d.advance(2)
    settled = only(d.events, FactsSettled)
    assert settled.boxes == told and not settled.acknowledged


def test_facts_not_told_in_the_grace_time_count_as_yes() -> None:
    d = Dealt(FAILS).to_buy_time()
    d.advance(10_501)
    assert every(d.events, FactsSettled)[-1].anyone_bought is None
    assert draw(d.table.state).prompt.code == "LAY_ASIDE"


def test_facts_are_taken_until_the_grace_time_is_over() -> None:
    d = Dealt(FAILS).to_buy_time()
    d.advance(10_400)
    d.facts("buy_time", anyone_bought=False)
    assert d.phase is Phase.DECIDING
    d.advance(200)
    assert Phase(d.phase) is Phase.RESULT_PROPOSED


def test_facts_of_another_window_are_refused() -> None:
    d = Dealt().to_options()
    assert refusal(d.facts("final_options", undecided=False)) is Refusal.WRONG_WINDOW
    assert refusal(d.facts("betting", undecided=False)) is Refusal.WRONG_WINDOW
    assert refusal(d.bets()) is Refusal.TOO_LATE
    d.all_decided("options")
    assert refusal(d.facts("options", undecided=False)) is Refusal.TOO_LATE


def test_row_41_late_facts_that_say_the_same_change_nothing() -> None:
    d = Dealt().to_options()
    d.all_decided("options", anyone_drew=False)
    before = digest(d.table)
    assert refusal(d.facts("options", anyone_drew=False)) is Refusal.TOO_LATE
    assert digest(d.table) == before


def _wrong_fact(d: Dealt) -> None:
    assert only(d.last, IncidentOpened).kind is IncidentKind.WRONG_FACT
    assert only(d.last, IncidentDecided).verdict is Verdict.REFUND
    assert refusal(d.last) is Refusal.TOO_LATE
    assert d.table.state.incident is None


def test_row_41_a_fact_that_proves_wrong_is_an_incident() -> None:
    d = Dealt().to_options()
    d.all_decided("options", anyone_drew=False)
    d.facts("options", anyone_drew=True)
    _wrong_fact(d)


def test_row_41_also_when_another_window_is_open_by_then() -> None:
    d = Dealt().to_options()
    d.all_decided("options", anyone_drew=False)
    d.deal(5)
    d.facts("options", anyone_drew=True)
    _wrong_fact(d)


def test_row_41_also_when_the_result_is_proposed() -> None:
    d = Dealt(FAILS).to_buy_time()
    d.all_decided("buy_time", anyone_bought=False)
    assert d.phase is Phase.RESULT_PROPOSED
    d.facts("buy_time", anyone_bought=True)
    _wrong_fact(d)


@pytest.mark.parametrize("play_on", [lambda d: d, lambda d: d.deal(20)], ids=["dealing", "deciding"])
def test_row_41_a_box_that_was_not_empty_after_all(play_on: object) -> None:
    d = Dealt().to_dealing(box1=BoxState.EMPTY)
    play_on(d)  # type: ignore[operator]
    assert refusal(d.bets(box1=BoxState.EMPTY)) is Refusal.TOO_LATE
    assert not every(d.last, IncidentOpened)
    d.bets()
    _wrong_fact(d)


def test_an_unknown_box_is_refused() -> None:
    d = Dealt().to_betting()
    d.press(i.CloseBetting())
    assert refusal(d.press(i.BetsTaken({"box9": BoxState.DARK}), BETS)) is Refusal.UNKNOWN_PLACE
    assert refusal(d.bets()) is None


def test_an_acknowledgement_after_the_grace_time_still_frees_the_card() -> None:
    d = Dealt().to_options()
    d.advance(15_000 + 600)
    assert every(d.events, FactsSettled)[-1].acknowledged is False
    assert refusal(d.facts("options", acknowledges=True, anyone_drew=True)) is None
    d.scan()
    assert only(d.last, CardDealt).place == "switch"


def test_a_late_acknowledgement_of_bets_frees_card_1_and_changes_no_fact() -> None:
    d = Dealt().to_betting()
    d.press(i.CloseBetting())
    d.advance(600)
    assert only(every(d.events, FactsSettled), FactsSettled).acknowledged is False
    d.bets()
    d.scan()
    assert only(d.last, CardDealt).place == "box1"
    assert refusal(d.bets()) is Refusal.TOO_LATE


def test_late_facts_that_contradict_free_no_card() -> None:
    d = Dealt().to_options()
    d.facts("options", anyone_drew=False)
    d.advance(15_000 + 600)
    free_at = d.table.state.in_play.free_at
    assert refusal(d.facts("options", anyone_drew=True, acknowledges=True)) is Refusal.TOO_LATE
    assert d.table.state.in_play.free_at == free_at
