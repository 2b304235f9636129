"""Who holds a port or a file: another process by pid and program, never whoever plays the device."""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import serial

from drivers.holders import find_holders, find_lockers, holder_of
from drivers.pty import PtyDevice

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")

OPENS = (
    "import os, sys; os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY); print('open', flush=True); "
    "sys.stdin.read()"
)
PLAYS = (
    "import sys; from pathlib import Path; from drivers.pty import PtyDevice; "
    "device = PtyDevice(Path(sys.argv[1])); print('open', flush=True); sys.stdin.read()"
)


@contextlib.contextmanager
def started(program: str, path: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", program, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        yield process
        process.communicate()


def test_who_has_it_open_is_named_through_a_link(device: PtyDevice) -> None:
    assert holder_of(device.link) is None
    with started(OPENS, device.link) as other:
        (holder,) = find_holders(device.link)
        assert holder == holder_of(device.link)
        assert (holder.pid, "import os" in holder.command) == (other.pid, True)
        assert find_lockers(device.link) == ()
    assert find_holders(device.link) == ()


def test_whoever_plays_the_device_does_not_hold_the_port(tmp_path: Path) -> None:
    with started(PLAYS, tmp_path / "shoe") as player:
        assert find_holders(tmp_path / "shoe") == ()
        with serial.Serial(str(tmp_path / "shoe"), exclusive=True):
            (holder,) = find_lockers(tmp_path / "shoe")
            assert holder.pid == os.getpid() != player.pid
            assert f"(pid {os.getpid()}, this program itself)" in str(holder)
            assert find_holders(tmp_path / "shoe") == (holder,)
            assert holder_of(tmp_path / "shoe") is None


def test_a_file_is_known_by_its_place(tmp_path: Path) -> None:
    path, other = tmp_path / "day.lock", tmp_path / "another.lock"
    other.touch()
    with path.open("w") as locked:
        fcntl.flock(locked, fcntl.LOCK_EX)
        assert {holder.pid for holder in (*find_lockers(path), *find_holders(path))} == {os.getpid()}
        assert find_holders(other) == find_lockers(other) == ()


def test_what_is_not_there_is_held_by_nobody(tmp_path: Path, device: PtyDevice) -> None:
    assert find_holders(tmp_path / "none") == find_lockers(tmp_path / "none") == ()
    assert find_holders(device.node, proc=tmp_path) == ()
