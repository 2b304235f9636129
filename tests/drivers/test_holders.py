"""Who holds a port: another process by pid and command, never whoever plays the device."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from drivers.holders import holder_of
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


def started(program: str, path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    return process


def test_the_process_that_has_the_port_open_is_named_through_its_link(tmp_path: Path) -> None:
    device = PtyDevice(tmp_path / "shoe")
    assert holder_of(device.link or "") is None
    with started(OPENS, tmp_path / "shoe") as other:
        holder = holder_of(tmp_path / "shoe")
        assert holder is not None
        assert (holder.pid, "import os" in holder.command) == (other.pid, True)
        other.communicate()
    assert holder_of(tmp_path / "shoe") is None
    device.unplug()


def test_whoever_plays_the_device_does_not_hold_the_port(tmp_path: Path) -> None:
    with started(PLAYS, tmp_path / "shoe") as other:
        assert holder_of(tmp_path / "shoe") is None
        other.communicate()
