"""What the station watches under the table: room on the disk, and a wall clock that somebody sets.

Only a change is told, as an input: what a table knows of its machine is in its journal like all the rest.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Protocol, runtime_checkable

from controller.table.inputs import AnyInput, ClockStepped, Measured
from controller.table.limits import Limits
from drivers.contract import Clock

MILLION = 1_000_000


@runtime_checkable
class WallClock(Protocol):
    """A clock of the table that has a wall clock beside it."""

    def now_us(self) -> int: ...
    def wall_us(self) -> int: ...


def free_mb(folder: Path) -> int:
    """Return the room on the disk of `folder`, in millions of bytes, for a user who is not root."""
    return shutil.disk_usage(folder).free // MILLION


class Guards:
    """One table's guards; `look` is due each second. The inputs have no time yet."""

    def __init__(self, clock: Clock, folder: Path, limits: Limits, *, is_low: bool) -> None:
        """`is_low` is what the table was told of the disk when it started."""
        self._folder = folder
        self._limits = limits
        self._is_low = is_low
        self._clock = clock if isinstance(clock, WallClock) else None
        self._ahead_us = self._wall_ahead_us()

    def look(self) -> list[AnyInput]:
        """Return what has changed since the last look."""
        return [*self._disk(), *self._wall()]

    def _disk(self) -> list[AnyInput]:
        free = free_mb(self._folder)
        limit = self._limits.disk_free_mb
        # Enough again is a tenth above the limit: a disk at its edge is one incident, not one a second.
        is_low = free < (limit + limit // 10 if self._is_low else limit)
        if is_low == self._is_low:
            return []
        self._is_low = is_low
        return [Measured(at=0, disk_free_mb=free)]

    def _wall(self) -> list[AnyInput]:
        """Compare the wall clock with the table's: slow drift passes, a jump between two looks does not."""
        ahead = self._wall_ahead_us()
        step_us, self._ahead_us = ahead - self._ahead_us, ahead
        if abs(step_us) <= self._limits.clock_step_ms * 1_000:
            return []
        return [ClockStepped(at=0, step_ms=step_us // 1_000)]

    def _wall_ahead_us(self) -> int:
        return self._clock.wall_us() - self._clock.now_us() if self._clock is not None else 0
