"""Events of cards. Face down they have a commitment and no card, until they are turned."""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from controller.cards import PrintedCard
from controller.games.procedure import Face
from controller.games.russian_live import EvaluatedHand
from controller.table.events.base import AUDIT_ONLY, BETTING_ONLY, Event, OpenedCard
from controller.table.events.reasons import BurnReason, IncidentKind


class CardDealt(Event, frozen=True, kw_only=True, tag="card.dealt"):
    """Card `n` of `place` lies. Face up it has a `card`, face down a `commitment`.

    `manual`: no scanner could read it, two people have said which one it is.
    """

    place: str
    n: int
    face: Face
    deal: int
    reading: int
    card: PrintedCard | None = None
    commitment: str | None = None
    held: int | None = None
    """The number of the held card that this is."""
    manual: bool = False


class CardEntered(Event, frozen=True, kw_only=True, tag="card.entered"):
    """Two people, who did not see each other's value, have entered the same card (row 2)."""

    audiences: ClassVar = AUDIT_ONLY
    incident: int
    place: str | None
    n: int | None
    by: tuple[str, str]


class EntriesVoided(Event, frozen=True, kw_only=True, tag="card.entries_voided"):
    """Two people have entered different cards; neither counts, and both enter again."""

    audiences: ClassVar = AUDIT_ONLY
    incident: int
    by: tuple[str, str]


class CardShown(Event, frozen=True, kw_only=True, tag="card.shown"):
    """The card that its buyers may see while it lies face down. It never leaves the betting audience."""

    audiences: ClassVar = BETTING_ONLY
    place: str
    n: int
    reading: int
    card: PrintedCard


class CardWithdrawn(Event, frozen=True, kw_only=True, tag="card.withdrawn"):
    """The last card of `place` does not lie there (any more): its reading was wrong, or it was surplus."""

    place: str
    n: int
    reading: int
    reason: IncidentKind


class CardBurned(Event, frozen=True, kw_only=True, tag="card.burned"):
    """A card went out of the deck. `n` counts the burned cards of the round.

    Face down it has a `commitment`; the first card of a shoe is shown, and has a `card` (BAC-13).
    """

    n: int
    deal: int
    reason: BurnReason
    commitment: str | None = None
    card: PrintedCard | None = None
    manual: bool = False


class CardHeld(Event, frozen=True, kw_only=True, tag="card.held"):
    """A card that came out too early waits, face down; it is the next one that becomes due (row 23a)."""

    n: int
    deal: int
    reason: IncidentKind
    commitment: str
    manual: bool = False


class CardsRestored(Event, frozen=True, kw_only=True, tag="cards.restored"):
    """The cards lie again as they were dealt: recovered from the floor, or laid out once more."""

    place: str | None = None


class PositionCorrected(Event, frozen=True, kw_only=True, tag="position.corrected"):
    """A card that lay at a wrong place lies at its own now (row 11)."""

    place: str | None = None


class CardsRevealed(Event, frozen=True, kw_only=True, tag="card.revealed"):
    """The cards of `place` were turned; their commitments are opened."""

    place: str
    cards: tuple[OpenedCard, ...]


class CardLaidAside(Event, frozen=True, kw_only=True, tag="card.laid_aside"):
    """Card `n` of `place` lies face down beside the hand (RPL-34)."""

    place: str
    n: int


class HandEvaluated(Event, frozen=True, kw_only=True, tag="hand.evaluated"):
    """What the face-up cards of `place` are worth."""

    place: str
    hand: EvaluatedHand


CardEvent: TypeAlias = (
    CardDealt
    | CardEntered
    | EntriesVoided
    | CardShown
    | CardWithdrawn
    | CardBurned
    | CardHeld
    | CardsRestored
    | PositionCorrected
    | CardsRevealed
    | CardLaidAside
    | HandEvaluated
)
