"""The order alarm: every unshuffled deck, and how seldom a shuffled one.

TABLECTL_SOAK=1 counts false alarms over a million shuffles.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction
from math import perm
from random import Random

import pytest

from controller.cards import DECK, Card, Order, order_alarm, parse_cards
from controller.table.limits import Limits

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
SHUFFLES = 1_000_000 if SOAK else 2_000
RUN = Limits().order_run
DRAWN = 26
"""The longest round of live Russian Poker."""
NEW_DECK_RUNS = 2_264
"""How many sequences of seven cards follow a new deck's order."""
UP, DOWN = "A23456789TJQK", "KQJT98765432A"
HIGH_UP = "23456789TJQKA"
NEW_DECKS = {
    # Ranks of each suit as decks come from their makers, top card first.
    "American": ((UP, "s"), (UP, "d"), (DOWN, "c"), (DOWN, "h")),
    "bridge": ((UP, "h"), (UP, "c"), (DOWN, "d"), (DOWN, "s")),
    "ascending": ((UP, "s"), (UP, "h"), (UP, "c"), (UP, "d")),
    "descending": ((DOWN, "s"), (DOWN, "h"), (DOWN, "d"), (DOWN, "c")),
    "ace high": ((HIGH_UP, "c"), (HIGH_UP, "d"), (HIGH_UP, "h"), (HIGH_UP, "s")),
}


def new_deck(name: str) -> list[Card]:
    return [Card.parse(rank + suit) for ranks, suit in NEW_DECKS[name] for rank in ranks]


def cut(cards: Sequence[Card], at: int) -> list[Card]:
    return [*cards[at:], *cards[:at]]


@pytest.mark.parametrize("name", NEW_DECKS)
def test_every_new_deck_is_an_alarm_at_every_cut_and_from_both_ends(name: str) -> None:
    cards = new_deck(name)
    assert set(cards) == set(DECK)
    for at in range(52):
        for deck in (cut(cards, at), cut(cards, at)[::-1]):
            assert order_alarm(deck[:DRAWN], (), RUN) is Order.NEW_DECK
            assert order_alarm(deck[: 2 * RUN - 1], (), RUN) is Order.NEW_DECK


def test_cards_that_only_lie_as_they_were_collected_are_an_alarm() -> None:
    random = Random(1)
    for _ in range(200):
        deck = random.sample(DECK, 52)
        collected = deck[:DRAWN]
        for again in (collected, collected[::-1], [*deck[DRAWN : DRAWN + 15], *collected[:RUN]]):
            assert order_alarm(again, collected, RUN) is Order.LAST_ROUND


@pytest.mark.parametrize(
    ("cards", "found"),
    [
        ("2c 3c 4c 5c 6c 7c 8c", True),
        ("2c 3c 4c 5c 6c 7c", False),
        ("8h 7h 6h 5h 4h 3h 2h", True),
        ("2c 3c 4c 5c 6c 7d 8c 9c Tc Jc Qc Kc", False),
        ("Ts Js Qs Ks Ad 2d 3d", True),  # From the end of a suit to the beginning of the next.
        ("Ts Js Qs Ks Kd Qd Jd", True),
        ("Js Qs Ks As 2d 3d 4d", True),
        ("9s Ts Js Qs 2d 3d 4d 5d", False),
        ("As Ad Ah Ac Ks Kd Kh Kc 2s 2d", False),  # Ends alone are no suits.
        ("3s 2s As Ad Kd Qd Jd 9s", True),
        ("3s 2s As Ad Ah Kh Qh Jh", False),
        ("Qs Ks As 2s 3s 4s 5s", True),  # The ace is next to both.
        ("Ah Th 4c 3s 9d Kc 2d Qs 7h", False),
        ("", False),
        ("As", False),
    ],
)
def test_what_follows_new_deck_order(cards: str, found: bool) -> None:
    assert (order_alarm(parse_cards(cards), (), RUN) is Order.NEW_DECK) is found


def test_a_run_of_the_last_round_needs_neighbours_in_one_direction() -> None:
    last = parse_cards("As 9d 4c Kh 2s 7d Jc 5h Qs 3d")
    assert order_alarm(last[:RUN], last, RUN) is Order.LAST_ROUND
    assert order_alarm(last[: RUN - 1], last, RUN) is None
    assert order_alarm([*last[3:7], *last[2::-1]], last, RUN) is None
    assert order_alarm([*last[:4], *parse_cards("8h"), *last[4:8]], last, RUN) is None


def runs_count() -> int:
    """Count the sequences of RUN different cards that are an alarm, by growing every one of them."""

    def grow(cards: tuple[Card, ...]) -> int:
        if len(cards) == RUN:
            return 1
        longer = ((*cards, card) for card in DECK if card not in cards)
        return sum(grow(more) for more in longer if order_alarm(more, (), len(more)) is Order.NEW_DECK)

    return sum(grow((card,)) for card in DECK)


def expected_alarms(run_count: int, drawn: int) -> Fraction:
    """Return how many runs a shuffled deck shows on the average; the chance of any is below it."""
    return Fraction(run_count * (drawn - RUN + 1), perm(52, RUN))


def test_how_seldom_a_shuffled_deck_is_an_alarm() -> None:
    """Below 6.84 in a hundred million rounds of 26 cards, one in 14.6 million; the bound is nearly exact."""
    new_deck_runs = runs_count()
    last_round_runs = 2 * (DRAWN - RUN + 1)
    assert new_deck_runs == NEW_DECK_RUNS
    a_round = expected_alarms(new_deck_runs + last_round_runs, DRAWN)
    assert Fraction(683, 10**10) < a_round < Fraction(684, 10**10), float(a_round)


def test_false_alarms_over_many_shuffles() -> None:
    """With the default run none is to be expected; a run of three comes often enough to be counted."""
    random, alarms, short = Random(20), 0, 0
    deck = list(DECK)
    last: tuple[Card, ...] = ()
    for _ in range(SHUFFLES):
        random.shuffle(deck)
        drawn = tuple(deck[:DRAWN])
        alarms += order_alarm(drawn, last, RUN) is not None
        short += order_alarm(drawn, last, 3) is not None
        last = drawn
    print(f"{alarms} false alarms in {SHUFFLES} shuffles")
    assert alarms <= 1
    assert 0.08 < short / SHUFFLES < 0.11
