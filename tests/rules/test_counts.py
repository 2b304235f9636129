"""Exact counts of combinations, doubles and bonus hands, over all hands of the deck (counts.json)."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from rules.suit_classes import suit_classes

from controller.games.paytables import BonusRow, bonus_row
from controller.games.poker import Hand, evaluate

COUNTS = json.loads(Path(__file__).with_name("counts.json").read_text(encoding="utf-8"))


def names(hand: Hand) -> str:
    main = hand.main.kind if hand.main else "NO_GAME"
    return f"{main}+{hand.second.kind if hand.second else '-'}"


@pytest.mark.parametrize(
    ("count", "key", "class_count"), [(5, "five_cards", 134_459), (6, "six_cards", 962_988)]
)
def test_main_and_second_of_every_hand(count: int, key: str, class_count: int) -> None:
    census: Counter[str] = Counter()
    classes = 0
    for cards, weight in suit_classes(count):
        classes += 1
        census[names(evaluate(cards))] += weight
    assert classes == class_count
    assert census.total() == COUNTS[key]["total"]
    assert census == COUNTS[key]["main_and_second"]


def test_bonus_rows_of_every_dealt_hand() -> None:
    player: Counter[BonusRow] = Counter()
    dealer: Counter[BonusRow] = Counter()
    for cards, weight in suit_classes(5):
        hand = evaluate(cards)
        if row := bonus_row(hand, doubles=True):
            player[row] += weight
        if row := bonus_row(hand, doubles=False):
            dealer[row] += weight
            assert hand.qualifies, cards  # P-7
    assert player == COUNTS["bonus_five_cards"]["russian_live_player"]
    assert dealer == COUNTS["bonus_five_cards"]["russian_live_dealer"]
