"""What an incident is, once for all games: opened, decided (which cell, by whom), closed.

Incidents nest; the newest is the one that people are asked about, and while any is open the gate for
cards and confirmations is shut. Which cell decides a case is in `procedures`; what each kind of case does is
in `readings`, `surplus`, `interruptions` and `observations`.
"""

from __future__ import annotations

from controller.table import dealing, result
from controller.table.charts import INCIDENT_INPUTS, INCIDENT_TARGETS, IncidentState, Phase
from controller.table.events import (
    CardWithdrawn,
    IncidentAsked,
    IncidentClosed,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    RoundCancelled,
    RoundClosed,
    Verdict,
)
from controller.table.inputs import CancelReason
from controller.table.state import Incident, LaidCard, TableState, Where


def open_incident(
    t: TableState,
    kind: IncidentKind,
    cell: str,
    *,
    first: str,
    prompt: str,
    where: Where | tuple[str, None] | None = None,
    reason: CancelReason | None = None,
    reported_by: str | None = None,
) -> Incident:
    """Open an incident and shut the gate; `first` is the chart event that says whom it asks."""
    t.incidents_count += 1
    state = INCIDENT_TARGETS[IncidentState.NONE, first]
    place, n = where if where is not None else (None, None)
    incident = Incident(t.incidents_count, kind, cell, prompt, state, place=place, n=n)
    incident.stops_betting = t.phase is Phase.BETTING
    incident.reason, incident.reported_by = reason, reported_by
    t.incidents.append(incident)
    t.emit(
        IncidentOpened(
            incident=incident.number,
            kind=kind,
            cell=cell,
            place=incident.place,
            n=n,
            reason=incident.reason,
            prompt=prompt,
            stops_betting=incident.stops_betting,
        )
    )
    return incident


def ask(t: TableState, incident: Incident, event: str, prompt: str) -> None:
    """Ask somebody else, or something else; `event` is the chart's."""
    incident.prompt = prompt
    incident.state = INCIDENT_TARGETS[incident.state, event]
    t.emit(
        IncidentAsked(
            incident=incident.number, cell=incident.cell, prompt=prompt, place=incident.place, n=incident.n
        )
    )


def decide(
    t: TableState, incident: Incident, verdict: Verdict, by: str | None, reason: str | None = None
) -> None:
    """Say how the incident was decided, and close it."""
    t.emit(
        IncidentDecided(incident=incident.number, cell=incident.cell, verdict=verdict, by=by, reason=reason)
    )
    assert "close" in INCIDENT_INPUTS[incident.state], incident
    t.incidents.remove(incident)
    t.emit(IncidentClosed(incident=incident.number, kind=incident.kind, stops_betting=incident.stops_betting))


def note_incident(t: TableState, kind: IncidentKind, cell: str, verdict: Verdict, prompt: str) -> None:
    """Put on record a case whose cell leaves nothing to ask."""
    incident = open_incident(t, kind, cell, first="ask_supervisor", prompt=prompt)
    decide(t, incident, verdict, None)


def cancel(t: TableState, incident: Incident, reason: CancelReason, by: str | None) -> None:
    """Cancel the round: everything is refunded (RPL-73) and every commitment is opened."""
    current = t.in_play
    dealing.abandon_window(t, "cancel")
    place = incident.place
    deck_out = any(known.deck_out for known in t.incidents)
    decide(t, incident, Verdict.CANCELLED, by, reason)
    for other in reversed(list(t.incidents)):
        decide(t, other, Verdict.CANCELLED, by, reason)
    t.move("round_cancelled")
    t.emit(
        RoundCancelled(
            rev=1,
            reason=reason,
            incident=incident.number,
            place=place,
            voided=tuple(current.voided),
            opened=result.open_commitments(current),
        )
    )
    t.emit(RoundClosed(rev=1))
    t.deck_suspect = t.deck_suspect or deck_out


def last_card(t: TableState) -> LaidCard | None:
    """Return the card that came last, if it may still be disputed: no press and no window end since."""
    current = t.in_play
    if not current.laid or len(current.laid) <= current.laid_at_window:
        return None
    laid = current.laid[-1]
    later = current.run.asked[laid.fact + 1 :] if laid.fact is not None else []
    return None if later else laid


def withdraw_card(t: TableState, laid: LaidCard, reason: IncidentKind) -> None:
    """Say that a card does not lie where it was read; its code counts as in the shoe again."""
    t.register.withdraw(laid.code)
    t.emit(CardWithdrawn(place=laid.place, n=laid.n, reading=laid.reading, reason=reason))
