"""Cards that were read while the table took none: they have left the shoe all the same (row 2).

While an incident is open, and while the process is down, a read is not play. What it said is remembered,
told nobody, and asked about as soon as the table would go on: order of drawing counts, not of reading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from controller.cards import Anomaly
from controller.table import readings
from controller.table.events import IncidentKind, ReadHeld, ReadsUntaken, Verdict
from controller.table.incidents import (
    CALL_SUPERVISOR,
    CARD_READ_MEANWHILE,
    SCAN_DRAWN_CARD,
    ask,
    decide,
    open_incident,
)
from controller.table.inputs import CancelReason, CardRead, ReadFailed, UntakenRead
from controller.table.state import Incident, TableState, UnplacedRead


def hold(t: TableState, read: CardRead | ReadFailed) -> None:
    """Remember a read that an open incident holds back. Its event is the same whatever the card."""
    incident = t.incident
    assert incident is not None, "only an incident holds reads back"
    current = t.in_play
    current.held.count += 1
    if isinstance(read, CardRead):
        _remember(t, read.code)
    t.emit(
        ReadHeld(
            scanner=read.scanner,
            incident=incident.number,
            drawn=len(current.laid) + len(current.burned),
            count=current.held.count,
        )
    )


def note_untaken(t: TableState, reads: Sequence[UntakenRead]) -> None:
    """Remember, in a round, the reads that came in when the process went down."""
    if not reads:
        return
    t.emit(ReadsUntaken(reads=dict(sorted(Counter(read.scanner for read in reads).items()))))
    if t.round is None:
        return
    t.in_play.held.count += len(reads)
    for read in reads:
        if read.code is not None:
            _remember(t, read.code)


def _remember(t: TableState, code: str) -> None:
    held = t.in_play.held
    match t.register.check(code):
        case Anomaly.ALREADY_OUT:
            pass  # Another look at a card that lies there: nothing has left the shoe.
        case Anomaly():
            held.foreign = True
        case _ if code not in held.codes:
            held.codes.append(code)


def note_taken(t: TableState, code: str) -> None:
    """The card is read again, and the table deals with it now."""
    if t.round is not None and code in t.round.held.codes:
        t.round.held.codes.remove(code)


def waiting_count(t: TableState) -> int:
    """Return how many cards were read in this round and are not dealt with."""
    return len(t.round.held.codes) if t.round is not None else 0


def ask_about(t: TableState) -> None:
    """The hold is over: before anything else, what came out meanwhile."""
    held = t.in_play.held
    if held.foreign:
        held.foreign = False
        readings.foreign_card(t)
        return
    # What was burned or laid since needs no asking.
    held.codes = [code for code in held.codes if not isinstance(t.register.check(code), Anomaly)]
    if held.codes:
        open_incident(t, IncidentKind.HELD_READ, "2", first="ask", prompt=CARD_READ_MEANWHILE)


def is_out_answered(t: TableState, incident: Incident, yes: bool) -> None:
    """Out of the shoe: it is scanned, as the next card. Not out, though it was read: a supervisor decides."""
    if yes:
        ask(t, incident, "ask_rescan", SCAN_DRAWN_CARD)
    else:
        ask(t, incident, "ask_supervisor", CALL_SUPERVISOR)


def scanned(t: TableState, incident: Incident, read: UnplacedRead) -> None:
    """The first card that was read is the next one; another card leaves the order uncertain."""
    held = t.in_play.held
    if read.code == held.codes[0]:
        note_taken(t, read.code)
        readings.rescanned(t, incident, read)
        return
    incident.reason = CancelReason.WRONG_READING
    if read.code not in held.codes:
        held.codes.append(read.code)
    ask(t, incident, "ask_supervisor", CALL_SUPERVISOR)


def go_on(t: TableState, incident: Incident, actor: str) -> None:
    """A supervisor has looked: nothing is out that is not on record. The deck is checked after the round."""
    t.in_play.held.codes.clear()
    t.deck_suspect = True
    decide(t, incident, Verdict.WENT_ON, actor)
