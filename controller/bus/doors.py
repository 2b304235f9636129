"""Doors: the TCP endpoints by which a table's sockets leave the machine, each with CURVE and ZAP.

A socket keeps its local endpoint and gets a door beside it: options count for the binds that come after
them, so the door alone has keys. Key and allow-list are looked at four times a second. Who loses a role
loses the connection: its doors are bound anew, which ends all connections there and leaves the local ones.
"""

from __future__ import annotations

import asyncio
import errno
import logging
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import zmq
import zmq.asyncio
from zmq.utils.monitor import parse_monitor_message

from controller.bus.allowed import AllowList, read_allowed, role_of
from controller.bus.endpoints import check_served
from controller.bus.errors import EndpointRefused, KeyFileUnusable
from controller.bus.keys import BusKeys, read_pair
from controller.bus.refusals import Refusal, Refusals
from controller.bus.replay_server import FRAME_BYTES_MAX
from controller.bus.zap import ZapHandler

LOOK_S = 0.25
TELL_S = 1.0
HANDSHAKE_MS = 5_000
"""A peer that has not come in by then is cut off."""
RELEASE_WAIT_S = 0.01
RELEASE_TRIES = 10
LOOKS_TOLD = 10
"""So many looks at a door that can't be bound again are one line in the log."""
UNSEEN = zmq.Event.HANDSHAKE_FAILED_NO_DETAIL | zmq.Event.HANDSHAKE_FAILED_PROTOCOL
"""Handshakes that fail before ZAP is asked, or because nobody answers it: libzmq tells no address."""

log = logging.getLogger("bus")


class _Door(NamedTuple):
    socket: zmq.Socket[Any]
    endpoint: str
    monitor: zmq.asyncio.Socket


