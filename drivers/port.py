"""One serial port: opened, read, closed at once on any fault, and opened again for as long as it takes.

The only user of pyserial, with `port_lines`. The measured facts behind it are in the hardware notes, sections
8 and 9. Names of ports are in `port_names`.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import serial
from serial.tools.list_ports import comports

from drivers.contract import Clock, SerialSettings
from drivers.holders import find_holders, find_lockers, holder_of
from drivers.port_lines import FAULTS, NOTHING_READ, THREAD_WAKE_S, Line, close_quietly, open_line
from drivers.port_names import USB, FoundPort, find_node, is_socket

RETRY_FIRST_US = 200_000
RETRY_LAST_US = 5_000_000
BY_ID = Path("/dev/serial/by-id")
PEER_CLOSED = "the other end closed the connection; expected data: check the device server"


class Listener(Protocol):
    """Who gets what a port has to tell, on the event loop. An exception from here ends `Port.run`."""

    def opened(self, device: str, identity: str | None) -> None:
        """The port is open; `device` is the node behind its name, another one after a replug.

        `identity` is what `identify` says of the device itself.
        """

    def chunk(self, data: bytes) -> None:
        """Bytes came in just now; the receiver stamps them."""

    def stale(self, data: bytes) -> None:
        """Bytes came in while the line settled after an open; they must never become a read."""

    def lost(self, reason: str) -> None:
        """The port is not open. Told once for every new reason until it is open again."""


class Port:
    """A port by its stable name (`port_names`). `run` is the whole life; the rest is for the owner's loop."""

    def __init__(
        self, name: str, path: str | Path, *, settings: SerialSettings, listener: Listener, clock: Clock
    ) -> None:
        self.name = name
        self.path = str(path)
        self.settings = settings
        self.received_count = 0
        """Bytes read since construction, stale ones too."""
        self.sent_count = 0
        """Bytes that the line took since construction."""
        self._listener = listener
        self._clock = clock
        self._line: Line | None = None
        self._settled = False
        self._retry_us = RETRY_FIRST_US
        self._told: str | None = None

    @property
    def is_ready(self) -> bool:
        """Whether the port is open and settled, so that what comes in now is read."""
        return self._line is not None and self._settled

    async def run(self) -> None:
        """Keep the port open until cancelled; closes it then. Faults of the device never end this."""
        while True:
            try:
                node = self._node()
                device = await self._open(node)
            except FAULTS as fault:
                self._tell_lost(self._describe_open(fault))
            else:
                reason = await self._serve(device, node)
                self._tell_lost(f"{self.name}: {self.path}: {reason}")
                if self._settled:
                    self._retry_us = RETRY_FIRST_US
            await self._clock.sleep_until(self._clock.now_us() + self._retry_us)
            self._retry_us = min(2 * self._retry_us, RETRY_LAST_US)

    def write(self, data: bytes) -> bool:
        """Send `data`, or drop it and return False when the line is down or takes no more."""
        if self._line is None or not data:
            return False
        try:
            taken_count = self._line.write(data)
        except FAULTS as fault:
            self._line.end(f"write failed: got {fault!r}, expected {len(data)} bytes taken; check the cable")
            return False
        self.sent_count += taken_count
        if taken_count < len(data):
            self._line.end(
                f"write: got {taken_count} bytes taken, expected {len(data)}: the device does not listen"
            )
            return False
        return True

    def _node(self) -> str:
        """Return what the name stands for now. Raises OSError when it is nothing, or not one thing."""
        if is_socket(self.path):
            return self.path
        return os.path.realpath(
            find_node(self.path, list_ports()) if self.path.startswith(USB) else self.path
        )

    async def _open(self, node: str) -> serial.Serial:
        if not is_socket(node):
            return self._open_device(node)
        # To connect may take seconds, in which the table goes on.
        opening = asyncio.get_running_loop().run_in_executor(None, self._open_socket)
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(_close_unwanted)
            raise

    def _open_device(self, node: str) -> serial.Serial:
        # Everything in the constructor: a later change of an attribute fails on a pty after parity.
        is_pty = node.startswith("/dev/pts/")
        device = serial.Serial(
            port=node,
            baudrate=self.settings.baud,
            bytesize=self.settings.bytesize,
            parity=serial.PARITY_NONE if is_pty else self.settings.parity,
            stopbits=self.settings.stopbits,
            timeout=THREAD_WAKE_S,
            write_timeout=THREAD_WAKE_S,
            exclusive=True,
        )
        ask_low_latency(device)
        return device

    def _open_socket(self) -> serial.Serial:
        device = serial.serial_for_url(self.path, timeout=THREAD_WAKE_S)
        try:
            notice_dead_peer(device.fileno())
        except FAULTS:
            close_quietly(device)
            raise
        return device

    async def _serve(self, device: serial.Serial, node: str) -> str:
        """Read `device` until it fails, close it, and return why it failed."""
        self._told = None
        self._settled = self.settings.settle_ms == 0
        try:
            line = open_line(device, self._receive)
        except BaseException:
            close_quietly(device)
            raise
        settling = asyncio.ensure_future(self._settle(line))
        try:
            self._line = line
            self._listener.opened(node, identify(node))
            line.start()
            either: set[asyncio.Future[Any]] = {settling, line.ended}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if settling.done():
                settling.result()
            reason = await line.ended
            return describe_silence(node) if reason == NOTHING_READ else reason
        finally:
            self._line = None
            settling.cancel()
            line.stop()
            close_quietly(device)

    async def _settle(self, line: Line) -> None:
        if self._settled:
            return
        await self._clock.sleep_until(self._clock.now_us() + self.settings.settle_ms * 1000)
        # What came in while the line settled and is not read yet is as stale as the rest.
        line.drain()
        self._settled = True

    def _receive(self, data: bytes) -> None:
        self.received_count += len(data)
        if self._settled:
            self._listener.chunk(data)
        else:
            self._listener.stale(data)

    def _tell_lost(self, reason: str) -> None:
        if reason != self._told:
            self._told = reason
            self._listener.lost(reason)

    def _describe_open(self, fault: Exception) -> str:
        code = getattr(fault, "errno", None)
        if code in (errno.EAGAIN, errno.EWOULDBLOCK):
            expected, advice = self._describe_lock()
        elif code == errno.ENOENT:
            expected = "expected a device of that name"
            advice = "plug it in, or correct the name (`tablectl ports`); this port then opens by itself"
        elif code == errno.ENOTUNIQ:
            expected = "expected one device"
            advice = "give the serial number or the location too (`tablectl ports` shows them)"
        elif code == errno.EACCES:
            expected = "expected permission to read and write"
            advice = "add the user of this program to the group that owns the device"
        elif is_socket(self.path):
            expected = "expected a device server that takes the connection"
            advice = "check its power, the network and the name; this port then opens by itself"
        else:
            expected = "expected a serial port that opens"
            advice = "check the device and the path"
        return f"{self.name}: {self.path}: cannot open: got {_word_of(fault)}; {expected}; {advice}"

    def _describe_lock(self) -> tuple[str, str]:
        expected = "expected to be its only user"
        try:
            holders = find_lockers(self._node()) or find_holders(self._node())
        except OSError:
            holders = ()  # It was unplugged since.
        if not holders:
            unseen = "another program holds the lock, which this user may not see"
            return f"{expected}: {unseen}", f"`sudo fuser -v {self.path}` names it; stop it"
        names = ", ".join(map(str, holders))
        return f"{expected}: {names} holds it", "stop that program; this port then opens by itself"


