"""Events of the life of a deck: loaded, counted, closed, and which rounds are suspect because of it.

Numbers of scans and cards, never a card that might lie face down.
"""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from controller.cards import Order
from controller.table.events.base import AUDIT_ONLY, Event, OpenedCard
from controller.table.events.reasons import Loading, Rejection, ShoeEnd, Worn


class DeckScanned(Event, frozen=True, kw_only=True, tag="deck.scanned"):
    """Card `n` of the set that is being scanned in was read, and belongs to it."""

    audiences: ClassVar = AUDIT_ONLY
    n: int


class DeckOffered(Event, frozen=True, kw_only=True, tag="deck.offered"):
    """The first of two people accepts a deck by its receipt."""

    audiences: ClassVar = AUDIT_ONLY
    deck: str
    receipt: str
    by: str


class DeckRejected(Event, frozen=True, kw_only=True, tag="deck.rejected"):
    """The set that was scanned in is not one deck. `n` cards of one were read, `missing` were not."""

    audiences: ClassVar = AUDIT_ONLY
    reason: Rejection
    n: int
    missing: int
    counted: int | None = None


class DeckLoaded(Event, frozen=True, kw_only=True, tag="deck.loaded"):
    """A deck is in use from here on; `number` counts the decks of this table."""

    deck: str
    number: int
    loading: Loading


class StubCounted(Event, frozen=True, kw_only=True, tag="stub.counted"):
    """The dealer counted the cards that are not out; `expected` are the deck's less those that are."""

    audiences: ClassVar = AUDIT_ONLY
    deck: int
    count: int
    expected: int
    by: str


class ShoeJudged(Event, frozen=True, kw_only=True, tag="shoe.judged"):
    """The shoe's own result of the coup, beside the rules' (row 19b)."""

    audiences: ClassVar = AUDIT_ONLY
    winner: str
    player_pair: bool
    banker_pair: bool
    agrees: bool


class DeviceComplained(Event, frozen=True, kw_only=True, tag="device.complained"):
    """A shoe complains, or says that the cause is gone."""

    audiences: ClassVar = AUDIT_ONLY
    scanner: str
    complaint: str
    cleared: bool


class ShoeEnding(Event, frozen=True, kw_only=True, tag="shoe.ending"):
    """The cutting card has come: the shoe closes after `last_round` (BAC-13, row 27)."""

    deck: str
    number: int
    last_round: int


class ShoeClosed(Event, frozen=True, kw_only=True, tag="shoe.closed"):
    """The deck goes out of use; another one must be loaded before the next round.

    `opened` are the cards that lay face down in its rounds: where many rounds are dealt out of one shoe they
    are opened now, not with their round.
    """

    deck: str
    number: int
    reason: ShoeEnd
    order: Order | None = None
    opened: tuple[OpenedCard, ...] = ()


class RoundsSuspect(Event, frozen=True, kw_only=True, tag="rounds.suspect"):
    """Rounds that may have been dealt from a deck that was not whole, or not shuffled; both ends included."""

    audiences: ClassVar = AUDIT_ONLY
    deck: int
    first_round: int
    last_round: int
    reason: ShoeEnd


class WearFound(Event, frozen=True, kw_only=True, tag="wear.found"):
    """A card or a scanner needs more re-scans than the profile allows. Told between rounds only."""

    audiences: ClassVar = AUDIT_ONLY
    worn: Worn
    name: str
    rescans: int
    reads: int


DeckEvent: TypeAlias = (
    DeckScanned
    | DeckOffered
    | DeckRejected
    | DeckLoaded
    | StubCounted
    | ShoeJudged
    | DeviceComplained
    | ShoeEnding
    | ShoeClosed
    | RoundsSuspect
    | WearFound
)
