"""`tablectl export CONFIG|DIR|JOURNAL`: rounds as sheets or as dispute bundles, signed, of a live table too.

Who took what is in the log of evidence before the files are there.
"""

from __future__ import annotations

import argparse
import getpass
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import msgspec

from controller.bus.envelope import decode
from controller.bus.errors import BusError
from controller.journal import JournalError, Reader
from controller.station.bundle import Request
from controller.station.clock import LiveClock
from controller.station.config import KEY_NAME, load
from controller.station.errors import StationError
from controller.station.evidence_log import EvidenceLog, Exported
from controller.station.export import Form, Made, Source, make_bundles, make_sheets, write_export
from controller.station.selection import (
    END_OF_TIME_US,
    Selection,
    journals_of,
    parse_day,
    parse_rounds,
    parse_time,
)
from controller.station.signing_key import load_known
from controller.station.terminal import FINDING, FINE, USAGE, complain, counted, say, say_json
from controller.table.events import Audience

CONFIG_SUFFIX = ".toml"


class Place(msgspec.Struct, frozen=True):
    """What an export reads: the source, the log beside it, and the folder of the house."""

    source: Source
    log: EvidenceLog
    run_dir: Path


def add_export(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser("export", help="take signed evidence out: sheets, or dispute bundles")
    parser.add_argument("where", type=Path, help="the table's TOML file, its folder, or one .journal file")
    add_selection(parser)
    parser.add_argument("--by", required=True, metavar="NAME", help="who takes it out; the log keeps it")
    parser.add_argument(
        "--for", dest="audience", choices=("audit", "public"), default="audit", help="audit unless given"
    )
    parser.add_argument(
        "--format",
        choices=[form.value for form in Form],
        default=Form.JSONL.value,
        help="rows as JSON Lines or CSV, or a bundle for each round; jsonl unless given",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="a new folder for the files")
    parser.add_argument("--json", action="store_true", help="what was made as one JSON object")
    parser.set_defaults(run=run)


def add_selection(parser: argparse.ArgumentParser, *, nothing: str = "all of it") -> None:
    """Add the options that say which part of the past is meant; `nothing` is what none of them means."""
    span = parser.add_argument_group("which part", f"none of them: {nothing}")
    span.add_argument("--rounds", type=_read(parse_rounds), metavar="N[-M]", help="rounds by number")
    span.add_argument("--day", type=_read(parse_day), metavar="DATE", help="a gaming day, 2026-11-30")
    time = _read(parse_time)
    span.add_argument("--from", dest="from_us", type=time, default=0, metavar="TIME", help="ISO 8601, UTC")
    span.add_argument("--to", dest="to_us", type=time, default=END_OF_TIME_US, metavar="TIME", help="its end")


def _read(parse: Callable[[str], object]) -> Callable[[str], object]:
    """Let argparse say what a parser says."""

    def read(text: str) -> object:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def selection_of(arguments: argparse.Namespace) -> Selection:
    """Return the selection that was asked for."""
    return Selection(
        rounds=arguments.rounds, from_us=arguments.from_us, to_us=arguments.to_us, day=arguments.day
    )


def run(arguments: argparse.Namespace) -> int:
    """Export. Returns 1 when it can't be made, 2 when there is nothing to export."""
    if not arguments.where.exists():
        complain(f"{arguments.where}: not there; give a table's TOML, its folder, or a .journal file")
        return USAGE
    if arguments.out.exists():
        complain(f"{arguments.out}: is there already; name a new folder")
        return USAGE
    selection = selection_of(arguments)
    try:
        place = locate(arguments.where)
        made = _made(place, selection, arguments)
        if not made.roundids:
            complain(f"{arguments.where}: no ended round in {selection}")
            return USAGE
        write_export(made, arguments.out)
    except (StationError, JournalError, BusError) as error:
        complain(error)
        return FINDING
    _say(made, arguments)
    return FINE


def locate(where: Path) -> Place:
    """Find journals, key and log. Raises StationError, JournalError."""
    if where.suffix == CONFIG_SUFFIX:
        config = load(where)
        paths, key, folder = journals_of(config.table_dir), config.evidence.key, config.table_dir
    else:
        paths = journals_of(where)
        folder = paths[0].parent
        key = folder / KEY_NAME
    log = EvidenceLog(folder)
    signer = load_known(key, log)
    table, environment = _names(paths[0])
    return Place(Source(paths, table, environment, signer), log, folder.parent)


def _names(path: Path) -> tuple[str, str]:
    """Return table and environment, as the journal's first message names them."""
    with Reader.open(path) as reader:
        for step in reader.steps():
            for sent in step.messages.values():
                _, table, environment = decode(sent[0]).source.split("/")
                return table, environment
    raise StationError(f"{path}: holds no message yet; export when a round has ended")


def _made(place: Place, selection: Selection, arguments: argparse.Namespace) -> Made:
    """Make the files and note in the log what goes out."""
    request = Request(
        audience=Audience(arguments.audience),
        by=arguments.by,
        at_us=LiveClock().now_us(),
        run_dir=place.run_dir,
    )
    form = Form(arguments.format)
    if form is Form.BUNDLE:
        made = make_bundles(place.source, selection, request)
    else:
        made = make_sheets(place.source, selection, form, request)
    if made.roundids:
        place.log.add(
            Exported(
                at_us=request.at_us,
                by=request.by,
                login=getpass.getuser(),
                audience=request.audience.value,
                form=form.value,
                range=str(selection),
                rounds=len(made.roundids),
                files={name: sha256(content).hexdigest() for name, content in made.files.items()},
            )
        )
    return made


def _say(made: Made, arguments: argparse.Namespace) -> None:
    files = sorted(made.files)
    if arguments.json:
        say_json({"out": str(arguments.out), "rounds": list(made.roundids), "files": files})
        return
    say(f"{arguments.out}: {counted(len(made.roundids), 'round')} for {arguments.audience}")
    for name in files:
        say(f"  {name}")
