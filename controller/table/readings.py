"""Readings that are wrong, missing or doubled: rows 1 to 6 of the procedures, RPL-75."""

from __future__ import annotations

from controller.cards import Anomaly
from controller.games.procedure import Deal, Window
from controller.table import dealing, result, surplus
from controller.table.charts import IncidentState, Phase
from controller.table.events import IncidentKind, Refusal, Verdict
from controller.table.gate import refuse
from controller.table.incidents import (
    CALL_SUPERVISOR,
    CHECK_DECK,
    GONE_TOO_LONG,
    OTHER_SCANNER,
    SAME_CARD,
    SCAN_AGAIN,
    SCAN_DRAWN_CARD,
    ask,
    cancel,
    decide,
    last_card,
    open_incident,
    report,
    withdraw_card,
)
from controller.table.inputs import CancelReason, CardRead, ReportCancel
from controller.table.state import Incident, TableState, UnplacedRead, Where


def wrong_code(t: TableState, anomaly: Anomaly, read: CardRead) -> None:
    """Rows 5 and 6: a code that is not of this deck, or of a card that is out already."""
    if anomaly is Anomaly.ALREADY_OUT:
        same_code_again(t, read)
        return
    foreign_card(t)


def foreign_card(t: TableState) -> None:
    """Row 6: a card that is not of this deck voids the round, and the deck is out."""
    where = _due_place(t)
    incident = open_incident(
        t, IncidentKind.FOREIGN_CARD, "6", first="ask_supervisor", prompt=CHECK_DECK, where=where
    )
    cancel(t, incident, CancelReason.DECK_INTEGRITY, None)


def same_code_again(t: TableState, read: CardRead) -> None:
    """Row 4: the value alone can't tell a second look at a card from a doubled card; the dealer can."""
    where = t.register.where(read.code)
    open_incident(t, IncidentKind.SAME_CODE_AGAIN, "4", first="ask", prompt=SAME_CARD, where=where)


def same_card_answered(t: TableState, incident: Incident, yes: bool, actor: str) -> None:
    """Row 4, answered: the same card is dropped; another one means a doubled card, and the deck is out."""
    if not yes:
        cancel(t, incident, CancelReason.DECK_INTEGRITY, actor)
        return
    decide(t, incident, Verdict.DUPLICATE_READ, actor)
    below = t.incident
    if below is not None and below.kind is IncidentKind.SCANNER_LOST and below.state is IncidentState.RESCAN:
        # The card that was drawn while the scanner was away had been read after all.
        decide(t, below, Verdict.DUPLICATE_READ, actor)


def asked_about_already(t: TableState) -> None:
    """The card that people are being asked about was scanned once more; its question stands.

    It was taken for the card that came out while the scanner was away.
    """
    top = t.incident
    if top is not None and top.kind is IncidentKind.SCANNER_LOST:
        decide(t, top, Verdict.DUPLICATE_READ, None)
    else:
        refuse(t, "card_read", Refusal.HELD)


def read_failed(t: TableState) -> None:
    """RPL-75: the card that is due could not be read; it is scanned again."""
    step = t.in_play.run.owed
    assert isinstance(step, Deal)
    where = (step.place, step.n)
    incident = open_incident(
        t, IncidentKind.FAILED_READ, "RPL-75", first="ask_rescan", prompt=SCAN_AGAIN, where=where
    )
    _count_rescan(t, incident, initial=t.game.initial_deal(step))


def rescan_failed(t: TableState, incident: Incident) -> None:
    """The re-scan failed too: cancel in the initial deal (RPL-75), later a supervisor decides.

    A card read again because of a lost link or a restart has its own re-scan still before it.
    """
    if incident.counted:
        cancel(t, incident, CancelReason.WRONG_READING, None)
    elif _is_initial(t, incident):
        decide(t, incident, Verdict.WENT_ON, None)
        if t.incident is None:
            read_failed(t)
    else:
        incident.reason = CancelReason.WRONG_READING
        ask(t, incident, "ask_supervisor", CALL_SUPERVISOR)


