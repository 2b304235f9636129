"""A cell of a procedure profile: what the table does in one case, and what a supervisor may press there."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

import msgspec

from controller.table.charts import Phase
from controller.table.situations import Axis, Known

PRESSES = frozenset({"confirm_cancel", "go_on", "order_rescan", "order_entry", "order_redeal", "void_box"})


class CellVerdict(StrEnum):
    """What the table does now."""

    ASK = "ask"
    """Ask the dealer for the axis that `asks` names, and look again."""
    RESCAN = "rescan"
    """The card in question is scanned again."""
    RESCAN_ALL = "rescan_all"
    """All cards of the round are scanned again, from the first, in the order of drawing."""
    SUPERVISOR = "supervisor"
    """A supervisor decides by one of the cell's presses."""
    CANCEL = "cancel"
    """Cancel and refund; where a person's report leads here, a supervisor presses."""
    BURN = "burn"
    """The card goes out of the deck, face down; one that was not scanned is scanned first."""
    NEXT_DUE = "next_due"
    """The card waits, face down, and is the next one that becomes due."""
    DROP = "drop"
    """The reading counts as never made."""
    RESTORE = "restore"
    """The cards lie again as the picture shows them; go on."""
    GO_ON = "go_on"
    """It is on record; go on."""
    CHECK_DECK = "check_deck"
    """Go on; the deck is checked before the next round."""
    TAKE = "take"
    """It is another card of the same value: it is taken as it came."""
    SHUFFLE = "shuffle"
    """The deck is shuffled again before the round."""


class Deck(StrEnum):
    """What becomes of the deck with the verdict."""

    KEEP = "keep"
    OUT = "out"
    """It is changed and verified in view before the next round (RPL-76, rows 5 and 6)."""


Names = Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]


class Cell(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One cell. `presses` are what a supervisor may press; `by` is said where no supervisor is needed."""

    id: str
    verdict: CellVerdict
    phases: tuple[Phase, ...] | None = None
    scanned: Known | None = None
    revealed: Known | None = None
    later: Known | None = None
    certain: Known | None = None
    initial: Known | None = None
    decision: Known | None = None
    rescan: Known | None = None
    dealers: Known | None = None
    hidden: Known | None = None
    gone: Known | None = None
    other: Known | None = None
    asks: Axis | None = None
    presses: Names | None = None
    deck: Deck = Deck.KEEP
    why: str = ""

    def value(self, axis: Axis) -> Known | None:
        """Return what the cell asks of an axis; None where any value fits."""
        found: Known | None = getattr(self, axis)
        return found

    def fits(self, phase: Phase, values: Mapping[Axis, Known]) -> bool:
        """Whether this cell may decide a case."""
        in_phase = self.phases is None or phase in self.phases
        return in_phase and all(self.value(axis) in (None, value) for axis, value in values.items())

    def offers(self, press: str) -> bool:
        """Whether a supervisor may press this."""
        return press in (self.presses or ())

    @property
    def specificity(self) -> int:
        """How many conditions it has."""
        return (self.phases is not None) + sum(self.value(axis) is not None for axis in Axis)
