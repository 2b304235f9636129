"""How often somebody may try to log in: a few tries, which come back one by one."""

from __future__ import annotations

from collections.abc import Callable

KEYS_MAX = 1_000


class Throttle:
    """Lets `tries` through at once for each key, and one more every `each_s`; forgets the oldest keys."""

    def __init__(self, *, tries: int, each_s: float, now_s: Callable[[], float]) -> None:
        self._tries = tries
        self._each_s = each_s
        self._now_s = now_s
        self._free_at: dict[str, float] = {}
        """When the last try of a key is forgotten: each try moves it on by `each_s`."""

    def wait_s(self, key: str) -> float:
        """Return for how long no try of `key` is taken, 0 when one is. Counts nothing."""
        return max(0.0, self._free_at.get(key, 0.0) - self._now_s() - (self._tries - 1) * self._each_s)

    def count(self, key: str) -> None:
        """A try of `key` was made."""
        free_at = max(self._free_at.pop(key, 0.0), self._now_s()) + self._each_s
        self._free_at[key] = free_at
        if len(self._free_at) > KEYS_MAX:
            del self._free_at[next(iter(self._free_at))]

    def forgive(self, key: str) -> None:
        """The last try of `key` was right after all."""
        if key in self._free_at:
            self._free_at[key] -= self._each_s
