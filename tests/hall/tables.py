"""Many tables at real pace on one machine, each with a studio around it, and somebody who listens to all."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import zmq
from e2e.test_simulation import demo_in

from controller.bus.envelope import decode, event_of
from controller.bus.wire import decode_alive
from controller.station.config import StationConfig, load
from controller.table import events
from controller.table.events import Audience

MS = 1_000
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass
class Heard:
    """What one table's public feed has told, in microseconds of the wall clock."""

    alive_at_us: list[int] = field(default_factory=list)
    card_latency_us: list[int] = field(default_factory=list)
    overrun_us: list[int] = field(default_factory=list)
    """How long after its published end each betting time was still open."""
    _closes_at_us: int = 0

    def take(self, raw: bytes, now_us: int) -> None:
        if decode_alive(raw) is not None:
            self.alive_at_us.append(now_us)
            return
        envelope = decode(raw)
        match event_of(envelope):
            case events.BettingOpened(closes_at_us=closes_at_us):
                self._closes_at_us = closes_at_us
            case events.BetsClosed(at_us=at_us) if self._closes_at_us:
                self.overrun_us.append(max(at_us, now_us) - self._closes_at_us)
            case events.CardDealt() | events.CardBurned():
                self.card_latency_us.append(now_us - _micros(envelope.time))
            case _:
                pass

    def longest_silence_us(self, end_us: int) -> int:
        """Return the longest time without `alive`, up to the end of listening."""
        moments = [*self.alive_at_us, end_us]
        return max((then - now for now, then in pairwise(moments)), default=end_us)


@dataclass
class Use:
    """What one daemon has used: share of one processor, resident memory."""

    cpu_percent: float
    memory_mb: float


class Floor:
    """The running tables."""

    def __init__(self, configs: Sequence[StationConfig], studios: Sequence[subprocess.Popen[bytes]]) -> None:
        self.configs = configs
        self._studios = studios
        self.heard = {config.settings.table: Heard() for config in configs}
        self._context = zmq.Context[zmq.Socket[bytes]]()
        self._sockets = {self._subscribed(config): config.settings.table for config in configs}
        self._poller = zmq.Poller()
        for socket in self._sockets:
            self._poller.register(socket, zmq.POLLIN)

    def until_all_deal(self, within_s: float) -> None:
        """Wait until a card lies on every table."""
        end = time.monotonic() + within_s
        while not all(heard.card_latency_us for heard in self.heard.values()):
            idle = [table for table, heard in self.heard.items() if not heard.card_latency_us]
            assert time.monotonic() < end, f"no card at {', '.join(idle)}"
            self._hear(0.1)

    def listen(self, for_s: float) -> int:
        """Listen to all tables; return when it ended, in microseconds of the wall clock."""
        end = time.monotonic() + for_s
        while time.monotonic() < end:
            self._hear(0.1)
        return time.time_ns() // 1_000

    def daemons(self) -> list[int]:
        """Return the process of every table."""
        children: dict[int, int] = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    fields = (entry / "stat").read_text().rpartition(")")[2].split()
                except OSError:
                    continue
                children.setdefault(int(fields[1]), int(entry.name))
        return [children[studio.pid] for studio in self._studios]

    def ended(self) -> list[str]:
        """Return the tables whose studio has ended by itself, each with its exit code."""
        codes = {name: one.poll() for name, one in zip(self.heard, self._studios, strict=True)}
        return [f"{table}: exit code {code}" for table, code in codes.items() if code is not None]

    def close(self) -> None:
        for socket in self._sockets:
            socket.close(linger=0)
        self._context.term()

    def _subscribed(self, config: StationConfig) -> zmq.Socket[bytes]:
        socket = self._context.socket(zmq.SUB)
        socket.setsockopt(zmq.RCVHWM, 0)
        socket.subscribe(b"")
        socket.connect(config.endpoints.live[Audience.PUBLIC])
        return socket

    def _hear(self, wait_s: float) -> None:
        for socket, _ in self._poller.poll(round(wait_s * 1_000)):
            heard = self.heard[self._sockets[socket]]
            while socket.poll(0):
                raw = socket.recv()
                heard.take(raw, time.time_ns() // 1_000)


def used(pids: Sequence[int], during: Any) -> list[Use]:
    """Return what each process has used while `during()` ran."""
    before, began = [_cpu_s(pid) for pid in pids], time.monotonic()
    during()
    took_s = time.monotonic() - began
    return [
        Use(100 * (_cpu_s(pid) - spent) / took_s, _memory_mb(pid))
        for pid, spent in zip(pids, before, strict=True)
    ]


@contextmanager
def floor_of(count: int, folder: Path, *, window_ms: int, log: Path) -> Iterator[Floor]:
    """Start so many tables at real pace, each with a studio; every window takes `window_ms`."""
    configs = [_config(folder, number, window_ms) for number in range(1, count + 1)]
    with log.open("wb") as told:
        studios = [_studio(config, number, told) for number, config in enumerate(configs, 1)]
        floor = Floor(configs, studios)
        try:
            yield floor
        finally:
            floor.close()
            for studio in studios:
                studio.send_signal(signal.SIGINT)
            for studio in studios:
                studio.wait(60)


def _config(folder: Path, number: int, window_ms: int) -> StationConfig:
    own = folder / str(number)
    own.mkdir()
    path = demo_in(own)
    text = path.read_text().replace('"rp1"', f'"t{number}"').replace("/rp1/", f"/t{number}/")
    path.write_text(re.sub(r"= (15_000|10_000|8_000)\b", f"= {window_ms}", text))
    return load(path)


def _studio(config: StationConfig, number: int, log: Any) -> subprocess.Popen[bytes]:
    words = ["simulate", str(config.path), "--seed", str(number), "--faults", "some", "--players", "3"]
    command = [sys.executable, "-m", "controller.cli", *words]
    return subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


def _memory_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    [resident] = [line for line in lines if line.startswith("VmRSS:")]
    return int(resident.split()[1]) / 1024


def _micros(text: str) -> int:
    moment = datetime.fromisoformat(text)
    return round(moment.timestamp() * 1_000_000)
