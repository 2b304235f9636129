"""Verify: does a journal file say what was written into it?

Everything is recomputed from the first record on. After a difference the recorded value is taken over,
so one change is reported once where it stands, not on every later row.

What no file can show by itself is that its end was cut off: whoever has the heads it should end with
(the first record of the next day's file, a note of the last `alive`) passes them as `ends`.

A signature is checked against the public keys that are given; without any only against the key that it names
itself, which shows a changed file but not a file that somebody has signed anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

import apsw
import msgspec

from controller.journal.errors import JournalError
from controller.journal.files import audiences_of, connect_read_only, fetch, has_signatures
from controller.journal.records import (
    ZERO_HASH,
    AudienceHead,
    Body,
    Heads,
    chain_after,
    decode_body,
    decode_heads,
    decode_link,
    text_hash,
)
from controller.journal.signing import JOURNAL, Head, decode_signatures, holds, read_head

BATCH_STEPS = 64
ROUND_CLOSED = b'"event":"round.closed"'

Progress = Callable[[int, int], None]
"""Gets the step just verified and the last step of the file."""


class Flaw(StrEnum):
    """What can be wrong with a journal."""

    UNREADABLE = "UNREADABLE"
    """SQLite can't read the file, or a row doesn't decode."""
    FIRST_RECORD = "FIRST_RECORD"
    STEP = "STEP"
    """Step numbers have a gap."""
    TIME = "TIME"
    """`at_us` doesn't rise."""
    CHAIN = "CHAIN"
    COLUMN = "COLUMN"
    """A column contradicts the body."""
    SEQ = "SEQ"
    """An audience's numbers have a gap."""
    PREVHASH = "PREVHASH"
    EPOCH = "EPOCH"
    """The epoch falls."""
    CARRIED = "CARRIED"
    DOCUMENT = "DOCUMENT"
    SIGNATURE = "SIGNATURE"
    """A closed round is not signed, or what is signed is not what the file says."""
    END = "END"
    """The file doesn't end where it should."""


class Finding(msgspec.Struct, frozen=True):
    """One difference. `n` is the step, None where it concerns no single one; `where` names a column,
    an audience and `seq`, or a document."""

    flaw: Flaw
    n: int | None
    where: str
    expected: str
    got: str

    def __str__(self) -> str:
        step = "" if self.n is None else f" step {self.n}"
        return f"{self.flaw}{step} {self.where}: expected {self.expected}, got {self.got}"


def verify(
    path: Path,
    *,
    ends: Heads | None = None,
    public_keys: frozenset[str] = frozenset(),
    progress: Progress | None = None,
) -> Iterator[Finding]:
    """Yield every difference in the file, the first one first; none means it is whole.

    With `public_keys` (hex) every closed round must be signed by one of them; without any those after the
    first that is signed.

    A live file is verified up to the step that was last when this began. Raises JournalError only
    when there is no such file.
    """
    try:
        connection = connect_read_only(path)
    except JournalError as error:
        if not path.exists():
            raise
        yield Finding(Flaw.UNREADABLE, None, str(path), "a journal", str(error))
        return
    try:
        connection.execute("BEGIN")
        yield from _Verification(connection, path.name, ends, public_keys).findings(progress)
    except (apsw.Error, msgspec.MsgspecError, ValueError) as error:
        yield Finding(Flaw.UNREADABLE, None, str(path), "a readable file", str(error))
    finally:
        connection.close()


