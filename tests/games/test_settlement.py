"""The reference settlement beyond the worked examples: silence, limits, rounding, slips that cannot be."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import msgspec
import pytest
from games.driver import game
from rules.live_rules import facts_around, facts_of_deal, live_rules, settings

from controller.cards import Card, parse_cards
from controller.games.outcome import outcome, prices
from controller.games.published import (
    Outcome,
    Rounding,
    VoidedDeal,
    Wager,
    for_public,
    refund_all,
    voided_deal,
)
from controller.games.rules import MAIN
from controller.games.settlement import (
    BoxSlip,
    Decision,
    LateBet,
    Line,
    LineOutcome,
    VoidedBet,
    price,
    refund,
    rounded,
    settle,
)
from controller.games.sister_outcome import Course, Play

RULES = live_rules()
PAIR, NOTHING = parse_cards("9s 9h 5d 4d 2d"), parse_cards("Qs 9h 7d 5c 2s")
ACE_KING_DEALER, KING_DEALER = parse_cards("Ah Kd 8c 6s 3h"), parse_cards("Kh Jd 8c 6s 3h")


def publish(dealt: tuple[Card, ...], dealer: tuple[Card, ...], **facts: Any) -> Outcome:
    return outcome(msgspec.structs.replace(facts_around(dealt, dealer), **facts), RULES)


def booked(lines: tuple[Line, ...]) -> dict[str, tuple[int, str, int]]:
    return {line.wager: (line.stake, line.outcome, line.returned) for line in lines}


def test_silence_bets_on_a_combination() -> None:
    slip = BoxSlip(MAIN, ante=100)
    assert booked(settle((slip,), publish(PAIR, ACE_KING_DEALER))) == {
        "ANTE": (100, "PUSH", 100),
        "BET": (200, "WIN", 400),
    }


@pytest.mark.parametrize(("dealt", "can_place_bet"), [(NOTHING, True), (PAIR, False)])
def test_silence_folds_without_a_combination_or_without_the_money(dealt, can_place_bet) -> None:
    slip = BoxSlip(MAIN, ante=100, can_place_bet=can_place_bet)
    assert booked(settle((slip,), publish(dealt, ACE_KING_DEALER))) == {"ANTE": (100, "LOSE", 0)}


def test_a_blind_box_is_never_silent() -> None:
    facts = facts_around(NOTHING, KING_DEALER, box="box3")
    lines = settle((BoxSlip("box3", ante=100),), outcome(facts, RULES))
    assert booked(lines) == {"ANTE": (100, "WIN", 200), "BET": (200, "PUSH", 200)}


@pytest.mark.parametrize("decision", [None, Decision.BET, Decision.FOLD])
def test_a_draw_that_nobody_made_comes_back_whole(decision: Decision | None) -> None:
    published = publish(NOTHING, ACE_KING_DEALER, anyone_drew=False, switch=())
    lines = settle((BoxSlip(MAIN, ante=100, pattern="sixth", decision=decision),), published)
    assert {line.outcome for line in lines} == {LineOutcome.REFUND}
    assert sum(line.returned for line in lines) == (400 if decision is Decision.BET else 200)


def test_a_fold_stays_a_fold_when_all_have_folded() -> None:
    published = publish(PAIR, ACE_KING_DEALER, main_in_play=False)
    folded = BoxSlip(MAIN, ante=100, pattern="sixth", decision=Decision.FOLD)
    assert booked(settle((folded,), published)) == {"ANTE": (100, "LOSE", 0), "SIXTH_FEE": (100, "FEE", 0)}
    wrong = BoxSlip(MAIN, ante=100, decision=Decision.BET)
    assert {line.outcome for line in settle((wrong,), published)} == {LineOutcome.REFUND}


@pytest.mark.parametrize(
    ("ante", "booked_as", "returned"),
    [(125_000, "WIN", 500_000), (250_000, "WIN", 1_000_000), (250_001, "WIN_CAPPED", 1_000_002)],
)
def test_the_limit_cuts_the_win_and_never_the_stake(ante: int, booked_as: str, returned: int) -> None:
    lines = settle((BoxSlip(MAIN, ante=ante),), publish(PAIR, ACE_KING_DEALER))
    assert booked(lines)["BET"] == (2 * ante, booked_as, returned)


@pytest.mark.parametrize(("rounding", "returned"), [("down", 195), ("up", 196)])
def test_a_win_is_rounded_as_the_outcome_says(rounding: str, returned: int) -> None:
    facts = facts_around(NOTHING, KING_DEALER, box="box1")
    published = outcome(facts, live_rules(ante_odds="15/16", rounding=rounding))
    told = msgspec.json.decode(msgspec.json.encode(published), type=Outcome)
    lines = settle((BoxSlip("box1", ante=101),), told)
    assert booked(lines)["ANTE"] == (101, "WIN", returned)  # 101 x 15/16 = 94.69


@pytest.mark.parametrize(("rounding", "booked_as"), [("down", "WIN"), ("up", "WIN_CAPPED")])
def test_a_rounded_win_stays_under_the_limit(rounding: str, booked_as: str) -> None:
    odds = settings()["odds"] | {"PAIR": "4/3"}
    limits = settings()["limits"] | {"table_max": 266}
    rules = live_rules(odds=odds, limits=limits, rounding=rounding)
    lines = settle((BoxSlip(MAIN, ante=100),), outcome(facts_around(PAIR, ACE_KING_DEALER), rules))
    assert booked(lines)["BET"] == (200, booked_as, 466)  # 200 x 4/3 = 266.67


@pytest.mark.parametrize(
    ("amount", "down", "up"), [("7/2", 3, 4), ("4", 4, 4), ("0", 0, 0), ("99/100", 0, 1), ("1/100", 0, 1)]
)
def test_rounding(amount: str, down: int, up: int) -> None:
    assert rounded(Fraction(amount), Rounding.DOWN) == down
    assert rounded(Fraction(amount), Rounding.UP) == up


def test_only_those_who_pay_are_told_how_to_round() -> None:
    published = outcome(facts_around(PAIR, ACE_KING_DEALER), live_rules(rounding="up"))
    assert published.rounding is Rounding.UP is refund_all(published).rounding
    assert b"rounding" not in msgspec.json.encode(for_public(published))


def test_a_price_that_is_no_whole_amount_is_refused() -> None:
    assert price(10, "3/2") == 15
    with pytest.raises(ValueError, match="no whole amount"):
        price(11, "3/2")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"bought": True}, "cannot be played bought"),
        ({"decision": Decision.INSURANCE, "insurance": 100}, "cannot be played insured"),
        ({"decision": Decision.FOLD, "bought": True}, "BUY_FEE cannot be staked"),
    ],
)
def test_slips_that_the_rules_never_permit(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        settle((BoxSlip(MAIN, ante=100, **changes),), publish(PAIR, ACE_KING_DEALER))


def test_slips_that_contradict_themselves() -> None:
    with pytest.raises(ValueError, match="with an insurance of 100"):
        BoxSlip(MAIN, ante=100, insurance=100)
    with pytest.raises(ValueError, match="with an insurance of 0"):
        BoxSlip(MAIN, ante=100, decision=Decision.INSURANCE)
    with pytest.raises(ValueError, match="is not a pattern"):
        BoxSlip(MAIN, ante=100, pattern="seventh")


def test_a_cancelled_round_returns_what_was_placed() -> None:
    slip = (
        BoxSlip("box1", ante=100, bonus_d=50, late=(LateBet(Wager.BONUS_B, 60),)),
        BoxSlip(MAIN, ante=200, pattern="exchange:1", decision=Decision.INSURANCE, insurance=300),
        BoxSlip("box3", late=(LateBet(Wager.ANTE, 100),)),
    )
    lines = refund(slip, prices(RULES))
    assert [(line.box, line.wager, line.stake) for line in lines] == [
        ("box1", "ANTE", 100),
        ("box1", "BET", 200),
        ("box1", "BONUS_D", 50),
        (MAIN, "ANTE", 200),
        (MAIN, "EXCHANGE_FEE", 200),
        (MAIN, "BET", 400),
        (MAIN, "INSURANCE", 300),
        ("box1", "BONUS_B", 60),
        ("box3", "ANTE", 100),
    ]
    assert all(line.outcome is LineOutcome.REFUND and line.returned == line.stake for line in lines)
    assert {line.rules for line in lines} == {("RPL-73",), ("RPL-04",)}


def dealt_anew(**changes: Any) -> tuple[BoxSlip, Outcome]:
    """A slip of the second deal, and that deal's result: box 1 decides, box 3 is dark (OAB-24)."""
    named = {"box1": "9s 9h 5d 4d 2d", "box3": "Qs Th 7d 5c 3s"}
    plays = {name: Play(parse_cards(cards), dark=name == "box3") for name, cards in named.items()}
    judged = game("oasis_with_bonus").result(Course(plays, parse_cards("Ah Kd 8c 6s 3h")))
    paid = (VoidedBet(1, Wager.EXCHANGE_FEE, 150), VoidedBet(1, Wager.BET, 200))
    slip = BoxSlip("box1", ante=100, decision=Decision.BET, bonus_b=50, deal=2, voided=paid)
    return msgspec.structs.replace(slip, **changes), judged


