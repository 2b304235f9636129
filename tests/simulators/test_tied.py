"""A simulation that is killed takes its daemon along."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from faults.disturbed import write_config

from controller.journal import JournalInUse, WriterLock

WAIT_S = 20.0


def until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def is_written(folder: Path) -> bool:
    """Whether a daemon has the table's journal."""
    for journal in folder.glob("*.journal"):
        try:
            WriterLock(journal).release()
        except JournalInUse:
            return True
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of its parent's end")
@pytest.mark.parametrize("pace", ["real", "fast"])
def test_a_killed_simulation_leaves_no_daemon(tmp_path: Path, pace: str) -> None:
    config = write_config(tmp_path)
    words = ["simulate", str(config.path), "--pace", pace]
    simulation = subprocess.Popen(
        [sys.executable, "-m", "controller.cli", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        until(lambda: is_written(config.table_dir), "no daemon has come up")
    finally:
        os.kill(simulation.pid, signal.SIGKILL)
        simulation.wait()
    until(lambda: not is_written(config.table_dir), "the daemon outlives its simulation")
