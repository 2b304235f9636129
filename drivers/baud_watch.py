"""A line on which bytes come in and no frame does: its baud rate, parity or family is not the device's."""

from __future__ import annotations

from drivers.contract import Garbage

FIRST_COUNT = 64
"""So many bytes without a frame are no accident; said again at every doubling."""


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
