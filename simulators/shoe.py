"""The shoe: the order of the cards of each round, a pure function of seed and round number."""

from __future__ import annotations

import random
from collections.abc import Callable

from controller.cards import DECK, Card

Shoe = Callable[[int, int], tuple[Card, ...]]
"""The deck of a round, from seed and round number, in the order in which it will be drawn."""


def shuffled(seed: int, round_no: int) -> tuple[Card, ...]:
    """Return the deck of a round in the order in which it will be drawn."""
    cards = list(DECK)
    random.Random(f"{seed}/shoe/{round_no}").shuffle(cards)
    return tuple(cards)
