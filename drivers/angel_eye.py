"""Angel Eye baccarat shoe: `05 SEQ LETTER DATA{0,2} 03 B1 B2`, sent up to three times while nobody answers.

The layout is from the hardware notes, section 0.1. The line is 4800 8N1 (`baud = 4800` in the table's
file; the rest is the default). Two rules govern:

- A frame is who it is by its number and its bytes, never by its card. The same frame with the same number
  as the last accepted one was sent again and says nothing new; two equal cards have two numbers.
- The numbers (0 after power-up, then 1 to 9 round and round) prove what is missing. So a damaged frame is
  no failed read yet: a copy may follow, and a frame with the number that is due shows that nothing was
  lost. Only silence makes it one, unless what is left of it begins like a copy of the last frame. A number
  that jumps is a failed read (MISSED), followed by the frame itself.

The numbers go on over `opened`: a jump shows that something was drawn while the line was down. No jump proves
nothing there, nine frames come back to the same number; so start-up and stand-by are heard anew after it. The
first frame that a framer ever sees may have any number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import reduce
from operator import xor
from typing import Annotated, NamedTuple

import msgspec

from drivers.contract import (
    CardDrawn,
    CodeRead,
    DeviceFault,
    DeviceReported,
    DeviceState,
    DrawnOutside,
    FailedReadCause,
    Fault,
    Garbage,
    ReadFailed,
    Report,
    ReportQueue,
    ShoeResult,
    ShoeWinner,
    read_options,
)
from drivers.line_hints import BaudWatch, Strays

FAMILY = "angel_eye"
BEGIN, END = 0x05, 0x03
DATA_MAX = 2
SHORTEST, LONGEST = 6, 6 + DATA_MAX
"""Bytes of a frame without data, and with all it can carry."""
STRAY_RUN_MAX = 4096
"""An endless flood without a frame is reported every so many bytes."""

BEGUN = re.compile(rb"\x05([0-9]([A-Za-z](.{0,2}(\x03[0-9A-F]?)?)?)?)?", re.DOTALL)
"""A frame that lacks at least its last byte."""
UNKNOWN_FACE = 0x80

NOISE = "bytes outside a frame; if they keep coming, check the baud rate (4800) and the cable"
DAMAGED_FRAME = "a damaged frame; the numbers of the next ones show whether it is missing"

LENGTHS = {"S": 0, "P": 0, "D": 2, "R": 2, "I": 2, "d": 2, "i": 2, "G": 1, "E": 1, "e": 1}
"""How many bytes of data a letter has. `L` (lock) and `M` (preset) are not confirmed and so not here."""
PLACES = {0x81: "P1", 0x91: "B1", 0x82: "P2", 0x92: "B2", 0x83: "P3", 0x93: "B3"}
WINNERS = {1: ShoeWinner.PLAYER, 2: ShoeWinner.TIE, 4: ShoeWinner.BANKER, 5: ShoeWinner.BANKER}
BANKER_SIX = 5
FAULTS = {
    1: Fault.NOT_READ,
    2: Fault.OVERDRAW,
    3: Fault.INDICATOR_BUTTON,
    4: Fault.PULLED_BACK_AT_EXIT,
    5: Fault.PULLED_BACK_ON_WAY,
    6: Fault.CODE_ERROR,
    7: Fault.DRAW_TIME_OUT,
}


class AngelEyeOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the host and one shoe talk."""

    acknowledge: str = ""
    """What the host answers to a frame, in hex. No public source knows it: empty, the host is silent."""
    silence_ms: Annotated[int, msgspec.Meta(ge=50, le=10_000)] = 1000
    """Silence that ends a started frame and the hope for a copy of a damaged one."""

    def __post_init__(self) -> None:
        try:
            bytes.fromhex(self.acknowledge)
        except ValueError:
            raise ValueError(f"acknowledge: {self.acknowledge!r} is not bytes in hex, such as '06'") from None


def open_angel_eye(options: Mapping[str, object]) -> AngelEyeFramer:
    """Build the framer. Raises ValueError for an unknown option or a value out of range."""
    return AngelEyeFramer(read_options(FAMILY, AngelEyeOptions, options))


class Frame(NamedTuple):
    """One frame without its framing: the identity of what the shoe says."""

    seq: int
    letter: str
    data: bytes = b""


def check_of(body: bytes | bytearray) -> bytes:
    """Return the two check digits of everything from the number to `03` inclusive."""
    return f"{reduce(xor, body):02X}".encode()


