"""`tablectl simulate CONFIG`: a whole table on a laptop, with simulated hardware, people and systems."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from pathlib import Path

from controller.bus.errors import BusError
from controller.journal import JournalError
from controller.station.config import StationConfig, load
from controller.station.errors import StationError
from simulators.faults.catalogue import BY_ID, Amount, Plan
from simulators.faults.courses import course_of
from simulators.links import DirectLink, FastLinks, Link, LiveLinks
from simulators.show import Progress, Show
from simulators.studio import PLAYERS, Studio, differences
from simulators.world import World

START_US = 1_767_225_600_000_000
"""Simulated time begins on 2026-01-01, so that a seed gives the same times every day."""
NEGATIVE, REFUSED = 1, 3
WITHOUT_END = 1_000_000_000


def add_simulate(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser("simulate", help="play a table with simulated hardware and people")
    parser.add_argument("config", type=Path, help="the table's TOML file; its environment must be simulated")
    parser.add_argument("--rounds", type=int, default=None, help="how many rounds (default: until Ctrl-C)")
    parser.add_argument("--seed", type=int, default=1, help="cards, people and faults all follow from it")
    parser.add_argument("--players", type=int, default=PLAYERS, help="how many bet at the table")
    parser.add_argument("--faults", type=Amount, choices=list(Amount), default=Amount.NONE)
    parser.add_argument("--only", metavar="FAULT", choices=sorted(BY_ID), help="this fault in every round")
    parser.add_argument("--pace", choices=("real", "fast"), default="real")
    parser.add_argument("--links", choices=("real", "direct"), default="real", help="direct: in this process")
    parser.set_defaults(run=simulate)


def simulate(arguments: argparse.Namespace) -> int:
    """Play. Returns 1 when incidents and faults differ, 3 when the simulation can't begin."""
    try:
        config = load(arguments.config)
        if config.environment != "simulated":
            raise StationError(f"{arguments.config}: environment: {config.environment}, expected simulated")
        return asyncio.run(play(config, arguments))
    except (StationError, JournalError, BusError) as error:
        print(error, file=sys.stderr)  # noqa: T201 - the command line's own answer
        return REFUSED
    except KeyboardInterrupt:
        return 0


async def play(config: StationConfig, arguments: argparse.Namespace) -> int:
    """Play the rounds and say what became of them."""
    rounds = arguments.rounds or WITHOUT_END
    amount = Amount.MANY if arguments.only else arguments.faults
    course = course_of(config.game, config.settings.boxes_not_told)
    if arguments.only and not course.has(BY_ID[arguments.only]):
        raise StationError(f"--only {arguments.only}: {config.game.name} has no moment for it")
    plan = Plan(arguments.seed, amount, arguments.only, course=course)
    studio = Studio(config, seed=arguments.seed, rounds=rounds, plan=plan, players=arguments.players)
    link: Link
    if arguments.pace == "real":
        link = LiveLinks(config)
    elif arguments.links == "real":
        link = FastLinks(config, START_US)
    else:
        link = DirectLink(config, START_US)
    show = Show(config, studio) if arguments.pace == "real" else Progress(studio, rounds)
    world = World(link, studio.actors, is_done=studio.dealer.is_done, after_act=show.refresh)
    began = time.monotonic()
    with show:
        await world.run()
    return _report(studio, time.monotonic() - began)


def _report(studio: Studio, took_s: float) -> int:
    rounds = [record for roundid, record in studio.auditor.rounds.items() if roundid != "between"]
    cancelled = sum(record.terminals == ["cancelled"] for record in rounds)
    lines = [
        f"{len(rounds)} rounds in {took_s:.1f} s: {len(rounds) - cancelled} confirmed, {cancelled} cancelled",
        f"{len(studio.dealer.committed)} faults committed",
        f"wallet: {len(studio.wallet.waiting())} rounds waiting, accounts sum to {studio.wallet.total()}",
    ]
    wrong = [*differences(studio), *studio.wallet.trial_balance()]
    lines += wrong or ["faults and incidents match one to one"]
    print("\n".join(lines))  # noqa: T201 - the command's result
    return NEGATIVE if wrong else 0
