"""A deck that runs out inside a round (row 28). START makes sure that none does, unless cards are missing."""

from __future__ import annotations

from controller.games.procedure import Deal
from controller.table.events import IncidentKind
from controller.table.procedures import applies, meet
from controller.table.state import TableState


def follow(t: TableState) -> None:
    """End a step: a card is owed, and by the table's own count none is left. Else the dealer reports it."""
    if t.round is None or t.incident is not None or t.register.left_count > 0:
        return
    if isinstance(t.round.run.owed, Deal) and applies(t, IncidentKind.DECK_EMPTY):
        meet(t, IncidentKind.DECK_EMPTY, {})
