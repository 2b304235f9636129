"""Old rounds out of the journals: what a correction is worked out from (row 36).

Rounds are numbered, never cross the file of a day, and each ends with a carried record that says its number:
so one is found by a few look-ups, however many days are kept.
"""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from controller.journal import Days, Journal, JournalError, Reader
from controller.table.events import AnyEvent, RoundOpened
from controller.table.inputs import AnyCommand, ApproveCorrection, ProposeCorrection
from controller.table.past_rounds import PastRound, past_round

log = logging.getLogger("station")


class _Table(msgspec.Struct):
    round_no: int


class _Record(msgspec.Struct):
    """As much of a carried record as says which round it ends."""

    table: _Table


class PastRounds:
    """The rounds of one table that its journals still hold."""

    def __init__(self, table: str, folder: Path, journal: Callable[[], Journal]) -> None:
        """`journal` gives the file that is being written now."""
        self._table = table
        self._folder = folder
        self._journal = journal

    def of(self, command: AnyCommand) -> PastRound | None:
        """Return the round that a command is about; None for any other command, and if there is none."""
        if not isinstance(command, ProposeCorrection | ApproveCorrection):
            return None
        return self.find(command.roundid)

    def find(self, roundid: str) -> PastRound | None:
        """Return a round that has ended; None if it has not, or no journal has it (any more)."""
        table, _, digits = roundid.rpartition("-")
        if table != self._table or not digits.isdecimal() or str(int(digits)) != digits:
            return None
        current = self._journal().reader
        events = round_in(current, int(digits))
        if events is None:
            earlier = [path for path in Days(self._folder).paths() if path.name < current.path.name]
            events = round_in_files(earlier, int(digits))
        return past_round(roundid, events) if events else None


def round_in_files(paths: Sequence[Path], number: int) -> list[AnyEvent] | None:
    """Return the events of a round out of the files of several days, oldest first; None if they lack it."""
    for path in reversed(paths):
        events = _round_in_file(path, number)
        if events is not None:
            return events
    return None


def _round_in_file(path: Path, number: int) -> list[AnyEvent] | None:
    try:
        with Reader.open(path) as reader:
            return round_in(reader, number)
    except JournalError as error:
        # A damaged file of another day is no reason to stop a table that plays.
        log.warning("a journal can't be searched", extra={"facts": {"file": path.name, "why": str(error)}})
        return None


def round_in(reader: Reader, number: int) -> list[AnyEvent] | None:
    """Return the events of a round from its opening to its end, empty if it has not been played yet.

    None if an earlier file may have it.
    """
    ends = reader.carried_steps()
    index = bisect_left(ends, number, key=lambda n: _ended_round(reader, n))
    after = ends[index - 1] if index else 0
    until = ends[index] if index < len(ends) else reader.last_n
    events = list(_events(reader, number, after=after, until=until))
    return None if index == 0 and not events else events


def _ended_round(reader: Reader, n: int) -> int:
    found = reader.last_carried(n + 1)
    assert found is not None and found[0] == n, f"carried record of step {n}"
    return msgspec.json.decode(found[1], type=_Record).table.round_no


def _events(reader: Reader, number: int, *, after: int, until: int) -> Iterator[AnyEvent]:
    is_in_it = False
    for step in reader.steps(after):
        if step.n > until:
            return
        for event in map(_EVENT.decode, step.events):
            is_in_it = is_in_it or (isinstance(event, RoundOpened) and event.round_no == number)
            if is_in_it:
                yield event


_EVENT: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)
