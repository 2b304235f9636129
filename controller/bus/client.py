"""The consumer's side: subscriptions without gaps, and commands with answers. Needs zmq and msgspec only.

    with Subscription(feed, cursor=stored) as table:
        while True:
            delivery = table.next(1_000)
            ...                              # the effect and delivery.cursor in one transaction
            if table.stale() or table.behind():
                ...                          # take no new bets
            acknowledgements.acknowledge(delivery)   # a CommandClient on the `consumer` endpoint

All judgement is in `GapKeeper`; here are the sockets and the clock. `AsyncSubscription` and
`AsyncCommandClient` differ from the plain ones in how they wait.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from types import TracebackType
from typing import Any

import msgspec
import zmq

from controller.bus.acknowledging import ending_of, request_of
from controller.bus.endpoints import Endpoints, connect, reconnect
from controller.bus.envelope import Environment
from controller.bus.errors import NoAnswer
from controller.bus.gap_keeper import STALE_US, Cursor, Delivery, GapKeeper
from controller.bus.keys import ClientKeys
from controller.bus.snapshot import Snapshot
from controller.bus.wire import Answer, CommandRequest, encode
from controller.table.events import Audience
from controller.table.inputs import AnyCommand

__all__ = [
    "AsyncCommandClient",
    "AsyncSubscription",
    "ClientKeys",
    "CommandClient",
    "Cursor",
    "Delivery",
    "Feed",
    "Snapshot",
    "Subscription",
]

BATCH = 500
"""Live messages taken at once, before they are handed over."""
ATTEMPTS = 3
"""So often a command is sent before it counts as unanswered."""
WAIT_MS_MAX = 250
"""Longest wait for a socket, so that a request that falls due is not slept over."""


class Feed(msgspec.Struct, frozen=True, kw_only=True):
    """One audience of one table: where it is, and what it must be."""

    live: str
    replay: str
    table: str
    audience: Audience
    environment: Environment
    receive_limit: int = 10_000
    """RCVHWM; what arrives beyond it is lost and fetched again."""
    keys: ClientKeys | None = None
    """For a table on another machine: the consumer's own pair, and the table's public key."""

    @classmethod
    def of(cls, endpoints: Endpoints, table: str, *, audience: Audience, environment: Environment) -> Feed:
        """Return the feed of `audience` at `endpoints`."""
        return cls(
            live=endpoints.live[audience],
            replay=endpoints.replay[audience],
            table=table,
            audience=audience,
            environment=environment,
        )


class _Subscribed:
    """The part both subscriptions share. Used by one thread or task."""

    def __init__(
        self, feed: Feed, *, cursor: Cursor | None = None, context: zmq.Context[Any] | None = None
    ) -> None:
        """Subscribe, then go on after `cursor`; None joins at the snapshot, Cursor() at message 1.

        Raises EndpointRefused. The table need not be up yet.
        """
        context = context or zmq.Context.instance()
        self._feed = feed
        self._knocked_us = _now_us()
        self._live = context.socket(zmq.SUB)
        self._replay = context.socket(zmq.DEALER)
        try:
            self._live.setsockopt(zmq.RCVHWM, feed.receive_limit)
            self._live.subscribe(b"")
            connect(self._live, feed.live, feed.keys)
            connect(self._replay, feed.replay, feed.keys)
        except BaseException:
            self.close()
            raise
        self.keeper = GapKeeper(
            stream=(feed.table, feed.audience),
            environment=feed.environment,
            cursor=cursor,
            now_us=_now_us(),
        )

    @property
    def snapshot(self) -> Snapshot | None:
        """The snapshot this subscription joined at; None before that, and when it had a cursor."""
        return self.keeper.snapshot

    def stale(self) -> bool:
        """Whether no `alive` came for three seconds. Frames are read by `next` alone: call it often."""
        return self.keeper.stale(_now_us())

    def behind(self) -> bool:
        """Whether messages may exist that have not been delivered."""
        return bool(self.keeper.ready) or self.keeper.behind()

    def close(self) -> None:
        """Close both sockets at once."""
        self._live.close(linger=0)
        self._replay.close(linger=0)

    def _work(self) -> Delivery | None:
        """Take what has arrived, ask what is due, and return the next delivery if there is one."""
        if not self.keeper.ready:
            for frames in _arrived(self._replay, BATCH):
                self.keeper.replayed(frames)
            for frames in _arrived(self._live, BATCH):
                self.keeper.live(frames[-1], _now_us())
            self._knock(_now_us())
            request = self.keeper.ask(_now_us())
            if request is not None:
                _offer(self._replay, request)
        return self.keeper.ready.popleft() if self.keeper.ready else None

    def _knock(self, now_us: int) -> None:
        """Connect anew after a silence: libzmq stops at a refusal; the key may be allowed since."""
        feed = self._feed
        if feed.keys is None or not self.keeper.stale(now_us) or now_us - self._knocked_us < STALE_US:
            return
        self._knocked_us = now_us
        for socket, endpoint in ((self._live, feed.live), (self._replay, feed.replay)):
            reconnect(socket, endpoint, feed.keys)


class Subscription(_Subscribed):
    """A subscription for a thread of its own."""

    def next(self, timeout_ms: int) -> Delivery | None:
        """Return the next message, or None after `timeout_ms`. Raises a BusError that ends it."""
        deadline_us = _now_us() + timeout_ms * 1_000
        while (delivery := self._work()) is None:
            left_ms = _left_ms(deadline_us)
            if left_ms == 0:
                return None
            _wait((self._live, self._replay), left_ms)
        return delivery

    def __enter__(self) -> Subscription:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncSubscription(_Subscribed):
    """A subscription on an event loop, for one task."""

    async def next(self, timeout_ms: int) -> Delivery | None:
        """Return the next message, or None after `timeout_ms`. Raises a BusError that ends it."""
        deadline_us = _now_us() + timeout_ms * 1_000
        while (delivery := self._work()) is None:
            left_ms = _left_ms(deadline_us)
            if left_ms == 0:
                return None
            await _wait_async((self._live, self._replay), left_ms)
        return delivery

    async def __aiter__(self) -> AsyncIterator[Delivery]:
        while True:
            delivery = await self.next(1_000)
            if delivery is not None:
                yield delivery

    async def __aenter__(self) -> AsyncSubscription:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Commanding:
    """The part both command clients share: one socket, one command at a time."""

    def __init__(
        self,
        endpoint: str,
        actor: str,
        *,
        timeout_ms: int = 1_000,
        keys: ClientKeys | None = None,
        context: zmq.Context[Any] | None = None,
    ) -> None:
        """Connect, with `keys` to any machine. `timeout_ms` is for one attempt. Raises EndpointRefused."""
        self._endpoint = endpoint
        self._actor = actor
        self._timeout_ms = timeout_ms
        self._keys = keys
        self._socket = (context or zmq.Context.instance()).socket(zmq.DEALER)
        try:
            connect(self._socket, endpoint, keys)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the socket; an unanswered command stays unanswered."""
        self._socket.close(linger=0)

    def _request(
        self, command: AnyCommand, round_no: int, request: str | None, pin: str | None, badge: str | None
    ) -> CommandRequest:
        return CommandRequest(request or uuid.uuid4().hex, self._actor, round_no, command, pin, badge)

    def _answer_to(self, request: CommandRequest) -> Answer | None:
        """Return the answer if it has come; late answers to older requests are dropped."""
        for frames in _arrived(self._socket, BATCH):
            answer = _ANSWER.decode(frames[-1])
            if answer.request == request.request:
                return answer
        return None

    def _offer(self, request: CommandRequest, attempt: int) -> None:
        """Send once more, on a fresh connection to a table that may have refused the last one."""
        if attempt > 0 and self._keys is not None:
            reconnect(self._socket, self._endpoint, self._keys)
        _offer(self._socket, encode(request))

    def _unanswered(self, request: CommandRequest) -> NoAnswer:
        return NoAnswer(
            f"{self._endpoint}: no answer to {request.request} in {ATTEMPTS} x {self._timeout_ms} ms; "
            "send it again under the same request id to learn what became of it"
        )


