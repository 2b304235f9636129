"""Cards as they come out: whether one is due, where it lies and who is told, turned, laid aside.

What the script asks for next is in `dealing`.
"""

from __future__ import annotations

from controller.games.procedure import Deal, Face, LayAside, Turn
from controller.table import aside, dealing
from controller.table.events import BurnReason, CardDealt, CardLaidAside, CardShown, CardsRevealed
from controller.table.shoe_state import UnplacedRead
from controller.table.state import LaidCard, TableState

HELD_TIMER = "held"


def is_card_due(t: TableState) -> bool:
    """Return whether the next read may be taken as the card that the script owes."""
    current = t.in_play
    if not isinstance(current.run.owed, Deal):
        return False
    window = current.window
    if window is None or window.decides is not None:
        return True  # A box's own decision has freed its cards.
    return window.settled and t.now >= current.free_at


def follow_held(t: TableState) -> None:
    """Lay the cards that wait, as they become due, in the order in which they were drawn (row 23a)."""
    while t.is_round_open and t.in_play.held and t.incident is None and isinstance(t.in_play.run.owed, Deal):
        current = t.in_play
        if not is_card_due(t):
            if current.free_at > t.now:
                t.arm(HELD_TIMER, current.free_at)
            return
        card = current.held.pop(0)
        if aside.burn_due(t) is BurnReason.NEW_SHOE:
            t.shoe.sealed.append(card.opening(current.id))  # It stays face down until the shoe closes.
        else:
            current.withdrawn.append(card.opening())
        t.register.withdraw(card.code, (card.place, card.n))
        deal_card(t, UnplacedRead(card.card, card.code, card.key, card.manual), held=card.n)
    t.disarm(HELD_TIMER)


def deal_card(t: TableState, read: UnplacedRead, *, held: int | None = None) -> None:
    """Lay the card that is due, and follow the script; a card to be burned goes before it."""
    current = t.in_play
    reason = aside.burn_due(t)
    if reason is not None:
        aside.burn_as_due(t, read, reason)
        return
    step = current.run.owed
    assert isinstance(step, Deal)
    laid = lay(t, read, step, fact=len(current.run.facts), held=held)
    t.shoe.stands_by = False
    current.laid.append(laid)
    current.run.tell(read.card)
    dealing.follow(t)


def lay(t: TableState, read: UnplacedRead, step: Deal, *, fact: int, held: int | None = None) -> LaidCard:
    """Register the card at its place and tell what may be told of it."""
    up = step.face is Face.UP
    where = (step.place, step.n)
    reading = t.in_play.readings[where] = t.in_play.readings.get(where, 0) + 1
    commitment = None if up else t.commitment(read, place=step.place, n=step.n, reading=reading)
    t.register.take(read.code, where)
    t.emit(
        CardDealt(
            place=step.place,
            n=step.n,
            face=step.face,
            deal=t.in_play.deal,
            reading=reading,
            card=str(read.card) if up else None,
            commitment=commitment,
            manual=read.manual,
            held=held,
        )
    )
    if step.shown_to_betting:
        t.emit(CardShown(place=step.place, n=step.n, reading=reading, card=str(read.card)))
    return LaidCard(
        place=step.place,
        n=step.n,
        deal=t.in_play.deal,
        reading=reading,
        card=read.card,
        code=read.code,
        key=read.key,
        commitment=commitment,
        open=up,
        fact=fact,
        shown_to_betting=step.shown_to_betting,
        manual=read.manual,
    )


def turn_cards(t: TableState, step: Turn) -> None:
    """The cards of a place have been turned: publish them and open their commitments."""
    hidden = [laid for laid in t.in_play.at_place(step.place) if not laid.open]
    for laid in hidden:
        laid.open = True
    t.emit(CardsRevealed(place=step.place, cards=tuple(laid.opening() for laid in hidden)))
    t.in_play.run.tell(None)
    dealing.follow(t)


def lay_aside(t: TableState, step: LayAside) -> None:
    """The dealer's card lies beside the hand (RPL-34)."""
    t.emit(CardLaidAside(place=step.place, n=step.n))
    t.in_play.run.tell(None)
    dealing.follow(t)
