"""The 33 ways to play the main box of live Russian Poker (RPL-13, RPL-17 to RPL-19, RPL-82)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from operator import itemgetter

import msgspec

from controller.cards import Card

HAND_SIZE = 5


class Pattern(msgspec.Struct, frozen=True):
    """One way of drawing. `text` names it on the wire: `stay`, `sixth`, `exchange:1,3`.

    `positions` are the exchanged ones, from 1 in dealt order, ascending; `switch_count` is how many
    switch cards the player takes and sees (RPL-20).
    """

    text: str
    positions: tuple[int, ...]
    switch_count: int

    @property
    def draws(self) -> bool:
        """Whether the player takes any switch card."""
        return self.switch_count > 0


STAY = Pattern("stay", (), 0)
SIXTH = Pattern("sixth", (), 1)


def exchange(*positions: int) -> Pattern:
    """Return the pattern that exchanges these positions, 1 to 5, in any order.

    Raises ValueError for no position, one out of range, or one named twice.
    """
    chosen = tuple(sorted(positions))
    if not chosen or len(set(chosen)) != len(chosen) or not {1, 2, 3, 4, 5} >= set(chosen):
        raise ValueError(f"cannot exchange positions {positions}: one to five different ones of 1 to 5")
    return Pattern(f"exchange:{','.join(map(str, chosen))}", chosen, len(chosen))


EXCHANGES = tuple(
    exchange(*positions) for count in range(1, 6) for positions in combinations(range(1, 6), count)
)
PATTERNS: tuple[Pattern, ...] = (STAY, SIXTH, *EXCHANGES)
"""All 33, in the order in which they are published."""

FROM_TEXT = {pattern.text: pattern for pattern in PATTERNS}


def parse_pattern(text: str) -> Pattern:
    """Read a pattern's name from the wire. Raises ValueError for anything else."""
    try:
        return FROM_TEXT[text]
    except KeyError:
        raise ValueError(f"{text!r} is not a pattern: stay, sixth or exchange:1,3") from None


def final_cards(pattern: Pattern, dealt: tuple[Card, ...], switch: tuple[Card, ...]) -> tuple[Card, ...]:
    """Return the hand after the draw, exchanged cards in the places of the old ones.

    The lowest exchanged position gets switch card 1, and so on (RPL-18); a sixth card is switch card 1,
    added last (RPL-19). Raises ValueError when cards are missing.
    """
    if len(dealt) != HAND_SIZE or len(switch) < pattern.switch_count:
        raise ValueError(f"{pattern.text} of {len(dealt)} dealt and {len(switch)} switch cards")
    return PICKS[pattern.text]((*dealt, *switch))


def _pick(pattern: Pattern) -> Callable[[Sequence[Card]], tuple[Card, ...]]:
    """Return what picks a final hand out of the dealt cards followed by the switch cards."""
    indices = list(range(HAND_SIZE))
    for drawn, position in enumerate(pattern.positions, start=HAND_SIZE):
        indices[position - 1] = drawn
    if pattern == SIXTH:
        indices.append(HAND_SIZE)
    return itemgetter(*indices)


PICKS = {pattern.text: _pick(pattern) for pattern in PATTERNS}
