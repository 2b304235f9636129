"""What all real links share: ptys, ZeroMQ sockets, and a daemon in a process of its own."""

from __future__ import annotations

import asyncio
from pathlib import Path

import zmq
import zmq.asyncio

from controller.bus.client import AsyncCommandClient, AsyncSubscription, Cursor
from controller.bus.client import Feed as BusFeed
from controller.bus.errors import NoAnswer
from controller.bus.wire import Answer
from controller.station.config import StationConfig
from controller.station.errors import StationError
from controller.table.events import AUDIENCES, Audience
from drivers.pty import PtyDevice
from simulators.actor import Disturb, Feed, Press, Scan
from simulators.bench import Bench
from simulators.link import Deliver

RESEND_MS = 250
"""A command that is not answered is sent again under its request id after this."""


class RealLinks:
    """Ptys, ZeroMQ sockets and a daemon in a process of its own: what all real links share."""

    def __init__(self, config: StationConfig) -> None:
        self.config = config
        self._deliver: Deliver = lambda *_: None
        self.bench = Bench(config.scanners)
        self._devices: dict[str, PtyDevice] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._clients: dict[tuple[str, str], AsyncCommandClient] = {}
        self._subscriptions: dict[Audience, AsyncSubscription] = {}
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
            self._listen(name)
        await self.start_daemon()
        for audience in AUDIENCES:
            feed = BusFeed.of(
                self.config.endpoints,
                self.config.settings.table,
                audience=audience,
                environment=self.config.environment,
            )
            subscription = AsyncSubscription(feed, cursor=Cursor())
            self._subscriptions[audience] = subscription
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
            endpoint: str = getattr(self.config.endpoints, press.endpoint)
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

    def now_us(self) -> int:
        """Return the time of the table."""
        raise NotImplementedError

    async def do(self, act: Scan | Disturb) -> None:
        """Let something happen at a device, and send the first that it sends."""
        self.bench.do(act, self.now_us())
        await self.bench.exchange(self.send, self.now_us())

    async def send(self, device: str, data: bytes) -> None:
        """Write to the line."""
        self._devices[device].write(data)

    def _listen(self, device: str) -> None:
        line = self._devices[device]
        asyncio.get_running_loop().add_reader(line.fileno(), self.heard_by, device)

    def heard_by(self, device: str) -> int:
        """Take what the host has sent to a device; returns how many bytes."""
        data = self._devices[device].read()
        self.bench.hear(device, data)
        self.news.set()
        return len(data)

    async def unplug(self, device: str) -> None:
        """Pull the cable."""
        line = self._devices[device]
        if line.plugged:
            asyncio.get_running_loop().remove_reader(line.fileno())
        line.unplug()

    async def replug(self, device: str) -> None:
        """Plug it in again."""
        self._devices[device].replug()
        self._listen(device)

    async def close(self) -> None:
        """End the daemon and everything that listens to it."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for subscription in self._subscriptions.values():
            subscription.close()
        for client in self._clients.values():
            client.close()
        if self.child is not None and self.child.returncode is None:
            self.child.terminate()
            await self.child.wait()
        for name in self._devices:
            await RealLinks.unplug(self, name)


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return lines[-1] if lines else "nothing"