def rescanned(t: TableState, incident: Incident, read: UnplacedRead) -> None:
    """The re-scan brought a card: it corrects a reading, or is simply the card that was drawn."""
    if incident.fact is not None:
        _correct(t, incident, read)
        return
    decide(t, incident, Verdict.RESCANNED, None)
    below = t.incident
    if below is not None and below.state is IncidentState.RESCAN and below.fact is None:
        rescanned(t, below, read)  # The card that could not be read is the one that came with the scanner.
    elif below is None and dealing.is_card_due(t):
        dealing.deal_card(t, read)
    else:
        surplus.card_not_due(t, read)


def dispute(t: TableState, actor: str) -> Refusal | None:
    """RPL-75: the last card lies there as another than the one that was read."""
    laid = last_card(t)
    if laid is None:
        return Refusal.TOO_LATE
    step = t.in_play.run.asked[laid.fact or 0]
    assert isinstance(step, Deal)
    initial = t.game.initial_deal(step)
    if initial and t.in_play.rescans_used >= t.game.rescans_at_most:
        report(t, ReportCancel(CancelReason.WRONG_READING, laid.place), actor)
        return None
    where = (laid.place, laid.n)
    incident = open_incident(
        t, IncidentKind.DISPUTED_READ, "RPL-75", first="ask_rescan", prompt=SCAN_AGAIN, where=where
    )
    incident.fact = laid.fact
    withdraw_card(t, laid, IncidentKind.DISPUTED_READ)
    _count_rescan(t, incident, initial=initial)
    return None


RESCANNABLE = frozenset(
    {
        IncidentKind.FAILED_READ,
        IncidentKind.DISPUTED_READ,
        IncidentKind.SCANNER_LOST,
        IncidentKind.HELD_READ,
    }
)


def may_rescan(t: TableState) -> bool:
    """Whether the newest incident waits for a card that could not be read, with a scanner to read it."""
    incident = t.incident
    if incident is None or incident.kind not in RESCANNABLE:
        return False
    return incident.prompt not in (OTHER_SCANNER, GONE_TOO_LONG)


def order_rescan(t: TableState, incident: Incident) -> Refusal | None:
    """Outside the initial deal a supervisor may have the card scanned once more (RPL-75)."""
    if not may_rescan(t):
        return Refusal.NO_INCIDENT
    ask(t, incident, "ask_rescan", SCAN_DRAWN_CARD if incident.place is None else SCAN_AGAIN)
    return None


def _count_rescan(t: TableState, incident: Incident, *, initial: bool) -> None:
    if not initial:
        return
    if t.in_play.rescans_used >= t.game.rescans_at_most:
        cancel(t, incident, CancelReason.WRONG_READING, None)
        return
    t.in_play.rescans_used += 1
    incident.counted = True


def _is_initial(t: TableState, incident: Incident) -> bool:
    run = t.in_play.run
    step = run.owed if incident.fact is None else run.asked[incident.fact]
    return isinstance(step, Deal) and t.game.initial_deal(step)


def _correct(t: TableState, incident: Incident, read: UnplacedRead) -> None:
    current = t.in_play
    laid = current.laid[-1]
    assert laid.fact is not None and laid.fact == incident.fact
    step = current.run.asked[laid.fact]
    assert isinstance(step, Deal)
    # What people could see when a window closed has been decided on; it stands or the round falls.
    decided_on = len(current.laid) <= current.laid_at_window and read.card != laid.card
    if decided_on or not current.run.correct(laid.fact, read.card):
        cancel(t, incident, CancelReason.WRONG_READING, None)
        return
    current.withdrawn.extend(() if laid.commitment is None else (laid.opening(),))
    decide(t, incident, Verdict.RESCANNED, None)
    current.laid[-1] = dealing.lay(t, read, step, fact=laid.fact)
    _tell_again(t)


def _tell_again(t: TableState) -> None:
    """Publish anew what hung on the corrected card; windows keep their times."""
    current = t.in_play
    window = current.window
    dealing.announce(t)
    if isinstance(current.run.owed, Window) and window is not None and window.is_open:
        dealing.offer_hands(t, current.run.owed)
    if t.phase is Phase.RESULT_PROPOSED:
        result.propose(t)


def _due_place(t: TableState) -> Where | None:
    step = t.in_play.run.owed
    return (step.place, step.n) if isinstance(step, Deal) else None