VOIDED = (voided_deal(1, ["box1"]),)


def test_oab_24_what_the_abandoned_deal_cost_comes_back_and_bets_stand() -> None:
    slip, judged = dealt_anew()
    dark = BoxSlip("box3", ante=100, decision=Decision.BET)
    lines = settle((slip, dark), judged, VOIDED)
    assert [(line.box, line.wager, line.deal, line.outcome, line.returned) for line in lines] == [
        ("box1", "ANTE", 1, "WIN", 200),
        ("box1", "BET", 2, "WIN", 400),
        ("box1", "BONUS_B", 1, "LOSE", 0),
        ("box1", "EXCHANGE_FEE", 1, "REFUND", 150),
        ("box1", "BET", 1, "REFUND", 200),
        ("box3", "ANTE", 1, "LOSE", 0),
        ("box3", "BET", 1, "LOSE", 0),
    ]
    assert {line.rules for line in lines if line.outcome is LineOutcome.REFUND} == {("OAB-24",)}


@pytest.mark.parametrize(
    ("changes", "voided", "message"),
    [
        ({}, (), "EXCHANGE_FEE of deal 1, which is not void"),
        ({"deal": 1}, VOIDED, "answers of deal 1, deal 2 was played"),
        ({"voided": (VoidedBet(2, Wager.BET, 200),)}, VOIDED, "BET of deal 2, which is not void"),
        ({"voided": (VoidedBet(1, Wager.BONUS_B, 50),)}, VOIDED, "BONUS_B of deal 1, which is not void"),
    ],
)
def test_oab_24_nothing_else_comes_back(
    changes: dict[str, Any], voided: tuple[VoidedDeal, ...], message: str
) -> None:
    slip, judged = dealt_anew(**changes)
    with pytest.raises(ValueError, match=message):
        settle((slip,), judged, voided)


