"""What people report: cases that no sensor of the table has noticed (P7, P8 of the procedures)."""

from __future__ import annotations

from typing import NamedTuple

from controller.games.procedure import BURN, DEALER, SWITCH, Deal, Face
from controller.table import dealing, procedures, readings
from controller.table.aside import burn
from controller.table.charts import is_accepted
from controller.table.events import BoxVoided, BurnReason, IncidentKind, Refusal, Verdict
from controller.table.incidents import cancel, decide
from controller.table.inputs import Observed, VoidBox
from controller.table.situations import OBSERVABLE, SITUATIONS, Axis, Known, cancel_reason, known
from controller.table.state import Incident, TableState


def observe(t: TableState, observed: Observed, actor: str) -> Refusal | None:
    """Take a report; the values that the table knows itself are not asked."""
    if observed.kind not in OBSERVABLE or not procedures.applies(t, observed.kind):
        return Refusal.NOT_OFFERED
    places = (*t.game.places, *t.game.boxes, SWITCH, BURN)
    if observed.place is not None and observed.place not in places:
        return Refusal.UNKNOWN_PLACE
    axes = SITUATIONS[observed.kind].axes
    if Axis.DEALERS in axes and observed.place is None and observed.kind is not IncidentKind.BOXED_CARD:
        return Refusal.UNKNOWN_PLACE
    values = {axis: _value(t, axis, observed) for axis in axes}
    if Axis.RESCAN in axes:
        values |= readings.rescan_values(t)
    where = None if observed.place is None else (observed.place, None)
    procedures.meet(t, observed.kind, values, where=where, reported_by=actor)
    return None


def reportable(t: TableState) -> tuple[str, ...]:
    """Return the kinds that people may report now."""
    if not is_accepted(t.phase, t.incident_state, "observed"):
        return ()
    return tuple(kind for kind in IncidentKind if kind in OBSERVABLE and procedures.applies(t, kind))


def _value(t: TableState, axis: Axis, observed: Observed) -> Known:
    """Return what the table knows of an axis by itself; the rest is unknown, and asked."""
    match axis:
        case Axis.DEALERS if observed.kind is IncidentKind.BOXED_CARD:
            return known(_boxed(t).place == DEALER)
        case Axis.DEALERS:
            return known(observed.place == DEALER)
        case Axis.DECISION:
            return procedures.decision_to_come(t)
        case Axis.HIDDEN:
            return known(_boxed(t).hidden)
        case Axis.LATER if observed.kind is IncidentKind.BURN_FORGOTTEN:
            return known(bool(t.in_play.laid))
        case Axis.SCANNED if observed.kind is not IncidentKind.CARD_ON_FLOOR:
            return Known.NO
        case Axis.SCANNED if procedures.is_redeal_shuffle(t):
            return Known.YES  # All cards are back in the deck; nobody has to be asked.
        case _:
            return Known.UNKNOWN


class Boxed(NamedTuple):
    """Where the card goes that lies boxed in the shoe, and whether face down."""

    place: str | None
    hidden: bool


def _boxed(t: TableState) -> Boxed:
    """Return what is known of a boxed card: it is the one that is due, or the last one if none is."""
    step = t.in_play.run.owed
    if isinstance(step, Deal):
        return Boxed(step.place, step.face is Face.DOWN)
    last = t.in_play.laid[-1] if t.in_play.laid else None
    return Boxed(None, hidden=False) if last is None else Boxed(last.place, not last.open)


def may_withdraw(t: TableState) -> bool:
    """Whether the newest incident is a report of a person, which that person's side may take back."""
    incident = t.incident
    return incident is not None and incident.reported_by is not None and incident.kind in SITUATIONS


def withdraw_report(t: TableState, incident: Incident, actor: str) -> Refusal | None:
    """The dealer takes the report back; the round goes on."""
    if not may_withdraw(t):
        return Refusal.NO_INCIDENT
    decide(t, incident, Verdict.WITHDRAWN, actor)
    readings.reading_stands(t, incident)
    return None


def confirm_cancel(t: TableState, incident: Incident, actor: str) -> Refusal | None:
    """A supervisor cancels; never a person who has reported what the cancel would decide."""
    if any(known.reported_by == actor for known in t.incidents):
        return Refusal.SAME_PERSON
    cancel(t, incident, incident.reason or cancel_reason(incident.kind), actor)
    return None


def may_void(t: TableState) -> bool:
    """Whether the cell lets a supervisor take a box out, and one is left."""
    return procedures.offers(t, "void_box") and not t.in_play.voided_boxes.keys() >= set(t.game.boxes)


def void_box(t: TableState, command: VoidBox, incident: Incident, actor: str) -> Refusal | None:
    """A supervisor takes one box out of the round: its wagers go back, it decides nothing any more.

    A card that came out too early and was seen goes out with it: it may be nobody's card any more.
    """
    if command.box not in t.game.boxes:
        return Refusal.UNKNOWN_PLACE
    if incident.reported_by == actor:
        return Refusal.SAME_PERSON
    if command.box in t.in_play.voided_boxes:
        return Refusal.ALREADY_DECIDED
    t.in_play.voided_boxes[command.box] = incident.cell
    if incident.read is not None:
        burn(t, incident.read, BurnReason(incident.kind))
    decide(t, incident, Verdict.BOX_VOIDED, actor)
    t.emit(BoxVoided(box=command.box, cell=incident.cell))
    dealing.void_decisions(t, command.box)
    return None
