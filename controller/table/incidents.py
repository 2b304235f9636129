"""What happens when a deal goes wrong, once for all games.

Every case is an incident: opened, decided (which cell, by whom), closed. Incidents nest; the newest is
the one that people are asked about, and while any is open the gate for cards and confirmations is shut.
Cells are named by the row of the procedures' table, or by the game's own rule that stands above it.
"""

from __future__ import annotations

from controller.cards import Anomaly, Card
from controller.games.procedure import BURN, Deal, Window
from controller.table import dealing
from controller.table.charts import IncidentChart, IncidentState, Phase
from controller.table.events import (
    CardBurned,
    CardWithdrawn,
    IncidentAsked,
    IncidentClosed,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    Refusal,
    RoundCancelled,
    RoundClosed,
    Verdict,
)
from controller.table.inputs import CancelReason, CardRead, ReportCancel
from controller.table.state import Incident, LaidCard, TableState, UnplacedRead, Where

SAME_CARD = "SAME_CARD"
FACE_SEEN = "FACE_SEEN"
CARD_DRAWN = "CARD_DRAWN"
SCAN_AGAIN = "SCAN_AGAIN"
SCAN_DRAWN_CARD = "SCAN_DRAWN_CARD"
CALL_SUPERVISOR = "CALL_SUPERVISOR"
SCANNER_GONE = "SCANNER_GONE"
CONFIRM_PICTURE = "CONFIRM_PICTURE"
CHECK_DECK = "CHECK_DECK"
SHUFFLE_AGAIN = "SHUFFLE_AGAIN"
NOTED = "NOTED"

DECK_LEAVES = frozenset({CancelReason.DECK_INTEGRITY, CancelReason.CARD_ON_FLOOR})
"""After these the deck is changed and verified before the next round (RPL-76, rows 5 and 6)."""


def open_incident(
    t: TableState, kind: IncidentKind, cell: str, *, first: str, prompt: str, where: Where | None = None
) -> Incident:
    """Open an incident and shut the gate; `first` is the chart event that says whom it asks."""
    t.incidents_count += 1
    chart = IncidentChart()
    chart.send(first)
    place, n = where if where is not None else (None, None)
    incident = Incident(t.incidents_count, kind, cell, prompt, chart, place=place, n=n)
    incident.stops_betting = t.phase is Phase.BETTING
    t.incidents.append(incident)
    t.emit(
        IncidentOpened(
            incident=incident.number,
            kind=kind,
            cell=cell,
            place=place,
            n=n,
            prompt=prompt,
            stops_betting=incident.stops_betting,
        )
    )
    return incident


def ask(t: TableState, incident: Incident, event: str, prompt: str) -> None:
    """Ask somebody else, or something else; `event` is the chart's."""
    incident.prompt = prompt
    incident.chart.send(event)
    t.emit(IncidentAsked(incident=incident.number, prompt=prompt))


def decide(
    t: TableState, incident: Incident, verdict: Verdict, by: str | None, reason: str | None = None
) -> None:
    """Say how the incident was decided, and close it."""
    t.emit(
        IncidentDecided(incident=incident.number, cell=incident.cell, verdict=verdict, by=by, reason=reason)
    )
    incident.chart.send("close")
    t.incidents.remove(incident)
    t.emit(IncidentClosed(incident=incident.number, kind=incident.kind, stops_betting=incident.stops_betting))


def note_incident(t: TableState, kind: IncidentKind, cell: str, verdict: Verdict, prompt: str) -> None:
    """Put on record a case whose cell leaves nothing to ask."""
    incident = open_incident(t, kind, cell, first="ask_supervisor", prompt=prompt)
    decide(t, incident, verdict, None)


def cancel(t: TableState, incident: Incident, reason: CancelReason, by: str | None) -> None:
    """Cancel the round: everything is refunded (RPL-73) and every commitment is opened."""
    current = t.in_play
    dealing.abandon_window(t)
    place = incident.place
    decide(t, incident, Verdict.CANCELLED, by, reason)
    for other in reversed(list(t.incidents)):
        decide(t, other, Verdict.CANCELLED, by, reason)
    t.move("round_cancelled")
    t.emit(
        RoundCancelled(
            rev=1,
            reason=reason,
            incident=incident.number,
            place=place,
            opened=dealing.open_commitments(current),
        )
    )
    t.emit(RoundClosed(rev=1))
    t.deck_suspect = t.deck_suspect or reason in DECK_LEAVES


# What a scanner brings.


