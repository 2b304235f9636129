"""Delimited ASCII scanners: `[prefix] [AIM id] data [postfix] terminator`, most barcode and tag readers.

The framing is from the hardware notes, section 2. It has no checksum, so one rule governs: nothing is
salvaged. A frame is a code as it stands between two terminators or it is a failed read:

- Terminator `lf` (default): a frame ends at LF; one CR directly before it belongs to the terminator, a
  CR anywhere else is noise. `cr`: ends at CR; one LF directly behind it is dropped. `cr-lf`: both needed.
- Ended by its terminator with bytes in it that are not printable ASCII: damaged, the whole of it.
- Ended by silence (`char_gap_ms`) instead: cut short, or damaged if there is noise in it as well.
- Without one printable byte it is garbage however it ended, and so is a terminator with nothing before
  it. Noise that happens to be printable cannot be told from a broken card and counts as a failed read.
- What follows a silence is a frame of its own. The end of a cut frame can be as short as one character:
  give decks with codes of one length `min_length` and `max_length` to refuse it here, not at the register.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

import msgspec

from drivers.contract import (
    CodeRead,
    FailedReadCause,
    Garbage,
    ReadFailed,
    Report,
    ReportQueue,
    read_options,
    unknown_name,
)

FAMILY = "delimited"
AIM_LENGTH = 3
GARBAGE_RUN_MAX = 4096
"""An endless flood is reported every so many bytes."""

CR, LF = 0x0D, 0x0A
NOISE = "bytes outside printable ASCII"
EMPTY = "terminator without a frame"
SURPLUS = "bytes beyond the longest possible frame"

Length = Annotated[int, msgspec.Meta(ge=1, le=1024)]
Framing = Annotated[str, msgspec.Meta(max_length=16)]


def is_printable(data: bytes) -> bool:
    """Tell whether all of `data` is 0x20-0x7E, the only bytes a code may hold."""
    return all(0x20 <= byte <= 0x7E for byte in data)


def has_printable(data: bytes) -> bool:
    """Tell whether any byte of `data` may belong to a code."""
    return any(0x20 <= byte <= 0x7E for byte in data)


class Terminator(StrEnum):
    """What ends a frame."""

    LF = "lf"
    CR = "cr"
    CR_LF = "cr-lf"


class DelimitedOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How one scanner frames its codes. Lengths count the characters of the code alone."""

    profile: str = "generic"
    """The vendor's defaults that the other options were put on."""
    terminator: Terminator = Terminator.LF
    prefix: Framing = ""
    postfix: Framing = ""
    aim_id: bool = True
    """Drop an AIM symbology id (`]C0`) in front of the code, if one is there."""
    no_read: tuple[str, ...] = ("NOREAD",)
    """What the scanner sends in place of a code it could not read."""
    char_gap_ms: Annotated[int, msgspec.Meta(ge=10, le=10_000)] = 100
    """Silence that ends a started frame; six characters at 9600 baud last 6.3 ms."""
    min_length: Length = 1
    max_length: Length = 64

    def __post_init__(self) -> None:
        if self.min_length > self.max_length:
            raise ValueError(f"min_length {self.min_length} is above max_length {self.max_length}")
        for text in self.no_read:
            if not text or not is_printable(text.encode()):
                raise ValueError(f"no_read: {text!r} is not printable ASCII")
        for text in (self.prefix, self.postfix):
            if not text.isascii() or "\r" in text or "\n" in text:
                raise ValueError(f"prefix, postfix: {text!r} is not ASCII without CR and LF")


PROFILES: Mapping[str, DelimitedOptions] = {"generic": DelimitedOptions()}
"""What a vendor's scanner does when it comes out of the box; options of the table's config go on top."""


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


def encode(data: str, options: DelimitedOptions) -> bytes:
    """Frame `data` as the scanner sends it. Raises ValueError for what no frame can carry."""
    if not data or not is_printable(data.encode()):
        raise ValueError(f"{data!r} is not printable ASCII")
    ends = {Terminator.LF: "\n", Terminator.CR: "\r", Terminator.CR_LF: "\r\n"}
    return (options.prefix + data + options.postfix + ends[options.terminator]).encode()


def read_frame(line: bytes, options: DelimitedOptions) -> Report:
    """Return what a line says: everything between two end bytes, both exclusive."""
    body = line
    if options.terminator is Terminator.CR:
        body = line.removeprefix(b"\n")
    elif line.endswith(b"\r"):
        body = line[:-1]
    elif options.terminator is Terminator.CR_LF:
        return judge(line, FailedReadCause.DAMAGED, len(line) + 1)
    prefix, postfix = options.prefix.encode(), options.postfix.encode()
    data = body.removeprefix(prefix).removesuffix(postfix)
    if prefix + data + postfix != body or not is_printable(data) or not data:
        return judge(line, FailedReadCause.DAMAGED, len(line) + 1)
    return read_data(data.decode("ascii"), options)


