"""The writer's side of the journal: one step, one row, one transaction; durable when `append` returns.

Nothing of a step leaves the process before. A failed write is final (architecture, "One card"): the
journal refuses everything after it, and what the disk holds is found out by the next start. A step
whose append failed may then be there or not; either is right, as nobody has heard of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import apsw
import msgspec

from controller.journal.errors import JournalDamaged, JournalError, JournalFailed
from controller.journal.files import (
    Connect,
    WriterLock,
    connect,
    create_private,
    create_signatures,
    create_tables,
    is_blank,
    prepare,
    sync_folder,
)
from controller.journal.reader import Reader
from controller.journal.records import (
    BODY_BYTES_MAX,
    MESSAGE_BYTES_MAX,
    AudienceHead,
    Body,
    Heads,
    chain_after,
    decode_events,
    decode_link,
    encode,
    exact,
    text_hash,
)
from controller.journal.signing import Point, Sign

Messages = Mapping[str, Sequence[bytes]]


class Journal:
    """One table's journal of one gaming day, open for writing."""

    def __init__(self, connection: apsw.Connection, path: Path, lock: WriterLock) -> None:
        """Go on at the end of a file that has its first record; `open` is the way here."""
        self.path = path
        self._connection = connection
        self._lock = lock
        self._failure: str | None = None
        self._file = _identity(path)
        self.reader = Reader(connection, path)
        """Reads this file on the writer's own connection, between two appends."""
        heads = self.reader.heads()
        self._n = self.reader.last_n
        self._chain, self._epoch, self._at_us = heads.chain, heads.epoch, heads.at_us
        self._audiences = dict(heads.audiences)
        self._documents = set(self.reader.documents())
        self._documents_new: dict[str, str] = {}
        places = ", ".join("?" * (len(self._audiences) + 4))
        self._insert = f"INSERT INTO steps VALUES ({places})"

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        audiences: tuple[str, ...],
        heads: Heads | None = None,
        connect: Connect = connect,
    ) -> Journal:
        """Open or begin the file at `path`; its folder exists.

        `heads` are those at which the file before ended; None begins a table's very first file, or
        goes on with one that is there. Raises JournalInUse when another process writes the file,
        JournalDamaged when the file is no journal or has other audiences or another beginning, and
        JournalError when folder or disk don't let it be written.
        """
        assert heads is None or tuple(heads.audiences) == audiences, (heads, audiences)
        with ExitStack() as undo, _opening(path):
            lock = WriterLock(path)
            undo.callback(lock.release)
            create_private(path)
            connection = connect(path)
            undo.callback(connection.close)
            prepare(connection)
            if is_blank(connection):
                _begin(connection, heads or Heads.of_nothing(audiences))
                sync_folder(path.parent)
            else:
                create_signatures(connection)
            journal = cls(connection, path, lock)
            _check_same(journal.reader, audiences, heads)
            undo.pop_all()
        return journal

    def append(
        self,
        *,
        at_us: int,
        input: bytes,
        events: bytes,
        messages: Messages,
        carried: bytes | None = None,
        sign: Sign | None = None,
    ) -> int:
        """Write one step; it is durable on return. Returns its number, from 1, gapless.

        `input` is one JSON value, `events` a JSON array, `messages` the finished messages of each
        audience in order; `carried` is the record of the round boundary, if the step is one; `sign`
        signs where the journal stands then, if a round closes. Raises JournalFailed if the step is not
        known to be durable; then, and for ever after, stop.
        """
        assert at_us > self._at_us, f"step at {at_us} us after one at {self._at_us} us"
        heads, epoch = self._follow(messages)
        body = encode(
            Body(
                n=self._n + 1,
                at_us=at_us,
                input=exact(input),
                events=decode_events(events),
                messages={name: tuple(map(msgspec.Raw, sent)) for name, sent in messages.items() if sent},
                carried=None if carried is None else text_hash(carried),
                documents=tuple(self._documents_new),
            )
        )
        assert len(body) <= BODY_BYTES_MAX, f"a step of {len(body)} bytes"
        chain = chain_after(self._chain, body)
        firsts = [head.seq + 1 for head in self._audiences.values()]
        signatures = None if sign is None else sign(Point(self.path.name, self._n + 1, at_us, chain))
        with self._final(f"step {self._n + 1}"):
            self._write((self._n + 1, at_us, *firsts, chain, body), carried, signatures)
        self._n, self._at_us, self._chain, self._epoch = self._n + 1, at_us, chain, epoch
        self._audiences.update(heads)
        return self._n

    def add_document(self, text: str) -> str:
        """Keep a config document; it becomes durable with the next step. Returns its SHA-256."""
        document_hash = text_hash(text.encode())
        if document_hash not in self._documents:
            self._documents_new[document_hash] = text
        return document_hash

    def checkpoint(self) -> bool:
        """Copy the log into the file: 2-5 ms, so at a round's end. Raises JournalFailed.

        False when a reader held a part of it back; the next one takes it along.
        """
        with self._final("checkpoint"):
            try:
                in_log, copied = self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            except apsw.BusyError:
                return False
        return in_log == copied

    def check_place(self) -> None:
        """Make sure that the file is still where others look for it.

        Raises JournalFailed when it was deleted or another one lies in its place: what is written now
        would be lost, and a second process could take the table.
        """
        if _identity(self.path) != self._file:
            self._failure = f"{self.path}: the file was deleted or replaced while it was written"
            raise JournalFailed(f"{self._failure}; stop whoever did it, put it back, start again")

    @property
    def last_n(self) -> int:
        """The number of the last step; 0 before the first."""
        return self._n

    def heads(self) -> Heads:
        """Return where the file ends now: what the next day's file is opened with."""
        return Heads(self._chain, self._epoch, self._at_us, dict(self._audiences))

    def close(self) -> None:
        """Close the file, in one piece if nothing failed. A second close does nothing."""
        if self._failure == "closed":
            return
        try:
            if self._failure is None:
                self.checkpoint()
                self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
        finally:
            self._failure = "closed"
            self._connection.close()
            self._lock.release()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _follow(self, messages: Messages) -> tuple[dict[str, AudienceHead], int]:
        """Check that every message follows its audience's last one; return the heads after them.

        A message is a JSON object from its first byte to its last: it comes back identical.
        """
        heads: dict[str, AudienceHead] = {}
        epoch = self._epoch
        for audience, sent in messages.items():
            head = self._audiences[audience]
            for message in sent:
                assert len(message) <= MESSAGE_BYTES_MAX, f"{audience}: a message of {len(message)} bytes"
                assert message[:1] == b"{" and message[-1:] == b"}", f"{audience}: blanks around a message"
                link = decode_link(message)
                assert link.seq == head.seq + 1, f"{audience}: seq {link.seq} after {head.seq}"
                assert link.prevhash == head.hash, f"{audience}/{link.seq}: prevhash of another message"
                assert link.epoch >= epoch, f"{audience}/{link.seq}: epoch {link.epoch} after {epoch}"
                head, epoch = AudienceHead(link.seq, text_hash(message)), link.epoch
            heads[audience] = head
        return heads, epoch

    def _write(
        self, row: tuple[int | str | bytes, ...], carried: bytes | None, signatures: bytes | None
    ) -> None:
        execute = self._connection.execute
        execute("BEGIN IMMEDIATE")
        execute(self._insert, row)
        if carried is not None:
            execute("INSERT INTO carried VALUES (?, ?)", (row[0], carried))
        if signatures is not None:
            execute("INSERT INTO signatures VALUES (?, ?)", (row[0], signatures))
        for document in self._documents_new.items():
            execute("INSERT INTO documents VALUES (?, ?)", document)
        execute("COMMIT")
        self._documents.update(self._documents_new)
        self._documents_new.clear()

    @contextmanager
    def _final(self, doing: str) -> Iterator[None]:
        """Let nothing be written after a failure."""
        if self._failure is not None:
            raise JournalFailed(f"{self.path}: {doing} refused: not written any more since {self._failure}")
        try:
            yield
        except (apsw.Error, OSError) as error:
            self._failure = f"{doing}: {error}"
            raise JournalFailed(
                f"{self.path}: {doing} is not known to be durable: {error}. Nothing of it was sent. "
                "Check the disk (space, kernel log), then start again: the start recovers what is there"
            ) from error
        except BaseException as error:
            self._failure = f"{doing}: interrupted by {type(error).__name__}"
            raise


