"""`tablectl run CONFIG`: the daemon at the dealer station."""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import sys
from pathlib import Path

from controller.bus.errors import BusError
from controller.journal import JournalError
from controller.station import log
from controller.station.clock import LiveClock
from controller.station.config import load
from controller.station.errors import PagesRefused, StationError
from controller.station.pages.presses import DrawCard
from controller.station.station import Station
from controller.station.terminal import complain
from controller.table.events import Audience

REFUSED_TO_START = 3
FAILED = 1


def add_run(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser("run", help="run the daemon of one table")
    parser.add_argument("config", type=Path, help="the table's TOML file")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the daemon."""
    return run_daemon(arguments.config)


def run_daemon(path: Path, *, draw_card: DrawCard | None = None) -> int:
    """Run until SIGTERM or SIGINT. Returns 3 when the station refuses to start, 1 when a part of it died."""
    log.set_up()
    try:
        config = load(path)
        station = Station(config, LiveClock(), draw_card=draw_card)
    except (StationError, JournalError, BusError) as error:
        if sys.stderr.isatty():
            complain(str(error))
        else:
            logging.getLogger("station").critical(str(error))
        return REFUSED_TO_START
    facts = {
        "table": config.settings.table,
        "environment": config.environment.value,
        "epoch": station.kernel.table.state.epoch,
        "journal": str(station.journal.path),
        "public_feed": config.endpoints.live[Audience.PUBLIC],
        "operator": config.endpoints.operator,
    }
    logging.getLogger("station").info("the table runs", extra={"facts": facts})
    return asyncio.run(serve(station))


async def serve(station: Station) -> int:
    """Run a station until a signal ends it."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    try:
        await station.run(stopped)
    except (BusError, PagesRefused) as error:
        logging.getLogger("station").critical(str(error))
        return REFUSED_TO_START  # A socket or an address can't be opened.
    except ExceptionGroup:
        return FAILED  # The part that died has said so in the log.
    return 0
