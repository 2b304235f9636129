"""Events of the day: the process, the table, the deck, scanners, presses and refusals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, TypeAlias

from controller.table.events.base import AUDIT_ONLY, EVERYBODY, Audience, Event
from controller.table.events.reasons import Refusal


class ControllerStarted(Event, frozen=True, kw_only=True, tag="controller.started"):
    """A process runs the table from here on, under a new epoch."""

    audiences: ClassVar = AUDIT_ONLY
    epoch: int
    program: str
    rules: str
    documents: tuple[str, ...]


class TableOpened(Event, frozen=True, kw_only=True, tag="table.opened"):
    """The table is live; a deck check comes first."""

    audiences: ClassVar = EVERYBODY - {Audience.SETTLEMENT}


class TableClosed(Event, frozen=True, kw_only=True, tag="table.closed"):
    """The table is off."""


class DeckVerified(Event, frozen=True, kw_only=True, tag="deck.verified"):
    """The deck was verified in view of the camera (RPL-76)."""

    count: int


class DeckShuffled(Event, frozen=True, kw_only=True, tag="deck.shuffled"):
    """The deck is shuffled, cut and in the shoe (RPL-77)."""

    repeat: bool = False


class InputAccepted(Event, frozen=True, kw_only=True, tag="press.accepted"):
    """A press or a fact was taken."""

    audiences: ClassVar = AUDIT_ONLY
    request: str
    actor: str
    role: str
    command: str


class InputRefused(Event, frozen=True, kw_only=True, tag="input.refused"):
    """An input was not taken. No card and no code is ever named here."""

    audiences: ClassVar = AUDIT_ONLY
    input: str
    reason: Refusal
    actor: str | None = None
    request: str | None = None


class RoundAcknowledged(Event, frozen=True, kw_only=True, tag="round.acknowledged"):
    """A consumer has acted on revision `rev` of a round, and on everything before it."""

    audiences: ClassVar = AUDIT_ONLY
    consumer: str
    roundid: str
    rev: int


class ScannerChanged(Event, frozen=True, kw_only=True, tag="scanner.changed"):
    """A scanner came up or went down."""

    audiences: ClassVar = AUDIT_ONLY
    scanner: str
    up: bool
    reason: str | None = None
    device: str | None = None


class ReadCompared(Event, frozen=True, kw_only=True, tag="read.compared"):
    """A reader that deals nothing has read a code; the event is the same whatever it was."""

    audiences: ClassVar = AUDIT_ONLY
    scanner: str


class ReadHeld(Event, frozen=True, kw_only=True, tag="read.held"):
    """A read came in while incident `incident` held the table; what it said is kept from everybody.

    `drawn` cards had left the shoe before it; `count` counts such reads in this round.
    """

    audiences: ClassVar = AUDIT_ONLY
    scanner: str
    incident: int
    drawn: int
    count: int


class ReadsUntaken(Event, frozen=True, kw_only=True, tag="reads.untaken"):
    """Reads of the run before that came in and were never taken, by scanner."""

    audiences: ClassVar = AUDIT_ONLY
    reads: Mapping[str, int]


class DiskMeasured(Event, frozen=True, kw_only=True, tag="disk.measured"):
    """Room for the journal; rounds open when it is `enough`."""

    audiences: ClassVar = AUDIT_ONLY
    free_mb: int
    enough: bool


class ClockWasStepped(Event, frozen=True, kw_only=True, tag="clock.stepped"):
    """The wall clock was set by so much; the table's clock, its windows and leases went on unmoved."""

    audiences: ClassVar = AUDIT_ONLY
    step_ms: int


DayEvent: TypeAlias = (
    ControllerStarted
    | TableOpened
    | TableClosed
    | DeckVerified
    | DeckShuffled
    | InputAccepted
    | InputRefused
    | RoundAcknowledged
    | ScannerChanged
    | ReadCompared
    | ReadHeld
    | ReadsUntaken
    | DiskMeasured
    | ClockWasStepped
)
