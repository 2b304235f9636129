"""An RDM6300 badge reader: what `drivers.rdm6300` reads, with the faults of a real field.

It has no clock: whoever plays it calls `repeat` about every 50 ms while a badge lies there.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from enum import StrEnum
from typing import assert_never

from drivers.rdm6300 import Checksum, encode

PERIOD_US = 50_000
"""From one frame to the next while a badge is in range."""


class Fault(StrEnum):
    """What can happen to one frame."""

    FLIPPED_BIT = "flipped-bit"
    CUT = "cut"
    """It stops in the middle."""
    HEAD_LOST = "head-lost"
    """It begins in the middle, as at plug-in."""
    LOWER_CASE = "lower-case"
    """A clone: digits in small letters."""
    NOISE = "noise"
    """Bytes in front of it."""


class BadgeReader:
    """One reader. `sink` takes what it sends; the same seed and calls give the same bytes."""

    def __init__(
        self, sink: Callable[[bytes], object], *, checksum: Checksum = Checksum.XOR, seed: int = 0
    ) -> None:
        self.badge: str | None = None
        """The code of the badge in range."""
        self._sink = sink
        self._checksum = checksum
        self._random = random.Random(seed)

    def repeat(self, fault: Fault | None = None) -> None:
        """Send the frame of the badge in range once more; nothing when there is none."""
        if self.badge is not None:
            self._send(encode(self.badge, self._checksum), fault)

    def ghost(self, code: str) -> None:
        """Invent a badge: one frame whose checksum is right."""
        self._sink(encode(code, self._checksum))

    def storm(self, count: int) -> None:
        """Invent badge after badge, none of them twice in a row."""
        for number in range(count):
            self.ghost(f"{number % 2 + 1:02X}" + self._random.randbytes(4).hex())

    def _send(self, frame: bytes, fault: Fault | None) -> None:
        match fault:
            case None:
                self._sink(frame)
            case Fault.FLIPPED_BIT:
                offset = self._random.randrange(len(frame))
                flipped = frame[offset] ^ (1 << self._random.randrange(8))
                self._sink(frame[:offset] + bytes((flipped,)) + frame[offset + 1 :])
            case Fault.CUT:
                self._sink(frame[: self._random.randrange(1, len(frame))])
            case Fault.HEAD_LOST:
                self._sink(frame[self._random.randrange(1, len(frame)) :])
            case Fault.LOWER_CASE:
                self._sink(frame.lower())
            case Fault.NOISE:
                self._sink(self._random.randbytes(self._random.randrange(1, 8)).replace(b"\x02", b"") + frame)
            case _:
                assert_never(fault)