class Doors:
    """All doors of one table. `run` is a task to supervise; it never returns."""

    def __init__(
        self,
        keys: BusKeys,
        sockets: Mapping[str, zmq.Socket[Any]],
        *,
        on_rebound: Callable[[], None],
        context: zmq.Context[Any] | None = None,
    ) -> None:
        """Give `sockets` their doors. `on_rebound` is called when doors have been bound anew: `alive` is due,
        for the first message after that is lost to everybody.

        Raises KeyFileUnusable, EndpointRefused; whatever was opened is closed again.
        """
        self._keys = keys
        self._context = context or zmq.Context.instance()
        self._on_rebound = on_rebound
        self._seen = self._look()
        self._pair = read_pair(keys.key)
        self._allowed = read_allowed(keys.allowed)
        self.refusals = Refusals()
        self._zap = ZapHandler(lambda: self._allowed, self.refusals, context=self._context)
        self._doors: dict[str, _Door] = {}
        self._shut: dict[str, int] = {}
        try:
            for name, endpoint in keys.doors.items():
                self._open(name, endpoint, sockets)
        except BaseException:
            self.close()
            raise

    async def run(self) -> None:
        """Answer ZAP, count what fails without it, and follow key and allow-list until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._zap.run(), name="zap")
            tasks.create_task(self._follow(), name="keys")
            tasks.create_task(self._tell(), name="refusals")
            for name, door in self._doors.items():
                tasks.create_task(self._count(name, door.monitor), name=f"door {name}")

    def close(self) -> None:
        """Stop letting anybody in. The sockets are their owners' to close."""
        self._zap.close()
        for door in self._doors.values():
            if not door.socket.closed:
                door.socket.disable_monitor()
            door.monitor.close(linger=0)
        self._doors.clear()
        self.refusals.tell()

    def _open(self, name: str, endpoint: str, sockets: Mapping[str, zmq.Socket[Any]]) -> None:
        check_served(endpoint)
        if name not in sockets:
            raise EndpointRefused(f"{name}: is no socket of a table; there are {', '.join(sockets)}")
        socket = sockets[name]
        place = f"inproc://refused.{id(self)}.{name}"
        socket.monitor(place, UNSEEN)
        monitor = zmq.asyncio.Socket(self._context, zmq.PAIR)
        self._doors[name] = _Door(socket, endpoint, monitor)
        monitor.connect(place)
        try:
            self._bind(name)
        except zmq.ZMQError as error:
            raise EndpointRefused(f"{endpoint}: cannot bind {name}: {error}") from error

    def _bind(self, name: str) -> None:
        """Set what makes the next bind one with keys, and bind."""
        socket, endpoint, _ = self._doors[name]
        socket.setsockopt(zmq.CURVE_SERVER, 1)
        socket.setsockopt(zmq.CURVE_SECRETKEY, self._pair.secret.encode())
        socket.setsockopt(zmq.ZAP_DOMAIN, role_of(name).encode())
        socket.setsockopt(zmq.ZAP_ENFORCE_DOMAIN, 1)
        socket.setsockopt(zmq.HANDSHAKE_IVL, HANDSHAKE_MS)
        socket.setsockopt(zmq.MAXMSGSIZE, FRAME_BYTES_MAX)
        socket.setsockopt(zmq.IPV6, "[" in endpoint)
        socket.bind(endpoint)
        # A bind may take the news of a message from the descriptor; reading EVENTS wakes an asyncio socket.
        socket.getsockopt(zmq.EVENTS)

    # Keys that change while the table runs.

    async def _follow(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            seen = self._look()
            if seen != self._seen:
                self._seen = seen
                await self._take_over()
            elif self._shut:
                await self._open_again()

    def _look(self) -> tuple[object, ...]:
        """Return what changes when one of the files does."""
        return tuple(map(_state_of, (self._keys.key, self._keys.allowed)))

    async def _take_over(self) -> None:
        """Go by the files as they are now. The list counts before a door is bound anew."""
        pair, allowed = self._pair, self._allowed
        try:
            self._pair = read_pair(self._keys.key)
        except KeyFileUnusable as error:
            log.error("the table goes on with the key it has", extra={"facts": {"error": str(error)}})
        try:
            self._allowed = read_allowed(self._keys.allowed)
        except KeyFileUnusable as error:
            self._allowed = AllowList()
            log.error("nobody is allowed any more", extra={"facts": {"error": str(error)}})
        log.info("keys taken over", extra={"facts": {"allowed": sorted(self._allowed.keys)}})
        await self._rebind(
            [
                name
                for name in self._doors
                if pair != self._pair or allowed.may(role_of(name)) - self._allowed.may(role_of(name))
            ]
        )

    async def _rebind(self, names: Iterable[str]) -> None:
        """End all connections at these doors; what waits for their peers is dropped."""
        for name in set(names) - self._shut.keys():
            self._doors[name].socket.unbind(self._doors[name].endpoint)
            self._shut[name] = 0
        await self._open_again()

    async def _open_again(self) -> None:
        """Bind what was shut. libzmq lets go of a port in the background, 1 to 3 ms later.

        A door that another process has meanwhile stays shut, and is tried with each look: keys of the others
        are followed all the same.
        """
        opened: list[str] = []
        for name in sorted(self._shut):
            for _ in range(RELEASE_TRIES):
                if self._is_bound_again(name):
                    del self._shut[name]
                    opened.append(name)
                    break
                await asyncio.sleep(RELEASE_WAIT_S)
            else:
                self._tell_shut(name)
        if opened:
            log.warning("doors bound anew", extra={"facts": {"doors": opened}})
            self._on_rebound()

    def _tell_shut(self, name: str) -> None:
        if self._shut[name] % LOOKS_TOLD == 0:
            facts = {"door": name, "endpoint": self._doors[name].endpoint}
            log.error("another process has a door", extra={"facts": facts})
        self._shut[name] += 1

    def _is_bound_again(self, name: str) -> bool:
        try:
            self._bind(name)
        except zmq.ZMQError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            return False
        return True

    # What is refused.

    async def _tell(self) -> None:
        while True:
            await asyncio.sleep(TELL_S)
            self.refusals.tell()

    async def _count(self, name: str, monitor: zmq.asyncio.Socket) -> None:
        while True:
            told = parse_monitor_message(await monitor.recv_multipart())
            self.refusals.add(Refusal(door=name, reason=_libzmq_reason(told["event"], int(told["value"]))))


def _state_of(path: Path) -> object:
    try:
        found = path.stat()
    except OSError as error:
        return error.errno
    return found.st_mtime_ns, found.st_ino, found.st_size, found.st_mode


def _libzmq_reason(event: int, value: int) -> str:
    """Name a failed handshake as libzmq does: its protocol error, or the system's."""
    if event == zmq.Event.HANDSHAKE_FAILED_PROTOCOL:
        return zmq.Event(value).name or f"PROTOCOL_ERROR {value:#x}"
    return f"NO_DETAIL {errno.errorcode.get(value, value)}"
