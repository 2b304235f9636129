"""Real links between the actors and the table, by the wall clock and by the world's."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import sys
from contextlib import suppress
from typing import Any

import msgspec
import zmq
import zmq.asyncio

from controller.bus.errors import ChainBroken
from controller.bus.wire import Answer
from controller.station.clock import LiveClock
from controller.station.config import StationConfig
from controller.station.errors import StationError
from controller.table.events import Audience
from simulators.actor import Feed, Press
from simulators.bench import earliest
from simulators.clock_link import Advance, Beat, Report
from simulators.faults.points import Point, PowerCut
from simulators.faults.powercut import EXIT_STATUS
from simulators.link import Deliver, DirectLink, Link, _DirectFeeds
from simulators.real_links import RealLinks
from simulators.rest import Rest

__all__ = ["Deliver", "DirectLink", "FastLinks", "Link", "LiveLinks", "RealLinks", "_DirectFeeds"]

STUCK_S = 30.0
"""A daemon that has not come to rest for so long is stuck; the simulation says so and stops."""
SHORT_S = 2.0
"""So long more may have been heard than was reported; then it is lost, and no report is on its way."""
NUDGE_S = 0.05


class LiveLinks(RealLinks):
    """Real links at real pace: `tablectl run` beside us, and nobody owns the time."""

    def __init__(self, config: StationConfig) -> None:
        super().__init__(config)
        self._clock = LiveClock()
        self._parent = os.getppid()

    def words(self) -> list[str]:
        """Return the command of a dealer station, tied to this process."""
        run = ["run", str(self.config.path)]
        return [sys.executable, "-m", "simulators.tied", str(os.getpid()), *run]

    def now_us(self) -> int:
        """Return wall time."""
        return self._clock.now_us()

    def is_stale(self, audience: Audience) -> bool:
        """Whether a consumer of this audience opens no bets: no `alive` for three seconds, or a gap."""
        subscription = self._subscriptions[audience]
        return subscription.stale() or subscription.behind()

    async def settled(self) -> int | None:
        """Nothing is waited for at real pace: the table keeps its own time, and devices theirs."""
        await self.look_after_daemon()
        if os.getppid() != self._parent:
            raise StationError("whoever started this simulation is gone; it ends, and its daemon with it")
        while await self.bench.exchange(self.send, self.now_us()):
            pass
        return self.bench.next_due_us()

    async def advance(self, to_us: int) -> None:
        """Wait until then, or until something is heard."""
        self.news.clear()
        wait_s = min(1.0, max(0.0, (to_us - self.now_us()) / 1_000_000))
        try:
            async with asyncio.timeout(wait_s):
                await self.news.wait()
        except TimeoutError:
            return


class FastLinks(RealLinks):
    """Real links in fast pace: the daemon's clock is ours, and moves when everybody has come to rest.

    A daemon that was killed, or whose power failed, is started again at the same simulated time.
    """

    def __init__(self, config: StationConfig, start_us: int) -> None:
        super().__init__(config)
        self._now_us = start_us
        self._number = 0
        self._rest = Rest()
        self._starts = itertools.count()
        self.kill_next_at: tuple[Point, int] | None = None
        """Where the daemon that is started next will kill itself."""
        self.cut_next_at: PowerCut | None = None
        """When the power of the daemon that is started next will fail."""
        self.kills_count = 0
        self._clock_socket: Any = None
        self._reports: asyncio.Task[None] | None = None
        self._guard: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()

    def now_us(self) -> int:
        """Return the simulated time."""
        return self._now_us

    async def open(self, deliver: Deliver) -> None:
        """Open, and keep watch over the daemon."""
        await super().open(deliver)
        self._guard = asyncio.create_task(self._keep_alive())

    def words(self) -> list[str]:
        """Return the command of a simulated daemon, with the end that is ordered for it."""
        end: list[str] = []
        if self.kill_next_at is not None:
            end = ["kill", *map(str, self.kill_next_at)]
        elif self.cut_next_at is not None:
            end = ["cut", *map(str, self.cut_next_at)]
        self.kill_next_at, self.cut_next_at = None, None
        address = f"ipc://{self.config.table_dir}/clock.{next(self._starts)}"
        self._close_clock()
        self._clock_socket = zmq.asyncio.Context.instance().socket(zmq.PAIR)
        self._clock_socket.bind(address)
        self._reports = asyncio.create_task(self._hear_reports(self._clock_socket))
        # What the life before has sent is heard, and counts no more.
        for name, line in self._devices.items():
            if line.plugged:
                super().heard_by(name)
        self._rest.begin_life()
        daemon = [sys.executable, "-m", "simulators.daemon", str(os.getpid()), str(self.config.path)]
        return [*daemon, address, str(self._now_us), *end]

    def heard(self, feed: Feed, raw: bytes) -> None:
        """Deliver, and note what has been delivered."""
        super().heard(feed, raw)
        self._rest.heard(feed, raw)

    async def settled(self) -> int | None:
        """Wait until daemon and devices are at rest at this time and everybody has heard all of it."""
        while True:
            wake_us = await self._daemon_settled()
            if not await self.bench.exchange(self.send, self._now_us):
                return earliest(wake_us, self.bench.next_due_us())

    async def _daemon_settled(self) -> int | None:
        loop = asyncio.get_running_loop()
        began = short_since = loop.time()
        while not self._rest.reached(self._now_us, self._number):
            now = loop.time()
            short_since = short_since if self._rest.is_short() else now
            if now > short_since + SHORT_S:
                raise ChainBroken(f"sent, and not in the journal any more: {self._rest}")
            if now > began + STUCK_S:
                raise RuntimeError(f"no rest at {self._now_us}: {self._rest}")
            await self._more()
        assert self._rest.report is not None
        return self._rest.report.wake_us

    async def _more(self) -> None:
        """Wait for a report or a message; after a while ask for a sign of life.

        The time goes along: a daemon that was started meanwhile may not have heard of the last advance.
        """
        self.news.clear()
        try:
            async with asyncio.timeout(NUDGE_S):
                await self.news.wait()
        except TimeoutError:
            await self.look_after_daemon()
            await self._order(Advance(self._now_us, self._number))
            await self._order(Beat())

    async def _order(self, order: Advance | Beat) -> None:
        """Send an order, unless nobody has connected yet."""
        with suppress(zmq.Again):
            await self._clock_socket.send(msgspec.json.encode(order), zmq.NOBLOCK)

    async def _hear_reports(self, socket: Any) -> None:
        while True:
            self._rest.take(msgspec.json.decode(await socket.recv(), type=Report))
            self.news.set()

    async def _keep_alive(self) -> None:
        """Start the daemon again whenever it was killed; any other end of it ends this."""
        while True:
            assert self.child is not None
            if await self.child.wait() not in (-signal.SIGKILL, EXIT_STATUS):
                return
            self.kills_count += 1
            async with self._starting:
                await self.start_daemon()

    async def look_after_daemon(self) -> None:
        """Raise what ended the daemon or a listener for good."""
        assert self._guard is not None
        if self._guard.done():
            self._guard.result()
            await super().look_after_daemon()
        self.check_listeners()

    def kill(self) -> None:
        """Kill the daemon with SIGKILL, if it runs; it is started again at once."""
        assert self.child is not None
        if self.child.returncode is None:
            # Not Process.kill: it looks for the end first, and takes it away from the loop's own watcher.
            with suppress(ProcessLookupError):
                os.kill(self.child.pid, signal.SIGKILL)

    async def advance(self, to_us: int) -> None:
        """Move the daemon's clock."""
        self._now_us = to_us
        await self._ask_again()

    async def _ask_again(self) -> None:
        """Let no older report count any more."""
        self._number += 1
        await self._order(Advance(self._now_us, self._number))

    async def press(self, press: Press) -> Answer:
        """Send a command; the answer may come before the messages that follow from it."""
        answer = await super().press(press)
        await self._ask_again()
        return answer

    async def unplug(self, device: str) -> None:
        """Pull the cable; rest means that the daemon has noticed."""
        await super().unplug(device)
        self._rest.plugged(device, is_in=False)

    async def replug(self, device: str) -> None:
        """Plug it in again."""
        await super().replug(device)
        self._rest.plugged(device, is_in=True)

    def heard_by(self, device: str) -> int:
        """Take what the host has sent; counted, so that rest means heard."""
        count = super().heard_by(device)
        self._rest.read(device, count)
        return count

    def is_ready(self, device: str) -> bool:
        """Whether the daemon reads this device now."""
        return self._rest.is_ready(device)

    async def send(self, device: str, data: bytes) -> None:
        """Write to the line; counted, so that rest means read."""
        if self.is_ready(device):
            self._rest.wrote(device, self._devices[device].write(data))

    async def close(self) -> None:
        """End everything, the watch over the daemon first."""
        async with self._starting:
            if self._guard is not None:
                self._guard.cancel()
        await super().close()
        self._close_clock()

    def _close_clock(self) -> None:
        if self._reports is not None:
            self._reports.cancel()
            self._clock_socket.close(linger=0)