def encode(frame: Frame) -> bytes:
    """Return the frame as the shoe sends it. Raises ValueError for what no frame can carry."""
    is_letter = len(frame.letter) == 1 and frame.letter.isascii() and frame.letter.isalpha()
    if not (0 <= frame.seq <= 9 and is_letter and len(frame.data) <= DATA_MAX):
        raise ValueError(f"no frame: number {frame.seq}, letter {frame.letter!r}, {len(frame.data)} bytes")
    body = f"{frame.seq}{frame.letter}".encode() + frame.data + bytes((END,))
    return bytes((BEGIN,)) + body + check_of(body)


def next_seq(seq: int) -> int:
    """Return the number of the frame after `seq`: 0 comes after a power-up only."""
    return seq % 9 + 1


def is_open(held: bytes | bytearray) -> bool:
    """Tell whether more bytes can still make a frame of `held`."""
    return BEGUN.fullmatch(held) is not None


def find_frame(held: bytes | bytearray) -> Frame | None:
    """Return the frame that `held` is from its first to its last byte, None when it is none (yet).

    Each byte before the last was judged by `is_open` as it came, so number and letter are right here.
    """
    if not SHORTEST <= len(held) <= LONGEST or held[-3] != END or held[-2:] != check_of(held[1:-2]):
        return None
    return Frame(int(held[1:2]), chr(held[2]), bytes(held[3:-3]))


def read_frame(frame: Frame) -> Report:
    """Return what a whole frame says. What it may not say (rank 14, place 4) is a failed read."""
    length = LENGTHS.get(frame.letter)
    if length is None:
        # The check digits were right: a letter is quoted, which spells no card.
        return Garbage(SHORTEST + len(frame.data), f"frame with the unknown letter {frame.letter!r}")
    if len(frame.data) != length:
        return ReadFailed(FailedReadCause.WRONG_LENGTH)
    match frame.letter:
        case "S":
            return DeviceReported(DeviceState.RESTARTED)
        case "P":
            return DeviceReported(DeviceState.STAND_BY)
        case "G":
            return read_result(frame.data[0])
        case "E" | "e":
            fault = FAULTS.get(frame.data[0] & 0x3F, Fault.UNKNOWN)
            return DeviceFault(fault, cleared=frame.letter == "e")
        case _:
            return read_card(frame)


def read_result(result: int) -> ShoeResult:
    """Return the shoe's result; a byte that is none of the known ones has no known winner."""
    kind = result >> 4 & 7
    is_known = result & 0x8C == 0x80 and kind in WINNERS
    return ShoeResult(
        WINNERS[kind] if is_known else ShoeWinner.UNKNOWN,
        player_pair=bool(result & 1),
        banker_pair=bool(result & 2),
        banker_six=is_known and kind == BANKER_SIX,
    )


def read_card(frame: Frame) -> CodeRead | CardDrawn | DrawnOutside | ReadFailed:
    """Return what a frame about a card says: position, then the card or `80` for a face not yet known."""
    place, code = PLACES.get(frame.data[0]), card_code(frame.data[1])
    is_unknown_face = frame.data[1] == UNKNOWN_FACE
    if place is not None:
        if frame.letter == "I" and code is not None:
            return CodeRead(code, frame.seq, place)
        if frame.letter in "DR" and is_unknown_face:
            return CardDrawn(place, again=frame.letter == "R")
        if frame.letter in "di" and (code is not None or is_unknown_face):
            return DrawnOutside(place, code, ended=frame.letter == "i")
    return ReadFailed(FailedReadCause.DAMAGED)


def card_code(card: int) -> str | None:
    """Return the code of a card byte, its two hex digits, or None for what is no card."""
    is_card = card & 0x80 and 1 <= card >> 4 & 7 <= 4 and 1 <= card & 0xF <= 13
    return f"{card:02X}" if is_card else None


class Damage(Strays):
    """Bytes since the last whole frame, and what can be told of the frames among them."""

    def __init__(self) -> None:
        super().__init__()
        self.cause: FailedReadCause | None = None
        """Why the first frame among them is none; None while they are noise alone."""
        self.is_copy = True
        """Whether each such frame begins like the last accepted one."""
        self.has_next = False
        """Whether one of them has the number that is due."""

    def note(self, cause: FailedReadCause, begun: bytes, last: Frame | None) -> None:
        """Note a frame that came to nothing; `begun` is its number and letter as far as they came."""
        self.cause = self.cause or cause
        self.is_copy = self.is_copy and last is not None and begun == f"{last.seq}{last.letter}".encode()
        if last is not None and begun[:1] == str(next_seq(last.seq)).encode():
            self.has_next = True

    def told(self) -> Garbage:
        """Return what is reported of these bytes where no read was lost with them."""
        return self.garbage(NOISE if self.cause is None else DAMAGED_FRAME)


