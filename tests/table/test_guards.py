"""Guards: room for the journal before a round opens, and a wall clock that somebody sets."""

from __future__ import annotations

import msgspec
import pytest
from table.dealt import FAILS, IN_A_ROUND, Dealt, every, only, refusal

from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import (
    AUDIENCES,
    Audience,
    BetsClosed,
    BettingOpened,
    ClockWasStepped,
    DiskMeasured,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    Refusal,
    RoundOpened,
    Verdict,
)
from controller.table.picture import draw


def measure(d: Dealt, free_mb: int) -> None:
    d.feed(i.Measured(at=d.now + 1, disk_free_mb=free_mb))


def test_no_round_opens_without_room_for_its_journal() -> None:
    d = Dealt().to_ready()
    measure(d, 499)
    noted = only(d.last, DiskMeasured)
    assert (noted.free_mb, noted.enough) == (499, False)
    assert only(d.last, IncidentOpened).kind is IncidentKind.DISK_LOW
    assert only(d.last, IncidentDecided).verdict is Verdict.NO_NEW_ROUND
    assert draw(d.table.state).prompt.code == "FREE_DISK"
    assert "open_betting" not in draw(d.table.state).buttons
    assert refusal(d.press(i.OpenBetting())) is Refusal.DISK_FULL
    assert d.phase is Phase.READY
    measure(d, 550)
    assert only(d.last, DiskMeasured).enough and not every(d.last, IncidentOpened)
    d.press(i.OpenBetting())
    assert only(d.last, RoundOpened)


@pytest.mark.parametrize("where", IN_A_ROUND)
def test_a_round_that_is_open_is_finished(where: str) -> None:
    d = IN_A_ROUND[where](Dealt(FAILS))
    prompt = draw(d.table.state).prompt
    measure(d, 3)
    assert only(d.last, IncidentOpened) and not d.table.state.incidents
    assert draw(d.table.state).prompt == prompt


def test_more_of_the_same_is_no_further_incident() -> None:
    d = Dealt().to_ready()
    measure(d, 40)
    measure(d, 30)
    assert not every(d.last, IncidentOpened)


def test_a_start_tells_of_the_disk_too() -> None:
    d = Dealt().to_ready()
    d.start(disk_free_mb=7)
    assert only(d.last, IncidentOpened).kind is IncidentKind.DISK_LOW
    d.plug()
    assert refusal(d.press(i.OpenBetting())) is Refusal.DISK_FULL
    d.start()
    d.plug()
    assert refusal(d.press(i.OpenBetting())) is None


def test_the_machine_does_not_block_the_table_however_often_it_speaks() -> None:
    d = Dealt().to_ready()
    for _ in range(6):
        measure(d, 40)
        d.feed(i.ClockStepped(at=d.now + 1, step_ms=900))
        measure(d, 4_000)
    assert refusal(d.press(i.OpenBetting())) is None


@pytest.mark.parametrize("step_ms", [-3_600_000, 3_600_000])
def test_a_lease_does_not_move_with_the_wall_clock(step_ms: int) -> None:
    d = Dealt().to_betting()
    lease = only(d.last, BettingOpened)
    deadlines = dict(d.table.deadlines)
    d.feed(i.ClockStepped(at=d.now + 1, step_ms=step_ms))
    assert only(d.last, ClockWasStepped).step_ms == step_ms
    assert only(d.last, IncidentOpened).kind is IncidentKind.CLOCK_STEPPED
    assert d.table.deadlines == deadlines and not d.table.state.incidents
    d.advance(20_000)
    assert only(d.events, BetsClosed).at_us == lease.closes_at_us


@pytest.mark.parametrize(
    "value", [i.Measured(at=1, disk_free_mb=3), i.ClockStepped(at=1, step_ms=900)], ids=["disk", "clock"]
)
def test_only_the_back_office_hears_of_the_machine(value: i.AnyInput) -> None:
    """In betting time too: it stops no bets."""
    d = Dealt().to_betting()
    d.feed(msgspec.structs.replace(value, at=d.now + 1))
    assert len(d.last) == 4
    for event in d.last:
        assert [audience for audience in AUDIENCES if event.seen_by(audience)] == [Audience.AUDIT], event
