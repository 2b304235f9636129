"""`tablectl play`: what a program that opens the pty reads, and when."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
import serial
from station.recorded import NOON, Session, write_config
from station.test_port_captures import port_capture

from controller.cli import main
from controller.station.playing import Chunk, Pacing, read_recorded

pytestmark = pytest.mark.skipif(os.name != "posix", reason="ptys exist on POSIX alone")

FRAMES = tuple(f"{suit}{rank:03d}\n".encode() for suit in range(1, 5) for rank in range(10, 140, 10))


def recording(path: Path, *, apart_us: int = 20_000) -> Path:
    lines = [f"{NOON + at * apart_us} chunk shoe {frame.hex()}" for at, frame in enumerate(FRAMES)]
    return port_capture(path, *lines)


def start(*words: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "controller.cli", "play", *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def name_of(player: subprocess.Popen[str]) -> str:
    assert player.stdout is not None
    return player.stdout.readline().rstrip("\n")


def read_until(host: serial.Serial, done: Callable[[bytes], bool]) -> bytes:
    got, until = b"", time.monotonic() + 15
    while not done(got) and time.monotonic() < until:
        got += host.read(max(1, host.in_waiting))
    return got


def test_a_program_reads_a_played_capture_whole(tmp_path: Path) -> None:
    """Through the stable name, with a host that answers, leaves in the middle and comes back."""
    link = tmp_path / "shoe"
    player = start(recording(tmp_path / "deck.capture"), "--link", link)
    try:
        assert name_of(player) == str(link)
        assert str(link.readlink()).startswith("/dev/pts/")
        with serial.Serial(str(link), timeout=0.1) as host:
            first = read_until(host, lambda got: got.count(b"\n") >= 5)
            host.write(b"\x06" * 100)
        time.sleep(0.1)
        with serial.Serial(str(link), timeout=0.1) as host:
            rest = read_until(host, lambda got: got.endswith(FRAMES[-1]))
        _, told = player.communicate(timeout=15)
    finally:
        player.kill()
        player.wait()
    assert b"".join(FRAMES).startswith(first)
    # What the line held as the host left is thrown away by its next open: at most a few frames.
    missing = len(b"".join(FRAMES)) - len(first) - len(rest)
    assert b"".join(FRAMES).endswith(rest)
    assert 0 <= missing <= 3 * len(FRAMES[0])
    assert player.returncode == 0
    assert told.count("waiting for a program to open the line") == 2
    assert "played 52 chunks, 260 bytes of shoe" in told
    assert not link.is_symlink()


def test_pacing_keeps_the_recorded_silences_and_caps_them() -> None:
    chunks = (Chunk(0, b"a"), Chunk(100, b"b"), Chunk(9_000_000, b"c"))
    assert tuple(Pacing().apply(chunks)) == chunks
    slow = Pacing(speed=Fraction(1, 2), gap_us_max=1_000_000)
    assert list(slow.apply(chunks)) == [(0, b"a"), (200, b"b"), (1_000_000, b"c")]
    assert list(Pacing(skip_count=1).apply(chunks)) == [(0, b"b"), (9_000_000, b"c")]
    assert list(Pacing(skip_count=3, loops=True).apply(chunks)) == []
    looped = Pacing(speed=Fraction(4), loops=True).apply(chunks[:2])
    assert [next(looped) for _ in range(4)] == [(0, b"a"), (25, b"b"), (250_000, b"a"), (25, b"b")]


def test_a_truncated_file_plays_up_to_its_last_whole_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = recording(tmp_path / "cut.capture")
    whole = path.read_bytes()
    path.write_bytes(whole[:-4])
    recorded = read_recorded(path, None)
    assert recorded.cut
    assert [chunk.data for chunk in recorded.chunks] == list(FRAMES[:-1])
    assert main(["play", str(path), "--skip", "51"]) == 1
    told = capsys.readouterr().err
    assert "last line is not finished" in told
    assert "nothing to play: 51 chunks of shoe" in told


def test_of_a_session_recording_an_open_round_is_not_played(tmp_path: Path) -> None:
    session = Session(write_config(tmp_path)).open_table().round()
    before = read_recorded(session.recording, None)
    assert not before.open_round
    session.to_dealing()
    session.deal(5)
    after = read_recorded(session.recording, None)
    session.stop()
    assert after.open_round
    assert len(before.chunks) > 20
    assert after.chunks == before.chunks


@pytest.mark.parametrize(
    ("line", "words", "code", "expected"),
    [
        ("1 chunk shoe 3x", (), 1, "chunk of shoe at 1: got '3x', expected hex digits"),
        ("1 chunk shoe 31", ("--scanner", "door"), 1, "got --scanner door, expected one of shoe"),
        ("1 chunk shoe 31", ("--link", "/no/such/folder/shoe"), 1, "can't have this name"),
        ("junk", (), 1, "line 3"),
        (f"{'9' * 400} chunk shoe 31", (), 1, "line 3"),
        (f"# scanner door delimited {'[' * 100_000}", (), 1, "scanner door"),
    ],
)
def test_what_can_not_be_played_says_why(
    tmp_path: Path,
    line: str,
    words: tuple[str, ...],
    code: int,
    expected: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = port_capture(tmp_path / "bad.capture", line)
    assert main(["play", str(path), *words]) == code
    assert expected in capsys.readouterr().err


def test_a_file_that_is_not_there_is_named_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", "/no/such/folder/shoe.capture"]) == 2
    assert "/no/such/folder/shoe.capture: can't be read: No such file" in capsys.readouterr().err


def test_a_file_is_never_replaced_by_a_link(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = recording(tmp_path / "deck.capture")
    assert main(["play", str(path), "--link", str(path)]) == 1
    assert "is no link" in capsys.readouterr().err
    assert len(read_recorded(path, None).chunks) == 52


@pytest.mark.parametrize(
    "words",
    [("--speed", "0"), ("--speed", "x"), ("--speed", "1e99999999"), ("--gap", "-1"), ("--skip", "1.5")],
)
def test_refused_numbers(tmp_path: Path, words: tuple[str, str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["play", str(tmp_path / "any.capture"), *words])
    assert ended.value.code == 2