def wrong_code(t: TableState, anomaly: Anomaly, read: CardRead) -> None:
    """Rows 5 and 6: a code that is not of this deck, or of a card that is out already."""
    if anomaly is Anomaly.ALREADY_OUT:
        same_code_again(t, read)
        return
    where = due_place(t)
    incident = open_incident(
        t, IncidentKind.FOREIGN_CARD, "6", first="ask_supervisor", prompt=CHECK_DECK, where=where
    )
    cancel(t, incident, CancelReason.DECK_INTEGRITY, None)


def same_code_again(t: TableState, read: CardRead) -> None:
    """Row 4: the value alone can't tell a second look at a card from a doubled card; the dealer can."""
    where = t.register.where(read.code)
    open_incident(t, IncidentKind.SAME_CODE_AGAIN, "4", first="ask", prompt=SAME_CARD, where=where)


def card_not_due(t: TableState, read: UnplacedRead) -> None:
    """Rows 7, 10 and 23a: a card came out that nobody may place; one question, was its face seen?"""
    window = t.in_play.window
    early = window is not None and window.frees_card and not (window.settled and t.now >= t.in_play.free_at)
    kind, cell = (IncidentKind.EARLY_DRAW, "7") if early else (IncidentKind.SURPLUS_CARD, "RPL-71")
    incident = open_incident(t, kind, cell, first="ask", prompt=FACE_SEEN)
    incident.read = read


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
    if below is not None and below.state is IncidentState.RESCAN:
        rescanned(t, below, read)  # The card that came back with the scanner is the one it waits for.
    elif below is None and dealing.is_card_due(t):
        dealing.deal_card(t, read)
    else:
        card_not_due(t, read)


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
        dealing.propose(t)


# What the dealer and the supervisor press.


def last_card(t: TableState) -> LaidCard | None:
    """Return the card that came last, if it may still be disputed: no press and no window end since."""
    current = t.in_play
    if not current.laid or len(current.laid) <= current.laid_at_window:
        return None
    laid = current.laid[-1]
    later = current.run.asked[laid.fact + 1 :] if laid.fact is not None else []
    return None if later else laid


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
    _withdraw(t, laid, IncidentKind.DISPUTED_READ)
    _count_rescan(t, incident, initial=initial)
    return None


def _withdraw(t: TableState, laid: LaidCard, reason: IncidentKind) -> None:
    t.register.withdraw(laid.code)
    t.emit(CardWithdrawn(place=laid.place, n=laid.n, reading=laid.reading, reason=reason))


def call_surplus(t: TableState, actor: str) -> Refusal | None:
    """RPL-71: the last card was taken as the next due one, but nobody has laid it on a place."""
    laid = last_card(t)
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
    )
    incident.fact = laid.fact
    incident.reported_by = actor
    return None


def report(t: TableState, command: ReportCancel, actor: str) -> None:
    """RPL-70: the dealer reports; the table freezes until another person decides."""
    incident = open_incident(
        t, IncidentKind.CANCEL_REPORTED, "RPL-70", first="ask_supervisor", prompt=CALL_SUPERVISOR
    )
    incident.reason = command.reason
    incident.place = command.place
    incident.reported_by = actor


def answer(t: TableState, incident: Incident, yes: bool, actor: str) -> None:
    """The dealer has answered the question of the incident."""
    match incident.kind:
        case IncidentKind.SAME_CODE_AGAIN:
            _same_card(t, incident, yes, actor)
        case IncidentKind.SCANNER_LOST:
            _drawn_meanwhile(t, incident, yes, actor)
        case _:
            _face_seen(t, incident, yes, actor)


def _same_card(t: TableState, incident: Incident, yes: bool, actor: str) -> None:
    if not yes:
        cancel(t, incident, CancelReason.DECK_INTEGRITY, actor)
        return
    decide(t, incident, Verdict.DUPLICATE_READ, actor)
    below = t.incident
    if below is not None and below.kind is IncidentKind.SCANNER_LOST and below.state is IncidentState.RESCAN:
        # The card that was drawn while the scanner was away had been read after all.
        decide(t, below, Verdict.DUPLICATE_READ, actor)


def _drawn_meanwhile(t: TableState, incident: Incident, yes: bool, actor: str) -> None:
    if yes:
        ask(t, incident, "ask_rescan", SCAN_DRAWN_CARD)
    else:
        decide(t, incident, Verdict.WENT_ON, actor)


