"""What breaks a published schema is found, and what only adds to it is not."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from contract import published

from controller.bus.schema import bus_schemas
from controller.bus.schema_changes import breaking_changes

Change = Callable[[dict[str, Any]], None]


def changed(change: Change) -> list[str]:
    new = copy.deepcopy(published())
    change(new["$defs"])
    assert new != published(), "the change has changed nothing"
    return breaking_changes(published(), new)


def field(name: str, of: str, **schema: Any) -> Change:
    return lambda defs: defs[of]["properties"][name].update(schema)


def gone(name: str, of: str) -> Change:
    return lambda defs: defs[of]["properties"].pop(name)


def required(name: str, of: str) -> Change:
    def change(defs: dict[str, Any]) -> None:
        defs[of]["properties"].setdefault(name, {"type": "string"})
        defs[of]["required"].append(name)

    return change


BREAKING: dict[str, tuple[Change, str]] = {
    "a field is gone": (gone("place", "CardDealt"), "tablectl.card.dealt.v1.data.place: is gone"),
    "a field deep inside is gone": (
        gone("odds", "WagerOutcome"),
        "tablectl.result.proposed.v1.data.outcome.boxes[].hands[].rows[][].odds: is gone",
    ),
    "a type has changed": (
        field("n", "CardBurned", type="string"),
        "tablectl.card.burned.v1.data.n: type was integer, is string",
    ),
    "a field may be null now": (
        lambda defs: defs["CardBurned"]["properties"].update(n={"type": ["integer", "null"]}),
        "tablectl.card.burned.v1.data.n: type was integer, is ['integer', 'null']",
    ),
    "another alternative": (
        lambda defs: defs["CardBurned"]["properties"]["card"]["anyOf"].append({"type": "integer"}),
        "tablectl.card.burned.v1.data.card: integer is new",
    ),
    "an alternative is gone": (
        lambda defs: defs["CardBurned"]["properties"]["card"]["anyOf"].pop(),
        "tablectl.card.burned.v1.data.card: null is gone",
    ),
    "absent means something else": (
        field("manual", "CardBurned", default=True),
        "tablectl.card.burned.v1.data.manual: absent meant False, means True",
    ),
    "an old field is required": (
        required("reason", "Marker"),
        "Marker.reason: was optional, is required",
    ),
    "a field is no longer sure": (
        lambda defs: defs["Alive"]["required"].remove("hash"),
        "Alive.hash: was required, is optional",
    ),
    "a new field is required": (
        required("colour", "CardBurned"),
        "tablectl.card.burned.v1.data.colour: is new and required; give it a default",
    ),
    "a word is gone": (
        lambda defs: defs["Result"]["enum"].remove("PUSH"),
        "tablectl.result.proposed.v1.data.outcome.boxes[].hands[].rows[][].outcome: the word PUSH is gone",
    ),
    "a bound is narrower": (
        field("limit", "AskFrom", maximum=10),
        "AskFrom.limit: maximum was 1000, is 10",
    ),
    "a part of the envelope is gone": (
        gone("prevhash", "Envelope"),
        "tablectl.controller.started.v1.prevhash: is gone",
    ),
    "a command is gone": (
        lambda defs: defs["commands.betting"]["properties"]["command"]["anyOf"].pop(0),
        "commands.betting.command: object bets_taken is gone",
    ),
    "an event is gone": (
        lambda defs: defs.pop("tablectl.card.dealt.v1"),
        "tablectl.card.dealt.v1: is gone",
    ),
    "an audience hears it no more": (
        lambda defs: defs["tablectl.card.dealt.v1"]["x-audiences"].remove("betting"),
        "tablectl.card.dealt.v1: is not told to betting any more",
    ),
    "wallets hear it, too": (
        lambda defs: defs["tablectl.card.dealt.v1"]["x-audiences"].append("settlement"),
        "tablectl.card.dealt.v1: is new in settlement, where wallets stop on it",
    ),
    "an event for wallets": (
        lambda defs: defs.update({"tablectl.round.eaten.v1": defs["tablectl.round.closed.v1"]}),
        "tablectl.round.eaten.v1: is new in settlement, where wallets stop on it",
    ),
    "a pair has a third": (
        lambda defs: defs["CardEntered"]["properties"]["by"]["prefixItems"].append({"type": "string"}),
        "tablectl.card.entered.v1.data.by: had 2 parts, has 3",
    ),
}  # fmt: skip
ADDING: dict[str, Change] = {
    "a field that may be absent": lambda defs: defs["CardDealt"]["properties"].update(
        colour={"type": "string", "default": "red"}
    ),
    "a word": lambda defs: defs["IncidentKind"]["enum"].append("CARD_EATEN"),
    "a command": lambda defs: defs["commands.operator"]["properties"]["command"]["anyOf"].append(
        {"$ref": "#/$defs/BetsTaken"}
    ),
    "an event": lambda defs: defs.update({"tablectl.card.eaten.v1": defs["tablectl.card.dealt.v1"]}),
    "another audience": lambda defs: defs["tablectl.facts.settled.v1"]["x-audiences"].append("betting"),
    "another text": field("time", "Envelope", description="when"),
    "a type under another name": lambda defs: (
        defs.update(Hue=defs["Face"]),
        defs["CardDealt"]["properties"].update(face={"$ref": "#/$defs/Hue"}),
    ),
}


@pytest.mark.parametrize("name", BREAKING)
def test_what_breaks_is_named_where_it_stands(name: str) -> None:
    change, line = BREAKING[name]
    assert changed(change) == [line]


@pytest.mark.parametrize("name", ADDING)
def test_what_only_adds_is_no_break(name: str) -> None:
    assert changed(ADDING[name]) == []


def test_a_new_major_version_may_break_everything() -> None:
    new = {**published(), "$id": "urn:tablectl:schema:bus:v2", "$defs": {}}
    assert breaking_changes(published(), new) == []


def test_nothing_that_is_published_is_broken_by_the_types() -> None:
    assert breaking_changes(published(), bus_schemas()) == [], (
        "add only, or raise VERSION (docs/bus/README.md)"
    )
