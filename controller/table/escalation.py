"""A supervisor who does not answer: called again, and in the end done without (row 40 of the procedures).

Each incident that waits for a supervisor has two deadlines of its own. They run on while newer incidents
lie over it, and a press that is not a decision does not stop them.
"""

from __future__ import annotations

from controller.table.events import BlockReason, IncidentEscalated
from controller.table.halts import block
from controller.table.incidents import ESCALATE, GIVE_UP, WAITS_FOR_SUPERVISOR, call_supervisor, cancel
from controller.table.situations import cancel_reason
from controller.table.state import TableState

CELL = "40"


def expire(t: TableState, name: str) -> None:
    """A deadline of an incident has passed."""
    kind, _, number = name.partition("/")
    incident = next(known for known in t.incidents if known.number == int(number))
    assert incident.state in WAITS_FOR_SUPERVISOR, incident
    if kind == ESCALATE:
        incident.escalated = True
        t.emit(IncidentEscalated(incident=incident.number, after_s=t.settings.limits.escalate_after_s))
        return
    assert kind == GIVE_UP, name
    if not t.is_round_open:
        # Nothing to cancel: the case waits on, and so does the table.
        t.emit(IncidentEscalated(incident=incident.number, after_s=t.settings.limits.give_up_after_s))
        block(t, BlockReason.NO_SUPERVISOR, CELL)
        return
    incident.cell = CELL
    cancel(t, incident, incident.reason or cancel_reason(incident.kind), None)
    block(t, BlockReason.NO_SUPERVISOR, CELL)


def begin_again(t: TableState) -> None:
    """The process was down: nobody could answer meanwhile, so the time to answer begins anew."""
    for incident in t.incidents:
        if incident.state in WAITS_FOR_SUPERVISOR:
            call_supervisor(t, incident)
