"""How a deck goes out of use: defective, unshuffled, too old (procedures, rows 5, 6, 25, 26, 28 and 38).

It goes when the cards have been collected; the rounds that are suspect because of its end are named then.
"""

from __future__ import annotations

from controller.cards import Card, Order, order_alarm
from controller.table import shoe_life, wear
from controller.table.charts import Phase
from controller.table.events import IncidentKind, RoundsSuspect, ShoeClosed, ShoeEnd, Verdict
from controller.table.incidents import LOAD_NEW_DECK, decide, note_incident
from controller.table.shoe_state import SuspectDeck
from controller.table.state import Round, TableState, register_of

DAY_US = 86_400_000_000
FOR_A_CAUSE = frozenset({ShoeEnd.INTEGRITY, ShoeEnd.COUNT, ShoeEnd.ORDER})
"""After these a supervisor verifies the next deck."""


def close(t: TableState, suspect: SuspectDeck) -> None:
    """The deck goes out of use; the rounds after its last good one are named, if its end casts doubt."""
    shoe, deck = t.shoe, t.shoe.deck
    assert deck is not None
    t.emit(
        ShoeClosed(
            deck=deck.name,
            number=deck.number,
            reason=suspect.end,
            order=suspect.order,
            opened=tuple(shoe.sealed),
        )
    )
    if suspect.good_round < t.round_no:
        t.emit(
            RoundsSuspect(
                deck=deck.number,
                first_round=suspect.good_round + 1,
                last_round=t.round_no,
                reason=suspect.end,
            )
        )
    shoe.deck, shoe.suspect, shoe.last_collected = None, None, ()
    shoe.burns_due, shoe.last_round, shoe.kept, shoe.sealed = [], None, [], []
    shoe.supervised = shoe.supervised or suspect.end in FOR_A_CAUSE
    t.register = register_of(t.decks[0], t.decks, t.other_decks)  # Nothing of it is out any more.
    wear.forget_cards(t)


def settle_cases(t: TableState, by: str | None) -> None:
    """The deck is checked between two rounds: what people are being asked about is settled by that.

    A card of a shoe that has come out goes out with the next round, as one that was seen (row 7b); one that
    nobody has read is missing in the count.
    """
    t.read_meanwhile = False
    for incident in reversed(list(t.incidents)):
        if incident.read is not None and isinstance(t.register.check(incident.read.code), Card):
            shoe_life.keep(t, incident.read, incident.kind, burns=True)
        decide(t, incident, Verdict.DECK_CHECK, by)


def may_open_round(t: TableState) -> bool:
    """Row 28: whether the longest round can be dealt from what is left, and from what waits for it."""
    needed = t.game.cards_at_most + shoe_life.burned_at_most(t)
    return needed <= t.register.left_count + len(t.shoe.kept)


def planned_end(t: TableState) -> ShoeEnd | None:
    """Return why a shoe that serves many rounds closes after this one, None when it goes on (rows 27, 28)."""
    if t.game.shoe is None:
        return None
    is_last = t.shoe.last_round is not None and t.round_no >= t.shoe.last_round
    if is_last or shoe_life.has_passed_unseen(t):
        return ShoeEnd.CUTTING_CARD
    return None if may_open_round(t) else ShoeEnd.TOO_SHORT


def collected(t: TableState) -> None:
    """The cards of the round have been collected: note how they lay, and close the deck if it has to go.

    Only now does the order alarm look at the cards (row 26): it tells nothing of a round that is played.
    """
    shoe, deck, current = t.shoe, t.shoe.deck, t.in_play
    assert deck is not None
    wear.note_round(t)
    order = _order_of(t)
    end = planned_end(t)
    if t.game.shoe is None:
        shoe.last_collected = _as_they_lay(current)
    else:
        shoe_life.collected(t, current)
    if order is not None and shoe.suspect is None:
        note_incident(t, IncidentKind.ORDER_ALARM, "26", Verdict.DECK_OUT, LOAD_NEW_DECK)
        shoe.suspect = SuspectDeck(ShoeEnd.ORDER, deck.loaded_round, order)
    if shoe.suspect is None and end is not None:
        if shoe_life.has_passed_unseen(t):
            note_incident(t, IncidentKind.CUTTING_CARD, "27", Verdict.DECK_OUT, LOAD_NEW_DECK)
        shoe.suspect = SuspectDeck(end, t.round_no)
    if shoe.suspect is None and is_over_age(t):
        shoe.suspect = SuspectDeck(ShoeEnd.AGE, t.round_no)
    if shoe.suspect is not None:
        close(t, shoe.suspect)


def _order_of(t: TableState) -> Order | None:
    last = tuple(Card.parse(card) for card in t.shoe.last_collected)
    return order_alarm(t.register.drawn(), last, t.settings.limits.order_run)


def _as_they_lay(current: Round) -> tuple[str, ...]:
    places = dict.fromkeys(laid.place for laid in current.laid)
    lay = [laid for place in places for laid in current.at_place(place)]
    return tuple(str(laid.card) for laid in (*lay, *current.burned))


def is_over_age(t: TableState) -> bool:
    """Row 38: whether the deck is older than it may get."""
    deck = t.shoe.deck
    return deck is not None and t.now - deck.loaded_at > t.settings.limits.deck_age_days * DAY_US


def day_begins(t: TableState) -> None:
    """The table opens; a deck that has grown too old while it was off goes out first (row 38)."""
    if is_over_age(t):
        close(t, SuspectDeck(ShoeEnd.AGE, t.round_no))


def started(t: TableState) -> None:
    """After a change of config the deck in use may be none of this table's any more: another is loaded."""
    deck = t.shoe.deck
    if t.round is not None:
        return
    if deck is not None and deck.name not in {known.name for known in t.decks}:
        settle_cases(t, None)
        close(t, SuspectDeck(ShoeEnd.CHANGED, t.round_no))
    if t.shoe.deck is None and t.phase in (Phase.SHUFFLING, Phase.READY):
        t.move("change_deck")
