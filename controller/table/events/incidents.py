"""Events of a case that went wrong: opened, asked about, decided, closed."""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from msgspec.structs import replace

from controller.table.events.base import AUDIT_ONLY, EVERYBODY, Audience, Event
from controller.table.events.reasons import IncidentKind, Verdict

HOUSEKEEPING = frozenset({IncidentKind.DISK_LOW, IncidentKind.CLOCK_STEPPED})
"""Cases of the machine, not of the game: they hold nothing, and the back office alone hears of them."""


class IncidentOpened(Event, frozen=True, kw_only=True, tag="incident.opened"):
    """The table holds. `cell` names the row of the procedure profile; `prompt` the text to show.

    `reason` is the one that a person has reported.
    """

    audiences: ClassVar = EVERYBODY
    incident: int
    kind: IncidentKind
    cell: str
    place: str | None = None
    n: int | None = None
    reason: str | None = None
    prompt: str
    stops_betting: bool = False
    dealer: str | None = None
    """Who was dealing (procedures, P7); for the audit alone."""
    other_place: str | None = None
    other_n: int | None = None
    """Where the card lies, or lay, that this one can't be beside (row 5)."""

    def seen_by(self, audience: Audience) -> Event | None:
        """The wallets hear of incidents that stop betting; ids of people stay in the house."""
        if audience is Audience.AUDIT:
            return self
        told = self.stops_betting or audience is not Audience.SETTLEMENT
        return replace(self, dealer=None) if told and self.kind not in HOUSEKEEPING else None


class IncidentAsked(Event, frozen=True, kw_only=True, tag="incident.asked"):
    """The open incident waits for something else now; cell, `prompt` and the card replace the old ones."""

    incident: int
    cell: str
    prompt: str
    place: str | None = None
    n: int | None = None


class IncidentEscalated(Event, frozen=True, kw_only=True, tag="incident.escalated"):
    """No supervisor has answered for so long (row 40)."""

    audiences: ClassVar = AUDIT_ONLY
    incident: int
    after_s: int


class IncidentDecided(Event, frozen=True, kw_only=True, tag="incident.decided"):
    """Who decided what, on which cell. `by` is None where the cell needs no press."""

    audiences: ClassVar = AUDIT_ONLY
    incident: int
    cell: str
    verdict: Verdict
    by: str | None = None
    reason: str | None = None


class IncidentClosed(Event, frozen=True, kw_only=True, tag="incident.closed"):
    """The incident is over."""

    audiences: ClassVar = EVERYBODY
    incident: int
    kind: IncidentKind
    stops_betting: bool = False

    def seen_by(self, audience: Audience) -> Event | None:
        """The wallets hear of the end of what they heard the beginning of."""
        if self.kind in HOUSEKEEPING:
            return self if audience is Audience.AUDIT else None
        return self if self.stops_betting or audience is not Audience.SETTLEMENT else None


IncidentEvent: TypeAlias = (
    IncidentOpened | IncidentAsked | IncidentEscalated | IncidentDecided | IncidentClosed
)
