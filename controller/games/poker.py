"""Poker hands of five and six cards, with both combinations that Russian Poker pays (COM-04, DBL)."""

from __future__ import annotations

import msgspec

from controller.cards import Card
from controller.games.combinations import Kind, PairedStraight, Places, shape_of


class Combination(msgspec.Struct, frozen=True, gc=False):
    """A combination is the cards that form it, kickers left out (DBL-01)."""

    kind: Kind
    cards: tuple[Card, ...]


class Hand(msgspec.Struct, frozen=True, gc=False):
    """What five or six cards hold.

    `main` is the highest combination, None for "no game". `second` is the dearest one different from it
    (DBL-06), paid to players only: a dealer's hand has `main` alone (DBL-05). `rank` compares the best
    five cards: greater wins, equal ties (COM-09, COM-10).
    """

    main: Combination | None
    second: Combination | None
    rank: int

    @property
    def qualifies(self) -> bool:
        """Ace-King or better (RPL-31)."""
        return self.main is not None

    @property
    def combinations(self) -> tuple[Combination, ...]:
        """The combinations that are paid, main first; empty for "no game"."""
        if self.main is None:
            return ()
        return (self.main,) if self.second is None else (self.main, self.second)


def evaluate(cards: tuple[Card, ...], *, paired_straight: PairedStraight = PairedStraight.STRAIGHT) -> Hand:
    """Evaluate five or six cards of one deck, in any order.

    Raises ValueError for another number of cards and for a card that is there twice.
    """
    if not 5 <= len(cards) <= 6:
        raise ValueError(f"a hand has five or six cards, got {len(cards)}")
    if len(set(cards)) != len(cards):
        raise ValueError(f"a card is in the hand twice: {' '.join(map(str, cards))}")
    high_to_low = sorted(cards, reverse=True)
    ranks, suits = zip(*high_to_low, strict=True)
    shape = shape_of(ranks, _suited_places(suits), paired_straight)
    if shape.main is None:
        return Hand(None, None, shape.rank)
    return Hand(
        Combination(shape.main, shape.main_cards(high_to_low)),
        None if shape.second is None else Combination(shape.second, shape.second_cards(high_to_low)),
        shape.rank,
    )


def _suited_places(suits: tuple[str, ...]) -> Places:
    """Return the places of the suit that has five cards or more; one of the first two cards has it."""
    for suit in suits[:2]:
        if suits.count(suit) >= 5:
            return tuple(place for place, candidate in enumerate(suits) if candidate == suit)
    return ()
