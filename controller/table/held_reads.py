"""Cards that were read while the table took none: they have left the shoe all the same (row 2b).

While an incident is open, and while the process is down, a read is not play. What it said is remembered,
told nobody, and asked about as soon as the table would go on: order of drawing counts, not of reading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from controller.cards import Anomaly
from controller.table import procedures, surplus
from controller.table.charts import IN_ROUND, Phase
from controller.table.events import IncidentKind, ReadHeld, ReadsUntaken, Refusal, Verdict
from controller.table.gate import refuse
from controller.table.incidents import decide
from controller.table.inputs import CardRead, ReadFailed, UntakenRead
from controller.table.situations import Axis, Known
from controller.table.state import Incident, TableState


def hold(t: TableState, read: CardRead | ReadFailed) -> None:
    """Remember a read that an open incident holds back. Its event is the same whatever the card."""
    incident, current = t.incident, t.round
    assert incident is not None, "only an incident holds reads back"
    if current is None:
        return  # A set that is scanned in or counted is still in people's hands.
    current.unplaced_reads.count += 1
    if isinstance(read, CardRead):
        _remember(t, read.code)
    t.emit(
        ReadHeld(
            scanner=read.scanner,
            incident=incident.number,
            drawn=len(current.laid) + len(current.burned) + len(current.held),
            count=current.unplaced_reads.count,
        )
    )


def expect_together(t: TableState) -> None:
    """Row 9: cards were read at once. The table holds before it takes one of them, so none is shown.

    Outside a deal the cards that follow are what any cards are then; their order does not matter.
    """
    kind = IncidentKind.TWO_CARDS
    if t.round is None or not procedures.applies(t, kind):
        refuse(t, "cards_together", Refusal.WRONG_PHASE)
        return
    t.round.unplaced_reads.together = True
    if any(known.kind is kind for known in t.incidents):
        refuse(t, "cards_together", Refusal.HELD)
    else:
        asked = {Axis.CERTAIN: Known.UNKNOWN, Axis.REVEALED: Known.UNKNOWN}
        procedures.meet(t, kind, {**asked, Axis.DECISION: procedures.decision_to_come(t)})


def note_untaken(t: TableState, reads: Sequence[UntakenRead]) -> None:
    """Remember, in a round, the reads that came in when the process went down."""
    if not reads:
        return
    t.emit(ReadsUntaken(reads=dict(sorted(Counter(read.scanner for read in reads).items()))))
    if not t.is_round_open:
        return
    dealing = [read for read in reads if read.scanner not in t.settings.second_readers]
    t.in_play.unplaced_reads.count += len(dealing)
    for read in dealing:
        if read.code is not None:
            _remember(t, read.code)


def _remember(t: TableState, code: str) -> None:
    unplaced = t.in_play.unplaced_reads
    match t.register.check(code):
        case Anomaly.ALREADY_OUT:
            pass  # Another look at a card that lies there: nothing has left the shoe.
        case Anomaly():
            unplaced.foreign = True
        case _ if code not in unplaced.codes:
            unplaced.codes.append(code)


def waiting_count(t: TableState) -> int:
    """Return how many cards were read in this round and are not dealt with."""
    return len(t.round.unplaced_reads.codes) if t.round is not None else 0


def follow(t: TableState) -> None:
    """End a step: what lies there by now needs no asking, the rest is asked about with no incident open."""
    if t.round is None:
        return
    unplaced = t.round.unplaced_reads
    unplaced.codes = [code for code in unplaced.codes if not isinstance(t.register.check(code), Anomaly)]
    if t.incident is None and not unplaced.codes:
        unplaced.together = False
    incident = t.incident
    if incident is not None and incident.kind is IncidentKind.HELD_READ and not unplaced.codes:
        decide(t, incident, Verdict.DUPLICATE_READ, None)  # It came to lie there under another case.
    if t.incident is None and (unplaced.codes or unplaced.foreign):
        _ask_about(t)


def _ask_about(t: TableState) -> None:
    """The hold is over: before anything else, what came out meanwhile."""
    unplaced = t.in_play.unplaced_reads
    if t.phase is Phase.CONFIRMED:
        unplaced.codes, unplaced.foreign = [], False
        if not t.deck_suspect and t.shoe.suspect is None:
            surplus.card_not_due(t, None)
    elif t.phase in IN_ROUND and unplaced.foreign:
        unplaced.foreign = False
        procedures.meet(t, IncidentKind.FOREIGN_CARD, {})
    elif t.phase in IN_ROUND:
        values = {Axis.CERTAIN: Known.YES, Axis.LATER: Known.UNKNOWN}
        procedures.meet(t, IncidentKind.HELD_READ, values)


def is_in_order(t: TableState, incident: Incident, code: str) -> bool:
    """Return whether this card was read first, so it is the next one; else the order is uncertain.

    Of cards that were read together people have said that they know the order: they scan them in it.
    """
    codes = t.in_play.unplaced_reads.codes
    if not codes or code == codes[0] or (t.in_play.unplaced_reads.together and code in codes):
        return True
    if code not in codes:
        codes.append(code)
    incident.values[Axis.CERTAIN] = Known.NO
    procedures.judge(t, incident, None)
    return False


def go_on(t: TableState, incident: Incident, actor: str) -> None:
    """A supervisor has looked: nothing is out that is not on record. The deck is checked after the round."""
    t.in_play.unplaced_reads.codes.clear()
    t.deck_suspect = True
    decide(t, incident, Verdict.WENT_ON, actor)


def shuffled_again(t: TableState) -> None:
    """Every card is back in the shoe; one that is not of this deck stays a case."""
    t.in_play.unplaced_reads.codes.clear()
