"""A serial device that is not there: a raw pty behind a stable name, to be unplugged and plugged in again.

Raw before anyone opens it: a cooked pty turns CR into LF, takes ETX for an interrupt that flushes the
input, and echoes (hardware notes, section 7).
"""

from __future__ import annotations

import errno
import os
import tty
from pathlib import Path

READ_MAX = 4096


class PtyDevice:
    """The device's end of a line; the host opens `link`. Plugged in from construction on."""

    def __init__(self, link: Path) -> None:
        self.link = link
        self.written_count = 0
        """Bytes the line has taken since construction. What the host flushes at its open is among them."""
        self._master: int | None = None
        self._slave: int | None = None
        self._last_node = ""
        self.replug()

    @property
    def plugged(self) -> bool:
        """Whether the host can see the device."""
        return self._master is not None

    @property
    def node(self) -> str:
        """The node behind the link. Raises FileNotFoundError while unplugged."""
        if self._slave is None:
            raise FileNotFoundError(f"{self.link}: the device is unplugged")
        return os.ttyname(self._slave)

    def fileno(self) -> int:
        """Return the descriptor that has something to read when the host has sent something."""
        if self._master is None:
            raise FileNotFoundError(f"{self.link}: the device is unplugged")
        return self._master

    def write(self, data: bytes) -> int:
        """Send to the host; returns how many bytes the line took, 0 while unplugged.

        A line that nobody reads fills up at about 4 kB and loses the rest, as a scanner does.
        """
        if self._master is None:
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
        if self._master is None or self._slave is None:
            return
        self.link.unlink(missing_ok=True)
        os.close(self._master)
        os.close(self._slave)
        self._master = self._slave = None

    def replug(self) -> None:
        """Plug it in again; the node behind the name is another one than before, as on real hubs."""
        if self._master is not None:
            return
        ends = os.openpty()
        if os.ttyname(ends[1]) == self._last_node:
            used, ends = ends, os.openpty()
            for end in used:
                os.close(end)
        self._master, self._slave = ends
        self._last_node = self.node
        # The slave stays open here, or the master would fail whenever no host is attached.
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        fresh = self.link.with_name(f"{self.link.name}.new")
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(self.node)
        fresh.replace(self.link)
