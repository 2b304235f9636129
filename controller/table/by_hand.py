"""Manual mode (row 30): the scanner stays away, and every card that becomes due is entered by two people.

A supervisor orders it once for the outage; windows, turns and RESULT go on as ever. Each card is a case of
its own, so that it may be cancelled, and waits for a supervisor no longer than any other (row 40). A scan
that another case asks for is an entry, too. It ends when all scanners are there again; no round opens before.
"""

from __future__ import annotations

from controller.games.procedure import BURN, Deal
from controller.table import laying, procedures
from controller.table.aside import burn_due
from controller.table.charts import IN_ROUND, IncidentState
from controller.table.events import IncidentKind, Verdict
from controller.table.incidents import ask, decide
from controller.table.interruptions import lost_values
from controller.table.situations import Known
from controller.table.state import Incident, TableState

TIMER = "by_hand"
"""The deadline at which a card becomes due that no scanner will announce."""


def begin(t: TableState, incident: Incident, actor: str) -> None:
    """A supervisor has the round go on without its scanner.

    Nobody but people has seen what came out meanwhile: the deck is checked after the round.
    """
    t.in_play.by_hand = True
    t.deck_suspect = True
    decide(t, incident, Verdict.BY_HAND, actor)


def follow(t: TableState) -> None:
    """End a step: two people are asked for the card that a scanner would be asked for."""
    if t.phase not in IN_ROUND or not t.in_play.by_hand:
        t.disarm(TIMER)
        return
    if t.incident is None:
        _ask_for_due_card(t)
    if t.incident is not None and t.incident.state is IncidentState.RESCAN:
        ask_entry(t, t.incident)


def ask_entry(t: TableState, incident: Incident) -> None:
    """Ask two people for the card of an incident; one that is out for no place yet has no number."""
    ask(t, incident, "ask_entry", "ENTER_CARD" if incident.n is not None else "ENTER_DRAWN_CARD")


def _ask_for_due_card(t: TableState) -> None:
    current = t.in_play
    step = current.run.owed
    if not isinstance(step, Deal):
        return
    if not laying.is_card_due(t):
        if current.free_at > t.now and TIMER not in t.deadlines:
            t.arm(TIMER, current.free_at)
        return
    t.disarm(TIMER)
    where = (BURN, len(current.burned) + 1) if burn_due(t) is not None else (step.place, step.n)
    incident = procedures.meet(t, IncidentKind.SCANNER_LOST, lost_values(t, gone=Known.YES), where=where)
    if procedures.offers(t, "order_entry"):
        ask_entry(t, incident)
