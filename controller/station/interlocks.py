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


def tell_interlocks(framers: Iterable[Framer], state: TableState) -> None:
    """Tell each device that can be kept from reading what is due; the next tick of its framer sends it."""
    is_due = is_read_due(state)
    for framer in framers:
        if isinstance(framer, Interlock):
            framer.expect(is_due)
