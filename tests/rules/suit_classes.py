"""One hand of each class of hands that differ only in the names of their suits, with its weight.

Suits that no card has told apart yet are interchangeable: of such a block only the number of chosen suits
matters, and the binomials count the hands that are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import comb

from controller.cards import Card, Rank, Suit

Blocks = tuple[tuple[Suit, ...], ...]

RANKS_DOWN = tuple(sorted(Rank, reverse=True))
ALL_ALIKE: Blocks = (tuple(Suit),)


def suit_classes(
    count: int, ranks: tuple[Rank, ...] = RANKS_DOWN, blocks: Blocks = ALL_ALIKE
) -> Iterator[tuple[tuple[Card, ...], int]]:
    """Yield hands of `count` cards and how many hands of the deck each stands for."""
    if count == 0:
        yield (), 1
        return
    for index, rank in enumerate(ranks):
        for suits, told_apart, weight in choices(blocks):
            if len(suits) <= count:
                cards = tuple(Card(rank, suit) for suit in suits)
                for rest, rest_weight in suit_classes(count - len(suits), ranks[index + 1 :], told_apart):
                    yield cards + rest, weight * rest_weight


@cache
def choices(blocks: Blocks) -> tuple[tuple[tuple[Suit, ...], Blocks, int], ...]:
    """Return the ways to give one or more suits to a rank: the suits, the new blocks, the weight."""
    ways: list[tuple[tuple[Suit, ...], Blocks, int]] = [((), (), 1)]
    for block in blocks:
        ways = [
            (
                (*suits, *block[:taken]),
                (*told_apart, *(part for part in (block[:taken], block[taken:]) if part)),
                weight * comb(len(block), taken),
            )
            for suits, told_apart, weight in ways
            for taken in range(len(block) + 1)
        ]
    return tuple(way for way in ways if way[0])
