"""`tablectl rules GAME`: the rules in force as a pit boss reads and approves them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from controller.games.baccarat import LAYOUT
from controller.games.published import Wager
from controller.games.registry import GAMES
from controller.station import baccarat_sheet
from controller.station.approvals import Approval, Approved, Subject, rules_of
from controller.station.approving import (
    add_approve,
    approvals_given,
    approvals_text,
    approve,
    why_not_approver,
)
from controller.station.clock import LiveClock
from controller.station.config import StationConfig, load, load_game, shipped
from controller.station.errors import ConfigError, StationError
from controller.station.prose import BETTING, WINDOWS, listed, place_name, seconds
from controller.station.rules_sheet import Sheet, make_sheet
from controller.station.terminal import FINDING, FINE, USAGE, complain, console, say_json

WAGERS = {
    Wager.ANTE: "Ante",
    Wager.BET: "Bet",
    Wager.RAISE: "raise",
    Wager.INSURANCE: "insurance",
    Wager.SIXTH_FEE: "fee",
    Wager.EXCHANGE_FEE: "fee",
    Wager.BUY_FEE: "purchase",
    **baccarat_sheet.WAGERS,
}
ROWS = {
    "ROYAL": "Royal Flush",
    "STRAIGHT_FLUSH": "Straight Flush",
    "QUADS": "Four of a Kind",
    "FULL_HOUSE": "Full House",
    "FLUSH": "Flush",
    "STRAIGHT": "Straight",
    "TRIPS": "Three of a Kind",
    "TWO_PAIR": "Two Pairs",
    "PAIR": "One Pair",
    "AK": "Ace-King",
    "SEVENS_777": "Three sevens",
    "SEVENS_77_PAIR": "Sevens and another pair",
}


class Told(msgspec.Struct, frozen=True):
    """All that the command says. `approvals` are those of this rules hash, None without a table."""

    sheet: Sheet
    table: str | None
    environment: str | None
    approvals: tuple[Approval, ...] | None


def add_rules(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser("rules", help="print the rules in force, and approve them")
    parser.add_argument("game", choices=tuple(GAMES), metavar="GAME", help=f"one of {', '.join(GAMES)}")
    parser.add_argument("--config", type=Path, help="the TOML file of the table that plays by them")
    add_approve(parser)
    parser.add_argument("--json", action="store_true", help="all of it as one JSON object")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Tell the rules. Returns 1 when the approvals are damaged, 2 for a bad config or approver."""
    try:
        config = None if arguments.config is None else load(arguments.config)
        complaint = _misuse(arguments, config)
        if complaint is not None:
            complain(complaint)
            return USAGE
        if config is not None and arguments.approve is not None:
            approve(config, rules_of(config), arguments.approve, LiveClock().now_us())
        told = tell(arguments.game, config)
    except ConfigError as error:
        complain(error)
        return USAGE
    except StationError as error:
        complain(error)
        return FINDING
    if arguments.json:
        say_json(told)
        return FINE
    console().print(render(told, config), highlight=False)
    return FINE


def _misuse(arguments: argparse.Namespace, config: StationConfig | None) -> str | None:
    """Return what is wrong with the words of the command."""
    if config is None:
        return (
            None if arguments.approve is None else "--approve needs --config: rules are approved for a table"
        )
    if config.game.name != arguments.game:
        return f"{config.path}: this table plays {config.game.name}, not {arguments.game}"
    if arguments.approve is None:
        return None
    return why_not_approver(config, arguments.approve)


def tell(game: str, config: StationConfig | None) -> Told:
    """Gather what is to be said. Raises ConfigError or ApprovalsDamaged."""
    if config is None:
        built, rules = load_game(shipped("games") / f"{game}.toml")
        return Told(make_sheet(built, rules), None, None, None)
    settings = config.settings
    times = {BETTING: settings.betting_ms, **settings.windows_ms}
    given = approvals_given(config, rules_of(config))
    return Told(make_sheet(config.game, config.rules, times), settings.table, config.environment.value, given)


