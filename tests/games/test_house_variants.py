"""Settings of live Russian Poker for other houses: D-14, D-16, D-17, D-21, D-24. All are off by default."""

from __future__ import annotations

from typing import Any

import pytest
from games.driver import game, play
from rules.live_rules import facts_around, live_rules, settings

from controller.cards import Card, parse_cards
from controller.games.offers import hands_by_pattern
from controller.games.outcome import outcome
from controller.games.procedure import BoxState, Window
from controller.games.published import Result, RowName, Wager
from controller.games.requests import Action, Refusal, Request, Stage, Standing, insurance_limits, refusal
from controller.games.rules import MAIN, Rules
from controller.games.settlement import BoxSlip, Decision, settle

TRIPS, STRAIGHT = parse_cards("8s 8h 8d Jc 2s"), parse_cards("6s 5h 4d 3c 2s")
KING_DEALER, SAME_STRAIGHT = parse_cards("Kh Jd 9c 6c 3h"), parse_cards("6h 5d 4c 3s 2d")
SWITCH = parse_cards("Tc Td 9s 9d 7c")
VARIANTS = (
    "insurance_returned_on_tie",
    "insurance_halved_first",
    "insurance_in_options",
    "redraw_same_rank",
    "max_payout_includes_stake",
)


def limits(table_max: int) -> dict[str, int]:
    return {"ante_min": 1, "ante_max": 10_000, "table_max": table_max}


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_is_off_unless_the_house_says_so(name: str) -> None:
    assert settings()[name] is False
    assert getattr(live_rules(), name) is False
    assert getattr(live_rules(**{name: True}), name) is True


@pytest.mark.parametrize(("setting", "result"), [(False, Result.LOSE), (True, Result.PUSH)])
def test_insurance_on_a_tie(setting: bool, result: Result) -> None:
    facts = facts_around(parse_cards("6s 5h 4d 3c Ks"), SAME_STRAIGHT, switch=parse_cards("2h 2c Qd Qh Qs"))
    rules = live_rules(insurance_returned_on_tie=setting)
    row = outcome(facts, rules).box(MAIN).hand("exchange:5").rows[RowName.INSURED]
    assert row[Wager.INSURANCE].outcome is result  # D-14
    assert row[Wager.BET].outcome is Result.PUSH


def greatest(ante: int, **changes: Any) -> int:
    rules = live_rules(**changes)
    offers = {hand.pattern: hand for hand in hands_by_pattern(TRIPS, SWITCH, rules)}
    offered = offers["exchange:5"].insurance
    assert offered is not None
    return insurance_limits(offered, ante, rules)[1]


def test_the_greatest_insurance_under_the_table_maximum() -> None:
    # A Bet of 200 on three of a kind may win 600; half of it is 300.
    assert greatest(100, limits=limits(1_000)) == 300
    assert greatest(100, limits=limits(400)) == 200  # half of min(600, 400)
    assert greatest(100, limits=limits(400), insurance_halved_first=True) == 300  # min(300, 400), D-16
    assert greatest(100, limits=limits(250), insurance_halved_first=True) == 250
    assert greatest(100, limits=limits(600), max_payout_includes_stake=True) == 200  # half of 600 - 200


@pytest.mark.parametrize(("rounding", "most"), [("down", 200), ("up", 201)])
def test_the_greatest_insurance_is_rounded_as_wins_are(rounding: str, most: int) -> None:
    assert greatest(100, limits=limits(401), rounding=rounding) == most  # D-54: half of 401
    assert greatest(100, limits=limits(400), rounding=rounding) == 200


@pytest.mark.parametrize(
    ("ante", "setting", "booked"),
    [
        (100, False, ("WIN", 800)),
        (101, False, ("WIN_CAPPED", 802)),
        (75, True, ("WIN", 600)),
        (76, True, ("WIN_CAPPED", 600)),
        (500, True, ("WIN_CAPPED", 1_000)),  # the stake alone is above the maximum: no win
    ],
)
def test_a_maximum_that_counts_the_stake(ante: int, setting: bool, booked: tuple[str, int]) -> None:
    facts = facts_around(TRIPS, parse_cards("Ah Kd 9c 6c 3h"))
    rules = live_rules(limits=limits(600), max_payout_includes_stake=setting)
    lines = settle((BoxSlip(MAIN, ante=ante, decision=Decision.BET),), outcome(facts, rules))
    bet = next(line for line in lines if line.wager is Wager.BET)
    assert (bet.outcome, bet.returned) == booked  # D-21


def options(rules: Rules, dealt: tuple[Card, ...]) -> Window:
    dealer = (*KING_DEALER,)
    other = parse_cards("Qs 9h 7d 5c 4s Qc 7h 5d 4h 2h")
    deal = [card for turn in zip(other[:5], dealt, other[5:], dealer, strict=True) for card in turn]
    played = play(
        game("russian_poker_live", insurance_in_options=rules.insurance_in_options),
        states={"box2": BoxState.OPEN},
        cards=(*deal, *SWITCH, Card.parse("3d")),
    )
    window: Window = played.of(Window)[0]
    return window


@pytest.mark.parametrize("setting", [False, True])
def test_insurance_of_a_hand_as_dealt(setting: bool) -> None:
    rules = live_rules(insurance_in_options=setting)
    window = options(rules, TRIPS)
    assert ("INSURANCE" in window.actions) == setting  # D-24
    offer = window.hands[0]
    assert (offer.insurance is not None) == setting
    slip = BoxSlip(MAIN, ante=100)
    asked = Request(Stage.OPTIONS, Action.INSURANCE, MAIN, 300)
    refused = refusal(asked, Standing(Stage.OPTIONS, slip, 500, offer), rules)
    assert refused is (None if setting else Refusal.NOT_OFFERED)
    later = Request(Stage.FINAL_OPTIONS, Action.INSURANCE, MAIN, 300)
    assert refusal(later, Standing(Stage.FINAL_OPTIONS, slip, 500, offer), rules) is Refusal.NOT_OFFERED
    short = refusal(asked, Standing(Stage.OPTIONS, slip, 499, offer), rules)
    assert short is (Refusal.BALANCE if setting else Refusal.NOT_OFFERED)


def test_a_pat_insured_hand_is_settled_like_any_other() -> None:
    facts = facts_around(TRIPS, KING_DEALER)
    published = outcome(facts, live_rules(insurance_in_options=True))
    slip = BoxSlip(MAIN, ante=100, decision=Decision.INSURANCE, insurance=300)
    booked = {line.wager: (line.outcome, line.returned) for line in settle((slip,), published)}
    assert booked == {"ANTE": ("PUSH", 100), "BET": ("PUSH", 200), "INSURANCE": ("WIN", 600)}


@pytest.mark.parametrize("setting", [False, True])
def test_cards_at_most_counts_the_second_draw(setting: bool) -> None:
    assert game("russian_poker_live", redraw_same_rank=setting).cards_at_most == 26 + setting  # D-17
