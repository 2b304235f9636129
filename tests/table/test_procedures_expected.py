"""The shipped profiles say what the procedures say: a table typed from their text is beside each case."""

from __future__ import annotations

import pytest
from profiles import profile
from table.procedures_expected import EXPECTED, LIMITS, NO_CASE, Says, expected, line_of

from controller.table.events import IncidentKind
from controller.table.profile import ROWS, cases
from controller.table.situations import SITUATIONS

CASES = [(name, kind) for name in EXPECTED for kind in SITUATIONS if kind in EXPECTED[name]]


@pytest.mark.parametrize(("name", "kind"), CASES, ids=lambda value: str(value))
def test_every_case_is_decided_as_the_procedures_say(name: str, kind: IncidentKind) -> None:
    shipped = profile(name)
    differs = []
    for phase, values in cases(SITUATIONS[kind]):
        cell = shipped.cell(kind, phase, values)
        said = Says(cell.verdict, cell.asks, frozenset(cell.presses or ()), cell.deck)
        wanted = expected(name, kind, phase, values)
        if said != wanted:
            differs.append(f"{phase} {values}: {cell.id!r} says {said}, the procedures {wanted}")
    assert not differs, "\n".join(differs)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_situation_without_lines_is_of_a_row_that_cannot_apply(name: str) -> None:
    rows = profile(name).rows
    silent = [kind for kind in SITUATIONS if kind not in EXPECTED[name]]
    assert all(rows[SITUATIONS[kind].row].not_applicable is not None for kind in silent)


@pytest.mark.parametrize(("name", "kind"), CASES, ids=lambda value: str(value))
def test_no_line_is_idle(name: str, kind: IncidentKind) -> None:
    met = [line_of(name, kind, phase, values) for phase, values in cases(SITUATIONS[kind])]
    assert all(line in met for line in EXPECTED[name][kind])


@pytest.mark.parametrize("name", EXPECTED)
def test_every_row_is_decided_built_in_or_not_applicable_with_the_reason(name: str) -> None:
    rows = profile(name).rows
    assert set(rows) == set(ROWS)
    said = {
        number: "not applicable" if row.not_applicable is not None else "built in"
        for number, row in rows.items()
        if not row.cells
    }
    wanted = {**NO_CASE["default"], **NO_CASE[name]}
    assert said == {number: why for number, why in wanted.items() if why}
    assert all(row.title and (row.cells or row.not_applicable or row.built_in) for row in rows.values())


@pytest.mark.parametrize("name", EXPECTED)
def test_the_numbers_are_those_of_the_procedures(name: str) -> None:
    limits = profile(name).limits
    wanted = {**LIMITS["default"], **LIMITS[name]}
    assert {key: getattr(limits, key) for key in wanted} == wanted
