"""The replay server: snapshots and old messages on request, one ROUTER an audience.

It reads the journal's outbox and nothing else, so it can show nothing that is not durable, and replays exact
bytes. One request gives one page; a client that does not take its replies loses them, and nobody waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec
import zmq
import zmq.asyncio

from controller.bus.endpoints import Endpoints, bind
from controller.bus.envelope import decode
from controller.bus.errors import UNREADABLE, BusError
from controller.bus.snapshot import Snapshot, apply, encode_snapshot, fold
from controller.bus.wire import (
    Ask,
    AskFrom,
    AskRound,
    AskSnapshot,
    Marker,
    Reason,
    encode,
    request_named_in,
)
from controller.table.events import AUDIENCES, Audience

PAGE_BYTES_MAX = 1 << 20
"""A page ends with the message that passes this size."""
REPLIES_HELD_MAX = 2
"""SNDHWM per client: pages that wait for one that does not read. More are dropped: a client has one request
on its way, and a page may have a megabyte."""
REQUEST_BYTES_MAX = 4_096
FRAME_BYTES_MAX = 65_536
"""Longest frame that is read from a peer; who sends a longer one is cut off without an answer."""
CHUNK = 64
"""Messages read or folded before others on the loop get their turn."""
ROUNDS_MAX = 5_000
"""Rounds that can be asked for by id, newest first; more than three gaming days."""
LINGER_MS = 200


class Outbox(Protocol):
    """What the server reads: the journal's finished messages, durable ones only."""

    def messages(self, audience: Audience, first_seq: int, limit: int) -> Sequence[tuple[int, bytes]]:
        """Return at most `limit` messages in order, the first numbered `first_seq`, one at least."""
        ...

    def first_seq(self, audience: Audience) -> int:
        """Return the lowest number that is kept; `messages` is never asked for a lower one."""
        ...

    def last_seq(self, audience: Audience) -> int:
        """Return the number of the last durable message, 0 when there is none."""
        ...


class Archive:
    """One audience's outbox with its snapshot and an index of rounds, brought up to date when asked."""

    def __init__(self, outbox: Outbox, start: Snapshot) -> None:
        """Fold from `start`, a snapshot of this audience; rounds before it cannot be asked for by id."""
        self._outbox = outbox
        self._audience = start.audience
        self._rounds: dict[str, list[tuple[int, int]]] = {}
        self.snapshot = start

    async def refresh(self) -> None:
        """Fold what has become durable since the last time."""
        while self.snapshot.seq < self.last_seq():
            for seq, raw in self._read(self.snapshot.seq + 1, CHUNK):
                self.snapshot = apply(self.snapshot, raw)
                self._index(self.snapshot.roundid, seq)
            await asyncio.sleep(0)

    def last_seq(self) -> int:
        """Return the number of the last durable message."""
        return self._outbox.last_seq(self._audience)

    def page(self, first: int, last: int, *, limit: int) -> list[bytes]:
        """Return messages `first` to `last`, at most `limit` and about PAGE_BYTES_MAX."""
        found: list[bytes] = []
        size = 0
        while len(found) < limit and size < PAGE_BYTES_MAX and first + len(found) <= last:
            start = first + len(found)
            for _, raw in self._read(start, min(CHUNK, limit - len(found), last - start + 1)):
                found.append(raw)
                size += len(raw)
                if size >= PAGE_BYTES_MAX:
                    break
        return found

    def spans(self, roundid: str) -> list[tuple[int, int]]:
        """Return first and last number of each run of this round's messages; a correction is a later run."""
        return self._rounds.get(roundid, [])

    async def state_of(self, roundid: str) -> Snapshot:
        """Return the fold of the round's messages alone, the last board and outcome before it left out."""
        state = Snapshot(table=self.snapshot.table, audience=self._audience)
        for first, last in self.spans(roundid):
            [opening] = self.page(first, first, limit=1)
            state = msgspec.structs.replace(state, seq=first - 1, hash=decode(opening).prevhash)
            while state.seq < last:
                state = fold(state, self.page(state.seq + 1, last, limit=CHUNK))
                await asyncio.sleep(0)
        return state

    def _read(self, first: int, limit: int) -> Sequence[tuple[int, bytes]]:
        kept = self._outbox.first_seq(self._audience)
        if first < kept:
            raise _Gone(f"message {first} of {self._audience} is no longer kept, the first is {kept}")
        rows = self._outbox.messages(self._audience, first, limit)
        assert rows and rows[0][0] == first, f"the outbox lacks durable message {first} of {self._audience}"
        return rows

    def _index(self, roundid: str | None, seq: int) -> None:
        if roundid is None:
            return
        spans = self._rounds.setdefault(roundid, [])
        if spans and spans[-1][1] == seq - 1:
            spans[-1] = (spans[-1][0], seq)
        else:
            spans.append((seq, seq))
        if len(self._rounds) > ROUNDS_MAX:
            del self._rounds[next(iter(self._rounds))]


class _Gone(BusError):
    """Messages beyond retention."""


