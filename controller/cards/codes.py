"""Code maps: what a scanner reads (`1010`, `A01`, a tag's UID) to the card that carries it.

A code map is configuration (`config/decks/*.toml`): complete, and one code names one card.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum

import msgspec

from controller.cards.card import DECK, RANK_LETTERS, Card, Rank, Suit


class Scheme(StrEnum):
    """How a deck's codes are spelled; the sources are in the hardware notes, section 0."""

    SUIT_DIGIT_RANK = "suit-digit-rank"
    """Suit 1 spades, 2 hearts, 3 clubs, 4 diamonds, then rank x 10 in three digits: `1010`, `4130`."""
    LETTER_NUMBER = "letter-number"
    """A spades, H, C, D, then the rank in two digits, ace 01: `A01`, `D12`."""
    ANGEL_EYE = "angel-eye"
    """A card byte of an Angel Eye shoe in hex: 9 diamonds, A clubs, B spades, C hearts, then the rank 1 to D
    (section 0.1): `B1`, `CD`."""
    PLAIN = "plain"
    """Rank and suit letters: `As`, `Td`."""
    TABLE = "table"
    """A table of codes, such as tag UIDs, one to a card."""


class CodeMap(msgspec.Struct, frozen=True):
    """The codes of one set of cards. `name` tells the deck in events and incidents, never the card.

    `copies` is how many cards of the set carry one code: the decks of a shoe whose codes spell values alone.
    `cutting_card` is the code on the card that says that the shoe ends.
    """

    name: str
    cards: Mapping[str, Card]
    copies: int = 1
    cutting_card: str | None = None

    @property
    def size(self) -> int:
        """How many cards the whole set has."""
        return len(self.cards) * self.copies

    def card(self, code: str) -> Card | None:
        """Return the card with this code, or None when the deck has no such code."""
        return self.cards.get(code)

    def code(self, card: Card) -> str:
        """Return the code on this card, the first of several. Raises KeyError when the set lacks the card."""
        for code, candidate in self.cards.items():
            if candidate == card:
                return code
        raise KeyError(str(card))


def code_map(
    name: str,
    scheme: Scheme,
    table: Mapping[str, str] | None = None,
    *,
    decks: int = 1,
    cutting_card: str | None = None,
) -> CodeMap:
    """Build the code map of a set of 52-card decks.

    `table` maps code to card text and is used by `Scheme.TABLE` alone: there every card of every deck has a
    code of its own. The other schemes spell values, so that each code is on `decks` cards. Raises ValueError
    when the map is not complete or a card has too many codes, naming the first card or code that is wrong.
    """
    if (scheme is Scheme.TABLE) != (table is not None):
        raise ValueError(f"deck {name}: scheme {scheme} and a table of codes do not go together")
    spelled = (
        [(code, Card.parse(text)) for code, text in table.items()]
        if table is not None
        else [(SPELLINGS[scheme](card), card) for card in DECK]
    )
    cards = dict(spelled)
    missing = [str(card) for card in DECK if card not in cards.values()]
    if missing:
        raise ValueError(f"deck {name}: no code for {', '.join(missing)}")
    codes = decks if table is not None else 1
    if len(cards) != len(DECK) * codes:
        count = len(DECK) * codes
        raise ValueError(f"deck {name}: {len(cards)} codes for {count} cards; one card needs one code")
    wrong = [str(card) for card, found in Counter(cards.values()).items() if found != codes]
    if wrong:
        raise ValueError(f"deck {name}: not {codes} codes for {', '.join(wrong)}")
    if cutting_card in cards:
        raise ValueError(f"deck {name}: cutting_card {cutting_card!r} is the code of a card")
    return CodeMap(name, cards, decks // codes, cutting_card)


def _number(rank: Rank) -> int:
    return 1 if rank is Rank.ACE else int(rank)


def _suit_digit_rank(card: Card) -> str:
    digit = {Suit.SPADES: 1, Suit.HEARTS: 2, Suit.CLUBS: 3, Suit.DIAMONDS: 4}[card.suit]
    return f"{digit}{_number(card.rank) * 10:03d}"


def _letter_number(card: Card) -> str:
    letter = {Suit.SPADES: "A", Suit.HEARTS: "H", Suit.CLUBS: "C", Suit.DIAMONDS: "D"}[card.suit]
    return f"{letter}{_number(card.rank):02d}"


def _angel_eye(card: Card) -> str:
    digit = {Suit.DIAMONDS: "9", Suit.CLUBS: "A", Suit.SPADES: "B", Suit.HEARTS: "C"}[card.suit]
    return f"{digit}{_number(card.rank):X}"


def _plain(card: Card) -> str:
    return RANK_LETTERS[card.rank] + card.suit


SPELLINGS = {
    Scheme.SUIT_DIGIT_RANK: _suit_digit_rank,
    Scheme.LETTER_NUMBER: _letter_number,
    Scheme.ANGEL_EYE: _angel_eye,
    Scheme.PLAIN: _plain,
}
