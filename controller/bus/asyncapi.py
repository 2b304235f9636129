"""The bus as an AsyncAPI 3.0 document: channels, operations and messages, by audience and endpoint.

It says nothing of what messages hold: their payloads are references into the document of `schema`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from controller.bus.envelope import VERSION, travelling_events, type_of
from controller.bus.schema import (
    ASKS,
    COMMANDERS,
    DEFS,
    audiences_of,
    bus_schemas,
    commands_name,
    may_hold_a_card,
)
from controller.bus.schema_docs import one_line
from controller.bus.snapshot import Snapshot
from controller.bus.wire import Alive, Answer, Marker
from controller.table.events import AUDIENCES, Audience

Document: TypeAlias = dict[str, Any]

SCHEMAS_FILE = "schemas.json"
FORMAT = "application/schema+json;version=draft-2020-12"
HOLDS = {
    Audience.PUBLIC: "What is visible on the table, and commitments for what is not.",
    Audience.BETTING: "All of `public`, and what the betting system needs to take bets and price choices.",
    Audience.SETTLEMENT: "What moves money, and what opens or closes betting. The feed of wallets.",
    Audience.AUDIT: "Everything that has happened; a hidden card only after its turn or the round's end.",
}
LIVE = (
    "PUB. One frame is one message, or one `alive` each second; no topic. What a slow subscriber does not "
    "take is lost to it, and found by number."
)
REPLAY = (
    "ROUTER, for a DEALER. One request, one reply of several frames: the snapshot if one was asked for, the "
    "exact bytes of messages in order, and the marker as the last frame. `next` of the marker asks for more."
)
COMMANDS = (
    "ROUTER, for a DEALER. One frame a command, one frame an answer, which comes once the command is "
    "durable. The same request id with the same command has the same answer."
)


def asyncapi() -> Document:
    """Return the document."""
    channels: Document = {}
    operations: Document = {}
    for audience in AUDIENCES:
        heard = [type_of(tag) for tag, kind in travelling_events().items() if audience in audiences_of(kind)]
        _add_live(audience, heard, channels, operations)
        _add_replay(audience, heard, channels, operations)
    for role in COMMANDERS:
        _add_commands(role, channels, operations)
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "The bus of one card table",
            "version": str(VERSION),
            "description": "Made by `tablectl schema`. `README.md` beside it says how to listen.",
        },
        "defaultContentType": "application/json",
        "servers": {"table": _server()},
        "channels": channels,
        "operations": operations,
        "components": {"messages": _messages()},
    }


def _server() -> Document:
    return {
        "host": "{table}",
        "protocol": "zmq",
        "protocolVersion": "3.1",
        "description": "ZeroMQ sockets of one table: files in its run directory, or TCP with CURVE keys.",
        "variables": {"table": {"default": "run/rp1", "description": "the table's run directory"}},
    }


def _add_live(audience: Audience, heard: list[str], channels: Document, operations: Document) -> None:
    name = f"live.{audience}"
    channels[name] = _channel(name, f"{HOLDS[audience]} {LIVE}", [Alive.__name__, *heard])
    operations[f"send.{name}"] = {
        "action": "send",
        "channel": {"$ref": f"#/channels/{name}"},
        "summary": f"The table tells {audience} what has happened.",
    }


def _add_replay(audience: Audience, heard: list[str], channels: Document, operations: Document) -> None:
    name = f"replay.{audience}"
    asks = [kind.__name__ for kind in ASKS]
    replies = [Snapshot.__name__, *heard, Marker.__name__]
    channels[name] = _channel(name, REPLAY, [*asks, *replies])
    operations[f"answer.{name}"] = _asked(
        name, asks, replies, f"The table gives {audience} a snapshot, or old messages once more."
    )


def _add_commands(role: str, channels: Document, operations: Document) -> None:
    name = commands_name(role)
    channels[name] = _channel(name, COMMANDS, [name, Answer.__name__])
    operations[f"answer.{name}"] = _asked(
        name, [name], [Answer.__name__], f"The table takes or refuses a command of {role}."
    )


def _channel(name: str, description: str, messages: Iterable[str]) -> Document:
    named = {message: {"$ref": f"#/components/messages/{message}"} for message in messages}
    return {"address": name, "description": description, "messages": named}


def _asked(name: str, asks: Iterable[str], replies: Iterable[str], summary: str) -> Document:
    channel = {"$ref": f"#/channels/{name}"}

    def of(messages: Iterable[str]) -> list[Document]:
        return [{"$ref": f"#/channels/{name}/messages/{message}"} for message in messages]

    return {
        "action": "receive",
        "channel": channel,
        "summary": summary,
        "messages": of(asks),
        "reply": {"channel": channel, "messages": of(replies)},
    }


def _messages() -> Document:
    known = bus_schemas()["$defs"]
    found = {name: _message(name, known[name]["description"]) for name in map(commands_name, COMMANDERS)}
    for kind in (Alive, *ASKS, Marker, Snapshot, Answer):
        found[kind.__name__] = _message(kind.__name__, known[kind.__name__]["description"])
    for tag, event in travelling_events().items():
        message = _message(type_of(tag), known[event.__name__]["description"])
        if may_hold_a_card(event, known):
            message["tags"] = [{"name": "may hold a card"}]
        found[type_of(tag)] = message
    return found


def _message(name: str, doc: str) -> Document:
    reference = {"$ref": f"{SCHEMAS_FILE}{DEFS}{name}"}
    return {
        "name": name,
        "summary": one_line(doc),
        "payload": {"schemaFormat": FORMAT, "schema": reference},
    }
