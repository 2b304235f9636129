"""How a journal file is opened: the SQLite connection, its settings and tables, and the writer's lock."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import apsw

from controller.journal.errors import JournalDamaged, JournalError, JournalInUse

APPLICATION_ID = 0x7461626C  # "tabl"
SCHEMA_VERSION = 1
BUSY_MS_MAX = 2_000
"""Nobody but the writer locks for long; a reader may meet the moment in which it opens or closes."""

Connect = Callable[[Path], apsw.Connection]
"""Opens a connection for writing. What it returns may rest on another VFS."""


def connect(path: Path) -> apsw.Connection:
    """Open `path` for writing on the system's own files."""
    return apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)


def connect_read_only(path: Path) -> apsw.Connection:
    """Open `path` for reading, also while it is written. Raises JournalError if it can't be."""
    if not path.is_file():
        raise JournalError(f"{path}: no such journal; see the table's config for where journals lie")
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        connection.set_busy_timeout(BUSY_MS_MAX)
        check_kind(connection, path)
    except apsw.Error as error:
        raise JournalDamaged(f"{path}: can't be read as a journal: {error}") from error
    return connection


def fetch(connection: apsw.Connection, select: str, *values: int | str) -> list[Any]:
    """Return all rows of a query; nothing stays open behind it."""
    return connection.execute(select, values).fetchall()


def prepare(connection: apsw.Connection) -> None:
    """Make commits durable one by one, and leave checkpoints to the caller."""
    connection.set_busy_timeout(BUSY_MS_MAX)
    mode = connection.pragma("journal_mode", "wal")
    assert mode == "wal", f"journal_mode is {mode}, not wal"
    connection.pragma("synchronous", "full")
    connection.wal_autocheckpoint(0)
    # A close after a failed write must not copy pages of the log that may never have reached the disk.
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)


def is_blank(connection: apsw.Connection) -> bool:
    """Whether the file has no table yet: new, or its first transaction never ended."""
    return not fetch(connection, "SELECT 1 FROM sqlite_schema")


def check_kind(connection: apsw.Connection, path: Path) -> None:
    """Raise JournalDamaged unless the file is a journal of this schema."""
    application, version = connection.pragma("application_id"), connection.pragma("user_version")
    if application != APPLICATION_ID:
        raise JournalDamaged(f"{path}: not a journal (application id {application}, or never begun)")
    if version != SCHEMA_VERSION:
        raise JournalDamaged(
            f"{path}: journal schema {version}, this program reads {SCHEMA_VERSION}: "
            "use the version that wrote it"
        )


def create_tables(connection: apsw.Connection, audiences: Sequence[str]) -> None:
    """Create the tables, inside the caller's transaction.

    `first_*` and the chain stand before the body: SQLite walks a long row from its front.
    """
    for audience in audiences:
        assert re.fullmatch("[a-z]{1,32}", audience), audience
    firsts = "".join(f"first_{audience} INTEGER NOT NULL, " for audience in audiences)
    connection.pragma("application_id", APPLICATION_ID)
    connection.pragma("user_version", SCHEMA_VERSION)
    connection.execute(
        f"CREATE TABLE steps (n INTEGER PRIMARY KEY, at_us INTEGER NOT NULL, {firsts}"
        "chain TEXT NOT NULL, body BLOB NOT NULL) STRICT"
    )
    connection.execute("CREATE TABLE carried (n INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT")
    connection.execute(
        "CREATE TABLE documents (hash TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT, WITHOUT ROWID"
    )
    create_signatures(connection)


def create_signatures(connection: apsw.Connection) -> None:
    """Create the table of signatures unless the file has it; a file of an older program has not."""
    connection.execute(
        "CREATE TABLE IF NOT EXISTS signatures (n INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT"
    )


def has_signatures(connection: apsw.Connection) -> bool:
    """Whether the file has a table of signatures."""
    return bool(fetch(connection, "SELECT 1 FROM sqlite_schema WHERE name = 'signatures'"))


def audiences_of(connection: apsw.Connection) -> tuple[str, ...]:
    """Return the audiences of the file, in the order of its columns."""
    try:
        columns = list(connection.execute("SELECT name FROM pragma_table_info('steps') ORDER BY cid"))
    except apsw.Error as error:
        raise JournalDamaged(f"{connection.filename}: can't be read: {error}; verify it") from error
    return tuple(name.removeprefix("first_") for (name,) in columns if name.startswith("first_"))


def create_private(path: Path) -> None:
    """Create `path` empty with mode 0600, or set that mode; SQLite gives its side files the same."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    path.chmod(0o600)


def sync_folder(folder: Path) -> None:
    """Make the names of new files in `folder` durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class WriterLock:
    """The right to write one journal file: `flock` on `<file>.lock`, given back by the kernel at death.

    The lock is on a file of its own: closing any other descriptor of the journal itself would drop the
    locks SQLite has on it. The lock file stays; removing it would let two writers lock two files.
    """

    def __init__(self, journal: Path) -> None:
        """Take the lock. Raises JournalInUse, naming the holder, when another process has it."""
        self.path = journal.with_name(journal.name + ".lock")
        self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(self._descriptor, 20).decode("ascii", "replace").strip() or "unknown"
            os.close(self._descriptor)
            raise JournalInUse(
                f"{journal}: process {holder} writes this journal (lock {self.path}): "
                "stop that process first, or give this table a journal folder of its own"
            ) from None
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, b"%d\n" % os.getpid(), 0)

    def release(self) -> None:
        """Give the lock back."""
        os.close(self._descriptor)
