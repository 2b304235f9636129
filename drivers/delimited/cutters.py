"""Cutting the stream of a delimited scanner into frames: by its end byte, or by an envelope around each.

A cutter holds at most one frame. It knows no time: who owns it says when a silence was too long.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeAlias

from drivers.contract import CodeRead, FailedReadCause, Garbage, ReadFailed
from drivers.delimited.frames import AIM_LENGTH, SURPLUS, judge, read_envelope, read_line
from drivers.delimited.options import (
    CR,
    ETX,
    LF,
    STX,
    DelimitedOptions,
    Envelope,
    Terminator,
    has_printable,
    is_printable,
)

GARBAGE_RUN_MAX = 4096
"""An endless flood is reported every so many bytes."""

Found: TypeAlias = CodeRead | ReadFailed | Garbage
Emit: TypeAlias = Callable[[Found, int], None]
"""Takes what was found and how many bytes it took."""


def open_cutter(options: DelimitedOptions, emit: Emit) -> Cutter:
    """Return the cutter for these options."""
    return LineCutter(options, emit) if options.envelope is Envelope.NONE else EnvelopeCutter(options, emit)


class Cutter(ABC):
    """What both ways share: the held bytes, and what is done with more than any frame can be."""

    def __init__(self, options: DelimitedOptions, emit: Emit, *, ends_max: int) -> None:
        """`ends_max` is how many bytes of a frame's ends may be held beside its prefix, code and postfix."""
        self.options = options
        self._emit = emit
        longest = max(options.max_length, *(len(text) for text in options.no_read), 0)
        self.held_max = len(options.prefix) + AIM_LENGTH + longest + len(options.postfix) + ends_max
        self.held = bytearray()
        self._surplus_count = 0
        self._surplus_failed = False
        self._too_long = False

    @property
    def is_open(self) -> bool:
        """Whether a frame, or what might become one, has begun."""
        return bool(self.held) or self._too_long

    @abstractmethod
    def take(self, byte: int) -> None:
        """Take the next byte."""

    def expire(self) -> None:
        """The silence was too long: what has begun is over."""
        if self._too_long:
            self._end_surplus(0)
        elif self.held:
            self._expire_held()

    @abstractmethod
    def _expire_held(self) -> None: ...

    def _hold(self, byte: int) -> None:
        if self._too_long:
            self._take_surplus(byte)
            return
        self.held.append(byte)
        if len(self.held) > self.held_max:
            self._begin_surplus()

    def _clear_held(self) -> bytes:
        held = bytes(self.held)
        self.held.clear()
        return held

    def _begin_surplus(self) -> None:
        held = self._clear_held()
        self._too_long = True
        self._surplus_failed = has_printable(held)
        self._surplus_count = 0 if self._surplus_failed else len(held)
        if self._surplus_failed:
            self._emit(ReadFailed(FailedReadCause.WRONG_LENGTH), len(held))

    def _take_surplus(self, byte: int) -> None:
        if not self._surplus_failed and has_printable(bytes((byte,))):
            # A long burst of noise may run into a frame: then a read has failed after all.
            self._surplus_failed = True
            self._emit(ReadFailed(FailedReadCause.DAMAGED), 0)
        self._surplus_count += 1
        if self._surplus_count >= GARBAGE_RUN_MAX:
            self._report_surplus()

    def _end_surplus(self, end_count: int) -> None:
        self._surplus_count += end_count
        self._report_surplus()
        self._too_long = False

    def _report_surplus(self) -> None:
        if self._surplus_count:
            self._emit(Garbage(self._surplus_count, SURPLUS), self._surplus_count)
        self._surplus_count = 0


class LineCutter(Cutter):
    """Frames that end with an end byte."""

    def __init__(self, options: DelimitedOptions, emit: Emit) -> None:
        # One byte for the CR of CR LF, or for the LF left over from it.
        super().__init__(options, emit, ends_max=1)
        self._end = CR if options.terminator is Terminator.CR else LF

    def take(self, byte: int) -> None:
        """Take the next byte."""
        if byte != self._end:
            self._hold(byte)
        elif self._too_long:
            self._end_surplus(1)
        else:
            line = self._clear_held()
            self._emit(read_line(line, self.options), len(line) + 1)

    def _expire_held(self) -> None:
        held = self._clear_held()
        if self._end == CR and held == b"\n":
            return  # The LF that followed the last CR.
        body = held.removeprefix(b"\n") if self._end == CR else held.removesuffix(b"\r")
        is_clean = is_printable(body.removeprefix(self.options.prefix.encode()))
        cause = FailedReadCause.CUT_SHORT if is_clean else FailedReadCause.DAMAGED
        self._emit(judge(held, cause, len(held)), len(held))


class EnvelopeCutter(Cutter):
    """Frames between STX and ETX, perhaps with an LRC behind.

    An STX inside a frame is noise like any other: were it a new beginning, one changed byte could make a
    shorter code whose LRC is right.
    """

    def __init__(self, options: DelimitedOptions, emit: Emit) -> None:
        super().__init__(options, emit, ends_max=4)
        self._has_lrc = options.envelope is Envelope.STX_ETX_LRC
        self._awaits_lrc = False
        self._begun = False

    def take(self, byte: int) -> None:
        """Take the next byte. Behind the ETX of a frame the LRC may be any byte, ETX and STX too.

        Behind an ETX without a frame it is most likely the LRC of one whose beginning was lost.
        """
        if self._awaits_lrc and (self._begun or byte != STX):
            self._end(byte)
            return
        if self._awaits_lrc:
            self._end(None)
        if not self.is_open:
            self._begun = byte == STX
        if byte == ETX:
            self._end_body()
        else:
            self._hold(byte)

    def _end_body(self) -> None:
        if not self._too_long:
            self.held.append(ETX)
        if self._has_lrc:
            self._awaits_lrc = True
        else:
            self._end(None)

    def _end(self, lrc: int | None) -> None:
        self._awaits_lrc = False
        lrc_count = 0 if lrc is None else 1
        if self._too_long:
            self._end_surplus(1 + lrc_count)
            return
        held = self._clear_held()
        self._emit(read_envelope(held, lrc, self.options), len(held) + lrc_count)

    def expire(self) -> None:
        """The silence was too long: what has begun is over."""
        self._awaits_lrc = False
        super().expire()

    def _expire_held(self) -> None:
        held = self._clear_held()
        if self._begun and is_printable(held[1:].rstrip(bytes((CR, LF, ETX)))):
            self._emit(ReadFailed(FailedReadCause.CUT_SHORT), len(held))
        else:
            self._emit(judge(held, FailedReadCause.DAMAGED, len(held)), len(held))
