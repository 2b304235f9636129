"""Cards that nobody is owed: rows 7, 10 and 23a of the procedures, RPL-71 and RPL-72."""

from __future__ import annotations

from controller.table.burning import burn
from controller.table.charts import Phase
from controller.table.dealing import BETTING
from controller.table.events import BurnReason, IncidentKind, Refusal, Verdict
from controller.table.incidents import (
    CALL_SUPERVISOR,
    FACE_SEEN,
    Report,
    ask,
    cancel,
    decide,
    last_card,
    open_incident,
    report,
    withdraw_card,
)
from controller.table.inputs import CancelReason, ReportCancel
from controller.table.state import Incident, LaidCard, TableState, UnplacedRead


def card_not_due(t: TableState, read: UnplacedRead) -> None:
    """Rows 7, 10 and 23a: a card came out that nobody may place; one question, was its face seen?"""
    window = t.in_play.window
    kind, cell = IncidentKind.SURPLUS_CARD, "RPL-71"
    if window is not None and window.frees_card and not (window.settled and t.now >= t.in_play.free_at):
        kind, cell = IncidentKind.EARLY_DRAW, "7" if window.window == BETTING else "23a"
    incident = open_incident(t, kind, cell, first="ask", prompt=FACE_SEEN)
    incident.read = read


def callable_card(t: TableState) -> LaidCard | None:
    """Return the card that may still be called surplus: the last one, and no window has opened over it."""
    window = t.in_play.window
    over = window is not None and window.is_open and window.decides is None
    return None if over else last_card(t)


def call_surplus(t: TableState, actor: str) -> Refusal | None:
    """RPL-71: the last card was taken as the next due one, but nobody has laid it on a place."""
    laid = callable_card(t)
    if laid is None:
        return Refusal.TOO_LATE
    if laid.open:
        # The table itself has shown its face; a surplus card that was seen cancels, by two people.
        report(t, ReportCancel(CancelReason.EXTRA_CARD, laid.place), actor)
        return None
    incident = open_incident(
        t,
        IncidentKind.SURPLUS_CARD,
        "RPL-71",
        first="ask",
        prompt=FACE_SEEN,
        where=(laid.place, laid.n),
        report=Report(actor),
    )
    incident.fact = laid.fact
    return None


def face_seen_answered(t: TableState, incident: Incident, yes: bool, actor: str) -> None:
    """Seen while somebody may still decide: cancel. Else the card is burned and the round goes on."""
    current = t.in_play
    decision_to_come = t.game.decision_to_come(frozenset(current.stages_closed))
    if yes and decision_to_come and t.phase is not Phase.RESULT_PROPOSED:
        if incident.read is not None:
            burn(t, incident.read, BurnReason(incident.kind))
            cancel(t, incident, CancelReason.EXTRA_CARD, actor)
        else:
            # The dealer found the card and says that it was seen: a report, so another person decides.
            incident.reason = CancelReason.EXTRA_CARD
            ask(t, incident, "ask_supervisor", CALL_SUPERVISOR)
        return
    read = incident.read
    if read is None:
        read = _take_back_last(t)
    burn(t, read, BurnReason(incident.kind))
    decide(t, incident, Verdict.BURNED, actor)


def _take_back_last(t: TableState) -> UnplacedRead:
    current = t.in_play
    laid = current.laid.pop()
    withdraw_card(t, laid, IncidentKind.SURPLUS_CARD)
    current.withdrawn.append(laid.opening())
    current.run.withdraw_last()
    return UnplacedRead(laid.card, laid.code, laid.key)
