"""A serial line behind a device server: the byte stream of a pty device, over TCP, for any system."""

from __future__ import annotations

import socket
from contextlib import suppress

READ_MAX = 4096


class TcpDevice:
    """The device's end of a line; the host, one at a time, opens `name`. Plugged in from construction on."""

    def __init__(self) -> None:
        self.written_count = 0
        """Bytes that the line has taken since construction."""
        self._listener: socket.socket | None = None
        self._host: socket.socket | None = None
        self._port = 0
        self.replug()

    @property
    def name(self) -> str:
        """The port's name in a table's file; the same after a replug."""
        return f"socket://127.0.0.1:{self._port}"

    @property
    def attached(self) -> bool:
        """Whether a host is connected, as far as this end knows."""
        if self._host is None and self._listener is not None:
            with suppress(BlockingIOError):
                self._host = self._listener.accept()[0]
                self._host.setblocking(False)
        return self._host is not None

    def write(self, data: bytes) -> int:
        """Send to the host; returns how many bytes the line took, 0 while nobody is connected."""
        if not self.attached:
            return 0
        assert self._host is not None
        try:
            taken_count = self._host.send(data)
        except BlockingIOError:
            return 0
        except OSError:
            self._hang_up()
            return 0
        self.written_count += taken_count
        return taken_count

    def read(self) -> bytes:
        """Take what the host has sent, b"" when nothing, without waiting."""
        if not self.attached:
            return b""
        assert self._host is not None
        try:
            data = self._host.recv(READ_MAX)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        if not data:
            self._hang_up()
        return data

    def unplug(self) -> None:
        """Switch the device server off."""
        self._hang_up()
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    def replug(self) -> None:
        """Switch it on again, under the same name."""
        if self._listener is None:
            self._listener = socket.create_server(("127.0.0.1", self._port), backlog=1)
            self._listener.setblocking(False)
            self._port = self._listener.getsockname()[1]

    def _hang_up(self) -> None:
        if self._host is not None:
            self._host.close()
            self._host = None
