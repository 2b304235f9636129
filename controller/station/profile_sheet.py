"""The sheet of a procedure profile: every row, what decides it, and what a table can't notice by itself."""

from __future__ import annotations

from collections.abc import Mapping, Set

import msgspec

from controller.station.profile_text import LIMITS, PHASES, SENSORS, then, when
from controller.station.prose import listed
from controller.table.cells import Cell
from controller.table.charts import Phase
from controller.table.events import IncidentKind
from controller.table.limits import Limits
from controller.table.profile import NOTICING, ROWS, Profile, RowFile
from controller.table.situations import SITUATIONS, Sensor, Situation

EXTRA = frozenset({Sensor.BEAM, Sensor.CAMERA, Sensor.SECOND, Sensor.POSITION, Sensor.SHOE})
"""What a table may have beside its scanner."""
COUNTED = "25"
"""The row that nothing but a count finds."""


class CellSheet(msgspec.Struct, frozen=True):
    """One cell: its conditions (none: all the rest of the row), and what is done."""

    id: str
    when: tuple[str, ...]
    then: str
    why: str


class RowSheet(msgspec.Struct, frozen=True):
    """One row. `instead` is the reason why no cell decides it; `phases` where it can occur, nowhere else."""

    number: str
    title: str
    phases: tuple[str, ...] = ()
    found_by: tuple[str, ...] = ()
    cells: tuple[CellSheet, ...] = ()
    built_in: str | None = None
    not_applicable: str | None = None


class BlindSpot(msgspec.Struct, frozen=True):
    """A row that this table does not notice, or not always: what is left."""

    number: str
    title: str
    what: str


class ProfileSheet(msgspec.Struct, frozen=True):
    """A profile in words. `blind_spots` are those of a table without the `missing` sensors."""

    name: str
    digest: str
    rows: tuple[RowSheet, ...]
    limits: Mapping[str, str]
    missing: tuple[str, ...]
    blind_spots: tuple[BlindSpot, ...]


def make_sheet(profile: Profile, sensors: Set[Sensor] = NOTICING) -> ProfileSheet:
    """Tell a profile, for a table that has these sensors."""
    blind = ((number, _blind_spot(profile, number, sensors)) for number in ROWS)
    return ProfileSheet(
        name=profile.name,
        digest=profile.digest,
        rows=tuple(_row(number, profile.rows[number]) for number in ROWS),
        limits=limits_text(profile.limits),
        missing=tuple(SENSORS[sensor] for sensor in Sensor if sensor in EXTRA - sensors),
        blind_spots=tuple(
            BlindSpot(number, profile.rows[number].title, what) for number, what in blind if what is not None
        ),
    )


def _row(number: str, row: RowFile) -> RowSheet:
    found = next(((kind, its) for kind, its in SITUATIONS.items() if its.row == number), None)
    if found is None or not row.cells:
        return RowSheet(number, row.title, built_in=row.built_in, not_applicable=row.not_applicable)
    kind, situation = found

    def sheet(cell: Cell) -> CellSheet:
        return CellSheet(cell.id, when(kind, cell), then(kind, cell), cell.why)

    return RowSheet(
        number,
        row.title,
        phases=tuple(PHASES[phase] for phase in Phase if phase in situation.phases),
        found_by=tuple(SENSORS[sensor] for sensor in Sensor if sensor in _finders(kind)),
        cells=tuple(map(sheet, row.cells)),
    )


def _finders(kind: IncidentKind) -> Set[Sensor]:
    """Return what finds a case; the objection to a reading is a person's, by a press of its own."""
    sensors = frozenset(SITUATIONS[kind].sensors)
    return sensors - {Sensor.TABLE} | {Sensor.PERSON} if kind is IncidentKind.DISPUTED_READ else sensors


def _blind_spot(profile: Profile, number: str, sensors: Set[Sensor]) -> str | None:
    row = profile.rows[number]
    if row.not_applicable is not None:
        return None
    if number == COUNTED:
        return f"nobody can see it; it is found by {_count_step(profile.limits)}"
    situation = next((its for its in SITUATIONS.values() if its.row == number), None)
    return None if situation is None else _unnoticed(profile.limits, situation, sensors)


def _unnoticed(limits: Limits, situation: Situation, sensors: Set[Sensor]) -> str | None:
    """Return what escapes a table with these sensors, None where nothing does."""
    wanted = [sensor for sensor in situation.sensors if sensor in EXTRA]
    if any(sensor in sensors for sensor in wanted) or not (wanted or situation.observable):
        return None
    who = "only a person can report it"
    if Sensor.SCANNER in situation.sensors:
        who = "the scanner finds a card that it reads; one that passes unread only a person can report"
    needs = f"; {listed([SENSORS[sensor] for sensor in wanted], 'or')} would notice it" if wanted else ""
    counted = f"; what nobody reports is found by {_count_step(limits)}"
    return f"{who}{needs}{counted if Sensor.COUNT in situation.sensors else ''}"


def _count_step(limits: Limits) -> str:
    match limits.count_every_rounds:
        case 0:
            return "no count of the stub, since the profile asks for none"
        case 1:
            return "the count of the stub before the settlement of the round"
        case rounds:
            return f"the next count of the stub, after every {rounds} rounds"


def limits_text(limits: Limits) -> dict[str, str]:
    """Return the numbers of a profile, in words to value; one that has no words by its key."""
    told = msgspec.structs.asdict(limits)
    return {LIMITS.get(name, name.replace("_", " ")): _spelled(value) for name, value in told.items()}


def _spelled(value: int) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else f"{value:,}"
