"""Refused handshakes: every one is counted, and told in the log in batches, so that no stranger can flood it.

One line tells all refusals of a batch that have one reason at one endpoint from one address: `times` says
how many. Beyond LINES_MAX such groups the rest of the batch is one line without addresses.
"""

from __future__ import annotations

import logging
from collections import Counter

import msgspec

LINES_MAX = 20
MANY = "many"

log = logging.getLogger("bus")


class Refusal(msgspec.Struct, frozen=True):
    """What refusals of one kind share. `address` and `name` are None where nobody saw them."""

    door: str
    reason: str
    address: str | None = None
    name: str | None = None


class Refusals:
    """Counts by reason, for as long as the process lives."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._waiting: Counter[Refusal] = Counter()
        self._keys: dict[Refusal, str | None] = {}

    def add(self, refusal: Refusal, key: str | None = None) -> None:
        """Count one more; `key` is the public key that was shown, the last one is told."""
        self.counts[refusal.reason] += 1
        if refusal not in self._waiting and len(self._waiting) >= LINES_MAX:
            refusal, key = Refusal(MANY, MANY), None
        self._waiting[refusal] += 1
        self._keys[refusal] = key

    def tell(self) -> None:
        """Log what has been refused since the last time."""
        for refusal, times in self._waiting.items():
            facts = {
                "door": refusal.door,
                "reason": refusal.reason,
                "address": refusal.address,
                "name": refusal.name,
                "key": self._keys[refusal],
                "times": times,
            }
            log.warning("handshake refused", extra={"facts": facts})
        self._waiting.clear()
        self._keys.clear()
