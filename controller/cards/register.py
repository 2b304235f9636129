"""The register of one deck: which codes exist and which are out of the shoe.

Every read passes here before anything else looks at it: unknown code, code of another deck, the same
card twice (procedures, rows 5, 6 and "Inventory").
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Generic, TypeVar

from controller.cards.card import Card
from controller.cards.codes import CodeMap

Where = TypeVar("Where")


class Anomaly(StrEnum):
    """What the register can say against a code."""

    UNKNOWN_CODE = "UNKNOWN_CODE"
    FOREIGN_CODE = "FOREIGN_CODE"
    ALREADY_OUT = "ALREADY_OUT"


class Register(Generic[Where]):
    """One deck in use. `Where` is the caller's word for a place on the table."""

    def __init__(self, deck: CodeMap, other_decks: Iterable[CodeMap] = ()) -> None:
        self.deck = deck
        self.other_decks = tuple(other_decks)
        self._out: dict[str, Where] = {}

    def check(self, code: str) -> Card | Anomaly:
        """Return the card with `code`, or what speaks against it. Changes nothing."""
        card = self.deck.card(code)
        if card is None:
            foreign = any(deck.card(code) is not None for deck in self.other_decks)
            return Anomaly.FOREIGN_CODE if foreign else Anomaly.UNKNOWN_CODE
        return Anomaly.ALREADY_OUT if code in self._out else card

    def where(self, code: str) -> Where:
        """Return where the card with `code` lies. Raises KeyError while it is in the shoe."""
        return self._out[code]

    def take(self, code: str, where: Where) -> None:
        """Note that the card with `code` has left the shoe; `check` has passed before."""
        assert isinstance(self.check(code), Card), code
        self._out[code] = where

    def withdraw(self, code: str) -> None:
        """Take a wrong reading back: the card with `code` counts as in the shoe again."""
        del self._out[code]

    def move(self, code: str, where: Where) -> None:
        """Note that a card that is out lies somewhere else now (burned, for example)."""
        assert code in self._out, code
        self._out[code] = where

    def shuffle(self) -> None:
        """All cards are back in the shoe."""
        self._out.clear()

    @property
    def out_count(self) -> int:
        """How many cards are out of the shoe."""
        return len(self._out)

    @property
    def left_count(self) -> int:
        """How many cards the shoe still holds."""
        return len(self.deck.cards) - len(self._out)
