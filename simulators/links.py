"""Real links between the actors and the table: ptys, ZeroMQ, and a daemon in a process of its own."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import zmq
import zmq.asyncio

from controller.bus.client import AsyncCommandClient, AsyncSubscription, Cursor
from controller.bus.client import Feed as BusFeed
from controller.bus.errors import ChainBroken, NoAnswer
from controller.bus.wire import Answer
from controller.station.clock import LiveClock
from controller.station.config import StationConfig
from controller.station.errors import StationError
from controller.table.events import AUDIENCES, Audience
from drivers.pty import PtyDevice
from simulators.actor import Feed, Press
from simulators.clock_link import Advance, Beat, Report
from simulators.faults.points import Point, PowerCut
from simulators.faults.powercut import EXIT_STATUS
from simulators.link import Deliver, DirectLink, Link, _DirectFeeds
from simulators.rest import Rest

__all__ = ["Deliver", "DirectLink", "FastLinks", "Link", "LiveLinks", "RealLinks", "_DirectFeeds"]

STUCK_S = 30.0
"""A daemon that has not come to rest for so long is stuck; the simulation says so and stops."""
SHORT_S = 2.0
"""So long more may have been heard than was reported; then it is lost, and no report is on its way."""
NUDGE_S = 0.05
RESEND_MS = 250
"""A command that is not answered is sent again under its request id after this."""


class RealLinks:
    """Ptys, ZeroMQ sockets and a daemon in a process of its own: what all real links share."""

    def __init__(self, config: StationConfig) -> None:
        self.config = config
        self._deliver: Deliver = lambda *_: None
        self._devices: dict[str, PtyDevice] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._clients: dict[tuple[str, str], AsyncCommandClient] = {}
        self._subscriptions: list[AsyncSubscription] = []
        self.news = asyncio.Event()
        self.child: asyncio.subprocess.Process | None = None

    def words(self) -> list[str]:
        """Return the daemon's command line."""
        raise NotImplementedError

    async def open(self, deliver: Deliver) -> None:
        """Plug the devices in, start the daemon and listen to every feed."""
        self._deliver = deliver
        folder = self.config.table_dir
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, scanner in self.config.scanners.items():
            Path(scanner.port).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._devices[name] = PtyDevice(Path(scanner.port))
        await self.start_daemon()
        for audience in AUDIENCES:
            feed = BusFeed.of(
                self.config.endpoints,
                self.config.settings.table,
                audience=audience,
                environment=self.config.environment,
            )
            subscription = AsyncSubscription(feed, cursor=Cursor())
            self._subscriptions.append(subscription)
            self._tasks.append(asyncio.create_task(self._hear(audience, subscription)))
        self._tasks.append(asyncio.create_task(self._hear_pictures()))

    async def start_daemon(self) -> None:
        """Start the daemon's process; its log goes to a file beside the journal."""
        path = self.config.table_dir / "daemon.log"
        path.touch(mode=0o600)
        with path.open("ab") as log:
            self.child = await asyncio.create_subprocess_exec(
                *self.words(), stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log
            )

    async def _hear(self, audience: Audience, subscription: AsyncSubscription) -> None:
        async for delivery in subscription:
            self.heard(Feed(audience.value), delivery.raw)

    async def _hear_pictures(self) -> None:
        socket = zmq.asyncio.Context.instance().socket(zmq.SUB)
        socket.subscribe(b"")
        socket.connect(self.config.endpoints.picture)
        try:
            while True:
                self.heard(Feed.STATION, await socket.recv())
        finally:
            socket.close(linger=0)

    def heard(self, feed: Feed, raw: bytes) -> None:
        """Deliver one message."""
        self._deliver(feed, raw)
        self.news.set()

    async def press(self, press: Press) -> Answer:
        """Send a command until it is answered, always under the same request id."""
        key = (press.endpoint, press.actor)
        if key not in self._clients:
            endpoints = self.config.endpoints
            endpoint = endpoints.betting if press.endpoint == "betting" else endpoints.operator
            self._clients[key] = AsyncCommandClient(endpoint, press.actor, timeout_ms=RESEND_MS)
        while True:
            try:
                return await self._clients[key].send(
                    press.command, round_no=press.round_no, request=press.request, pin=press.pin
                )
            except NoAnswer:
                await self.look_after_daemon()

    async def look_after_daemon(self) -> None:
        """Called while something is awaited of the daemon: is it there at all?"""
        assert self.child is not None
        if self.child.returncode is not None:
            log = self.config.table_dir / "daemon.log"
            raise StationError(
                f"the daemon ended with {self.child.returncode}; {log} says:\n{_last_line(log)}"
            )
        self.check_listeners()

    def check_listeners(self) -> None:
        """Raise what ended a listener, such as ChainBroken: nobody else waits for it."""
        for task in self._tasks:
            if task.done():
                task.result()

    async def send(self, device: str, data: bytes) -> None:
        """Write to the line."""
        self._devices[device].write(data)

    async def unplug(self, device: str) -> None:
        """Pull the cable."""
        self._devices[device].unplug()

    async def replug(self, device: str) -> None:
        """Plug it in again."""
        self._devices[device].replug()

    async def close(self) -> None:
        """End the daemon and everything that listens to it."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for subscription in self._subscriptions:
            subscription.close()
        for client in self._clients.values():
            client.close()
        if self.child is not None and self.child.returncode is None:
            self.child.terminate()
            await self.child.wait()
        for device in self._devices.values():
            device.unplug()


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return lines[-1] if lines else "nothing"


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

    async def settled(self) -> int | None:
        """Nothing is waited for at real pace; the table keeps its own time."""
        await self.look_after_daemon()
        if os.getppid() != self._parent:
            raise StationError("whoever started this simulation is gone; it ends, and its daemon with it")
        return None

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
        self._rest.begin_life()
        daemon = [sys.executable, "-m", "simulators.daemon", str(os.getpid()), str(self.config.path)]
        return [*daemon, address, str(self._now_us), *end]

    def heard(self, feed: Feed, raw: bytes) -> None:
        """Deliver, and note what has been delivered."""
        super().heard(feed, raw)
        self._rest.heard(feed, raw)

    async def settled(self) -> int | None:
        """Wait until the daemon is at rest at this time and everybody has heard all of it."""
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
