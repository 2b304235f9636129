"""`tablectl convert FILE CAPTURE`: hex lines or raw bytes into a port capture, to be played and replayed."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from controller.station.convert import RAW_SUFFIXES, convert
from controller.station.errors import StationError
from controller.station.replay import read_card_inputs
from controller.station.terminal import FINDING, FINE, USAGE, complain, say
from drivers.contract import CodeRead
from drivers.families import FAMILIES, open_framer

GAP_MS_DEFAULT = 200
GAP_MS_MAX = 3_600_000


def add_convert(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser("convert", help="turn hex lines or raw bytes into a port capture")
    raw = " or ".join(sorted(RAW_SUFFIXES))
    parser.add_argument("file", type=Path, help=f"hex lines; raw bytes if it is named {raw}")
    parser.add_argument("capture", type=Path, help="the capture to write")
    parser.add_argument("--family", required=True, metavar="NAME", help=f"driver: {', '.join(FAMILIES)}")
    parser.add_argument("--options", default="{}", metavar="JSON", help="the driver's options")
    parser.add_argument("--scanner", default="shoe", metavar="NAME", help="what the scanner is called")
    parser.add_argument(
        "--gap", type=int, default=GAP_MS_DEFAULT, metavar="MS", help="silence before a line without a time"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Convert. Returns 1 for a file that is not understood, 2 for a driver or a name that makes no sense."""
    try:
        options = msgspec.json.decode(arguments.options, type=dict[str, Any])
        open_framer(arguments.family, options)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        complain(f"--family {arguments.family} --options {arguments.options}: {error}")
        return USAGE
    if not arguments.scanner.isidentifier() or not 0 <= arguments.gap <= GAP_MS_MAX:
        complain(f"expected a --scanner of letters, digits and _, and a --gap of 0 to {GAP_MS_MAX}")
        return USAGE
    driver = arguments.family + (f" {msgspec.json.encode(options).decode()}" if options else "")
    try:
        count = convert(
            arguments.file,
            arguments.capture,
            arguments.scanner,
            driver=driver,
            gap_us=arguments.gap * 1_000,
        )
        found = Counter(type(one.report) for one in read_card_inputs(arguments.capture))
    except StationError as error:
        complain(error)
        return FINDING
    failed = found.total() - found[CodeRead]
    say(
        f"{arguments.capture}: {count} chunks, in which {found[CodeRead]} codes are read "
        f"and {failed} reads fail"
    )
    return FINE
