"""Every worked example of live Russian Poker, settled from the published outcome alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rules.live_rules import facts_around, rules_with_table_max

from controller.cards import Card
from controller.games.offers import HandOffer, hands_by_pattern
from controller.games.outcome import outcome, prices
from controller.games.patterns import SIXTH, exchange, final_cards, parse_pattern
from controller.games.published import Outcome, Wager, refund_all
from controller.games.requests import Action, Refusal, Request, Stage, Standing, refusal
from controller.games.rules import GAME, MAIN, Rules
from controller.games.settlement import BoxSlip, Decision, LateBet, Line, refund, settle

WORKED = json.loads(Path(__file__).with_name("examples.json").read_text(encoding="utf-8"))["examples"]
EXAMPLES = [example for example in WORKED if example["game"] == GAME]
RICH = 1_000_000
BOX_NAMES = {"main": MAIN, "blind1": "box1", "blind3": "box3"}
SILENT = ("TIMEOUT", "NO_BUY", "BET_AUTO")


def select(*keys: str) -> list[Any]:
    """The examples whose `expected` has these keys."""
    chosen = [example for example in EXAMPLES if all(key in example["expected"] for key in keys)]
    return [pytest.param(example, id=example["id"]) for example in chosen]


def cards(texts: list[str]) -> tuple[Card, ...]:
    return tuple(map(Card.parse, texts))


def rules_of(example: dict[str, Any]) -> Rules:
    return rules_with_table_max(example["config"].get("max_table_payout", RICH))


def publish(example: dict[str, Any], rules: Rules) -> Outcome:
    """Play the cards of an example and send the outcome over the wire."""
    lying = example["cards"]
    facts = facts_around(
        cards(lying["player_initial"]),
        cards(lying["dealer_initial"]),
        box=BOX_NAMES[example["box"]],
        switch=cards(lying.get("switch", [])),
        replacement=Card.parse(lying["dealer_replacement"]) if "dealer_replacement" in lying else None,
    )
    return msgspec.json.decode(msgspec.json.encode(outcome(facts, rules)), type=Outcome)


def offer(example: dict[str, Any], slip: BoxSlip, rules: Rules) -> HandOffer | None:
    """What the betting system was told about the hand of this slip."""
    lying = example["cards"]
    if "player_initial" not in lying:
        return None
    hands = hands_by_pattern(cards(lying["player_initial"]), cards(lying.get("switch", [])), rules)
    return next((hand for hand in hands if hand.pattern == slip.pattern), None)


def decide(slip: BoxSlip, decision: dict[str, Any]) -> BoxSlip:
    """Note an accepted decision on the slip."""
    match decision["action"]:
        case "ANTE":
            changes = {"ante": decision["amount"]}
        case "BONUS_B" | "BONUS_D":
            changes = {decision["action"].lower(): decision["amount"]}
        case "SIXTH_CARD":
            changes = {"pattern": SIXTH.text}
        case "EXCHANGE":
            changes = {"pattern": exchange(*decision["positions"]).text}
        case "INSURANCE":
            changes = {"decision": Decision.INSURANCE, "insurance": decision["amount"]}
        case "BUY":
            changes = {"bought": True}
        case "BET" | "FOLD":
            changes = {"decision": Decision(decision["action"])}
        case _:
            raise AssertionError(decision)
    return msgspec.structs.replace(slip, **changes)


def play(example: dict[str, Any], rules: Rules) -> BoxSlip:
    """Put each decision before the betting system, which accepts all of them."""
    slip = BoxSlip(BOX_NAMES[example.get("box", "main")])
    for decision in example["decisions"]:
        if decision["stage"] == "event" or decision["action"] in SILENT:
            continue
        request = Request(
            Stage(decision["stage"]),
            Action(decision["action"]),
            slip.box,
            decision.get("amount", 0),
            tuple(decision.get("positions", ())),
        )
        standing = Standing(request.stage, slip, RICH, offer(example, slip, rules))
        assert refusal(request, standing, bonus_from(rules, 1)) is None, decision
        slip = decide(slip, decision)
    return slip


def bonus_from(rules: Rules, least: int) -> Rules:
    assert rules.bonus is not None
    return msgspec.structs.replace(
        rules, bonus=msgspec.structs.replace(rules.bonus, b_min=least, d_min=least)
    )


def check_lines(lines: tuple[Line, ...], expected: dict[str, Any]) -> None:
    assert {line.wager: (line.stake, line.outcome, line.returned) for line in lines} == {
        line["wager"]: (line["stake"], line["outcome"], line["returned"]) for line in expected["lines"]
    }
    odds = {line["wager"]: str(line["odds"]) for line in expected["lines"] if "odds" in line}
    assert {line.wager: line.odds for line in lines if line.wager in odds} == odds
    staked, returned = sum(line.stake for line in lines), sum(line.returned for line in lines)
    assert staked == expected["total_staked"]
    assert returned == expected["total_returned"]
    assert returned - staked == expected["net"]


@pytest.mark.parametrize("example", select("lines"))
def test_example(example: dict[str, Any]) -> None:
    rules, expected = rules_of(example), example["expected"]
    slip = play(example, rules)
    match expected.get("round"):
        case None:
            lines = settle((slip,), publish(example, rules))
        case "CANCELLED":
            lines = refund((slip,), prices(rules))
        case "CORRECTED":
            lines = settle((slip,), refund_all(publish(EXAMPLES[0], rules)))
        case "UNAFFECTED":
            late = tuple(LateBet(Wager(bet["wager"]), bet["amount"]) for bet in example["decisions"])
            lines = settle((msgspec.structs.replace(slip, late=late),), publish(EXAMPLES[0], rules))
        case other:
            raise AssertionError(other)
    check_lines(lines, expected)


@pytest.mark.parametrize("example", select("player_combinations"))
def test_example_hand(example: dict[str, Any]) -> None:
    rules, expected = rules_of(example), example["expected"]
    slip = play(example, rules)
    hand = publish(example, rules).box(slip.box).hand(slip.pattern)
    assert [combination.kind for combination in hand.combinations] == expected["player_combinations"]
    if "player_final" in expected:
        assert list(hand.cards) == expected["player_final"]
        dealt, switch = cards(example["cards"]["player_initial"]), cards(example["cards"]["switch"])
        assert final_cards(parse_pattern(slip.pattern), dealt, switch) == cards(expected["player_final"])
    if "comparison" in expected:
        assert (hand.bought_comparison if slip.bought else hand.comparison) == expected["comparison"]


@pytest.mark.parametrize("example", select("checks"))
def test_example_insurance_range(example: dict[str, Any]) -> None:
    rules = rules_of(example)
    final = cards(example["cards"]["player_final"])
    # The last card came by the draw: as the sixth, or in exchange for a card that lies elsewhere now.
    dealt, pattern = (final[:5], SIXTH) if len(final) == 6 else ((*final[:4], Card.parse("2s")), exchange(5))
    slip = BoxSlip(MAIN, ante=example["decisions"][0]["amount"], pattern=pattern.text)
    switch = (final[-1], *spare(dealt, final))
    offered = {hand.pattern: hand for hand in hands_by_pattern(dealt, switch, rules)}
    standing = Standing(Stage.FINAL_OPTIONS, slip, RICH, offered[pattern.text])
    for check in example["expected"]["checks"]:
        request = Request(Stage.FINAL_OPTIONS, Action.INSURANCE, MAIN, check["request"])
        refused = refusal(request, standing, rules)
        assert (refused is None) == check["accepted"], check
        assert refused in (None, Refusal.BELOW_MIN, Refusal.ABOVE_MAX)


def spare(*hands: tuple[Card, ...]) -> tuple[Card, ...]:
    used = {card for hand in hands for card in hand}
    return tuple(card for card in map(Card.parse, ("Tc", "Td", "Th", "Ts", "9d", "9h")) if card not in used)[
        :4
    ]


def test_every_example_is_used() -> None:
    used = {param.id for param in select("lines") + select("checks")}
    assert used == {example["id"] for example in EXAMPLES}
    assert len(used) == 78
