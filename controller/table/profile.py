"""A procedure profile: the decision table, as data, of what happens when a deal goes wrong.

A cell says for a situation, the phase and the values of its axes what the table does. An axis that a cell
does not name is a wildcard. Reading a profile proves that every combination that can occur has exactly
one most specific cell, that no cell is idle, and that every row of the procedures is there.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any

import msgspec

from controller.table.charts import PHASE_INPUTS, Phase
from controller.table.events import IncidentKind
from controller.table.limits import Limits
from controller.table.situations import SITUATIONS, Axis, Known, Sensor, Situation

ROWS: tuple[str, ...] = (
    *("1", "2", "2b", *map(str, range(3, 20)), "19b"),
    *("20a", "20b", "20c", "21", "22", "23a", "23b", "23c", "23d", "23e"),
    *(*map(str, range(24, 36)), "35b", *map(str, range(36, 43))),
)
"""The rows of the procedures; each is decided in a profile, or marked not applicable there."""


NOTICING = frozenset({Sensor.TABLE, Sensor.SCANNER})
"""What every table has: a case that these notice comes whether the profile wants it or not."""


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


class RowFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One row as it is written: cells, or the reason why it can't apply, or what else decides it."""

    title: str
    cells: tuple[Cell, ...] = ()
    not_applicable: str | None = None
    built_in: str | None = None
    """The row is enforced by the table's own order, whatever the profile: what it does."""


class ProfileFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A profile's TOML file. A row given here replaces the base's row of that number wholly."""

    name: str
    base: str | None = None
    shoe: bool = False
    """For games that are dealt round after round out of one shoe: cards may wait for the next round."""
    limits: dict[str, Any] = {}
    rows: dict[str, RowFile] = {}


Key = tuple[IncidentKind, Phase, tuple[Known, ...]]


class Profile(msgspec.Struct, frozen=True):
    """A proven profile: `decided` has exactly one cell for every case that can occur."""

    name: str
    rows: Mapping[str, RowFile]
    limits: Limits
    decided: Mapping[Key, Cell]
    content: str
    """Rows and limits in one canonical JSON text, which the journal keeps."""
    digest: str
    """SHA-256 of `content` in hex: it names the procedures in every round and every approval."""
    shoe: bool = False

    def cell(self, kind: IncidentKind, phase: Phase, values: Mapping[Axis, Known]) -> Cell:
        """Return the cell of a case. KeyError for one that can't occur is a bug of ours."""
        axes = SITUATIONS[kind].axes
        return self.decided[kind, phase, tuple(values[axis] for axis in axes)]


def read_profile(files: Iterable[ProfileFile]) -> Profile:
    """Lay the files over one another, base first, and prove the result.

    Raises ValueError, which names row, cell and case.
    """
    name, rows, limits, given_by = "", dict[str, RowFile](), dict[str, Any](), dict[str, str]()
    shoe = False
    for file in files:
        name = file.name
        shoe = shoe or file.shoe
        rows.update(file.rows)
        limits.update(file.limits)
        given_by.update(dict.fromkeys(file.rows, file.name))
    missing = [row for row in ROWS if row not in rows]
    if missing:
        wanted = "its cells, or the reason as built_in or not_applicable"
        raise ValueError(f"rows.{missing[0]}: missing; give it {wanted} (all missing: {', '.join(missing)})")
    decided: dict[Key, Cell] = {}
    for number, row in rows.items():
        try:
            decided.update(_read_row(number, row, shoe=shoe))
        except ValueError as error:
            base = "" if given_by[number] == name else f" (the row is that of {given_by[number]!r})"
            raise ValueError(f"{error}{base}") from None
    checked = msgspec.convert(limits, Limits)
    said = (rows, checked, "shoe") if shoe else (rows, checked)
    content = msgspec.json.encode(said, order="deterministic")
    return Profile(name, rows, checked, decided, content.decode(), hashlib.sha256(content).hexdigest(), shoe)


def cases(situation: Situation) -> Iterable[tuple[Phase, dict[Axis, Known]]]:
    """Yield every case of a situation that can occur."""
    for phase in sorted(situation.phases):
        for values in itertools.product(*situation.axes.values()):
            yield phase, dict(zip(situation.axes, values, strict=True))


def case_text(kind: IncidentKind, phase: Phase, values: Mapping[Axis, Known]) -> str:
    """Name a case as messages do: `EARLY_DRAW in betting, scanned yes, revealed no`."""
    return ", ".join((f"{kind} in {phase}", *(f"{axis} {value}" for axis, value in values.items())))


