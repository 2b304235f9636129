"""Guards of the station: the disk and the wall clock, told to the table as inputs; devices behind ports."""

from __future__ import annotations

import asyncio
from collections import deque
from pathlib import Path

import pytest
from station.recorded import NOON, OwnClock, Session, write_config

from controller.journal import Reader
from controller.journal.recording import Kind, Line, read_lines
from controller.station import guards, start
from controller.station import station as daemon
from controller.station.clock import LiveClock
from controller.station.config import load
from controller.station.guards import Guards
from controller.station.intake import Intake, opened_text
from controller.station.replay import card_inputs, verify_recording
from controller.table import inputs as i
from controller.table.inputs import ClockStepped, Measured, decode_input
from controller.table.limits import Limits
from drivers.contract import CodeRead, DeviceReported, DeviceState, Report

LIMITS = Limits(disk_free_mb=100, clock_step_ms=500)
SECOND = 1_000_000


class TwoClocks(OwnClock):
    """A clock of the table, and a wall clock that somebody sets."""

    def __init__(self, now_us: int) -> None:
        super().__init__(now_us)
        self.ahead_us = 0

    def wall_us(self) -> int:
        return self.us + self.ahead_us


def room(monkeypatch: pytest.MonkeyPatch, free_mb: int) -> None:
    """Leave so much room on the disk."""
    for module in (guards, start):
        monkeypatch.setattr(module, "free_mb", lambda _folder: free_mb)


def test_the_disk_is_told_of_when_it_becomes_too_small_and_when_it_is_clearly_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = Guards(OwnClock(NOON), tmp_path, LIMITS, is_low=False)
    told = []
    for free_mb in (500, 100, 99, 98, 101, 109, 110, 100, 99):
        room(monkeypatch, free_mb)
        told += [(free_mb, value) for value in watch.look()]
    assert told == [(free, Measured(at=0, disk_free_mb=free)) for free in (99, 110, 99)]


def test_the_room_is_that_of_the_tables_disk(tmp_path: Path) -> None:
    assert 0 < guards.free_mb(tmp_path) < 10**9


def test_a_wall_clock_that_jumps_is_told_with_its_size_and_slow_drift_is_not(tmp_path: Path) -> None:
    clock = TwoClocks(NOON)
    watch = Guards(clock, tmp_path, Limits(disk_free_mb=0, clock_step_ms=500), is_low=False)
    told = []
    for step_us in (0, 500_000, 400_000, -500_000, -500_001, 3_600 * SECOND, 0):
        clock.us += SECOND
        clock.ahead_us += step_us
        told += watch.look()
    assert told == [ClockStepped(at=0, step_ms=-501), ClockStepped(at=0, step_ms=3_600_000)]


def test_a_clock_without_a_wall_clock_is_not_watched(tmp_path: Path) -> None:
    clock = OwnClock(NOON)
    watch = Guards(clock, tmp_path, Limits(disk_free_mb=0), is_low=False)
    clock.us += 3_600 * SECOND
    assert watch.look() == []


def test_start_is_refused_while_the_disk_is_full_and_the_session_replays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session(write_config(tmp_path)).open_table()
    session.send(i.ConfirmShuffle())
    room(monkeypatch, 3)
    session.clock.us += SECOND
    session.station.look()
    session.station.work()
    session.send(i.OpenBetting())
    assert (session.answers[-1].accepted, session.answers[-1].reason) == (False, "DISK_FULL")
    room(monkeypatch, 9_000)
    session.station.look()
    session.station.work()
    session.to_dealing()
    session.stop()
    told = [line for line in read_lines(session.recording) if line.kind is Kind.INPUT]
    assert [line.source for line in told] == ["station", "station"]
    assert verify_recording(session.recording).difference is None
    with Reader.open(session.journal) as reader:
        values = [decode_input(step.input) for step in reader.steps()]
    assert [value.disk_free_mb for value in values if isinstance(value, Measured)] == [3, 9_000]


def test_a_start_on_a_full_disk_says_so_in_its_first_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room(monkeypatch, 3)
    session = Session(write_config(tmp_path)).open_table()
    session.send(i.ConfirmShuffle())
    session.station.look()
    assert session.station.is_idle(), "it was told at the start"
    session.send(i.OpenBetting())
    assert session.answers[-1].reason == "DISK_FULL"


