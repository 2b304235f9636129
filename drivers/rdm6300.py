"""RDM6300 readers of 125 kHz badges (EM4100): `02`, ten hex digits, two of checksum, `03`, over and over.

Hardware notes, section 6. The reader repeats its frame about every 50 ms while a badge is in range, and in an
empty field it now and then invents one whose checksum is right. So a badge is read when two equal frames come
within `confirm_ms`, once, and again only after `rearm_ms` without it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import reduce
from operator import xor
from typing import Annotated, NamedTuple

import msgspec

from drivers.contract import (
    CodeRead,
    FailedReadCause,
    Garbage,
    ReadFailed,
    Report,
    ReportQueue,
    read_options,
)
from drivers.line_hints import BaudWatch, Strays

FAMILY = "rdm6300"
STX, ETX = 0x02, 0x03
FRAME_BYTES = 14
MILLISECOND = 1_000
GARBAGE_RUN_MAX = 4096

STRAY = "bytes outside a frame; if they keep coming, check the baud rate (9600) and the cable"
ALONE = "a frame that came once: a ghost, or a badge that left at once"

GHOST_ZEROS = 7
GHOST_CODES = frozenset({"B59A99E5A9", "4FFB388FFF", "DA9386B5EA", "DAEF6FEE2B"})
"""Invented by readers without any badge, seen by several people. They share nothing that a badge could not
have, so they are listed."""


class Checksum(StrEnum):
    """How the last two digits follow from the five bytes before them."""

    XOR = "xor"
    SUM = "sum"
    """Another make: the lowest byte of the sum."""


CHECKSUMS: Mapping[Checksum, Callable[[bytes], int]] = {
    Checksum.XOR: lambda data: reduce(xor, data),
    Checksum.SUM: lambda data: sum(data) & 0xFF,
}


class RdmOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How one reader frames, and when a badge counts."""

    checksum: Checksum = Checksum.XOR
    lower_case: bool = False
    """Take hex digits in small letters, as clones send them. The code is in capitals all the same."""
    confirm_ms: Annotated[int, msgspec.Meta(ge=100, le=2_000)] = 300
    """A second equal frame must come before so long has passed."""
    rearm_ms: Annotated[int, msgspec.Meta(ge=200, le=5_000)] = 400
    """So long without its frame, and the badge is gone."""
    char_gap_ms: Annotated[int, msgspec.Meta(ge=10, le=100)] = 30
    """Silence that ends a started frame; a whole one lasts 15 ms."""


def open_rdm6300(options: Mapping[str, object]) -> RdmFramer:
    """Build the framer. Raises ValueError for an unknown option, or a value out of range."""
    return RdmFramer(read_options(FAMILY, RdmOptions, options))


def is_ghost(code: str) -> bool:
    """Tell whether a badge code is one that readers invent, so that no badge may have it.

    Of the eight on record half are nearly empty (seven zeros and more of ten digits): the field broke down
    under the reading. A number that small is given to no badge. The other half is listed.
    """
    if re.fullmatch("[0-9A-Fa-f]{10}", code) is None:
        return False
    return code.count("0") >= GHOST_ZEROS or code.upper() in GHOST_CODES


def encode(code: str, checksum: Checksum = Checksum.XOR) -> bytes:
    """Frame a code of ten hex digits as the reader sends it."""
    data = bytes.fromhex(code)
    assert len(data) == 5, code
    return b"\x02%b%02X\x03" % (code.upper().encode(), CHECKSUMS[checksum](data))


def read_frame(frame: bytes, options: RdmOptions) -> str | None:
    """Return the code of fourteen bytes from `02` on, None where they are damaged."""
    digits = frame[1:-1].decode("ascii", "replace")
    pattern = "[0-9A-Fa-f]{12}" if options.lower_case else "[0-9A-F]{12}"
    if frame[-1] != ETX or re.fullmatch(pattern, digits) is None:
        return None
    *data, sent = bytes.fromhex(digits)
    return digits[:10].upper() if CHECKSUMS[options.checksum](bytes(data)) == sent else None


class Seen(NamedTuple):
    """A badge code, and until when its next frame continues it."""

    code: str
    until_us: int