# For people.


def render(told: Told, config: StationConfig | None) -> RenderableType:
    """Return the sheet for a terminal or a printer."""
    sheet = told.sheet
    parts: list[RenderableType] = [
        _heading(told, config),
        *_procedure(sheet),
        *_settled(sheet),
        *_pay_tables(sheet),
        *(
            _pairs("Prices", {name: f"{price} A" for name, price in sheet.prices.items()})
            if sheet.prices
            else ()
        ),
        *_limits(sheet),
        *_settings(sheet),
        *_times(sheet),
        approvals_text(Subject(Approved.RULES, sheet.game, sheet.rules), config, told.approvals),
    ]
    return Group(*parts)


def _heading(told: Told, config: StationConfig | None) -> RenderableType:
    sheet = told.sheet
    heading = Text()
    heading.append(sheet.title, "bold")
    heading.append(f"  ({sheet.game})\n")
    if told.table is not None:
        heading.append(f"Table {told.table}, {told.environment}, {config.path if config else ''}\n")
    else:
        heading.append("The settings as shipped; give --config for those of a table\n")
    if sheet.boxes != (LAYOUT,):
        boxes = listed([place_name(name) for name in sheet.boxes])
        heading.append(f"Boxes: {boxes}. A is the Ante of a box.\n")
    heading.append(f"Rules hash {sheet.rules}\n", "bold")
    return heading


def _procedure(sheet: Sheet) -> Iterator[RenderableType]:
    yield Text("The round", "bold")
    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right")
    table.add_column(overflow="fold")
    for number, step in enumerate(sheet.procedure.steps, 1):
        text = Text(step.text)
        if step.left_out_if:
            text.append(f" Left out if {listed(step.left_out_if, 'or')}.", "italic")
        table.add_row(f"{number}.", text)
    if sheet.procedure.without_bets is not None:
        table.add_row("", sheet.procedure.without_bets)
    table.add_row("", sheet.procedure.miscount)
    yield Padding(table, (0, 0, 1, 1))


def _settled(sheet: Sheet) -> Iterator[RenderableType]:
    columns = list(dict.fromkeys(WAGERS[wager] for one in sheet.settled for wager in one.wagers))
    table = _table("", *columns, "rules")
    for one in sheet.settled:
        cells = {WAGERS[wager]: fate for wager, fate in one.wagers.items()}
        case = f"{one.case}, insured" if one.insured else one.case
        table.add_row(case, *(cells.get(name, "") for name in columns), " ".join(one.rules))
    place = "layout" if sheet.boxes == (LAYOUT,) else "box, after a draw where the game has one"
    yield Text(f"What becomes of the wagers on a {place}", "bold")
    yield table


def _pay_tables(sheet: Sheet) -> Iterator[RenderableType]:
    for pays in sheet.pay_tables:
        rows = {ROWS.get(row, row): f"{odds}:1" for row, odds in pays.odds.items()}
        yield from _pairs(f"Pay table of the {pays.title}", rows)
        yield Text(f"{pays.note}\n")


def _limits(sheet: Sheet) -> Iterator[RenderableType]:
    named = {name: ROWS.get(value, value) for name, value in sheet.limits.items()}
    yield from _pairs("Limits, money in minor units", named)


def _settings(sheet: Sheet) -> Iterator[RenderableType]:
    table = _table("", "", "look up", "key in the file")
    for one in sheet.settings:
        table.add_row(one.question, one.answer, " ".join(one.rules), one.key)
    yield Text("House settings in force", "bold")
    yield table


def _times(sheet: Sheet) -> Iterator[RenderableType]:
    if sheet.times_ms:
        named = {WINDOWS.get(stage, stage): seconds(ms) for stage, ms in sheet.times_ms.items()}
        yield from _pairs("Times", named)


def _pairs(title: str, pairs: Mapping[str, str]) -> Iterator[RenderableType]:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for name, value in pairs.items():
        table.add_row(name, value)
    yield Text(title, "bold")
    yield table


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
