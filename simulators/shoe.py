"""The shoe: the order of the cards of each deal, a pure function of seed, round number and deal."""

from __future__ import annotations

import random
from collections.abc import Callable

from controller.cards import DECK, Card

Shoe = Callable[[int, int, int], tuple[Card, ...]]
"""The deck of a deal, from seed, round number and deal, in the order in which it will be drawn."""


def shuffled(seed: int, round_no: int, deal: int = 1) -> tuple[Card, ...]:
    """Return the deck of a round in the order in which it will be drawn; another one for each deal."""
    cards = list(DECK)
    again = f"/{deal}" if deal > 1 else ""
    random.Random(f"{seed}/shoe/{round_no}{again}").shuffle(cards)
    return tuple(cards)
