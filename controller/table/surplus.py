"""Cards that nobody is owed: rows 7, 10 and 23a of the procedures, RPL-71 and RPL-72."""

from __future__ import annotations

from controller.table import shoe_life
from controller.table.aside import burn, hold
from controller.table.cells import CellVerdict
from controller.table.charts import IN_ROUND, Phase
from controller.table.dealing import BETTING
from controller.table.events import BurnReason, IncidentKind, Refusal, Verdict
from controller.table.incidents import ask, decide, last_card, withdraw_card
from controller.table.procedures import act, decision_to_come, meet
from controller.table.shoe_state import UnplacedRead
from controller.table.situations import SITUATIONS, Axis, Known, known
from controller.table.state import Incident, LaidCard, TableState


def card_not_due(t: TableState, read: UnplacedRead | None) -> None:
    """Rows 7, 10 and 23a: a card came out that nobody may place. `read` is None outside a round."""
    kind = _kind(t)
    scanned = known(read is not None or t.game.shoe is None)
    facts = {Axis.SCANNED: scanned, Axis.REVEALED: Known.UNKNOWN, Axis.DECISION: Known.NO}
    if t.round is not None and Axis.DECISION in SITUATIONS[kind].axes:
        facts[Axis.DECISION] = decision_to_come(t)
    meet(t, kind, {axis: facts[axis] for axis in SITUATIONS[kind].axes}, read=read)


def card_unscanned(t: TableState) -> IncidentKind:
    """Rows 7, 10 and 23a, by a second reader: a card lies there that the reader which deals has not read.

    Its value is known to the system all the same (row 7c), whichever reader it passes first.
    """
    kind = _kind(t)
    facts = {
        Axis.SCANNED: Known.YES,
        Axis.REVEALED: Known.UNKNOWN,
        Axis.DECISION: decision_to_come(t),
    }
    meet(t, kind, {axis: facts[axis] for axis in SITUATIONS[kind].axes})
    return kind


def _kind(t: TableState) -> IncidentKind:
    """Return whether the card is early, or one that nobody will be owed."""
    if t.round is None:
        return IncidentKind.EARLY_DRAW
    window = t.in_play.window
    free = window is not None and window.settled and t.now >= t.in_play.free_at
    over = t.phase in (Phase.RESULT_PROPOSED, Phase.CONFIRMED)
    if window is None or not window.frees_card or free or over:
        return IncidentKind.SURPLUS_CARD
    return IncidentKind.EARLY_DRAW if window.window == BETTING else IncidentKind.EARLY_EXCHANGE


def callable_card(t: TableState) -> LaidCard | None:
    """Return the card that may still be called surplus: the last one, and no window has opened over it."""
    window = t.in_play.window
    over = window is not None and window.is_open and window.decides is None
    return None if over else last_card(t)


def call_surplus(t: TableState, actor: str) -> Refusal | None:
    """RPL-71: the last card was taken as the next due one, but nobody has laid it on a place.

    Where the table itself has shown its face nobody needs to be asked whether it was seen.
    """
    laid = callable_card(t)
    if laid is None:
        return Refusal.TOO_LATE
    values = {
        Axis.SCANNED: Known.YES,
        Axis.REVEALED: known(True if laid.open else None),
        Axis.DECISION: decision_to_come(t),
    }
    meet(
        t, IncidentKind.SURPLUS_CARD, values, where=(laid.place, laid.n), called=laid.fact, reported_by=actor
    )
    return None


@act(CellVerdict.BURN)
def _burn(t: TableState, incident: Incident, by: str | None) -> None:
    """Burn the card: the one that was read, the last one that was called, or one that is scanned first."""
    read = incident.read
    if read is None and incident.fact is not None:
        read = _take_back_last(t)
    if t.phase not in IN_ROUND:
        _burn_next_round(t, incident, by)
        return
    if read is None:
        incident.burns = True
        ask(t, incident, "ask_rescan", "SCAN_TO_BURN")
        return
    burn(t, read, BurnReason(incident.kind))
    decide(t, incident, Verdict.BURNED, by)


def _burn_next_round(t: TableState, incident: Incident, by: str | None) -> None:
    """No round is open: the card goes out with the next one; unscanned, it is scanned as its first."""
    if incident.read is None:
        shoe_life.burn_next(t, incident.kind)
    else:
        shoe_life.keep(t, incident.read, incident.kind, burns=True)
    decide(t, incident, Verdict.BURNED, by)


@act(CellVerdict.NEXT_DUE)
def _hold(t: TableState, incident: Incident, by: str | None) -> None:
    """Keep a card face down; order of drawing counts, so it is the next one that is owed (row 23a).

    One that nobody of this round is owed waits for the next round (row 10a). One that was never scanned
    lies there until it is due, and is scanned then (row 7a).
    """
    if incident.read is not None and (t.round is None or incident.kind is IncidentKind.SURPLUS_CARD):
        shoe_life.keep(t, incident.read, incident.kind)
    elif incident.read is not None:
        hold(t, incident.read, incident.kind)
    decide(t, incident, Verdict.HELD, by)


def _take_back_last(t: TableState) -> UnplacedRead:
    current = t.in_play
    laid = current.laid.pop()
    withdraw_card(t, laid, IncidentKind.SURPLUS_CARD)
    if not laid.open:
        current.withdrawn.append(laid.opening())
    current.run.withdraw_last()
    return UnplacedRead(laid.card, laid.code, laid.key, laid.manual)
