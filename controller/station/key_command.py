"""`tablectl key CONFIG`: the public key with which anybody checks a table's evidence."""

from __future__ import annotations

import argparse
from pathlib import Path

from controller.journal import JournalError
from controller.journal.signing import public_pem
from controller.station.clock import LiveClock
from controller.station.config import load
from controller.station.errors import StationError
from controller.station.evidence_log import EvidenceLog
from controller.station.signing_key import begin_key, load_known
from controller.station.terminal import FINDING, FINE, USAGE, complain, say


def add_key(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser("key", help="the public key of a table's evidence")
    parser.add_argument("config", type=Path, help="the table's TOML file")
    parser.add_argument("--hex", action="store_true", help="64 hex digits instead of PEM")
    parser.add_argument("--new", action="store_true", help="begin another key; the table must not run")
    parser.add_argument("--by", metavar="NAME", help="who begins it")
    parser.add_argument("--reason", metavar="WHY", help="why")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Show the public key. Returns 1 when there is none to show, 2 for a new one by nobody."""
    if arguments.new != bool(arguments.by and arguments.reason):
        complain("a new key needs all three: --new --by NAME --reason WHY")
        return USAGE
    try:
        config = load(arguments.config)
        if arguments.new:
            now_us = LiveClock().now_us()
            signer = begin_key(config, now_us, by=arguments.by, reason=arguments.reason)
        else:
            signer = load_known(config.evidence.key, EvidenceLog(config.table_dir))
    except (StationError, JournalError) as error:
        complain(error)
        return FINDING
    say(signer.public_key if arguments.hex else public_pem(signer.public_key).rstrip())
    return FINE
