"""Scanners that go and come back, and restarts: rows 30 and 35 of the procedures."""

from __future__ import annotations

from controller.table import dealing, escalation, procedures
from controller.table.charts import IncidentState
from controller.table.events import IncidentKind, Refusal, Verdict
from controller.table.incidents import ask, decide, open_incident
from controller.table.situations import SITUATIONS, Axis, Known
from controller.table.state import Incident, TableState

SCANNER_GONE = "SCANNER_GONE"


def scanner_lost(t: TableState) -> None:
    """Row 30: freeze in the state reached; a lost scanner comes back by itself or is decided on."""
    for incident in t.incidents:
        if incident.kind is IncidentKind.SCANNER_LOST:
            if incident.state is not IncidentState.LOST:
                ask(t, incident, "lose_scanner", SCANNER_GONE)
            return
    row = SITUATIONS[IncidentKind.SCANNER_LOST].row
    open_incident(t, IncidentKind.SCANNER_LOST, row, first="lose_scanner", prompt=SCANNER_GONE)


def scanner_back(t: TableState) -> None:
    """All scanners are there again; what came out meanwhile they have not seen, the dealer has.

    A card that did is scanned now, and counts as no re-scan (RPL-75).
    """
    if not t.scanners_up.issuperset(t.settings.scanners):
        return
    for incident in t.incidents:
        if incident.kind is IncidentKind.SCANNER_LOST and incident.state is IncidentState.LOST:
            incident.values = {Axis.LATER: Known.UNKNOWN}
            procedures.judge(t, incident, None)


def restarted(t: TableState) -> None:
    """Row 35: the table went down in a round; people say what lies there before it goes on."""
    escalation.begin_again(t)
    window = t.in_play.window
    if window is not None and window.is_open and window.window != dealing.BETTING:
        window.interrupted = True
    procedures.meet(t, IncidentKind.RESTARTED, {Axis.CERTAIN: Known.UNKNOWN})


def picture_confirmed(t: TableState, incident: Incident, actor: str) -> None:
    """The dealer finds everything as the picture says; an interrupted window is uncertain all the same."""
    window = t.in_play.window
    certain = not is_other_program(t) and (window is None or not window.interrupted)
    procedures.answered(t, incident, certain, actor)


def may_go_on(t: TableState) -> bool:
    """Whether "go on" is offered; after a restart only with the same program and rules, and all decided."""
    incident = t.incident
    if incident is None or not procedures.offers(t, "go_on"):
        return False
    if incident.kind is not IncidentKind.RESTARTED:
        return True
    if is_other_program(t):
        return False
    window = t.in_play.window
    return window is None or not window.interrupted or window.undecided is False


def is_other_program(t: TableState) -> bool:
    """Whether the round was opened by another version or under other rules: it may only be cancelled."""
    return t.in_play.program != t.program or t.in_play.rules != t.rules


def go_on(t: TableState, incident: Incident, actor: str) -> Refusal | None:
    """A supervisor lets the round go on."""
    if not may_go_on(t):
        return Refusal.TOO_EARLY
    if incident.kind is not IncidentKind.RESTARTED:
        procedures.go_on(t, incident, actor)
        return None
    decide(t, incident, Verdict.WENT_ON, actor)
    window = t.in_play.window
    if window is not None and window.interrupted:
        dealing.resume_window(t, window)
    return None
