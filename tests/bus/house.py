"""A table's bus with doors on loopback ports, all on the loop of a test, and peers that try to get in."""

from __future__ import annotations

import asyncio
import os
import socket as unix
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from itertools import count, islice
from pathlib import Path
from typing import Any

import msgspec
import zmq
from bus.streams import TABLE, envelopes, filled

from controller.bus.allowed import AllowedKey, AllowList, KeyRole
from controller.bus.client import Feed
from controller.bus.commands import CommandIntake, Reply
from controller.bus.doors import Doors
from controller.bus.endpoints import Endpoints, connect
from controller.bus.envelope import Environment
from controller.bus.keys import BusKeys, ClientKeys, KeyPair, write_pair
from controller.bus.publisher import Publisher, Pulse
from controller.bus.replay_server import ReplayServer
from controller.bus.wire import Answer, AskSnapshot, CommandRequest, encode
from controller.table.events import Audience
from controller.table.inputs import OpenTable

DOORS = (
    *("live.public", "replay.public", "live.settlement", "replay.settlement"),
    *("commands.betting", "commands.consumer"),
)
WALLET = (KeyRole.SETTLEMENT, KeyRole.COMMANDS_BETTING)
SOCKETS = 3
"""So many doors a peer tries: the feed, the replay server, the commands."""


def free_ports(count: int) -> list[int]:
    probes = [unix.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(probe.getsockname()[1]) for probe in probes]
    for probe in probes:
        probe.close()
    return ports


class House:
    """What runs, the files that it goes by, and what it has taken."""

    def __init__(self, directory: Path, context: zmq.Context[Any]) -> None:
        self.context = context
        self.endpoints = Endpoints.ipc(directory, TABLE)
        addresses = [f"tcp://127.0.0.1:{port}" for port in free_ports(len(DOORS))]
        self.keys = BusKeys(
            directory / "bus.key", directory / "bus.allowed.json", dict(zip(DOORS, addresses, strict=True))
        )
        self.allowed = AllowList()
        self.pair = KeyPair.draw()
        write_pair(self.keys.key, self.pair)
        self.wallet, self.overlay = KeyPair.draw(), KeyPair.draw()
        self.allow("wallet", self.wallet.public, *WALLET)
        self.allow("overlay", self.overlay.public, KeyRole.PUBLIC, KeyRole.COMMANDS_OPERATOR)
        self.commands: list[CommandRequest] = []
        self.epoch = 1
        self.envelopes = envelopes()
        self.outbox = filled(1, source=self.envelopes)

    def allow(self, name: str, public: str, *roles: KeyRole) -> None:
        self.write(self.allowed.with_key(name, AllowedKey(public, roles)))

    def write(self, allowed: AllowList) -> None:
        self.allowed = allowed
        fresh = self.keys.allowed.with_suffix(".new")
        fresh.touch(mode=0o600)
        fresh.write_bytes(msgspec.json.encode(allowed))
        fresh.replace(self.keys.allowed)

    def submit(self, role: str, request: CommandRequest, reply: Reply) -> bool:
        self.commands.append(request)
        reply(Answer(request.request, True))
        return True

    def alive(self) -> None:
        self.publisher.alive(Pulse(at_us=time.monotonic_ns() // 1_000, epoch=self.epoch, phase="dealing"))

    def feed(self, keys: ClientKeys | None, audience: Audience = Audience.SETTLEMENT) -> Feed:
        where = self.keys.doors
        live, replay = where[f"live.{audience}"], where[f"replay.{audience}"]
        environment = Environment.SIMULATED
        return Feed(
            live=live, replay=replay, table=TABLE, audience=audience, environment=environment, keys=keys
        )

    async def until(self, done: Callable[[], bool], timeout_s: float = 5.0) -> bool:
        """Speak until `done` or the time is over; returns whether it is done."""
        deadline = time.monotonic() + timeout_s
        while not done() and time.monotonic() < deadline:
            self.alive()
            await asyncio.sleep(0.01)
        return done()

    async def speak(self, for_s: float) -> None:
        await self.until(lambda: False, for_s)


@asynccontextmanager
async def open_house(directory: Path, context: zmq.Context[Any]) -> AsyncIterator[House]:
    """Run a bus with doors."""
    house = House(directory, context)
    house.publisher = Publisher(
        house.endpoints,
        source=(TABLE, Environment.SIMULATED),
        heads=house.envelopes.heads(),
        context=context,
    )
    replay = ReplayServer(house.endpoints, house.outbox, table=TABLE, context=context)
    intake = CommandIntake(house.endpoints, house.submit, context=context)
    sockets = {**house.publisher.sockets, **replay.sockets, **intake.sockets}
    house.doors = Doors(house.keys, sockets, on_rebound=house.alive, context=context)
    services = [asyncio.create_task(part.run()) for part in (replay, intake, house.doors)]
    try:
        yield house
        faults = [task.exception() for task in services if task.done() and not task.cancelled()]
        assert not faults, faults
    finally:
        for task in services:
            task.cancel()
        await asyncio.gather(*services, return_exceptions=True)
        for part in (house.doors, replay, intake, house.publisher):
            part.close()


class Peer:
    """Somebody who listens to settlement, asks for its snapshot, and sends a command."""

    _numbers = count()

    def __init__(self, house: House, keys: ClientKeys | None) -> None:
        doors = house.keys.doors
        self.live = house.context.socket(zmq.SUB)
        self.live.subscribe(b"")
        self.replay, self.commands = house.context.socket(zmq.DEALER), house.context.socket(zmq.DEALER)
        places = ("live.settlement", "replay.settlement", "commands.betting")
        self.sockets = dict(zip(places, (self.live, self.replay, self.commands), strict=True))
        for door, socket in self.sockets.items():
            connect(socket, doors[door], keys)
        self.replay.send(encode(AskSnapshot("1")))
        self.commands.send(encode(CommandRequest(str(next(self._numbers)), "bets", 1, OpenTable())))
        self.heard: dict[str, list[bytes]] = {door: [] for door in self.sockets}

    def listen(self) -> dict[str, list[bytes]]:
        """Take what has come to each socket."""
        for door, socket in self.sockets.items():
            while socket.poll(0):
                self.heard[door].append(b"".join(socket.recv_multipart()))
        return self.heard

    def is_in(self) -> bool:
        return all(self.listen().values())

    def close(self) -> None:
        for socket in self.sockets.values():
            socket.close(linger=0)


def keys_for(house: House, pair: KeyPair | None = None) -> ClientKeys:
    return ClientKeys(pair or KeyPair.draw(), house.pair.public)


def tries() -> int:
    """How often each intruder tries: 20, and 1,000 in a soak."""
    return 1_000 if os.environ.get("TABLECTL_SOAK") else 20


def batches(total: int, size: int = 20) -> Iterator[int]:
    """Split a number of tries into batches that are there at the same time."""
    numbers = iter(range(total))
    while batch := list(islice(numbers, size)):
        yield len(batch)