def read_data(data: str, options: DelimitedOptions) -> CodeRead | ReadFailed:
    """Return what the printable inside of a frame says."""
    has_aim_id = len(data) >= AIM_LENGTH and data[0] == "]" and data[1].isalpha() and data[2].isalnum()
    code = data[AIM_LENGTH:] if options.aim_id and has_aim_id else data
    if code in options.no_read:
        return ReadFailed(FailedReadCause.NO_READ)
    if not options.min_length <= len(code) <= options.max_length:
        return ReadFailed(FailedReadCause.WRONG_LENGTH)
    return CodeRead(code)


def judge(line: bytes, cause: FailedReadCause, count: int) -> ReadFailed | Garbage:
    """Judge a line that gives no code, `count` bytes long with its terminator; see the module's rule."""
    if has_printable(line):
        return ReadFailed(cause)
    return Garbage(count, NOISE if line.strip(b"\r\n") else EMPTY)


class DelimitedFramer:
    """The engine for one scanner on one line; see `drivers.contract.Framer`."""

    def __init__(self, options: DelimitedOptions) -> None:
        self.options = options
        self._end = CR if options.terminator is Terminator.CR else LF
        longest = max(options.max_length, *(len(text) for text in options.no_read), 0)
        # One byte for the CR of CR LF, or for the LF left over from it.
        self._held_max = len(options.prefix) + AIM_LENGTH + longest + len(options.postfix) + 1
        self._held = bytearray()
        self._surplus_count = 0
        self._surplus_failed = False
        self._too_long = False
        self._deadline_us: int | None = None
        self._reports = ReportQueue()

    @property
    def shortest_timeout_us(self) -> int:
        """The character gap; it is the only time-out."""
        return self.options.char_gap_ms * 1000

    def opened(self, at_us: int) -> None:
        """End a frame that had begun on the line before; the scanner has nothing to be told."""
        self.tick(self._deadline_us if self._deadline_us is not None else at_us)

    def receive(self, chunk: bytes, at_us: int) -> None:
        """Take a chunk; a frame that was open for longer than the character gap expires before it."""
        self.tick(at_us)
        for byte in chunk:
            self._take(byte)
        if chunk:
            is_open = bool(self._held) or self._too_long
            self._deadline_us = at_us + self.shortest_timeout_us if is_open else None

    def tick(self, at_us: int) -> None:
        """Expire a started frame whose character gap has passed."""
        if self._deadline_us is None or at_us < self._deadline_us:
            return
        self._deadline_us = None
        if self._too_long:
            self._end_surplus(0)
        else:
            self._expire()

    def next_deadline_us(self) -> int | None:
        """Return when the open frame expires."""
        return self._deadline_us

    def next_report(self) -> Report | None:
        """Take the oldest report."""
        return self._reports.take()

    def acknowledge(self, report: Report) -> None:
        """Change nothing: these scanners hear no acknowledgement in the generic profile."""

    def bytes_to_send(self) -> bytes:
        """Return nothing: these scanners send on their own."""
        return b""

    def _take(self, byte: int) -> None:
        if byte == self._end:
            self._end_line()
        elif self._too_long:
            self._take_surplus(byte)
        else:
            self._held.append(byte)
            if len(self._held) > self._held_max:
                self._begin_surplus()

    def _end_line(self) -> None:
        if self._too_long:
            self._end_surplus(1)
        else:
            self._reports.put(read_frame(self._clear_held(), self.options))

    def _expire(self) -> None:
        held = self._clear_held()
        if self._end == CR and held == b"\n":
            return  # The LF that followed the last CR.
        cause = FailedReadCause.CUT_SHORT if self._is_clean(held) else FailedReadCause.DAMAGED
        self._reports.put(judge(held, cause, len(held)))

    def _is_clean(self, held: bytes) -> bool:
        body = held.removeprefix(b"\n") if self._end == CR else held.removesuffix(b"\r")
        return is_printable(body.removeprefix(self.options.prefix.encode()))

    def _clear_held(self) -> bytes:
        held = bytes(self._held)
        self._held.clear()
        return held

    def _begin_surplus(self) -> None:
        held = self._clear_held()
        self._too_long = True
        self._surplus_failed = has_printable(held)
        self._surplus_count = 0 if self._surplus_failed else len(held)
        if self._surplus_failed:
            self._reports.put(ReadFailed(FailedReadCause.WRONG_LENGTH))

    def _take_surplus(self, byte: int) -> None:
        if not self._surplus_failed and has_printable(bytes((byte,))):
            # A long burst of noise may run into a frame: then a read has failed after all.
            self._surplus_failed = True
            self._reports.put(ReadFailed(FailedReadCause.DAMAGED))
        self._surplus_count += 1
        if self._surplus_count >= GARBAGE_RUN_MAX:
            self._report_surplus()

    def _end_surplus(self, terminator_count: int) -> None:
        self._surplus_count += terminator_count
        self._report_surplus()
        self._too_long = False

    def _report_surplus(self) -> None:
        if self._surplus_count:
            self._reports.put(Garbage(self._surplus_count, SURPLUS))
        self._surplus_count = 0
