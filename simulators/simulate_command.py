"""`tablectl simulate CONFIG`: a whole table on a laptop, with simulated hardware, people and systems."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from controller.bus.errors import BusError
from controller.journal import Days, JournalError, WriterLock
from controller.station.config import StationConfig, load
from controller.station.errors import StationError
from controller.table.events import Audience
from simulators.devices.families import DEVICES
from simulators.faults.catalogue import BY_ID, Amount, Plan
from simulators.faults.courses import course_of
from simulators.faults.line_faults import LINE_IDS, with_line
from simulators.faults.reader_faults import READER_IDS, with_readers
from simulators.links import DirectLink, FastLinks, Link, LiveLinks
from simulators.page_dealer import HandLinks, at_the_page, check_page
from simulators.rough_line import RoughLine
from simulators.show import Progress, Show
from simulators.studio import PLAYERS, Line, Studio, dealing_scanner, differences
from simulators.world import World

START_US = 1_767_268_800_000_000
"""Simulated time begins on 2026-01-01 at noon UTC, so that a seed gives the same times every day."""
NEGATIVE, REFUSED = 1, 3
WITHOUT_END = 1_000_000_000
SEED = 30
"""A day whose first rounds have all kinds of choices."""


def add_simulate(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser("simulate", help="play a table with simulated hardware and people")
    parser.add_argument("config", type=Path, help="the TOML file of a simulated table")
    parser.add_argument("--rounds", type=positive, metavar="N", help="how many; until Ctrl-C unless given")
    parser.add_argument(
        "--seed", type=int, default=SEED, metavar="S", help=f"of cards, people, faults; {SEED} unless given"
    )
    players_help = f"how many bet at the table; {PLAYERS} unless given"
    parser.add_argument("--players", type=positive, default=PLAYERS, metavar="N", help=players_help)
    parser.add_argument(
        "--faults",
        type=Amount,
        choices=list(Amount),
        default=Amount.NONE,
        help="rounds with a fault: none unless given, one in ten, or all",
    )
    parser.add_argument(
        "--only",
        metavar="FAULT",
        choices=sorted(BY_ID.keys() | LINE_IDS | READER_IDS),
        help="this fault in every round; a wrong name lists them",
    )
    pace_help = "by the wall clock, or as fast as everybody can follow; real unless given"
    parser.add_argument("--pace", choices=("real", "fast"), default="real", help=pace_help)
    links_help = "daemon behind ptys and sockets, or in this process; real unless given"
    parser.add_argument("--links", choices=("real", "direct"), default="real", help=links_help)
    parser.add_argument(
        "--line",
        type=Line,
        choices=list(Line),
        default=Line.GOOD,
        help="rough: one that loses, doubles, reorders, for wallet and overlay; good unless given",
    )
    parser.add_argument(
        "--dealer",
        choices=("simulated", "me"),
        default="simulated",
        help="me: you deal at the dealer's page, and the shoe deals when you press (default simulated)",
    )
    parser.set_defaults(run=simulate)


def simulate(arguments: argparse.Namespace) -> int:
    """Play. Returns 1 when incidents and faults differ, 3 when the simulation can't begin."""
    try:
        config = load(arguments.config)
        if config.environment != "simulated":
            raise StationError(f"{arguments.config}: environment: {config.environment}, expected simulated")
        check_devices(config)
        if arguments.dealer == "me":
            check_page(config, arguments)
        make_room(config)
        return asyncio.run(play(config, arguments))
    except (StationError, JournalError, BusError) as error:
        print(f"tablectl: {error}", file=sys.stderr)  # noqa: T201 - the command line's own answer
        return REFUSED


def positive(text: str) -> int:
    """Read a number of rounds. Raises ValueError for less than one."""
    if int(text) < 1:
        raise ValueError(text)
    return int(text)


def check_devices(config: StationConfig) -> None:
    """Raise StationError for a scanner that no simulated table has."""
    for name, scanner in config.scanners.items():
        if scanner.family not in DEVICES:
            where = f"{config.path}: scanners.{name}.family"
            expected = f"expected one that has a simulated device: {', '.join(DEVICES)}"
            raise StationError(f"{where}: got {scanner.family}, {expected}")


