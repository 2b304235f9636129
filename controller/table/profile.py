"""A procedure profile: the decision table, as data, of what happens when a deal goes wrong.

A cell says for a situation, the phase and the values of its axes what the table does. An axis that a cell
does not name is a wildcard. Reading a profile proves that every combination that can occur has exactly
one most specific cell, that no cell is idle, and that every row of the procedures is there.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any

import msgspec

from controller.table.charts import Phase
from controller.table.events import IncidentKind
from controller.table.limits import Limits
from controller.table.situations import SITUATIONS, Axis, Known, Situation

ROWS: tuple[str, ...] = (
    *("1", "2", "2b", *map(str, range(3, 20))),
    *("20a", "20b", "20c", "21", "22", "23a", "23b", "23c", "23d", "23e"),
    *(*map(str, range(24, 36)), "35b", *map(str, range(36, 43))),
)
"""The rows of the procedures; each is decided in a profile, or marked not applicable there."""


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

    def cell(self, kind: IncidentKind, phase: Phase, values: Mapping[Axis, Known]) -> Cell:
        """Return the cell of a case. KeyError for one that can't occur is a bug of ours."""
        axes = SITUATIONS[kind].axes
        return self.decided[kind, phase, tuple(values[axis] for axis in axes)]


def read_profile(files: Iterable[ProfileFile]) -> Profile:
    """Lay the files over one another, base first, and prove the result.

    Raises ValueError, which names row, cell and case.
    """
    name, rows, limits = "", dict[str, RowFile](), dict[str, Any]()
    for file in files:
        name = file.name
        rows.update(file.rows)
        limits.update(file.limits)
    _check_rows(rows)
    decided: dict[Key, Cell] = {}
    for kind, situation in SITUATIONS.items():
        row = rows[situation.row]
        if row.not_applicable is None:
            decided.update(_prove(kind, situation, row))
    checked = msgspec.convert(limits, Limits)
    content = msgspec.json.encode((rows, checked), order="deterministic")
    return Profile(name, rows, checked, decided, content.decode(), hashlib.sha256(content).hexdigest())


def cases(situation: Situation) -> Iterable[tuple[Phase, dict[Axis, Known]]]:
    """Yield every case of a situation that can occur."""
    for phase in sorted(situation.phases):
        for values in itertools.product(*situation.axes.values()):
            yield phase, dict(zip(situation.axes, values, strict=True))


def case_text(kind: IncidentKind, phase: Phase, values: Mapping[Axis, Known]) -> str:
    """Name a case as messages do: `EARLY_DRAW in betting, scanned yes, revealed no`."""
    return ", ".join((f"{kind} in {phase}", *(f"{axis} {value}" for axis, value in values.items())))


def _check_rows(rows: Mapping[str, RowFile]) -> None:
    missing = [row for row in ROWS if row not in rows]
    if missing:
        raise ValueError(f"rows.{missing[0]}: missing; each of the rows {', '.join(missing)} needs cells or")
    decided = {situation.row for situation in SITUATIONS.values()}
    for number, row in rows.items():
        if number not in ROWS:
            raise ValueError(f"rows.{number}: no row of the procedures; they are {', '.join(ROWS)}")
        said = [bool(row.cells), row.not_applicable is not None, row.built_in is not None]
        if sum(said) != 1:
            raise ValueError(f"rows.{number}: give one of cells, not_applicable and built_in")
        if row.cells and number not in decided:
            raise ValueError(f"rows.{number}: has cells, but the table meets no situation of this row")
        if row.built_in is not None and number in decided:
            raise ValueError(f"rows.{number}: is decided by cells, not built in")


def _prove(kind: IncidentKind, situation: Situation, row: RowFile) -> dict[Key, Cell]:
    """Find the one most specific cell of every case. Raises ValueError for none, for two, for an idle one."""
    for cell in row.cells:
        _check_cell(situation, cell)
    decided: dict[Key, Cell] = {}
    for phase, values in cases(situation):
        fitting = [cell for cell in row.cells if cell.fits(phase, values)]
        case = f"rows.{situation.row}: {case_text(kind, phase, values)}"
        if not fitting:
            raise ValueError(f"{case}: no cell decides it; add one")
        top = max(cell.specificity for cell in fitting)
        best = [cell for cell in fitting if cell.specificity == top]
        if len(best) > 1:
            raise ValueError(f"{case}: cells {best[0].id!r} and {best[1].id!r} both decide it; narrow one")
        decided[kind, phase, tuple(values.values())] = best[0]
    idle = [cell.id for cell in row.cells if cell not in decided.values()]
    if idle:
        raise ValueError(f"rows.{situation.row}: cell {idle[0]!r} never decides anything; remove it")
    return decided


PRESSES = frozenset({"confirm_cancel", "go_on", "order_rescan", "order_entry", "order_redeal", "void_box"})


def _check_cell(situation: Situation, cell: Cell) -> None:
    where = f"rows.{situation.row}: cell {cell.id!r}"
    for axis in Axis:
        value = cell.value(axis)
        if value is not None and value not in situation.axes.get(axis, ()):
            raise ValueError(f"{where}: {axis} {value} can't occur in this row")
    for phase in cell.phases or ():
        if phase not in situation.phases:
            raise ValueError(f"{where}: this can't occur in {phase}")
    if (cell.verdict is CellVerdict.ASK) != (cell.asks is not None):
        raise ValueError(f"{where}: asks goes with the verdict ask, and only with it")
    if cell.asks is not None and cell.asks not in situation.questions:
        raise ValueError(f"{where}: nobody can be asked for {cell.asks} here")
    if cell.asks is not None and cell.value(cell.asks) is not Known.UNKNOWN:
        raise ValueError(f"{where}: asks for {cell.asks}, which is known there; say {cell.asks} = 'unknown'")
    if (cell.verdict is CellVerdict.SUPERVISOR) != (cell.presses is not None):
        raise ValueError(f"{where}: presses go with the verdict supervisor, and only with it")
    unknown = [press for press in cell.presses or () if press not in PRESSES]
    if unknown:
        raise ValueError(f"{where}: {unknown[0]!r} is no press of a supervisor: {', '.join(sorted(PRESSES))}")
