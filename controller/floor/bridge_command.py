"""`tablectl bridge nats CONFIG`: one table's feeds into NATS JetStream."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
from collections.abc import Iterable
from pathlib import Path

from controller.bus.client import ClientKeys, Feed
from controller.bus.errors import BusError
from controller.bus.keys import public_path
from controller.floor.bridge import Carrier
from controller.floor.errors import BridgeStopped, FloorRefused
from controller.floor.nats_server import DEFAULT_URL, Address, address_of
from controller.station import log
from controller.station.config import StationConfig, load
from controller.station.errors import StationError
from controller.station.terminal import FINDING, FINE, USAGE, complain
from controller.table.events import AUDIENCES, Audience

REFUSED_TO_START = 3
CARRIED = (Audience.PUBLIC, Audience.SETTLEMENT)
"""What is carried unless others are named: betting and audit hold more than most on a floor need to know."""


def add_bridge(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser("bridge", help="carry a table's feeds into another messaging system")
    systems = parser.add_subparsers(metavar="SYSTEM", required=True)
    nats = systems.add_parser("nats", help="NATS JetStream: a stream for each audience, made when missing")
    nats.add_argument("config", type=Path, help="the table's TOML file")
    add_server(nats, "--server")
    nats.add_argument(
        "--audience",
        action="append",
        choices=[audience.value for audience in AUDIENCES],
        help="what to carry, may be given again; public and settlement unless given",
    )
    nats.add_argument(
        "--from-now",
        action="store_true",
        help="an empty stream begins at the table's present instead of message 1",
    )
    nats.add_argument(
        "--key",
        type=Path,
        metavar="FILE",
        help="the bridge's own NAME.key: it listens at the doors of [bus], as from another machine",
    )
    nats.add_argument(
        "--table-key", type=Path, metavar="FILE", help="the table's bus.key.pub, if not where [bus] has it"
    )
    nats.set_defaults(run=run)


def add_server(parser: argparse.ArgumentParser, name: str) -> None:
    """Add the address of the NATS server. NATS_URL keeps a password off the command line."""
    default = os.environ.get("NATS_URL", DEFAULT_URL)
    usual = "NATS_URL" if "NATS_URL" in os.environ else DEFAULT_URL
    shown = f"nats://host:port, tls:// beyond this machine; {usual} unless given"
    if name.startswith("-"):
        parser.add_argument(name, default=default, metavar="URL", help=shown)
    else:
        parser.add_argument(name, nargs="?", default=default, metavar="URL", help=shown)


def run(arguments: argparse.Namespace) -> int:
    """Carry until SIGTERM or SIGINT. Returns 3 for a wrong set-up, 1 when stream and table do not agree."""
    log.set_up()
    try:
        address = address_of(arguments.server)
        config = load(arguments.config)
        keys = _keys_of(config, arguments)
        wanted = [Audience(name) for name in dict.fromkeys(arguments.audience or CARRIED)]
        feeds = [feed_of(config, audience, keys) for audience in wanted]
    except (FloorRefused, StationError, BusError) as error:
        complain(error)
        return USAGE
    carriers = [Carrier(feed, address, from_now=arguments.from_now) for feed in feeds]
    return asyncio.run(serve(carriers, address))


def _keys_of(config: StationConfig, arguments: argparse.Namespace) -> ClientKeys | None:
    """Return the bridge's keys, None where it has none: it listens on this machine."""
    own: Path | None = arguments.key
    server: Path | None = arguments.table_key
    if own is None:
        if server is not None:
            raise FloorRefused(f"--table-key {server}: goes with --key, the bridge's own NAME.key")
        return None
    if server is None and config.bus is not None:
        server = public_path(config.bus.key)
    if server is None:
        raise FloorRefused(f"--key {own}: {config.path} has no [bus] with the addresses of its doors")
    return ClientKeys.read(own, server)


def feed_of(config: StationConfig, audience: Audience, keys: ClientKeys | None = None) -> Feed:
    """Return the feed of one audience: the local one, with keys that at its doors. Raises FloorRefused."""
    table, environment = config.settings.table, config.environment
    if keys is None:
        return Feed.of(config.endpoints, table, audience=audience, environment=environment)
    doors = config.bus.doors if config.bus is not None else {}
    live, replay = doors.get(f"live.{audience}"), doors.get(f"replay.{audience}")
    if live is None or replay is None:
        raise FloorRefused(
            f"{config.path}: bus.live.{audience}: missing; with --key only the table's doors are heard; "
            f"write both addresses, of [bus.live] and [bus.replay], or carry another --audience"
        )
    return Feed(live=live, replay=replay, table=table, audience=audience, environment=environment, keys=keys)


async def serve(carriers: Iterable[Carrier], address: Address) -> int:
    """Let all carry until a signal ends it, or the first one that can't."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    logger = logging.getLogger("bridge")
    logger.info("the bridge runs", extra={"facts": {"server": address.text}})
    tasks = [asyncio.ensure_future(carrier.run()) for carrier in carriers]
    ending = asyncio.ensure_future(stopped.wait())
    await asyncio.wait((*tasks, ending), return_when=asyncio.FIRST_COMPLETED)
    for task in (*tasks, ending):
        task.cancel()
    for outcome in await asyncio.gather(*tasks, return_exceptions=True):
        match outcome:
            case FloorRefused():
                logger.critical(str(outcome))
                return REFUSED_TO_START
            case BridgeStopped():
                logger.critical(str(outcome))
                return FINDING
            case Exception():
                raise outcome
    return FINE
