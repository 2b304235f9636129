"""The order alarm: drawn cards that lie as no shuffle leaves them (procedures, row 26 and "Inventory").

A new deck runs through each suit, up or down, and changes suits at an end. A deck that was only collected
repeats how the cards of the last round lay, from either side.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise

from controller.cards.card import Card, Rank


class Order(StrEnum):
    """Whose order the drawn cards repeat."""

    NEW_DECK = "NEW_DECK"
    LAST_ROUND = "LAST_ROUND"


ENDS = frozenset({Rank.ACE, Rank.TWO, Rank.KING})
"""Where a suit of a new deck begins or ends, with the ace high or low."""
CHANGE = 0
"""The step from the end of one suit to an end of another; the next suit may run either way."""


def order_alarm(drawn: Sequence[Card], last_collected: Sequence[Card], run: int) -> Order | None:
    """Return whose order a stretch of `run` of the `drawn` cards repeats, None when there is none.

    `drawn` in the order in which they left the shoe; `last_collected` as they lay at the end of the round
    before, place by place.
    """
    if _has_run([_suit_step(before, card) for before, card in pairwise(drawn)], run):
        return Order.NEW_DECK
    lay = {card: index for index, card in enumerate(last_collected)}
    steps = [
        _step(lay[card] - lay[before]) if before in lay and card in lay else None
        for before, card in pairwise(drawn)
    ]
    return Order.LAST_ROUND if _has_run(steps, run) else None


def _has_run(steps: Sequence[int | None], run: int) -> bool:
    """Return whether `run` cards follow one another: one way through each suit, and all of it."""
    before, here, way = 0, 1, CHANGE
    for step in steps:
        if step == CHANGE:
            before, here = here + (before if here == len(Rank) else 0), 1
        elif step is not None and way in (CHANGE, step):
            here += 1
        else:
            before, here = 0, 1 if step is None else 2
        way = step or CHANGE
        if before + here >= run:
            return True
    return False


def _step(difference: int) -> int | None:
    return difference if difference in (1, -1) else None


def _suit_step(before: Card, card: Card) -> int | None:
    """Return 1 or -1 for neighbours of one suit (the ace is next to king and deuce), `CHANGE`, or None."""
    if before.suit is not card.suit:
        return CHANGE if before.rank in ENDS and card.rank in ENDS else None
    difference = (card.rank - before.rank) % len(Rank)
    return {1: 1, len(Rank) - 1: -1}.get(difference)
