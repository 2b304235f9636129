"""`tablectl shift CONFIG|DIR|JOURNAL`: the report at the end of a shift, from the journals."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import msgspec

from controller.journal import JournalError
from controller.station.config import load
from controller.station.errors import StationError
from controller.station.export_command import CONFIG_SUFFIX, add_selection, selection_of
from controller.station.selection import Selection, journals_of, selected
from controller.station.shift import Presses, Shift, Trend, shift_of
from controller.station.terminal import FINDING, FINE, complain, counted, date_and_time, say, say_json

MS = 1_000


def add_shift(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser("shift", help="the report at the end of a shift")
    parser.add_argument("where", type=Path, help="the table's TOML file, its folder, or one .journal file")
    add_selection(parser, nothing="the newest gaming day")
    parser.add_argument("--json", action="store_true", help="the report as one JSON object")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Report. Returns 1 when there is no such journal, or it is damaged."""
    where: Path = arguments.where
    try:
        paths = journals_of(load(where).table_dir if where.suffix == CONFIG_SUFFIX else where)
        selection = selection_of(arguments)
        if selection == Selection():
            selection = Selection(day=paths[-1].stem)
        shift = shift_of((one.step for one in selected(paths, selection)), str(selection))
    except (StationError, JournalError) as error:
        complain(error)
        return FINDING
    except (msgspec.MsgspecError, KeyError) as error:
        complain(f"{where}: an event can't be read: {error!r}; verify the journal")
        return FINDING
    if arguments.json:
        say_json(shift)
    else:
        for line in shift_lines(shift):
            say(line)
    return FINE


def shift_lines(shift: Shift) -> Iterator[str]:
    """Yield the report as people read it."""
    yield f"{shift.range}: {date_and_time(shift.from_us)} to {date_and_time(shift.to_us)} UTC"
    yield (
        f"{counted(shift.opened, 'round')}, {shift.confirmed} confirmed, {shift.cancelled} cancelled, "
        f"{shift.corrected} corrected; {counted(shift.starts, 'start')}"
    )
    yield from _block(
        "cancelled", (_cancel(one.reason, one.dealer, one.by, one.count) for one in shift.cancels)
    )
    yield from _block("re-scans by scanner", map(_trend, shift.scanners))
    yield from _block("re-scans by place", map(_trend, shift.places))
    yield from _block("decks", (f"{count:>6}  {name}" for name, count in shift.decks.items()))
    yield from _block(
        "suspect rounds", (", ".join(f"{k} {v}" for k, v in one.items()) for one in shift.suspect)
    )
    yield from _block("incidents", _incidents(shift))
    yield from _block(
        "presses", (f"  {who}: {_presses(shift.presses[who])}" for who in sorted(shift.presses))
    )


def _block(title: str, lines: Iterator[str]) -> Iterator[str]:
    told = list(lines)
    if told:
        yield title
        yield from told


def _cancel(reason: str, dealer: str, by: str | None, count: int) -> str:
    return (
        f"{count:>6}  {reason}, dealer {dealer}, {'no press needed' if by is None else f'confirmed by {by}'}"
    )


def _trend(one: Trend) -> str:
    return (
        f"{one.rescans:>6}  {one.name}: {one.reads} reads, {one.failed} failed, "
        f"{one.rescans_per_10_000} re-scans in 10,000"
    )


def _incidents(shift: Shift) -> Iterator[str]:
    for one in shift.incidents:
        took = "never closed" if one.mean_close_ms is None else f"closed after {one.mean_close_ms / MS:.1f} s"
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in one.verdicts.items())
        still_open = f", {one.count - one.closed} still open" if one.count > one.closed else ""
        yield f"{one.count:>6}  {one.kind}, cell {one.cell}: {verdicts or 'not decided'}; {took}{still_open}"


def _presses(pressed: Presses) -> str:
    taken = [f"{count} {what}" for what, count in pressed.taken.items()]
    refused = [f"{count} refused {reason}" for reason, count in pressed.refused.items()]
    return ", ".join(taken + refused)
