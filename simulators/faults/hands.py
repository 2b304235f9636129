"""What a fault needs of the dealer who commits it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from controller.cards import DECK, Card
from controller.table import inputs as i
from controller.table.picture import Picture
from simulators.actor import Act, Press, Scan
from simulators.devices.families import Mishap
from simulators.faults.catalogue import Case, Plan
from simulators.faults.garbled import Garbled
from simulators.onlookers import Onlookers


class Hardware(NamedTuple):
    """What is printed on the cards.

    `deck` is the deck's name; `spell_foreign` spells a card of one that does not belong to the table; `card`
    is what the table takes a code for.
    """

    deck: str

    spell: Callable[[Card], str]
    spell_foreign: Callable[[Card], str]
    card: Callable[[str], Card | None]
    cutting_card: str | None = None

    @property
    def unknown_code(self) -> str:
        """A code that no deck of the house has, as long as theirs."""
        return "F" * len(self.spell(DECK[0]))


class Hands(Protocol):
    """What a fault needs of the dealer."""

    scanner: str
    onlookers: Onlookers
    hardware: Hardware
    plan: Plan
    committed: dict[int, Case]
    garbled: dict[int, Garbled]

    def due_fault(self, picture: Picture) -> Case | None: ...
    def press(self, picture: Picture, command: i.AnyCommand, request: str | None = None) -> Press: ...
    def show(self, code: str | None, mishap: Mishap | None = None) -> Scan: ...
    def card(self, picture: Picture, back: int = 0) -> Card: ...
    def drawn(self, picture: Picture) -> tuple[Card, ...]: ...
    def last_of_shoe(self, picture: Picture) -> Card: ...
    def hold(self, picture: Picture) -> str: ...
    def scan(self, picture: Picture, mishap: Mishap | None = None) -> Scan: ...
    def stub_count(self, picture: Picture) -> int: ...
    def misread(self, picture: Picture, wrong: Card) -> Scan: ...


Deed = Callable[[Hands, Picture], list[Act]]
