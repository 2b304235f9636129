"""Evaluation: what it refuses, the order of hands, and one hand for every corner of the rules.

TABLECTL_SOAK=1 compares the order of a million pairs of hands, of five and of six cards each.
"""

from __future__ import annotations

import os
import random

import pytest
from phevaluator import evaluate_cards

from controller.cards import DECK, Card, parse_cards
from controller.games.combinations import PairedStraight
from controller.games.poker import Combination, evaluate

SEED = 20260101
PAIR_COUNT = 1_000_000 if os.environ.get("TABLECTL_SOAK") else 20_000


@pytest.mark.parametrize("text", ["As Kd", "As Kd Qc Jh", "2c 3c 4c 5c 6c 7c 8c"])
def test_another_number_of_cards_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="five or six cards, got"):
        evaluate(parse_cards(text))


@pytest.mark.parametrize("text", ["As As Kd Qc Jh", "2c 3d 9h Js Qd 2c"])
def test_a_card_that_is_there_twice_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="in the hand twice"):
        evaluate(parse_cards(text))


@pytest.mark.parametrize("count", [5, 6])
def test_order_of_hands_agrees_with_another_evaluator(count: int) -> None:
    dealer = random.Random(SEED)
    for _ in range(PAIR_COUNT):
        one, other = (tuple(dealer.sample(DECK, count)) for _ in range(2))
        theirs = reference(other) - reference(one)  # phevaluator: the smaller, the better
        ours = evaluate(one).rank - evaluate(other).rank
        # Ace-King is a combination here, but it lies between no pair and a pair for both.
        assert (ours > 0) == (theirs > 0) and (ours < 0) == (theirs < 0), (one, other)


@pytest.mark.parametrize("count", [5, 6])
def test_qualification_begins_with_ace_king_four_three_two(count: int) -> None:
    dealer = random.Random(SEED + count)
    lowest = reference(parse_cards("As Kd 4c 3h 2s"))
    for _ in range(5_000):
        cards = tuple(dealer.sample(DECK, count))
        assert evaluate(cards).qualifies == (reference(cards) <= lowest), cards


def reference(cards: tuple[Card, ...]) -> int:
    value = evaluate_cards(*map(str, cards))
    assert isinstance(value, int)
    return value


@pytest.mark.parametrize(
    ("text", "main", "second"),
    [
        ("9s 9h 5d 4c 2s", "9s 9h", ""),
        ("As Kh Jd 3c 2s", "As Kh", ""),
        ("Qs 9h 7d 5c 2s", "", ""),
        ("2s 2h Ad Kc 9s", "2s 2h", "Ad Kc"),
        ("As Ah Kd Kc 9s", "As Ah Kd Kc", ""),
        ("5s 4h 3d 2c As Kd", "5s 4h 3d 2c As", "As Kd"),
        ("As Ks Qs Js Ts 9d", "As Ks Qs Js Ts", "Ks Qs Js Ts 9d"),
        ("6c 5c 4c 3c 2c Ad", "6c 5c 4c 3c 2c", "5c 4c 3c 2c Ad"),
        ("Ac Kc 5c 4c 3c 2c", "5c 4c 3c 2c Ac", "Ac Kc 5c 4c 3c"),
        ("Kh Qh Jh 8h 7h 2h", "Kh Qh Jh 8h 7h", "Kh Qh Jh 8h 2h"),
        ("Ks Kh 8d 8c 5s 5d", "Ks Kh 8d 8c", "Ks Kh 5s 5d"),
        ("3d 3c 2s 2h 2d 2c", "2s 2h 2d 2c", "2s 2h 2d 3d 3c"),
    ],
)
def test_cards_that_form_the_combinations(text: str, main: str, second: str) -> None:
    hand = evaluate(parse_cards(text))
    assert cards_of(hand.main) == set(parse_cards(main))
    assert cards_of(hand.second) == set(parse_cards(second))


def cards_of(combination: Combination | None) -> set[Card]:
    return set(combination.cards) if combination else set()


@pytest.mark.parametrize(
    ("text", "straight", "pair"),
    [
        ("Ks Qh Jd Tc 9s 9d", "STRAIGHT STRAIGHT", "STRAIGHT PAIR"),
        ("As Kh Qd Jc Ts Ad", "STRAIGHT STRAIGHT", "STRAIGHT PAIR"),
        ("6c 5c 4c 3c 2c 2d", "STRAIGHT_FLUSH STRAIGHT", "STRAIGHT_FLUSH PAIR"),
        ("Ac Kc Qc Jc Tc Td", "ROYAL STRAIGHT", "ROYAL PAIR"),
        ("As Kh Qd Jc Ts 9d", "STRAIGHT STRAIGHT", "STRAIGHT STRAIGHT"),
        ("7c 6d 5c 4c 3c 2c", "FLUSH STRAIGHT", "FLUSH STRAIGHT"),
        ("7c 5c 4c 3c 2d 2c", "FLUSH PAIR", "FLUSH PAIR"),
    ],
)
def test_a_paired_straight_follows_the_setting(text: str, straight: str, pair: str) -> None:
    cards = parse_cards(text)
    for setting, kinds in ((PairedStraight.STRAIGHT, straight), (PairedStraight.PAIR, pair)):
        hand = evaluate(cards, paired_straight=setting)
        assert " ".join(found.kind for found in hand.combinations) == kinds


def test_a_flush_with_a_paired_ace_publishes_the_pair() -> None:
    hand = evaluate(parse_cards("Ah Kh 9h 5h 2h As"))
    assert [found.kind for found in hand.combinations] == ["FLUSH", "PAIR"]  # DBL-07


@pytest.mark.parametrize(
    ("lower", "higher"),
    [
        ("5s 4h 3d 2c As", "6s 5h 4d 3c 2s"),  # COM-05: the ace is low here
        ("3s 2h Ad Kc Qs", "As Kh Qd Jc 9s"),  # COM-06: no straight round the corner
        ("4s 4h 4d As Ah", "5d 5c 5s 2c 2h"),  # COM-09: the three ranks a full house
        ("9s 9h 3d 3c As", "Ts Th 2d 2c 3s"),  # COM-09: the higher pair first
    ],
)
def test_equal_combinations_compare_by_what_forms_them(lower: str, higher: str) -> None:
    assert evaluate(parse_cards(lower)).rank < evaluate(parse_cards(higher)).rank


@pytest.mark.parametrize(
    ("six", "five"),
    [
        ("Ks Qh Jd Tc 9s 8d", "Kh Qd Jc Ts 9h"),
        ("9s 9h 7d 4c Ks 2s", "9d 9c Kh 7h 4d"),
        ("As Ad Ah 8s 8c Kh", "As Ad Ac 8d 8h"),
    ],
)
def test_the_sixth_card_never_breaks_a_tie(six: str, five: str) -> None:
    assert evaluate(parse_cards(six)).rank == evaluate(parse_cards(five)).rank  # COM-10
