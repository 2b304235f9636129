"""The daemon of a fast simulation: the station itself, with real links, under the world's clock.

`python -m simulators.daemon WORLD CONFIG CLOCK_LINK START_US [END]`, started by the world (its process is
WORLD, and it ends with it), never by people. END is `kill POINT COUNT` or `cut OPERATION SEED SYNCHRONOUS`:
with a named point, the process ends itself with SIGKILL there, at its COUNT-th pass; with a cut, its
journal lies on a disk whose power fails at that operation.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec
import zmq
import zmq.asyncio

from controller.bus.commands import Reply
from controller.bus.publisher import Publisher
from controller.bus.wire import CommandRequest
from controller.journal import Heads, Journal
from controller.journal.recording import Kind
from controller.station import log
from controller.station.config import StationConfig, load
from controller.station.feeds import Feeds
from controller.station.kernel import Kernel
from controller.station.start import AUDIENCE_NAMES, open_journal
from controller.station.station import Station, Waiting
from controller.table.events import AUDIENCES, Audience
from simulators.clock_link import Advance, Order, Report, SimulatedClock
from simulators.faults.points import KillPoint, Point, PowerCut
from simulators.faults.powercut import PowerCutDisk
from simulators.tied import tie

SETTLING_ROUNDS = 3


class SimulatedStation(Station):
    """The station, which tells its reporter whenever something has moved."""

    moved: asyncio.Event | None = None
    ports_told: frozenset[str] = frozenset()
    """The ports that have said whether they are there."""

    def bring(self, kind: Kind, source: str, payload: str = "") -> int:
        """Bring something in, and say so."""
        if kind in (Kind.OPENED, Kind.LOST):
            self.ports_told |= {source}
        self._say()
        return super().bring(kind, source, payload)

    def submit(self, endpoint: str, request: CommandRequest, reply: Reply) -> bool:
        """Take a command, and say so."""
        self._say()
        return super().submit(endpoint, request, reply)

    def _step(self, waiting: Waiting) -> None:
        super()._step(waiting)
        self._say()

    def _say(self) -> None:
        if self.moved is not None:
            self.moved.set()


class WatchedFeeds:
    """The publisher, with the hash of the last picture at hand and two places to die."""

    def __init__(self, publisher: Publisher, point: KillPoint) -> None:
        self._publisher = publisher
        self._point = point
        self.picture_hash = ""

    def publish(self, messages: Mapping[Audience, Sequence[bytes]]) -> None:
        """Send one audience after the other."""
        self._point.passed(Point.AFTER_COMMIT)
        concerned = [audience for audience in AUDIENCES if messages[audience]]
        for index, audience in enumerate(concerned):
            if index > 0:
                self._point.passed(Point.BETWEEN_AUDIENCES)
            self._publisher.publish({audience: messages[audience]})

    def picture(self, raw: bytes) -> None:
        """Send the picture."""
        self.picture_hash = hashlib.sha256(raw).hexdigest()
        self._publisher.picture(raw)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._publisher, name)


class WatchedJournal:
    """The journal, with a place to die before each commit."""

    def __init__(self, journal: Journal, point: KillPoint) -> None:
        self._journal = journal
        self._point = point

    def append(self, **step: Any) -> int:
        """Append a step."""
        self._point.passed(Point.BEFORE_COMMIT)
        return self._journal.append(**step)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)


class Reporter:
    """Answers the world: advances the clock, and reports each time the station has come to rest."""

    def __init__(
        self, station: SimulatedStation, feeds: WatchedFeeds, clock: SimulatedClock, link: str
    ) -> None:
        self._station, self._feeds, self._clock = station, feeds, clock
        self._moved = station.moved = asyncio.Event()
        self._number = 0
        self._socket = zmq.asyncio.Context.instance().socket(zmq.PAIR)
        self._socket.connect(link)

    async def take_orders(self) -> None:
        """Do what the world says."""
        decoder = msgspec.json.Decoder(Order)
        while True:
            match decoder.decode(await self._socket.recv()):
                case Advance(to_us=to_us, number=number):
                    self._clock.advance(to_us)
                    self._number = number
                case _:
                    self._station.beat()
            self._moved.set()

    async def report(self) -> None:
        """Report each rest once."""
        self._moved.set()
        while True:
            await self._moved.wait()
            self._moved.clear()
            for _ in range(SETTLING_ROUNDS):
                await asyncio.sleep(0)
            # Before its ports have spoken, a station that has just started has not come to rest.
            started = self._station.ports_told.issuperset(self._station.ports)
            if started and self._station.is_idle() and not self._moved.is_set():
                await self._socket.send(msgspec.json.encode(self._state()))

    def _state(self) -> Report:
        station = self._station
        heads = station.kernel.envelopes.heads()
        due, wake = station.next_due_us(), self._clock.next_wake_us()
        return Report(
            now_us=self._clock.now_us(),
            number=self._number,
            wake_us=min((at for at in (due, wake) if at is not None), default=None),
            received={name: port.received_count for name, port in station.ports.items()},
            sent={name: port.sent_count for name, port in station.ports.items()},
            ready={name: port.is_ready for name, port in station.ports.items()},
            seqs={audience.value: heads.of(audience).seq for audience in AUDIENCES},
            picture=self._feeds.picture_hash,
        )


class Journals:
    """Opens journal files with places to die, and on a failing disk where a cut is ordered."""

    def __init__(self, point: KillPoint, cut: PowerCut | None) -> None:
        self._point = point
        self._cut = cut
        self._disk = PowerCutDisk("cut", seed=cut.seed, cut_at=cut.operation) if cut is not None else None

    def open_file(self, path: Path, heads: Heads | None) -> Journal:
        """Open one file."""
        if self._cut is None or self._disk is None:
            journal = open_journal(path, heads)
        else:
            journal = Journal.open(path, audiences=AUDIENCE_NAMES, heads=heads, connect=self._disk.connect)
            # The journal has no such setting; this weakens it from outside, to show that cuts tell.
            journal._connection.pragma("synchronous", self._cut.synchronous)
        return cast(Journal, WatchedJournal(journal, self._point))


async def run(
    config: StationConfig, link: str, start_us: int, *, point: KillPoint, cut: PowerCut | None
) -> None:
    """Run the station until SIGTERM; without pages: nobody can look at a table whose time jumps."""
    config = msgspec.structs.replace(config, pages=None)
    clock = SimulatedClock(start_us)
    watched: list[WatchedFeeds] = []

    def open_feeds(config: StationConfig, kernel: Kernel) -> Feeds:
        publisher = Publisher(
            config.endpoints,
            source=(config.settings.table, config.environment),
            heads=kernel.envelopes.heads(),
        )
        watched.append(WatchedFeeds(publisher, point))
        return cast(Feeds, watched[0])

    station = SimulatedStation(
        config,
        clock,
        open_file=Journals(point, cut).open_file,
        open_feeds=open_feeds,
        on_recovery_step=lambda: point.passed(Point.IN_RECOVERY),
    )
    await _serve(station, Reporter(station, watched[0], clock, link))


async def _serve(station: SimulatedStation, reporter: Reporter) -> None:
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    tasks = [asyncio.create_task(reporter.take_orders()), asyncio.create_task(reporter.report())]
    try:
        await station.run(stopped)
    finally:
        for task in tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


def main(words: list[str]) -> None:
    """Run from the command line of the world."""
    world, config, link, start_us, *end = words
    tie(int(world))
    log.set_up()
    point, cut = KillPoint(None, 0), None
    match end:
        case ["kill", name, count]:
            point = KillPoint(Point(name), int(count))
        case ["cut", operation, seed, synchronous]:
            cut = PowerCut(int(operation), int(seed), synchronous)
        case _:
            assert not end, end
    asyncio.run(run(load(Path(config)), link, int(start_us), point=point, cut=cut))


if __name__ == "__main__":
    os.setpgid(0, 0)  # Ctrl-C is for the world, which ends its daemon itself.
    main(sys.argv[1:])
