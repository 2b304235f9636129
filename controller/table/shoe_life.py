"""A shoe that serves many rounds: its first cards, its cutting card, what waits for the next round.

BAC-13 and rows 7, 8, 10, 27 and 28 of the procedures. A game says by its `shoe` that it is dealt so; in the
others nothing of this happens.
"""

from __future__ import annotations

from controller.games.procedure import HELD
from controller.table import aside
from controller.table.charts import IN_ROUND
from controller.table.events import BurnReason, IncidentKind, Refusal, ShoeEnding
from controller.table.inputs import CardRead
from controller.table.shoe_state import KeptCard, UnplacedRead
from controller.table.state import Round, TableState


def begin(t: TableState) -> None:
    """The shoe is shuffled and in its place: its first card is shown, or burned, where that is done."""
    plan = t.game.shoe
    if plan is None:
        return
    if plan.burn_counts:
        t.shoe.burns_due = [BurnReason.FIRST_CARD]
    elif t.settings.limits.burn_at_shoe_start:
        t.shoe.burns_due = [BurnReason.NEW_SHOE]


def is_begun(t: TableState) -> bool:
    """Whether cards of the shoe are out, so that it can't be shuffled again."""
    return t.game.shoe is not None and t.register.out_count > 0


def awaits_stand_by(t: TableState) -> bool:
    """Whether the house wants the shoe to stand by before each coup, and it has not said so."""
    wanted = t.settings.limits.stand_by_needed and t.game.shoe is not None
    return wanted and not t.shoe.stands_by


def burned_at_most(t: TableState) -> int:
    """Return how many cards are burned before the next round, at most."""
    plan, due = t.game.shoe, t.shoe.burns_due
    if plan is None or BurnReason.FIRST_CARD not in due:
        return len(due)
    return len(due) - 1 + plan.burned_at_most


# The cutting card.


def is_cutting_card(t: TableState, code: str) -> bool:
    """Whether this is the code on the cutting card of the shoe."""
    return t.shoe.deck is not None and code == t.register.deck.cutting_card


def cutting_card_out(t: TableState) -> Refusal | None:
    """The cutting card has come out: after this round, and so many more, the shoe closes (BAC-13, row 27).

    As the first card of a round it belongs to the one before.
    """
    plan, deck = t.game.shoe, t.shoe.deck
    if plan is None:
        return Refusal.NOT_OFFERED
    if deck is None or t.shoe.last_round is not None or not is_begun(t):
        return Refusal.NOT_OWED
    more = plan.rounds_after_cutting_card
    if t.phase not in IN_ROUND:
        last = t.round_no + max(1, more)
    else:
        last = t.round_no + (more if t.in_play.laid else max(0, more - 1))
    t.shoe.last_round = last
    t.emit(ShoeEnding(deck=deck.name, number=deck.number, last_round=last))
    return None


def has_passed_unseen(t: TableState) -> bool:
    """Whether so few cards are left that the cutting card must have come out, and nobody has said so."""
    plan = t.game.shoe
    return (
        plan is not None and t.shoe.last_round is None and t.register.left_count < plan.cutting_card_from_end
    )


# Cards that wait for the next round.


def keep(t: TableState, read: UnplacedRead, kind: IncidentKind, *, burns: bool = False) -> None:
    """Keep a card that came out when nothing of this round is due: it is the first one of the next (row 10a).

    `burns`: its face was seen, so it is burned then (row 10b). As the first card of a new shoe it is shown.
    """
    t.register.take(read.code, (HELD, len(t.shoe.kept) + 1))
    burns = burns and BurnReason.FIRST_CARD not in t.shoe.burns_due
    t.shoe.kept.append(KeptCard(read, kind, burns))


def burn_next(t: TableState, kind: IncidentKind) -> None:
    """A card that nobody has scanned was seen: it is scanned and burned before the deal (row 7b)."""
    if BurnReason.FIRST_CARD not in t.shoe.burns_due:
        t.shoe.burns_due.insert(0, BurnReason(kind))


def place_kept(t: TableState) -> None:
    """A round has opened: bind the cards that wait for it, before anybody bets."""
    kept, t.shoe.kept = t.shoe.kept, []
    for card in kept:
        t.register.withdraw(card.read.code)  # They are the last ones that left the shoe.
    for card in kept:
        if card.burns:
            aside.burn(t, card.read, BurnReason(card.kind))
        else:
            aside.hold(t, card.read, card.kind)


def round_over(t: TableState) -> None:
    """Seal what lies face down until the shoe closes; what still waits, waits for the next round."""
    current = t.in_play
    t.shoe.sealed += [card.opening(current.id) for card in (*current.burned, *current.held) if not card.open]
    for card in current.held:
        t.register.withdraw(card.code, (card.place, card.n))
        keep(
            t, UnplacedRead(card.card, card.code, card.key, card.manual), card.kind or IncidentKind.EARLY_DRAW
        )
    current.held.clear()


def collected(t: TableState, current: Round) -> None:
    """The cards of the round are in the discards; from now on their places carry the round's name."""
    t.register.rename(lambda where: where if "/" in where[0] else (f"{current.id}/{where[0]}", where[1]))


# The same value again.


def is_repeat(t: TableState, read: CardRead) -> bool:
    """Whether one card may have been read twice, and its code, which is on many, can't tell (row 4)."""
    return read.repeat and t.register.deck.copies > 1