def _face_seen(t: TableState, incident: Incident, yes: bool, actor: str) -> None:
    current = t.in_play
    decision_to_come = t.game.decision_to_come(frozenset(current.stages_closed))
    if yes and decision_to_come and t.phase is not Phase.RESULT_PROPOSED:
        if incident.reported_by is None:
            cancel(t, incident, CancelReason.EXTRA_CARD, actor)
        else:
            # The dealer found the card and says that it was seen: a report, so another person decides.
            incident.reason = CancelReason.EXTRA_CARD
            ask(t, incident, "ask_supervisor", CALL_SUPERVISOR)
        return
    read = incident.read
    if read is None:
        read = _take_back_last(t)
    burn(t, read, incident.kind)
    decide(t, incident, Verdict.BURNED, actor)


def _take_back_last(t: TableState) -> UnplacedRead:
    current = t.in_play
    laid = current.laid.pop()
    _withdraw(t, laid, IncidentKind.SURPLUS_CARD)
    current.withdrawn.append(laid.opening())
    current.run.withdraw_last()
    return UnplacedRead(laid.card, laid.code, laid.key)


def burn(t: TableState, read: UnplacedRead, reason: IncidentKind) -> None:
    """Burn a card: face down, out of the deck, and bound by a commitment like any hidden card."""
    current = t.in_play
    n = len(current.burned) + 1
    t.register.take(read.code, (BURN, n))
    commitment = t.commitment(read, place=BURN, n=n, reading=1)
    current.burned.append(
        LaidCard(
            place=BURN,
            n=n,
            deal=current.deal,
            reading=1,
            card=read.card,
            code=read.code,
            key=read.key,
            commitment=commitment,
            open=False,
            fact=None,
        )
    )
    t.emit(CardBurned(n=n, deal=current.deal, reason=reason, commitment=commitment))


def withdraw_report(t: TableState, incident: Incident, actor: str) -> Refusal | None:
    """The dealer takes the report back; the round goes on."""
    if not may_withdraw(t):
        return Refusal.NO_INCIDENT
    decide(t, incident, Verdict.WITHDRAWN, actor)
    return None


def may_withdraw(t: TableState) -> bool:
    """Whether the newest incident is a report, and nothing more."""
    return t.incident is not None and t.incident.kind is IncidentKind.CANCEL_REPORTED


def confirm_cancel(t: TableState, incident: Incident, actor: str) -> Refusal | None:
    """A supervisor cancels; never the person who has reported the case."""
    if incident.reported_by == actor:
        return Refusal.SAME_PERSON
    cancel(t, incident, incident.reason, actor)
    return None


def may_rescan(t: TableState) -> bool:
    """Whether the newest incident waits for a card that could not be read."""
    rescannable = (IncidentKind.FAILED_READ, IncidentKind.DISPUTED_READ, IncidentKind.SCANNER_LOST)
    return t.incident is not None and t.incident.kind in rescannable


def order_rescan(t: TableState, incident: Incident) -> Refusal | None:
    """Outside the initial deal a supervisor may have the card scanned once more (RPL-75)."""
    if not may_rescan(t):
        return Refusal.NO_INCIDENT
    ask(t, incident, "ask_rescan", SCAN_AGAIN)
    return None


# Scanners and restarts.


def scanner_lost(t: TableState) -> None:
    """Row 30: freeze in the state reached; a lost scanner comes back by itself or is decided on."""
    for incident in t.incidents:
        if incident.kind is IncidentKind.SCANNER_LOST:
            if incident.state is not IncidentState.LOST:
                ask(t, incident, "lose_scanner", SCANNER_GONE)
            return
    open_incident(t, IncidentKind.SCANNER_LOST, "30", first="lose_scanner", prompt=SCANNER_GONE)


def scanner_back(t: TableState) -> None:
    """The scanner is there again; what came out meanwhile it has not seen, the dealer has."""
    for incident in t.incidents:
        if incident.kind is IncidentKind.SCANNER_LOST and incident.state is IncidentState.LOST:
            ask(t, incident, "ask", CARD_DRAWN)


def restarted(t: TableState) -> None:
    """Row 35: the table went down in a round; people say what lies there before it goes on."""
    current = t.in_play
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


def due_place(t: TableState) -> Where | None:
    """Return place and number of the card that is due, None when none is."""
    step = t.in_play.run.owed
    return (step.place, step.n) if isinstance(step, Deal) else None


def unplaced(read: CardRead, card: Card) -> UnplacedRead:
    """Return a read as a card without a place."""
    return UnplacedRead(card, read.code, read.key)
