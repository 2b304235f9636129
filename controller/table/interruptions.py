"""Scanners that go and come back, and restarts, in a round: rows 30 and 35 of the procedures."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import msgspec

from controller.games.procedure import Betting, Deal
from controller.table import dealing, escalation, held_reads, procedures, scanners
from controller.table.charts import IncidentState
from controller.table.events import IncidentKind, Refusal, Verdict
from controller.table.incidents import ask, decide, open_incident
from controller.table.situations import SITUATIONS, Axis, Known, known
from controller.table.state import Incident, TableState

GONE_TIMER = "scanner_gone"
SCANNER_GONE = "SCANNER_GONE"
SECOND = 1_000_000


# Row 30.


def scanner_lost(t: TableState) -> None:
    """Freeze in the state reached; a lost scanner comes back by itself, in time, or is decided on.

    In manual mode that is decided already, for this outage, and by a restart nothing of it changes.
    """
    if t.in_play.by_hand:
        return
    incident = _lost_incident(t)
    if incident is None:
        row = SITUATIONS[IncidentKind.SCANNER_LOST].row
        open_incident(t, IncidentKind.SCANNER_LOST, row, first="lose_scanner", prompt=SCANNER_GONE)
    elif incident.state is IncidentState.LOST or _is(incident, Axis.GONE):
        return  # Lost is lost: the time runs from the first moment.
    else:
        ask(t, incident, "lose_scanner", SCANNER_GONE)
    t.arm(GONE_TIMER, t.now + t.settings.limits.scanner_gone_s * SECOND)


def scanner_gone(t: TableState) -> None:
    """The scanner has stayed away for too long: the cell says what then."""
    incident = _lost_incident(t)
    assert incident is not None and incident.state is IncidentState.LOST, incident
    incident.values = lost_values(t, gone=Known.YES)
    procedures.judge(t, incident, None)


def scanner_back(t: TableState) -> None:
    """All scanners are there; what came out meanwhile they have not seen, the dealer has.

    A card that did is scanned now, and counts as no re-scan (RPL-75). A scanner that was never lost, but
    was opened again or has restarted, is asked about in the same way: once while the question is open, and
    anew behind its answer, for a card may have passed since.
    """
    if not t.scanners_up >= t.settings.dealing_scanners:
        return
    t.disarm(GONE_TIMER)
    values = lost_values(t, gone=Known.NO)
    incident = _lost_incident(t)
    if incident is None:
        procedures.meet(t, IncidentKind.SCANNER_LOST, values)
    elif _asks_anew(incident, values):
        incident.values, incident.entry = values, None
        procedures.judge(t, incident, None)


def lost_values(t: TableState, *, gone: Known) -> dict[Axis, Known]:
    """Return what a lost scanner is judged by; the initial deal lasts from START to its last card."""
    owed = t.in_play.run.owed
    initial = isinstance(owed, Betting) or (isinstance(owed, Deal) and t.game.initial_deal(owed))
    other = Known.NO if gone is Known.YES else known(bool(t.strange_devices))
    return {Axis.GONE: gone, Axis.OTHER: other, Axis.INITIAL: known(initial), Axis.LATER: Known.UNKNOWN}


def _lost_incident(t: TableState) -> Incident | None:
    lost = [incident for incident in t.incidents if incident.kind is IncidentKind.SCANNER_LOST]
    return lost[0] if lost else None


def _asks_anew(incident: Incident, values: Mapping[Axis, Known]) -> bool:
    """Whether there is something else to ask: the scanner was away, or the device is another one by now."""
    was_away = incident.state is IncidentState.LOST or _is(incident, Axis.GONE)
    return was_away or incident.values[Axis.OTHER] is not values[Axis.OTHER]


def _is(incident: Incident, axis: Axis) -> bool:
    return incident.values.get(axis) is Known.YES


# Row 35.


def restarted(t: TableState) -> None:
    """The table went down in a round; people say what lies there before it goes on."""
    escalation.begin_again(t)
    window = t.in_play.window
    if window is not None and window.is_open and window.window != dealing.BETTING:
        window.interrupted = True
    procedures.meet(t, IncidentKind.RESTARTED, {Axis.CERTAIN: Known.UNKNOWN})


def lies(t: TableState) -> str:
    """Return what names the table as it lies and as a page shows it: cards, backs, counts, of this epoch."""
    current = t.in_play
    shown = [(laid.place, laid.n, str(laid.card) if laid.open else "") for laid in current.laid]
    counts = (len(current.burned), len(current.held), held_reads.waiting_count(t))
    seen = (t.epoch, current.id, current.deal, shown, counts)
    return hashlib.sha256(msgspec.json.encode(seen)).hexdigest()[:16]


def picture_confirmed(t: TableState, incident: Incident, picture: str, actor: str) -> Refusal | None:
    """The dealer finds everything as the picture says; an interrupted window is uncertain all the same."""
    if picture != lies(t):
        return Refusal.OTHER_PICTURE
    window = t.in_play.window
    certain = not is_other_program(t) and (window is None or not window.interrupted)
    procedures.answered(t, incident, certain, actor)
    return None


# What a supervisor decides.


def may_go_on(t: TableState) -> bool:
    """Whether "go on" is offered: not without the scanners, and as `_may_resume` says after a restart."""
    incident = t.incident
    if incident is None or not procedures.offers(t, "go_on"):
        return False
    match incident.kind:
        case IncidentKind.RESTARTED:
            return _may_resume(t)
        case IncidentKind.SCANNER_LOST:
            return t.scanners_up >= t.settings.dealing_scanners
        case _:
            return True


def _may_resume(t: TableState) -> bool:
    """Whether program and rules are the same, and the betting system says that all have decided."""
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
    match incident.kind:
        case IncidentKind.RESTARTED:
            _resume(t, incident, actor)
        case IncidentKind.SCANNER_LOST if _is(incident, Axis.OTHER):
            scanners.accept(t)
            incident.values[Axis.OTHER] = Known.NO
            procedures.judge(t, incident, actor)
        case IncidentKind.HELD_READ:
            held_reads.go_on(t, incident, actor)
        case _:
            procedures.go_on(t, incident, actor)
    return None


def _resume(t: TableState, incident: Incident, actor: str) -> None:
    decide(t, incident, Verdict.WENT_ON, actor)
    window = t.in_play.window
    if window is not None and window.interrupted:
        dealing.resume_window(t, window)
