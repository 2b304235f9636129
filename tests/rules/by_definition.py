"""Combinations straight from their definition (DBL-01 to DBL-06), by trying every set of cards.

Slow and obvious, so that it can check the quick way.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from controller.cards import Card, Rank
from controller.games.combinations import STRENGTH, Kind

CardSet = frozenset[Card]

STRAIGHT_RANKS = [frozenset(range(high - 4, high + 1)) for high in range(6, 15)] + [
    frozenset({14, 2, 3, 4, 5})
]
BY_COUNTS = {
    (2,): Kind.PAIR,
    (3,): Kind.TRIPS,
    (2, 2): Kind.TWO_PAIR,
    (4,): Kind.QUADS,
    (3, 2): Kind.FULL_HOUSE,
}


def kind_of(cards: tuple[Card, ...]) -> Kind | None:
    """Return the combination that all these cards form together, None when there is none."""
    ranks = frozenset(card.rank for card in cards)
    counts = tuple(sorted(Counter(card.rank for card in cards).values(), reverse=True))
    if len(cards) == 5:
        straight, flush = ranks in STRAIGHT_RANKS, len({card.suit for card in cards}) == 1
        if straight and flush:
            return Kind.ROYAL if ranks >= {Rank.ACE, Rank.KING} else Kind.STRAIGHT_FLUSH
        if straight or flush:
            return Kind.FLUSH if flush else Kind.STRAIGHT
    if ranks == {Rank.ACE, Rank.KING} and len(cards) == 2:
        return Kind.AK
    return BY_COUNTS.get(counts)


def all_combinations(cards: tuple[Card, ...]) -> list[tuple[Kind, CardSet]]:
    """Return every combination in a hand."""
    sets = (some for size in range(2, 6) for some in combinations(cards, size))
    return [(kind, frozenset(some)) for some in sets if (kind := kind_of(some)) is not None]


def height(kind: Kind, cards: CardSet) -> tuple[int, ...]:
    """Order equal combinations: ranks by how often they lie, then downwards; the wheel is the lowest."""
    counts = Counter(card.rank for card in cards)
    if kind in (Kind.STRAIGHT, Kind.STRAIGHT_FLUSH) and counts.keys() == {14, 2, 3, 4, 5}:
        return (5,)
    return tuple(sorted(counts, key=lambda rank: (counts[rank], rank), reverse=True))


def different(one: CardSet, other: CardSet) -> bool:
    """Whether each has a card that the other lacks (DBL-03)."""
    return bool(one - other) and bool(other - one)


def mains(cards: tuple[Card, ...]) -> list[tuple[Kind, CardSet]]:
    """Return every choice of cards for the best combination; none for "no game"."""
    found = all_combinations(cards)
    best = max(((STRENGTH[kind], height(kind, cards)) for kind, cards in found), default=None)
    return [(kind, some) for kind, some in found if (STRENGTH[kind], height(kind, some)) == best]


def main_and_second(cards: tuple[Card, ...]) -> tuple[Kind | None, Kind | None]:
    """Return the names of both combinations (DBL-06)."""
    choices = mains(cards)
    if not choices:
        return None, None
    seconds = [
        kind
        for kind, some in all_combinations(cards)
        if any(different(some, chosen) for _, chosen in choices)
    ]
    return choices[0][0], max(seconds, key=STRENGTH.__getitem__, default=None)
