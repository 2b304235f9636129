"""Scanners that go and come back, and restarts: rows 30 and 35 of the procedures."""

from __future__ import annotations

from controller.table import dealing, escalation
from controller.table.charts import IncidentState
from controller.table.events import IncidentKind, Refusal, Verdict
from controller.table.incidents import (
    CALL_SUPERVISOR,
    CARD_DRAWN,
    CONFIRM_PICTURE,
    SCAN_DRAWN_CARD,
    SCANNER_GONE,
    ask,
    decide,
    open_incident,
)
from controller.table.state import Incident, TableState


def scanner_lost(t: TableState) -> None:
    """Row 30: freeze in the state reached; a lost scanner comes back by itself or is decided on."""
    for incident in t.incidents:
        if incident.kind is IncidentKind.SCANNER_LOST:
            if incident.state is not IncidentState.LOST:
                ask(t, incident, "lose_scanner", SCANNER_GONE)
            return
    open_incident(t, IncidentKind.SCANNER_LOST, "30", first="lose_scanner", prompt=SCANNER_GONE)


def scanner_back(t: TableState) -> None:
    """All scanners are there again; what came out meanwhile they have not seen, the dealer has."""
    if not t.scanners_up.issuperset(t.settings.scanners):
        return
    for incident in t.incidents:
        if incident.kind is IncidentKind.SCANNER_LOST and incident.state is IncidentState.LOST:
            ask(t, incident, "ask", CARD_DRAWN)


def card_drawn_answered(t: TableState, incident: Incident, yes: bool, actor: str) -> None:
    """A card that came out while the scanner was away is scanned now, and counts as no re-scan (RPL-75)."""
    if yes:
        ask(t, incident, "ask_rescan", SCAN_DRAWN_CARD)
    else:
        decide(t, incident, Verdict.WENT_ON, actor)


def restarted(t: TableState) -> None:
    """Row 35: the table went down in a round; people say what lies there before it goes on."""
    current = t.in_play
    escalation.begin_again(t)
    scanner_lost(t)
    window = current.window
    if window is not None and window.is_open and window.window != dealing.BETTING:
        window.interrupted = True
    open_incident(t, IncidentKind.RESTARTED, "35", first="ask_picture", prompt=CONFIRM_PICTURE)


def picture_confirmed(t: TableState, incident: Incident, actor: str) -> None:
    """The dealer finds everything as the picture says."""
    current = t.in_play
    window = current.window
    changed = current.program != t.program or current.rules != t.rules
    if changed or (window is not None and window.interrupted):
        ask(t, incident, "ask_supervisor", CALL_SUPERVISOR)
    else:
        decide(t, incident, Verdict.WENT_ON, actor)


def may_go_on(t: TableState) -> bool:
    """Whether "go on" is offered: same program and rules, and the betting system says all have decided."""
    incident = t.incident
    if (
        incident is None
        or incident.kind is not IncidentKind.RESTARTED
        or incident.state is not IncidentState.SUPERVISOR
    ):
        return False
    current = t.in_play
    if current.program != t.program or current.rules != t.rules:
        return False
    return current.window is None or not current.window.interrupted or current.window.undecided is False


def go_on(t: TableState, incident: Incident, actor: str) -> Refusal | None:
    """A supervisor lets the round go on after a restart."""
    if not may_go_on(t):
        return Refusal.TOO_EARLY
    decide(t, incident, Verdict.WENT_ON, actor)
    window = t.in_play.window
    if window is not None and window.interrupted:
        dealing.resume_window(t, window)
    return None
