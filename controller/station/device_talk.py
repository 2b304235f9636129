"""What devices say that concerns nobody's read, in the log: at once, and then no more than now and then.

A line at the wrong speed, or a flood of one byte, says the same thing thousands of times a second. The first
of it is told at once; what comes within `PAUSE_US` behind it is summed, and told in one line after that.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import msgspec

PAUSE_US = 10_000_000
SAYINGS_MAX = 16
"""Different things that one device has said within a pause; what comes on top is summed without its hint."""
OTHERS = "several other hints"

log = logging.getLogger("station")


class Saying(NamedTuple):
    """One thing that a device says: what the log calls it, and the hint or cause."""

    message: str
    level: int
    fact: tuple[str, str]


Device: TypeAlias = tuple[str, str]
"""The kind, as the log names it, and the device's name."""


class Sum(msgspec.Struct):
    """What has not been told yet: how often it was said, and of how many bytes."""

    times: int = 0
    count: int = 0


class Pause(msgspec.Struct):
    """One device's pause: until when, and what has been said in it."""

    until_us: int
    sums: dict[Saying, Sum]


class DeviceTalk:
    """The talk of all devices of a table, each with its kind and its name."""

    def __init__(self, now_us: Callable[[], int]) -> None:
        self._now_us = now_us
        self._pauses: dict[Device, Pause] = {}

    def say(self, device: Device, saying: Saying, count: int = 0) -> None:
        """Tell it, or add it to what is told when the device's pause is over. `count` is of bytes."""
        pause = self._pauses.setdefault(device, Pause(self._now_us() + PAUSE_US, {}))
        if saying in pause.sums:
            self._add(pause.sums[saying], count)
        elif len(pause.sums) < SAYINGS_MAX:
            pause.sums[saying] = Sum()
            self._tell(device, saying, Sum(1, count))
        else:
            name, _ = saying.fact
            self._add(pause.sums.setdefault(saying._replace(fact=(name, OTHERS)), Sum()), count)

    def tell_due(self) -> None:
        """Tell what pauses have held back that are over; a device that had nothing more to say has none."""
        for device, pause in list(self._pauses.items()):
            if pause.until_us <= self._now_us():
                del self._pauses[device]
                if self._tell_all(device, pause):
                    sums = {saying: Sum() for saying in pause.sums}
                    self._pauses[device] = Pause(self._now_us() + PAUSE_US, sums)

    def close(self) -> None:
        """Tell all that was held back."""
        for device, pause in self._pauses.items():
            self._tell_all(device, pause)
        self._pauses.clear()

    @staticmethod
    def _add(total: Sum, count: int) -> None:
        total.times += 1
        total.count += count

    def _tell_all(self, device: Device, pause: Pause) -> bool:
        held = [(saying, total) for saying, total in pause.sums.items() if total.times]
        for saying, total in held:
            self._tell(device, saying, total)
        return bool(held)

    def _tell(self, device: Device, saying: Saying, total: Sum) -> None:
        name, text = saying.fact
        facts: dict[str, str | int] = dict((device,))
        if total.count:
            facts["count"] = total.count
        facts[name] = text
        if total.times > 1:
            facts["times"] = total.times
        log.log(saying.level, saying.message, extra={"facts": facts})
