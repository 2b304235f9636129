"""What is wrong with a line, told by its bytes for any family: its speed, or a program that probes it."""

from __future__ import annotations

import re

from drivers.contract import Garbage

PROBE = (
    "a modem command: another program probes the port (ModemManager does); keep it off with the udev rule "
    "of config/udev"
)
FIRST_COUNT = 64
"""So many bytes without a frame are no accident; said again at every doubling."""
_PROBES = re.compile(rb"(?:AT(?:[+&^*%$#!][ -~]*|[EFHILMQVXZ][0-9]?[ -~]*)?[\r\n]*)+")


def is_probe(data: bytes) -> bool:
    """Tell whether `data` is nothing but modem commands, which a device that echoes has sent back."""
    return _PROBES.fullmatch(data) is not None


class BaudWatch:
    """Counts the bytes since the last whole frame, for a framer to report."""

    def __init__(self) -> None:
        self._count = 0
        self._next_count = FIRST_COUNT

    def framed(self) -> None:
        """A whole frame came in: the line is set as the device is."""
        self._count, self._next_count = 0, FIRST_COUNT

    def unframed(self, count: int) -> Garbage | None:
        """`count` more bytes gave no frame. Returns what to report, once there are too many of them."""
        self._count += count
        if self._count < self._next_count:
            return None
        while self._next_count <= self._count:
            self._next_count *= 2
        return Garbage(self._count, f"{self._count} bytes without a frame: check baud, parity and family")