class RdmFramer:
    """One reader on one line; see `drivers.contract.Framer`. It never answers."""

    def __init__(self, options: RdmOptions) -> None:
        self.options = options
        self._held = bytearray()
        self._strays = Strays()
        self._gap_us: int | None = None
        self._once: Seen | None = None
        """A frame that waits for its equal."""
        self._badge: Seen | None = None
        """The badge in range, which has been reported."""
        self._reports = ReportQueue()
        self._baud = BaudWatch(self._reports)

    @property
    def has_checksum(self) -> bool:
        """XOR over the bytes of a badge; see `drivers.contract.Checksummed`."""
        return True

    @property
    def shortest_timeout_us(self) -> int:
        """The character gap, which is shorter than all others."""
        return self.options.char_gap_ms * MILLISECOND

    def opened(self, at_us: int) -> None:
        """Begin anew: half a frame, a frame that came once and the badge in range are forgotten."""
        self.tick(at_us)
        self._end_frame()
        self._lose_once()
        self._gap_us = self._badge = None

    def receive(self, chunk: bytes, at_us: int) -> None:
        """Take a chunk; what is overdue by then passes first."""
        self.tick(at_us)
        for byte in chunk:
            self._take(byte, at_us)
        if chunk:
            is_open = bool(self._held) or self._strays.count > 0
            self._gap_us = at_us + self.shortest_timeout_us if is_open else None

    def tick(self, at_us: int) -> None:
        """Let silences pass, the earliest first."""
        while (due_us := self.next_deadline_us()) is not None and due_us <= at_us:
            if self._gap_us == due_us:
                self._gap_us = None
                self._end_frame()
            elif self._once is not None and self._once.until_us == due_us:
                self._lose_once()
            else:
                self._badge = None

    def next_deadline_us(self) -> int | None:
        """Return when the next silence is over."""
        seen = [one.until_us for one in (self._once, self._badge) if one is not None]
        return min((*seen, *([self._gap_us] if self._gap_us is not None else ())), default=None)

    def next_report(self) -> Report | None:
        """Take the oldest report."""
        return self._reports.take()

    def acknowledge(self, report: Report) -> None:
        """Change nothing: the reader hears nothing."""

    def bytes_to_send(self) -> bytes:
        """Return nothing: the reader hears nothing."""
        return b""

    def _take(self, byte: int, at_us: int) -> None:
        if byte == STX:
            self._end_frame()  # No digit is 02, so a frame begins here whatever came before.
            self._held.append(byte)
        elif not self._held:
            self._strays.add(bytes((byte,)))
            if self._strays.count >= GARBAGE_RUN_MAX:
                self._end_frame()
        else:
            self._held.append(byte)
            if len(self._held) == FRAME_BYTES:
                self._judge(bytes(self._held), at_us)
                self._held.clear()

    def _end_frame(self) -> None:
        """What stands here is over: half a frame is a failed read, anything else noise."""
        if self._held:
            self._fail(FailedReadCause.CUT_SHORT, len(self._held))
            self._held.clear()
        strays, self._strays = self._strays, Strays()
        if strays.count:
            self._baud.report(strays.garbage(STRAY))

    def _fail(self, cause: FailedReadCause, count: int) -> None:
        self._reports.put(ReadFailed(cause))
        self._baud.unframed(count)

    def _lose_once(self) -> None:
        if self._once is not None:
            self._once = None
            self._reports.put(Garbage(FRAME_BYTES, ALONE))

    def _judge(self, frame: bytes, at_us: int) -> None:
        code = read_frame(frame, self.options)
        if code is None:
            self._fail(FailedReadCause.DAMAGED, len(frame))
            return
        self._baud.framed()
        in_range = Seen(code, at_us + self.options.rearm_ms * MILLISECOND)
        if self._badge is not None and self._badge.code == code:
            self._badge = in_range
        elif self._once is not None and self._once.code == code:
            self._once, self._badge = None, in_range
            self._reports.put(CodeRead(code))
        else:
            self._lose_once()
            self._once = Seen(code, at_us + self.options.confirm_ms * MILLISECOND)
