"""What a profile may say in a cell: it must fit its row and itself, and be something that the table can do.

Each check raises ValueError with the row, the cell, what was expected and what to change.
"""

from __future__ import annotations

from collections.abc import Mapping

from controller.table.cells import PRESSES, Cell, CellVerdict, Deck
from controller.table.charts import PHASE_INPUTS, Phase
from controller.table.events import IncidentKind
from controller.table.situations import Axis, Known, Situation


def check_cell(situation: Situation, cell: Cell) -> None:
    """What a cell says must fit its row and itself."""
    where = f"rows.{situation.row}: cell {cell.id!r}"
    for axis in Axis:
        value = cell.value(axis)
        if value is not None and value not in situation.axes.get(axis, ()):
            raise ValueError(f"{where}: {axis} = {value.value!r} can't occur in this row; {_axes(situation)}")
    for phase in cell.phases or ():
        if phase not in situation.phases:
            possible = ", ".join(sorted(situation.phases))
            raise ValueError(
                f"{where}: phase {phase.value!r} can't occur in this row; its phases: {possible}"
            )
    _check_question(where, situation, cell)
    if (cell.verdict is CellVerdict.SUPERVISOR) != (cell.presses is not None):
        got = "has none" if cell.presses is None else f"the verdict is {cell.verdict.value!r}"
        raise ValueError(f"{where}: presses go with the verdict 'supervisor', and only with it; {got}")
    unknown = [press for press in cell.presses or () if press not in PRESSES]
    if unknown:
        raise ValueError(f"{where}: {unknown[0]!r} is no press of a supervisor: {', '.join(sorted(PRESSES))}")
    ends = cell.verdict in (CellVerdict.CANCEL, CellVerdict.CHECK_DECK) or cell.offers("confirm_cancel")
    if cell.deck is Deck.OUT and not ends:
        raise ValueError(f"{where}: deck = 'out' goes with a cancel or check_deck; the deck is in use here")


def _check_question(where: str, situation: Situation, cell: Cell) -> None:
    if (cell.verdict is CellVerdict.ASK) != (cell.asks is not None):
        got = "asks is missing" if cell.asks is None else f"the verdict is {cell.verdict.value!r}"
        raise ValueError(f"{where}: asks goes with the verdict 'ask', and only with it; {got}")
    if cell.asks is None:
        return
    if cell.asks not in situation.questions:
        possible = ", ".join(situation.questions) or "nothing"
        raise ValueError(f"{where}: nobody can be asked for {cell.asks} here; what can be asked: {possible}")
    if cell.value(cell.asks) is not Known.UNKNOWN:
        raise ValueError(
            f"{where}: asks for {cell.asks}, which may be known there; say {cell.asks} = 'unknown'"
        )


def _axes(situation: Situation) -> str:
    several = [f"{axis} {'|'.join(values)}" for axis, values in situation.axes.items()]
    return f"its axes: {', '.join(several) or 'none'}"


OPEN = frozenset({Phase.BETTING, Phase.DEALING, Phase.DECIDING, Phase.RESULT_PROPOSED})
"""A round is open; only then cards are burned, held and scanned again, people asked, and rounds cancelled."""
OUT = frozenset({IncidentKind.EARLY_DRAW, IncidentKind.EARLY_EXCHANGE, IncidentKind.SURPLUS_CARD})
"""A card lies there that is on no place."""
ONLY_FOR: Mapping[CellVerdict, frozenset[IncidentKind]] = {
    CellVerdict.RESCAN: frozenset(
        {
            IncidentKind.FAILED_READ,
            IncidentKind.DISPUTED_READ,
            IncidentKind.SCANNER_LOST,
            IncidentKind.HELD_READ,
        }
    ),
    CellVerdict.RESCAN_ALL: frozenset(
        {IncidentKind.MISREAD_LATE, IncidentKind.DISPUTED_READ, IncidentKind.SHOE_DISAGREES}
    ),
    CellVerdict.BURN: OUT
    | {
        IncidentKind.BURN_FORGOTTEN,
        IncidentKind.TWO_CARDS,
        IncidentKind.BOXED_CARD,
        IncidentKind.CARD_ON_FLOOR,
    },
    CellVerdict.NEXT_DUE: frozenset({IncidentKind.EARLY_DRAW, IncidentKind.EARLY_EXCHANGE}),
    CellVerdict.DROP: frozenset({IncidentKind.SAME_CODE_AGAIN}),
    CellVerdict.TAKE: frozenset(),
}
"""Verdicts that need a card of a kind: one to scan again, to burn, to hold, to forget."""
ONLY_FOR_SHOE: Mapping[CellVerdict, frozenset[IncidentKind]] = {
    CellVerdict.NEXT_DUE: OUT,
    CellVerdict.TAKE: frozenset({IncidentKind.SAME_CODE_AGAIN}),
}
"""What more can be done where the next round is dealt out of the same shoe, and values come again."""


