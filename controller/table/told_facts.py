"""What the betting system tells: bets, the facts of windows, decisions of boxes; in time, late, wrong."""

from __future__ import annotations

from controller.games.procedure import Decision
from controller.table import dealing, procedures
from controller.table import inputs as i
from controller.table.events import IncidentKind, Refusal
from controller.table.state import TableState


def note_facts(t: TableState, command: i.BetsTaken | i.WindowFacts) -> Refusal | None:
    """Take bets or facts of a window, or say why not."""
    window = t.in_play.window
    assert window is not None
    if isinstance(command, i.BetsTaken):
        if not set(command.boxes) <= set(t.game.boxes):
            return Refusal.UNKNOWN_PLACE
        if window.window != dealing.BETTING or window.settled:
            wrong = dealing.contradicts_bets(t, command)
            return _late(t, command, dealing.BETTING, wrong=wrong)
        dealing.note_bets(t, command)
        return None
    final = t.in_play.answers.get(command.window)
    if final is not None:
        return _late(t, command, command.window, wrong=dealing.contradicts(final, command))
    if command.window != window.window or window.window == dealing.BETTING:
        return Refusal.WRONG_WINDOW
    if window.settled:
        return Refusal.TOO_LATE
    dealing.note_facts(t, command)
    return None


def note_decision(t: TableState, taken: i.DecisionTaken) -> Refusal | None:
    """Take the decision of a box, or say why not."""
    window = t.in_play.window
    assert window is not None
    if window.decides is None or window.window != taken.window:
        return Refusal.TOO_LATE if taken.window in t.in_play.stages_closed else Refusal.WRONG_WINDOW
    if window.settled:
        return Refusal.TOO_LATE
    boxes = window.decides.boxes
    if taken.box not in boxes:
        return Refusal.UNKNOWN_PLACE
    if taken.box in window.decisions:
        return Refusal.ALREADY_DECIDED
    before = boxes[: boxes.index(taken.box)]
    if window.decides.in_order and any(box not in window.decisions for box in before):
        return Refusal.NOT_ITS_TURN
    if not t.game.is_decision(window.decides, Decision(taken.action, taken.positions)):
        return Refusal.WRONG_DECISION
    dealing.note_decision(t, taken)
    return None


def _late(t: TableState, command: i.BetsTaken | i.WindowFacts, window: str, *, wrong: bool) -> Refusal | None:
    """Facts that are final stay; late ones that say they were wrong go on record.

    An acknowledgement that comes late still frees the card.
    """
    if wrong:
        procedures.meet(t, IncidentKind.WRONG_FACT, {})
        return Refusal.TOO_LATE
    acknowledges = isinstance(command, i.BetsTaken) or command.acknowledges
    return None if acknowledges and dealing.acknowledge_late(t, window) else Refusal.TOO_LATE
