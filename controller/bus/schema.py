"""The JSON Schemas (2020-12) of everything that travels on the bus, made from the types themselves.

One document holds them all. A message is found by its `type`; `dataschema` names the schema of its `data`,
which `schema_of` gives alone. Unknown fields are allowed everywhere: consumers ignore them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias

import msgspec

from controller.bus.envelope import VERSION, Envelope, dataschema_of, tag_of, travelling_events, type_of
from controller.bus.schema_docs import docs_below, named_types
from controller.bus.snapshot import Snapshot
from controller.bus.wire import Alive, Answer, AskFrom, AskRound, AskSnapshot, CommandRequest, Marker, Reason
from controller.cards import CARD_PATTERN
from controller.table.events import AUDIENCES, Audience, Event, Refusal
from controller.table.inputs import Command, LogIn, LogOut, Role
from controller.table.presses import DEALING_STAFF, ROLES

Schema: TypeAlias = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
BUS_ID = "urn:tablectl:schema:bus:v"
"""Of the whole document, with the major version behind it."""
DEFS = "#/$defs/"
ASKS = (AskSnapshot, AskFrom, AskRound)
COMMANDERS: Mapping[str, frozenset[Role]] = {
    **{role.value: frozenset({role}) for role in Role if role not in DEALING_STAFF},
    "operator": DEALING_STAFF,
}
"""Whose commands come in at which endpoint: people share one, each system has its own."""
OTHERS = (Alive, Snapshot, *ASKS, Marker, Answer, Refusal, Reason)


@cache
def bus_schemas() -> Schema:
    """Return the document, always the same one: what may travel is any of its roots."""
    kinds = (*travelling_events().values(), Envelope, CommandRequest, *OTHERS)
    _, components = msgspec.json.schema_components(kinds, ref_template=DEFS + "{name}")
    for name, kind in named_types(*kinds).items():
        _document(components[name], kind)
    messages = {type_of(tag): _message(kind, components) for tag, kind in travelling_events().items()}
    commands = {commands_name(role): _commands(role, components) for role in COMMANDERS}
    roots = [*messages, *commands, *(kind.__name__ for kind in OTHERS)]
    del components[CommandRequest.__name__]  # Each endpoint of commands has its own.
    document = {
        "$schema": DIALECT,
        "$id": f"{BUS_ID}{VERSION}",
        "title": "Everything that travels on the bus of tablectl",
        "description": (
            "A message is described by the definition that is named like its `type`. "
            "Fields that are absent have their default. Unknown fields are ignored."
        ),
        "anyOf": [{"$ref": DEFS + name} for name in roots],
        "$defs": dict(sorted({**components, **messages, **commands}.items())),
    }
    plain: Schema = msgspec.json.decode(msgspec.json.encode(document))
    return plain


def schema_of(tag: str) -> Schema:
    """Return the schema of an event's `data` alone, under the name that `dataschema` has. Raises KeyError."""
    kind = travelling_events()[tag]
    known = bus_schemas()["$defs"]
    named = set(reached(known[kind.__name__], known))
    return {
        "$schema": DIALECT,
        "$id": dataschema_of(tag),
        **known[kind.__name__],
        "$defs": {name: known[name] for name in sorted(named)},
    }


def audiences_of(kind: type[Event]) -> tuple[Audience, ...]:
    """Return who may hear of an event, in the order of the audiences."""
    return tuple(audience for audience in AUDIENCES if audience in kind.audiences)


def may_hold_a_card(kind: type[Event], known: Mapping[str, Schema]) -> bool:
    """Whether a card may stand in an event's data."""
    parts = [known[kind.__name__], *(known[name] for name in reached(known[kind.__name__], known))]
    return any(_has_card(part) for part in parts)


def commands_of(role: str) -> tuple[type[Command], ...]:
    """Return the commands that are taken at an endpoint, in the order of `inputs`."""
    known = msgspec.inspect.type_info(CommandRequest)
    assert isinstance(known, msgspec.inspect.StructType)
    [union] = [field.type for field in known.fields if field.name == "command"]
    assert isinstance(union, msgspec.inspect.UnionType)
    kinds = (part.cls for part in union.types if isinstance(part, msgspec.inspect.StructType))
    return tuple(kind for kind in kinds if issubclass(kind, Command) and _takers(kind) & COMMANDERS[role])


def commands_name(role: str) -> str:
    """Return the name of the definition of what comes in at an endpoint of commands."""
    return f"commands.{role}"


def reached(schema: Schema, known: Mapping[str, Schema]) -> Iterable[str]:
    """Return the names of the definitions that a schema consists of, each once."""
    found: dict[str, None] = {}
    waiting = [schema]
    while waiting:
        for name in _references(waiting.pop()):
            if name not in found:
                found[name] = None
                waiting.append(known[name])
    return found


def _takers(kind: type[Command]) -> frozenset[Role]:
    return DEALING_STAFF if kind in (LogIn, LogOut) else ROLES.get(kind, DEALING_STAFF)


def _message(kind: type[Event], components: Mapping[str, Schema]) -> Schema:
    """Return the schema of a whole message. Keywords with `x-` are notes for people and tools."""
    tag = tag_of(kind)
    return {
        "title": type_of(tag),
        "allOf": [{"$ref": DEFS + Envelope.__name__}],
        "properties": {
            "type": {"const": type_of(tag)},
            "dataschema": {"const": dataschema_of(tag)},
            "data": {"$ref": DEFS + kind.__name__},
        },
        "x-audiences": [audience.value for audience in audiences_of(kind)],
        "x-may-hold-a-card": may_hold_a_card(kind, components),
    }


def _commands(role: str, components: Mapping[str, Schema]) -> Schema:
    """Return the schema of the commands of an endpoint, `CommandRequest` with fewer of them."""
    request = components[CommandRequest.__name__]
    taken = [{"$ref": DEFS + kind.__name__} for kind in commands_of(role)]
    properties = {**request["properties"], "command": {"anyOf": taken}}
    return {**request, "title": commands_name(role), "properties": properties}


def _document(schema: Schema, kind: type) -> None:
    """Put into a schema what stands below the fields or words of its type."""
    below = docs_below(kind)
    if "enum" in schema:
        words = [f"- `{word}`: {doc}" for word, doc in below.items()]
        schema["description"] = "\n".join([schema["description"], *([""] if words else []), *words])
        return
    for name, doc in below.items():
        schema["properties"][name] = {**schema["properties"][name], "description": doc}


def _parts(value: object) -> Iterator[Schema]:
    """Yield every object in a schema, at whatever depth."""
    if isinstance(value, dict):
        yield value
        for part in value.values():
            yield from _parts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _parts(part)


def _references(schema: Schema) -> Iterator[str]:
    for part in _parts(schema):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"].removeprefix(DEFS)


def _has_card(schema: Schema) -> bool:
    return any(part.get("pattern") == CARD_PATTERN for part in _parts(schema))
