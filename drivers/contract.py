"""The driver contract: bytes of one device in, reports out, no I/O and no clock inside.

A framer is fed chunks and time by whoever owns both (the station, a replay, a test), and must give the
same reports for the same bytes however they were cut. Times are integer microseconds.
"""

from __future__ import annotations

import difflib
from collections import deque
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Literal, Protocol, TypeAlias, TypeVar, runtime_checkable

import msgspec

REPORTS_MAX = 8192
"""Reports a framer keeps for a caller who does not collect them; a chunk of a port makes at most half."""

BAUD_RATES = (1200, 2400, 4800, 9600, 19200, 38400, 57600, 115200)


class CodeRead(msgspec.Struct, frozen=True, tag=True):
    """The device read a code. `device_seq` is the device's own frame number, None when it has none.

    `place` is where the device itself says that the card goes (`P1` to `B3` of a baccarat shoe), None for
    a device that knows no places. `repeat` says that this may be the card that was read just before: the
    same code within this device's guard time. It is asked about, never dropped and never simply dealt.
    """

    code: str
    device_seq: int | None = None
    place: str | None = None
    repeat: bool = False


class FailedReadCause(StrEnum):
    """Why something that looked like a read gave no code."""

    NO_READ = "NO_READ"
    """The device itself says that it could not read."""
    DAMAGED = "DAMAGED"
    """A frame with bytes that do not belong into it."""
    CUT_SHORT = "CUT_SHORT"
    """A frame that stopped in the middle; half a code is never a code."""
    WRONG_LENGTH = "WRONG_LENGTH"
    """A frame longer or shorter than this device's codes can be."""
    OVERRUN = "OVERRUN"
    """Reports were lost because nobody collected them; any number of reads may be among them."""
    MISSED = "MISSED"
    """The device's own numbers jumped: frames never arrived, and any of them may have been a card. What
    follows is good and comes as a report of its own; the table holds until a re-scan has filled the gap."""


class ReadFailed(msgspec.Struct, frozen=True, tag=True):
    """A read that gave no code: a card may have left the shoe unseen."""

    cause: FailedReadCause


class DeviceState(StrEnum):
    """What a device says about itself."""

    RESTARTED = "RESTARTED"
    """It has lost what it knew: cards may be out that it does not remember."""
    STAND_BY = "STAND_BY"
    """It waits for a new coup."""
    CONFIGURED = "CONFIGURED"
    """It has taken the settings that its driver gives it."""
    REFUSED = "REFUSED"
    """It has refused some of them; doctor tells what it is."""
    SILENT = "SILENT"
    """It answers no command: check power, cable and baud rate. It is asked again until it answers."""
    GONE = "GONE"
    """A reader that only speaks when it is asked answers no more: cards pass it unseen, as if lost."""
    BACK = "BACK"
    """It answers again after it was gone."""


class DeviceReported(msgspec.Struct, frozen=True, tag=True):
    """The device reported a change of its own state; no card is concerned."""

    state: DeviceState


class CardDrawn(msgspec.Struct, frozen=True, tag=True):
    """A card left the shoe for `place`; its face comes as a `CodeRead`, or it lies there unread.

    `again`: a card that was drawn before, as surplus, and opens this coup.
    """

    place: str
    again: bool = False


class DrawnOutside(msgspec.Struct, frozen=True, tag=True):
    """A card left the shoe while no coup was due one; `code` is None when the shoe has not seen its face.

    `ended`: the same card was taken back or shown since; the shoe does not say which.
    """

    place: str
    code: str | None
    ended: bool


class ShoeWinner(StrEnum):
    """Who has won in the shoe's own opinion."""

    PLAYER = "PLAYER"
    TIE = "TIE"
    BANKER = "BANKER"
    UNKNOWN = "UNKNOWN"
    """The frame is whole and means no result that is known: it agrees with nothing."""


class ShoeResult(msgspec.Struct, frozen=True, tag=True):
    """The shoe's own result of a coup, to be compared with the rules. `banker_six`: won with a six."""

    winner: ShoeWinner
    player_pair: bool
    banker_pair: bool
    banker_six: bool = False


class Fault(StrEnum):
    """What a shoe complains about."""

    NOT_READ = "NOT_READ"
    """A card left the shoe and its face could not be read."""
    OVERDRAW = "OVERDRAW"
    """A card left the shoe that the coup was not due."""
    INDICATOR_BUTTON = "INDICATOR_BUTTON"
    PULLED_BACK_AT_EXIT = "PULLED_BACK_AT_EXIT"
    PULLED_BACK_ON_WAY = "PULLED_BACK_ON_WAY"
    CODE_ERROR = "CODE_ERROR"
    DRAW_TIME_OUT = "DRAW_TIME_OUT"
    UNKNOWN = "UNKNOWN"
    """A complaint with a number that is not known."""


class DeviceFault(msgspec.Struct, frozen=True, tag=True):
    """The device complains, or says that the cause is gone (`cleared`)."""

    fault: Fault
    cleared: bool


class Garbage(msgspec.Struct, frozen=True, tag=True):
    """`count` bytes that belong to no read; 0 for a word on bytes that were counted before.

    `hint` never quotes them: they may spell a face-down card.
    """

    count: int
    hint: str


class ReadTogether(msgspec.Struct, frozen=True, tag=True):
    """The `count` reads that follow came at once, or too close behind the one before.

    In which order their cards were drawn is not known (row 9 of the procedures). It comes before the reads,
    so that the table holds before it takes one of them.
    """

    count: int


Report: TypeAlias = (
    CodeRead
    | ReadFailed
    | ReadTogether
    | DeviceReported
    | CardDrawn
    | DrawnOutside
    | ShoeResult
    | DeviceFault
    | Garbage
)


