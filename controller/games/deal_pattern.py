"""The order in which the cards of the initial deal leave the shoe (D-10)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import assert_never

from controller.games.patterns import HAND_SIZE


class DealPattern(StrEnum):
    """How the initial deal goes round the table."""

    SINGLE = "single"
    """One card to each place in turn, five times (RPL-09, GRP-18)."""
    PACKETS = "packets"
    """Five cards at once to each place, as a shuffling machine gives them."""


def initial_spots(places: Sequence[str], pattern: DealPattern) -> tuple[tuple[str, int], ...]:
    """Return place and number there, from 1, of every card of the initial deal, in dealing order."""
    numbers = range(1, HAND_SIZE + 1)
    match pattern:
        case DealPattern.SINGLE:
            return tuple((place, n) for n in numbers for place in places)
        case DealPattern.PACKETS:
            return tuple((place, n) for place in places for n in numbers)
        case _:
            assert_never(pattern)
