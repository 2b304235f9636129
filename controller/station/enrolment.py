"""Scanning a deck in: a tag for every card, or the proof that a deck is whole.

`Enrolment` pairs codes with cards that it asks for in a fixed order; `Inspection` compares what is read with
a deck that has its codes already. Both take one code after another and say at once what is wrong with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from controller.cards import Card, CodeMap
from controller.cards.card import DECK, FROM_TEXT

NEW_DECK: tuple[Card, ...] = tuple(FROM_TEXT[rank + suit] for suit in "shcd" for rank in "A23456789TJQK")
"""Spades, hearts, clubs, diamonds, ace to king."""
AT_ONCE_US = 50_000
"""Two codes closer together than this are two tags that lie on the reader; nobody shows cards so fast."""


class Enrolment:
    """Codes for the cards of `order`, one by one. Nothing that is refused changes it."""

    def __init__(
        self,
        others: Sequence[CodeMap],
        order: Sequence[Card] = NEW_DECK,
        codes: Mapping[str, Card] | None = None,
    ) -> None:
        """Begin, or go on: `codes` are those of the first cards of `order`."""
        assert sorted(order) == sorted(DECK), "every card once"
        self.order = tuple(order)
        self.codes: dict[str, Card] = dict(codes or {})
        self._others = others
        self._last_code = ""
        self._last_us: int | None = None
        self._taken: str | None = None

    @property
    def is_complete(self) -> bool:
        """Whether every card has its code."""
        return len(self.codes) == len(self.order)

    @property
    def prompt(self) -> str:
        """What is to be shown now."""
        count = len(self.codes)
        return (
            "all cards have their code" if self.is_complete else f"{count + 1}/52: show {self.order[count]}"
        )

    def take(self, code: str, at_us: int) -> str:
        """Pair a code with the card that is asked for, or refuse it; returns what has happened."""
        before, before_us, taken = self._last_code, self._last_us, self._taken
        self._last_code, self._last_us, self._taken = code, at_us, None
        if code != before and before_us is not None and at_us - before_us < AT_ONCE_US:
            if taken is not None:
                del self.codes[taken]
            return f"{before!r} and {code!r} came at once: neither is taken; show one card alone"
        refusal = self._refusal(code)
        if refusal is not None:
            return f"{code!r} refused: {refusal}"
        card = self.order[len(self.codes)]
        self.codes[code] = card
        self._taken = code
        return f"{card} is {code!r}"

    def _refusal(self, code: str) -> str | None:
        known = self.codes.get(code)
        if known is not None:
            return f"it is {known} already, the code of card {list(self.codes).index(code) + 1}"
        for deck in self._others:
            card = deck.card(code)
            if card is not None:
                return f"it is {card} of deck {deck.name}"
        return self.prompt if self.is_complete else None

    def go_back(self, count: int) -> None:
        """Forget the last `count` cards; they are asked for again."""
        for code in list(self.codes)[len(self.codes) - min(count, len(self.codes)) :]:
            del self.codes[code]


class Inspection:
    """What is read of a deck that has its codes: each card as often as due, none of another deck."""

    def __init__(self, deck: CodeMap, others: Sequence[CodeMap]) -> None:
        self._deck = deck
        self._others = others
        self._copies = deck.size // len(DECK)
        self._read: list[Card] = []
        self._read_us: dict[Card, int] = {}
        self._foreign: list[str] = []

    @property
    def is_complete(self) -> bool:
        """Whether every card was read; more may come."""
        return self._found == self._deck.size

    @property
    def prompt(self) -> str:
        """How far it is."""
        return f"{self._found}/{self._deck.size}"

    @property
    def _found(self) -> int:
        return sum(min(count, self._copies) for count in Counter(self._read).values())

    def take(self, code: str, at_us: int) -> str:
        """Take a code; returns what it is."""
        card = self._deck.card(code)
        if card is None:
            found = [f"{other.card(code)} of deck {other.name}" for other in self._others if other.card(code)]
            text = f"{code!r}: {found[0] if found else f'no card of deck {self._deck.name}'}"
            self._foreign.append(text)
            return f"FOREIGN {text}"
        self._read.append(card)
        before_us = self._read_us.get(card)
        self._read_us[card] = at_us
        if before_us is None or self._read.count(card) <= self._copies:
            return f"{card}"
        first, ago = self._read.index(card) + 1, (at_us - before_us) / 1_000_000
        return f"DOUBLED {card}: read as card {first}, now as {len(self._read)}; {ago:.1f} s lie between"

    def wrong(self) -> Iterator[str]:
        """Yield what this deck has too few, too many, or of another deck."""
        counts = Counter(self._read)
        missing = [
            f"{card} ({self._copies - counts[card]} times)" if self._copies > 1 else str(card)
            for card in NEW_DECK
            if counts[card] < self._copies
        ]
        doubled = [f"{card} ({counts[card]} times)" for card in NEW_DECK if counts[card] > self._copies]
        if missing:
            yield f"missing: {', '.join(missing)}"
        if doubled:
            yield (
                f"doubled: {', '.join(doubled)}; if one card was read twice, begin again, "
                "else a card too many is in it"
            )
        if self._foreign:
            yield f"foreign: {'; '.join(dict.fromkeys(self._foreign))}"
