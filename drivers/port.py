"""One serial port: opened, read, closed at once on any fault, and opened again for as long as it takes.

The only user of pyserial. The measured facts behind it are in the hardware notes, sections 8 and 9. The
descriptor is read by the event loop where the loop can do that, else by one thread that is watched.
"""

from __future__ import annotations

import asyncio
import errno
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import serial
from serial.tools.list_ports import comports

from drivers.contract import Clock, SerialSettings

READ_MAX = 4096
RETRY_FIRST_US = 200_000
RETRY_LAST_US = 5_000_000
THREAD_WAKE_S = 0.5
"""How long the reading thread may miss that it should stop, where cancel_read does not reach it."""
CHUNKS_WAITING_MAX = 64

FAULTS: tuple[type[Exception], ...] = (serial.SerialException, OSError, TypeError)
"""What a dead port raises, by call; TypeError comes out of a read whose port was closed under it."""
if sys.platform != "win32":
    import termios

    FAULTS = (*FAULTS, termios.error)

NOTHING_READ = (
    "ready to read but gave no bytes; expected data: the device was unplugged, or another program reads "
    "the port; check the cable, stop the other program"
)


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
    """A port by its stable name. `run` is the whole life; everything else is for the owner's loop."""

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
        self._line: _Line | None = None
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
                device = self._open()
            except FAULTS as fault:
                self._tell_lost(self._describe_open(fault))
            else:
                reason = await self._serve(device)
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

    def _open(self) -> serial.Serial:
        # Everything in the constructor: a later change of an attribute fails on a pty after parity.
        is_pty = self._node().startswith("/dev/pts/")
        return serial.Serial(
            port=self.path,
            baudrate=self.settings.baud,
            bytesize=self.settings.bytesize,
            parity=serial.PARITY_NONE if is_pty else self.settings.parity,
            stopbits=self.settings.stopbits,
            timeout=THREAD_WAKE_S,
            write_timeout=THREAD_WAKE_S,
            exclusive=True,
        )

    def _node(self) -> str:
        return os.path.realpath(self.path)

    async def _serve(self, device: serial.Serial) -> str:
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
            self._listener.opened(self._node(), identify(self._node()))
            line.start()
            either: set[asyncio.Future[Any]] = {settling, line.ended}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if settling.done():
                settling.result()
            return await line.ended
        finally:
            self._line = None
            settling.cancel()
            line.stop()
            close_quietly(device)

    async def _settle(self, line: _Line) -> None:
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
            expected = "expected to be its only user: another program holds the lock"
            advice = f"stop that program (`fuser -v {self.path}` names it); this port then opens by itself"
        elif code == errno.ENOENT:
            expected = "expected a device of that name"
            advice = "plug it in, or correct the path; this port then opens by itself"
        elif code == errno.EACCES:
            expected = "expected permission to read and write"
            advice = "add the user of this program to the group that owns the device"
        else:
            expected = "expected a serial port that opens"
            advice = "check the device and the path"
        return f"{self.name}: {self.path}: cannot open: got {fault}; {expected}; {advice}"


class _Line:
    """An open device being read by the event loop through its descriptor."""

    def __init__(self, device: serial.Serial, receive: Callable[[bytes], None]) -> None:
        self._device = device
        self._receive = receive
        self._loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[str] = self._loop.create_future()
        """Resolves to why the line is dead; fails with the exception when a listener has a bug."""

    def start(self) -> None:
        """Begin to read; every chunk goes to `receive` on the loop."""
        self._loop.add_reader(self._device.fileno(), self._read_ready)

    def stop(self) -> None:
        """End reading; nothing reaches `receive` after this."""
        self._loop.remove_reader(self._device.fileno())

    def drain(self) -> None:
        """Deliver what the operating system holds already, at most one full buffer."""
        try:
            data = os.read(self._device.fileno(), READ_MAX)
        except BlockingIOError:
            return
        except FAULTS as fault:
            self.end(describe_read(fault))
            return
        if data:
            self.deliver(data)

    def write(self, data: bytes) -> int:
        """Send without waiting; returns how many bytes were taken."""
        return os.write(self._device.fileno(), data)

    def end(self, reason: str) -> None:
        """Declare the line dead."""
        if not self.ended.done():
            self.ended.set_result(reason)

    def deliver(self, data: bytes) -> None:
        """Pass data on; a bug in the receiver must end the port's task, not vanish in the loop."""
        if self.ended.done():
            return
        try:
            self._receive(data)
        except Exception as bug:
            self.ended.set_exception(bug)

    def _read_ready(self) -> None:
        try:
            data = os.read(self._device.fileno(), READ_MAX)
        except BlockingIOError:
            return
        except FAULTS as fault:
            self.end(describe_read(fault))
            self.stop()
            return
        if data:
            self.deliver(data)
        else:
            self.end(NOTHING_READ)
            self.stop()


