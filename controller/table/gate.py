"""The gate: whether an input is taken now, by the two charts, and the event that says why not."""

from __future__ import annotations

from controller.table.charts import IncidentState, is_accepted
from controller.table.events import InputRefused, Refusal
from controller.table.inputs import Commanded
from controller.table.state import TableState


def refuse(t: TableState, name: str, reason: Refusal, command: Commanded | None = None) -> None:
    """Say that an input was not taken. No card and no code is named."""
    t.emit(
        InputRefused(
            input=name,
            reason=reason,
            actor=command.actor if command is not None else None,
            request=command.request if command is not None else None,
        )
    )


def why_not(t: TableState, name: str) -> Refusal | None:
    """Ask both charts; None when the input is taken."""
    if is_accepted(t.phase, t.incident_state, name):
        return None
    if is_accepted(t.phase, IncidentState.NONE, name):
        return Refusal.HELD
    return Refusal.WRONG_PHASE if t.incident is not None else _why_not_now(t, name)


def _why_not_now(t: TableState, name: str) -> Refusal:
    in_an_incident = any(is_accepted(t.phase, state, name) for state in IncidentState)
    return Refusal.NO_INCIDENT if in_an_incident else Refusal.WRONG_PHASE
