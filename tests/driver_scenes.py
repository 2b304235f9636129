"""What the tests of the drivers share: common reports, golden sessions however cut, lines drawn by chance."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from drivers.contract import (
    DeviceReported,
    DeviceState,
    FailedReadCause,
    Framer,
    ReadFailed,
    Report,
)
from simulators.devices.cuts import Line, byte_by_byte, decode, splits

DAMAGED = ReadFailed(FailedReadCause.DAMAGED)
CUT_SHORT = ReadFailed(FailedReadCause.CUT_SHORT)
NO_READ = ReadFailed(FailedReadCause.NO_READ)
WRONG_LENGTH = ReadFailed(FailedReadCause.WRONG_LENGTH)
MISSED = ReadFailed(FailedReadCause.MISSED)
RESTARTED = DeviceReported(DeviceState.RESTARTED)
STAND_BY = DeviceReported(DeviceState.STAND_BY)


def collected(framer: Framer) -> list[Report]:
    """Take the reports that wait, without acknowledging them."""
    reports = []
    while (report := framer.next_report()) is not None:
        reports.append(report)
    return reports


def reads_so(make: Callable[[], Framer], chunks: Line, expected: list[Report]) -> None:
    """A golden session gives its reports whole, byte by byte and split at every offset."""
    assert decode(make(), chunks) == expected
    assert decode(make(), byte_by_byte(chunks)) == expected
    for cut in splits(chunks):
        assert decode(make(), cut) == expected, cut


def line_by_chance(seed: int, pieces: Sequence[bytes], silences_us: Sequence[int]) -> Line:
    """Draw sixty pieces, each behind one of the silences."""
    rng = random.Random(seed)
    at_us, chunks = 0, []
    for _ in range(60):
        at_us += rng.choice(silences_us)
        chunks.append((at_us, rng.choice(pieces)))
    return chunks