class _ThreadLine(_Line):
    """An open device being read by a thread, where the loop cannot watch descriptors."""

    def __init__(self, device: serial.Serial, receive: Callable[[bytes], None]) -> None:
        super().__init__(device, receive)
        self._stopping = threading.Event()
        self._slots = threading.BoundedSemaphore(CHUNKS_WAITING_MAX)
        self._thread = threading.Thread(target=self._read_all, name=f"read {device.port}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.ident is not None:
            self._device.cancel_read()
            self._thread.join()

    def drain(self) -> None:
        """Do nothing: the thread reads without pause, and what it has read is on its way to the loop."""

    def write(self, data: bytes) -> int:
        return int(self._device.write(data))

    def _read_all(self) -> None:
        try:
            while not self._stopping.is_set():
                data = self._device.read(1)
                if data:
                    self._hand_over(data + self._device.read(min(self._device.in_waiting, READ_MAX - 1)))
        except FAULTS as fault:
            self._loop.call_soon_threadsafe(self.end, describe_read(fault))
        except BaseException as bug:
            self._loop.call_soon_threadsafe(self._crash, bug)

    def _hand_over(self, data: bytes) -> None:
        """Queue a chunk for the loop; with the queue full, wait and let the device's buffer fill up."""
        while not self._stopping.is_set():
            if self._slots.acquire(timeout=THREAD_WAKE_S):
                self._loop.call_soon_threadsafe(self._take_over, data)
                return

    def _take_over(self, data: bytes) -> None:
        self._slots.release()
        if not self._stopping.is_set():
            self.deliver(data)

    def _crash(self, bug: BaseException) -> None:
        if not self.ended.done():
            self.ended.set_exception(bug)


def open_line(device: serial.Serial, receive: Callable[[bytes], None]) -> _Line:
    """Choose how to read `device`: by its descriptor if the running loop can watch it, else by a thread."""
    loop = asyncio.get_running_loop()
    try:
        loop.add_reader(device.fileno(), lambda: None)
        loop.remove_reader(device.fileno())
    except (NotImplementedError, OSError):
        # io.UnsupportedOperation, from a port without a descriptor, is an OSError as well.
        return _ThreadLine(device, receive)
    return _Line(device, receive)


def describe_read(fault: Exception) -> str:
    """Say what a failed read means to the people at the table."""
    return f"read failed: got {fault!r}, expected data: the device was unplugged or reset; check the cable"


def identify(node: str) -> str | None:
    """Return what tells the device at `node` from others of its kind, on one line; None for a pty, say.

    Its serial number where it has one, else the socket that it is plugged into, behind maker and product.
    """
    for found in comports():
        if node in (found.device, os.path.realpath(found.device)) and found.vid is not None:
            which = found.serial_number or f"at {found.location}"
            return " ".join(f"{found.vid:04x}:{found.pid:04x} {which}".split())
    return None


def close_quietly(device: serial.Serial) -> None:
    """Close at once: a descriptor left open keeps the node's name from coming back after a replug."""
    try:
        device.close()
    except FAULTS:
        # pyserial forgets its descriptor only when it could close it; nothing else is left to try.
        return
