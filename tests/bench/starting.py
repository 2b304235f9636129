"""From the start of a process to its first sign of life, and what it holds then.

Ours is ready with its first frame on the public feed, by which journal and recording are open, ports are
tried and commands are taken. The measure is a process that imports the same libraries and says so.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
import time
from pathlib import Path

from latency import TABLE, end, hear_first, run_table, subscriber, write_config

from controller.bus.endpoints import Endpoints
from controller.table.events import AUDIENCES

Figures = dict[str, float]

IMPORTS = """
import asyncio, importlib.metadata, logging, tomllib
import apsw, msgspec, serial, statemachine, zmq, zmq.asyncio
print("ready", flush=True)
input()
"""
IDLE_S = 0.3
"""When ours has begun to beat and has opened what it opens."""


class Starts:
    """Starts one after the other, each of a table that was never there before."""

    def __init__(self, folder: Path) -> None:
        self._folders = (folder / str(number) for number in itertools.count())

    def ours(self) -> Figures:
        """Start the daemon on an empty folder."""
        folder = next(self._folders)
        config = write_config(folder)
        feed = subscriber(Endpoints.ipc(folder / "run", TABLE).live[AUDIENCES[0]])
        began = time.perf_counter()
        child = run_table(config)
        try:
            hear_first(feed, config)
            return figures(child, began)
        finally:
            feed.close(linger=0)
            end(child)

    def imports(self) -> Figures:
        """Start a process that only imports."""
        began = time.perf_counter()
        child = subprocess.Popen(
            [sys.executable, "-c", IMPORTS], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        try:
            assert child.stdout is not None
            child.stdout.readline()
            return figures(child, began)
        finally:
            end(child)


def figures(child: subprocess.Popen[bytes], began: float) -> Figures:
    """Return the time since `began`, and after a moment of rest the memory that is resident."""
    ready_ms = (time.perf_counter() - began) * 1_000
    time.sleep(IDLE_S)
    return {"ready": ready_ms, "memory": resident_mb(child.pid)}


def resident_mb(pid: int) -> float:
    """Return VmRSS of a process, proc(5), in MB of 1,000,000 bytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    (held,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(held) * 1_024 / 1_000_000
