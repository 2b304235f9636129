"""`tablectl floor`: all tables of a NATS server at a glance, from their public streams."""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Callable

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from controller.floor.bridge_command import add_server
from controller.floor.errors import FloorRefused
from controller.floor.nats_server import (
    AWAY,
    Address,
    Server,
    address_of,
    connected,
    has_no_jetstream,
    text_of,
    while_connected,
)
from controller.floor.overview import Floor, TableStream
from controller.floor.overview_sheet import line_of, sheet
from controller.station.terminal import FINDING, FINE, USAGE, complain, console, counted, say_json

LOOK_S = 1.0
Show = Callable[[list[TableStream]], None]


def add_floor(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser("floor", help="show all tables whose public feeds are on a NATS server")
    add_server(parser, "server")
    parser.add_argument("--json", action="store_true", help="one line of JSON a table, once")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Show the floor until interrupted; once without a terminal, and 1 when there is nothing to show."""
    try:
        address = address_of(arguments.server)
    except FloorRefused as error:
        complain(error)
        return USAGE
    if arguments.json:
        return asyncio.run(_once(address, _say_lines))
    terminal = console()
    if terminal.is_terminal:
        asyncio.run(show_live(address, terminal))
        return FINE
    return asyncio.run(_once(address, lambda tables: terminal.print(_sheet(address, tables))))


async def _once(address: Address, show: Show) -> int:
    try:
        async with connected(address) as server:
            tables = await Floor(server.jetstream).look()
    except (FloorRefused, *AWAY) as error:
        complain(_trouble(address, error))
        return FINDING
    if not tables:
        complain(f"{address.text}: no public stream of a table; does `tablectl bridge nats` run?")
        return FINDING
    show(tables)
    return FINE


async def show_live(address: Address, terminal: Console) -> None:
    """Show the floor for ever; what is known stays on the screen while the server is away."""
    shown: list[TableStream] = []
    with Live(console=terminal, auto_refresh=False, screen=True) as screen:

        async def watch(server: Server) -> None:
            floor = Floor(server.jetstream)
            while True:
                shown[:] = await floor.look()
                screen.update(_sheet(address, shown), refresh=True)
                await asyncio.sleep(LOOK_S)

        while True:
            try:
                async with connected(address) as server:
                    await while_connected(server, watch(server))
            except (FloorRefused, *AWAY) as error:
                trouble = Text(f"STALE: {_trouble(address, error)}; trying again", "bold red")
                screen.update(Group(trouble, _sheet(address, shown)), refresh=True)
            await asyncio.sleep(LOOK_S)


def _sheet(address: Address, tables: list[TableStream]) -> RenderableType:
    return sheet(tables, time.time_ns() // 1_000, title=f"{address.text}, {counted(len(tables), 'table')}")


def _say_lines(tables: list[TableStream]) -> None:
    now_us = time.time_ns() // 1_000
    for table in tables:
        say_json(line_of(table, now_us))


def _trouble(address: Address, error: BaseException) -> str:
    if isinstance(error, FloorRefused):
        return str(error)
    if has_no_jetstream(error):
        return f"{address.text}: JetStream does not answer; is it switched on (-js)?"
    return f"{address.text}: {text_of(error)}"
