"""Cards that were read while the table took none: they have left the shoe all the same (row 2b).

While an incident is open, and while the process is down, a read is not play. What it said is remembered,
told nobody, and asked about as soon as the table would go on: order of drawing counts, not of reading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from controller.cards import Anomaly
from controller.table import procedures, surplus
from controller.table.charts import IN_ROUND, IncidentState, Phase
from controller.table.events import IncidentKind, ReadHeld, ReadsUntaken, Refusal, Verdict
from controller.table.gate import refuse
from controller.table.incidents import decide
from controller.table.inputs import CardRead, ReadFailed, UntakenRead
from controller.table.situations import Axis, Known
from controller.table.state import HeldCode, Incident, TableState


def hold(t: TableState, read: CardRead | ReadFailed) -> None:
    """Remember a read that an open incident holds back. Its event is the same whatever the card."""
    incident, current = t.incident, t.round
    assert incident is not None, "only an incident holds reads back"
    if current is None or (t.game.shoe is not None and t.phase is Phase.CONFIRMED):
        # A set that is scanned in or counted is still in people's hands.
        t.read_meanwhile = t.game.shoe is not None and t.phase in (Phase.READY, Phase.CONFIRMED)
        return
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
    asked_for = _asked_for(t)
    for read in dealing:
        if read.code in asked_for:
            asked_for.remove(read.code)
        elif read.code is not None:
            _remember(t, read.code)


def _asked_for(t: TableState) -> list[str]:
    """Return the codes of cards that were to be scanned again when the process went down.

    Where a code is on many cards, one of these that was read and never taken is no other card.
    """
    incident, laid = t.incident, t.in_play.laid
    if incident is None or incident.state is not IncidentState.RESCAN:
        return []
    if incident.again is not None:
        return [card.code for card in laid[len(incident.again) :]]
    return [laid[-1].code] if incident.fact is not None else list(t.in_play.unplaced_reads.codes)


def _remember(t: TableState, code: str) -> None:
    unplaced, copies = t.in_play.unplaced_reads, t.register.deck.copies
    waiting = sum(card.code == code for card in unplaced.cards)
    match t.register.check(code):
        case Anomaly.ALREADY_OUT:
            pass  # Another look at a card that lies there: nothing has left the shoe.
        case Anomaly():
            unplaced.foreign = True
        case _ if waiting < copies:
            unplaced.cards.append(HeldCode(code, len(t.register.places(code)) + waiting))


def waiting_count(t: TableState) -> int:
    """Return how many cards were read in this round and are not dealt with."""
    return len(t.round.unplaced_reads.cards) if t.round is not None else 0


def follow(t: TableState) -> None:
    """End a step: what lies there by now needs no asking, the rest is asked about with no incident open."""
    if t.read_meanwhile and t.incident is None:
        t.read_meanwhile = False
        if t.phase in (*IN_ROUND, Phase.READY, Phase.CONFIRMED):
            surplus.card_not_due(t, None)
    if t.round is None:
        return
    unplaced = t.round.unplaced_reads
    unplaced.cards = [card for card in unplaced.cards if len(t.register.places(card.code)) <= card.out_before]
    if t.incident is None and not unplaced.cards:
        unplaced.together = False
    incident = t.incident
    if incident is not None and incident.kind is IncidentKind.HELD_READ and not unplaced.cards:
        decide(t, incident, Verdict.DUPLICATE_READ, None)  # It came to lie there under another case.
    if t.incident is None and (unplaced.cards or unplaced.foreign):
        _ask_about(t)


def _ask_about(t: TableState) -> None:
    """The hold is over: before anything else, what came out meanwhile."""
    unplaced = t.in_play.unplaced_reads
    if t.phase is Phase.CONFIRMED:
        unplaced.cards, unplaced.foreign = [], False
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
    unplaced = t.in_play.unplaced_reads
    cards, codes = unplaced.cards, unplaced.codes
    if not cards or code == codes[0] or (unplaced.together and code in codes):
        return True
    if code not in codes:
        cards.append(HeldCode(code, len(t.register.places(code))))
    incident.values[Axis.CERTAIN] = Known.NO
    procedures.judge(t, incident, None)
    return False


def go_on(t: TableState, incident: Incident, actor: str) -> None:
    """A supervisor has looked: nothing is out that is not on record. The deck is checked after the round."""
    t.in_play.unplaced_reads.cards.clear()
    t.deck_suspect = True
    decide(t, incident, Verdict.WENT_ON, actor)


def shuffled_again(t: TableState) -> None:
    """Every card is back in the shoe; one that is not of this deck stays a case."""
    t.in_play.unplaced_reads.cards.clear()
