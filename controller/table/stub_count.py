"""Counting the stub: the cards that are not out, against the deck (procedures, row 25 and "Inventory").

Due at the profile's interval; with `count_every_rounds` 1 before the result can be confirmed, so that a
loss is found before anything is settled. A wrong count is repeated by a supervisor before it counts.
"""

from __future__ import annotations

import msgspec

from controller.table import deck_end
from controller.table.charts import Phase
from controller.table.events import IncidentKind, Refusal, ShoeEnd, StubCounted, Verdict
from controller.table.incidents import cancel, decide, open_incident
from controller.table.inputs import CancelReason, Role
from controller.table.shoe_state import SuspectDeck
from controller.table.state import Incident, TableState


def expected(t: TableState) -> int:
    """Return how many cards are not out, by the register."""
    is_dealt = t.round is not None or t.game.shoe is not None
    return t.register.left_count if is_dealt else t.register.size


def is_due(t: TableState) -> bool:
    """Whether the stub must be counted before the round goes on: before RESULT, or before it is cleared."""
    deck, every = t.shoe.deck, t.settings.limits.count_every_rounds
    if deck is None or not is_countable(t):
        return False
    uncounted = t.round_no - deck.good_round
    if t.phase in (Phase.CONFIRMED, Phase.CANCELLED) and deck_end.planned_end(t) is not None:
        return uncounted > 0  # What is left of a shoe is counted when it closes.
    if every == 0:
        return False
    if t.phase is Phase.RESULT_PROPOSED:
        return every == 1 and uncounted > 0
    return t.phase is Phase.CONFIRMED and (uncounted >= every or (uncounted > 0 and deck_end.is_over_age(t)))


def is_countable(t: TableState) -> bool:
    """Whether the register knows every card that is out; after a late card it does not."""
    if t.shoe.deck is None or t.shoe.suspect is not None or t.deck_suspect:
        return False
    if t.phase is Phase.CANCELLED:
        return t.game.shoe is not None  # Its other rounds have been dealt out of this shoe, too.
    return t.round is None or t.phase in (Phase.RESULT_PROPOSED, Phase.CONFIRMED)


def is_counted(t: TableState) -> bool:
    """Whether the deck may go: all its rounds lie before a good count, or nobody counts here."""
    deck = t.shoe.deck
    if deck is None or t.settings.limits.count_every_rounds == 0:
        return True
    return deck.good_round == t.round_no


def note_good(t: TableState) -> None:
    """All cards are there after this round."""
    assert t.shoe.deck is not None
    t.shoe.deck = msgspec.structs.replace(t.shoe.deck, good_round=t.round_no)


def count(t: TableState, found: int, actor: str, role: Role) -> Refusal | None:
    """Take a count; a wrong one is repeated by a supervisor, who is another person."""
    incident, deck = t.incident, t.shoe.deck
    if deck is None or not is_countable(t):
        return Refusal.NOT_OWED
    if incident is not None:
        refusal = _why_not_again(incident, actor, role)
        if refusal is not None:
            return refusal
    t.emit(StubCounted(deck=deck.number, count=found, expected=expected(t), by=actor))
    if found == expected(t):
        note_good(t)
        if incident is not None:
            decide(t, incident, Verdict.WENT_ON, actor)
    elif incident is None:
        open_incident(
            t,
            IncidentKind.WRONG_COUNT,
            "25",
            first="ask_supervisor",
            prompt="COUNT_AGAIN",
            reason=CancelReason.DECK_INTEGRITY,
            reported_by=actor,
        )
    else:
        _defective(t, incident, actor)
    return None


def _why_not_again(incident: Incident, actor: str, role: Role) -> Refusal | None:
    if incident.kind is not IncidentKind.WRONG_COUNT:
        return Refusal.WRONG_INCIDENT
    if role is not Role.SUPERVISOR:
        return Refusal.WRONG_ROLE
    return Refusal.SAME_PERSON if incident.reported_by == actor else None


def _defective(t: TableState, incident: Incident, actor: str) -> None:
    """Row 25: two people counted, the deck is defective. A round that is not confirmed is void."""
    if t.phase is Phase.RESULT_PROPOSED:
        cancel(t, incident, CancelReason.DECK_INTEGRITY, actor)
        return
    decide(t, incident, Verdict.DECK_OUT, actor)
    assert t.shoe.deck is not None
    suspect = SuspectDeck(ShoeEnd.COUNT, t.shoe.deck.good_round)
    if t.round is not None:
        t.shoe.suspect = suspect  # It goes when its cards are collected.
        return
    deck_end.close(t, suspect)
    if t.phase is not Phase.DECK_CHECK:
        t.move("deck_suspect")
