"""The journal as the replay server reads it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from controller.bus.snapshot import Snapshot
from controller.journal import Days, Journal, Reader
from controller.table.events import AUDIENCES, Audience


class JournalOutbox:
    """The journal as the replay server reads it: today's file, and the files of days before."""

    def __init__(self, folder: Path, journal: Callable[[], Journal]) -> None:
        """`journal` gives the file that is being written now."""
        self._folder = folder
        self._journal = journal

    def messages(self, audience: Audience, first_seq: int, limit: int) -> list[tuple[int, bytes]]:
        """Return at most `limit` messages from `first_seq` on."""
        reader = self._journal().reader
        if first_seq >= reader.first_seq(audience):
            return reader.messages(audience, first_seq, limit)
        with suppress(KeyError):
            return Days(self._folder).messages(audience, first_seq, limit)
        return []

    def first_seq(self, audience: Audience) -> int:
        """Return the number of the oldest message kept."""
        oldest = Days(self._folder).paths()[0]
        if oldest == self._journal().reader.path:
            return self._journal().reader.first_seq(audience)
        with Reader.open(oldest) as reader:
            return reader.first_seq(audience)

    def starts(self, table: str) -> dict[Audience, Snapshot]:
        """Return for each audience where the oldest day begins; nothing is known of what came before."""
        oldest, reader = Days(self._folder).paths()[0], self._journal().reader
        if oldest == reader.path:
            heads = reader.opening.audiences
        else:
            with Reader.open(oldest) as reader:
                heads = reader.opening.audiences
        return {
            audience: Snapshot(
                table=table, audience=audience, seq=heads[audience.value].seq, hash=heads[audience.value].hash
            )
            for audience in AUDIENCES
        }

    def last_seq(self, audience: Audience) -> int:
        """Return the number of the last durable message."""
        return self._journal().heads().audiences[audience].seq
