"""The engine for one delimited scanner: time, answers to the scanner, and what may be one card twice."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

import msgspec

from drivers.contract import (
    REPORTS_MAX,
    CodeRead,
    FailedReadCause,
    Garbage,
    ReadFailed,
    Report,
    ReportQueue,
    read_options,
    unknown_name,
)
from drivers.delimited.cutters import Found, open_cutter
from drivers.delimited.options import ACK, NAK, PROFILES, DelimitedOptions, Envelope
from drivers.line_hints import BaudWatch

FAMILY = "delimited"
NAKS_MAX = 3
"""A frame that was damaged so often is a failed read; more asking would keep it from the people."""
ASKED_AGAIN = "a damaged frame; the scanner was asked for it again"
READS_KNOWN_MAX = 64
"""Reads that a later one is compared with; more than these within one guard time are a flood."""


def open_delimited(options: Mapping[str, object]) -> DelimitedFramer:
    """Build the framer for `profile` (default `generic`) with the other options on top of it.

    Raises ValueError for an unknown profile or option, or a value out of range.
    """
    profile = options.get("profile", "generic")
    if not isinstance(profile, str) or profile not in PROFILES:
        raise ValueError(f"driver {FAMILY}: profile {unknown_name(str(profile), PROFILES)}")
    given = {**msgspec.to_builtins(PROFILES[profile]), **options}
    if isinstance(given["no_read"], str):
        given["no_read"] = [given["no_read"]]
    return DelimitedFramer(read_options(FAMILY, DelimitedOptions, given))


class DelimitedFramer:
    """One scanner on one line; see `drivers.contract.Framer`.

    A damaged frame is asked for again at once, and its failure is told only when nothing comes: what begins
    within `resend_ms` of the NAK is the same read, better heard. An acknowledgement that is lost leads to
    the same frame again after `unanswered_ms`; that one looks exactly like a second card with the same code
    drawn at that moment, so it is marked and asked about. When answers were really sent plays no part in
    what is reported: a replay knows only what came in.
    """

    def __init__(self, options: DelimitedOptions) -> None:
        self.options = options
        self._cutter = open_cutter(options, self._found)
        self._now_us = 0
        self._gap_us: int | None = None
        """When the frame that has begun expires."""
        self._failure: ReadFailed | None = None
        """The read that was asked for again."""
        self._resend_us = 0
        """Until when the frame may begin again."""
        self._nak_count = 0
        self._reads: deque[tuple[str, int]] = deque(maxlen=READS_KNOWN_MAX)
        self._reports = ReportQueue()
        self._baud = BaudWatch(self._reports)
        self._answers = Answers(options)

    @property
    def has_checksum(self) -> bool:
        """An LRC, where the envelope has one; see `drivers.contract.Checksummed`."""
        return self.options.envelope is Envelope.STX_ETX_LRC

    @property
    def shortest_timeout_us(self) -> int:
        """The character gap; where the distance of two reads says something, no silence is too short."""
        by_distance = self.options.handshake or self.options.repeat_ms
        return 1 if by_distance else self.options.char_gap_ms * 1000

    def opened(self, at_us: int) -> None:
        """End a frame that had begun on the line before, and what the scanner was asked for."""
        self.tick(at_us)
        self._now_us = at_us
        self._cutter.expire()
        self._gap_us = None
        self._give_up_resend()
        self._answers.drop()

    def receive(self, chunk: bytes, at_us: int) -> None:
        """Take a chunk; a frame that was open for longer than the character gap expires before it."""
        self.tick(at_us)
        self._now_us = at_us
        for byte in chunk:
            self._cutter.take(byte)
        if chunk:
            self._gap_us = at_us + self.options.char_gap_ms * 1000 if self._cutter.is_open else None

    def tick(self, at_us: int) -> None:
        """Expire a started frame whose character gap has passed, and a resend that did not come."""
        if self._gap_us is None and self._failure is None:
            return
        while (due_us := self.next_deadline_us()) is not None and due_us <= at_us:
            self._now_us = due_us
            if self._gap_us is None:
                self._give_up_resend()
            else:
                self._gap_us = None
                self._cutter.expire()

    def next_deadline_us(self) -> int | None:
        """Return when the open frame expires, or the wait for a resend ends; a begun one is heard out."""
        if self._gap_us is not None:
            return self._gap_us
        return self._resend_us if self._failure is not None else None

    def next_report(self) -> Report | None:
        """Take the oldest report."""
        return self._reports.take()

    def acknowledge(self, report: Report) -> None:
        """Release the ACK of a read, where the scanner waits for one."""
        if isinstance(report, CodeRead | ReadFailed):
            self._answers.release()

    def bytes_to_send(self) -> bytes:
        """Return ACK and NAK in the order of their frames; nothing where the scanner hears neither."""
        return self._answers.take()

    def _found(self, found: Found, count: int) -> None:
        match found:
            case CodeRead():
                self._baud.framed()
                self._took_frame()
                if self._is_repeat(found.code):
                    found = CodeRead(found.code, repeat=True)
                self._report(found, bytes((ACK,)))
            case ReadFailed() if self._is_damage(found):
                self._damaged(found, count)
                self._baud.unframed(count)
            case ReadFailed():
                self._baud.framed()
                self._took_frame()
                self._report(found, bytes((ACK,)))
            case Garbage():
                self._baud.report(found)

    def _is_damage(self, failed: ReadFailed) -> bool:
        """Whether the frame may be better when it comes again; with no LRC a wrong length may be damage."""
        if failed.cause is FailedReadCause.WRONG_LENGTH:
            return self.options.handshake and self.options.envelope is not Envelope.STX_ETX_LRC
        return failed.cause is not FailedReadCause.NO_READ

    def _damaged(self, failed: ReadFailed, count: int) -> None:
        if not self.options.handshake or self._nak_count >= NAKS_MAX:
            self._took_frame()
            self._report(failed, b"")
            return
        self._nak_count += 1
        self._failure = failed
        self._resend_us = self._now_us + self.options.resend_ms * 1000
        self._answers.promise(bytes((NAK,)), released=True)
        if count:
            self._reports.put(Garbage(count, ASKED_AGAIN))

    def _took_frame(self) -> None:
        """The frame that was asked for again has come, whatever it says."""
        self._failure, self._nak_count = None, 0

    def _give_up_resend(self) -> None:
        failure = self._failure
        self._took_frame()
        if failure is not None:
            self._report(failure, b"")

    def _report(self, report: CodeRead | ReadFailed, answer: bytes) -> None:
        if self._reports.put(report):
            self._answers.promise(answer, released=False)

    def _is_repeat(self, code: str) -> bool:
        """Whether this may be a card that was read just now; by its value and time alone."""
        repeat_ms, unanswered_ms, now_us = self.options.repeat_ms, self.options.unanswered_ms, self._now_us
        if not repeat_ms and not unanswered_ms:
            return False
        is_repeat = any(known == code and now_us - at_us < repeat_ms * 1000 for known, at_us in self._reads)
        if unanswered_ms and self._reads:
            last, at_us = self._reads[-1]
            from_resend_us = abs(now_us - at_us - unanswered_ms * 1000)
            is_repeat |= last == code and from_resend_us <= self.options.resend_ms * 1000
        self._reads.append((code, now_us))
        return is_repeat


class Answers:
    """What the scanner is told, in the order of its frames; an ACK waits until its read is durable."""

    def __init__(self, options: DelimitedOptions) -> None:
        self._is_heard = options.handshake
        # A replay acknowledges nothing and takes nothing; the oldest answers fall out then.
        self._pending: deque[tuple[bytes, bool]] = deque(maxlen=REPORTS_MAX)

    def promise(self, answer: bytes, *, released: bool) -> None:
        """Note the answer to the newest frame."""
        if self._is_heard:
            self._pending.append((answer, released))

    def release(self) -> None:
        """Let the oldest answer go that waits."""
        for index, (answer, released) in enumerate(self._pending):
            if not released:
                self._pending[index] = (answer, True)
                return

    def drop(self) -> None:
        """The line was opened anew: what was answered on the old one is told nobody."""
        self._pending = deque(((b"", released) for _, released in self._pending), maxlen=REPORTS_MAX)

    def take(self) -> bytes:
        """Take what is released, up to the first answer that still waits."""
        taken = b""
        while self._pending and self._pending[0][1]:
            taken += self._pending.popleft()[0]
        return taken
