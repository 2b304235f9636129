"""How many tables look in a terminal: a line for each."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import msgspec
from rich.table import Table
from rich.text import Text

from controller.bus.snapshot import IncidentState, LastOutcome, Snapshot
from controller.floor.overview import TableStream
from controller.station.watch import last_text, standing
from controller.table.texts import PROMPTS, prompt_text

MINUTE_S, HOUR_S, DAY_S = 60, 3_600, 86_400


class Line(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One table, as `--json` prints it. `age_ms` is the age of its last message."""

    table: str
    phase: str = ""
    roundid: str | None = None
    round_no: int = 0
    seq: int = 0
    age_ms: int | None = None
    incident: IncidentState | None = None
    last: LastOutcome | None = None
    broken: str | None = None


def line_of(stream: TableStream, now_us: int) -> Line:
    """Return one table's line for machines."""
    now = stream.snapshot
    if now is None:
        return Line(table=stream.table, broken=stream.broken)
    return Line(
        table=stream.table,
        phase=now.phase,
        roundid=now.roundid,
        round_no=now.round_no,
        seq=now.seq,
        age_ms=_age_us(now, now_us) // 1_000 if now.time else None,
        incident=now.incident,
        last=now.last,
        broken=stream.broken,
    )


def sheet(streams: Iterable[TableStream], now_us: int, *, title: str) -> Table:
    """Return the floor. `now_us` is wall time, which ages run against."""
    grid = Table(title=title, title_justify="left", expand=True)
    for name, ratio in (
        ("table", 1),
        ("phase", 2),
        ("round", 1),
        ("heard", 1),
        ("incident", 3),
        ("last result", 4),
    ):
        grid.add_column(name, ratio=ratio)
    for stream in streams:
        now = stream.snapshot
        if stream.broken is not None:
            grid.add_row(stream.table, Text(f"BROKEN: {stream.broken}", "bold red"))
        elif now is None:
            grid.add_row(stream.table, Text("no message yet", "dim"))
        else:
            grid.add_row(
                stream.table,
                standing(now),
                now.roundid or (f"after {now.round_no}" if now.round_no else "-"),
                age_text(_age_us(now, now_us)),
                _incident(now.incident),
                last_text(now.last) if now.last is not None else Text("-", "dim"),
            )
    return grid


def age_text(age_us: int) -> str:
    """Return an age as people say it; a clock that is behind the table's makes none."""
    age_s = max(0, age_us) // 1_000_000
    for size, name in ((DAY_S, "d"), (HOUR_S, "h"), (MINUTE_S, "min")):
        if age_s >= size:
            return f"{age_s // size} {name}"
    return f"{age_s} s"


def _incident(incident: IncidentState | None) -> Text:
    if incident is None:
        return Text("-", "dim")
    text = incident.prompt  # A table of another version may ask what has no text here.
    if text in PROMPTS:
        text = prompt_text(text, incident.place, incident.n)
    return Text(f"{text} ({incident.kind})", "bold red")


def _age_us(now: Snapshot, now_us: int) -> int:
    return now_us - int(datetime.fromisoformat(now.time).timestamp() * 1_000_000)
