"""Requests: what each window takes, and the reason for every refusal."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from rules.live_rules import live_rules

from controller.cards import parse_cards
from controller.games.offers import HandOffer, hands_by_pattern
from controller.games.requests import (
    ACTIONS,
    Action,
    Refusal,
    Request,
    Stage,
    Standing,
    is_request_allowed,
    refusal,
)
from controller.games.rules import MAIN
from controller.games.settlement import BoxSlip, Decision

RULES = live_rules()
TRIPS, PAIR, NOTHING = (
    hands_by_pattern(parse_cards(dealt), parse_cards("8d Qc 5h 2c 7d"), RULES)
    for dealt in ("8s 8h 4d Jc 2s", "4s 4h 9d Jc 3s", "Ks Jh 9d 6c 3s")
)


def hand(hands: tuple[HandOffer, ...], pattern: str) -> HandOffer:
    return next(hand for hand in hands if hand.pattern == pattern)


def ask(
    stage: Stage, action: Action, slip: BoxSlip, *, balance: int = 10_000, offered: Any = None, **request: Any
) -> Refusal | None:
    box = request.pop("box", slip.box)
    made = Request(stage, action, box, **request)
    standing = Standing(stage, slip, balance, offered)
    assert is_request_allowed(made, standing, RULES) == (refusal(made, standing, RULES) is None)
    return refusal(made, standing, RULES)


ANTE = BoxSlip(MAIN, ante=100)
DREW = BoxSlip(MAIN, ante=100, pattern="sixth")


@pytest.mark.parametrize("stage", Stage)
@pytest.mark.parametrize("action", Action)
def test_an_action_belongs_to_its_windows_and_they_must_be_open(stage: Stage, action: Action) -> None:
    request = Request(stage, action, MAIN)
    offered = action in ACTIONS[stage]
    for open_stage in (None, *Stage):
        refused = refusal(request, Standing(open_stage, ANTE, 10_000), RULES)
        assert (refused is Refusal.WRONG_WINDOW) == (not offered)
        assert (refused is Refusal.LATE) == (offered and open_stage is not stage)


def test_an_unknown_box_is_refused() -> None:
    assert ask(Stage.BETTING, Action.ANTE, ANTE, box="box4", amount=100) is Refusal.NO_SUCH_BOX


@pytest.mark.parametrize(
    ("box", "amount", "balance", "refused"),
    [
        (MAIN, 100, 100, None),
        (MAIN, 99, 1_000, Refusal.BELOW_MIN),
        (MAIN, 10_000, 10_000, None),
        (MAIN, 10_001, 99_999, Refusal.ABOVE_MAX),
        (MAIN, 100, 99, Refusal.BALANCE),
        ("box1", 100, 300, None),
        ("box1", 100, 299, Refusal.BALANCE),  # RPL-05: the Bet goes with the Ante
    ],
)
def test_ante(box: str, amount: int, balance: int, refused: Refusal | None) -> None:
    assert ask(Stage.BETTING, Action.ANTE, BoxSlip(box), amount=amount, balance=balance) is refused


def test_an_ante_without_a_whole_half_is_refused_where_a_half_price_exists() -> None:
    rules = live_rules(prices={"bet": 2, "sixth_card": 1, "exchange": "3/2", "purchase": 1})
    for amount, refused in ((101, Refusal.ODD_AMOUNT), (102, None)):
        request = Request(Stage.BETTING, Action.ANTE, MAIN, amount)
        assert refusal(request, Standing(Stage.BETTING, BoxSlip(MAIN), 10_000), rules) is refused  # D-54


@pytest.mark.parametrize("action", [Action.BONUS_B, Action.BONUS_D])
def test_bonus_bets(action: Action) -> None:
    assert ask(Stage.BETTING, action, ANTE, amount=50) is None
    assert ask(Stage.BETTING, action, BoxSlip(MAIN), amount=50) is Refusal.NO_ANTE  # RPL-06
    assert ask(Stage.BETTING, action, ANTE, amount=49) is Refusal.BELOW_MIN
    assert ask(Stage.BETTING, action, ANTE, amount=2_501) is Refusal.ABOVE_MAX
    assert ask(Stage.BETTING, action, ANTE, amount=50, balance=49) is Refusal.BALANCE
    none_offered = msgspec.structs.replace(RULES, bonus=None)
    standing = Standing(Stage.BETTING, ANTE, 10_000)
    assert refusal(Request(Stage.BETTING, action, MAIN, 50), standing, none_offered) is Refusal.NOT_OFFERED


@pytest.mark.parametrize(
    ("action", "needed"),
    [(Action.BET, 200), (Action.SIXTH_CARD, 300), (Action.EXCHANGE, 300), (Action.FOLD, 0)],
)
def test_options(action: Action, needed: int) -> None:
    positions = (2, 5) if action is Action.EXCHANGE else ()
    assert ask(Stage.OPTIONS, action, ANTE, positions=positions, balance=needed) is None
    if needed:  # RPL-15
        short = ask(Stage.OPTIONS, action, ANTE, positions=positions, balance=needed - 1)
        assert short is Refusal.BALANCE
    assert ask(Stage.OPTIONS, action, BoxSlip(MAIN), positions=positions) is Refusal.NO_ANTE
    assert ask(Stage.OPTIONS, action, BoxSlip("box1", ante=100)) is Refusal.BLIND_BOX
    assert ask(Stage.OPTIONS, action, DREW, positions=positions) is Refusal.ALREADY_CHOSEN


@pytest.mark.parametrize("positions", [(), (0, 1), (3, 3), (6,)])
def test_positions_that_cannot_be_exchanged(positions: tuple[int, ...]) -> None:
    assert ask(Stage.OPTIONS, Action.EXCHANGE, ANTE, positions=positions) is Refusal.BAD_POSITIONS


def test_final_options_take_one_decision() -> None:
    assert ask(Stage.FINAL_OPTIONS, Action.BET, DREW) is None
    assert ask(Stage.FINAL_OPTIONS, Action.BET, ANTE) is None  # RPL-14: silent before
    folded = BoxSlip(MAIN, ante=100, decision=Decision.FOLD)
    assert ask(Stage.FINAL_OPTIONS, Action.BET, folded) is Refusal.ALREADY_CHOSEN


@pytest.mark.parametrize(
    ("amount", "balance", "refused"),
    [
        (99, 9_999, Refusal.BELOW_MIN),
        (100, 300, None),
        (100, 299, Refusal.BALANCE),  # RPL-29: the Bet goes with it
        (300, 9_999, None),
        (301, 9_999, Refusal.ABOVE_MAX),
    ],
)
def test_insurance(amount: int, balance: int, refused: Refusal | None) -> None:
    offered = hand(TRIPS, "sixth")
    asked = ask(Stage.FINAL_OPTIONS, Action.INSURANCE, DREW, amount=amount, balance=balance, offered=offered)
    assert asked is refused


def test_insurance_needs_a_draw_and_three_of_a_kind() -> None:
    weak = ask(Stage.FINAL_OPTIONS, Action.INSURANCE, DREW, amount=100, offered=hand(PAIR, "sixth"))
    assert weak is Refusal.NO_COMBINATION
    pat = ask(Stage.FINAL_OPTIONS, Action.INSURANCE, ANTE, amount=100, offered=hand(TRIPS, "stay"))
    assert pat is Refusal.NOT_OFFERED


@pytest.mark.parametrize("box", ["box1", MAIN, "box3"])
def test_purchase(box: str) -> None:
    slip, offered = BoxSlip(box, ante=100), hand(PAIR, "stay")
    assert ask(Stage.BUY_TIME, Action.BUY, slip, offered=offered, balance=100) is None
    assert ask(Stage.BUY_TIME, Action.BUY, slip, offered=offered, balance=99) is Refusal.BALANCE
    assert ask(Stage.BUY_TIME, Action.BUY, slip, offered=hand(NOTHING, "stay")) is Refusal.NO_COMBINATION
    assert ask(Stage.BUY_TIME, Action.BUY, slip) is Refusal.NO_COMBINATION
    assert ask(Stage.BUY_TIME, Action.BUY, BoxSlip(box), offered=offered) is Refusal.NO_ANTE
    bought = BoxSlip(box, ante=100, bought=True)
    assert ask(Stage.BUY_TIME, Action.BUY, bought, offered=offered) is Refusal.ALREADY_CHOSEN


def test_a_folded_box_buys_nothing() -> None:
    folded = BoxSlip(MAIN, ante=100, decision=Decision.FOLD)
    assert ask(Stage.BUY_TIME, Action.BUY, folded, offered=hand(PAIR, "stay")) is Refusal.FOLDED