@contextmanager
def _opening(path: Path) -> Iterator[None]:
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise JournalDamaged(f"{path}: can't be opened for writing: {error}; verify it") from error
    except (apsw.Error, OSError) as error:
        raise JournalError(f"{path}: can't be opened for writing: {error}; check folder and disk") from error


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _begin(connection: apsw.Connection, heads: Heads) -> None:
    """Write tables and first record in one transaction: a file has both or neither."""
    body = encode(heads)
    firsts = [head.seq + 1 for head in heads.audiences.values()]
    connection.execute("BEGIN IMMEDIATE")
    create_tables(connection, tuple(heads.audiences))
    places = ", ".join("?" * (len(firsts) + 4))
    row = (0, heads.at_us, *firsts, chain_after(heads.chain, body), body)
    connection.execute(f"INSERT INTO steps VALUES ({places})", row)
    connection.execute("COMMIT")


def _check_same(reader: Reader, audiences: tuple[str, ...], heads: Heads | None) -> None:
    if reader.audiences != audiences:
        raise JournalDamaged(
            f"{reader.path}: written for the audiences {', '.join(reader.audiences)}, "
            f"expected {', '.join(audiences)}: begin a new file"
        )
    if heads is not None and reader.opening != heads:
        raise JournalDamaged(
            f"{reader.path}: follows the chain head {reader.opening.chain[:16]}..., "
            f"expected {heads.chain[:16]}...: the file of another day or table"
        )
