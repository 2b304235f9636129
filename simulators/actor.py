"""What an actor of a simulated studio is: it hears one feed, and plans what it will do and when.

Actors are pure: they hold their own random generator and no clock, socket or thread. The world carries
messages to them and their actions to the table, over real links or inside one process.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol, TypeAlias

import msgspec

from controller.table.inputs import AnyCommand
from simulators.devices.families import Handling, Mishap


class Feed(StrEnum):
    """What an actor listens to: one numbered audience, or the picture of the station."""

    PUBLIC = "public"
    BETTING = "betting"
    SETTLEMENT = "settlement"
    AUDIT = "audit"
    STATION = "station"
    HAND = "hand"
    """A card is drawn by the person at the page (`page_dealer`)."""


class Press(msgspec.Struct, frozen=True):
    """Send a command as `actor`, for the round that the sender has in mind.

    `endpoint` is `betting`, `operator` or `consumer`. `request` names it; the world makes one up where it
    is None. `pin` goes with a log-in.
    """

    endpoint: str
    actor: str
    round_no: int
    command: AnyCommand
    request: str | None = None
    pin: str | None = None


class Scan(msgspec.Struct, frozen=True):
    """A card passes a device, which makes bytes of it; `code` is None when it can't be read."""

    device: str
    code: str | None
    mishap: Mishap | None = None


class Disturb(msgspec.Struct, frozen=True):
    """Something happens to a device that no card passes, or somebody handles it."""

    device: str
    mishap: Mishap | Handling


class Unplug(msgspec.Struct, frozen=True):
    """A device loses its line, not its power."""

    device: str


class Replug(msgspec.Struct, frozen=True):
    """A device is plugged in again."""

    device: str


class Wake(msgspec.Struct, frozen=True):
    """Nothing leaves the actor; it wants `woken` to be called with this note."""

    note: str


Act: TypeAlias = Press | Scan | Disturb | Unplug | Replug | Wake


class Planned(msgspec.Struct, frozen=True):
    """Something to do at `at_us` of the table's clock (at once, if that has passed)."""

    at_us: int
    act: Act


class Actor(Protocol):
    """One person or system around the table."""

    name: str
    feed: Feed

    def heard(self, message: bytes, now_us: int) -> list[Planned]:
        """Hear one message of the feed (a picture, for `Feed.STATION`) and plan."""
        ...

    def woken(self, note: str, now_us: int) -> list[Planned]:
        """The time of a planned `Wake` has come."""
        ...

    def answered(self, press: Press, accepted: bool, reason: str | None, now_us: int) -> list[Planned]:
        """A press was answered."""
        ...


class Listener:
    """An actor that only hears: it plans nothing, so it is never woken, and presses nothing."""

    def woken(self, note: str, now_us: int) -> list[Planned]:
        """Nothing was planned."""
        return []

    def answered(self, press: Press, accepted: bool, reason: str | None, now_us: int) -> list[Planned]:
        """Nothing was pressed."""
        return []
