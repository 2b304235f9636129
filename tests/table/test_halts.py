"""What keeps the next round from opening: pauses, closes, the breaker, a silent supervisor (rows 40, 42)."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from profiles import profile
from table.dealt import (
    ANNA,
    BORIS,
    CLARA,
    DORA,
    FAILS,
    IN_A_ROUND,
    SETTINGS,
    Dealt,
    cancelled,
    digest,
    every,
    only,
    refusal,
)

from controller.table import inputs as i
from controller.table.charts import IncidentState, Phase
from controller.table.events import (
    HaltReason,
    IncidentDecided,
    IncidentEscalated,
    IncidentKind,
    Refusal,
    RoundCancelled,
    TableBlocked,
    TableClosed,
    TableClosing,
    TablePaused,
    TablePausing,
    TableResumed,
    TableUnblocked,
)
from controller.table.inputs import Role
from controller.table.picture import draw
from controller.table.table import Table

LIMITS = SETTINGS.limits
ESCALATE_MS, GIVE_UP_MS = LIMITS.escalate_after_s * 1_000, LIMITS.give_up_after_s * 1_000


def report(d: Dealt) -> Dealt:
    """The dealer reports; a supervisor is waited for."""
    d.press(i.Observed(IncidentKind.CARD_ON_FLOOR))
    return d


# Pause and close.


def test_a_pause_between_rounds_holds_at_once() -> None:
    d = Dealt().to_ready()
    d.press(i.PauseTable(HaltReason.BREAK))
    paused = only(d.last, TablePaused)
    assert (paused.reason, paused.by) == (HaltReason.BREAK, ANNA)
    shown = draw(d.table.state)
    assert (shown.prompt.code, shown.paused) == ("PAUSED", "BREAK") and "open_betting" not in shown.buttons
    before = digest(d.table)
    assert refusal(d.press(i.OpenBetting())) is Refusal.PAUSED and digest(d.table) == before
    d.press(i.ResumeTable())
    assert only(d.last, TableResumed).by == ANNA
    assert refusal(d.press(i.OpenBetting())) is None


@pytest.mark.parametrize("where", IN_A_ROUND)
def test_a_pause_in_a_round_lets_it_be_finished(where: str) -> None:
    d = IN_A_ROUND[where](Dealt(FAILS))
    d.press(i.PauseTable(HaltReason.TECHNICAL))
    assert only(d.last, TablePausing) and not every(d.events, TablePaused)
    d.press(i.Observed(IncidentKind.DEVICE_FAILED))
    d.press(i.ConfirmCancel(), BORIS)
    d.press(i.ClearTable())
    assert only(d.last, TablePaused).reason is HaltReason.TECHNICAL
    d.press(i.ConfirmShuffle())
    assert refusal(d.press(i.OpenBetting())) is Refusal.PAUSED


@pytest.mark.parametrize("command", [i.PauseTable(HaltReason.BREAK), i.CloseAfterRound(HaltReason.SHIFT_END)])
def test_what_is_to_come_is_taken_back(command: i.AnyCommand) -> None:
    d = Dealt().to_confirmed()
    d.press(command)
    for other in (i.PauseTable(HaltReason.BREAK), i.CloseAfterRound(HaltReason.BREAK)):
        assert refusal(d.press(other)) is Refusal.HALTED_ALREADY
    d.press(i.ResumeTable())
    assert refusal(d.press(i.ResumeTable())) is Refusal.NOT_HALTED
    d.press(i.ClearTable())
    d.press(i.ConfirmShuffle())
    assert refusal(d.press(i.OpenBetting())) is None


@pytest.mark.parametrize("command", [i.PauseTable(HaltReason.ORDERED), i.CloseAfterRound(HaltReason.ORDERED)])
def test_a_dealer_does_not_undo_what_a_supervisor_has_ordered(command: i.AnyCommand) -> None:
    d = Dealt().to_dealing()
    d.press(command, BORIS)
    before = digest(d.table)
    assert refusal(d.press(i.ResumeTable())) is Refusal.WRONG_ROLE and digest(d.table) == before
    assert refusal(d.press(i.ResumeTable(), CLARA)) is None


def test_a_table_that_closes_after_the_round_is_closed_at_its_boundary() -> None:
    d = Dealt().to_dealing().deal(3)
    d.press(i.CloseAfterRound(HaltReason.SHIFT_END))
    assert only(d.last, TableClosing).by == ANNA and draw(d.table.state).closing == "SHIFT_END"
    report(d)
    d.press(i.ConfirmCancel(), BORIS)
    d.press(i.ClearTable())
    assert only(d.last, TableClosed) and d.phase is Phase.CLOSED
    assert draw(d.table.state).closing is None and draw(d.table.state).dealer is None
    assert d.table.carried() is not None


def test_a_closed_table_neither_pauses_nor_closes_after_a_round() -> None:
    d = Dealt()
    d.start()
    assert refusal(d.press(i.PauseTable(HaltReason.BREAK))) is Refusal.WRONG_PHASE
    d.press(i.OpenTable())
    assert refusal(d.press(i.CloseAfterRound(HaltReason.BREAK))) is Refusal.WRONG_PHASE
    d.press(i.PauseTable(HaltReason.BREAK))
    d.press(i.CloseTable())
    assert draw(d.table.state).paused is None


# Row 42.


def misreads(d: Dealt, count: int) -> Dealt:
    """So many cards are disputed by reports that are withdrawn, without an end to the round."""
    for _ in range(count):
        report(d)
        d.press(i.WithdrawReport())
    return d


def test_row_42_the_same_case_too_often_blocks_the_table_after_the_round() -> None:
    d = misreads(Dealt().to_dealing().deal(3), LIMITS.breaker_cases)
    assert draw(d.table.state).blocked == ()
    misreads(d, 1)
    assert draw(d.table.state).blocked == ("RPL-70",) and not every(d.events, TableBlocked)
    d.deal(1)  # The round goes on.
    report(d)
    d.press(i.ConfirmCancel(), BORIS)
    d.press(i.ClearTable())
    blocked = only(d.last, TableBlocked)
    assert (blocked.reason, blocked.cell) == ("BREAKER", "RPL-70")
    d.load()
    d.press(i.VerifyDeck(52))
    d.press(i.ConfirmShuffle())
    shown = draw(d.table.state)
    assert shown.prompt.code == "UNBLOCK" and "unblock" in shown.buttons
    assert "open_betting" not in shown.buttons
    assert refusal(d.press(i.OpenBetting())) is Refusal.BLOCKED


def test_row_42_cases_that_lie_far_apart_block_nothing() -> None:
    d = misreads(Dealt().to_dealing().deal(3), LIMITS.breaker_cases)
    d.advance(LIMITS.breaker_minutes * 60_000)
    misreads(d, LIMITS.breaker_cases)
    assert draw(d.table.state).blocked == ()


def test_row_42_other_cases_are_counted_apart() -> None:
    d = misreads(Dealt().to_dealing().deal(3), LIMITS.breaker_cases)
    d.unplug()
    assert draw(d.table.state).blocked == ()


def test_row_42_before_a_round_the_table_is_blocked_at_once() -> None:
    d = Dealt().to_ready()
    for _ in range(LIMITS.breaker_cases + 1):
        d.scan("2c")
        d.press(i.ConfirmShuffle())
    assert only(d.events, TableBlocked).cell == "7 shuffle"


def blocked() -> Dealt:
    """Return a table that is ready but for its block."""
    d = Dealt().to_ready()
    for _ in range(LIMITS.breaker_cases + 1):
        d.scan("2c")
        d.press(i.ConfirmShuffle())
    assert draw(d.table.state).blocked == ("7 shuffle",)
    return d


@pytest.mark.parametrize(("first", "second"), [(ANNA, BORIS), (BORIS, ANNA), (BORIS, CLARA)])
def test_row_42_two_people_unlock_one_of_them_a_supervisor(first: str, second: str) -> None:
    d = blocked()
    d.press(i.Unblock(), first)
    assert draw(d.table.state).unlocked_by == first and refusal(d.press(i.OpenBetting())) is Refusal.BLOCKED
    before = digest(d.table)
    assert refusal(d.press(i.Unblock(), first)) is Refusal.SAME_PERSON and digest(d.table) == before
    d.press(i.Unblock(), second)
    unblocked = only(d.last, TableUnblocked)
    assert (unblocked.cells, unblocked.by) == (("7 shuffle",), (first, second))
    assert refusal(d.press(i.OpenBetting())) is None
    assert refusal(d.press(i.Unblock(), BORIS)) in (Refusal.WRONG_PHASE, Refusal.NOT_HALTED)


def test_row_42_two_dealers_one_after_the_other_do_not_unlock() -> None:
    d = blocked()
    d.press(i.Unblock())
    d.press(i.LogOut())
    d.log_in(DORA)
    before = digest(d.table)
    assert refusal(d.press(i.Unblock(), DORA)) is Refusal.WRONG_ROLE and digest(d.table) == before


def test_row_42_after_unlocking_the_breaker_counts_from_nothing() -> None:
    d = blocked()
    d.press(i.Unblock(), ANNA)
    d.press(i.Unblock(), BORIS)
    for _ in range(LIMITS.breaker_cases):
        d.scan("2c")
        d.press(i.ConfirmShuffle())
    assert draw(d.table.state).blocked == ()


def test_row_42_a_block_outlives_the_day() -> None:
    d = blocked()
    d.press(i.Unblock())
    d.press(i.CloseTable())
    again = Table(d.settings, d.game, d.table.state.register.deck)
    again.restore(d.table.carried() or b"")
    assert draw(again.state).blocked == ("7 shuffle",) and draw(again.state).unlocked_by == ANNA


# Row 40.


SUPERVISED: dict[str, Callable[[Dealt], object]] = {
    "a report": report,
    "a change of the dealer": lambda d: d.log_in(DORA, Role.DEALER),
    "a second failed reading": lambda d: (d.fail(), d.fail()),
}


@pytest.mark.parametrize("case", SUPERVISED)
def test_row_40_a_supervisor_who_is_silent(case: str) -> None:
    d = Dealt().to_switch()
    SUPERVISED[case](d)
    number = d.table.state.incident.number if d.table.state.incident else 0
    assert d.table.state.incident_state is IncidentState.SUPERVISOR
    d.advance(ESCALATE_MS - 10)
    assert not every(d.events, IncidentEscalated) and not draw(d.table.state).escalated
    d.advance(10)
    escalated = only(d.events, IncidentEscalated)
    assert (escalated.incident, escalated.after_s) == (number, LIMITS.escalate_after_s)
    assert draw(d.table.state).escalated and "called again" in draw(d.table.state).prompt.text
    d.advance(GIVE_UP_MS - ESCALATE_MS - 10)
    assert d.phase is not Phase.CANCELLED
    d.advance(10)
    reason = i.CancelReason.TECHNICAL
    reason = {"a report": i.CancelReason.CARD_ON_FLOOR, "a change of the dealer": reason}.get(
        case, i.CancelReason.WRONG_READING
    )
    cancelled(d, reason)
    decided = every(d.last, IncidentDecided)[0]
    assert (decided.cell, decided.by) == ("40", None)
    d.press(i.ClearTable())
    assert only(d.last, TableBlocked) == TableBlocked(reason="NO_SUPERVISOR", cell="40")


def test_row_40_a_count_that_nobody_repeats_in_the_first_shuffle() -> None:
    """No round is open that could be cancelled: the case waits on."""
    d = Dealt()
    d.start()
    d.plug()
    d.press(i.OpenTable())
    d.load()
    d.press(i.VerifyDeck(52))
    d.press(i.CountStub(51))
    d.advance(GIVE_UP_MS)
    assert only(d.events, TableBlocked) == TableBlocked(reason="NO_SUPERVISOR", cell="40")
    d.press(i.CountStub(52), BORIS)
    assert d.table.state.incident is None and d.phase is Phase.SHUFFLING


def test_row_40_an_answer_in_time_ends_it() -> None:
    d = report(Dealt().to_dealing().deal(3))
    d.advance(ESCALATE_MS)
    d.press(i.WithdrawReport())
    assert not draw(d.table.state).escalated
    d.advance(GIVE_UP_MS * 2)
    assert not every(d.events, RoundCancelled)


def test_row_40_the_time_runs_on_under_newer_incidents_and_ends_in_order() -> None:
    d = report(Dealt().to_dealing().deal(3))
    d.advance(10_000)
    d.unplug()
    assert d.table.state.incident_state is IncidentState.LOST
    d.advance(10_000)
    report(d)
    first, lost, second = d.table.state.incidents
    assert lost.kind is IncidentKind.SCANNER_LOST
    d.advance(ESCALATE_MS)
    assert [one.incident for one in every(d.events, IncidentEscalated)] == [first.number, second.number]
    d.advance(GIVE_UP_MS)
    assert every(d.events, IncidentDecided)[0].incident == first.number
    assert len(every(d.events, RoundCancelled)) == 1 and not d.table.state.deadlines


def test_row_40_a_re_scan_that_is_ordered_stops_the_time() -> None:
    d = Dealt().to_switch()
    d.fail()
    d.fail()
    d.advance(ESCALATE_MS)
    d.press(i.OrderRescan(), BORIS)
    assert not draw(d.table.state).escalated and not d.table.state.deadlines
    d.fail()
    assert len(d.table.state.deadlines) == 2
    d.advance(GIVE_UP_MS - 10)
    assert d.phase is not Phase.CANCELLED


def test_row_40_a_late_station_does_not_give_a_supervisor_more_time() -> None:
    d = report(Dealt().to_dealing().deal(3))
    d.now += GIVE_UP_MS * 1_000
    assert refusal(d.press(i.WithdrawReport())) is not None
    cancelled_at = [at for at, events in zip(d.inputs, d.steps, strict=True) if every(events, RoundCancelled)]
    assert len(cancelled_at) == 1 and d.phase is Phase.CANCELLED


def test_row_40_while_the_process_is_down_nobody_can_answer() -> None:
    d = report(Dealt().to_dealing().deal(3))
    d.now += GIVE_UP_MS * 1_000
    d.start()
    d.plug()
    assert not every(d.events, RoundCancelled)
    d.advance(GIVE_UP_MS - 10)
    assert not every(d.events, RoundCancelled)
    d.advance(10)
    assert only(d.events, RoundCancelled)


@pytest.mark.parametrize("seconds", [1, 30])
def test_row_40_the_times_are_the_profiles(seconds: int) -> None:
    shipped = profile("russian_poker_live", escalate_after_s=seconds, give_up_after_s=2 * seconds)
    d = report(Dealt(settings=msgspec.structs.replace(SETTINGS, profile=shipped)).to_dealing().deal(3))
    d.advance(seconds * 1_000)
    assert only(d.events, IncidentEscalated).after_s == seconds
    d.advance(seconds * 1_000)
    assert only(d.events, RoundCancelled)