def test_oab_24_a_cancel_after_a_redeal_returns_all_deals() -> None:
    slip, judged = dealt_anew()
    lines = refund((slip,), judged.prices, exchange_prices=judged.exchange_prices, blind=())
    assert [(line.wager, line.deal, line.returned) for line in lines] == [
        ("ANTE", 1, 100),
        ("BET", 2, 200),
        ("BONUS_B", 1, 50),
        ("EXCHANGE_FEE", 1, 150),
        ("BET", 1, 200),
    ]
    assert {(line.outcome, line.rules) for line in lines} == {(LineOutcome.REFUND, ("RPL-73",))}


def test_boxes_of_one_slip_are_settled_side_by_side() -> None:
    deal = parse_cards("As Kh 9d 4c 2s 9s 9h 5d 4d 2d Qs Th 7d 5c 3s Kd Qd 8c 6s 3h 8d Qc 5h 2c 7c 8h")
    slip = (BoxSlip("box1", ante=100, bought=True), BoxSlip(MAIN, ante=100), BoxSlip("box3", ante=100))
    lines = settle(slip, outcome(facts_of_deal(deal), RULES))
    assert [(line.box, line.wager, line.outcome) for line in lines] == [
        ("box1", "ANTE", "LOSE"),  # the bought pair of eights beats Ace-King
        ("box1", "BET", "LOSE"),
        ("box1", "BUY_FEE", "FEE"),
        (MAIN, "ANTE", "WIN"),
        (MAIN, "BET", "PUSH"),
        ("box3", "ANTE", "WIN"),
        ("box3", "BET", "PUSH"),
    ]
