"""The journals of one table, day after day, read as one.

A folder holds one file a gaming day, `2026-11-30.journal`; the names sort as the days follow. Numbers
and chains run on from file to file: the first record of each holds the heads of the one before.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from itertools import zip_longest
from pathlib import Path

from controller.journal.errors import JournalDamaged
from controller.journal.reader import Reader
from controller.journal.records import Heads
from controller.journal.verify import Finding, Progress, verify

SUFFIX = ".journal"


class Days:
    """One table's folder of journals. Holds nothing open."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, day: date) -> Path:
        """Return where the journal of a gaming day is, or would be."""
        return self.folder / f"{day.isoformat()}{SUFFIX}"

    def paths(self) -> tuple[Path, ...]:
        """Return the files there are, oldest first."""
        return tuple(sorted(self.folder.glob(f"????-??-??{SUFFIX}")))

    def messages(self, audience: str, first_seq: int, limit: int) -> list[tuple[int, bytes]]:
        """Return up to `limit` messages from `first_seq` on, across days, as (seq, exact bytes).

        Raises KeyError when the first of them is older than what is kept, JournalDamaged when a day
        between is missing.
        """
        found: list[tuple[int, bytes]] = []
        for path in self._since(audience, first_seq):
            with Reader.open(path) as reader:
                seq = first_seq + len(found)
                if reader.first_seq(audience) > seq:
                    raise JournalDamaged(
                        f"{path}: begins at {audience}/{reader.first_seq(audience)}, expected {seq} or less: "
                        "a day's file is missing before it; put it back"
                    )
                found += reader.messages(audience, seq, limit - len(found))
            if len(found) == limit:
                break
        return found

    def verify(self, progress: Progress | None = None) -> Iterator[tuple[Path, Finding]]:
        """Verify every file, and that each ends where the next one begins.

        Where the newest one should end, no file says.
        """
        paths = self.paths()
        for path, following in zip_longest(paths, paths[1:]):
            ends = None if following is None else _opening(following)
            for finding in verify(path, ends=ends, progress=progress):
                yield path, finding

    def _since(self, audience: str, first_seq: int) -> list[Path]:
        """The file that holds a message, looked for from the newest on, and all after it."""
        since: list[Path] = []
        for path in reversed(self.paths()):
            since.insert(0, path)
            with Reader.open(path) as reader:
                if reader.first_seq(audience) <= first_seq:
                    return since
        raise KeyError(f"{audience}/{first_seq}")


def _opening(path: Path) -> Heads | None:
    """Where the file before this one must end; None where this one is damaged, which its turn will say."""
    try:
        with Reader.open(path) as reader:
            return reader.opening
    except JournalDamaged:
        return None
