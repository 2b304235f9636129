"""Replay against a straw man, over one recorded session of a simulated table.

Ours takes every input again through the kernel: table, script, events, the messages of all audiences with
their chains. The straw man, given the same inputs, only decodes each, encodes the events that this step told
and hashes them once.
"""

from __future__ import annotations

import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path

from latency import TABLE, write_config

from controller.station.replay import open_recording, replay_recording
from controller.table.events import encode_events
from controller.table.inputs import decode_input

Figures = dict[str, float]


class Replay:
    """A recorded session, and both ways to go through it."""

    def __init__(self, folder: Path, rounds: int) -> None:
        self.capture = record(folder, rounds)
        steps = list(replay_recording(self.capture))
        self._inputs = [step.input for step in steps]
        self._events = [step.events for step in steps]

    def straw_man(self) -> Figures:
        """Decode, encode, hash."""
        began = time.perf_counter()
        for raw, events in zip(self._inputs, self._events, strict=True):
            decode_input(raw)
            sha256(encode_events(events)).hexdigest()
        return self._rate(began)

    def ours(self) -> Figures:
        """Decode, and step the kernel from where the recording begins."""
        kernel = open_recording(self.capture)
        began = time.perf_counter()
        for raw in self._inputs:
            kernel.step(decode_input(raw))
        return self._rate(began)

    def _rate(self, began: float) -> Figures:
        return {"inputs": len(self._inputs) / (time.perf_counter() - began)}


def record(folder: Path, rounds: int) -> Path:
    """Play rounds in one process and in no time; returns the session's recording."""
    config = write_config(folder)
    words = ["simulate", str(config), "--rounds", str(rounds), "--pace", "fast", "--links", "direct"]
    done = subprocess.run(
        [sys.executable, "-m", "controller.cli", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (capture,) = (folder / "run" / TABLE / "sessions").glob("*.capture")
    return capture