class ReplayServer:
    """Answers on all replay endpoints of a table. `run` is a task to supervise; it never returns."""

    def __init__(
        self,
        endpoints: Endpoints,
        outbox: Outbox,
        *,
        table: str,
        starts: Mapping[Audience, Snapshot] | None = None,
        context: zmq.Context[Any] | None = None,
    ) -> None:
        """Bind all endpoints. `starts` spares folding the stream from its first message.

        Raises EndpointRefused; whatever was bound is closed again.
        """
        known = starts or {}
        self._outbox = outbox
        self._sockets: dict[Audience, zmq.asyncio.Socket] = {}
        self._archives = {
            audience: Archive(outbox, known.get(audience, Snapshot(table=table, audience=audience)))
            for audience in AUDIENCES
        }
        try:
            for audience in AUDIENCES:
                socket = router(context or zmq.Context.instance(), held=REPLIES_HELD_MAX)
                self._sockets[audience] = socket
                bind(socket, endpoints.replay[audience])
        except BaseException:
            self.close()
            raise

    async def run(self) -> None:
        """Serve until cancelled. A fault of the journal ends it, and so the process."""
        async with asyncio.TaskGroup() as tasks:
            for audience, socket in self._sockets.items():
                tasks.create_task(self._serve(audience, socket), name=f"replay {audience}")

    @property
    def sockets(self) -> Mapping[str, zmq.asyncio.Socket]:
        """What may get a door: the socket of each audience."""
        return {f"replay.{audience}": socket for audience, socket in self._sockets.items()}

    def close(self) -> None:
        """Close all sockets; replies nobody takes are dropped after LINGER_MS."""
        for socket in self._sockets.values():
            socket.close(linger=LINGER_MS)
        self._sockets.clear()

    def forget_before(self, starts: Mapping[Audience, Snapshot]) -> None:
        """Begin at `starts` where less than that was folded: what came before is no longer kept."""
        for audience, start in starts.items():
            if self._archives[audience].snapshot.seq < start.seq:
                self._archives[audience] = Archive(self._outbox, start)

    async def answer(self, audience: Audience, raw: bytes) -> list[bytes]:
        """Return the frames that answer one request, the marker last. Bad requests get a reason."""
        return await answered(self._archives[audience], raw)

    async def _serve(self, audience: Audience, socket: zmq.asyncio.Socket) -> None:
        while True:
            frames = await socket.recv_multipart()
            reply = await self.answer(audience, frames[-1])
            # Frames before the last are the client's address; ROUTER drops what its full pipe cannot take.
            await socket.send_multipart([*frames[:-1], *reply], flags=zmq.NOBLOCK)
            await asyncio.sleep(0)


async def answered(archive: Archive, raw: bytes) -> list[bytes]:
    """Return the frames that answer one request of the archive's audience, the marker last."""
    if len(raw) > REQUEST_BYTES_MAX:
        return [_refusal("", Reason.MALFORMED, f"{len(raw)} bytes, at most {REQUEST_BYTES_MAX}")]
    try:
        ask = _ASK.decode(raw)
    except UNREADABLE as error:
        text = f"replay of {archive.snapshot.audience}: {error}"
        return [_refusal(request_named_in(raw), Reason.MALFORMED, text)]
    try:
        match ask:
            case AskSnapshot():
                return await _snapshot(archive, ask)
            case AskFrom():
                return _from(archive, ask)
            case AskRound():
                return await _round(archive, ask)
    except _Gone as gone:
        return [_refusal(ask.request, Reason.GONE, str(gone))]


async def _snapshot(archive: Archive, ask: AskSnapshot) -> list[bytes]:
    await archive.refresh()
    marker = Marker(request=ask.request, end=True, snapshot=True, last_seq=archive.snapshot.seq)
    return [encode_snapshot(archive.snapshot), encode(marker)]


def _from(archive: Archive, ask: AskFrom) -> list[bytes]:
    last = archive.last_seq()
    found = archive.page(ask.seq, last, limit=ask.limit)
    following = ask.seq + len(found)
    marker = Marker(
        request=ask.request,
        end=True,
        count=len(found),
        next=following if following <= last else None,
        last_seq=last,
    )
    return [*found, encode(marker)]


async def _round(archive: Archive, ask: AskRound) -> list[bytes]:
    await archive.refresh()
    spans = archive.spans(ask.roundid)
    state = await archive.state_of(ask.roundid) if spans and ask.seq is None else None
    if not spans:
        text = f"{ask.roundid!r} is none of the rounds kept by id; ask for its messages by number"
        return [_refusal(ask.request, Reason.UNKNOWN_ROUND, text)]
    first = ask.seq or spans[0][0]
    due = [(max(first, start), end) for start, end in spans if end >= first]
    found = archive.page(*due[0], limit=ask.limit) if due else []
    marker = Marker(
        request=ask.request,
        end=True,
        count=len(found),
        snapshot=state is not None,
        next=_next_of_round(due, len(found)),
        last_seq=archive.last_seq(),
    )
    return [*([encode_snapshot(state)] if state else []), *found, encode(marker)]


def _next_of_round(due: list[tuple[int, int]], count: int) -> int | None:
    """Return where the next page begins. A page never crosses from one run of a round to the next."""
    if not due:
        return None
    following = due[0][0] + count
    if following <= due[0][1]:
        return following
    return due[1][0] if len(due) > 1 else None


def _refusal(request: str, reason: Reason, text: str) -> bytes:
    return encode(Marker(request=request, end=True, reason=reason, text=text))


def router(context: zmq.Context[Any], *, held: int) -> zmq.asyncio.Socket:
    """Return a ROUTER that holds at most `held` messages each way per peer and drops beyond them."""
    socket = zmq.asyncio.Socket(context, zmq.ROUTER)
    socket.setsockopt(zmq.SNDHWM, held)
    socket.setsockopt(zmq.RCVHWM, held)
    socket.setsockopt(zmq.MAXMSGSIZE, FRAME_BYTES_MAX)
    return socket


_ASK: msgspec.json.Decoder[Ask] = msgspec.json.Decoder(Ask)
