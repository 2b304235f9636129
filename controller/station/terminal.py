"""What the commands that read recordings and journals share: progress, complaints, lines of JSON, times."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

FINE, FINDING, USAGE = 0, 1, 2
PLAIN_WIDTH = 110
"""Columns of a sheet when the output is no terminal."""
BAR_STEP = 200
"""Redrawing costs more than a step; the bar moves on every so many."""


def console() -> Console:
    """Return where a sheet for people is printed."""
    terminal = Console()
    return terminal if terminal.is_terminal else Console(width=PLAIN_WIDTH)


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: 1 finding, 2 findings."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def say(text: str) -> None:
    """Write a line to standard output."""
    sys.stdout.write(text + "\n")


def say_now(text: str) -> None:
    """Write a line that another program may be waiting for."""
    say(text)
    sys.stdout.flush()


def say_json(value: object) -> None:
    """Write a value as one line of JSON to standard output."""
    say(msgspec.json.encode(value, order="deterministic").decode())


def complain(text: object) -> None:
    """Write a line to standard error."""
    sys.stderr.write(f"tablectl: {text}\n")


@contextmanager
def progress(what: str, total: int | None, *, listing: bool = False) -> Iterator[Callable[[], None]]:
    """Give a function that counts one more; a bar on standard error shows the count if that is a terminal.

    `listing`: lines scroll by on standard output; on the same terminal they are progress enough.
    """
    if not sys.stderr.isatty() or (listing and sys.stdout.isatty()):
        yield lambda: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, redirect_stdout=False, transient=True) as bar:
        task = bar.add_task(what, total=total)
        count = 0

        def advance() -> None:
            nonlocal count
            count += 1
            if count % BAR_STEP == 0:
                bar.update(task, completed=count)

        yield advance


def clock_time(at_us: int) -> str:
    """Return the time of day, UTC, to the millisecond; `?` for a time that no calendar has."""
    try:
        moment = datetime.fromtimestamp(at_us / 1_000_000, UTC)
    except (OverflowError, ValueError, OSError):
        return "?"
    return moment.strftime("%H:%M:%S.") + f"{moment.microsecond // 1_000:03d}"


def date_and_time(at_us: int) -> str:
    """Return date and time of day, UTC."""
    try:
        day = datetime.fromtimestamp(at_us / 1_000_000, UTC).date().isoformat()
    except (OverflowError, ValueError, OSError):
        return "?"
    return f"{day} {clock_time(at_us)}"
