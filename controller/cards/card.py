"""Cards: rank, suit and the two-character text that every event carries (`As`, `Td`, `2c`)."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Annotated, NamedTuple, TypeAlias

import msgspec


class Rank(IntEnum):
    """Rank of a card, ace high (COM-02). The ace's low use belongs to the straights of `games`."""

    TWO = 2
    THREE = 3
    FOUR = 4
    FIVE = 5
    SIX = 6
    SEVEN = 7
    EIGHT = 8
    NINE = 9
    TEN = 10
    JACK = 11
    QUEEN = 12
    KING = 13
    ACE = 14


class Suit(StrEnum):
    """Suit of a card; suits never rank (COM-03)."""

    CLUBS = "c"
    DIAMONDS = "d"
    HEARTS = "h"
    SPADES = "s"


RANK_LETTERS = "..23456789TJQKA"
CARD_PATTERN = "^[2-9TJQKA][cdhs]$"
PrintedCard: TypeAlias = Annotated[str, msgspec.Meta(extra_json_schema={"pattern": CARD_PATTERN})]
"""The text of a card in what is published. Schemas show by it where a card may stand; no reader checks it."""


class Card(NamedTuple):
    """One card by what is printed on it. Two physical cards of a shoe may be equal."""

    rank: Rank
    suit: Suit

    def __str__(self) -> str:
        return RANK_LETTERS[self.rank] + self.suit

    @classmethod
    def parse(cls, text: str) -> Card:
        """Read `As`, `Td`, `2c`. Raises ValueError for anything else."""
        try:
            return FROM_TEXT[text]
        except KeyError:
            raise ValueError(f"{text!r} is not a card: rank 23456789TJQKA, then suit c d h s") from None


DECK: tuple[Card, ...] = tuple(Card(rank, suit) for suit in Suit for rank in Rank)
"""The 52 cards of one deck, no jokers (COM-01)."""

FROM_TEXT = {str(card): card for card in DECK}


def parse_cards(text: str) -> tuple[Card, ...]:
    """Read cards separated by spaces, as in `"As Kd 2c"`."""
    return tuple(Card.parse(word) for word in text.split())
