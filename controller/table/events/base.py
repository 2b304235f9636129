"""What an event is, and who hears it.

An event names its audiences in its class; where one audience may know less, its `seen_by` says so.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar, TypeAlias

import msgspec

from controller.cards import CARD_PATTERN, PrintedCard


class Audience(StrEnum):
    """The numbered streams of the bus. Each has its own counter and chain."""

    PUBLIC = "public"
    BETTING = "betting"
    SETTLEMENT = "settlement"
    AUDIT = "audit"


AUDIENCES: tuple[Audience, ...] = tuple(Audience)
CardText: TypeAlias = Annotated[str, msgspec.Meta(pattern=CARD_PATTERN)]
EVERYBODY = frozenset(Audience)
SHOW = frozenset({Audience.PUBLIC, Audience.BETTING, Audience.AUDIT})
BETTING_ONLY = frozenset({Audience.BETTING})
AUDIT_ONLY = frozenset({Audience.AUDIT})


class CardAt(msgspec.Struct, frozen=True):
    """Card `n` of a place, from 1, by what is printed on it."""

    place: str
    n: Annotated[int, msgspec.Meta(ge=1)]
    card: CardText


class OpenedCard(msgspec.Struct, frozen=True, omit_defaults=True):
    """The opening of one commitment: card `n` of `place`, and the key of its HMAC.

    `card` is None, and `closed_by` the rule, where the rules never publish it. `roundid` is the round in
    which it was made, where it is opened later: when the shoe closes.
    """

    place: str
    n: int
    deal: int
    reading: int
    card: PrintedCard | None
    key: str | None
    closed_by: str | None = None
    roundid: str | None = None


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", omit_defaults=True):
    """Base of all events."""

    audiences: ClassVar[frozenset[Audience]] = SHOW

    def seen_by(self, audience: Audience) -> Event | None:
        """Return what `audience` is told of this event; None when it is not concerned."""
        return self if audience in self.audiences else None
