"""What keeps a round from opening, and what the machine under the table tells: disk and clock.

None of it stops a round that is open: that one is finished.
"""

from __future__ import annotations

from controller.table import acknowledgements, deck_end, halts, shoe_life
from controller.table.events import ClockWasStepped, DiskMeasured, IncidentKind, Refusal, Verdict
from controller.table.incidents import note_incident
from controller.table.inputs import Role
from controller.table.state import TableState


def why_no_round(t: TableState, role: Role) -> Refusal | None:
    """Return why START is refused to a person of this role, None if nothing stands against it."""
    refusal = halts.why_no_round(t) or why_no_deal(t, role)
    if refusal is None and not deck_end.may_open_round(t):
        return Refusal.TOO_FEW_CARDS
    if refusal is None and shoe_life.awaits_stand_by(t):
        return Refusal.SHOE_NOT_READY
    if refusal is None and acknowledgements.is_waited_for(t):
        return Refusal.UNACKNOWLEDGED
    return refusal or (Refusal.DISK_FULL if is_disk_low(t) else None)


def why_no_deal(t: TableState, role: Role) -> Refusal | None:
    """Return why no deal begins, the first or one anew, when a person of this role presses for it."""
    if not t.scanners_up.issuperset(t.settings.scanners):
        return Refusal.SCANNER_DOWN
    is_strange = bool(t.strange_devices) and role is not Role.SUPERVISOR
    return Refusal.OTHER_SCANNER if is_strange else None


def is_disk_low(t: TableState) -> bool:
    """Return whether there is too little room for the journal of a round."""
    return t.disk_free_mb is not None and t.disk_free_mb < t.settings.limits.disk_free_mb


def measured(t: TableState, free_mb: int) -> None:
    """Take the room for the journal; an incident when it falls below the limit."""
    was_low = is_disk_low(t)
    t.disk_free_mb = free_mb
    t.emit(DiskMeasured(free_mb=free_mb, enough=not is_disk_low(t)))
    if is_disk_low(t) and not was_low:
        note_incident(t, IncidentKind.DISK_LOW, "disk", Verdict.NO_NEW_ROUND, "FREE_DISK")


def clock_stepped(t: TableState, step_ms: int) -> None:
    """Put on record that the wall clock was set. Nothing moves: deadlines are the table's own time."""
    t.emit(ClockWasStepped(step_ms=step_ms))
    note_incident(t, IncidentKind.CLOCK_STEPPED, "clock", Verdict.WENT_ON, "NOTED")
