"""Between the actors and the table: real links to a daemon, or the station inside this process.

A link delivers messages of the feeds, carries acts to the table, and owns the clock of a fast simulation.
`settled` returns when every consequence of what was done has been delivered.
"""

from __future__ import annotations

import asyncio
import itertools
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import msgspec
import zmq
import zmq.asyncio

from controller.bus.client import AsyncCommandClient, AsyncSubscription, Cursor
from controller.bus.client import Feed as BusFeed
from controller.bus.errors import NoAnswer
from controller.bus.publisher import Pulse
from controller.bus.wire import Answer, CommandRequest
from controller.journal.recording import Kind
from controller.station.clock import LiveClock
from controller.station.config import StationConfig
from controller.station.station import Station
from controller.table.events import AUDIENCES, Audience
from simulators.actor import Feed, Press
from simulators.clock_link import Advance, Beat, Report, SimulatedClock
from simulators.devices.pty import PtyDevice
from simulators.faults.points import Point, PowerCut
from simulators.faults.powercut import EXIT_STATUS
from simulators.rest import Rest

Deliver = Callable[[Feed, bytes], None]
STUCK_S = 30.0
"""A daemon that has not come to rest for so long is stuck; the simulation says so and stops."""
NUDGE_S = 0.05
RESEND_MS = 250
"""A command that is not answered is sent again under its request id after this."""


class Link(Protocol):
    """What the world needs of a link."""

    def now_us(self) -> int: ...
    async def open(self, deliver: Deliver) -> None: ...
    async def settled(self) -> int | None:
        """Wait for rest; returns when the table wants the clock next."""
        ...

    async def advance(self, to_us: int) -> None: ...
    async def press(self, press: Press) -> Answer: ...
    async def send(self, device: str, data: bytes) -> None: ...
    async def unplug(self, device: str) -> None: ...
    async def replug(self, device: str) -> None: ...
    async def close(self) -> None: ...


class _DirectFeeds:
    """Delivers what a station publishes in this process."""

    def __init__(self, deliver: Deliver) -> None:
        self._deliver = deliver

    def publish(self, messages: Mapping[Audience, Sequence[bytes]]) -> None:
        """Deliver the messages, audience by audience."""
        for audience in AUDIENCES:
            for raw in messages[audience]:
                self._deliver(Feed(audience.value), raw)

    def picture(self, raw: bytes) -> None:
        """Deliver the picture."""
        self._deliver(Feed.STATION, raw)

    def alive(self, pulse: Pulse) -> None:
        """Nobody in the same process goes stale."""

    def close(self) -> None:
        """Nothing is held."""


class DirectLink:
    """The station in this process: no sockets, no ptys, the same kernel, journal and recording."""

    def __init__(self, config: StationConfig, start_us: int) -> None:
        self._config = config
        self.clock = SimulatedClock(start_us)
        self.station: Station | None = None
        self._ready: dict[str, bool] = {}

    def now_us(self) -> int:
        """Return the simulated time."""
        return self.clock.now_us()

    async def open(self, deliver: Deliver) -> None:
        """Start the station and plug the scanners in."""
        feeds = _DirectFeeds(deliver)
        self.station = Station(self._config, self.clock, open_feeds=lambda *_: feeds)
        for name in self._config.scanners:
            await self.replug(name)

    async def settled(self) -> int | None:
        """Everything is delivered already."""
        return self._station.next_due_us()

    async def advance(self, to_us: int) -> None:
        """Move the clock and let fire what is due."""
        self.clock.advance(to_us)
        self._station.work()

    async def press(self, press: Press) -> Answer:
        """Submit a command and work it off."""
        answers: list[Answer] = []
        request = CommandRequest(press.request or "", press.actor, press.round_no, press.command)
        assert self._station.submit(press.endpoint, request, answers.append)
        self._station.work()
        return answers[0]

    async def send(self, device: str, data: bytes) -> None:
        """Bring bytes; what is sent while unplugged is lost."""
        if self._ready.get(device):
            self._bring(Kind.CHUNK, device, data.hex())

    async def unplug(self, device: str) -> None:
        """Lose the port."""
        self._ready[device] = False
        self._bring(Kind.LOST, device, "unplugged")

    async def replug(self, device: str) -> None:
        """Have the port back."""
        self._ready[device] = True
        self._bring(Kind.OPENED, device, "direct")

    def _bring(self, kind: Kind, source: str, payload: str) -> None:
        self._station.bring(kind, source, payload)
        self._station.work()

    @property
    def _station(self) -> Station:
        assert self.station is not None
        return self.station

    async def close(self) -> None:
        """Close journal and recording."""
        self._station.close()


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
        with (self.config.table_dir / "daemon.log").open("ab") as errors:
            self.child = await asyncio.create_subprocess_exec(*self.words(), stderr=errors)

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
                    press.command, round_no=press.round_no, request=press.request
                )
            except NoAnswer:
                await self.look_after_daemon()

    async def look_after_daemon(self) -> None:
        """Called while something is awaited of the daemon: is it there at all?"""
        assert self.child is not None
        if self.child.returncode is not None:
            raise RuntimeError(
                f"the daemon ended with {self.child.returncode}; see {self.config.table_dir}/daemon.log"
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


class LiveLinks(RealLinks):
    """Real links at real pace: `tablectl run` beside us, and nobody owns the time."""

    def __init__(self, config: StationConfig) -> None:
        super().__init__(config)
        self._clock = LiveClock()

    def words(self) -> list[str]:
        """Return the command of a dealer station."""
        return [sys.executable, "-m", "controller.cli", "run", str(self.config.path)]

    def now_us(self) -> int:
        """Return wall time."""
        return self._clock.now_us()

    async def settled(self) -> int | None:
        """Nothing is waited for at real pace; the table keeps its own time."""
        await self.look_after_daemon()
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
        daemon = [sys.executable, "-m", "simulators.daemon", str(self.config.path), address]
        return [*daemon, str(self._now_us), *end]

    def heard(self, feed: Feed, raw: bytes) -> None:
        """Deliver, and note what has been delivered."""
        super().heard(feed, raw)
        self._rest.heard(feed, raw)

    async def settled(self) -> int | None:
        """Wait until the daemon is at rest at this time and everybody has heard all of it."""
        loop = asyncio.get_running_loop()
        stuck_at = loop.time() + STUCK_S
        while not self._rest.reached(self._now_us):
            if loop.time() > stuck_at:
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
            await self._order(Advance(self._now_us))
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
            self.child.kill()

    async def advance(self, to_us: int) -> None:
        """Move the daemon's clock."""
        self._now_us = to_us
        await self._order(Advance(to_us))

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
