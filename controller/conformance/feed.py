"""The table that the kit plays: true messages of the bus, and every mischief that a line can do to them.

`say` stores a message and then sends it, as a real table does. `lose` stores one that is never sent; `send`
sends whatever it is given, and stores nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec
import zmq
import zmq.asyncio
from msgspec.structs import replace

from controller.bus.client import Feed
from controller.bus.endpoints import Endpoints, bind
from controller.bus.envelope import (
    GENESIS,
    Envelopes,
    Environment,
    Head,
    Stamp,
    folded_digest,
    message_hash,
    source_of,
)
from controller.bus.replay_server import ReplayServer
from controller.bus.snapshot import Snapshot, fold
from controller.bus.wire import Alive, encode
from controller.table.events import AUDIENCES, Audience, Event

ALIVE_S = 0.25
JOIN_S = 5.0
RULES = "0" * 64


class Kept:
    """The messages that are durable: what the replay server serves."""

    def __init__(self, audience: Audience) -> None:
        self.rows: dict[Audience, list[bytes]] = {known: [] for known in AUDIENCES}
        self.told = self.rows[audience]
        self.kept_from = 1
        """What is numbered lower is beyond the retention time."""

    def messages(self, audience: Audience, first_seq: int, limit: int) -> Sequence[tuple[int, bytes]]:
        """Return at most `limit` messages from number `first_seq`."""
        return list(enumerate(self.rows[audience][first_seq - 1 : first_seq - 1 + limit], first_seq))

    def first_seq(self, audience: Audience) -> int:  # noqa: ARG002 - the same for all
        """Return the lowest number that is kept."""
        return self.kept_from

    def last_seq(self, audience: Audience) -> int:
        """Return the number of the last message."""
        return len(self.rows[audience])


class KitTable:
    """One table and one audience of it. An asynchronous context manager: its sockets live inside."""

    def __init__(self, endpoints: Endpoints, *, table: str, audience: Audience) -> None:
        self.feed = Feed.of(endpoints, table, audience=audience, environment=Environment.SIMULATED)
        self.epoch = 1
        self.phase = "shuffling"
        self.roundid: str | None = None
        self.rev: int | None = None
        self.is_alive = True
        """Whether `alive` is sent."""
        self.kept = Kept(audience)
        self._endpoints = endpoints
        self._envelopes = Envelopes(table=table, environment=Environment.SIMULATED)
        self._context: zmq.Context[Any] = zmq.Context()
        self._live: zmq.asyncio.Socket | None = None
        self._heart: asyncio.Task[None] | None = None
        self._replay: asyncio.Task[None] | None = None

    async def __aenter__(self) -> KitTable:
        self._open_live()
        await self.replay_back()
        self._heart = asyncio.create_task(self._beat())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.replay_away()
        await _ended(self._heart)
        if self._live is not None:
            self._live.close(linger=0)
        self._context.destroy(linger=0)

    async def joined(self) -> bool:
        """Wait until somebody has subscribed to the live feed; False when nobody does."""
        assert self._live is not None, "used inside its context"
        with suppress(TimeoutError):
            async with asyncio.timeout(JOIN_S):
                while not (await self._live.recv()).startswith(b"\x01"):
                    pass  # Somebody has left.
                return True
        return False

    @property
    def snapshot(self) -> Snapshot:
        """What a consumer knows who has heard everything."""
        return fold(Snapshot(table=self.feed.table, audience=self.feed.audience), self.kept.told)

    async def say(self, *events: Event) -> list[bytes]:
        """Store these events and send them. Returns the messages."""
        messages = self.lose(*events)
        await self.send(*messages)
        return messages

    def lose(self, *events: Event) -> list[bytes]:
        """Store these events; the live feed loses them. Returns the messages."""
        return [message for event in events for message in self.store(event)]

    def store(self, event: Event, *, data: Mapping[str, Any] | None = None, **fields: str) -> list[bytes]:
        """Store one event, with other fields than this version gives it; return its message if it has one."""
        stamp = Stamp(
            at_us=time.time_ns() // 1_000,
            epoch=self.epoch,
            phase=self.phase,
            rules=RULES,
            roundid=self.roundid,
            rev=self.rev,
        )
        before = self._envelopes.heads().of(self.feed.audience)
        built = self._envelopes.build([event], stamp)[self.feed.audience]
        if not (data or fields):
            self.kept.told.extend(built)
            return list(built)
        [message] = built
        told = msgspec.json.decode(message, type=dict[str, Any])
        told |= {"data": told["data"] | dict(data or {})} | fields
        changed = msgspec.json.encode(told)
        hashed = message_hash(changed)
        head = Head(before.seq + 1, hashed, before.count + 1, folded_digest(before.digest, hashed))
        heads = replace(self._envelopes.heads(), **{self.feed.audience.value: head})
        self._envelopes = Envelopes(table=self.feed.table, environment=self.feed.environment, heads=heads)
        self.kept.told.append(changed)
        return [changed]

    async def send(self, *messages: bytes) -> None:
        """Send these bytes on the live feed."""
        assert self._live is not None, "used inside its context"
        for raw in messages:
            await self._live.send(raw)

    async def replay_away(self) -> None:
        """Let nobody answer requests for replay."""
        await _ended(self._replay)
        self._replay = None

    async def replay_back(self) -> None:
        """Answer requests for replay again."""
        self._replay = asyncio.create_task(self._serve())
        await asyncio.sleep(0)

    async def restart(self) -> None:
        """Start anew as another process would: the same names, the next epoch, nothing sent again."""
        assert self._live is not None, "used inside its context"
        await self.replay_away()
        self._live.close(linger=0)
        self.epoch += 1
        self._open_live()
        await self.replay_back()

    async def beat(self, **other: Any) -> None:
        """Send one `alive`, with `other` than the true fields."""
        await self.send(encode(replace(self._alive(), **other)))

    def _open_live(self) -> None:
        self._live = zmq.asyncio.Socket(self._context, zmq.XPUB)
        self._live.setsockopt(zmq.SNDHWM, 0)
        bind(self._live, self.feed.live)

    async def _serve(self) -> None:
        server = ReplayServer(self._endpoints, self.kept, table=self.feed.table, context=self._context)
        try:
            await server.run()
        finally:
            server.close()

    async def _beat(self) -> None:
        while True:
            if self.is_alive:
                await self.send(encode(self._alive()))
            await asyncio.sleep(ALIVE_S)

    def _alive(self) -> Alive:
        last = self.kept.told[-1] if self.kept.told else None
        return Alive(
            alive=self.feed.table,
            source=source_of(self.feed.table, self.feed.environment),
            epoch=self.epoch,
            seq=len(self.kept.told),
            hash=GENESIS if last is None else message_hash(last),
            phase=self.phase,
            at_us=time.time_ns() // 1_000,
        )


def forged(message: bytes, **changes: Any) -> bytes:
    """Return a message with other top-level fields than the true one has."""
    return msgspec.json.encode(msgspec.json.decode(message, type=dict[str, Any]) | changes)


async def _ended(task: asyncio.Task[None] | None) -> None:
    if task is not None:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
