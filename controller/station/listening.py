"""One reader at the bench: its port opened, its driver run as at a table, everything told to a hearer.

For tools that work while no table runs. The driver talks to its device as it does in a game, and every read
is acknowledged at once: nothing here has to be durable.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator
from typing import Protocol

from controller.station.clock import LiveClock
from controller.station.device_config import Reader
from drivers.contract import CodeRead, ReadFailed, Report
from drivers.families import open_framer
from drivers.port import Port

LOOK_US = 20_000


class Hearer(Protocol):
    """Who is told what a reader does. Times are microseconds since 1970."""

    def opened(self, node: str) -> None:
        """The port is open."""

    def heard(self, at_us: int, data: bytes, *, stale: bool) -> None:
        """Bytes came in; stale ones so soon after the open that no table would read them."""

    def reported(self, at_us: int, report: Report) -> None:
        """The driver made a report of the bytes."""

    def lost(self, reason: str) -> None:
        """The port can't be opened, or is gone; it is tried again all the time."""


class Listening:
    """Listens to one scanner or badge reader. `framer` is the driver."""

    def __init__(self, name: str, reader: Reader, hearer: Hearer) -> None:
        self.framer = open_framer(reader.family, reader.options)
        self._hearer = hearer
        self._clock = LiveClock()
        self._port = Port(name, reader.port, settings=reader.line, listener=self, clock=self._clock)

    async def run(self, is_done: Callable[[int], bool]) -> None:
        """Listen until `is_done`, which is asked with the time several times a second, or an interrupt."""
        port = asyncio.create_task(self._port.run())
        try:
            with interrupts() as interrupted:
                while not (is_done(self._clock.now_us()) or interrupted.is_set() or port.done()):
                    await self._clock.sleep_until(self._clock.now_us() + LOOK_US)
                    self.framer.tick(self._clock.now_us())
                    self._collect()
        finally:
            port.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await port

    # What the port tells.

    def opened(self, device: str, identity: str | None) -> None:
        """The port is open; the driver may greet its device."""
        self._hearer.opened(device if identity is None else f"{device} is {identity}")
        self.framer.opened(self._clock.now_us())
        self._collect()

    def chunk(self, data: bytes) -> None:
        """Take bytes."""
        at_us = self._clock.now_us()
        self._hearer.heard(at_us, data, stale=False)
        self.framer.receive(data, at_us)
        self._collect()

    def stale(self, data: bytes) -> None:
        """Take bytes that no table would read."""
        self._hearer.heard(self._clock.now_us(), data, stale=True)

    def lost(self, reason: str) -> None:
        """Pass it on."""
        self._hearer.lost(reason)

    def _collect(self) -> None:
        while (report := self.framer.next_report()) is not None:
            self._hearer.reported(self._clock.now_us(), report)
            if isinstance(report, CodeRead | ReadFailed):
                self.framer.acknowledge(report)
        self._port.write(self.framer.bytes_to_send())


@contextlib.contextmanager
def interrupts() -> Iterator[asyncio.Event]:
    """Give an event that Ctrl-C sets: what has been found is still to be told."""
    interrupted = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, interrupted.set)
    try:
        yield interrupted
    finally:
        loop.remove_signal_handler(signal.SIGINT)
