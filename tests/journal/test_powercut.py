"""Power cuts: every step whose append returned is there afterwards, whole and chained.

A cut is named by operation and seed; the same two give the same disk again. TABLECTL_SOAK=1 makes 200.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import apsw
import pytest
from journal import writer
from journal.feed import AUDIENCES, DOCUMENT, Feed, write

from controller.journal import Journal, Reader, verify
from simulators.faults.powercut import EXIT_STATUS, PowerCutDisk

CUT_COUNT = 200 if os.environ.get("TABLECTL_SOAK") else 20
STEP_COUNT = 45
ROOT = Path(__file__).parents[2]


def start_writer(*arguments: object) -> subprocess.Popen[bytes]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}
    command = [sys.executable, writer.__file__, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)


def returned_before_cut(path: Path, cut_at: int, seed: int, synchronous: str = "full") -> int:
    """Write until the cut; return the last step whose append returned."""
    child = start_writer(path, STEP_COUNT, cut_at, seed, synchronous)
    output, _ = child.communicate()
    assert child.returncode == EXIT_STATUS
    return len(output.splitlines())


def last_step_found(path: Path) -> int:
    """Reopen as a start does; check that what is there is what was written; write on; verify."""
    with Journal.open(path, audiences=AUDIENCES) as journal:
        found, feed = journal.last_n, Feed()
        for step in journal.reader.steps():
            meant = feed.step(step.n)
            assert step.input == meant["input"]
            assert step.messages == {name: tuple(sent) for name, sent in meant["messages"].items() if sent}
        round_ends = found // 10 * 10
        assert journal.reader.last_carried() == (
            (round_ends, b"carried %d" % round_ends) if round_ends else None
        )
        assert list(journal.reader.documents().values()) == ([DOCUMENT] if found else [])
        assert list(write(journal, feed, 3)) == [found + 1, found + 2, found + 3]
        heads = journal.heads()
    assert list(verify(path, ends=heads)) == []
    return found


@pytest.fixture(scope="module")
def operation_count(tmp_path_factory: pytest.TempPathFactory) -> int:
    """How many operations a writer's life has, from the empty file to the last checkpoint."""
    path = tmp_path_factory.mktemp("whole") / "day.journal"
    disk = PowerCutDisk("uncut", seed=0)
    with Journal.open(path, audiences=AUDIENCES, connect=disk.connect) as journal:
        list(write(journal, Feed(), STEP_COUNT))
        count = disk.operation_count
    disk.unregister()
    return count


@pytest.mark.parametrize("seed", range(CUT_COUNT))
def test_every_returned_step_survives_a_power_cut(tmp_path: Path, operation_count: int, seed: int) -> None:
    path = tmp_path / "day.journal"
    cut_at = random.Random(seed).randrange(operation_count)
    returned = returned_before_cut(path, cut_at, seed)
    found = last_step_found(path)
    assert returned <= found <= returned + 1, f"cut at operation {cut_at}, seed {seed}"


def test_power_cuts_tell_when_commits_are_not_synced(tmp_path: Path) -> None:
    """The test above can fail: with synchronous=NORMAL, which syncs at checkpoints only, steps are lost."""
    lost = []
    for seed in range(3):
        path = tmp_path / f"{seed}.journal"
        returned = returned_before_cut(path, 10_000, seed, "normal")
        lost.append(returned - last_step_found(path))
    assert max(lost) > 0, lost


def test_a_writer_killed_at_any_moment_leaves_every_returned_step(tmp_path: Path) -> None:
    for turn in range(5):
        path = tmp_path / f"{turn}.journal"
        child = start_writer(path, 100_000)
        assert child.stdout is not None
        for _ in range(1 + 37 * turn):
            child.stdout.readline()
        child.send_signal(signal.SIGKILL)
        returned = 1 + 37 * turn + len(child.stdout.read().splitlines())
        child.wait()
        child.stdout.close()
        with Reader.open(path) as reader:
            assert returned <= reader.last_n <= returned + 1
        assert returned <= last_step_found(path) <= returned + 1


def test_the_disk_keeps_synced_writes_and_any_part_of_the_others(tmp_path: Path) -> None:
    """The fault itself: over many seeds an unsynced write survives, is lost, and is torn."""

    class Off(Exception):
        pass

    def off() -> None:
        raise Off

    ends = set()
    for seed in range(30):
        path = tmp_path / f"{seed}.bin"
        disk = PowerCutDisk(f"disk{seed}", seed=seed, at_cut=off)
        flags = [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_READWRITE, 0]
        file = disk.xOpen(str(path), flags)
        file.xWrite(b"a" * 1024, 0)
        assert path.read_bytes() == b""
        file.xSync(apsw.SQLITE_SYNC_NORMAL)
        assert path.read_bytes() == b"a" * 1024
        file.xWrite(b"b" * 1024, 0)
        assert file.xRead(1024, 0) == b"b" * 1024
        with pytest.raises(Off):
            disk.cut()
        ends.add(path.read_bytes())
        file.xClose()
        disk.unregister()
    assert ends == {b"a" * 1024, b"b" * 512 + b"a" * 512, b"b" * 1024}