class CommandClient(_Commanding):
    """Sends commands from a thread."""

    def send(
        self,
        command: AnyCommand,
        *,
        round_no: int,
        request: str | None = None,
        pin: str | None = None,
        badge: str | None = None,
    ) -> Answer:
        """Send and return the answer, which may be a refusal. A time-out sends the same id again.

        `request` is a fresh id unless given; `pin` or `badge` go with `LogIn`. Raises NoAnswer.
        """
        asked = self._request(command, round_no, request, pin, badge)
        for attempt in range(ATTEMPTS):
            self._offer(asked, attempt)
            deadline_us = _now_us() + self._timeout_ms * 1_000
            while (left_ms := _left_ms(deadline_us)) > 0:
                _wait((self._socket,), left_ms)
                answer = self._answer_to(asked)
                if answer is not None:
                    return answer
        raise self._unanswered(asked)

    def acknowledge(self, delivery: Delivery) -> Answer | None:
        """Tell the table, on its `consumer` endpoint, that the effect of this message is stored.

        None for a message that ends no round: there is nothing to acknowledge. One acknowledgement covers
        everything before it, so after a start the last one is sent again. Raises NoAnswer.
        """
        ending = ending_of(delivery.envelope)
        return None if ending is None else self.send(ending, round_no=0, request=request_of(ending))