class AngelEyeFramer:
    """The engine for one shoe on one line; see `drivers.contract.Framer`."""

    def __init__(self, options: AngelEyeOptions) -> None:
        self.options = options
        self._reply = bytes.fromhex(options.acknowledge)
        self._held = bytearray()
        self._damage = Damage()
        self._heard_us: int | None = None
        self._last: Frame | None = None
        self._next_failed = False
        self._reopened = False
        self._owed: Report | None = None
        self._reply_due = False
        self._reports = ReportQueue()
        self._baud = BaudWatch(self._reports)

    @property
    def shortest_timeout_us(self) -> int:
        """The silence; it is the only time-out."""
        return self.options.silence_ms * 1000

    @property
    def has_checksum(self) -> bool:
        """XOR over every byte of a frame; see `drivers.contract.Checksummed`."""
        return True

    @property
    def judges_coups(self) -> bool:
        """The shoe sends a result; see `drivers.contract.Judging`."""
        return True

    def opened(self, at_us: int) -> None:
        """End what had begun on the line before; the numbers go on, see the module."""
        self.tick(at_us if self._heard_us is None else self._heard_us + self.shortest_timeout_us)
        self._heard_us = None
        self._next_failed = False
        self._reopened = True
        self._reply_due = False

    def receive(self, chunk: bytes, at_us: int) -> None:
        """Take a chunk; what was open for longer than the silence ends before it."""
        self.tick(at_us)
        for byte in chunk:
            self._take(byte)
        if chunk:
            self._heard_us = at_us

    def tick(self, at_us: int) -> None:
        """End a started frame and the wait for a copy when the silence has lasted."""
        if self._heard_us is None or at_us - self._heard_us < self.shortest_timeout_us:
            return
        while self._held:
            self._break(FailedReadCause.CUT_SHORT)
        self._give_up()

    def next_deadline_us(self) -> int | None:
        """Return when the open frame, the noise or the wait for a copy ends."""
        if self._heard_us is None or not (self._held or self._damage.count):
            return None
        return self._heard_us + self.shortest_timeout_us

    def next_report(self) -> Report | None:
        """Take the oldest report."""
        return self._reports.take()

    def acknowledge(self, report: Report) -> None:
        """Release the answer to the last frame; an answer to an earlier one would be taken for it."""
        if report is self._owed:
            self._owed = None
            self._reply_due = True

    def bytes_to_send(self) -> bytes:
        """Take the answer that is due; nothing with a silent host."""
        due, self._reply_due = self._reply_due, False
        return self._reply if due else b""

    def _take(self, byte: int) -> None:
        if not self._held and byte != BEGIN:
            self._drop(byte)
            return
        self._held.append(byte)
        if not is_open(self._held):
            self._end_frame()

    def _end_frame(self) -> None:
        frame = find_frame(self._held)
        if frame is None:
            self._break(FailedReadCause.DAMAGED)
        else:
            self._held.clear()
            self._accept(frame)

    def _break(self, cause: FailedReadCause) -> None:
        """Give up the frame that began; the bytes behind its 05 are read again, another may be in them."""
        rest = bytes(self._held[1:])
        self._held.clear()
        self._damage.note(cause, rest[:2], self._last)
        self._drop(BEGIN)
        for byte in rest:
            self._take(byte)

    def _drop(self, byte: int) -> None:
        self._damage.add(bytes((byte,)))
        if self._damage.count >= STRAY_RUN_MAX:
            self._give_up()

    def _give_up(self) -> None:
        """Report what was damaged: no copy came."""
        damage, self._damage = self._damage, Damage()
        if damage.cause is not None and not damage.is_copy:
            self._next_failed = self._next_failed or damage.has_next
            self._reports.put(ReadFailed(damage.cause))
            self._baud.unframed(damage.count)
        elif damage.count:
            self._baud.report(damage.told())

    def _accept(self, frame: Frame) -> None:
        damage, self._damage = self._damage, Damage()
        if damage.count:
            self._reports.put(damage.told())
        self._baud.framed()
        is_anew, self._reopened = self._reopened and frame.letter in "SP", False
        if frame == self._last and not is_anew:
            # Sent again. While its input is not durable the answer is not due yet.
            self._reply_due = self._owed is None
            return
        made = [read_frame(frame)]
        if self._has_jumped(frame):
            made.insert(0, ReadFailed(FailedReadCause.MISSED))
        for report in made:
            self._reports.put(report)
        inputs = [report for report in made if not isinstance(report, Garbage | DeviceReported)]
        self._owed = inputs[-1] if inputs else None
        self._reply_due = not inputs
        self._last, self._next_failed = frame, False

    def _has_jumped(self, frame: Frame) -> bool:
        """Tell whether a frame is missing before this one that no failed read stands for already."""
        if self._last is None or frame.letter == "S":
            return False
        due = next_seq(self._last.seq)
        if frame.seq == due:
            return False
        return not (self._next_failed and frame.seq == next_seq(due))