class _Verification:
    """One pass over one file; its fields are what the rows so far lead to."""

    def __init__(
        self, connection: apsw.Connection, file: str, ends: Heads | None, public_keys: frozenset[str]
    ) -> None:
        self._connection = connection
        self._file = file
        self._ends = ends
        self._public_keys = public_keys
        self._signed: set[int] = set()
        self._columns = audiences_of(connection)
        self._n = 0
        self._chain = ""
        self._at_us = 0
        self._epoch = 0
        self._audiences: dict[str, AudienceHead] = {}
        self._carried: set[int] = set()
        self._documents: set[str] = set()

    def findings(self, progress: Progress | None) -> Iterator[Finding]:
        ((total,),) = self._fetch("SELECT max(n) FROM steps")
        rows = self._rows()
        first = next(rows, None)
        if first is None or first[0] != 0:
            got = "no row" if first is None else f"row {first[0]}"
            yield Finding(Flaw.FIRST_RECORD, None, "steps", "row 0", got)
            return
        yield from self._first_record(first)
        if has_signatures(self._connection):
            self._signed = {n for (n,) in self._fetch("SELECT n FROM signatures")}
        must_sign_from = 0 if self._public_keys else min(self._signed, default=total + 1)
        for row in rows:
            yield from self._step(row)
            yield from self._signatures(row[-1], must_sign_from)
            if progress is not None:
                progress(self._n, total)
        yield from self._left_over()
        yield from self._end()

    def _fetch(self, select: str, *values: int | str) -> list[Any]:
        return fetch(self._connection, select, *values)

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        firsts = "".join(f"first_{audience}, " for audience in self._columns)
        select = f"SELECT n, at_us, {firsts}chain, body FROM steps WHERE n > ? ORDER BY n LIMIT {BATCH_STEPS}"
        after = -(1 << 62)
        while rows := self._fetch(select, after):
            yield from rows
            after = rows[-1][0]

    def _first_record(self, row: tuple[Any, ...]) -> Iterator[Finding]:
        n, at_us, *firsts, chain, content = row
        opening = decode_heads(content)
        self._n, self._at_us, self._epoch = n, opening.at_us, opening.epoch
        self._audiences = dict(opening.audiences)
        yield from _differs(Flaw.FIRST_RECORD, n, "audiences", tuple(opening.audiences), self._columns)
        yield from _differs(Flaw.COLUMN, n, "at_us", opening.at_us, at_us)
        yield from self._first_columns(n, firsts)
        yield from _differs(Flaw.CHAIN, n, "chain", chain_after(opening.chain, content), chain)
        self._chain = chain

    def _step(self, row: tuple[Any, ...]) -> Iterator[Finding]:
        n, at_us, *firsts, chain, content = row
        yield from _differs(Flaw.STEP, n, "n", self._n + 1, n)
        yield from _differs(Flaw.CHAIN, n, "chain", chain_after(self._chain, content), chain)
        self._n, self._chain = n, chain
        yield from self._first_columns(n, firsts)
        try:
            body = decode_body(content)
            yield from _differs(Flaw.COLUMN, n, "n", body.n, n)
            yield from _differs(Flaw.COLUMN, n, "at_us", body.at_us, at_us)
            yield from self._time(body)
            yield from self._messages(n, body)
            yield from self._kept(n, body)
        except msgspec.MsgspecError as error:
            yield Finding(Flaw.UNREADABLE, n, "body", "a step", str(error))

    def _time(self, body: Body) -> Iterator[Finding]:
        if body.at_us <= self._at_us:
            yield Finding(Flaw.TIME, body.n, "at_us", f"above {self._at_us}", str(body.at_us))
        self._at_us = body.at_us

    def _first_columns(self, n: int, firsts: list[int]) -> Iterator[Finding]:
        for audience, first in zip(self._columns, firsts, strict=True):
            head = self._audiences.get(audience, AudienceHead(0, ""))
            yield from _differs(Flaw.COLUMN, n, f"first_{audience}", head.seq + 1, first)

    def _messages(self, n: int, body: Body) -> Iterator[Finding]:
        for audience, sent in body.messages.items():
            for message in map(bytes, sent):
                link, head = decode_link(message), self._audiences.get(audience, AudienceHead(0, ZERO_HASH))
                where = f"{audience}/{link.seq}"
                yield from _differs(Flaw.SEQ, n, where, head.seq + 1, link.seq)
                yield from _differs(Flaw.PREVHASH, n, where, head.hash, link.prevhash)
                if link.epoch < self._epoch:
                    yield Finding(Flaw.EPOCH, n, where, f"at least {self._epoch}", str(link.epoch))
                self._epoch = link.epoch
                self._audiences[audience] = AudienceHead(link.seq, text_hash(message))

    def _signatures(self, content: bytes, must_sign_from: int) -> Iterator[Finding]:
        """What was signed of the step that was just verified."""
        n = self._n
        if n not in self._signed:
            if n >= must_sign_from and ROUND_CLOSED in content:
                yield Finding(Flaw.SIGNATURE, n, "signatures", "those of a closed round", "none")
            return
        self._signed.discard(n)
        ((kept,),) = self._fetch("SELECT body FROM signatures WHERE n = ?", n)
        try:
            signatures, body = decode_signatures(kept), decode_body(content)
            heads = [(signed, read_head(signed.text)) for signed in signatures.heads]
            key = signatures.public_key
            if self._public_keys and key not in self._public_keys:
                yield Finding(Flaw.SIGNATURE, n, "public key", " or ".join(sorted(self._public_keys)), key)
            streams = sorted(head.stream for _, head in heads)
            yield from _differs(Flaw.SIGNATURE, n, "streams", sorted((*self._columns, JOURNAL)), streams)
            for signed, head in heads:
                if not holds(key, signed):
                    yield Finding(Flaw.SIGNATURE, n, head.stream, f"a signature of {key}", "none of that key")
                yield from self._head(body, head)
        except (msgspec.MsgspecError, ValueError) as error:
            yield Finding(Flaw.SIGNATURE, n, "signatures", "signed heads", str(error))

    def _head(self, body: Body, head: Head) -> Iterator[Finding]:
        """What a head says against what the file says."""
        n = body.n
        got = {f"{self._file}:{n}": self._chain} if head.stream == JOURNAL else {}
        for message in map(bytes, body.messages.get(head.stream, ())):
            got[str(decode_link(message).seq)] = text_hash(message)
        yield from _differs(Flaw.SIGNATURE, n, f"{head.stream} {head.where}", head.hash, got.get(head.where))
        yield from _differs(Flaw.SIGNATURE, n, f"{head.stream} time", head.at_us, body.at_us)

    def _kept(self, n: int, body: Body) -> Iterator[Finding]:
        """The carried record and the documents that came with a step."""
        if body.carried is not None:
            self._carried.add(n)
            kept = self._fetch("SELECT body FROM carried WHERE n = ?", n)
            got = text_hash(kept[0][0]) if kept else "no record"
            yield from _differs(Flaw.CARRIED, n, "carried", body.carried, got)
        for document_hash in body.documents:
            self._documents.add(document_hash)
            kept = self._fetch("SELECT text FROM documents WHERE hash = ?", document_hash)
            got = text_hash(kept[0][0].encode()) if kept else "no document"
            yield from _differs(Flaw.DOCUMENT, n, f"document {document_hash[:16]}...", document_hash, got)

    def _left_over(self) -> Iterator[Finding]:
        """Rows beside the steps that no step brought."""
        for (n,) in self._fetch("SELECT n FROM carried ORDER BY n"):
            if n not in self._carried:
                yield Finding(Flaw.CARRIED, n, "carried", "no record", "a record")
        for n in sorted(self._signed):
            yield Finding(Flaw.SIGNATURE, n, "signatures", "a step that closes a round", "none")
        for (document_hash,) in self._fetch("SELECT hash FROM documents ORDER BY hash"):
            if document_hash not in self._documents:
                yield Finding(
                    Flaw.DOCUMENT, None, f"document {str(document_hash)[:16]}...", "none", "a document"
                )

    def _end(self) -> Iterator[Finding]:
        if self._ends is None:
            return
        yield from _differs(Flaw.END, self._n, "chain", self._ends.chain, self._chain)
        yield from _differs(Flaw.END, self._n, "at_us", self._ends.at_us, self._at_us)
        got: Mapping[str, AudienceHead] = self._audiences
        for audience, head in self._ends.audiences.items():
            yield from _differs(Flaw.END, self._n, audience, head, got.get(audience))


def _differs(flaw: Flaw, n: int, where: str, expected: object, got: object) -> Iterator[Finding]:
    if expected != got:
        yield Finding(flaw, n, where, str(expected), str(got))
