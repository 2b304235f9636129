"""Command intake: three ROUTER sockets, and the endpoint a command came in by is its right.

An answer leaves only when the station calls back, which it does once the input is durable. What cannot be a
command is refused at once, and so is everything while the table's queue is full.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec
import zmq
import zmq.asyncio

from controller.bus.endpoints import Endpoints, bind
from controller.bus.errors import UNREADABLE
from controller.bus.replay_server import router
from controller.bus.wire import Answer, CommandRequest, Reason, encode, request_named_in

ROLES = ("betting", "operator", "consumer")
"""The command endpoints, each with a right of its own."""
NAMED = "consumer"
"""The endpoint whose `actor` must be the owner of the key: one consumer never acknowledges for another."""
REQUEST_BYTES_MAX = 65_536
ANSWERS_HELD_MAX = 100
"""SNDHWM and RCVHWM per client."""
LINGER_MS = 200

Reply: TypeAlias = Callable[[Answer], None]
"""Called once for each request taken, on the loop, after its input is durable."""
Submit: TypeAlias = Callable[[str, CommandRequest, Reply], bool]
"""Gets the endpoint's role, the request and its reply; returns False when the table's queue is full."""


class CommandIntake:
    """Takes commands on all its endpoints. `run` is a task to supervise; it never returns."""

    def __init__(
        self, endpoints: Endpoints, submit: Submit, *, context: zmq.Context[Any] | None = None
    ) -> None:
        """Bind the endpoints. Raises EndpointRefused; whatever was bound is closed again."""
        self._submit = submit
        self._sockets: dict[str, zmq.asyncio.Socket] = {}
        try:
            for role in ROLES:
                self._sockets[role] = router(context or zmq.Context.instance(), held=ANSWERS_HELD_MAX)
                bind(self._sockets[role], getattr(endpoints, role))
        except BaseException:
            self.close()
            raise

    async def run(self) -> None:
        """Take commands until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for role, socket in self._sockets.items():
                tasks.create_task(self._take(role, socket), name=f"commands {role}")

    @property
    def sockets(self) -> Mapping[str, zmq.asyncio.Socket]:
        """What may get a door: the socket of each role."""
        return {f"commands.{role}": socket for role, socket in self._sockets.items()}

    def close(self) -> None:
        """Close the sockets. Answers that come later are dropped; the client asks again by request id."""
        for socket in self._sockets.values():
            socket.close(linger=LINGER_MS)

    async def _take(self, role: str, socket: zmq.asyncio.Socket) -> None:
        while True:
            *address, frame = await socket.recv_multipart(copy=False)
            reply = _reply_on(socket, [part.bytes for part in address])
            decoded = read_command(role, frame.bytes)
            if isinstance(decoded, CommandRequest) and role == NAMED:
                decoded = check_actor(decoded, _key_name(frame))
            if isinstance(decoded, Answer):
                reply(decoded)
            elif not self._submit(role, decoded, reply):
                reply(Answer(decoded.request, False, Reason.BUSY, "the table's queue is full; send it again"))
            # A flood on one endpoint gives everything else on the loop its turn.
            await asyncio.sleep(0)


def read_command(role: str, raw: bytes) -> CommandRequest | Answer:
    """Read a request, or say what is wrong with it: where, what came, what was expected."""
    if len(raw) > REQUEST_BYTES_MAX:
        text = f"command on {role}: {len(raw)} bytes, expected at most {REQUEST_BYTES_MAX}"
        return Answer("", False, Reason.MALFORMED, text)
    try:
        return _DECODER.decode(raw)
    except UNREADABLE as error:
        return Answer(request_named_in(raw), False, Reason.MALFORMED, f"command on {role}: {error}")


def check_actor(request: CommandRequest, key: str | None) -> CommandRequest | Answer:
    """Refuse what a key says under another consumer's name. `key` is its name, None for a local socket.

    What follows a dot tells the keys of one consumer apart: `wallet.2` is a second one of `wallet`.
    """
    owner = request.actor if key is None else key.partition(".")[0]
    if request.actor == owner:
        return request
    text = f"actor: got {request.actor!r}, expected {owner!r}, whose key this is; each consumer has its own"
    return Answer(request.request, False, Reason.FOREIGN_ACTOR, text)


def _key_name(frame: zmq.Frame) -> str | None:
    """Return what the ZAP handler calls the key that a frame came with; None where there are no keys."""
    try:
        return str(frame.get("User-Id"))
    except zmq.ZMQError:
        return None


def _reply_on(socket: zmq.asyncio.Socket, address: Sequence[bytes]) -> Reply:
    def reply(answer: Answer) -> None:
        if not socket.closed:
            # ROUTER drops for a client that has gone or does not read, so this is done when it returns.
            socket.send_multipart([*address, encode(answer)], flags=zmq.NOBLOCK)

    return reply


_DECODER = msgspec.json.Decoder(CommandRequest)
