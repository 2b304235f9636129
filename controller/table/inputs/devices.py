"""What devices and the machine under the table tell: starts, reads, scanners that come and go, time."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from controller.table.inputs.base import Input


class UntakenRead(msgspec.Struct, frozen=True):
    """A read on the recording that never became durable. `code` is None where the scanner could not read."""

    scanner: str
    code: str | None


class Started(Input, frozen=True, kw_only=True, omit_defaults=True):
    """The process has started; the first input of every run. `documents` are hashes of its config.

    `untaken`: the reads of the run before that came in and were never taken, in order. `quarantined`: names
    of inputs that have stopped the process twice (`table.quarantine`). `disk_free_mb` is told when it is too
    little.
    """

    epoch: int
    program: str
    rules: str
    documents: tuple[str, ...]
    untaken: tuple[UntakenRead, ...] = ()
    quarantined: tuple[str, ...] = ()
    disk_free_mb: int | None = None


OUTSIDE = "outside"
"""The place of a card of which a shoe says that it left it while its coup was due none."""


class CardRead(Input, frozen=True, kw_only=True):
    """A scanner read a code. `key` is 32 fresh random bytes in hex, drawn for every read.

    `repeat` is the driver's word that it may be the same card as just before (row 4); `place` is where a shoe
    that knows the order of drawing says that the card goes.
    """

    scanner: str
    code: str
    device_seq: int | None
    key: str
    repeat: bool = False
    place: str | None = None


class ReadFailed(Input, frozen=True, kw_only=True):
    """A scanner saw a card and could not read it, or its frame came damaged."""

    scanner: str
    cause: str


class ScannerOpened(Input, frozen=True, kw_only=True, omit_defaults=True):
    """The port is open: what arrives from now on is read.

    `device` tells one device from another, None where the system can't (a pty, a plain serial port).
    """

    scanner: str
    device: str | None = None


class ScannerLost(Input, frozen=True, kw_only=True):
    """The port is gone (unplugged, taken by another process, closed)."""

    scanner: str
    reason: str


class CardsTogether(Input, frozen=True, kw_only=True):
    """The `count` reads that come next were made at once: the order of their cards is not known (row 9)."""

    scanner: str
    count: int


class ScannerRestarted(Input, frozen=True, kw_only=True):
    """The device itself says that it has started anew: what it saw just before may be lost."""

    scanner: str


class ShoeResulted(Input, frozen=True, kw_only=True):
    """A shoe that judges by itself says how the coup ended: `PLAYER`, `BANKER`, `TIE`, or no such word."""

    scanner: str
    winner: str
    player_pair: bool
    banker_pair: bool


class ShoeStandsBy(Input, frozen=True, kw_only=True):
    """A shoe that knows the order of drawing waits for a new coup."""

    scanner: str


class Complaint(StrEnum):
    """What a shoe complains about."""

    OVERDRAW = "OVERDRAW"
    """A card left it that the coup was not due."""
    PULLED_BACK = "PULLED_BACK"
    """A card was pushed back into it."""
    DRAW_TIME_OUT = "DRAW_TIME_OUT"
    """The next card has not come for long."""
    OTHER = "OTHER"


class ShoeComplained(Input, frozen=True, kw_only=True):
    """A shoe complains, or says that the cause is gone."""

    scanner: str
    complaint: Complaint
    cleared: bool


class Measured(Input, frozen=True, kw_only=True):
    """Room for the journal, in millions of bytes. Comes when it has become too little, or enough again."""

    disk_free_mb: int


class ClockStepped(Input, frozen=True, kw_only=True):
    """The wall clock was set, by so much, while the process ran; negative: back. The table's own went on."""

    step_ms: int


class TimerExpired(Input, frozen=True, kw_only=True):
    """The deadline `name`, armed with `number`, has passed."""

    name: str
    number: int
