"""Named points at which a simulated daemon can be killed."""

from __future__ import annotations

import os
import signal
from enum import StrEnum


class Point(StrEnum):
    """Where the process ends."""

    BEFORE_COMMIT = "before-commit"
    AFTER_COMMIT = "after-commit"
    BETWEEN_AUDIENCES = "between-audiences"
    IN_RECOVERY = "in-recovery"


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
            os.kill(os.getpid(), signal.SIGKILL)
