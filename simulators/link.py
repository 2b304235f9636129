"""Between the actors and the table: what a link is, and the link without wires.

A link delivers messages of the feeds, carries acts to the table, has its devices on a bench, and owns the
clock of a fast simulation. `settled` returns when every consequence of what was done has been delivered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import zmq

from controller.bus.publisher import Pulse
from controller.bus.wire import Answer, CommandRequest
from controller.journal.recording import Kind
from controller.station.config import StationConfig
from controller.station.station import Station
from controller.table.events import AUDIENCES, Audience
from drivers.port import Port
from simulators.actor import Disturb, Feed, Press, Scan
from simulators.bench import Bench, earliest
from simulators.clock_link import SimulatedClock

Deliver = Callable[[Feed, bytes], None]


class Link(Protocol):
    """What the world needs of a link."""

    def now_us(self) -> int: ...
    async def open(self, deliver: Deliver) -> None: ...
    async def settled(self) -> int | None:
        """Wait for rest; returns when the table or a device wants the clock next."""
        ...

    async def advance(self, to_us: int) -> None: ...
    async def press(self, press: Press) -> Answer: ...
    async def do(self, act: Scan | Disturb) -> None: ...
    async def unplug(self, device: str) -> None: ...
    async def replug(self, device: str) -> None: ...
    async def close(self) -> None: ...


class _DirectFeeds:
    """Delivers what a station publishes in this process."""

    sockets: Mapping[str, zmq.Socket[Any]] = {}

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


class _DirectPort(Port):
    """A port that is never opened: what the station writes goes to the bench."""

    def __init__(self, bench: Bench, name: str, path: str | Path, **parts: Any) -> None:
        super().__init__(name, path, **parts)
        self._bench = bench

    def write(self, data: bytes) -> bool:
        """Hand over what a driver has to say."""
        self._bench.hear(self.name, data)
        return True


class DirectLink:
    """The station in this process: no sockets, no ptys, the same kernel, journal and recording."""

    def __init__(self, config: StationConfig, start_us: int) -> None:
        self._config = config
        self.clock = SimulatedClock(start_us)
        self.station: Station | None = None
        self.bench = Bench(config.scanners)
        self._ready: dict[str, bool] = {}

    def now_us(self) -> int:
        """Return the simulated time."""
        return self.clock.now_us()

    async def open(self, deliver: Deliver) -> None:
        """Start the station and plug the scanners in."""
        feeds = _DirectFeeds(deliver)
        self.station = Station(
            self._config,
            self.clock,
            open_feeds=lambda *_: feeds,
            open_port=partial(_DirectPort, self.bench),
        )
        for name in self._config.scanners:
            await self.replug(name)

    async def settled(self) -> int | None:
        """Everything is delivered already, but for what devices and host still say to each other."""
        while await self.bench.exchange(self.send, self.now_us()):
            pass
        return earliest(self._station.next_due_us(), self.bench.next_due_us())

    async def advance(self, to_us: int) -> None:
        """Move the clock and let fire what is due."""
        self.clock.advance(to_us)
        self._station.work()

    async def press(self, press: Press) -> Answer:
        """Submit a command and work it off."""
        answers: list[Answer] = []
        request = CommandRequest(press.request or "", press.actor, press.round_no, press.command, press.pin)
        assert self._station.submit(press.endpoint, request, answers.append)
        self._station.work()
        return answers[0]

    async def do(self, act: Scan | Disturb) -> None:
        """Let something happen at a device, and bring the first that it sends."""
        self.bench.do(act, self.now_us())
        await self.bench.exchange(self.send, self.now_us())

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
