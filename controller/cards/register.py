"""The register of the set in use: which codes exist and which cards are out of the shoe.

Every read passes here before anything else looks at it: unknown code, code of another deck, one card more
than the set has (procedures, rows 5, 6 and "Inventory"). A set is one deck or many; its codes name single
cards, or the value alone, of which it then has `copies`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
    """One set in use. `Where` is the caller's word for a place on the table."""

    def __init__(self, deck: CodeMap, other_decks: Iterable[CodeMap] = ()) -> None:
        """`other_decks` are those whose cards are known as foreign."""
        self.deck = deck
        self.other_decks = tuple(other_decks)
        self._out: list[tuple[str, Where]] = []

    def check(self, code: str) -> Card | Anomaly:
        """Return the card with `code`, or what speaks against it. Changes nothing."""
        card = self.deck.card(code)
        if card is None:
            foreign = any(deck.card(code) is not None for deck in self.other_decks)
            return Anomaly.FOREIGN_CODE if foreign else Anomaly.UNKNOWN_CODE
        return Anomaly.ALREADY_OUT if len(self.places(code)) >= self.deck.copies else card

    def places(self, code: str) -> tuple[Where, ...]:
        """Return where the cards with `code` lie, in the order in which they left the shoe."""
        return tuple(where for known, where in self._out if known == code)

    def where(self, code: str) -> Where:
        """Return where the last card with `code` to leave lies. Raises KeyError while all are in the shoe."""
        places = self.places(code)
        if not places:
            raise KeyError(code)
        return places[-1]

    def take(self, code: str, where: Where) -> None:
        """Note that a card with `code` has left the shoe; `check` has passed before."""
        assert isinstance(self.check(code), Card), code
        self._out.append((code, where))

    def withdraw(self, code: str, where: Where | None = None) -> None:
        """Take a reading of `code` back, the one at `where` or the last: that card is in the shoe again.

        Where several cards have the code, the others stay where they lie.
        """
        self._out.remove((code, self.where(code) if where is None else where))

    def move(self, code: str, where: Where) -> None:
        """Note that the card with `code` that left last lies somewhere else now (burned, for example)."""
        assert self.places(code), code
        self._out[self._out.index((code, self.where(code)))] = (code, where)

    def code_of(self, card: Card) -> str:
        """Return a code of this card that is still in the shoe; where none is, one that is out."""
        codes = [code for code, known in self.deck.cards.items() if known == card]
        return next((code for code in codes if self.check(code) == card), codes[0])

    def rename(self, name: Callable[[Where], Where]) -> None:
        """Call the places of all cards that are out by other names: they have been collected."""
        self._out = [(code, name(where)) for code, where in self._out]

    def shuffle(self) -> None:
        """All cards are back in the shoe."""
        self._out.clear()

    def drawn(self) -> tuple[Card, ...]:
        """Return the cards that are out, in the order in which they left the shoe."""
        return tuple(self.deck.cards[code] for code, _ in self._out)

    def out(self) -> tuple[tuple[str, Where], ...]:
        """Return code and place of every card that is out, in the order in which they left the shoe."""
        return tuple(self._out)

    @property
    def size(self) -> int:
        """How many cards the whole set has."""
        return self.deck.size

    @property
    def out_count(self) -> int:
        """How many cards are out of the shoe."""
        return len(self._out)

    @property
    def left_count(self) -> int:
        """How many cards the shoe still holds."""
        return self.size - len(self._out)
