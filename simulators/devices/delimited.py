"""A delimited ASCII scanner: what `drivers.delimited` reads, with the faults of a real line.

The same seed and calls give the same bytes. A scanner with a handshake is told what the host answers
(`hear`) and that nothing came in its time (`unanswered`); it sends a frame again as its options say.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from enum import StrEnum
from typing import assert_never

from drivers.delimited import DelimitedOptions, Envelope, encode

ACK, NAK = 0x06, 0x15
RESENDS_MAX = 3


class Fault(StrEnum):
    """What can happen to one frame on its way. Nothing here tells the dealer; the scanner has beeped."""

    SPLIT = "split"
    """Sent in two pieces, cut anywhere; the pieces belong together."""
    CUT = "cut"
    """Only the first part is sent, and silence follows."""
    MERGED = "merged"
    """Held back and sent in one piece with the next frame, or by `flush`."""
    NOISE = "noise"
    """A burst of noise directly in front of the frame."""
    FLIPPED_BYTE = "flipped-byte"
    """One bit of the data is wrong. The framing has no checksum: the outcome may be another code."""
    HIGH_BIT = "high-bit"
    """The second byte has its highest bit set, as on a line with another parity: no code can hold that."""
    LOST_TERMINATOR = "lost-terminator"
    """The frame comes without its end."""
    LOST_ANSWER = "lost-answer"
    """The frame is whole; the host's next answer does not reach the scanner."""
    REPEATED = "repeated"
    """One card, read twice: the frame is sent twice."""


class DelimitedScanner:
    """One scanner. `sink` takes what it sends: `PtyDevice.write`, or any callable in the same process."""

    def __init__(
        self, sink: Callable[[bytes], object], options: DelimitedOptions | None = None, *, seed: int = 0
    ) -> None:
        self.options = options or DelimitedOptions()
        self._sink = sink
        self._random = random.Random(seed)
        self._held_back = b""
        self._waiting = b""
        self._resends_left = 0
        self._is_deaf = False
        self.accepted_count = 0
        """Frames that the host has acknowledged, as this scanner knows."""
        self.given_up_count = 0
        """Frames that it beeped an error for, because nobody acknowledged them."""

    def scan(self, code: str, fault: Fault | None = None) -> None:
        """Read a code and send it. Raises ValueError for a code that no frame can carry."""
        self._send(encode(code, self.options), fault)

    def no_read(self) -> None:
        """See a card and fail to read it; silent unless the options have a no-read string."""
        if self.options.no_read:
            self._send(encode(self.options.no_read[0], self.options), None)

    def scan_split(self, code: str, offset: int) -> None:
        """Send a code in two pieces, cut before byte `offset` of the frame."""
        frame = encode(code, self.options)
        assert 0 < offset < len(frame), (offset, frame)
        self._send_pieces(frame[:offset], frame[offset:])

    def noise(self, count: int) -> None:
        """Send `count` bytes of noise outside printable ASCII, as at plug-in or under a wrong baud rate."""
        self._sink(self._noise(count))

    def storm(self, code: str, count: int) -> None:
        """Read one card again and again, as a scanner in continuous mode does with one left there."""
        for _ in range(count):
            self.scan(code)

    def power_cycle(self) -> None:
        """Start anew: what was not sent or not answered is forgotten."""
        self._held_back = self._waiting = b""

    def hear(self, answers: bytes) -> None:
        """Take what the host has sent; a NAK has the frame sent again, without the line's fault."""
        for answer in answers:
            if self._is_deaf or not self._waiting:
                self._is_deaf = False
            elif answer == ACK:
                self.accepted_count += 1
                self._waiting = b""
            elif answer == NAK:
                self._send_again()

    @property
    def is_waiting(self) -> bool:
        """Whether a frame waits for its answer."""
        return bool(self._waiting)

    def unanswered(self) -> None:
        """Nothing came in this scanner's time: it sends again, if it is one that does, or gives up."""
        if self._waiting:
            self._resends_left = self._resends_left if self.options.unanswered_ms else 0
            self._send_again()

    def flush(self) -> None:
        """Send what `Fault.MERGED` has held back."""
        if self._held_back:
            self._sink(self._held_back)
            self._held_back = b""

    def _send_again(self) -> None:
        if self._resends_left:
            self._resends_left -= 1
            self._sink(self._waiting)
        else:
            self._waiting = b""
            self.given_up_count += 1

    def _send(self, frame: bytes, fault: Fault | None) -> None:
        if self.options.handshake:
            self._waiting, self._resends_left = frame, RESENDS_MAX
        match fault:
            case None:
                self._send_pieces(frame)
            case Fault.LOST_ANSWER:
                self._is_deaf = True
                self._send_pieces(frame)
            case Fault.REPEATED:
                self._send_pieces(frame, frame)
            case Fault.MERGED:
                self._held_back += frame
            case Fault.SPLIT:
                offset = self._random.randrange(1, len(frame))
                self._send_pieces(frame[:offset], frame[offset:])
            case Fault.CUT:
                self._send_pieces(frame[: self._random.randrange(1, max(2, self._data_end(frame)))])
            case Fault.NOISE:
                self._send_pieces(self._noise(self._random.randrange(1, 8)) + frame)
            case Fault.FLIPPED_BYTE:
                self._send_pieces(self._flip(frame))
            case Fault.HIGH_BIT:
                self._send_pieces(frame[:1] + bytes((frame[1] | 0x80,)) + frame[2:])
            case Fault.LOST_TERMINATOR:
                self._send_pieces(frame[: self._data_end(frame)])
            case _:
                assert_never(fault)

    def _send_pieces(self, first: bytes, *others: bytes) -> None:
        self._sink(self._held_back + first)
        self._held_back = b""
        for piece in others:
            self._sink(piece)

    def _flip(self, frame: bytes) -> bytes:
        offset = self._random.randrange(self._data_end(frame))
        flipped = frame[offset] ^ (1 << self._random.randrange(8))
        return frame[:offset] + bytes((flipped,)) + frame[offset + 1 :]

    def _data_end(self, frame: bytes) -> int:
        """Return where the terminator begins, or what stands behind the code in its place."""
        begin_count = len(self.options.prefix) + (self.options.envelope is not Envelope.NONE)
        shortest = encode("x", self.options)
        return len(frame) - (len(shortest) - begin_count - 1 - len(self.options.postfix))

    def _noise(self, count: int) -> bytes:
        return bytes(self._random.randrange(0x80, 0x100) for _ in range(count))
