"""Ways to cut one recorded line into chunks that must not change what it says.

A line is a list of `(at_us, bytes)` in order of time. A cut keeps the stamps: the pieces of a chunk carry
its time, merged chunks the time of the last of them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from drivers.contract import Framer, Report

Line: TypeAlias = Sequence[tuple[int, bytes]]


def decode(framer: Framer, line: Line, until_us: int | None = None) -> list[Report]:
    """Run a line through a framer as a port would: time-outs at their time, reports after each chunk.

    `until_us` is how long to listen after the last chunk; None until no time-out is pending.
    """
    reports: list[Report] = []
    for at_us, chunk in line:
        _expire(framer, reports, at_us)
        framer.receive(chunk, at_us)
        _collect(framer, reports)
    _expire(framer, reports, until_us)
    return reports


def byte_by_byte(line: Line) -> Line:
    """Return the line with one byte in every chunk."""
    return [(at_us, bytes((byte,))) for at_us, chunk in line for byte in chunk]


def splits(line: Line) -> Iterator[Line]:
    """Yield the line once for every offset, with the chunk that holds the offset cut in two there."""
    for index, (at_us, chunk) in enumerate(line):
        for offset in range(1, len(chunk)):
            yield [*line[:index], (at_us, chunk[:offset]), (at_us, chunk[offset:]), *line[index + 1 :]]


def recut(line: Line, seed: int) -> Line:
    """Return the line with every chunk cut at random, into pieces of one to eight bytes."""
    rng = random.Random(seed)
    pieces = []
    for at_us, chunk in line:
        while chunk:
            count = rng.randint(1, 8)
            pieces.append((at_us, chunk[:count]))
            chunk = chunk[count:]
    return pieces


def merged(line: Line, shortest_timeout_us: int) -> Line:
    """Return the line with all chunks merged that are closer together than the shortest time-out."""
    chunks: list[tuple[int, bytes]] = []
    for at_us, chunk in line:
        if chunks and at_us - chunks[-1][0] < shortest_timeout_us:
            chunk = chunks.pop()[1] + chunk
        chunks.append((at_us, chunk))
    return chunks


def _expire(framer: Framer, reports: list[Report], until_us: int | None) -> None:
    due_us = framer.next_deadline_us()
    while due_us is not None and (until_us is None or due_us <= until_us):
        framer.tick(due_us)
        _collect(framer, reports)
        due_us = framer.next_deadline_us()


def _collect(framer: Framer, reports: list[Report]) -> None:
    while (report := framer.next_report()) is not None:
        reports.append(report)
        framer.acknowledge(report)