class OpenPort(Protocol):
    """What opens the ports of a station: `Port`, unless its devices are in this process."""

    def __call__(
        self, name: str, path: str | Path, *, settings: SerialSettings, listener: Listener, clock: Clock
    ) -> Port: ...


def describe_silence(node: str) -> str:
    """Say why there was something to read and then nothing: whoever has the port open too has taken it."""
    if is_socket(node):
        return PEER_CLOSED
    other = holder_of(node)
    return NOTHING_READ if other is None else f"{NOTHING_READ}: {other} has it open too"


def ask_low_latency(device: serial.Serial) -> None:
    """Have a USB adapter pass bytes on at once instead of after 16 ms, where its driver can."""
    with suppress(ValueError, OSError, NotImplementedError):  # A pty, or an adapter that has no such mode.
        device.set_low_latency_mode(True)


def notice_dead_peer(descriptor: int) -> None:
    """Have a connection fail within two seconds when the other end is gone without a word."""
    with socket.socket(fileno=os.dup(descriptor)) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in (("TCP_KEEPIDLE", 1), ("TCP_KEEPINTVL", 1), ("TCP_KEEPCNT", 1)):
            if hasattr(socket, option):
                connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


def _close_unwanted(opening: asyncio.Future[serial.Serial]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        close_quietly(opening.result())


def _word_of(fault: Exception) -> str:
    """Return what the system says: pyserial wraps it in the path, twice, and the message has that already."""
    code = getattr(fault, "errno", None)
    if code is not None and "could not open port" in str(fault):
        return f"[Errno {code}] {os.strerror(code)}"
    return str(fault)


def list_ports() -> list[FoundPort]:
    """Return the serial ports of this machine, in the order of their nodes."""
    links = [(str(link), os.path.realpath(link)) for link in (BY_ID.iterdir() if BY_ID.is_dir() else ())]
    return [
        FoundPort(
            node=found.device,
            usb=None if found.vid is None else (found.vid, found.pid),
            serial_number=found.serial_number,
            location=found.location,
            description=" ".join(filter(None, (found.manufacturer, found.product))),
            links=tuple(sorted(link for link, node in links if node == os.path.realpath(found.device))),
        )
        for found in sorted(comports())
    ]


def identify(node: str) -> str | None:
    """Return what tells the device at `node` from others of its kind, on one line; None for a pty, say.

    Its serial number where it has one, else the socket that it is plugged into, behind maker and product.
    """
    for found in comports():
        if node in (found.device, os.path.realpath(found.device)) and found.vid is not None:
            which = found.serial_number or f"at {found.location}"
            return " ".join(f"{found.vid:04x}:{found.pid:04x} {which}".split())
    return None
