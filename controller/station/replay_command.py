"""`tablectl replay FILE`: a session recording, a port capture or a journal once more.

What is replayed keeps the bytes of the day and is published nowhere. An open round is left out.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from controller.journal import JournalError, Reader
from controller.station.errors import StationError
from controller.station.replay import (
    Difference,
    NothingToReplay,
    UntilOpenRound,
    Verdict,
    is_journal,
    is_port_capture,
    read_card_inputs,
    read_kind,
    replay_all,
    verify_recording,
)
from controller.station.retake import Retaken, retake
from controller.station.terminal import (
    FINDING,
    FINE,
    USAGE,
    clock_time,
    complain,
    progress,
    say,
    say_json,
)
from drivers.contract import CodeRead

SHOWN_AROUND = 160
"""Characters of a long text that are shown around its first difference."""
OPEN_ROUND = "stopped before the round that is still open: its cards come out when it has ended"


def add_replay(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser("replay", help="replay a recording, a port capture or a journal")
    parser.add_argument("file", type=Path, help="a session recording, a port capture or a journal file")
    parser.add_argument("--speed", choices=("1", "10", "max"), default="max", help="pace, by recorded time")
    parser.add_argument("--verify", action="store_true", help="compare with the journal, list nothing")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Replay. Returns 1 for a difference or a damaged file, 2 for a file of another kind."""
    try:
        return _replay(arguments)
    except NothingToReplay as error:
        complain(error)
        return USAGE
    except (StationError, JournalError) as error:
        complain(error)
        return FINDING


class Moment(NamedTuple):
    """One step to list: when it was, and its events as JSON."""

    n: int
    at_us: int
    events: bytes


def _replay(arguments: argparse.Namespace) -> int:
    path: Path = arguments.file
    pace = Pace(arguments.speed)
    if is_journal(path):
        return _journal(path, pace, arguments)
    if is_port_capture(read_kind(path)):
        if arguments.verify:
            complain(f"{path}: a port capture has no journal to compare with; leave --verify out")
            return USAGE
        return _port_capture(path, pace, as_json=arguments.json)
    with progress("replaying", _count_lines(path), listing=not arguments.verify) as advance:
        if arguments.verify:
            return tell_verdict(verify_recording(path, on_line=advance), as_json=arguments.json)
        steps = UntilOpenRound(replay_all(path, on_line=advance), lambda stepped: stepped.events_raw)
        moments = (
            Moment(n, input_time(stepped.input), stepped.events_raw) for n, stepped in enumerate(steps, 1)
        )
        _list(moments, pace, as_json=arguments.json)
        _tell_open(steps)
    return FINE


class Pace:
    """Waits so that steps come in the rhythm in which they were recorded."""

    def __init__(self, speed: str, sleep: Callable[[float], None] = time.sleep) -> None:
        self._factor = None if speed == "max" else int(speed)
        self._sleep = sleep
        self._begun: tuple[int, float] | None = None

    def wait_for(self, at_us: int) -> None:
        """Return when the step of `at_us` is due; the first one is due at once."""
        if self._factor is None:
            return
        if self._begun is None:
            self._begun = (at_us, time.monotonic())
        first_us, begun_s = self._begun
        left_s = begun_s + (at_us - first_us) / 1_000_000 / self._factor - time.monotonic()
        if left_s > 0:
            self._sleep(left_s)


def _count_lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)


def _port_capture(path: Path, pace: Pace, *, as_json: bool) -> int:
    found = read_card_inputs(path)
    for at_us, scanner, report in found:
        pace.wait_for(at_us)
        if as_json:
            facts = msgspec.to_builtins(report)
            kind = "card_read" if isinstance(report, CodeRead) else "read_failed"
            facts.pop("type")
            say_json({"at": at_us, "input": kind, "scanner": scanner, **facts})
        elif isinstance(report, CodeRead):
            number = "" if report.device_seq is None else f"  number {report.device_seq}"
            say(f"{clock_time(at_us)}  {scanner}  read    {report.code}{number}")
        else:
            say(f"{clock_time(at_us)}  {scanner}  failed  {report.cause}")
    if not found and not as_json:
        say("no card is read in it, and no reading fails")
    return FINE


