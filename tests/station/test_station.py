"""The daemon itself: floods, people, starts that are refused, days that end, and signals."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from station.recorded import DAY_US, NOON, Session, write_config

from controller.bus.wire import Answer, CommandRequest
from controller.journal import Days, JournalFailed, JournalInUse, Reader
from controller.journal.recording import Kind, read_lines
from controller.station.clock import LiveClock
from controller.station.config import load
from controller.station.errors import StartRefused
from controller.station.replay import verify_recording
from controller.station.start import start
from controller.station.station import FLOOD, Station
from controller.table import inputs as i
from controller.table.charts import Phase


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(write_config(tmp_path)).open_table()


def test_a_flood_cuts_the_scanner_off_and_asks_afterwards(session: Session) -> None:
    session.to_dealing().deal(3)
    station = session.station
    line = station.ports["shoe"]._listener
    for _ in range(FLOOD):
        line.chunk(b"1010\n")
    assert station.is_flooded()
    queued = station._queue.qsize()
    for _ in range(50):
        line.chunk(b"1020\n")
    assert station._queue.qsize() == queued + 1, "only the loss of the line joins the queue"
    asked = CommandRequest("r", "anna", 1, i.OpenTable())
    assert station.submit("operator", asked, session.answers.append) is False
    station.work()
    line.chunk(b"1030\n")
    station.work()
    state = station.kernel.table.state
    assert "SCANNER_LOST" in [incident.kind for incident in state.incidents]
    assert len(state.in_play.laid) <= 20
    session.stop()
    assert sum(read.kind is Kind.STALE for read in read_lines(session.recording)) == 51
    assert verify_recording(session.recording).difference is None


def test_a_person_nobody_knows_is_told_where_people_are_listed(session: Session) -> None:
    answers: list[Answer] = []
    asked = CommandRequest("r9", "mallory", 0, i.CloseTable())
    assert session.station.submit("operator", asked, answers.append)
    assert answers[0].accepted is False and answers[0].reason == "UNKNOWN_PERSON"
    assert answers[0].text is not None and "people.json list" in answers[0].text


def test_a_right_comes_from_the_endpoint_not_from_the_name(session: Session) -> None:
    answers: list[Answer] = []
    asked = CommandRequest("r9", "boris", 0, i.CloseTable())
    assert session.station.submit("betting", asked, answers.append)
    session.station.work()
    assert (answers[0].accepted, answers[0].reason) == (False, "WRONG_ROLE")


def test_a_repeated_request_is_answered_from_memory(session: Session) -> None:
    steps = session.station.journal.last_n
    session.send(i.ConfirmShuffle(), request="once")
    session.send(i.ConfirmShuffle(), request="once")
    assert session.station.journal.last_n == steps + 1
    assert session.answers[-1] == session.answers[-2] == Answer("once", True)


def test_a_second_daemon_is_refused_with_the_holders_pid(session: Session) -> None:
    with pytest.raises(JournalInUse, match=str(os.getpid())):
        start(session.config, NOON + 1)


def test_a_clock_behind_the_journal_refuses_to_start(tmp_path: Path) -> None:
    path = write_config(tmp_path)
    Session(path).open_table().stop()
    with pytest.raises(StartRefused, match=r"the clock is 3600\.\d s behind"):
        start(load(path), NOON - 3_600_000_000)


def test_an_open_round_refuses_another_config(tmp_path: Path) -> None:
    path = write_config(tmp_path)
    Session(path).open_table().to_dealing().stop()
    changed = write_config(tmp_path, **{"buy_time = 8_000": "buy_time = 9_000"})
    with pytest.raises(StartRefused, match="a round is open under another config"):
        start(load(changed), NOON + 60_000_000)
    write_config(tmp_path)
    again = Session(path, NOON + 60_000_000, first_key=1000)
    assert again.station.kernel.table.state.phase is Phase.DEALING


def test_the_gaming_day_changes_between_two_rounds_and_the_new_file_knows_its_config(tmp_path: Path) -> None:
    session = Session(write_config(tmp_path)).open_table().to_dealing().to_turns().finish()
    session.clock.us += DAY_US
    session.send(i.ClearTable())
    session.send(i.ConfirmShuffle())
    session.stop()
    days = Days(session.config.table_dir)
    old, new = days.paths()
    with Reader.open(new) as reader, Reader.open(old) as before:
        assert reader.documents() == before.documents() != {}
        assert reader.opening.chain == before.heads().chain
    assert list(days.verify()) == []


def run_daemon(path: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "controller.cli", "run", str(path)], stderr=subprocess.PIPE
    )


def test_sigterm_ends_the_daemon_within_two_seconds(tmp_path: Path) -> None:
    path = write_config(tmp_path)
    daemon = run_daemon(path)
    folder = load(path).table_dir
    deadline = time.monotonic() + 20
    while not (folder / "commands.operator").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    began = time.monotonic()
    daemon.send_signal(signal.SIGTERM)
    assert daemon.wait(timeout=10) == 0
    assert time.monotonic() - began < 2


def test_a_bad_config_refuses_to_start_with_exit_3(tmp_path: Path) -> None:
    path = write_config(tmp_path, betting_ms="beting_ms")
    daemon = run_daemon(path)
    _, errors = daemon.communicate(timeout=20)
    assert daemon.returncode == 3 and b"nearest is 'betting_ms'" in errors


def test_a_part_that_dies_ends_the_process_with_its_name(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    station = Station(load(write_config(tmp_path)), LiveClock())

    async def die() -> None:
        raise OSError("the disk is gone")

    station._beat = die  # type: ignore[method-assign]
    with pytest.raises(ExceptionGroup):
        asyncio.run(station.run())
    assert any(getattr(record, "facts", {}).get("part") == "alive" for record in caplog.records)


def test_a_journal_that_was_deleted_under_the_daemon_stops_it(session: Session) -> None:
    session.station.beat()
    session.journal.unlink()
    with pytest.raises(JournalFailed, match="deleted or replaced"):
        session.station.beat()


def test_a_refused_press_writes_no_record(session: Session) -> None:
    session.to_dealing().to_turns().finish()
    session.send(i.ClearTable())
    record = session.station.journal.reader.last_carried()
    session.send(i.ClearTable())
    assert session.answers[-1].accepted is False
    assert session.station.journal.reader.last_carried() == record


def test_a_port_that_opens_again_after_a_flood_reads_the_next_card(session: Session) -> None:
    session.to_dealing().deal(2)
    station = session.station
    line = station.ports["shoe"]._listener
    for _ in range(FLOOD + 1):
        line.chunk(b"1010\n")
    station.work()
    line.lost("unplugged")
    line.opened("/dev/pts/9")
    station.work()
    state = station.kernel.table.state
    while state.incident is not None:
        session.answer(state.incident.kind == "SAME_CODE_AGAIN")
    laid = len(state.in_play.laid)
    session.scan()
    assert len(state.in_play.laid) == laid + 1
