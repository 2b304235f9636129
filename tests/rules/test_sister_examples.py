"""Every worked example of the sister games, played by the script and settled from its published outcome."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from games.driver import Played, game, play
from rules.test_examples import WORKED, check_lines

from controller.cards import Card
from controller.games.offers import HandOffer
from controller.games.patterns import final_cards, parse_pattern
from controller.games.procedure import BoxState, Decide, Decision, Window
from controller.games.published import Outcome
from controller.games.requests import Action, Request, Stage, Standing, refusal
from controller.games.rules import GAME
from controller.games.settlement import BoxSlip, Line, settle
from controller.games.settlement import Decision as Decided

EXAMPLES = [
    example
    for example in WORKED
    if example["game"] != GAME and ("poker" in example["game"] or "oasis" in example["game"])
]
BOX = "box1"
UNIT = 100
"""The examples count in units of account, the tables in minor units."""
RICH = 1_000_000
SILENT = ("NO_BUY",)


def select(key: str) -> list[Any]:
    chosen = [example for example in EXAMPLES if key in example["expected"]]
    return [pytest.param(example, id=example["id"]) for example in chosen]


def cards(texts: list[str]) -> tuple[Card, ...]:
    return tuple(map(Card.parse, texts))


def shoe(example: dict[str, Any]) -> tuple[Card, ...]:
    """The cards in the order in which they leave the shoe, with one box in play."""
    lying = example["cards"]
    in_turn = [
        text for pair in zip(lying["player_initial"], lying["dealer_initial"], strict=True) for text in pair
    ]
    replacement = [lying["dealer_replacement"]] if "dealer_replacement" in lying else []
    return cards(in_turn + lying.get("switch", []) + replacement)


def round_of(example: dict[str, Any]) -> Played:
    decisions = {
        (made["stage"], BOX): Decision(made["action"], tuple(made.get("positions", ())))
        for made in example["decisions"]
        if made["stage"] in ("options", "final_options")
    }
    bought = any(made["action"] == "BUY" for made in example["decisions"])
    states = {BOX: BoxState.OPEN}
    return play(game(example["game"]), states=states, decisions=decisions, cards=shoe(example), bought=bought)


def hand_offered(played: Played, stage: str) -> HandOffer | None:
    """What the betting system was told about the hand when the window opened."""
    opened = [step for step in (*played.of(Decide), *played.of(Window)) if step.stage == stage]
    return opened[0].hands[0] if opened else None


def slips(example: dict[str, Any], played: Played) -> dict[str, BoxSlip]:
    """Put each decision before the betting system, which accepts all of them."""
    rules = game(example["game"]).rules
    bettors = list(dict.fromkeys(made.get("by", "") for made in example["decisions"]))
    made_slips = dict.fromkeys(bettors, BoxSlip(BOX))
    for made in example["decisions"]:
        if made["action"] in SILENT:
            continue
        stage = Stage(made["stage"])
        amount = made.get("amount", 0) * UNIT
        request = Request(stage, Action(made["action"]), BOX, amount, tuple(made.get("positions", ())))
        # The owner decides for his passengers (OAB-15).
        for bettor in bettors if stage is not Stage.BETTING else [made.get("by", "")]:
            slip = made_slips[bettor]
            standing = Standing(
                stage, slip, RICH, hand_offered(played, stage), others_on_box=len(bettors) - 1
            )
            assert refusal(request, standing, rules) is None, made
            made_slips[bettor] = noted(slip, request)
    return made_slips


def noted(slip: BoxSlip, request: Request) -> BoxSlip:
    match request.action:
        case Action.ANTE:
            return msgspec.structs.replace(slip, ante=request.amount)
        case Action.BONUS_B:
            return msgspec.structs.replace(slip, bonus_b=request.amount)
        case Action.EXCHANGE:
            text = ",".join(map(str, request.positions))
            return msgspec.structs.replace(slip, pattern=f"exchange:{text}")
        case Action.SIXTH_CARD:
            return msgspec.structs.replace(slip, pattern="sixth")
        case Action.BUY:
            return msgspec.structs.replace(slip, bought=True)
        case _:
            return msgspec.structs.replace(slip, decision=Decided(request.action))


def in_minor_units(expected: dict[str, Any]) -> dict[str, Any]:
    lines = [
        line | {"stake": line["stake"] * UNIT, "returned": line["returned"] * UNIT}
        for line in expected["lines"]
    ]
    totals = {key: expected[key] * UNIT for key in ("total_staked", "total_returned", "net")}
    return expected | totals | {"lines": lines}


@pytest.mark.parametrize("example", select("lines"))
def test_example(example: dict[str, Any]) -> None:
    played = round_of(example)
    published = msgspec.json.decode(msgspec.json.encode(played.result), type=Outcome)
    lines: list[Line] = []
    for bettor, slip in slips(example, played).items():
        settled = settle((slip,), published)
        prefix = f"{bettor}:" if bettor else ""
        lines += [msgspec.structs.replace(line, wager=prefix + line.wager) for line in settled]
    check_lines(tuple(lines), in_minor_units(example["expected"]))


@pytest.mark.parametrize("example", select("player_combinations"))
def test_example_hand(example: dict[str, Any]) -> None:
    expected, played = example["expected"], round_of(example)
    slip = slips(example, played)[""]
    box = played.result.box(BOX)
    lying = example["cards"]
    final = final_cards(
        parse_pattern(slip.pattern), cards(lying["player_initial"]), cards(lying.get("switch", []))
    )
    if "player_final" in expected:
        assert final == cards(expected["player_final"])
    found = game(example["game"]).house.hand(final)
    assert [combination.kind for combination in found.combinations] == expected["player_combinations"]
    if not box.hands:
        assert box.fold and "comparison" not in expected
        return
    hand = box.hand(slip.pattern)
    assert box.closed or [shown.kind for shown in hand.combinations] == expected["player_combinations"]
    assert (hand.bought_comparison if slip.bought else hand.comparison) == expected["comparison"]


@pytest.mark.parametrize("example", select("checks"))
def test_example_bonus_stakes(example: dict[str, Any]) -> None:
    rules = game(example["game"]).rules
    slip = BoxSlip(BOX, ante=example["decisions"][0]["amount"] * UNIT)
    for check in example["expected"]["checks"]:
        request = Request(Stage.BETTING, Action(check["wager"]), BOX, int(check["request"] * UNIT))
        accepted = refusal(request, Standing(Stage.BETTING, slip, RICH), rules) is None
        assert accepted == check["accepted"], check


def test_every_example_is_used() -> None:
    used = {param.id for param in select("lines") + select("checks")}
    assert used == {example["id"] for example in EXAMPLES}
    assert len(used) == 25
