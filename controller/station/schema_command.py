"""`tablectl schema`: the contract of the bus, made from the types, and what has changed of it."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from controller.bus.asyncapi import SCHEMAS_FILE, asyncapi
from controller.bus.envelope import travelling_events
from controller.bus.event_catalogue import event_catalogue
from controller.bus.schema import bus_schemas, schema_of
from controller.bus.schema_changes import breaking_changes
from controller.station.terminal import FINDING, FINE, USAGE, complain, counted, say


def add_schema(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser(
        "schema", help="the contract of the bus: JSON Schemas, AsyncAPI, event list"
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--asyncapi", action="store_true", help="the AsyncAPI 3.0 document")
    what.add_argument("--events", action="store_true", help="the page that lists every event")
    what.add_argument("--event", metavar="NAME", help="the schema of one event's data alone, like card.dealt")
    what.add_argument("--out", type=Path, metavar="DIR", help="write all of it as files")
    what.add_argument(
        "--against", type=Path, metavar="FILE", help="an older schemas.json: what has been broken since"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print what was asked for. Returns 1 when the older schemas are broken, 2 for a wrong word."""
    if arguments.against is not None:
        return _compare(arguments.against)
    if arguments.out is not None:
        return _write(arguments.out)
    if arguments.event is not None and arguments.event not in travelling_events():
        complain(f"--event {arguments.event}: no such event; `tablectl schema --events` lists them")
        return USAGE
    say(_asked(arguments).rstrip())
    return FINE


def documents() -> dict[str, str]:
    """Return the text of each generated file by its name."""
    return {
        SCHEMAS_FILE: _text(bus_schemas()),
        "asyncapi.json": _text(asyncapi()),
        "events.md": event_catalogue(),
    }


def _asked(arguments: argparse.Namespace) -> str:
    if arguments.event is not None:
        return _text(schema_of(arguments.event))
    if arguments.events:
        return event_catalogue()
    return _text(asyncapi() if arguments.asyncapi else bus_schemas())


def _write(folder: Path) -> int:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in documents().items():
            (folder / name).write_text(text)
            say(f"{folder / name}")
    except OSError as error:
        complain(f"--out {folder}: {error.strerror}")
        return USAGE
    return FINE


def _compare(path: Path) -> int:
    try:
        older = json.loads(path.read_text())
        broken = breaking_changes(older, bus_schemas())
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        complain(f"--against {path}: no schemas.json of `tablectl schema`: {type(error).__name__}: {error}")
        return USAGE
    for line in broken:
        say(line)
    say(f"{counted(len(broken), 'breaking change')} since {path}")
    return FINDING if broken else FINE


def _text(document: object) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
