"""The simulated dealer of a game that is dealt out of one shoe for many rounds.

The cards of each shoe lie in an order that hangs on seed and shoe alone; which one comes next follows from
how many came out before. The cutting card lies among them; every second shoe has one that no scanner reads,
so that the dealer presses.
"""

from __future__ import annotations

import random
from typing import Any

from controller.cards import DECK, Card
from controller.games.procedure import ShoePlan
from controller.table import inputs as i
from controller.table.picture import Picture
from simulators import decks
from simulators.actor import Act, Planned
from simulators.dealer import Dealer
from simulators.faults.catalogue import Case

DRAWS = frozenset({"DEAL_CARD", "SHOW_FIRST_CARD", "BURN_NEXT", "BURN_CARD"})
"""Prompts at which the next card leaves the shoe."""
APART_US = 500_000
"""Nobody draws two cards faster, whatever has happened meanwhile."""
NEVER_DRAWN = 6
"""So many of the last cards of a shoe never leave it: behind the cutting card lie more than are dealt."""


def shoe_of(seed: int, number: int, deck_count: int) -> tuple[Card, ...]:
    """Return the cards of a shoe in the order in which they will be drawn."""
    cards = list(DECK) * deck_count
    random.Random(f"{seed}/shoe of {deck_count}/{number}").shuffle(cards)
    return tuple(cards)


class ShoeDealer(Dealer):
    """The person at the table, with a shoe."""

    def __init__(self, name: str, *, plan_of_shoe: ShoePlan, **given: Any) -> None:
        super().__init__(name, **given)
        self._shoe_plan = plan_of_shoe
        self._shoes: dict[int, int] = {}
        """Which shoe each round was dealt from."""
        self.begins: dict[int, int] = {}
        """How many cards were out of the shoe before the first one of a round."""
        self.used: dict[int, int] = {}
        """How many were out after its last one, without those that wait for the next round."""
        self._lies: tuple[object, ...] = ()
        self._read_us = 0
        """When what lies on the table changed last."""
        self._held_count = 0

    @property
    def deck_size(self) -> int:
        """How many cards a whole shoe has."""
        return len(DECK) * self._shoe_plan.decks

    def laid(self, round_no: int) -> tuple[Card, ...]:
        """Return the cards that were dealt in a round, in the order of drawing; burned ones left out."""
        _, burned = self.out[round_no]
        cards = shoe_of(self.seed, self._shoes[round_no], self._shoe_plan.decks)
        return tuple(
            cards[index] for index in range(self.begins[round_no], self.used[round_no]) if index not in burned
        )

    def next_index(self, picture: Picture) -> int:
        """Return how many cards are out of the shoe."""
        if picture.roundid is None:
            return self._begin(picture, picture.round_no + 1) + picture.held_count
        return self._begin(picture, picture.round_no) + decks.lying(picture)

    def _begin(self, picture: Picture, round_no: int) -> int:
        before = self._shoes.get(round_no - 1)
        return self.used[round_no - 1] if before == picture.deck_number else 0

    def _plan(self, picture: Picture, now_us: int) -> list[Planned]:
        planned = super()._plan(picture, now_us)
        if picture.prompt.code not in DRAWS:
            return planned
        return [Planned(max(one.at_us, self._read_us + APART_US), one.act) for one in planned]

    def due_fault(self, picture: Picture) -> Case | None:
        """Return the fault that is still to be committed; not while the cutting card is to come out first."""
        return None if self._is_cutting_card_next(picture) else super().due_fault(picture)

    def _count(self, picture: Picture) -> None:
        lies = (picture.places, picture.burned_count, picture.held_count)
        if lies != self._lies:
            self._lies, self._read_us = lies, picture.at_us
        self._count_out(picture)
        self._held_count = picture.held_count

    def _count_out(self, picture: Picture) -> None:
        number = picture.round_no
        if picture.roundid is None or picture.deck is None:
            return
        _, burned = self.out.get(number, (0, frozenset()))
        self._shoes[number] = picture.deck_number
        self.begins[number] = self._begin(picture, number)
        out = self.next_index(picture)
        if picture.burned_count > len(burned):
            # One that had waited is the first of those that were out; else the last one is burned.
            had_waited = picture.held_count < self._held_count
            burned |= {out - 1 - (picture.held_count if had_waited else 0)}
        self.deals[number] = picture.deal
        self.used[number] = out - picture.held_count
        self.out[number] = (out - self.begins[number], burned)

    def card(self, picture: Picture, back: int = 0) -> Card:
        """Return the card that leaves the shoe next, or one that came out `back` cards before it."""
        return self._lying_in_shoe(picture)[self.next_index(picture) - back]

    def drawn(self, picture: Picture) -> tuple[Card, ...]:
        """Return the cards that have left the shoe in this round, in order."""
        begin = self.begins[picture.round_no]
        return self._lying_in_shoe(picture)[begin : self.next_index(picture)]

    def last_of_shoe(self, picture: Picture) -> Card:
        """Return a card that never leaves the shoe, often another one than in the round before.

        It differs from the one that comes next and from the last that came.
        """
        cards, index = self._lying_in_shoe(picture), self.next_index(picture)
        first = picture.round_no % NEVER_DRAWN
        behind = cards[-NEVER_DRAWN:][first:] + cards[-NEVER_DRAWN:][:first]
        return next(card for card in behind if card not in cards[max(0, index - 1) : index + 1])

    def _lying_in_shoe(self, picture: Picture) -> tuple[Card, ...]:
        return shoe_of(self.seed, picture.deck_number, self._shoe_plan.decks)

    def stub_count(self, picture: Picture) -> int:
        """Return how many cards really are not out."""
        return self.deck_size - self.next_index(picture) - (self.committed_fault(picture) == "card-lost")

    def whole_count(self, picture: Picture) -> int:
        """Return how many cards a shoe has: all, or what is left of one that goes on."""
        return self.deck_size if picture.deck is None else self.stub_count(picture)

    def set_card(self, picture: Picture, fault: str | None) -> Card | None:
        """Return the card of the set that is scanned next: deck after deck, each in its order."""
        return DECK[((picture.prompt.n or 1) - 1) % len(DECK)]

    def _act(self, picture: Picture) -> list[Act]:
        if picture.prompt.code in DRAWS and self._is_cutting_card_next(picture):
            reserved = self.hardware.cutting_card
            if reserved is None or picture.deck_number % 2 == 0:
                return [self.press(picture, i.CuttingCard())]
            return [self.show(reserved)]
        return super()._act(picture)

    def _is_cutting_card_next(self, picture: Picture) -> bool:
        is_out = self.next_index(picture) >= self.deck_size - self._shoe_plan.cutting_card_from_end
        return is_out and picture.last_round is None
