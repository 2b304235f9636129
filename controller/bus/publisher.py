"""The live feeds: one PUB socket an audience, and the conflating picture for the pages of this machine.

Sends never wait. A subscriber that does not keep up loses messages, sees it by their numbers, and
fetches them from the replay server. Every frame is one message, or one `alive`, without a topic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import zmq

from controller.bus.endpoints import Endpoints, bind
from controller.bus.envelope import Environment, Heads, message_hash, source_of
from controller.bus.wire import Alive, encode
from controller.table.events import AUDIENCES, Audience, BettingOpened, DecisionOpened

LINGER_MS = 200
"""How long a close waits for slow subscribers; well inside the two seconds after SIGTERM."""


class OpenWindow(msgspec.Struct, frozen=True):
    """The window that is open, and the audiences that have heard of it."""

    window: str
    closes_at_us: int
    audiences: frozenset[Audience]

    @classmethod
    def of(cls, event: BettingOpened | DecisionOpened) -> OpenWindow:
        """Return the window that `event` opened."""
        return cls(event.window, event.closes_at_us, event.audiences)


class Pulse(msgspec.Struct, frozen=True, kw_only=True):
    """What `alive` says beyond numbers and hashes."""

    at_us: int
    epoch: int
    phase: str
    window: OpenWindow | None = None


class Publisher:
    """Sends what is durable. `heads` are those of the last durable messages, which are not sent again."""

    def __init__(
        self,
        endpoints: Endpoints,
        *,
        source: tuple[str, Environment],
        heads: Heads,
        send_limit: int = 1_000,
        context: zmq.Context[Any] | None = None,
    ) -> None:
        """Bind all feeds. `source` is table and environment; `send_limit` is SNDHWM, per subscriber.

        Raises EndpointRefused; whatever was bound is closed again.
        """
        self.table = source[0]
        self.source = source_of(*source)
        self._last = {audience: (heads.of(audience).seq, heads.of(audience).hash) for audience in AUDIENCES}
        self.full_counts: dict[str, int] = dict.fromkeys(AUDIENCES, 0)
        """How often a subscriber of each audience began to lose messages."""
        self._picture = b""
        self._sockets: dict[str, zmq.Socket[bytes]] = {}
        self._context = context or zmq.Context.instance()
        try:
            for audience in AUDIENCES:
                self._sockets[audience] = self._bound(endpoints.live[audience], zmq.SNDHWM, send_limit)
            self._sockets["picture"] = self._bound(endpoints.picture, zmq.CONFLATE, 1)
        except BaseException:
            self.close()
            raise

    def publish(self, messages: Mapping[Audience, Sequence[bytes]]) -> None:
        """Send durable messages, next in number to those sent before. Never waits, never fails for a peer."""
        for audience, built in messages.items():
            for raw in built:
                self._send(audience, raw)
            if built:
                self._last[audience] = (self._last[audience][0] + len(built), message_hash(built[-1]))

    def _send(self, audience: Audience, raw: bytes) -> None:
        """Send to all who keep up, and count when another one stops doing so.

        XPUB_NODROP refuses a message once for each subscriber whose queue has filled up; without it, the
        same message then goes to all others.
        """
        socket = self._sockets[audience]
        try:
            socket.send(raw, zmq.NOBLOCK)
        except zmq.Again:
            self.full_counts[audience] += 1
            socket.setsockopt(zmq.XPUB_NODROP, 0)
            socket.send(raw, zmq.NOBLOCK)
            socket.setsockopt(zmq.XPUB_NODROP, 1)

    def alive(self, pulse: Pulse) -> None:
        """Send `alive` to every audience, and the last picture again. Due each second, and after a bind."""
        for audience in AUDIENCES:
            self._send(audience, encode(self._alive(audience, pulse)))
        if self._picture:
            self._sockets["picture"].send(self._picture, zmq.NOBLOCK)

    def picture(self, raw: bytes) -> None:
        """Show the pages of this machine the table; they get the newest one, not each one."""
        self._picture = raw
        self._sockets["picture"].send(raw, zmq.NOBLOCK)

    @property
    def sockets(self) -> Mapping[str, zmq.Socket[bytes]]:
        """What may get a door: the live feed of each audience."""
        return {f"live.{audience}": self._sockets[audience] for audience in AUDIENCES}

    def close(self) -> None:
        """Close all feeds; what slow subscribers have not taken within LINGER_MS is dropped."""
        for socket in self._sockets.values():
            socket.close(linger=LINGER_MS)
        self._sockets.clear()

    def _bound(self, endpoint: str, option: int, value: int) -> zmq.Socket[bytes]:
        socket: zmq.Socket[bytes] = self._context.socket(zmq.PUB)
        try:
            socket.setsockopt(option, value)
            socket.setsockopt(zmq.XPUB_NODROP, option != zmq.CONFLATE)
            bind(socket, endpoint)
        except BaseException:
            socket.close(linger=0)
            raise
        return socket

    def _alive(self, audience: Audience, pulse: Pulse) -> Alive:
        seq, hashed = self._last[audience]
        window = pulse.window
        if window is not None and audience not in window.audiences:
            window = None
        return Alive(
            alive=self.table,
            source=self.source,
            epoch=pulse.epoch,
            seq=seq,
            hash=hashed,
            phase=pulse.phase,
            at_us=pulse.at_us,
            window=window.window if window else None,
            closes_at_us=window.closes_at_us if window else None,
        )
