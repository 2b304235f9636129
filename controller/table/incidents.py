"""What an incident is, once for all games: opened, decided (which cell, by whom), closed.

Incidents nest; the newest is the one that people are asked about, and while any is open the gate for
cards and confirmations is shut. Which cell decides a case is in `procedures`; what each kind of case does is
in `readings`, `surplus`, `interruptions` and `observations`.
"""

from __future__ import annotations

from controller.table import acknowledgements, dealing, halts, result
from controller.table.aside import burn_asked_about
from controller.table.charts import INCIDENT_INPUTS, INCIDENT_TARGETS, IncidentState, Phase
from controller.table.events import (
    CardWithdrawn,
    IncidentAsked,
    IncidentClosed,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    RoundCancelled,
    RoundClosed,
    ShoeEnd,
    Verdict,
)
from controller.table.events.incidents import HOUSEKEEPING
from controller.table.inputs import CancelReason
from controller.table.shoe_state import SuspectDeck
from controller.table.state import Incident, LaidCard, TableState, Where

ESCALATE = "escalate"
GIVE_UP = "give_up"
"""The deadlines of an incident that waits for a supervisor; its number follows after a slash."""
SECOND = 1_000_000
LOAD_NEW_DECK = "LOAD_NEW_DECK"
WAITS_FOR_SUPERVISOR = frozenset({IncidentState.SUPERVISOR, IncidentState.ENTRY})
"""Nothing of these is decided without one; of the two people who enter a card one is a supervisor."""


def open_incident(
    t: TableState,
    kind: IncidentKind,
    cell: str,
    *,
    first: str,
    prompt: str,
    where: Where | tuple[str, None] | None = None,
    other: Where | None = None,
    reason: CancelReason | None = None,
    reported_by: str | None = None,
) -> Incident:
    """Open an incident and shut the gate; `first` is the chart event that says whom it asks.

    `other` is where the card lies that this one can't be beside.
    """
    t.incidents_count += 1
    state = INCIDENT_TARGETS[IncidentState.NONE, first]
    place, n = where if where is not None else (None, None)
    incident = Incident(t.incidents_count, kind, cell, prompt, state, place=place, n=n)
    incident.stops_betting = t.phase is Phase.BETTING and kind not in HOUSEKEEPING
    incident.reason, incident.reported_by = reason, reported_by
    t.incidents.append(incident)
    t.emit(
        IncidentOpened(
            incident=incident.number,
            kind=kind,
            cell=cell,
            place=incident.place,
            n=n,
            reason=incident.reason,
            prompt=prompt,
            stops_betting=incident.stops_betting,
            dealer=t.duty.dealer.actor if t.duty.dealer is not None else None,
            other_place=other[0] if other is not None else None,
            other_n=other[1] if other is not None else None,
        )
    )
    outage_counted = kind is IncidentKind.SCANNER_LOST and t.round is not None and t.round.by_hand
    if kind not in HOUSEKEEPING and not outage_counted:
        halts.count_case(t, cell)
    _call_or_leave(t, incident)
    return incident


def call_supervisor(t: TableState, incident: Incident) -> None:
    """Row 40: from now on the supervisor's time to answer runs."""
    limits = t.settings.limits
    incident.escalated = False
    t.arm(f"{ESCALATE}/{incident.number}", t.now + limits.escalate_after_s * SECOND)
    t.arm(f"{GIVE_UP}/{incident.number}", t.now + limits.give_up_after_s * SECOND)


def _call_or_leave(t: TableState, incident: Incident) -> None:
    """Begin or end the supervisor's time, as the incident waits for one or not."""
    if incident.state in WAITS_FOR_SUPERVISOR:
        call_supervisor(t, incident)
    else:
        _leave_supervisor(t, incident)


def _leave_supervisor(t: TableState, incident: Incident) -> None:
    incident.escalated = False
    t.disarm(f"{ESCALATE}/{incident.number}")
    t.disarm(f"{GIVE_UP}/{incident.number}")


