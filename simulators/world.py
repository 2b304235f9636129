"""The world: actors around a table, a link to it, and the order in which things happen.

In fast pace one thing happens at a time, and the next only when all its consequences have been heard:
the clock then moves to whatever is due next, a deadline of the table or an actor's plan. At real pace
the same actors and plans run by the wall clock.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from controller.station.errors import StationError
from simulators.actor import Actor, Disturb, Feed, Planned, Press, Replug, Scan, Unplug, Wake
from simulators.links import FastLinks, Link

IDLE_MAX_US = 3_600_000_000
"""After so long without an act nobody will ever do anything again: the simulation says so and stops."""
READY_AGAIN_US = 50_000
"""A device that the daemon does not read yet is tried again after this."""


class World:
    """Actors and a link. `on_event` is called after each act (for progress and pictures)."""

    def __init__(
        self,
        link: Link,
        actors: Sequence[Actor],
        *,
        is_done: Callable[[], bool],
        after_act: Callable[[], None] = lambda: None,
    ) -> None:
        self.link = link
        self.actors = tuple(actors)
        self._is_done = is_done
        self._after_act = after_act
        self._planned: list[tuple[int, int, int, Planned]] = []
        self._count = itertools.count()
        self._requests = itertools.count(1)
        self.acts_count = 0
        self._acted_us = 0

    async def run(self) -> None:
        """Run until done. The link is closed at the end, whatever happens."""
        try:
            await self.link.open(self._heard)
            self._acted_us = self.link.now_us()
            while not self._is_done():
                await self._go_on()
        finally:
            await self.link.close()

    async def _go_on(self) -> None:
        """Move the clock, or do the one thing that is planned for now."""
        wake = await self.link.settled()
        if self._is_done():
            return
        now = self.link.now_us()
        if now - self._acted_us > IDLE_MAX_US:
            raise StationError("the simulation stands still: an hour of the table without an act of anybody")
        planned_at = self._planned[0][0] if self._planned else None
        due = min((at for at in (wake, planned_at) if at is not None), default=None)
        if due is None:
            due = now + 1_000_000
        if due > now:
            await self.link.advance(due)
        elif planned_at is not None and planned_at <= now:
            _, index, _, planned = heapq.heappop(self._planned)
            await self._do(index, planned)
            self._acted_us = self.link.now_us()
            self.acts_count += 1
            self._after_act()
        else:
            await self.link.advance(now)

    async def _do(self, index: int, planned: Planned) -> None:
        actor, act = self.actors[index], planned.act
        match act:
            case Wake(note=note):
                self._plan(index, actor.woken(note, self.link.now_us()))
            case Press():
                await self._press(index, actor, act)
            case Scan(device=device) | Disturb(device=device):
                if isinstance(self.link, FastLinks) and not self.link.is_ready(device):
                    later = self.link.now_us() + READY_AGAIN_US
                    self._plan(index, [Planned(later, act)])
                    return
                await self.link.do(act)
                await self.link.settled()
            case Unplug(device=device):
                await self.link.unplug(device)
            case Replug(device=device):
                await self.link.replug(device)

    async def _press(self, index: int, actor: Actor, press: Press) -> None:
        request = press.request or f"{actor.name}-{next(self._requests)}"
        named = replace(press, request=request)
        answer = await self.link.press(named)
        self._plan(index, actor.answered(press, answer.accepted, answer.reason, self.link.now_us()))

    def _heard(self, feed: Feed, message: bytes) -> None:
        for index, actor in enumerate(self.actors):
            if actor.feed is feed:
                self._plan(index, actor.heard(message, self.link.now_us()))

    def _plan(self, index: int, planned: list[Planned]) -> None:
        for one in planned:
            heapq.heappush(self._planned, (one.at_us, index, next(self._count), one))
