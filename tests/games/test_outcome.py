"""The published outcome: facts that exclude hands, cards that cannot lie so, insurance, size on the wire."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from rules.live_rules import facts_around, facts_of_deal, live_rules

from controller.cards import Card, parse_cards
from controller.games.offers import highest_card_position, replaced
from controller.games.outcome import Facts, bonus_b, bonus_d, outcome, purchase_offered
from controller.games.patterns import PATTERNS, STAY
from controller.games.published import (
    Exclusion,
    Outcome,
    Result,
    Row,
    RowName,
    Wager,
    for_public,
    refund_all,
)
from controller.games.rules import BOXES, MAIN

RULES = live_rules()

# Box 1 Ace-King, box 2 a pair, box 3 nothing; the dealer does not qualify and draws the 2h.
DEAL = parse_cards("As Kh 9d 4c 2s 9s 9h 5d 4d 2d Qs Th 7d 5c 3s Kd Qd 8c 6s 3h 8d Qc 5h 2c 7c 2h")
QUALIFIED = parse_cards("As Kh 9d 4c 2s 9s 9h 5d 4d 2d Qs Th 7d 5c 3s Ad Ac 8c 6s 3h 9c Qc 5h 2c 7c")


def change(facts: Facts, **changes: Any) -> Facts:
    return msgspec.structs.replace(facts, **changes)


def all_refund(row: Row | None) -> bool:
    return row is not None and all(wager.outcome is Result.REFUND for wager in row.values())


def test_all_boxes_and_patterns_are_listed() -> None:
    published = outcome(facts_of_deal(DEAL), RULES)
    assert [box.box for box in published.boxes] == list(BOXES)
    assert [[hand.pattern for hand in box.hands] for box in published.boxes] == [
        ["stay"],
        [pattern.text for pattern in PATTERNS],
        ["stay"],
    ]
    assert not published.dealer.qualified
    assert published.dealer_after_purchase is not None
    assert published.dealer_after_purchase.cards == ("2h", "Qd", "8c", "6s", "3h")
    assert published.prices == {"SIXTH_FEE": "1", "EXCHANGE_FEE": "1", "BET": "2", "BUY_FEE": "1"}


def test_fold_is_published_once_and_only_for_the_main_box() -> None:
    box1, main, box3 = outcome(facts_of_deal(DEAL), RULES).boxes
    assert box1.fold is None and box3.fold is None
    assert main.fold is not None
    assert {wager: row.outcome for wager, row in main.fold.items()} == {
        Wager.ANTE: Result.LOSE,
        Wager.SIXTH_FEE: Result.FEE,
        Wager.EXCHANGE_FEE: Result.FEE,
    }


def test_a_drawn_card_for_nobody_and_a_missing_one_are_refused() -> None:
    facts = facts_of_deal(DEAL)
    with pytest.raises(ValueError, match=r"a card is due, got None"):
        outcome(change(facts, replacement=None), RULES)
    with pytest.raises(ValueError, match=r"no card is due, got 2h"):
        outcome(change(facts, anyone_bought=False), RULES)
    with pytest.raises(ValueError, match=r"no card is due, got 2h"):
        outcome(change(facts_of_deal(QUALIFIED), replacement=Card.parse("2h")), RULES)


def test_a_card_that_lies_twice_is_refused() -> None:
    facts = facts_of_deal(QUALIFIED)
    with pytest.raises(ValueError, match="twice"):
        outcome(change(facts, switch=(*facts.switch[:4], facts.dealer[0])), RULES)


@pytest.mark.parametrize("count", [1, 4])
def test_switch_cards_are_five_or_none(count: int) -> None:
    facts = facts_of_deal(QUALIFIED)
    with pytest.raises(ValueError, match="there are five or none"):
        outcome(change(facts, switch=facts.switch[:count], anyone_drew=False), RULES)
    with pytest.raises(ValueError, match="nobody said that nobody drew"):
        outcome(change(facts, switch=()), RULES)


@pytest.mark.parametrize("box", BOXES)
def test_an_empty_box_is_refunded(box: str) -> None:
    published = outcome(change(facts_of_deal(DEAL), empty=frozenset({box})), RULES).box(box)
    assert all(hand.excluded is Exclusion.BOX_EMPTY for hand in published.hands)
    assert all(all_refund(row) for hand in published.hands for row in hand.rows.values())
    assert all_refund(published.bonus)
    if box == MAIN:
        assert all_refund(published.fold)


@pytest.mark.parametrize("dealt", [True, False])
def test_draws_are_refunded_when_nobody_drew(dealt: bool) -> None:
    facts = change(facts_of_deal(DEAL), anyone_drew=False)
    main = outcome(facts if dealt else change(facts, switch=()), RULES).box(MAIN)
    stay, *draws = main.hands
    assert stay.excluded is None and not all_refund(stay.rows[RowName.PLAIN])
    assert len(draws) == 32
    assert all(bool(hand.cards) == dealt for hand in draws)
    assert all(hand.excluded is Exclusion.NOBODY_DREW for hand in draws)
    assert all(all_refund(row) for hand in draws for row in hand.rows.values())
    if not dealt:
        assert all(hand.rows.keys() == set(RowName) for hand in draws)


def test_hands_are_refunded_when_all_have_folded_and_the_fold_is_not() -> None:
    main = outcome(change(facts_of_deal(DEAL), main_in_play=False), RULES).box(MAIN)
    assert all(hand.excluded is Exclusion.ALL_FOLDED for hand in main.hands)
    assert all(all_refund(row) for hand in main.hands for row in hand.rows.values())
    assert main.fold is not None and main.fold[Wager.ANTE].outcome is Result.LOSE
    assert main.bonus is not None and main.bonus[Wager.BONUS_B].outcome is Result.LOSE


def test_purchases_are_refunded_when_nobody_bought() -> None:
    facts = change(facts_of_deal(DEAL), anyone_bought=False, replacement=None)
    published = outcome(facts, RULES)
    assert published.dealer_after_purchase is None
    hand = published.box("box1").hand("stay")
    assert hand.bought_comparison is None
    assert all_refund(hand.rows[RowName.BOUGHT])
    assert hand.rows[RowName.PLAIN][Wager.ANTE].outcome is Result.WIN
    assert RowName.BOUGHT not in published.box("box3").hand("stay").rows


def test_no_purchase_is_published_when_the_dealer_qualifies() -> None:
    published = outcome(facts_of_deal(QUALIFIED), RULES)
    rows = {name for box in published.boxes for hand in box.hands for name in hand.rows}
    assert rows == {RowName.PLAIN, RowName.INSURED}


@pytest.mark.parametrize(
    ("facts", "boxes"),
    [
        ({}, ("box1", "box2")),
        ({"empty": frozenset({"box1"})}, ("box2",)),
        ({"main_in_play": False}, ("box1",)),
        ({"empty": frozenset({"box1"}), "main_in_play": False}, ()),
        ({"anyone_drew": False}, ("box1", "box2")),
    ],
)
def test_the_purchase_is_offered_to_boxes_with_a_combination(
    facts: dict[str, Any], boxes: tuple[str]
) -> None:
    assert purchase_offered(change(facts_of_deal(DEAL), **facts)) == boxes
    assert purchase_offered(change(facts_of_deal(QUALIFIED), **facts)) == ()


def test_one_possible_pattern_opens_the_buy_time() -> None:
    dealt, dealer = parse_cards("Qs 9h 7d 5c 2s"), parse_cards("Kh Jd 8c 6s 3h")
    facts = facts_around(dealt, dealer, switch=parse_cards("9d Td 4c 4h 3c"))
    assert purchase_offered(facts) == (MAIN,)  # D-53: the nine pairs
    assert purchase_offered(change(facts, anyone_drew=False)) == ()


def insured(dealt: str, dealer: str, **changes: Any) -> Row:
    facts = facts_around(parse_cards(dealt), parse_cards(dealer), switch=parse_cards("2h 2c Qd Qh Qs"))
    hand = outcome(facts, live_rules(**changes)).box(MAIN).hand("exchange:5")
    return hand.rows[RowName.INSURED]


def test_insurance_is_lost_on_a_tie() -> None:
    row = insured("6s 5h 4d 3c Ks", "6h 5d 4c 3s 2d")
    assert row[Wager.BET].outcome is Result.PUSH
    assert row[Wager.INSURANCE].outcome is Result.LOSE  # D-14


@pytest.mark.parametrize(("paid", "result"), [(False, Result.PUSH), (True, Result.WIN)])
def test_the_ante_of_an_insured_box_follows_the_setting(paid: bool, result: Result) -> None:
    row = insured("6s 5h 4d 3c Ks", "Kh Jd 9c 7s 5s", ante_paid_when_insured=paid)
    assert row[Wager.ANTE].outcome is result  # D-12
    assert row[Wager.INSURANCE].odds == "1"


def test_a_pat_hand_and_a_pair_are_not_insured() -> None:
    hands = outcome(facts_of_deal(QUALIFIED), RULES).box(MAIN).hands
    insured = {hand.pattern for hand in hands if RowName.INSURED in hand.rows}
    strong = {
        hand.pattern
        for hand in hands
        if hand.combinations and hand.combinations[0].kind not in ("TWO_PAIR", "PAIR", "AK")
    }
    assert insured == strong - {STAY.text}  # RPL-16, RPL-24


def test_the_setting_for_a_paired_straight_reaches_the_outcome() -> None:
    facts = facts_around(
        parse_cards("Ks Qh Jd Tc 9s"), parse_cards("4h 4d Ac 8s 2h"), switch=parse_cards("9d 3c 5c 6h 6d")
    )
    assert outcome(facts, RULES).box(MAIN).hand("sixth").odds == "8"
    assert outcome(facts, live_rules(paired_straight="pair")).box(MAIN).hand("sixth").odds == "5"


def test_fractions_travel_exactly_and_the_limit_with_every_won_bet() -> None:
    rules = live_rules(ante_odds="19/20")
    plain = outcome(facts_of_deal(DEAL), rules).box("box3").hand("stay").rows[RowName.PLAIN]
    assert plain[Wager.ANTE].odds == "19/20"
    facts = facts_around(parse_cards("9s 9h 5d 4d 2d"), parse_cards("Ah Kd 8c 6s 3h"))
    bet = outcome(facts, rules).box(MAIN).hand("stay").rows[RowName.PLAIN][Wager.BET]
    assert (bet.odds, bet.limit, bet.rules) == ("1", 500_000, ("RPL-42", "RPL-50"))


def test_bonus_bets_are_judged_on_dealt_cards() -> None:
    won = bonus_b(parse_cards("8s 8h Ad Kc 3s"), RULES)
    assert (won.outcome, won.odds, won.bonus) == (Result.WIN, "1", "AK")
    assert bonus_d(parse_cards("8s 8h Ad Kc 3s"), RULES).outcome is Result.LOSE


def test_without_bonus_limits_there_is_no_bonus() -> None:
    rules = msgspec.structs.replace(RULES, bonus=None)
    assert all(box.bonus is None for box in outcome(facts_of_deal(DEAL), rules).boxes)


def test_the_public_sees_hands_and_comparison_but_no_wager() -> None:
    published = outcome(facts_of_deal(DEAL), RULES)
    public = for_public(published)
    for box, full in zip(public.boxes, published.boxes, strict=True):
        assert box.fold is None and box.bonus is None and full.bonus is not None
        for hand, whole in zip(box.hands, full.hands, strict=True):
            assert msgspec.structs.replace(hand, rows=whole.rows) == whole
            assert not hand.rows
    assert not public.prices


def test_a_correction_refunds_every_wager() -> None:
    corrected = refund_all(outcome(facts_of_deal(DEAL), RULES))
    for box in corrected.boxes:
        rows = [box.bonus, *(row for hand in box.hands for row in hand.rows.values())]
        assert all(map(all_refund, rows + ([box.fold] if box.fold else [])))
    assert {"RPL-74"} == {rule for row in rows if row for wager in row.values() for rule in wager.rules}


def test_the_richest_outcome_stays_below_48_kb() -> None:
    # Three aces dealt and kept by many patterns, against a dealer who does not qualify.
    dealt, dealer = parse_cards("As Ah Ad 5c 2s"), parse_cards("Kh Jd 8c 6s 3h")
    facts = facts_around(dealt, dealer, switch=parse_cards("Ac 5d 5h 2d 2h"), replacement=Card.parse("8d"))
    message = msgspec.json.encode(outcome(facts, RULES))
    assert len(message) < 48_000
    assert msgspec.json.decode(message, type=Outcome) == outcome(facts, RULES)


def test_unknown_boxes_and_patterns_are_refused() -> None:
    published = outcome(facts_of_deal(DEAL), RULES)
    with pytest.raises(ValueError, match="no box 'box4'"):
        published.box("box4")
    with pytest.raises(ValueError, match="box1 has no pattern 'sixth'"):
        published.box("box1").hand("sixth")


def test_the_dealer_replaces_his_highest_card_where_it_lay() -> None:
    dealer = parse_cards("6s Jd Kh 8c 3h")
    assert highest_card_position(dealer) == 3
    assert replaced(dealer, Card.parse("2c")) == parse_cards("6s Jd 2c 8c 3h")
