"""What a table is set to: times, scanners, limits. It comes from the table's TOML, checked by `station`."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from controller.games.procedure import BoxState
from controller.table.consumers import Consumer
from controller.table.limits import Limits
from controller.table.profile import Profile


class TableSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of one table. Durations in milliseconds.

    `grace_ms`: how long after a window the betting system may tell its facts. `guard_ms`: how long after
    a window's published end the next card waits, unless the betting system has acknowledged the end; at
    least twice the permitted clock skew, and never shorter than `grace_ms`. `boxes_not_told`: the state
    of each box when the betting system does not tell it in time. `profile`: what happens when a deal goes
    wrong. `second_readers`: those of `scanners` that deal no card, with the place at which each reads; None
    for one that reads every card once more, in the order of dealing. `consumers`: the systems that
    acknowledge.
    """

    table: str
    betting_ms: int
    windows_ms: Mapping[str, int]
    grace_ms: int
    guard_ms: int
    boxes_not_told: Mapping[str, BoxState]
    scanners: tuple[str, ...]
    profile: Profile
    second_readers: Mapping[str, str | None] = {}
    consumers: tuple[Consumer, ...] = ()

    @property
    def dealing_scanners(self) -> frozenset[str]:
        """The scanners without which no card can be dealt."""
        return frozenset(self.scanners) - self.second_readers.keys()

    @property
    def limits(self) -> Limits:
        """How often, how many, how long: the numbers of the procedures."""
        return self.profile.limits
