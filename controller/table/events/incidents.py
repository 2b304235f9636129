"""Events of a case that went wrong: opened, asked about, decided, closed."""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from controller.table.events.base import AUDIT_ONLY, EVERYBODY, Audience, Event
from controller.table.events.reasons import IncidentKind, Verdict


class IncidentOpened(Event, frozen=True, kw_only=True, tag="incident.opened"):
    """The table holds. `cell` names the row of the procedure profile; `prompt` the text to show.

    `reason` is the one that a person has reported.
    """

    incident: int
    kind: IncidentKind
    cell: str
    place: str | None = None
    n: int | None = None
    reason: str | None = None
    prompt: str
    stops_betting: bool = False

    def seen_by(self, audience: Audience) -> Event | None:
        """The wallets hear of incidents that stop betting."""
        return self if self.stops_betting or audience is not Audience.SETTLEMENT else None


class IncidentAsked(Event, frozen=True, kw_only=True, tag="incident.asked"):
    """The open incident waits for something else now; cell, `prompt` and the card replace the old ones."""

    incident: int
    cell: str
    prompt: str
    place: str | None = None
    n: int | None = None


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
        return self if self.stops_betting or audience is not Audience.SETTLEMENT else None


IncidentEvent: TypeAlias = IncidentOpened | IncidentAsked | IncidentDecided | IncidentClosed
