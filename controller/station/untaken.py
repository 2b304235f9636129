"""Reads that the run before has recorded and never taken: a card may be out that no journal knows of.

The recording is written before an input is taken, the journal after. What lies between was lost when the
process went down: the table is told, so that people are asked (procedures, row 35).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

from controller.journal import JournalDamaged
from controller.journal.recording import Line, read_lines
from controller.station.config import StationConfig
from controller.station.intake import FROM_DEVICES, LAST_SILENCE_US, Intake, Taken, open_framers, ticks_until
from controller.table.inputs import CardRead, ReadFailed, UntakenRead
from drivers.contract import FailedReadCause

CONTEXT_US = LAST_SILENCE_US
"""So much before the journal's end is read, to know where a frame begins."""

log = logging.getLogger("station")


def untaken_reads(config: StationConfig, *, epoch: int, last_us: int) -> tuple[UntakenRead, ...]:
    """Return the reads of the run `epoch` that came after the journal's last step, in order.

    A recording that a power cut has torn tells what it can.
    """
    found: list[UntakenRead] = []
    # A start that died before its first step leaves a recording of the same epoch, in which nobody read.
    for path in sorted((config.table_dir / "sessions").glob(f"{epoch:06d}-*.capture")):
        try:
            for taken in _taken(config, path, last_us - CONTEXT_US):
                value = taken.value
                if value.at <= last_us:
                    continue
                if isinstance(value, CardRead):
                    found.append(UntakenRead(value.scanner, value.code))
                elif isinstance(value, ReadFailed):
                    found.append(UntakenRead(value.scanner, None))
        except JournalDamaged:
            log.warning("the last recording is torn", extra={"facts": {"recording": path.name}})
    return tuple(found)


def _taken(config: StationConfig, path: Path, since_us: int) -> Iterator[Taken]:
    """Yield the inputs that the scanners' lines mean; what is unfinished at the end is a failed read."""
    framers = open_framers(config)
    last_us = since_us
    commands = config.station_commands
    intake = Intake(framers, lambda _scanner, _at: "", lambda _scanner, _report: None, commands)
    for line in read_lines(path, since_us=since_us):
        last_us = line.at_us
        if line.kind in FROM_DEVICES:
            yield from _take(intake, line)
    for tick in ticks_until(framers, last_us + LAST_SILENCE_US):
        yield from intake.take(tick)


def _take(intake: Intake, line: Line) -> list[Taken]:
    try:
        return intake.take(line)
    except Exception:
        # Torn bytes, or those on which a driver's bug stopped the process: no start may stop on them again.
        return [Taken(ReadFailed(at=line.at_us, scanner=line.source, cause=FailedReadCause.DAMAGED))]
