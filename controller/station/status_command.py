"""`tablectl status CONFIG`: how one table stands, from its bus while it runs, else from its journal."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import msgspec
import zmq

from controller.bus.endpoints import connect
from controller.bus.envelope import source_of
from controller.bus.errors import BusError
from controller.bus.wire import Alive, decode_alive
from controller.journal import Days, JournalError, Reader
from controller.station.config import StationConfig, load
from controller.station.errors import StationError
from controller.station.start import recovered
from controller.station.status import Status, StreamHead, findings_of, lines
from controller.station.terminal import FINDING, FINE, USAGE, complain, say, say_json
from controller.table.events import AUDIENCES, Audience
from controller.table.picture import Picture, draw

HEAR_MS = 2_500
"""Two beats of a daemon that runs, and some time to connect."""


def add_status(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser("status", help="how one table stands, and what is to be looked after")
    parser.add_argument("config", type=Path, help="the table's TOML file")
    parser.add_argument("--json", action="store_true", help="the status as one JSON object")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Show the status. Returns 1 when something is to be looked after, or no journal tells of the table."""
    try:
        config = load(arguments.config)
    except StationError as error:
        complain(error)
        return USAGE
    try:
        status = heard(config) or left_behind(config)
    except (BusError, StationError, JournalError) as error:
        complain(error)
        return FINDING
    except msgspec.ValidationError as error:
        complain(f"{config.endpoints.picture}: a daemon of another version speaks there: {error}")
        return FINDING
    if arguments.json:
        say_json(status)
    else:
        for line in lines(status):
            say(line)
    return FINDING if status.findings else FINE


def heard(config: StationConfig) -> Status | None:
    """Return the status that a running daemon tells, None when none is heard. Raises EndpointRefused."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    try:
        sockets = {
            _listen(context, config.endpoints.live[audience]): audience.value for audience in AUDIENCES
        }
        sockets[_listen(context, config.endpoints.picture)] = "picture"
        return _gather(config, sockets)
    finally:
        context.destroy(linger=0)


def _listen(context: zmq.Context[Any], endpoint: str) -> zmq.Socket[bytes]:
    socket: zmq.Socket[bytes] = context.socket(zmq.SUB)
    socket.subscribe(b"")
    connect(socket, endpoint)
    return socket


def _gather(config: StationConfig, sockets: dict[zmq.Socket[bytes], str]) -> Status | None:
    """Listen until each feed has told where it stands, and the picture came; None after HEAR_MS."""
    source = source_of(config.settings.table, config.environment)
    told: dict[str, Alive] = {}
    picture: Picture | None = None
    poller = zmq.Poller()
    for socket in sockets:
        poller.register(socket, zmq.POLLIN)
    deadline = time.monotonic() + HEAR_MS / 1_000
    while picture is None or len(told) < len(AUDIENCES):
        left_ms = int((deadline - time.monotonic()) * 1_000)
        if left_ms <= 0:
            return None
        for socket, _ in poller.poll(left_ms):
            raw = socket.recv()
            name = sockets[socket]
            alive = decode_alive(raw) if name != "picture" else None
            if name == "picture":
                picture = msgspec.json.decode(raw, type=Picture)
            elif alive is not None and alive.source == source:
                told[name] = alive
    heads = {name: StreamHead(told[name].seq, told[name].hash) for name in map(str, Audience)}
    return _status(config, picture, heads, running=True)


def left_behind(config: StationConfig) -> Status:
    """Return the status that the journal tells. Raises StationError or JournalError."""
    paths = Days(config.table_dir).paths()
    if not paths:
        raise StationError(f"{config.table_dir}: no journal; this table has never run here")
    with Reader.open(paths[-1]) as reader:
        kernel = recovered(config, reader)
    heads = kernel.envelopes.heads()
    stands = {
        audience.value: StreamHead(heads.of(audience).seq, heads.of(audience).hash) for audience in AUDIENCES
    }
    return _status(config, draw(kernel.table.state), stands, running=False)


def _status(
    config: StationConfig, picture: Picture, heads: dict[str, StreamHead], *, running: bool
) -> Status:
    down = set(picture.scanners_down) if running else set(config.scanners)
    return Status(
        table=config.settings.table,
        source=source_of(config.settings.table, config.environment),
        running=running,
        picture=picture,
        heads=heads,
        scanners={name: name not in down for name in config.scanners},
        findings=tuple(findings_of(picture, running=running)),
    )
