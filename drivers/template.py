"""A driver to begin a new one from: copy it with its test (`tests/drivers/test_template.py`).

No device speaks it. The frame is `STX SEQ CODE ETX SUM`: SEQ is `0` to `9` and counts up with every read, SUM
the XOR of everything from SEQ to ETX. The device waits for `ACK SEQ` and sends the same frame again while
none comes.

What a real driver says here: the manual and its page for every byte, what the device does when nobody
answers, and the one rule that governs what is a read and what is not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from functools import reduce
from operator import xor
from typing import Annotated

import msgspec

from drivers.contract import (
    REPORTS_MAX,
    CodeRead,
    FailedReadCause,
    ReadFailed,
    Report,
    ReportQueue,
    read_options,
)
from drivers.line_hints import BaudWatch, Strays

FAMILY = "template"
STX, ETX, ACK = 0x02, 0x03, 0x06
FRAME_MAX = 32
"""The longest frame. What is longer is no frame, and is not kept."""


class TemplateOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What may differ from device to device, each with its range; a table's TOML sets it."""

    silence_ms: Annotated[int, msgspec.Meta(ge=10, le=10_000)] = 100
    """Silence that ends a frame which has begun."""


def open_template(options: Mapping[str, object]) -> TemplateFramer:
    """Build the framer. Raises ValueError for an unknown option, or a value out of range."""
    return TemplateFramer(read_options(FAMILY, TemplateOptions, options))


def encode(code: str, seq: int) -> bytes:
    """Frame `code` as the device sends it; the simulated device is built on this."""
    body = bytes((0x30 + seq, *code.encode("ascii"), ETX))
    return bytes((STX, *body, reduce(xor, body)))


class TemplateFramer:
    """One device on one line; see `drivers.contract.Framer`."""

    def __init__(self, options: TemplateOptions) -> None:
        self.options = options
        self._held = bytearray()
        self._deadline_us: int | None = None
        self._last = b""
        """The frame that was taken last. The same one once more is the device's repetition, never a card."""
        self._unanswered: deque[int] = deque(maxlen=REPORTS_MAX)
        """The numbers of reads that are not durable yet, in order."""
        self._to_send = bytearray()
        self._reports = ReportQueue()
        self._baud = BaudWatch(self._reports)

    @property
    def shortest_timeout_us(self) -> int:
        """The silence that ends a frame; it is the only time-out."""
        return self.options.silence_ms * 1000

    def opened(self, at_us: int) -> None:
        """End what had begun; the device may have been exchanged, so its count begins anew."""
        self.tick(at_us)
        self._expire()
        self._last = b""
        self._unanswered.clear()

    def receive(self, chunk: bytes, at_us: int) -> None:
        """Take a chunk, byte by byte: reports never depend on where it was cut."""
        self.tick(at_us)
        for byte in chunk:
            self._held.append(byte)
            if len(self._held) > FRAME_MAX or self._held[-2:-1] == bytes((ETX,)):
                self._end_frame()
        if chunk:
            self._deadline_us = at_us + self.shortest_timeout_us if self._held else None

    def tick(self, at_us: int) -> None:
        """Expire a frame that has begun and does not go on."""
        if self._deadline_us is not None and self._deadline_us <= at_us:
            self._expire()

    def next_deadline_us(self) -> int | None:
        """Return when the frame that has begun expires."""
        return self._deadline_us

    def next_report(self) -> Report | None:
        """Take the oldest report."""
        return self._reports.take()

    def acknowledge(self, report: Report) -> None:
        """Answer the device now that its read is durable, and not before."""
        if isinstance(report, CodeRead) and self._unanswered:
            self._answer(self._unanswered.popleft())

    def bytes_to_send(self) -> bytes:
        """Take the answers."""
        taken = bytes(self._to_send)
        self._to_send.clear()
        return taken

    def _end_frame(self) -> None:
        frame = bytes(self._held)
        self._held.clear()
        code = frame[2:-2]
        is_whole = frame[:1] == bytes((STX,)) and frame[1:2].isdigit() and not reduce(xor, frame[1:])
        if not is_whole or not code.isalnum():
            self._fail(frame, FailedReadCause.DAMAGED)
            return
        self._baud.framed()
        seq = frame[1] - 0x30
        if frame == self._last:
            if seq not in self._unanswered:
                self._answer(seq)
            return
        if self._last and seq != (self._last[1] - 0x30 + 1) % 10:
            # The number jumped: a read is missing, and its card may be out.
            self._reports.put(ReadFailed(FailedReadCause.CUT_SHORT))
        self._last = frame
        self._unanswered.append(seq)
        self._reports.put(CodeRead(code.decode("ascii"), device_seq=seq))

    def _expire(self) -> None:
        self._deadline_us = None
        if self._held:
            frame = bytes(self._held)
            self._held.clear()
            self._fail(frame, FailedReadCause.CUT_SHORT)

    def _fail(self, frame: bytes, cause: FailedReadCause) -> None:
        """What held a byte that belongs to a code may have been a read; a probe and the rest are noise."""
        strays = Strays()
        strays.add(frame)
        if strays.is_probe or not any(byte in frame for byte in b"0123456789"):
            self._baud.report(strays.garbage("noise"))
            return
        self._reports.put(ReadFailed(cause))
        self._baud.unframed(len(frame))

    def _answer(self, seq: int) -> None:
        # A replay never takes the answers; as many as are needed once are all that is kept.
        self._to_send = (self._to_send + bytes((ACK, 0x30 + seq)))[-2 * REPORTS_MAX :]
