"""Scanners that go and come back, and restarts, in a round: rows 30 and 35 of the procedures."""

from __future__ import annotations

import hashlib

import msgspec

from controller.table import dealing, held_reads, scanners
from controller.table.charts import IncidentState
from controller.table.events import IncidentKind, Refusal, Verdict
from controller.table.incidents import (
    CALL_SUPERVISOR,
    CARD_DRAWN,
    CONFIRM_PICTURE,
    GONE_TOO_LONG,
    OTHER_SCANNER,
    PRESS_LEFT_OUT,
    SCAN_DRAWN_CARD,
    SCANNER_GONE,
    ask,
    decide,
    open_incident,
)
from controller.table.state import Incident, TableState

GONE_TIMER = "scanner_gone"
SECOND = 1_000_000
WAITS_FOR_SCANNER = frozenset({SCANNER_GONE, GONE_TOO_LONG, OTHER_SCANNER})


# Row 30.


def scanner_lost(t: TableState) -> None:
    """Freeze in the state reached; a lost scanner comes back by itself, in time, or is decided on."""
    incident = _lost_incident(t)
    if incident is None:
        open_incident(t, IncidentKind.SCANNER_LOST, "30", first="lose_scanner", prompt=SCANNER_GONE)
    elif incident.state is IncidentState.LOST or incident.prompt == GONE_TOO_LONG:
        return  # Lost is lost: the time runs from the first moment.
    else:
        ask(t, incident, "lose_scanner", SCANNER_GONE)
    t.arm(GONE_TIMER, t.now + t.settings.limits.scanner_gone_s * SECOND)


def scanner_gone(t: TableState) -> None:
    """The scanner has stayed away for too long: a supervisor's matter, who may cancel."""
    incident = _lost_incident(t)
    assert incident is not None and incident.state is IncidentState.LOST, incident
    ask(t, incident, "ask_supervisor", GONE_TOO_LONG)


def scanner_back(t: TableState) -> None:
    """All scanners are there; what came out meanwhile they have not seen, the dealer has.

    One that was never lost, but was opened again or has restarted, is asked about in the same way.
    """
    if not t.scanners_up.issuperset(t.settings.scanners):
        return
    t.disarm(GONE_TIMER)
    incident = _lost_incident(t)
    event, prompt = ("ask_supervisor", OTHER_SCANNER) if t.strange_devices else ("ask", CARD_DRAWN)
    if incident is None:
        open_incident(t, IncidentKind.SCANNER_LOST, "30", first=event, prompt=prompt)
    elif t.strange_devices or incident.prompt in WAITS_FOR_SCANNER:
        ask(t, incident, event, prompt)


def _lost_incident(t: TableState) -> Incident | None:
    lost = [incident for incident in t.incidents if incident.kind is IncidentKind.SCANNER_LOST]
    return lost[0] if lost else None


def card_drawn_answered(t: TableState, incident: Incident, yes: bool, actor: str) -> None:
    """A card that came out while the scanner was away is scanned now, and counts as no re-scan (RPL-75)."""
    if yes:
        ask(t, incident, "ask_rescan", SCAN_DRAWN_CARD)
    else:
        decide(t, incident, Verdict.WENT_ON, actor)


# Row 35.


def restarted(t: TableState) -> None:
    """The table went down in a round; people say what lies there before it goes on."""
    current = t.in_play
    scanner_lost(t)
    window = current.window
    if window is not None and window.is_open and window.window != dealing.BETTING:
        window.interrupted = True
    open_incident(t, IncidentKind.RESTARTED, "35", first="ask_picture", prompt=CONFIRM_PICTURE)


def lies(t: TableState) -> str:
    """Return what names the table as it lies and as a page shows it: cards, backs, counts, of this epoch."""
    current = t.in_play
    shown = [(laid.place, laid.n, str(laid.card) if laid.open else "") for laid in current.laid]
    seen = (t.epoch, current.id, current.deal, shown, len(current.burned), held_reads.waiting_count(t))
    return hashlib.sha256(msgspec.json.encode(seen)).hexdigest()[:16]


def picture_confirmed(t: TableState, incident: Incident, picture: str, actor: str) -> Refusal | None:
    """The dealer finds everything as the picture says."""
    if picture != lies(t):
        return Refusal.OTHER_PICTURE
    current = t.in_play
    window = current.window
    changed = current.program != t.program or current.rules != t.rules
    if changed or (window is not None and window.interrupted):
        ask(t, incident, "ask_supervisor", CALL_SUPERVISOR)
    else:
        decide(t, incident, Verdict.WENT_ON, actor)
    return None


# What a supervisor decides.


def may_go_on(t: TableState) -> bool:
    """Whether "go on" is offered.

    After a restart: same program and rules, and the betting system says that all have decided.
    """
    incident = t.incident
    if incident is None or incident.state is not IncidentState.SUPERVISOR:
        return False
    match incident.kind:
        case IncidentKind.RESTARTED:
            return _may_resume(t)
        case IncidentKind.SCANNER_LOST:
            return incident.prompt == OTHER_SCANNER
        case IncidentKind.QUARANTINED:
            return incident.prompt == PRESS_LEFT_OUT
        case IncidentKind.HELD_READ:
            return True
        case _:
            return False


def _may_resume(t: TableState) -> bool:
    current = t.in_play
    if current.program != t.program or current.rules != t.rules:
        return False
    return current.window is None or not current.window.interrupted or current.window.undecided is False


def go_on(t: TableState, incident: Incident, actor: str) -> Refusal | None:
    """A supervisor lets the round go on."""
    if not may_go_on(t):
        return Refusal.TOO_EARLY
    match incident.kind:
        case IncidentKind.SCANNER_LOST:
            scanners.accept(t)
            ask(t, incident, "ask", CARD_DRAWN)
        case IncidentKind.HELD_READ:
            held_reads.go_on(t, incident, actor)
        case IncidentKind.RESTARTED:
            _resume(t, incident, actor)
        case _:
            decide(t, incident, Verdict.WENT_ON, actor)
    return None


def _resume(t: TableState, incident: Incident, actor: str) -> None:
    decide(t, incident, Verdict.WENT_ON, actor)
    window = t.in_play.window
    if window is not None and window.interrupted:
        dealing.resume_window(t, window)
