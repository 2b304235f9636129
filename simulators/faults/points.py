"""Named points at which a simulated daemon can be killed, and the other ends that can be ordered for it."""

from __future__ import annotations

import os
import signal
import time
from enum import StrEnum
from typing import NamedTuple

OUT_S = 0.02
"""Before a death between two audiences, what was sent gets this long to leave the process."""


class Point(StrEnum):
    """Where the process ends."""

    BEFORE_COMMIT = "before-commit"
    AFTER_COMMIT = "after-commit"
    BETWEEN_AUDIENCES = "between-audiences"
    IN_RECOVERY = "in-recovery"


class PowerCut(NamedTuple):
    """The power fails at an operation of the disk. `synchronous` is SQLite's setting for the journal."""

    operation: int
    seed: int
    synchronous: str = "full"


class KillPoint:
    """Ends the process with SIGKILL at the `count`-th pass of `point`; None never does."""

    def __init__(self, point: Point | None, count: int) -> None:
        self._point = point
        self._left = count

    def passed(self, point: Point) -> None:
        """Say that the process is at a point."""
        if point is not self._point:
            return
        self._left -= 1
        if self._left <= 0:
            if point is Point.BETWEEN_AUDIENCES:
                time.sleep(OUT_S)
            os.kill(os.getpid(), signal.SIGKILL)
