"""Events of the people at the table, and of what keeps the next round from opening."""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from msgspec.structs import replace

from controller.table.events.base import AUDIT_ONLY, Audience, Event
from controller.table.events.reasons import BlockReason, HaltReason


class LoggedIn(Event, frozen=True, kw_only=True, tag="person.logged_in"):
    """A person has proven who they are, by PIN or badge, and is on duty in this role."""

    audiences: ClassVar = AUDIT_ONLY
    actor: str
    role: str
    proof: str


class LoggedOut(Event, frozen=True, kw_only=True, tag="person.logged_out"):
    """A person is off duty. `by` is a supervisor who has logged out somebody else."""

    audiences: ClassVar = AUDIT_ONLY
    actor: str
    role: str
    by: str | None = None


class DealerChanged(Event, frozen=True, kw_only=True, tag="dealer.changed"):
    """Who deals from here on (row 31); None: nobody.

    `name` is the one that players see. `signed_by` are the two of a change inside a round.
    """

    name: str | None = None
    dealer: str | None = None
    signed_by: tuple[str, ...] = ()

    def seen_by(self, audience: Audience) -> Event | None:
        """Ids of people stay in the house."""
        told = super().seen_by(audience)
        return replace(self, dealer=None, signed_by=()) if told and audience is not Audience.AUDIT else told


class HaltEvent(Event, frozen=True, kw_only=True):
    """A pause or a close that a person has ordered; only the audit hears who."""

    by: str | None = None

    def seen_by(self, audience: Audience) -> Event | None:
        """Ids of people stay in the house."""
        told = super().seen_by(audience)
        return replace(self, by=None) if told and audience is not Audience.AUDIT else told


class TablePausing(HaltEvent, frozen=True, kw_only=True, tag="table.pausing"):
    """The table pauses after this round."""

    reason: HaltReason


class TablePaused(HaltEvent, frozen=True, kw_only=True, tag="table.paused"):
    """No round opens until the table is resumed."""

    reason: HaltReason


class TableClosing(HaltEvent, frozen=True, kw_only=True, tag="table.closing"):
    """The table closes after this round."""

    reason: HaltReason


class TableResumed(HaltEvent, frozen=True, kw_only=True, tag="table.resumed"):
    """The pause is over, or the pause or close that was to come is taken back."""


class TableBlocked(Event, frozen=True, kw_only=True, tag="table.blocked"):
    """No round opens until two people have unlocked the table. `cell` is the case behind it."""

    reason: BlockReason
    cell: str


class TableUnblocked(Event, frozen=True, kw_only=True, tag="table.unblocked"):
    """Two people, one of them a supervisor, have unlocked the table; `cells` are the cases of the blocks."""

    cells: tuple[str, ...]
    by: tuple[str, ...] = ()

    def seen_by(self, audience: Audience) -> Event | None:
        """Ids of people stay in the house."""
        told = super().seen_by(audience)
        return replace(self, by=()) if told and audience is not Audience.AUDIT else told


PeopleEvent: TypeAlias = (
    LoggedIn
    | LoggedOut
    | DealerChanged
    | TablePausing
    | TablePaused
    | TableClosing
    | TableResumed
    | TableBlocked
    | TableUnblocked
)
