"""Which devices may read now: those with an interlock hear it after each step of the table.

Cards are read while a deck is checked, while a round is dealt, and whenever an incident may ask for one. A
card that leaves the shoe at any other time is not seen: hence off by default (hardware notes, 3.4).
"""

from __future__ import annotations

from collections.abc import Iterable

from controller.table.charts import Phase
from controller.table.state import TableState
from drivers.contract import Framer, Interlock

READING = frozenset({Phase.DECK_CHECK, Phase.DEALING, Phase.DECIDING})


def is_read_due(state: TableState) -> bool:
    """Return whether a card may have to be read before the table moves on."""
    return state.phase in READING or state.incident is not None


class Interlocks:
    """The devices of a table that can be kept from reading."""

    def __init__(self, framers: Iterable[Framer]) -> None:
        self._framers = tuple(framer for framer in framers if isinstance(framer, Interlock))

    def tell(self, state: TableState) -> None:
        """Tell each what is due; the next tick of its framer sends it."""
        for framer in self._framers:
            framer.expect(is_read_due(state))