def check_act(where: str, kind: IncidentKind, phase: Phase, cell: Cell, *, shoe: bool) -> None:
    """What a cell says must be something that the table can do in this case."""
    verdict = cell.verdict
    only_for = (ONLY_FOR_SHOE if shoe else {}).get(verdict) or ONLY_FOR.get(verdict, frozenset({kind}))
    if kind not in only_for:
        able = ", ".join(sorted(only_for)) or "a game out of a shoe"
        raise ValueError(f"{where}: {verdict.value!r} can't be done here, only for {able}")
    goes_on = verdict in (CellVerdict.GO_ON, CellVerdict.RESTORE) or cell.offers("go_on")
    if kind in OUT and goes_on:
        raise ValueError(
            f"{where}: going on would lose the card; say 'burn', or 'next_due' where it may wait"
        )
    if verdict is CellVerdict.SHUFFLE and shoe:
        raise ValueError(f"{where}: 'shuffle' can't be done here: cards of this shoe have been dealt")
    if verdict is CellVerdict.SHUFFLE and phase is not Phase.READY:
        raise ValueError(f"{where}: 'shuffle' can't be done in {phase}, only in ready")
    between = [CellVerdict.CHECK_DECK, CellVerdict.SHUFFLE, CellVerdict.GO_ON, CellVerdict.RESTORE]
    if shoe and kind in OUT:
        between += [CellVerdict.ASK, CellVerdict.BURN, CellVerdict.NEXT_DUE]
    if phase not in OPEN and verdict not in between:
        able = ", ".join(sorted(repr(x.value) for x in between))
        raise ValueError(f"{where}: {verdict.value!r} needs an open round; in {phase} expected one of {able}")


PRESS_ONLY_FOR: Mapping[str, frozenset[IncidentKind]] = {
    "order_rescan": ONLY_FOR[CellVerdict.RESCAN] | ONLY_FOR[CellVerdict.RESCAN_ALL],
    "order_entry": frozenset(
        {
            IncidentKind.FAILED_READ,
            IncidentKind.MISREAD_LATE,
            IncidentKind.DISPUTED_READ,
            IncidentKind.SCANNER_LOST,
        }
    ),
    "void_box": frozenset(IncidentKind) - {IncidentKind.RESTARTED},
}
"""Presses that need a card to scan or to enter, or a window that nothing has interrupted."""


def check_presses(where: str, kind: IncidentKind, phase: Phase, cell: Cell) -> None:
    """What a supervisor is offered must be something that he can do in this case."""
    for press in cell.presses or ():
        early = press == "order_entry" and kind is IncidentKind.SCANNER_LOST and cell.gone is not Known.YES
        if early or kind not in PRESS_ONLY_FOR.get(press, (kind,)):
            raise ValueError(f"{where}: {press!r} can't be done here; take it out of the presses")
    if cell.presses is not None and PHASE_INPUTS[phase].isdisjoint(cell.presses):
        raise ValueError(f"{where}: none of its presses is taken in {phase}; add one, or narrow its phases")


def check_restart(where: str, cell: Cell) -> None:
    """A window that a restart has interrupted is never judged by silence (row 35)."""
    if cell.verdict not in (CellVerdict.SUPERVISOR, CellVerdict.CANCEL):
        raise ValueError(
            f"{where}: what is not certain after a restart takes 'supervisor' or 'cancel', "
            f"got {cell.verdict.value!r}"
        )
