"""The clock link: how a simulation owns the time of a daemon that runs in a process of its own.

The world sends `Advance`; the daemon answers with a `Report` whenever it has come to rest: nothing
queued, nothing due. What it has received and sent stands in the report as counts, so that the world can
tell rest from a message that is still on its way.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Mapping
from typing import TypeAlias

import msgspec


class Advance(msgspec.Struct, frozen=True, tag="advance"):
    """The clock shows `to_us` now. The same time again, under a new `number`, asks for a fresh report."""

    to_us: int
    number: int


class Beat(msgspec.Struct, frozen=True, tag="beat"):
    """Send `alive` and the picture at once: somebody has just come."""


Order: TypeAlias = Advance | Beat


class Report(msgspec.Struct, frozen=True):
    """The daemon at rest. `wake_us` is when it wants the clock next; counts are since its start.

    `number` is that of the last `Advance` it has taken, 0 before the first.
    """

    now_us: int
    number: int
    wake_us: int | None
    received: Mapping[str, int]
    sent: Mapping[str, int]
    ready: Mapping[str, bool]
    seqs: Mapping[str, int]
    picture: str
    """SHA-256 of the last picture, hex."""


class SimulatedClock:
    """A clock that stands still until it is advanced."""

    def __init__(self, now_us: int) -> None:
        self._now_us = now_us
        self._sleepers: list[tuple[int, int, asyncio.Future[None]]] = []
        self._count = 0

    def now_us(self) -> int:
        """Return the time that was set last."""
        return self._now_us

    async def sleep_until(self, at_us: int) -> None:
        """Return once the clock has been advanced to `at_us`."""
        if at_us <= self._now_us:
            return
        self._count += 1
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (at_us, self._count, future))
        await future

    def advance(self, to_us: int) -> None:
        """Set the time and wake, in order, who has waited for it."""
        assert to_us >= self._now_us, (to_us, self._now_us)
        self._now_us = to_us
        while self._sleepers and self._sleepers[0][0] <= to_us:
            _, _, future = heapq.heappop(self._sleepers)
            if not future.done():
                future.set_result(None)

    def next_wake_us(self) -> int | None:
        """Return the earliest time that somebody waits for."""
        while self._sleepers and self._sleepers[0][2].done():
            heapq.heappop(self._sleepers)
        return self._sleepers[0][0] if self._sleepers else None
