"""The consumers that a table's file lists, checked against one another and against the profile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from controller.station.errors import ConfigError
from controller.table.consumers import Consumer
from controller.table.profile import Profile


def check_consumers(path: Path, consumers: Sequence[Consumer], profile: Profile) -> None:
    """Raise ConfigError for two of one name, and for a profile that waits for nobody."""
    twice = [name for name, count in Counter(one.name for one in consumers).items() if count > 1]
    if twice:
        raise ConfigError(
            f"{path}: consumers: {twice[0]!r}: named twice; each acknowledges under its own name"
        )
    waits = profile.limits.acknowledged_before_start
    if waits and not any(one.must_acknowledge for one in consumers):
        raise ConfigError(
            f"{path}: profile {profile.name!r}: acknowledged_before_start = true, but no consumer must "
            f"acknowledge; add [[consumers]] with must_acknowledge = true, or take the limit out"
        )
