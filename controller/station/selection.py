"""Which part of a table's past is meant: rounds by number, a gaming day, or a span of time.

A round belongs to the time at which it was opened, and goes with it as a whole, up to the collection of its
cards. An open round is never in a selection, whoever asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from controller.journal import Days, Reader, Step
from controller.station.errors import StationError
from controller.station.replay import ROUND_OPENED, UntilOpenRound
from controller.table.events import RoundOpened

END_OF_TIME_US = 1 << 62


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """First and last round (None: all), first and end of time in microseconds, one gaming day (None: all)."""

    rounds: tuple[int, int] | None = None
    from_us: int = 0
    to_us: int = END_OF_TIME_US
    day: str | None = None

    def __str__(self) -> str:
        told = []
        if self.rounds is not None:
            told.append("rounds {}-{}".format(*self.rounds))
        if self.day is not None:
            told.append(f"day {self.day}")
        if self.from_us > 0:
            told.append(f"from {self.from_us}")
        if self.to_us < END_OF_TIME_US:
            told.append(f"to {self.to_us}")
        return ", ".join(told) or "all"

    def has_time(self, at_us: int) -> bool:
        """Return whether the time is in it; the end is not."""
        return self.from_us <= at_us < self.to_us

    def has_round(self, round_no: int) -> bool:
        """Return whether the number is in it."""
        return self.rounds is None or self.rounds[0] <= round_no <= self.rounds[1]


class Selected(NamedTuple):
    """A step of a selection, and the journal that it is in."""

    path: Path
    step: Step


def journals_of(where: Path) -> tuple[Path, ...]:
    """Return the journals of a folder, or the one that is named. Raises StationError when there is none."""
    paths = Days(where).paths() if where.is_dir() else (where,)
    if not paths or not paths[0].is_file():
        raise StationError(f"{where}: no journal there; give a table's TOML, its folder, or a .journal file")
    return paths


def selected(paths: Sequence[Path], selection: Selection) -> Iterator[Selected]:
    """Yield the steps of a selection in order, those of a round only when it has ended.

    What happens between rounds goes by its own time; by number, it goes with the round before.
    Raises JournalError.
    """
    for path in paths:
        if selection.day is not None and path.stem != selection.day:
            continue
        # Before the first round of a file, by number: nothing.
        in_round, wanted = False, selection.rounds is None
        with Reader.open(path) as reader:
            for step in UntilOpenRound(reader.steps(), lambda step: b",".join(step.events)):
                opened = round_opened(step)
                if opened is not None:
                    in_round = True
                    wanted = selection.has_round(opened.round_no) and selection.has_time(step.at_us)
                elif not in_round and selection.rounds is None:
                    wanted = selection.has_time(step.at_us)
                if wanted:
                    yield Selected(path, step)
                in_round = in_round and step.carried is None


def round_opened(step: Step) -> RoundOpened | None:
    """Return the event with which a step opens a round."""
    for event in step.events:
        if ROUND_OPENED in event:
            return _OPENED.decode(event)
    return None


def parse_rounds(text: str) -> tuple[int, int]:
    """Read `12` or `12-40`. Raises ValueError."""
    first, _, last = text.partition("-")
    rounds = int(first), int(last or first)
    if not 1 <= rounds[0] <= rounds[1]:
        raise ValueError(f"expected a round such as 12, or a range such as 12-40, got {text!r}")
    return rounds


def parse_day(text: str) -> str:
    """Read a gaming day, `2026-11-30`. Raises ValueError."""
    return date.fromisoformat(text).isoformat()


def parse_time(text: str) -> int:
    """Read an ISO 8601 time, UTC where it names no zone, as microseconds since 1970. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


_OPENED = msgspec.json.Decoder(RoundOpened)
