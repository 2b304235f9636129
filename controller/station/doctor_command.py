"""`tablectl doctor CONFIG`: are this table's devices set as the table expects, and what to change.

It opens ports, shows raw bytes and the cards that they spell; so it refuses to start while the table runs.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator
from pathlib import Path

from controller.station.config import StationConfig, load
from controller.station.doctor import Examination, Finding, Say, daemon_of
from controller.station.doctor_badges import BadgeSight
from controller.station.doctor_cards import CardSight
from controller.station.doctor_lights import LightExamination
from controller.station.errors import StationError
from controller.station.terminal import FINDING, FINE, USAGE, complain, counted, say_json, say_now

REFUSED_TO_START = 3
SECONDS_DEFAULT = 20
SECONDS_MAX = 3_600


def add_doctor(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser("doctor", help="examine a table's scanners, badge readers and lights")
    parser.add_argument("config", type=Path, help="the table's TOML file")
    parser.add_argument("--device", metavar="NAME", help="this one alone")
    parser.add_argument(
        "--seconds",
        type=_seconds,
        default=SECONDS_DEFAULT,
        metavar="S",
        help=f"how long to look at each device; {SECONDS_DEFAULT} unless given",
    )
    parser.add_argument("--json", action="store_true", help="the findings alone, one JSON object a line")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Examine. Returns 1 when something is to be changed, 2 for a device that does not exist, 3 when the
    table runs or its config is broken.
    """
    try:
        config = load(arguments.config)
    except StationError as error:
        complain(error)
        return REFUSED_TO_START
    daemon = daemon_of(config)
    if daemon is not None:
        complain(
            f"table {config.settings.table} runs as {daemon}: it holds the scanners, and what they read is "
            "its game's; stop it first"
        )
        return REFUSED_TO_START
    names = [*config.scanners, *config.badge_readers, *config.lights]
    if arguments.device is not None and arguments.device not in names:
        complain(f"--device {arguments.device}: expected one of {', '.join(names)}")
        return USAGE
    return _examine(config, arguments)


def _examine(config: StationConfig, arguments: argparse.Namespace) -> int:
    say = (lambda _: None) if arguments.json else say_now
    findings: list[Finding] = []
    for examination in _examinations(config, say):
        if arguments.device in (None, examination.name):
            findings += asyncio.run(examination.run(arguments.seconds))
    if arguments.json:
        for finding in findings:
            say_json(finding)
    else:
        say(counted(len(findings), "finding") if findings else "nothing to change")
    return FINDING if findings else FINE


def _examinations(config: StationConfig, say: Say) -> Iterator[Examination | LightExamination]:
    for name, scanner in config.scanners.items():
        yield Examination(name, scanner, CardSight(scanner, config), say)
    for name, reader in config.badge_readers.items():
        yield Examination(name, reader, BadgeSight(reader, config), say)
    for name, light in config.lights.items():
        yield LightExamination(name, light, say)


def _seconds(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= SECONDS_MAX:
        raise argparse.ArgumentTypeError(f"got {text!r}, expected whole seconds, 1 to {SECONDS_MAX}")
    return int(text)
