"""A failed write, sync or checkpoint is final: nothing is written after it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from journal.feed import AUDIENCES, Feed, write, written

from controller.journal import (
    Journal,
    JournalDamaged,
    JournalError,
    JournalFailed,
    JournalInUse,
    Reader,
    verify,
)
from simulators.faults.powercut import PowerCutDisk, PowerCutFile


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "2026-11-30.journal"


@pytest.fixture
def journal(path: Path) -> Iterator[Journal]:
    with Journal.open(path, audiences=AUDIENCES) as journal:
        yield journal


class BrokenFile(PowerCutFile):
    """A file whose disk gave up."""

    def xSync(self, flags: int) -> None:
        if self._disk.broken == "sync":
            raise apsw.IOError("no sync")
        super().xSync(flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        if self._disk.broken == "write":
            raise apsw.FullError("no space")
        super().xWrite(data, offset)


class BrokenDisk(PowerCutDisk):
    broken = ""

    def xOpen(self, name: Any, flags: list[int]) -> PowerCutFile:
        filename = name.filename() if isinstance(name, apsw.URIFilename) else name
        return BrokenFile(self, filename, name, flags)


@pytest.fixture
def broken_disk() -> Iterator[BrokenDisk]:
    disk = BrokenDisk("broken", seed=0)
    yield disk
    disk.unregister()


@pytest.mark.parametrize("what", ["sync", "write"])
def test_a_failed_append_is_final(path: Path, broken_disk: BrokenDisk, what: str) -> None:
    journal, feed = Journal.open(path, audiences=AUDIENCES, connect=broken_disk.connect), Feed()
    list(write(journal, feed, 4))
    broken_disk.broken = what
    with pytest.raises(JournalFailed, match=r"step 5 is not known to be durable: .* Check the disk"):
        journal.append(**feed.step(5))
    broken_disk.broken = ""
    with pytest.raises(JournalFailed, match="not written any more since step 5"):
        journal.append(**feed.step(5) | {"messages": {}})
    with pytest.raises(JournalFailed, match="not written any more"):
        journal.checkpoint()
    assert journal.last_n == 4
    journal.close()
    with Reader.open(path) as reader:
        assert reader.last_n in (4, 5)
    assert list(verify(path)) == []


def test_a_close_after_a_failed_write_copies_nothing(path: Path, broken_disk: BrokenDisk) -> None:
    """The log may not be on the disk; a checkpoint of it could spoil what is."""
    journal, feed = Journal.open(path, audiences=AUDIENCES, connect=broken_disk.connect), Feed()
    list(write(journal, feed, 4))
    broken_disk.broken = "sync"
    with pytest.raises(JournalFailed):
        journal.append(**feed.step(5))
    broken_disk.broken, before = "", path.read_bytes()
    journal.close()
    assert path.read_bytes() == before
    assert path.with_name(path.name + "-wal").stat().st_size > 0


def test_a_failed_checkpoint_is_final(path: Path, broken_disk: BrokenDisk) -> None:
    journal, feed = Journal.open(path, audiences=AUDIENCES, connect=broken_disk.connect), Feed()
    list(write(journal, feed, 4))
    broken_disk.broken = "sync"
    with pytest.raises(JournalFailed, match="checkpoint is not known"):
        journal.checkpoint()
    broken_disk.broken = ""
    with pytest.raises(JournalFailed, match="refused"):
        journal.append(**feed.step(5))
    journal.close()


def test_an_interrupted_append_is_final_too(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    feed = Feed()
    with monkeypatch.context() as patch:
        patch.setattr(journal, "_write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            journal.append(**feed.step(1))
    with pytest.raises(JournalFailed, match="interrupted by KeyboardInterrupt"):
        journal.append(**Feed().step(1))


def test_a_closed_journal_takes_nothing(path: Path) -> None:
    journal = Journal.open(path, audiences=AUDIENCES)
    journal.close()
    journal.close()
    with pytest.raises(JournalFailed, match="closed"):
        journal.append(**Feed().step(1))


def test_every_error_is_a_journal_error() -> None:
    assert all(issubclass(error, JournalError) for error in (JournalInUse, JournalDamaged, JournalFailed))


def test_a_full_disk_at_the_beginning_leaves_nothing_half_begun(path: Path, broken_disk: BrokenDisk) -> None:
    broken_disk.broken = "write"
    with pytest.raises(JournalError, match="no space; check folder and disk"):
        Journal.open(path, audiences=AUDIENCES, connect=broken_disk.connect)
    broken_disk.broken = ""
    written(path, 3)
    assert list(verify(path)) == []
