"""A bug that stops the process: what was read is asked about, what did it twice is left out (row 35)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from station import poisoned
from station.recorded import NOON, Session, write_config

from controller.journal import Days, Reader
from controller.journal.recording import NEAR_BYTES, Kind, Line, Recorder, read_lines
from controller.station.config import load
from controller.station.errors import StartRefused
from controller.station.replay import verify_recording
from controller.station.start import start
from controller.station.stops import KEPT_MAX, Stops
from controller.station.untaken import untaken_reads
from controller.station.verify_command import make_report
from controller.table import laying
from controller.table.inputs import ConfirmCancel, Started, UntakenRead, decode_input
from controller.table.picture import draw
from drivers.delimited import DelimitedFramer

ROOT = Path(__file__).parents[2]
LATER = NOON + 10 * 3_600_000_000


def live(config: Path, life: int, way: str) -> subprocess.CompletedProcess[str]:
    """Let a station with a bug live in a process of its own."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}
    words = [sys.executable, poisoned.__file__, str(config), str(life), way]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False, env=environment)


def starts(config: Path) -> list[Started]:
    """Return the starts on record."""
    [path] = Days(load(config).table_dir).paths()
    with Reader.open(path) as reader:
        values = [decode_input(step.input) for step in reader.steps()]
    return [value for value in values if isinstance(value, Started)]


@pytest.mark.parametrize(("way", "status"), [("raise", 1), ("killed", -signal.SIGKILL)])
def test_row_35_an_input_that_stops_the_process_twice_is_left_out(
    tmp_path: Path, way: str, status: int
) -> None:
    config = write_config(tmp_path)
    for life in (1, 2):
        ended = live(config, life, way)
        assert ended.returncode == status, ended.stderr
    ended = live(config, 3, way)
    assert (ended.returncode, ended.stdout.strip()) == (0, "INPUT_LEFT_OUT"), ended.stderr
    first, second, third = starts(config)
    assert (first.untaken, first.quarantined) == ((), ())
    assert len(second.untaken) == len(third.untaken) == 1 and second.untaken == third.untaken
    assert second.quarantined == () and len(third.quarantined) == 1
    # The table is up: the round is cancelled, and the next one is played by a program without the bug.
    session = Session(config, LATER, first_key=9_000).bring_up(picture_only=True)
    session.send(ConfirmCancel(), "boris")
    session.clear().round().stop()
    report = make_report(Days(session.config.table_dir).paths())
    assert report.findings == [] and report.rounds == 2
    for recording in (session.config.table_dir / "sessions").glob("*.capture"):
        assert verify_recording(recording).difference is None