class Framer(Protocol):
    """One device's side of the line. No bytes make it raise, and it holds a bounded amount of them.

    Whatever is to go to the device waits in `bytes_to_send`; it is taken after `opened`, `receive`, `tick`
    and `acknowledge`, and dropped while the line is down.
    """

    @property
    def shortest_timeout_us(self) -> int:
        """The shortest silence that means anything; chunks closer together than this may be merged."""

    def opened(self, at_us: int) -> None:
        """Begin anew: the line was opened at `at_us`, and what the device said before is over.

        A frame that had begun is reported as cut short. Bytes that come in while the line settles are never
        fed, so a driver that asks its device something here may have to ask again.
        """

    def receive(self, chunk: bytes, at_us: int) -> None:
        """Take bytes that were read at `at_us`; time-outs due at or before it pass first."""

    def tick(self, at_us: int) -> None:
        """Let the time-outs pass that are due at or before `at_us`."""

    def next_deadline_us(self) -> int | None:
        """Return when `tick` is wanted next, or None while nothing is pending."""

    def next_report(self) -> Report | None:
        """Take the oldest report, or None when there is none. Call until None after every feed."""

    def acknowledge(self, report: Report) -> None:
        """Say that the input made of `report` is durable; call for every report, in order.

        A link acknowledgement to the device is released by this and by nothing earlier, for refused
        cards as well. What changes no table (garbage, the device's own state, a read that was acknowledged
        before and came again) is answered by the framer itself, whether or not it gets here.
        """

    def bytes_to_send(self) -> bytes:
        """Take what has to go to the device now (polls, released acknowledgements), often nothing."""


@runtime_checkable
class Interlock(Protocol):
    """What a framer can do besides, when its device can be kept from reading."""

    def expect(self, is_due: bool) -> None:
        """Let the device read while a read is due, and keep it from reading while none is.

        Takes effect with the next `tick`, which `next_deadline_us` asks for. A setting of the device, off
        by default: with it on, a surplus card leaves the shoe unseen, so that the stub has to be counted.
        """


class Clock(Protocol):
    """Time as the owner of a process sees it; in a simulation the simulator owns it."""

    def now_us(self) -> int:
        """Return the present in microseconds, strictly rising."""

    async def sleep_until(self, at_us: int) -> None:
        """Return once the clock shows `at_us` or more."""


class SerialSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a serial line is opened. Raises ValueError for a baud rate that no device here uses."""

    baud: int = 9600
    bytesize: Literal[7, 8] = 8
    parity: Literal["N", "E", "O"] = "N"
    stopbits: Literal[1, 2] = 1
    settle_ms: Annotated[int, msgspec.Meta(ge=0, le=60_000)] = 300
    """How long after an open whatever comes in is stale: plug-in noise and reads buffered while away."""

    def __post_init__(self) -> None:
        if self.baud not in BAUD_RATES:
            raise ValueError(f"baud: {self.baud} is not one of {', '.join(map(str, BAUD_RATES))}")


class ReportQueue:
    """Reports waiting for the caller, at most `REPORTS_MAX`; beyond that one OVERRUN stands for the rest."""

    def __init__(self) -> None:
        self._waiting: deque[Report] = deque()

    def put(self, report: Report) -> bool:
        """Append a report, or say in the last place that reports were lost. Returns whether it fitted."""
        if len(self._waiting) < REPORTS_MAX:
            self._waiting.append(report)
            return True
        self._waiting[-1] = ReadFailed(FailedReadCause.OVERRUN)
        return False

    def take(self) -> Report | None:
        """Take the oldest report, or None."""
        return self._waiting.popleft() if self._waiting else None


Options = TypeVar("Options", bound=msgspec.Struct)


def read_options(family: str, model: type[Options], options: Mapping[str, object]) -> Options:
    """Turn a mapping of option names into `model`, a msgspec Struct.

    Raises ValueError naming the family and the option: unknown (with the nearest valid name), of a
    wrong type, or out of range.
    """
    valid = [field.name for field in msgspec.structs.fields(model)]
    for name in options:
        if name not in valid:
            raise ValueError(f"driver {family}: option {unknown_name(name, valid)}")
    try:
        return msgspec.convert(dict(options), model)
    except msgspec.ValidationError as error:
        raise ValueError(f"driver {family}: {error}") from None


def unknown_name(name: str, valid: Iterable[str]) -> str:
    """Say that `name` is none of `valid`, and which of them is nearest."""
    valid = sorted(valid)
    near = difflib.get_close_matches(name, valid, n=1, cutoff=0)
    advice = f"; nearest is {near[0]!r}" if near else ""
    return f"{name!r} is not one of {', '.join(valid)}{advice}"


# What a framer may offer besides.


@runtime_checkable
class Probe(Protocol):
    """A framer whose device can be asked what it is, for `tablectl doctor` and never while a table runs."""

    def ask_about_itself(self) -> None:
        """Ask; the questions are among the `bytes_to_send` of the next `tick`."""

    def told_about_itself(self) -> tuple[str, ...]:
        """Return what the device has answered so far, in words, one fact a text; no answer, no text."""


class Signs(msgspec.Struct, frozen=True):
    """What a while of bytes shows of a device's own set-up: `seen`, in words, and what is `wrong`, each with
    what was expected and what to change."""

    seen: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()


@runtime_checkable
class Judging(Protocol):
    """A framer of a device that may know the rules of the game."""

    @property
    def judges_coups(self) -> bool:
        """Whether the device says itself how a coup has ended."""
        ...


@runtime_checkable
class Checksummed(Protocol):
    """A framer that knows whether its frames carry a checksum."""

    @property
    def has_checksum(self) -> bool:
        """Whether no single changed byte of a frame gives another code."""