def test_a_lease_ends_at_its_time_whatever_the_wall_clock_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("station.recorded.OwnClock", TwoClocks)
    session = Session(write_config(tmp_path)).open_table()
    clock = session.clock
    assert isinstance(clock, TwoClocks)
    session.send(i.ConfirmShuffle())
    session.send(i.OpenBetting())
    closes_at = session.station.kernel.table.deadlines["window"].due
    clock.ahead_us -= 3_600 * SECOND
    session.station.look()
    session.station.work()
    assert session.station.kernel.table.deadlines["window"].due == closes_at
    session.wait(60_000)
    assert session.station.kernel.table.state.phase == "dealing"
    session.stop()
    with Reader.open(session.journal) as reader:
        events = b"".join(b"".join(step.events) for step in reader.steps())
    assert b'"event":"clock.stepped","step_ms":-3600000' in events
    assert (
        b'"event":"bets.closed","window":"betting","prompt":"NO_MORE_BETS","at_us":%d' % closes_at in events
    )


def test_a_flooded_station_looks_later(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daemon, "FLOOD", 0)
    room(monkeypatch, 3)
    session.station.look()
    assert session.station.is_idle()


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(write_config(tmp_path)).open_table()


# Devices.


def test_the_device_behind_a_port_reaches_the_table(session: Session) -> None:
    line = session.station.ports["shoe"]._listener
    for identity in ("0c2e:0b61 A 1", "0c2e:0b61 B 2"):
        line.lost("unplugged")
        line.opened("/dev/ttyUSB0", identity)
        session.station.work()
    state = session.station.kernel.table.state
    assert (state.devices, state.strange_devices) == (
        {"shoe": "0c2e:0b61 A 1"},
        {"shoe": "0c2e:0b61 B 2"},
    )
    session.stop()
    assert verify_recording(session.recording).difference is None


@pytest.mark.parametrize("identity", [None, "0c2e:0b61 A 1"])
def test_an_opened_line_gives_its_device_back(identity: str | None) -> None:
    intake = Intake({"shoe": Talking()}, lambda *_: "", lambda *_: None)
    [taken] = intake.take(Line(1, Kind.OPENED, "shoe", opened_text("/dev/ttyUSB0", identity)))
    assert taken.value == i.ScannerOpened(at=1, scanner="shoe", device=identity)


def test_after_a_flood_it_is_the_same_device(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    line = session.station.ports["shoe"]._listener
    line.opened("/dev/ttyUSB0", "a")
    monkeypatch.setattr(daemon, "FLOOD", 0)
    line.chunk(b"1010\n")
    monkeypatch.undo()
    line.chunk(b"1010\n")
    session.station.work()
    state = session.station.kernel.table.state
    assert state.scanners_up == {"shoe"} and state.devices == {"shoe": "a"} and not state.strange_devices


class Talking:
    """A framer of a device that reports its own starts."""

    shortest_timeout_us = 1

    def __init__(self, *reports: Report) -> None:
        self.reports = deque(reports)

    def opened(self, at_us: int) -> None: ...
    def receive(self, chunk: bytes, at_us: int) -> None: ...
    def tick(self, at_us: int) -> None: ...
    def next_deadline_us(self) -> int | None:
        return None

    def next_report(self) -> Report | None:
        return self.reports.popleft() if self.reports else None

    def acknowledge(self, report: Report) -> None: ...
    def bytes_to_send(self) -> bytes:
        return b""


def test_row_30_a_device_that_says_that_it_has_started_anew_holds_the_round(session: Session) -> None:
    session.to_dealing().deal(3)
    session.station.intake.framers = {
        "shoe": Talking(DeviceReported(DeviceState.RESTARTED), CodeRead("2020"))
    }
    session.chunk(b"")
    state = session.station.kernel.table.state
    assert [incident.prompt for incident in state.incidents] == ["CARD_DRAWN"]
    assert len(state.in_play.laid) == 3, "what came in the same breath is held back"


def test_a_device_report_is_no_card_of_a_port_capture() -> None:
    framer = Talking(DeviceReported(DeviceState.RESTARTED), CodeRead("2020"))
    found = card_inputs({"shoe": framer}, [Line(1, Kind.CHUNK, "shoe", "00")])
    assert [one.report for one in found] == [CodeRead("2020")]


def test_the_station_looks_each_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    station = daemon.Station(load(write_config(tmp_path)), LiveClock())
    looked = asyncio.Event()
    monkeypatch.setattr(station, "look", looked.set)

    async def run() -> None:
        stopped = asyncio.Event()
        running = asyncio.create_task(station.run(stopped))
        async with asyncio.timeout(10):
            await looked.wait()
        stopped.set()
        await running

    asyncio.run(run())