def _journal(path: Path, pace: Pace, arguments: argparse.Namespace) -> int:
    """Take the inputs again; the listing ends at the first difference."""
    with Reader.open(path) as reader:
        total = reader.last_n
    with progress("taking inputs again", total, listing=not arguments.verify) as advance:
        steps = UntilOpenRound(retake(path, on_step=advance), lambda one: b",".join(one.step.events))
        count, difference = 0, None
        for one in steps:
            difference = one.difference
            if difference is not None:
                break
            count += one.stepped is not None
            if not arguments.verify:
                _list([_moment(one)], pace, as_json=arguments.json)
    verdict = Verdict(count, 0, difference is None and bool(steps.held), difference)
    if arguments.verify or difference is not None:
        return tell_verdict(verdict, as_json=arguments.json)
    _tell_open(steps)
    return FINE


def _moment(one: Retaken) -> Moment:
    return Moment(one.step.n, one.step.at_us, b"[" + b",".join(one.step.events) + b"]")


def _list(moments: Iterable[Moment], pace: Pace, *, as_json: bool) -> None:
    for n, at_us, events in moments:
        pace.wait_for(at_us)
        for raw in msgspec.json.decode(events, type=list[msgspec.Raw]):
            event = bytes(raw).decode()
            if as_json:
                say(f'{{"step":{n},"at_us":{at_us},{event[1:]}')
            else:
                say(f"{clock_time(at_us)}  {event_text(msgspec.json.decode(event))}")


def event_text(event: dict[str, Any]) -> str:
    """Return an event as a person reads it, on one line."""
    facts = [f"{name}={_short(value)}" for name, value in event.items() if name != "event"]
    return f"{event['event']:<18} {' '.join(facts)}".rstrip()


def _short(value: object) -> str:
    """Return a value on few characters; a whole result is recall's to tell."""
    match value:
        case str() if len(value) > 32:
            return f"{value[:12]}..."
        case str():
            return value
        case list() if all(isinstance(one, str) for one in value):
            return ",".join(map(_short, value))
        case list():
            named = [_opened(one) for one in value if isinstance(one, dict) and "card" in one]
            return ",".join(named) if len(named) == len(value) else f"({len(value)})"
        case dict() if all(isinstance(one, str | int) for one in value.values()):
            return ",".join(f"{name}:{one}" for name, one in value.items())
        case dict():
            return f"({', '.join(value)})"
        case _:
            return msgspec.json.encode(value).decode()


def _opened(card: dict[str, Any]) -> str:
    return f"{card.get('place', '')}/{card.get('n', '')}:{card['card']}"


def input_time(raw: bytes) -> int:
    """Return the time of an input as the journal keeps it."""
    return msgspec.json.decode(raw, type=_Timed).at


class _Timed(msgspec.Struct):
    at: int


def _tell_open(steps: UntilOpenRound[Any]) -> None:
    if steps.held:
        complain(OPEN_ROUND)


# What a comparison has found.


def tell_verdict(verdict: Verdict, *, as_json: bool) -> int:
    """Write a verdict; returns the exit code."""
    if as_json:
        say_json(verdict)
    else:
        for line in verdict_lines(verdict):
            say(line)
    return FINE if verdict.difference is None else FINDING


def verdict_lines(verdict: Verdict) -> Iterator[str]:
    """Yield a verdict as people read it."""
    if verdict.difference is not None:
        yield f"{verdict.steps} steps are the same, then:"
        yield from difference_lines(verdict.difference)
        return
    yield f"{verdict.steps} steps, no difference"
    if verdict.beyond:
        yield (
            f"{verdict.beyond} inputs beyond the end of the journal: "
            "the process has not taken them, or had stopped before it did"
        )
    if verdict.open_round:
        yield OPEN_ROUND


def difference_lines(difference: Difference) -> Iterator[str]:
    """Yield a difference as people read it; of long texts the part around where they part."""
    yield f"step {difference.step}, {difference.where}:"
    yield f"  input     {difference.input[: 2 * SHOWN_AROUND]}"
    expected, got = difference.expected, difference.got
    first = next(
        (at for at, pair in enumerate(zip(expected, got, strict=False)) if pair[0] != pair[1]),
        min(len(expected), len(got)),
    )
    yield f"  expected  {_around(expected, first)}"
    yield f"  got       {_around(got, first)}"


def _around(text: str, at: int) -> str:
    begin, end = max(0, at - SHOWN_AROUND), at + SHOWN_AROUND
    before = "..." if begin > 0 else ""
    after = "..." if end < len(text) else ""
    return f"{before}{text[begin:end]}{after}"