def ask(t: TableState, incident: Incident, event: str, prompt: str) -> None:
    """Ask somebody else, or something else; `event` is the chart's."""
    incident.prompt = prompt
    incident.state = INCIDENT_TARGETS[incident.state, event]
    t.emit(
        IncidentAsked(
            incident=incident.number, cell=incident.cell, prompt=prompt, place=incident.place, n=incident.n
        )
    )
    _call_or_leave(t, incident)


def decide(
    t: TableState, incident: Incident, verdict: Verdict, by: str | None, reason: str | None = None
) -> None:
    """Say how the incident was decided, and close it."""
    t.emit(
        IncidentDecided(incident=incident.number, cell=incident.cell, verdict=verdict, by=by, reason=reason)
    )
    assert "close" in INCIDENT_INPUTS[incident.state], incident
    t.incidents.remove(incident)
    _leave_supervisor(t, incident)
    t.emit(IncidentClosed(incident=incident.number, kind=incident.kind, stops_betting=incident.stops_betting))


def note_incident(
    t: TableState, kind: IncidentKind, cell: str, verdict: Verdict, prompt: str, by: str | None = None
) -> None:
    """Put on record a case whose cell leaves nothing to ask; `by` is who has reported it."""
    incident = open_incident(t, kind, cell, first="ask_supervisor", prompt=prompt)
    decide(t, incident, verdict, by)


def cancel(t: TableState, incident: Incident, reason: CancelReason, by: str | None) -> None:
    """Cancel the round: everything is refunded (RPL-73) and every commitment is opened."""
    current = t.in_play
    burn_asked_about(t)
    dealing.abandon_window(t, "cancel")
    place = incident.place
    deck_out = any(known.deck_out for known in t.incidents)
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
            voided=tuple(current.voided),
            opened=result.open_commitments(t),
        )
    )
    t.emit(RoundClosed(rev=1))
    acknowledgements.ended(t, current.id, 1)
    if deck_out or reason is CancelReason.DECK_INTEGRITY:
        _let_deck_go(t, incident, reason)


def _let_deck_go(t: TableState, incident: Incident, reason: CancelReason) -> None:
    """Say what the cancel means for the deck; it goes when its cards are collected.

    A wrong count casts doubt on the rounds since the last good one; a card that the deck should not have,
    on all rounds since it was loaded. One that has run out as it should misses no card.
    """
    deck = t.shoe.deck
    empty = incident.kind is IncidentKind.DECK_EMPTY
    if deck is None or (empty and t.register.left_count == 0):
        return
    if empty or incident.kind is IncidentKind.WRONG_COUNT:
        t.shoe.suspect = SuspectDeck(ShoeEnd.COUNT, deck.good_round)
    elif reason is CancelReason.DECK_INTEGRITY:
        t.shoe.suspect = SuspectDeck(ShoeEnd.INTEGRITY, deck.loaded_round)
    else:
        forgotten = incident.kind is IncidentKind.BURN_FORGOTTEN
        end = ShoeEnd.BURN_FORGOTTEN if forgotten else ShoeEnd.FLOOR
        t.shoe.suspect = SuspectDeck(end, t.round_no)


def last_card(t: TableState) -> LaidCard | None:
    """Return the card that came last, if it may still be disputed: no press and no window end since."""
    current = t.in_play
    if not current.laid or len(current.laid) <= current.laid_at_window:
        return None
    laid = current.laid[-1]
    later = current.run.asked[laid.fact + 1 :] if laid.fact is not None else []
    return None if later else laid


def withdraw_card(t: TableState, laid: LaidCard, reason: IncidentKind) -> None:
    """Say that a card does not lie where it was read; its code counts as in the shoe again."""
    t.register.withdraw(laid.code, (laid.place, laid.n))
    t.emit(CardWithdrawn(place=laid.place, n=laid.n, reading=laid.reading, reason=reason))
