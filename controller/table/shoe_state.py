"""What a table remembers of deck and shoe from round to round: where it stands, what waits, what wears."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from controller.cards import Card, Order
from controller.table.events import BurnReason, IncidentKind, OpenedCard, ShoeEnd


class UnplacedRead(msgspec.Struct, frozen=True):
    """A card that was read and lies on no place: early, surplus, or the same code again.

    `manual`: it was not read but entered by two people.
    """

    card: Card
    code: str
    key: str
    manual: bool = False


class DeckInUse(msgspec.Struct, frozen=True, kw_only=True):
    """The deck that is loaded. `number` counts the decks of this table; times in microseconds."""

    name: str
    number: int
    loaded_at: int
    loaded_round: int
    """The last round before it was loaded."""
    good_round: int
    """The last round after which all its cards were there: at the load, or at a count."""


class Receipt(msgspec.Struct, frozen=True):
    """What the first of two people says of a deck that is not scanned in."""

    deck: str
    receipt: str
    by: str


class SuspectDeck(msgspec.Struct, frozen=True):
    """A deck that goes out when the cards are collected; rounds after `good_round` are suspect."""

    end: ShoeEnd
    good_round: int
    order: Order | None = None


class Reads(msgspec.Struct, frozen=True):
    """How often something was read, and how often once more."""

    reads: int = 0
    rescans: int = 0


class KeptCard(msgspec.Struct, frozen=True):
    """A card that waits for the next round, in a game that is dealt out of one shoe (row 10)."""

    read: UnplacedRead
    kind: IncidentKind
    burns: bool
    """It is burned then; else it is the first card that becomes due."""


@dataclass(slots=True)
class Shoe:
    """The deck in use, or the one that is being loaded, and what is known of cards and scanners."""

    deck: DeckInUse | None = None
    decks_count: int = 0
    scanning: list[str] = field(default_factory=list)
    """The codes of a set that is being scanned in, each once, in the order of their reading."""
    receipt: Receipt | None = None
    supervised: bool = False
    """The deck before went out for a cause; a supervisor verifies the next one."""
    suspect: SuspectDeck | None = None
    last_collected: tuple[str, ...] = ()
    """The cards of the last round as they lay when they were collected, place by place."""
    wear: dict[str, Reads] = field(default_factory=dict)
    """By kind and name: `CARD/7h`, `SCANNER/shoe`. Cards begin anew with each deck."""
    worn: tuple[str, ...] = ()
    """What was named already."""
    burns_due: list[BurnReason] = field(default_factory=list)
    """Cards that are burned before the next one is dealt, and why; the first of a new shoe is shown."""
    last_round: int | None = None
    """The round after which the shoe closes: the cutting card has come."""
    kept: list[KeptCard] = field(default_factory=list)
    stands_by: bool = False
    """The shoe itself has said that it waits for a new coup."""
    sealed: list[OpenedCard] = field(default_factory=list)
    """Openings of cards that lie face down until the shoe closes."""