def make_room(config: StationConfig) -> None:
    """Move aside what an earlier simulation of this table has left: its bettors are gone with it.

    Raises JournalInUse when the table is being run by another process.
    """
    paths = Days(config.table_dir).paths()
    if not paths:
        return
    WriterLock(paths[-1]).release()
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    config.table_dir.rename(config.table_dir.with_name(f"{config.table_dir.name}.{stamp}"))


async def play(config: StationConfig, arguments: argparse.Namespace) -> int:
    """Play the rounds and say what became of them."""
    rounds = arguments.rounds or WITHOUT_END
    amount = Amount.MANY if arguments.only else arguments.faults
    scanner = config.scanners[dealing_scanner(config)]
    course = with_line(course_of(config.game, config.settings.boxes_not_told), scanner.family)
    course = with_readers(course, config.settings.second_readers)
    if arguments.only and course.find(arguments.only) is None:
        raise StationError(f"--only {arguments.only}: {config.game.name} has no moment for it")
    plan = Plan(arguments.seed, amount, arguments.only, course=course)
    studio = Studio(
        config,
        seed=arguments.seed,
        rounds=rounds,
        plan=plan,
        players=arguments.players,
        line=arguments.line,
    )
    link: Link
    if arguments.dealer == "me":
        link = watched(HandLinks(config), studio)
    elif arguments.pace == "real":
        link = watched(LiveLinks(config), studio)
    elif arguments.links == "real":
        link = FastLinks(config, START_US)
    else:
        link = DirectLink(config, START_US)
    show = Show(config, studio) if arguments.pace == "real" else Progress(studio, rounds)
    actors = studio.actors
    if arguments.dealer == "me":
        actors = at_the_page(actors, studio.dealer)
    world = World(link, actors, is_done=studio.dealer.is_done, after_act=show.refresh)
    began = time.monotonic()
    playing = asyncio.current_task()
    assert playing is not None
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, playing.cancel)
    with show:
        try:
            await world.run()
        except asyncio.CancelledError:
            playing.uncancel()
    if arguments.dealer == "me":
        return 0  # What a person does wrong is no fault of a plan.
    return _report(studio, time.monotonic() - began)


def watched(link: LiveLinks, studio: Studio) -> LiveLinks:
    """Have the betting system notice over links at real pace that the table is not heard."""
    studio.betting.is_stale = partial(link.is_stale, Audience.BETTING)
    return link


def _report(studio: Studio, took_s: float) -> int:
    """Say what was played, which faults were committed, and whether the table made of them what it must."""
    studio.heal()
    rounds = [record for roundid, record in studio.auditor.rounds.items() if roundid != "between"]
    cancelled = sum(record.terminals == ["cancelled"] for record in rounds)
    confirmed = sum(record.terminals == ["confirmed"] for record in rounds)
    corrected = sum(len(record.corrections) for record in rounds)
    faults = Counter(case.fault.id for case in studio.dealer.committed.values())
    lines = [
        f"{len(rounds)} rounds in {took_s:.1f} s: {confirmed} confirmed, {cancelled} cancelled, "
        f"{corrected} corrected",
        f"journal and recording: {studio.journal_folder}",
        f"wallet: {len(studio.wallet.waiting())} rounds still to settle; "
        f"all accounts together {studio.wallet.total()} (0: nothing made, nothing lost)",
        *(f"  fault {name}: {count}" for name, count in sorted(faults.items())),
        *(_told(line) for line in studio.lines),
    ]
    unequal = [fault for line in studio.lines for fault in line.unequal]
    wrong = [*differences(studio), *studio.wallet.trial_balance(), *unequal]
    lines += wrong or ["faults and incidents match one to one"]
    print("\n".join(lines))  # noqa: T201 - the command's result
    return NEGATIVE if wrong else 0


def _told(line: RoughLine) -> str:
    happened = ", ".join(f"{name} {count}" for name, count in sorted(line.counts.items()))
    return f"{line.name}: {happened}"
