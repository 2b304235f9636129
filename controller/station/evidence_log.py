"""What has been done with a table's evidence: keys begun, exports made, days removed. Never rewritten.

One chained line an entry, in `evidence.jsonl` beside the journals: not in a journal, which has one writer,
the daemon, while exports are made by other processes. An entry is durable before what it tells of is done.
"""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import msgspec

from controller.journal import Heads
from controller.journal.chained_lines import ChainedLines, LinesDamaged
from controller.station.errors import StartRefused

NAME = "evidence.jsonl"


class EvidenceDamaged(StartRefused):
    """The log of evidence is not what was written."""


class Entry(msgspec.Struct, frozen=True, kw_only=True, tag_field="entry", omit_defaults=True):
    """Base of all entries."""

    at_us: int


class KeyBegun(Entry, frozen=True, kw_only=True, tag="key"):
    """From here on the table signs with another key. `by` is None for the first, which a start draws."""

    public_key: str
    by: str | None = None
    reason: str | None = None


class Exported(Entry, frozen=True, kw_only=True, tag="export"):
    """Somebody took evidence out: `by` is the name given, `login` the account at the machine.

    `files` is name to SHA-256; `audience` whose eyes it is for.
    """

    by: str
    login: str
    audience: str
    form: str
    range: str
    rounds: int
    files: dict[str, str]


class DayRemoved(Entry, frozen=True, kw_only=True, tag="removed"):
    """A gaming day is beyond retention. `ends` is where its journal ended: where what is kept begins."""

    file: str
    sha256: str
    retention_days: int
    rounds: int
    ends: Heads


AnyEntry: TypeAlias = KeyBegun | Exported | DayRemoved


class EvidenceLog:
    """The log of one table."""

    def __init__(self, folder: Path) -> None:
        """`folder` is the one of the table's journals."""
        self.path = folder / NAME
        self._lines: ChainedLines[AnyEntry] = ChainedLines(self.path, AnyEntry, "evidence")

    def read(self) -> tuple[AnyEntry, ...]:
        """Return all entries, oldest first. Raises EvidenceDamaged."""
        try:
            return self._lines.read()
        except (LinesDamaged, OSError) as error:
            raise self._damaged(error) from None

    def add(self, entry: AnyEntry) -> None:
        """Append an entry, durably. Raises EvidenceDamaged."""
        try:
            self._lines.append(entry)
        except (LinesDamaged, OSError) as error:
            raise self._damaged(error) from None

    def public_key(self) -> str | None:
        """Return the key that the table signs with; None before the first."""
        keys = [entry.public_key for entry in self.read() if isinstance(entry, KeyBegun)]
        return keys[-1] if keys else None

    def _damaged(self, error: Exception) -> EvidenceDamaged:
        return EvidenceDamaged(f"{error}; keep {self.path} aside as evidence, then a new log is begun")
