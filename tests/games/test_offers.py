"""What the betting system gets with each window (RPL-82)."""

from __future__ import annotations

from rules.live_rules import live_rules

from controller.cards import parse_cards
from controller.games.offers import InsuranceRange, hands_by_pattern
from controller.games.patterns import PATTERNS

RULES = live_rules()
DEALT = parse_cards("8s 8h 4d Jc 2s")
SWITCH = parse_cards("8d Qc 5h 2c 7d")


def test_before_the_switch_cards_only_the_hand_as_dealt_exists() -> None:
    (hand,) = hands_by_pattern(DEALT, (), RULES)
    assert (hand.pattern, hand.odds, hand.purchase, hand.insurance) == ("stay", "1", True, None)
    assert [(found.kind, found.cards) for found in hand.combinations] == [("PAIR", ("8s", "8h"))]


def test_with_the_switch_cards_all_33_exist() -> None:
    hands = {hand.pattern: hand for hand in hands_by_pattern(DEALT, SWITCH, RULES)}
    assert list(hands) == [pattern.text for pattern in PATTERNS]
    assert hands["exchange:3,4,5"].insurance == InsuranceRange("1", "3")
    assert hands["exchange:1,2"].insurance is None
    assert not hands["exchange:1,2"].purchase and hands["exchange:1,2"].odds == "0"


def test_a_pat_hand_cannot_be_insured() -> None:
    hands = hands_by_pattern(parse_cards("8s 8h 8c Jc 2s"), SWITCH, RULES)
    assert hands[0].insurance is None  # RPL-16
    assert hands[1].insurance == InsuranceRange("1", "20")


def test_insurance_counts_both_combinations() -> None:
    hands = {
        hand.pattern: hand
        for hand in hands_by_pattern(parse_cards("As Ah Ad 8s 8c"), parse_cards("Kh 3c 5c 6h 6d"), RULES)
    }
    assert hands["sixth"].insurance == InsuranceRange("1", "8")  # EX-078


def test_the_share_may_be_a_fraction() -> None:
    rules = live_rules(insurance={"lowest": "TRIPS", "minimum": "1/2", "maximum_share": "1/4", "odds": 1})
    hands = {hand.pattern: hand for hand in hands_by_pattern(DEALT, SWITCH, rules)}
    assert hands["exchange:3,4,5"].insurance == InsuranceRange("1/2", "3/2")
