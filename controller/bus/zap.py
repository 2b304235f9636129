"""The ZAP handler (RFC 27): libzmq asks it about every peer that wants in at an endpoint with keys.

It answers by the allow-list alone. pyzmq's authenticator tells its callback neither the peer's address nor
why it is asked, and lets peers without CURVE in by default; so this is our own. An endpoint enforces its
domain: with no handler, or one that does not answer, nobody gets in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

import zmq
import zmq.asyncio
from zmq.utils import z85

from controller.bus.allowed import AllowList
from controller.bus.errors import EndpointRefused
from controller.bus.refusals import Refusal, Refusals

ADDRESS = "inproc://zeromq.zap.01"
VERSION = b"1.0"
CURVE = b"CURVE"
CURVE_KEY_BYTES = 32
REQUEST_FRAMES = 6
"""Version, request id, domain, address, identity, mechanism; then what the mechanism shows."""
YES, NO, BROKEN = b"200", b"400", b"500"


class Reason(StrEnum):
    """Why the handler lets a peer not in."""

    NO_CURVE = "NO_CURVE"
    UNKNOWN_KEY = "UNKNOWN_KEY"
    WRONG_ROLE = "WRONG_ROLE"
    MALFORMED = "MALFORMED"


class Peer(NamedTuple):
    """A peer as ZAP shows it; `key` is its public key, None when it has shown none."""

    domain: str
    address: str
    key: str | None


class ZapHandler:
    """Answers for all sockets of one context. `run` is a task to supervise; it never returns."""

    def __init__(
        self, allowed: Callable[[], AllowList], refusals: Refusals, *, context: zmq.Context[Any]
    ) -> None:
        """Take the place of the handler. Raises EndpointRefused when the context has one already."""
        self._allowed = allowed
        self._refusals = refusals
        self._socket = zmq.asyncio.Socket(context, zmq.REP)
        try:
            self._socket.bind(ADDRESS)
        except zmq.ZMQError as error:
            self._socket.close(linger=0)
            raise EndpointRefused(f"{ADDRESS}: {error}: another table in this process has keys") from error

    async def run(self) -> None:
        """Answer until cancelled."""
        while True:
            frames = await self._socket.recv_multipart()
            await self._socket.send_multipart(self.answer(frames))

    def answer(self, frames: Sequence[bytes]) -> list[bytes]:
        """Return the reply to one request; a refusal is counted."""
        request = frames[1] if len(frames) > 1 else b""
        peer = _peer(frames)
        if peer is None:
            self._refusals.add(Refusal(door="", reason=Reason.MALFORMED))
            return [VERSION, request, BROKEN, b"not a request of ZAP 1.0", b"", b""]
        name, reason = _judge(peer, self._allowed())
        if reason is None:
            return [VERSION, request, YES, b"OK", name.encode(), b""]
        refusal = Refusal(door=peer.domain, reason=reason, address=peer.address, name=name or None)
        self._refusals.add(refusal, peer.key)
        return [VERSION, request, NO, reason.encode(), b"", b""]

    def close(self) -> None:
        """Leave the place; from here on nobody gets in."""
        self._socket.close(linger=0)


def _peer(frames: Sequence[bytes]) -> Peer | None:
    """Read a request; None when it is none."""
    if len(frames) < REQUEST_FRAMES or frames[0] != VERSION:
        return None
    _, _, domain, address, _, mechanism, *shown = frames
    has_key = mechanism == CURVE and len(shown) == 1 and len(shown[0]) == CURVE_KEY_BYTES
    key = z85.encode(shown[0]).decode() if has_key else None
    return Peer(domain.decode("ascii", "replace"), address.decode("ascii", "replace"), key)


def _judge(peer: Peer, allowed: AllowList) -> tuple[str, Reason | None]:
    """Return whose key it is (empty: nobody's), and why the peer stays out (None: it may come in)."""
    if peer.key is None:
        return "", Reason.NO_CURVE
    name = allowed.holder_of(peer.key)
    if name is None:
        return "", Reason.UNKNOWN_KEY
    # A domain that is no role is no endpoint of a table.
    return name, None if peer.domain in allowed.keys[name].roles else Reason.WRONG_ROLE
