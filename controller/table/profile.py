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
from typing import Any

import msgspec

from controller.table.cell_checks import check_act, check_cell, check_presses, check_restart
from controller.table.cells import Cell
from controller.table.charts import Phase
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
        check_cell(situation, cell)
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
        check_act(where, kind, phase, best[0], shoe=shoe)
        check_presses(where, kind, phase, best[0])
        if kind is IncidentKind.RESTARTED and values[Axis.CERTAIN] is Known.NO:
            check_restart(where, best[0])
        decided[kind, phase, tuple(values.values())] = best[0]
    idle = [cell.id for cell in row.cells if cell not in decided.values()]
    if idle:
        raise ValueError(
            f"rows.{situation.row}: cell {idle[0]!r} never decides anything: in every case that it "
            f"fits another one is more specific; remove it"
        )
    return decided
