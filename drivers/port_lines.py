"""One open device being read: by the event loop through its descriptor, or by one thread that is watched."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable

import serial

READ_MAX = 4096
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


class Line:
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


class ThreadLine(Line):
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
            if hasattr(self._device, "cancel_read"):  # A socket has none; its read ends by its time-out.
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


def open_line(device: serial.Serial, receive: Callable[[bytes], None]) -> Line:
    """Choose how to read `device`: by its descriptor if the running loop can watch it, else by a thread."""
    loop = asyncio.get_running_loop()
    try:
        loop.add_reader(device.fileno(), lambda: None)
        loop.remove_reader(device.fileno())
    except (NotImplementedError, OSError):
        # io.UnsupportedOperation, from a port without a descriptor, is an OSError as well.
        return ThreadLine(device, receive)
    return Line(device, receive)


def describe_read(fault: Exception) -> str:
    """Say what a failed read means to the people at the table."""
    return f"read failed: got {fault!r}, expected data: the device was unplugged or reset; check the cable"


def close_quietly(device: serial.Serial) -> None:
    """Close at once: a descriptor left open keeps the node's name from coming back after a replug."""
    try:
        device.close()
    except FAULTS:
        # pyserial forgets its descriptor only when it could close it; nothing else is left to try.
        return
