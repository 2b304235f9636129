"""Two whole daemons and one scanner: the second is told who has it, and a kill leaves nothing to clear up."""

from __future__ import annotations

import contextlib
import json
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from station.recorded import write_config

from drivers.pty import PtyDevice

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="holders are found in /proc")

PATIENCE_S = 30


class Daemon:
    """`tablectl run` in a process of its own, and what it logs."""

    def __init__(self, config: Path) -> None:
        command = [sys.executable, "-m", "controller.cli", "run", str(config)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self._lines: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as lines:
            for line in lines:
                self._lines.put(json.loads(line))
        self._lines.put(None)

    def says(self, what: str) -> dict[str, Any]:
        """Wait for the log line that says so. Raises queue.Empty when it does not come."""
        while (line := self._lines.get(timeout=PATIENCE_S)) is not None:
            if what in line["what"]:
                return line
        raise AssertionError(f"it has ended, and never said: {what}")

    def end(self, number: int) -> int:
        """Send a signal, and wait for the end; returns the exit code."""
        self.process.send_signal(number)
        return self.ended()

    def ended(self) -> int:
        """Wait for the end; returns the exit code."""
        code = self.process.wait(PATIENCE_S)
        self._reader.join()
        return code


@contextlib.contextmanager
def daemon(config: Path) -> Iterator[Daemon]:
    one = Daemon(config)
    try:
        yield one
    finally:
        one.process.kill()
        one.ended()


def test_the_second_is_refused_with_the_pid_and_after_a_kill_the_next_start_needs_no_hand_work(
    tmp_path: Path,
) -> None:
    config = write_config(tmp_path)
    other = config.with_name("rp2.toml")
    other.write_text(config.read_text().replace('table = "rp1"', 'table = "rp2"'))
    link = tmp_path / "run" / "rp1" / "devices" / "shoe"
    link.parent.mkdir(parents=True)
    device = PtyDevice(link)
    with daemon(config) as first:
        assert first.says("scanner open")["device"] == device.node
        with daemon(config) as again, daemon(other) as second:
            again.says(f"process {first.process.pid} writes this journal")
            assert again.ended() == 3
            lost = second.says("scanner lost")
            assert f"(pid {first.process.pid}) holds it; stop that program" in lost["reason"]
            assert first.process.poll() is None
            assert second.end(signal.SIGTERM) == 0
        assert first.end(signal.SIGKILL) == -signal.SIGKILL
    with daemon(config) as after:
        assert after.says("the table runs")["epoch"] == 2
        assert after.says("scanner open")["device"] == device.node
        assert after.end(signal.SIGTERM) == 0
    device.unplug()
