"""`tablectl watch CONFIG`: what everybody may see of a running table, in the terminal."""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.live import Live

from controller.bus.client import AsyncSubscription, Feed
from controller.bus.errors import BusError
from controller.bus.snapshot import Snapshot, apply
from controller.station.config import StationConfig, load
from controller.station.errors import StationError
from controller.station.terminal import FINDING, FINE, USAGE, complain
from controller.station.watch import render, waiting
from controller.table.events import Audience

POLL_MS = 250
REJOIN_S = 1.0
ANSWER_S = 3.0
"""How long a single picture is waited for."""

Show = Callable[[Snapshot, bool], None]


def add_watch(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser("watch", help="show a running table, as the public may see it")
    parser.add_argument("config", type=Path, help="the table's TOML file")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Show the table until interrupted; without a terminal one picture, or 1 when no table answers."""
    try:
        config = load(arguments.config)
        feed = public_feed(config)
    except (StationError, BusError) as error:
        complain(error)
        return USAGE
    console = Console()
    if console.is_terminal:
        asyncio.run(_live(feed, console))
        return FINE
    return asyncio.run(_once(feed, console))


def public_feed(config: StationConfig) -> Feed:
    """Return the public feed of a table. Raises EndpointRefused."""
    table = config.settings.table
    return Feed.of(config.endpoints, table, audience=Audience.PUBLIC, environment=config.environment)


async def follow(feed: Feed, show: Show) -> None:
    """Join the feed, then call `show(snapshot, stale)` after every message and four times a second.

    Raises the BusError that ends the subscription.
    """
    snapshot: Snapshot | None = None
    async with AsyncSubscription(feed) as table:
        while True:
            delivery = await table.next(POLL_MS)
            snapshot = snapshot or table.snapshot
            if delivery is not None and snapshot is not None:
                snapshot = apply(snapshot, delivery.raw)
            if snapshot is not None:
                show(snapshot, table.stale())


async def _live(feed: Feed, console: Console) -> None:
    with Live(waiting(feed.table), console=console, auto_refresh=False, screen=True) as screen:

        def show(snapshot: Snapshot, stale: bool) -> None:
            screen.update(render(snapshot, time.time_ns() // 1_000, stale=stale), refresh=True)

        while True:
            try:
                await follow(feed, show)
            except BusError:
                # The table has been set up anew, or somebody else speaks: begin with a fresh snapshot.
                screen.update(waiting(feed.table), refresh=True)
                await asyncio.sleep(REJOIN_S)


async def _once(feed: Feed, console: Console) -> int:
    seen: asyncio.Future[Snapshot] = asyncio.get_running_loop().create_future()

    def show(snapshot: Snapshot, _stale: bool) -> None:
        if not seen.done():
            seen.set_result(snapshot)

    following = asyncio.create_task(follow(feed, show))
    try:
        await asyncio.wait((following, seen), timeout=ANSWER_S, return_when=asyncio.FIRST_COMPLETED)
    finally:
        following.cancel()
    if not seen.done():
        fault = following.exception() if following.done() and not following.cancelled() else None
        complain(fault or f"table {feed.table} does not answer on {feed.replay}; is it running?")
        return FINDING
    console.print(render(seen.result(), time.time_ns() // 1_000))
    return FINE
