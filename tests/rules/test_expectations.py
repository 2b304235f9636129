"""What a blind box of live Russian Poker costs its player without the purchase, exactly (R-11).

Two hands of one deck are 4 x 10^12 pairs. Instead, hands are counted by the cards that they contain: of the
dealer's hands that avoid all five cards of the player, inclusion and exclusion over their 32 subsets leave
the number. Subsets that differ in the names of their suits share one count.
"""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import accumulate, combinations
from math import comb, factorial, prod
from typing import NamedTuple

import pytest
from rules.live_rules import live_rules
from rules.suit_classes import suit_classes

from controller.cards import Card, Suit, parse_cards
from controller.games.combinations import Kind
from controller.games.judge import Judge
from controller.games.patterns import STAY
from controller.games.poker import Combination, Hand, evaluate
from controller.games.published import Result, RowName, Wager, WagerOutcome

RULES = live_rules()
STAKES = {Wager.ANTE: 1, Wager.BET: 2}
LOWEST_GAME = evaluate(parse_cards("As Kd 4c 3h 2s")).rank
SUITS = {suit: index for index, suit in enumerate(Suit)}

Key = tuple[int, ...]
"""Of each suit the ranks as bits, sorted: the same for sets of cards that differ in the names of suits."""


class Ranked(NamedTuple):
    """Hands that contain certain cards: their ranks, ascending, and how many hands go up to each."""

    ranks: list[int]
    running: list[int]

    def below(self, rank: int) -> int:
        return self.running[bisect_left(self.ranks, rank)]

    def up_to(self, rank: int) -> int:
        return self.running[bisect_right(self.ranks, rank)]


def subsets(cards: tuple[Card, ...]) -> Iterator[tuple[Key, int]]:
    """All 32, each with the sign of inclusion and exclusion."""
    for size in range(len(cards) + 1):
        for some in combinations(cards, size):
            bits = [0, 0, 0, 0]
            for card in some:
                bits[SUITS[card.suit]] |= 1 << card.rank
            yield tuple(sorted(bits)), -1 if size % 2 else 1


def namings(key: Key) -> int:
    """How many sets of cards share the key."""
    return factorial(4) // prod(map(factorial, Counter(key).values()))


def ranked_supersets(hands: list[tuple[tuple[Card, ...], int, Hand]]) -> dict[Key, Ranked]:
    """For any set of cards, the ranks of the hands that contain it."""
    counts: dict[Key, Counter[int]] = defaultdict(Counter)
    for cards, weight, hand in hands:
        for key, _ in subsets(cards):
            counts[key][hand.rank] += weight
    ranked = {}
    for key, by_rank in counts.items():
        ranks = sorted(by_rank)
        running = accumulate((by_rank[rank] // namings(key) for rank in ranks), initial=0)
        ranked[key] = Ranked(ranks, list(running))
    return ranked


def units(outcome: WagerOutcome) -> Fraction:
    match outcome.outcome:
        case Result.WIN:
            return Fraction(outcome.odds or 0)
        case Result.PUSH:
            return Fraction(0)
        case Result.LOSE:
            return Fraction(-1)
    raise AssertionError(outcome)


def net(hand: Hand, dealer: Hand) -> Fraction:
    """What a blind box wins or loses in Antes, as the product judges it."""
    row = Judge(RULES, dealer, None).judge(STAY, hand, None).rows[RowName.PLAIN]
    assert set(row) == set(STAKES)
    return sum((STAKES[wager] * units(outcome) for wager, outcome in row.items()), Fraction(0))


@cache
def nets(main: Kind | None, second: Kind | None) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """The same against a dealer without a game, a lower one, an equal one and a higher one."""
    hand = Hand(main and Combination(main, ()), second and Combination(second, ()), 1)
    lower, equal, higher = (Hand(Combination(Kind.PAIR, ()), None, rank) for rank in (0, 1, 2))
    return net(hand, Hand(None, None, 0)), net(hand, lower), net(hand, equal), net(hand, higher)


@pytest.mark.skipif(not os.environ.get("TABLECTL_SOAK"), reason="takes half a minute; TABLECTL_SOAK=1")
def test_r11_a_blind_box_without_the_purchase() -> None:
    hands = [(cards, weight, evaluate(cards)) for cards, weight in suit_classes(5)]
    assert sum(weight for _, weight, _ in hands) == comb(52, 5)
    supersets = ranked_supersets(hands)
    total = single = Fraction(0)
    for cards, weight, hand in hands:
        nothing = below = up_to = every = 0
        for key, sign in subsets(cards):
            ranked = supersets[key]
            nothing += sign * ranked.below(LOWEST_GAME)
            below += sign * ranked.below(max(hand.rank, LOWEST_GAME))
            up_to += sign * ranked.up_to(max(hand.rank, LOWEST_GAME - 1))
            every += sign * ranked.running[-1]
        assert every == comb(47, 5)
        ways = (nothing, below - nothing, up_to - below, every - up_to)
        main, second = hand.main and hand.main.kind, hand.second and hand.second.kind
        total += weight * sum(way * each for way, each in zip(ways, nets(main, second), strict=True))
        single += weight * sum(way * each for way, each in zip(ways, nets(main, None), strict=True))
    pairs = comb(52, 5) * comb(47, 5)
    assert round(float(100 * total / pairs), 5) == -30.02078
    assert round(float(100 * single / pairs), 5) == -32.47968