def test_a_bug_is_not_journaled_and_not_sent(session_at_4: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    session = session_at_4
    steps, sent = session.station.journal.last_n, {a: list(m) for a, m in session.feeds.sent.items()}

    def stop(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(laying, "deal_card", stop)
    with pytest.raises(RuntimeError):
        session.scan()
    assert session.station.journal.last_n == steps and session.feeds.sent == sent


@pytest.fixture
def session_at_4(tmp_path: Path) -> Session:
    session = Session(write_config(tmp_path)).open_table().to_dealing()
    session.deal(4)
    return session


def test_row_35_the_read_that_was_lost_is_asked_about_and_laid(
    session_at_4: Session, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    session = session_at_4
    card = session.shoe[0]
    with monkeypatch.context() as patch:
        patch.setattr(laying, "deal_card", lambda *_: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            session.scan()
    session.stop()
    again = Session(session.config.path, LATER, first_key=500)
    state = again.station.kernel.table.state
    assert state.in_play.unplaced_reads.codes == [state.register.deck.code(card)]
    again.shoe = [card, *session.shoe]
    again.bring_up()  # Nothing was drawn, says the dealer.
    assert draw(state).prompt.code == "CARD_READ_MEANWHILE"
    again.answer(True)
    again.scan()
    assert state.incident is None and state.in_play.laid[-1].card == card
    told = [getattr(record, "facts", {}) for record in caplog.records]
    assert {"reads_never_taken": 1, "inputs_left_out": 0} in told


def test_a_program_that_stops_on_an_input_on_record_refuses_to_start(
    session_at_4: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_at_4.stop()
    monkeypatch.setattr(laying, "deal_card", lambda *_: 1 // 0)
    with pytest.raises(StartRefused, match=r"step \d+: the program of today stops on this input"):
        start(session_at_4.config, LATER)


# What the recording has beyond the journal.


def test_reads_beyond_the_journal_are_found_in_the_recording(session_at_4: Session) -> None:
    session = session_at_4
    heads = session.station.journal.heads()
    path = session.recording
    session.stop()
    end = heads.at_us

    def found(*lines: Line) -> tuple[UntakenRead, ...]:
        whole = path.read_text()
        path.write_text(whole + "".join(f"{line}\n" for line in lines))
        try:
            return untaken_reads(session.config, epoch=1, last_us=end)
        finally:
            path.write_text(whole)

    def chunk(after_us: int, data: bytes) -> Line:
        return Line(end + after_us, Kind.CHUNK, "shoe", data.hex())

    assert found() == ()
    assert found(chunk(5, b"1010\n")) == (UntakenRead("shoe", "1010"),)
    assert found(chunk(5, b"10"), chunk(9, b"10\n1020\n")) == (
        UntakenRead("shoe", "1010"),
        UntakenRead("shoe", "1020"),
    )
    assert found(chunk(5, b"10")) == (UntakenRead("shoe", None),), "half a read: a card may be out"
    assert found(chunk(5, b"NOREAD\n")) == (UntakenRead("shoe", None),)
    assert found(Line(end + 5, Kind.STALE, "shoe", b"1010\n".hex())) == ()
    torn = (chunk(5, b"1010\n"), Line(end + 6, Kind.CHUNK, "shoe", "no hex"))
    assert found(*torn) == (UntakenRead("shoe", "1010"), UntakenRead("shoe", None))
    unreadable = (chunk(5, b"1010\n"), Line(end + 4, Kind.CHUNK, "shoe", "00"), chunk(7, b"1020\n"))
    assert found(*unreadable) == (UntakenRead("shoe", "1010"),), "time falls: the rest is not trusted"


def test_a_driver_that_stops_on_bytes_does_not_stop_the_next_start(
    session_at_4: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = session_at_4
    receive = DelimitedFramer.receive

    def stop(self: DelimitedFramer, chunk: bytes, at_us: int) -> None:
        if b"!" in chunk:
            raise RuntimeError("a bug")
        receive(self, chunk, at_us)

    monkeypatch.setattr(DelimitedFramer, "receive", stop)
    with pytest.raises(RuntimeError):
        session.chunk(b"10!0\n")
    session.stop()
    again = Session(session.config.path, LATER, first_key=500)
    assert starts(session.config.path)[-1].untaken == (UntakenRead("shoe", None),)
    again.stop()


def test_of_a_chunk_with_two_reads_the_one_that_was_taken_is_not_told(session_at_4: Session) -> None:
    session = session_at_4
    session.clock.us += 50_000
    session.station.bring(Kind.CHUNK, "shoe", b"2010\n2020\n".hex())
    session.station._step(session.station._queue.get_nowait())
    heads = session.station.journal.heads()
    session.stop()
    assert untaken_reads(session.config, epoch=1, last_us=heads.at_us) == (UntakenRead("shoe", "2020"),)


def test_lines_before_a_time_are_passed_over(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "a.capture", [("table", "rp1")])
    lines = [Line(at, Kind.CHUNK, "shoe", "31" * (at % 40)) for at in range(1, 5_000)]
    for line in lines:
        recorder.write(line)
    recorder.close()
    assert recorder.path.stat().st_size > 2 * NEAR_BYTES
    for since in (1, 2, 777, 2_500, 4_998, 4_999, 5_000):
        assert list(read_lines(recorder.path, since_us=since)) == lines[since - 1 :], since


# The file of stops.


def test_a_name_that_was_left_behind_twice_is_told(tmp_path: Path) -> None:
    names = ["a" * 64, "b" * 64, "a" * 64]
    for count, name in enumerate(names):
        stops = Stops(tmp_path)
        assert stops.twice == (), count
        stops.taking("c" * 64)
        stops.taken()
        stops.taking(name)
    assert Stops(tmp_path).twice == ("a" * 64,)
    assert Stops(tmp_path).twice == ("a" * 64,), "counted once, whatever comes of the start"


def test_a_life_without_a_stop_leaves_nothing_behind(tmp_path: Path) -> None:
    for _ in range(4):
        stops = Stops(tmp_path)
        stops.taking("a" * 64)
        stops.taken()
        stops.close()
    assert Stops(tmp_path).twice == ()


def test_the_file_is_private_bounded_and_survives_being_torn(tmp_path: Path) -> None:
    for number in range(KEPT_MAX + 9):
        Stops(tmp_path).taking(f"{number:064x}")
    path = tmp_path / "stops"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.stat().st_size == 65 * (KEPT_MAX + 1)
    path.write_bytes(b"\0" * 500 + b"\n" + b"a" * 64 + b"\n" + b"a" * 63)
    assert Stops(tmp_path).twice == ()


def test_the_name_stands_in_the_file_while_the_input_is_taken(
    session_at_4: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = session_at_4.config.table_dir / "stops"
    seen: list[bytes] = []
    step = session_at_4.station.kernel.step

    def watched(value: msgspec.Struct) -> object:
        seen.append(file.read_bytes()[:64])
        return step(value)

    monkeypatch.setattr(session_at_4.station.kernel, "step", watched)
    session_at_4.scan()
    assert len(seen) == 1 and seen[0].strip()
    assert not file.read_bytes()[:64].strip()