def _read_row(number: str, row: RowFile, *, shoe: bool) -> dict[Key, Cell]:
    """Return what a row decides: nothing for one that the profile leaves to the table."""
    if number not in ROWS:
        raise ValueError(f"rows.{number}: no row of the procedures; they are {', '.join(ROWS)}")
    answers = {"cells": row.cells, "not_applicable": row.not_applicable, "built_in": row.built_in}
    given = [name for name, answer in answers.items() if answer not in ((), None)]
    if len(given) != 1:
        got = " and ".join(given) or "none of them"
        raise ValueError(f"rows.{number}: expected one of cells, not_applicable, built_in; got {got}")
    kinds = [kind for kind, situation in SITUATIONS.items() if situation.row == number]
    if row.cells and not kinds:
        raise ValueError(
            f"rows.{number}: has cells, but the table meets no case of this row; "
            f"say as built_in or not_applicable what becomes of it"
        )
    if row.built_in is not None and kinds:
        raise ValueError(f"rows.{number}: the table asks the profile here; give cells, not built_in")
    by_itself = {sensor for kind in kinds for sensor in SITUATIONS[kind].sensors} & NOTICING
    if row.not_applicable is not None and by_itself:
        what = " and ".join(sorted(by_itself))
        raise ValueError(f"rows.{number}: the table notices this by itself ({what}); give cells")
    twice = [cell for cell, count in Counter(cell.id for cell in row.cells).items() if count > 1]
    if twice:
        raise ValueError(f"rows.{number}: two cells are called {twice[0]!r}; give each its own id")
    decided: dict[Key, Cell] = {}
    for kind in kinds if row.cells else ():
        decided.update(_prove(kind, SITUATIONS[kind], row, shoe=shoe))
    return decided


def _prove(kind: IncidentKind, situation: Situation, row: RowFile, *, shoe: bool) -> dict[Key, Cell]:
    """Find the one most specific cell of every case. Raises ValueError for none, for two, for an idle one."""
    for cell in row.cells:
        _check_cell(situation, cell)
    decided: dict[Key, Cell] = {}
    for phase, values in cases(situation):
        fitting = [cell for cell in row.cells if cell.fits(phase, values)]
        case = f"rows.{situation.row}: {case_text(kind, phase, values)}"
        if not fitting:
            known = ", ".join(repr(cell.id) for cell in row.cells)
            raise ValueError(f"{case}: no cell decides it; add one, or drop a condition of one of {known}")
        top = max(cell.specificity for cell in fitting)
        best = [cell for cell in fitting if cell.specificity == top]
        if len(best) > 1:
            raise ValueError(
                f"{case}: cells {best[0].id!r} and {best[1].id!r} both decide it and are equally specific; "
                f"give one of them another condition"
            )
        where = f"{case}: cell {best[0].id!r}"
        _check_act(where, kind, phase, best[0], shoe=shoe)
        _check_presses(where, kind, phase, best[0])
        if kind is IncidentKind.RESTARTED and values[Axis.CERTAIN] is Known.NO:
            _check_restart(where, best[0])
        decided[kind, phase, tuple(values.values())] = best[0]
    idle = [cell.id for cell in row.cells if cell not in decided.values()]
    if idle:
        raise ValueError(
            f"rows.{situation.row}: cell {idle[0]!r} never decides anything: in every case that it "
            f"fits another one is more specific; remove it"
        )
    return decided


PRESSES = frozenset({"confirm_cancel", "go_on", "order_rescan", "order_entry", "order_redeal", "void_box"})


def _check_cell(situation: Situation, cell: Cell) -> None:
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


def _check_act(where: str, kind: IncidentKind, phase: Phase, cell: Cell, *, shoe: bool) -> None:
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


def _check_presses(where: str, kind: IncidentKind, phase: Phase, cell: Cell) -> None:
    """What a supervisor is offered must be something that he can do in this case."""
    for press in cell.presses or ():
        early = press == "order_entry" and kind is IncidentKind.SCANNER_LOST and cell.gone is not Known.YES
        if early or kind not in PRESS_ONLY_FOR.get(press, (kind,)):
            raise ValueError(f"{where}: {press!r} can't be done here; take it out of the presses")
    if cell.presses is not None and PHASE_INPUTS[phase].isdisjoint(cell.presses):
        raise ValueError(f"{where}: none of its presses is taken in {phase}; add one, or narrow its phases")


def _check_restart(where: str, cell: Cell) -> None:
    """A window that a restart has interrupted is never judged by silence (row 35)."""
    if cell.verdict not in (CellVerdict.SUPERVISOR, CellVerdict.CANCEL):
        raise ValueError(
            f"{where}: what is not certain after a restart takes 'supervisor' or 'cancel', "
            f"got {cell.verdict.value!r}"
        )
