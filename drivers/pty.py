"""A serial device that is not there: a raw pty behind a stable name, to be unplugged and plugged in again.

The other end of what `port.py` opens, for whatever plays a device: the simulators and `tablectl play`. Raw
before anyone opens it: a cooked pty turns CR into LF, takes ETX for an interrupt that flushes the input, and
echoes (hardware notes, section 7).
"""

from __future__ import annotations

import array
import errno
import fcntl
import os
import select
import termios
import tty
from pathlib import Path

READ_MAX = 4096


class PtyDevice:
    """The device's end of a line; the host opens `link`. Plugged in from construction on."""

    def __init__(self, link: Path | None = None, *, watches_host: bool = False) -> None:
        """Make the device. Without a `link` the host opens `node`. Raises OSError where the link can't be.

        `watches_host` is what `has_host` needs, and makes the line take nothing while nobody is there.
        """
        self.link = link
        self._watches_host = watches_host
        self.written_count = 0
        """Bytes the line has taken since construction. What the host flushes at its open is among them."""
        self._master: int | None = None
        self._slave: int | None = None
        self._node = ""
        self.replug()

    @property
    def plugged(self) -> bool:
        """Whether the host can see the device."""
        return self._master is not None

    @property
    def node(self) -> str:
        """The node behind the link. Raises FileNotFoundError while unplugged."""
        if self._master is None:
            raise FileNotFoundError(f"{self.link}: the device is unplugged")
        return self._node

    @property
    def has_host(self) -> bool:
        """Whether a program has the line open; only for a device that watches its host."""
        assert self._watches_host, "the device itself keeps the line open"
        if self._master is None:
            return False
        poll = select.poll()
        poll.register(self._master, select.POLLOUT)
        return not any(event & select.POLLHUP for _, event in poll.poll(0))

    def unread_count(self) -> int:
        """Return how many bytes the host has not read yet; they are lost with the next `unplug`."""
        host_end = os.open(self.node, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            count = array.array("i", [0])
            fcntl.ioctl(host_end, termios.FIONREAD, count)
            return count[0]
        finally:
            os.close(host_end)

    def fileno(self) -> int:
        """Return the descriptor that has something to read when the host has sent something."""
        if self._master is None:
            raise FileNotFoundError(f"{self.link}: the device is unplugged")
        return self._master

    def write(self, data: bytes) -> int:
        """Send to the host; returns how many bytes the line took, 0 while unplugged.

        A line that nobody reads fills up at about 4 kB and loses the rest, as a scanner does.
        """
        if self._master is None or (self._watches_host and not self.has_host):
            return 0
        try:
            taken_count = os.write(self._master, data)
        except OSError as error:
            if error.errno not in (errno.EIO, errno.EAGAIN):
                raise
            return 0
        self.written_count += taken_count
        return taken_count

    def read(self) -> bytes:
        """Take what the host has sent, b"" when nothing, without waiting. EIO means no host, not death."""
        if self._master is None:
            return b""
        try:
            return os.read(self._master, READ_MAX)
        except OSError as error:
            if error.errno not in (errno.EIO, errno.EAGAIN):
                raise
            return b""

    def unplug(self) -> None:
        """Pull the cable: both ends closed, the name gone. Bytes on the way are lost."""
        if self._master is None:
            return
        # Another device may have taken the name meanwhile.
        if self.link is not None and self.link.is_symlink() and str(self.link.readlink()) == self._node:
            self.link.unlink()
        os.close(self._master)
        if self._slave is not None:
            os.close(self._slave)
        self._master = self._slave = None

    def replug(self) -> None:
        """Plug it in again; the node behind the name is another one than before, as on real hubs."""
        if self._master is not None:
            return
        ends = os.openpty()
        if os.ttyname(ends[1]) == self._node:
            used, ends = ends, os.openpty()
            for end in used:
                os.close(end)
        self._master, self._slave = ends
        self._node = os.ttyname(self._slave)
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        if self._watches_host:
            # The master hears a hang-up when nobody has the other end open; raw it stays.
            os.close(self._slave)
            self._slave = None
        if self.link is not None:
            point(self.link, self._node)


def point(link: Path, node: str) -> None:
    """Make `link` lead to `node`; a link is replaced, anything else is not. Raises OSError."""
    if link.exists() and not link.is_symlink():
        raise FileExistsError(errno.EEXIST, "is no link; choose another name", str(link))
    fresh = link.with_name(f".{link.name}.{os.getpid()}")
    fresh.symlink_to(node)
    fresh.replace(link)
