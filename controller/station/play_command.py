"""`tablectl play CAPTURE`: a recording into a pty, so that any program reads it like a scanner.

The name to open is the one line on standard output; all else is said on standard error.
"""

from __future__ import annotations

import argparse
import re
from fractions import Fraction
from pathlib import Path

from controller.journal import JournalError
from controller.station.errors import StationError
from controller.station.playing import Pacing, Player, Recorded, read_recorded
from controller.station.replay import NothingToReplay
from controller.station.replay_command import OPEN_ROUND
from controller.station.terminal import FINDING, FINE, USAGE, complain, say_now
from drivers.pty import PtyDevice


def add_play(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser("play", help="play a recorded scanner into a pty that any program opens")
    parser.add_argument("capture", type=Path, help="a port capture or a session recording")
    parser.add_argument("--scanner", metavar="NAME", help="whose bytes, when there are several")
    parser.add_argument("--link", type=Path, metavar="PATH", help="a stable name for the pty")
    parser.add_argument("--gap", type=_count, metavar="MS", help="no silence longer than this")
    parser.add_argument("--skip", type=_count, metavar="N", default=0, help="leave the first N chunks out")
    parser.add_argument("--speed", type=_speed, metavar="X", default=Fraction(1), help="2 is twice as fast")
    parser.add_argument("--loop", action="store_true", help="begin again at the end, until interrupted")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Play. Returns 1 for a file with nothing to play or a name that can't be had, 2 for another kind."""
    try:
        recorded = read_recorded(arguments.capture, arguments.scanner)
        _tell_limits(arguments.capture, recorded)
        pacing = Pacing(
            speed=arguments.speed,
            gap_us_max=None if arguments.gap is None else arguments.gap * 1_000,
            skip_count=arguments.skip,
            loops=arguments.loop,
        )
        return _play(arguments, recorded, pacing)
    except NothingToReplay as error:
        complain(error)
        return USAGE
    except (StationError, JournalError) as error:
        complain(error)
        return FINDING


def _play(arguments: argparse.Namespace, recorded: Recorded, pacing: Pacing) -> int:
    left_count = len(recorded.chunks) - pacing.skip_count
    if left_count <= 0:
        complain(
            f"{arguments.capture}: nothing to play: {len(recorded.chunks)} chunks of {recorded.scanner}, "
            f"--skip {pacing.skip_count}"
        )
        return FINDING
    try:
        line = PtyDevice(arguments.link, watches_host=True)
    except OSError as error:
        complain(f"{arguments.link}: the line can't have this name: {error.strerror}")
        return FINDING
    player = Player(line, complain)
    try:
        say_now(line.node if arguments.link is None else str(arguments.link))
        player.play(pacing.apply(recorded.chunks))
    finally:
        line.unplug()
        complain(f"played {player.chunk_count} chunks, {player.byte_count} bytes of {recorded.scanner}")
    return FINE


def _tell_limits(path: Path, recorded: Recorded) -> None:
    if recorded.cut:
        complain(f"{path}: its last line is not finished: playing up to the last whole one")
    if recorded.open_round:
        complain(f"{path}: {OPEN_ROUND}")


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"got {text!r}, expected a whole number, 0 or more")
    return int(text)


def _speed(text: str) -> Fraction:
    # Not everything that spells a fraction: 1e99999999 is one that nobody waits for.
    speed = (
        Fraction(text) if re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,6}|/[1-9][0-9]{0,3})?", text) else Fraction(0)
    )
    if not Fraction(1, 1000) <= speed <= 1000:
        raise argparse.ArgumentTypeError(f"got {text!r}, expected a factor from 0.001 to 1000")
    return speed
