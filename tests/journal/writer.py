"""A process that appends until its power fails, it is killed, or it is done.

    python writer.py PATH COUNT [CUT_AT SEED SYNCHRONOUS]

Prints the number of each step whose `append` returned; the parent reads it from the pipe.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from journal.feed import AUDIENCES, Feed, write

from controller.journal import Journal
from simulators.faults.powercut import PowerCutDisk


def main(path: Path, count: int, cut_at: int | None, seed: int, synchronous: str) -> None:
    if cut_at is None:
        journal = Journal.open(path, audiences=AUDIENCES)
    else:
        disk = PowerCutDisk("powercut", seed=seed, cut_at=cut_at)
        journal = Journal.open(path, audiences=AUDIENCES, connect=disk.connect)
    # The journal has no such setting; this weakens it from outside, to show that the cuts would tell.
    journal._connection.pragma("synchronous", synchronous)
    for n in write(journal, Feed(), count):
        os.write(1, b"%d\n" % n)
    if cut_at is not None:
        disk.cut()
    journal.close()


if __name__ == "__main__":
    path, count, *cut = sys.argv[1:]
    cut_at, seed, synchronous = cut or (None, 0, "full")
    main(Path(path), int(count), None if cut_at is None else int(cut_at), int(seed), synchronous)
