"""`tablectl profile NAME|CONFIG`: what happens when a deal goes wrong, for a pit boss to read and approve."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import msgspec
from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from controller.station.approvals import Approval, Approved, Subject, procedures_of
from controller.station.approving import (
    add_approve,
    approvals_given,
    approvals_text,
    approve,
    why_not_approver,
)
from controller.station.clock import LiveClock
from controller.station.config import StationConfig, load, load_profile, shipped
from controller.station.errors import ConfigError, StationError
from controller.station.profile_sheet import ProfileSheet, RowSheet, make_sheet
from controller.station.prose import listed
from controller.station.readers import sensors_of
from controller.station.terminal import FINDING, FINE, USAGE, complain, console, say_json


class Told(msgspec.Struct, frozen=True):
    """All that the command says. `approvals` are those of this digest, None without a table."""

    sheet: ProfileSheet
    table: str | None
    environment: str | None
    approvals: tuple[Approval, ...] | None


def add_profile(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser("profile", help="print a procedure profile, and approve it")
    parser.add_argument(
        "profile",
        metavar="NAME|CONFIG",
        help=f"a shipped profile ({', '.join(_names())}), or the TOML file of a table for the one it goes by",
    )
    add_approve(parser)
    parser.add_argument("--json", action="store_true", help="all of it as one JSON object")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Tell the profile. Returns 1 when the approvals are damaged, 2 for a bad config, name or approver."""
    try:
        config = load(Path(arguments.profile)) if _is_file(arguments.profile) else None
        if arguments.approve is not None:
            complaint = (
                "--approve needs a table's config: procedures are approved for a table"
                if config is None
                else why_not_approver(config, arguments.approve)
            )
            if complaint is not None:
                complain(complaint)
                return USAGE
        if config is not None and arguments.approve is not None:
            approve(config, procedures_of(config), arguments.approve, LiveClock().now_us())
        told = tell(arguments.profile, config)
    except ConfigError as error:
        complain(error)
        return USAGE
    except StationError as error:
        complain(error)
        return FINDING
    if arguments.json:
        say_json(told)
    else:
        console().print(render(told, config), highlight=False)
    return FINE


def _is_file(word: str) -> bool:
    return word.endswith(".toml") or "/" in word


def _names() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in shipped("profiles").glob("*.toml")))


def tell(name: str, config: StationConfig | None) -> Told:
    """Gather what is to be said. Raises ConfigError or ApprovalsDamaged."""
    if config is None:
        if name not in _names():
            raise ConfigError(
                f"no profile {name!r}: expected {listed(_names(), 'or')}, or a table's TOML file"
            )
        return Told(make_sheet(load_profile(shipped("tables"), name)), None, None, None)
    given = approvals_given(config, procedures_of(config))
    sheet = make_sheet(config.settings.profile, sensors_of(config))
    return Told(sheet, config.settings.table, config.environment.value, given)


# For people.


def render(told: Told, config: StationConfig | None) -> RenderableType:
    """Return the sheet for a terminal or a printer."""
    sheet = told.sheet
    subject = Subject(Approved.PROCEDURES, sheet.name, sheet.digest)
    parts: list[RenderableType] = [
        _heading(told, config),
        *(part for row in sheet.rows for part in _row(row)),
        *_limits(sheet),
        *_blind_spots(told),
        approvals_text(subject, config, told.approvals),
    ]
    return Group(*parts)


def _heading(told: Told, config: StationConfig | None) -> RenderableType:
    heading = Text()
    heading.append("When a deal goes wrong", "bold")
    heading.append(f"  (profile {told.sheet.name})\n")
    if told.table is not None:
        heading.append(f"Table {told.table}, {told.environment}, {config.path if config else ''}\n")
    else:
        heading.append("The profile as shipped; give a table's TOML file for the one that it goes by\n")
    heading.append(
        "A row says where it can occur; elsewhere it can't. Of its cells the one with the most conditions "
        "that hold decides.\n"
    )
    heading.append(f"Procedures digest {told.sheet.digest}\n", "bold")
    return heading


def _row(row: RowSheet) -> Iterator[RenderableType]:
    title = Text(f"{row.number}. {row.title}", "bold")
    if row.not_applicable is not None:
        title.append(f"\n   Not applicable: {row.not_applicable}\n", "not bold")
        yield title
        return
    if row.built_in is not None:
        title.append(f"\n   Built in: {row.built_in}\n", "not bold")
        yield title
        return
    title.append(f"\n   Can occur {listed(row.phases, 'or')}. ", "not bold")
    title.append(f"Noticed by {listed(row.found_by, 'or')}.", "not bold")
    yield title
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in ("cell", "when", "then"):
        table.add_column(column, overflow="fold")
    for cell in row.cells:
        then = f"{cell.then} ({cell.why})" if cell.why else cell.then
        table.add_row(cell.id, ", ".join(cell.when) or "in every other case", then)
    yield Padding(table, (0, 0, 1, 3))


def _limits(sheet: ProfileSheet) -> Iterator[RenderableType]:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for name, value in sheet.limits.items():
        table.add_row(name, value)
    yield Text("Numbers", "bold")
    yield table


def _blind_spots(told: Told) -> Iterator[RenderableType]:
    whose = "a table" if told.table is None else f"table {told.table}"
    yield Text(f"Blind spots of {whose} without {listed(told.sheet.missing, 'or')}", "bold")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("row", "", "what is left"):
        table.add_column(column, overflow="fold")
    for spot in told.sheet.blind_spots:
        table.add_row(spot.number, spot.title, spot.what)
    yield table
