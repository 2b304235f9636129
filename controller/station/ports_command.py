"""`tablectl ports`: the serial ports of this machine, each with what to write into a table's file."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence

import msgspec

from controller.station.terminal import FINDING, FINE, complain, say, say_json
from drivers.holders import Holder, find_holders
from drivers.port import list_ports
from drivers.port_names import FoundPort, stable_name

NAME_WIDTH = 40


class PortLine(msgspec.Struct, frozen=True, kw_only=True):
    """What is told of one port. `port` is the name that stays the same when it is plugged in again."""

    port: str
    node: str
    usb: str | None
    serial_number: str | None
    location: str | None
    links: tuple[str, ...]
    description: str
    permitted: bool
    held_by: tuple[Holder, ...]


def add_ports(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser("ports", help="serial ports, their stable names, and who holds them")
    parser.add_argument("--json", action="store_true", help="one JSON object a port")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print one line a port. Returns 1 when there is none."""
    found = list_ports()
    for port in found:
        line = _look(port, found)
        if arguments.json:
            say_json(line)
        else:
            say(_text(line))
    if not found:
        complain(
            "no serial port found: plug the device in; a line behind a device server is named "
            "socket://HOST:PORT and is not listed"
        )
        return FINDING
    return FINE


def _look(port: FoundPort, found: Sequence[FoundPort]) -> PortLine:
    return PortLine(
        port=stable_name(port, found),
        node=port.node,
        usb=None if port.usb is None else f"{port.usb[0]:04x}:{port.usb[1]:04x}",
        serial_number=port.serial_number,
        location=port.location,
        links=port.links,
        description=port.description,
        permitted=os.access(port.node, os.R_OK | os.W_OK),
        held_by=find_holders(port.node),
    )


def _text(line: PortLine) -> str:
    """Return a line of TOML; what is known beside the name is its comment."""
    facts = [
        line.node,
        line.usb,
        line.description,
        line.serial_number and f"serial number {line.serial_number}",
        line.location and f"at {line.location}",
        *line.links,
        f"held by {' and '.join(map(str, line.held_by))}" if line.held_by else "nobody seen on it",
        None if line.permitted else "this user may not open it: add him to the group that owns it",
    ]
    comment = " ".join(", ".join(fact for fact in facts if fact).split())
    # A JSON string is a TOML string too.
    return f"{f'port = {json.dumps(line.port)}':<{NAME_WIDTH}} # {comment}"
