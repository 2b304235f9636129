"""What an incident is, once for all games: opened, decided (which cell, by whom), closed.

Incidents nest; the newest is the one that people are asked about, and while any is open the gate for
cards and confirmations is shut. Cells are named by the row of the procedures' table, or by the game's own
rule that stands above it. What each kind of case does is in `readings`, `surplus` and `interruptions`.
"""

from __future__ import annotations

from typing import NamedTuple

from controller.table import dealing, result
from controller.table.charts import INCIDENT_INPUTS, INCIDENT_TARGETS, IncidentState, Phase
from controller.table.events import (
    CardWithdrawn,
    IncidentAsked,
    IncidentClosed,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    Refusal,
    RoundCancelled,
    RoundClosed,
    Verdict,
)
from controller.table.events.incidents import HOUSEKEEPING
from controller.table.inputs import CancelReason, ReportCancel
from controller.table.state import Incident, LaidCard, TableState, Where

SAME_CARD = "SAME_CARD"
FACE_SEEN = "FACE_SEEN"
CARD_DRAWN = "CARD_DRAWN"
SCAN_AGAIN = "SCAN_AGAIN"
SCAN_DRAWN_CARD = "SCAN_DRAWN_CARD"
CALL_SUPERVISOR = "CALL_SUPERVISOR"
SCANNER_GONE = "SCANNER_GONE"
CONFIRM_PICTURE = "CONFIRM_PICTURE"
OTHER_SCANNER = "OTHER_SCANNER"
GONE_TOO_LONG = "GONE_TOO_LONG"
CARD_READ_MEANWHILE = "CARD_READ_MEANWHILE"
PRESS_LEFT_OUT = "PRESS_LEFT_OUT"
INPUT_LEFT_OUT = "INPUT_LEFT_OUT"
FREE_DISK = "FREE_DISK"
CHECK_DECK = "CHECK_DECK"
SHUFFLE_AGAIN = "SHUFFLE_AGAIN"
NOTED = "NOTED"


class Report(NamedTuple):
    """Who reported a case, and the reason and place that were named."""

    by: str
    reason: CancelReason | None = None
    place: str | None = None


DECK_LEAVES = frozenset({CancelReason.DECK_INTEGRITY, CancelReason.CARD_ON_FLOOR})
"""After these the deck is changed and verified before the next round (RPL-76, rows 5 and 6)."""


def open_incident(
    t: TableState,
    kind: IncidentKind,
    cell: str,
    *,
    first: str,
    prompt: str,
    where: Where | None = None,
    report: Report | None = None,
) -> Incident:
    """Open an incident and shut the gate; `first` is the chart event that says whom it asks."""
    t.incidents_count += 1
    state = INCIDENT_TARGETS[IncidentState.NONE, first]
    place, n = where if where is not None else (None, None)
    incident = Incident(t.incidents_count, kind, cell, prompt, state, place=place, n=n)
    incident.stops_betting = t.phase is Phase.BETTING and kind not in HOUSEKEEPING
    if report is not None:
        incident.reported_by, incident.reason, incident.place = (
            report.by,
            report.reason,
            report.place or place,
        )
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
    t.emit(IncidentAsked(incident=incident.number, prompt=prompt))


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
    dealing.abandon_window(t)
    place = incident.place
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
            opened=result.open_commitments(current),
        )
    )
    t.emit(RoundClosed(rev=1))
    t.deck_suspect = t.deck_suspect or reason in DECK_LEAVES


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


def report(t: TableState, command: ReportCancel, actor: str) -> None:
    """RPL-70: the dealer reports; the table freezes until another person decides."""
    open_incident(
        t,
        IncidentKind.CANCEL_REPORTED,
        "RPL-70",
        first="ask_supervisor",
        prompt=CALL_SUPERVISOR,
        report=Report(actor, command.reason, command.place),
    )


def withdraw_report(t: TableState, incident: Incident, actor: str) -> Refusal | None:
    """The dealer takes the report back; the round goes on."""
    if not may_withdraw(t):
        return Refusal.NO_INCIDENT
    decide(t, incident, Verdict.WITHDRAWN, actor)
    return None


def may_withdraw(t: TableState) -> bool:
    """Whether the newest incident is a report of a person, which that person's side may take back."""
    incident = t.incident
    if incident is None or incident.reported_by is None:
        return False
    return incident.kind in (IncidentKind.CANCEL_REPORTED, IncidentKind.SURPLUS_CARD)


def confirm_cancel(t: TableState, incident: Incident, actor: str) -> Refusal | None:
    """A supervisor cancels; never a person who has reported what the cancel would decide."""
    if any(known.reported_by == actor for known in t.incidents):
        return Refusal.SAME_PERSON
    cancel(t, incident, incident.reason or CancelReason.TECHNICAL, actor)
    return None
