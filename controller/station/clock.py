"""The station's clock: wall time at start plus monotonic time since, integer microseconds.

It never goes back and gives no stamp twice, across restarts too: it starts behind the journal's last
step or not at all.
"""

from __future__ import annotations

import asyncio
import time

from controller.station.errors import StartRefused

SKEW_US_MAX = 1_000_000
"""A wall clock that is no further behind the journal than this is waited for, not refused."""


class LiveClock:
    """Wall time at construction, carried on by the monotonic clock."""

    def __init__(self) -> None:
        self._wall_us = time.time_ns() // 1_000
        self._monotonic_us = time.monotonic_ns() // 1_000

    def now_us(self) -> int:
        """Return the present in microseconds since 1970."""
        return self._wall_us + time.monotonic_ns() // 1_000 - self._monotonic_us

    def wall_us(self) -> int:
        """Return what the wall clock shows, which somebody may set."""
        return time.time_ns() // 1_000

    async def sleep_until(self, at_us: int) -> None:
        """Return once the clock shows `at_us` or more."""
        # A sleep may end a little early by the clock that the loop keeps.
        missing = at_us - self.now_us()
        while missing > 0:
            await asyncio.sleep(missing / 1_000_000)
            missing = at_us - self.now_us()


def check_behind(now_us: int, last_us: int) -> None:
    """Refuse a start with a clock that is behind the journal."""
    if now_us + SKEW_US_MAX < last_us:
        behind_s = (last_us - now_us) / 1_000_000
        raise StartRefused(
            f"the clock is {behind_s:.1f} s behind the journal's last step; set the clock, then start again"
        )
