"""Reading a journal, also while it is written: steps, carried records, documents, messages by number.

No read outlives its call, so a reader never keeps the writer's log from starting over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import msgspec

from controller.journal.errors import JournalDamaged
from controller.journal.files import (
    audiences_of,
    check_kind,
    connect_read_only,
    fetch,
    has_signatures,
)
from controller.journal.records import (
    AudienceHead,
    Heads,
    Step,
    decode_body,
    decode_heads,
    decode_link,
    decode_outbox,
    text_hash,
)
from controller.journal.signing import Signatures, decode_signatures

BATCH_STEPS = 64


class Reader:
    """One journal file, for reading. Not for two threads at once: give each its own."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        """Read through `connection`. Raises JournalDamaged if the file is no journal or never begun."""
        self.path = path
        self._connection = connection
        check_kind(connection, path)
        self.audiences = audiences_of(connection)
        firsts = "".join(f"first_{audience}, " for audience in self.audiences)
        self._select = f"SELECT n, at_us, {firsts}chain, body FROM steps"
        rows = self._fetch("SELECT body FROM steps WHERE n = 0")
        if not rows:
            raise JournalDamaged(f"{path}: the first record is missing; verify says what else is wrong")
        with self._whole(0):
            self.opening: Heads = decode_heads(rows[0][0])
        """The heads of the file before this one."""

    @classmethod
    def open(cls, path: Path) -> Reader:
        """Open the file read-only. Raises JournalError if it is not there, JournalDamaged if no journal."""
        return cls(connect_read_only(path), path)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def last_n(self) -> int:
        """The number of the last step; 0 when there is only the first record."""
        return int(self._fetch("SELECT max(n) FROM steps")[0][0])

    def steps(self, after: int = 0) -> Iterator[Step]:
        """Yield the steps numbered above `after`, up to the last there is when that is reached."""
        assert after >= 0, after
        while rows := self._fetch(f"{self._select} WHERE n > ? ORDER BY n LIMIT ?", after, BATCH_STEPS):
            for row in rows:
                yield self._step(row)
            after = rows[-1][0]

    def step(self, n: int) -> Step:
        """Return step `n`, from 1. Raises KeyError if there is none."""
        rows = self._fetch(f"{self._select} WHERE n = ?", n) if n > 0 else []
        if not rows:
            raise KeyError(n)
        return self._step(rows[0])

    def last_carried(self, before: int | None = None) -> tuple[int, bytes] | None:
        """Return step number and body of the last carried record, or the last before step `before`."""
        last = "SELECT n, body FROM carried WHERE n < ? ORDER BY n DESC LIMIT 1"
        rows = self._fetch(last, 1 << 62 if before is None else before)
        return (rows[0][0], rows[0][1]) if rows else None

    def carried_steps(self) -> list[int]:
        """Return the numbers of the steps that have a carried record, in order."""
        return [n for (n,) in self._fetch("SELECT n FROM carried ORDER BY n")]

    def document(self, document_hash: str) -> str:
        """Return the text of a document by its SHA-256. Raises KeyError if the file has it not."""
        rows = self._fetch("SELECT text FROM documents WHERE hash = ?", document_hash)
        if not rows:
            raise KeyError(document_hash)
        return str(rows[0][0])

    def documents(self) -> Mapping[str, str]:
        """Return all documents, text by SHA-256."""
        return dict(self._fetch("SELECT hash, text FROM documents ORDER BY hash"))

    def signatures(self) -> Iterator[tuple[int, Signatures]]:
        """Yield what was signed when rounds closed, as (step, signatures), in order."""
        if not has_signatures(self._connection):
            return
        for n, body in self._fetch("SELECT n, body FROM signatures ORDER BY n"):
            with self._whole(n):
                signatures = decode_signatures(body)
            yield n, signatures

    def first_seq(self, audience: str) -> int:
        """Return the lowest `seq` this file can hold; lower ones are in the files of days before."""
        return self.opening.audiences[audience].seq + 1

    def messages(self, audience: str, first_seq: int, limit: int) -> list[tuple[int, bytes]]:
        """Return up to `limit` messages from `first_seq` on, as (seq, exact bytes), in order.

        Empty when the audience has no such message yet. `first_seq` must not lie before the file's own.
        """
        assert first_seq >= self.first_seq(audience), f"{audience}/{first_seq} is in an earlier file"
        assert limit > 0, limit
        found: list[tuple[int, bytes]] = []
        after = self._step_of(audience, first_seq) - 1
        select = f"SELECT n, first_{audience}, body FROM steps WHERE n > ? ORDER BY n LIMIT ?"
        while len(found) < limit and (rows := self._fetch(select, after, min(limit, BATCH_STEPS))):
            for n, first, body in rows:
                with self._whole(n):
                    sent = decode_outbox(body).messages.get(audience, ())
                found += [(seq, bytes(raw)) for seq, raw in enumerate(sent, first) if seq >= first_seq]
            after = rows[-1][0]
        return found[:limit]

    def heads(self) -> Heads:
        """Return where the file ends now: what the next day's file is opened with."""
        n = self.last_n
        if n == 0:
            ((chain,),) = self._fetch("SELECT chain FROM steps WHERE n = 0")
            return Heads(chain, self.opening.epoch, self.opening.at_us, self.opening.audiences)
        step = self.step(n)
        audiences, epoch = {}, self.opening.epoch
        for audience in self.audiences:
            seq = step.first_seq[audience] + len(step.messages.get(audience, ())) - 1
            if seq < self.first_seq(audience):
                audiences[audience] = self.opening.audiences[audience]
                continue
            ((_, message),) = self.messages(audience, seq, 1)
            audiences[audience] = AudienceHead(seq, text_hash(message))
            epoch = max(epoch, decode_link(message).epoch)
        return Heads(step.chain, epoch, step.at_us, audiences)

    def _step_of(self, audience: str, seq: int) -> int:
        """Find the last step whose first `seq` is not above `seq`; it never falls from step to step."""
        assert audience in self.audiences, audience
        first_of = f"SELECT first_{audience} FROM steps WHERE n = ?"
        low, high = 0, self.last_n
        while low < high:
            middle = (low + high + 1) // 2
            if self._fetch(first_of, middle)[0][0] <= seq:
                low = middle
            else:
                high = middle - 1
        return max(low, 1)

    def _fetch(self, select: str, *values: int | str) -> list[Any]:
        try:
            return fetch(self._connection, select, *values)
        except (apsw.CorruptError, apsw.NotADBError, apsw.IOError) as error:
            raise JournalDamaged(f"{self.path}: can't be read: {error}; verify it") from error

    @contextmanager
    def _whole(self, n: int) -> Iterator[None]:
        try:
            yield
        except msgspec.MsgspecError as error:
            raise JournalDamaged(f"{self.path}: row {n} can't be read: {error}; verify it") from error

    def _step(self, row: tuple[Any, ...]) -> Step:
        n, at_us, *firsts, chain, content = row
        with self._whole(n):
            body = decode_body(content)
        return Step(
            n=n,
            at_us=at_us,
            input=bytes(body.input),
            events=tuple(bytes(event) for event in body.events),
            messages={audience: tuple(map(bytes, sent)) for audience, sent in body.messages.items()},
            first_seq=dict(zip(self.audiences, firsts, strict=True)),
            chain=chain,
            carried=body.carried,
            documents=body.documents,
        )