class AsyncCommandClient(_Commanding):
    """Sends commands from an event loop; calls that overlap wait for each other."""

    def __init__(
        self,
        endpoint: str,
        actor: str,
        *,
        timeout_ms: int = 1_000,
        keys: ClientKeys | None = None,
        context: zmq.Context[Any] | None = None,
    ) -> None:
        super().__init__(endpoint, actor, timeout_ms=timeout_ms, keys=keys, context=context)
        self._turn = asyncio.Lock()

    async def send(
        self,
        command: AnyCommand,
        *,
        round_no: int,
        request: str | None = None,
        pin: str | None = None,
        badge: str | None = None,
    ) -> Answer:
        """Send and return the answer, which may be a refusal. A time-out sends the same id again.

        `request` is a fresh id unless given; `pin` or `badge` go with `LogIn`. Raises NoAnswer.
        """
        asked = self._request(command, round_no, request, pin, badge)
        async with self._turn:
            for attempt in range(ATTEMPTS):
                self._offer(asked, attempt)
                deadline_us = _now_us() + self._timeout_ms * 1_000
                while (left_ms := _left_ms(deadline_us)) > 0:
                    await _wait_async((self._socket,), left_ms)
                    answer = self._answer_to(asked)
                    if answer is not None:
                        return answer
        raise self._unanswered(asked)

    async def acknowledge(self, delivery: Delivery) -> Answer | None:
        """Tell the table that the effect of this message is stored; see `CommandClient.acknowledge`."""
        ending = ending_of(delivery.envelope)
        return None if ending is None else await self.send(ending, round_no=0, request=request_of(ending))


def _now_us() -> int:
    return time.monotonic_ns() // 1_000


def _left_ms(deadline_us: int) -> int:
    """Return the time left, rounded up, at most WAIT_MS_MAX."""
    return min(WAIT_MS_MAX, max(0, -(-(deadline_us - _now_us()) // 1_000)))


def _arrived(socket: zmq.Socket[bytes], limit: int) -> list[list[bytes]]:
    """Return what lies in the socket, at most `limit` messages, without waiting."""
    messages: list[list[bytes]] = []
    while len(messages) < limit:
        try:
            messages.append(socket.recv_multipart(zmq.NOBLOCK))
        except zmq.Again:
            break
    return messages


def _offer(socket: zmq.Socket[bytes], request: bytes) -> None:
    """Send unless the peer is away and the pipe full; the retry is due anyway."""
    try:
        socket.send(request, zmq.NOBLOCK)
    except zmq.Again:
        return


def _wait(sockets: Sequence[zmq.Socket[bytes]], timeout_ms: int) -> None:
    poller = zmq.Poller()
    for socket in sockets:
        poller.register(socket, zmq.POLLIN)
    poller.poll(timeout_ms)


async def _wait_async(sockets: Sequence[zmq.Socket[bytes]], timeout_ms: int) -> None:
    """Wait until one of the sockets may have something.

    A socket's descriptor tells only of news since EVENTS was last read, so EVENTS is read first, and
    nothing touches the sockets between that and the waiting (libzmq, zmq_getsockopt(3), ZMQ_FD).
    """
    loop = asyncio.get_running_loop()
    news = asyncio.Event()
    descriptors = [socket.FD for socket in sockets]
    if any(int(socket.getsockopt(zmq.EVENTS)) & zmq.POLLIN for socket in sockets):
        await asyncio.sleep(0)
        return
    for descriptor in descriptors:
        loop.add_reader(descriptor, news.set)
    try:
        async with asyncio.timeout(timeout_ms / 1_000):
            await news.wait()
    except TimeoutError:
        return
    finally:
        for descriptor in descriptors:
            loop.remove_reader(descriptor)


_ANSWER = msgspec.json.Decoder(Answer)
