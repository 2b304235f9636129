"""Exact counts of combinations, doubles and bonus hands, over all hands of the deck.

`counts.json` is checked whole, with the figures that the rules quote (R-01 to R-03, R-24) and P-7.
"""

from __future__ import annotations

import json
from collections import Counter
from math import comb
from pathlib import Path

import pytest
from games.driver import game
from rules.live_rules import live_rules
from rules.suit_classes import suit_classes

from controller.games.combinations import Kind, PairedStraight
from controller.games.outcome import bonus_b, bonus_d
from controller.games.paytables import BonusRow
from controller.games.poker import Hand, evaluate
from controller.games.published import Result
from controller.games.sister_outcome import Play

COUNTS = json.loads(Path(__file__).with_name("counts.json").read_text(encoding="utf-8"))
KEYS = {5: "five_cards", 6: "six_cards"}
CLASSES = {5: 134_459, 6: 962_988}

BEST = {
    5: (4, 36, 624, 3_744, 5_108, 10_200, 54_912, 123_552, 1_098_240, 167_280, 1_135_260),
    6: (188, 1_656, 14_664, 165_984, 205_792, 361_620, 732_160, 2_532_816, 9_730_740, 1_290_420, 5_322_480),
}
"""Hands by their best combination, from royal to Ace-King, then no game (R-01, R-02, R-03)."""

QUALIFYING = {5: 1_463_700, 6: 15_036_040}
"""Ace-King or better; five cards by R-02, six are all but the hands without a game."""

PAIRED_STRAIGHTS = {"STRAIGHT+PAIR": 76_200, "STRAIGHT_FLUSH+PAIR": 540, "ROYAL+PAIR": 60}
"""Straights that the sixth card pairs, by the setting that makes a pair of it (D-08)."""

EXPECTATIONS = {"russian_live_player": -32.1096, "russian_live_dealer": -38.9899, "oasis": -43.4594}
"""Of one unit on a bonus bet, in percent (R-24)."""


def names(hand: Hand) -> str:
    main = hand.main.kind if hand.main else "NO_GAME"
    return f"{main}+{hand.second.kind if hand.second else '-'}"


@pytest.mark.parametrize("count", [5, 6])
def test_main_and_second_of_every_hand(count: int) -> None:
    census: Counter[str] = Counter()
    best: Counter[Kind | None] = Counter()
    paired: Counter[str] = Counter()
    classes = qualifying = 0
    for cards, weight in suit_classes(count):
        classes += 1
        hand = evaluate(cards)
        census[names(hand)] += weight
        best[hand.main and hand.main.kind] += weight
        qualifying += weight * hand.qualifies
        if hand.second and hand.second.kind is Kind.STRAIGHT:
            other = evaluate(cards, paired_straight=PairedStraight.PAIR)
            assert other.rank == hand.rank and other.main == hand.main
            if other != hand:
                paired[names(other)] += weight
    assert classes == CLASSES[count]
    assert census.total() == COUNTS[KEYS[count]]["total"]
    assert census == COUNTS[KEYS[count]]["main_and_second"]
    assert tuple(best[kind] for kind in (*Kind, None)) == BEST[count]
    assert qualifying == QUALIFYING[count]
    assert paired == (PAIRED_STRAIGHTS if count == 6 else {})


def test_bonus_rows_of_every_dealt_hand() -> None:
    """R-24: which row each bonus bet wins, and what it pays by the shipped tables."""
    live, oasis = live_rules(), game("oasis_with_bonus")
    assert live.bonus is not None
    tables = {name: oasis.rules.bonus.odds if name == "oasis" else live.bonus.odds for name in EXPECTATIONS}
    rows = {name: Counter[BonusRow]() for name in EXPECTATIONS}
    for cards, weight in suit_classes(5):
        won = {
            "russian_live_player": bonus_b(cards, live).bonus,
            "russian_live_dealer": bonus_d(cards, live).bonus,
            "oasis": oasis.shown_hand(Play(cards, dark=False)).bonus,
        }
        for name, row in won.items():
            if row is not None:
                rows[name][row] += weight
    assert rows == COUNTS["bonus_five_cards"]
    for name, percent in EXPECTATIONS.items():
        back = sum(count * (1 + tables[name][row]) for row, count in rows[name].items())
        assert round(float(100 * back / comb(52, 5)) - 100, 4) == percent


def test_p7_a_dealer_who_does_not_qualify_loses_every_bonus_on_him() -> None:
    rules = live_rules()
    losing = 0
    for cards, weight in suit_classes(5):
        if not evaluate(cards).qualifies:
            assert bonus_d(cards, rules).outcome is Result.LOSE, cards
            losing += weight
    assert losing == BEST[5][-1]


def test_every_count_is_used() -> None:
    assert set(COUNTS) == {*KEYS.values(), "bonus_five_cards"}
    assert all(set(COUNTS[key]) == {"total", "main_and_second"} for key in KEYS.values())
