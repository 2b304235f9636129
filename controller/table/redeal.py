"""The redeal of Oasis with bonus: a wrong number of cards has the round dealt anew (OAB-24, D-49).

The round goes back to the shuffle and stays open: Antes, dark Bets and bonus stakes stand, betting is not
opened again. What the abandoned deal asked, showed and cost is void; its cards are opened, and its fees and
Bets come back, with the terminal event. The cell of the procedures
that offers it is in the profile.
"""

from __future__ import annotations

from collections.abc import Mapping

from controller.games.procedure import BoxState, Deal
from controller.games.published import voided_deal
from controller.table import dealing, guards, held_reads, incidents, interruptions, procedures, scanners
from controller.table.aside import burn_asked_about
from controller.table.charts import PHASE_INPUTS
from controller.table.events import DeckShuffled, Refusal, RoundRedealt, Verdict
from controller.table.inputs import CancelReason, Role
from controller.table.script_run import ScriptRun
from controller.table.situations import cancel_reason
from controller.table.state import Incident, OpenWindow, TableState


def may_redeal(t: TableState) -> bool:
    """Whether a supervisor may have the round dealt anew: the cell offers it, and cards are dealt."""
    offered = procedures.offers(t, "order_redeal") and "order_redeal" in PHASE_INPUTS[t.phase]
    return offered and _is_dealt(t) and not interruptions.is_other_program(t)


def _is_dealt(t: TableState) -> bool:
    """Whether the bets are known, and somebody gets cards for them."""
    return bool(t.in_play.laid) or isinstance(t.in_play.run.owed, Deal)


def order_redeal(t: TableState, incident: Incident, actor: str) -> Refusal | None:
    """A supervisor has the round dealt anew; never a person who has reported what that would decide."""
    if not may_redeal(t):
        return Refusal.NO_INCIDENT
    if any(known.reported_by == actor for known in t.incidents):
        return Refusal.SAME_PERSON
    redeal(t, incident, cancel_reason(incident.kind), actor)
    return None


def redeal(t: TableState, incident: Incident, reason: CancelReason, by: str | None) -> None:
    """Abandon the deal and go back to the shuffle inside the round (OAB-24)."""
    burn_asked_about(t)
    dealing.abandon_window(t, "redeal")
    incidents.decide(t, incident, Verdict.REDEALT, by, reason)
    for other in reversed(list(t.incidents)):
        incidents.decide(t, other, Verdict.REDEALT, by, reason)
    t.move("round_redealt")
    _begin_again(t)
    t.emit(RoundRedealt(deal=t.in_play.deal, reason=reason, incident=incident.number, place=incident.place))


def _begin_again(t: TableState) -> None:
    """Leave of the round what stands: its bets. The script begins behind betting time."""
    current = t.in_play
    states = current.run.facts[0]
    assert isinstance(states, Mapping)
    current.voided.append(voided_deal(current.deal, (box for box in states if states[box] is BoxState.OPEN)))
    current.abandoned += [*current.laid, *current.burned, *current.held]
    current.deal += 1
    current.run = ScriptRun(t.game)
    current.run.tell(states)
    current.laid, current.burned, current.held, current.laid_at_window = [], [], [], 0
    current.held_count, current.voided_boxes = 0, {}
    current.readings, current.rescans_used = {}, 0
    current.answers, current.stages_closed = {}, {dealing.BETTING}
    current.window = OpenWindow(dealing.BETTING, dealing.BETTING, True, t.now, dict(states))
    current.window.is_open, current.window.settled, current.window.acknowledged = False, True, True
    current.free_at = t.now


def deal_again(t: TableState, role: Role) -> Refusal | None:
    """The deck is shuffled, cut and in the shoe again: the first card of the new deal is owed."""
    refusal = guards.why_no_deal(t, role)
    if refusal is not None:
        return refusal
    scanners.accept(t)
    held_reads.shuffled_again(t)
    t.move("deal_again")
    t.register.shuffle()
    t.emit(DeckShuffled())
    return None
