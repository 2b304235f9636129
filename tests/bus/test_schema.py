"""The published schemas are those of the types, and valid by their own dialect."""

from __future__ import annotations

from typing import Any, get_args

import jsonschema
import pytest
from contract import DOCS, published

from controller.bus.envelope import dataschema_of, travelling_events
from controller.bus.event_catalogue import FAMILIES, event_catalogue
from controller.bus.schema import COMMANDERS, commands_of, reached, schema_of
from controller.bus.schema_docs import docs_below
from controller.station.schema_command import documents
from controller.table import inputs as i
from controller.table.events import AnyEvent, CardDealt, Refusal, TablePaused


@pytest.mark.parametrize("name", ["schemas.json", "asyncapi.json", "events.md"])
def test_what_stands_in_the_docs_is_what_the_types_say(name: str) -> None:
    assert (DOCS / name).read_text() == documents()[name], "run docs/bus/rebuild.py"


def test_the_schemas_are_valid_and_complete() -> None:
    jsonschema.Draft202012Validator.check_schema(published())
    definitions = published()["$defs"]
    assert set(reached(published(), definitions)) == set(definitions), "a definition that nothing uses"


@pytest.mark.parametrize("tag", travelling_events())
def test_the_schema_of_one_event_stands_alone(tag: str) -> None:
    schema = schema_of(tag)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$id"] == dataschema_of(tag)
    assert set(reached(schema, schema["$defs"])) == set(schema["$defs"])


def test_what_stands_below_a_field_or_a_word_is_told() -> None:
    definitions: dict[str, Any] = published()["$defs"]
    assert definitions["CardDealt"]["properties"]["held"]["description"] == docs_below(CardDealt)["held"]
    assert "- `HELD`: An incident is open" in definitions["Refusal"]["description"]
    assert set(definitions["Refusal"]["enum"]) == {word.value for word in Refusal}
    assert definitions["commands.betting"]["properties"]["roundno"]["minimum"] == 0
    assert "by" in definitions[TablePaused.__name__]["properties"], "an inherited field"


def test_every_role_has_an_endpoint_and_every_command_is_taken_somewhere() -> None:
    assert frozenset().union(*COMMANDERS.values()) == set(i.Role)
    taken = {command for role in COMMANDERS for command in commands_of(role)}
    assert taken == set(get_args(i.AnyCommand))
    assert set(commands_of("betting")) == {i.BetsTaken, i.WindowFacts, i.DecisionTaken}


def test_the_page_has_every_event_once() -> None:
    assert {kind for family in FAMILIES for kind in get_args(family)} == set(get_args(AnyEvent))
    page = event_catalogue()
    for tag in travelling_events():
        assert page.count(f"\n| `{tag}` |") == 1


def test_the_page_says_who_hears_what() -> None:
    rows = {line.split(" | ")[0]: line.split(" | ")[2:] for line in event_catalogue().splitlines()}
    assert rows["| `card.dealt`"] == ["yes", "yes", "", "yes", "yes |"]
    assert rows["| `card.shown`"] == ["", "yes", "", "", "yes |"]
    assert rows["| `incident.opened`"] == ["part", "part", "part", "yes", " |"]
    assert rows["| `bets.closed`"] == ["yes", "yes", "yes", "yes", " |"]
