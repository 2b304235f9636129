"""Every legal course of a round, and every single step that goes wrong in it.

No legal course is refused. What a sensor or a person reports is flagged at that step; what nobody
reports is a blind spot, and `blind_spots.txt` lists who finds it, and when.

TABLECTL_SOAK=1: every legal course in every manner, and every step of all that owe different work.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from table.dealt import every
from table.playing import Course, Manner
from table.shapes import Owed, Shape, Start, different, every_shape, few, owed
from table.slips import Found, becomes, slips

from controller.games.procedure import Betting, Deal, DecisionOf, Face, LayAside, Turn, Window
from controller.games.registry import GAMES
from controller.table.charts import Phase
from controller.table.events import RoundConfirmed

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
GOLDEN = Path(__file__).with_name("blind_spots.txt")
games = pytest.mark.parametrize("name", GAMES)


@cache
def courses(name: str) -> list[Shape]:
    """The courses that owe different work; in brief, with exchanges of two cards only."""
    return different(every_shape(name, brief=not SOAK))


def steps(name: str) -> Iterator[tuple[Shape, int]]:
    """Every step that has its own past; in brief, of a few courses, and with its own neighbours."""
    seen: set[object] = set()
    for shape in courses(name) if SOAK else few(courses(name)):
        work = tuple(map(owed, shape.steps))
        for index in range(len(shape.steps)):
            key = work[: index + 1] if SOAK else shape.moments[max(0, index - 1) : index + 2]
            if key not in seen:
                seen.add(key)
                yield shape, index


@games
def test_no_legal_course_is_refused(name: str) -> None:
    shapes = every_shape(name) if SOAK else courses(name)
    for number, shape in enumerate(shapes):
        for manner in Manner if SOAK or number % 5 == 0 else (Manner.ASKED,):
            course = Course(shape, manner)
            for step in shape.steps:
                run = course.d.table.state.round
                if isinstance(step, Betting | Deal | Window | Turn | LayAside):
                    assert run is not None and run.run.owed is not None
                    assert owed(run.run.owed) == owed(step), (shape.moments, manner)
                assert not course.do(), (shape.moments, manner, step)
                assert course.looks_as_shown, (shape.moments, manner, step)
            assert course.d.phase is Phase.SHUFFLING
            assert len(every(course.d.events, RoundConfirmed)) == 1


def expected(shape: Shape, index: int, slip: str) -> Found:
    """Say who finds a slip: the table by its order, the count by numbers, people by what they see."""
    step, rest = shape.steps[index], range(index + 1, len(shape.steps))
    if slip == "left out":  # The next press or card is not due.
        shown = index + 1 in rest and isinstance(shape.steps[index + 1], Deal | Turn)
        return Found(index + 1 if shown else None, index + 1, counted=False)
    if isinstance(step, Start):
        return Found(None, None, counted=True)
    if slip in ("laid elsewhere", "other face", "pressed, not turned"):
        return Found(index, None, counted=False)
    if slip == "another card":  # The hand that is announced with the new card shows it.
        return Found(index + 1, None, counted=False)
    if slip == "one more, unread":
        return Found(index, None, counted=True)
    assert isinstance(step, Deal)
    if slip == "swapped with the next":
        return Found(_shown_swapped(shape, index), None, counted=False)
    if slip == "one more, read":  # It counts as the next one; the last one of them is not due.
        return Found(_last(shape, index, place=step.place), _last(shape, index), counted=False)
    asked = next(k for k in rest if not isinstance(shape.steps[k], Deal | DecisionOf))
    if slip == "dealt unread":
        return Found(index, asked, counted=False)
    assert slip == "not dealt", slip
    moved = (k for k in rest if k <= asked and _uncovers(shape.steps[k], but=step.place))
    return Found(next(moved, None), asked, counted=False)


def _last(shape: Shape, index: int, place: str | None = None) -> int:
    """Return the last card that is dealt without a pause, or on the same place."""
    while isinstance(step := shape.steps[index + 1], Deal) and place in (None, step.place):
        index += 1
    return index


def _uncovers(step: Owed, but: str) -> bool:
    """Whether a person sees at this step that the cards have moved by one."""
    return isinstance(step, Turn) or (isinstance(step, Deal) and step.place != but)


def _shown_swapped(shape: Shape, index: int) -> int | None:
    """Return when one of two swapped cards lies open, at once or when its place is turned."""
    pair = shape.steps[index : index + 2]
    if any(isinstance(step, Deal) and step.face is Face.UP for step in pair):
        return index + 1
    places = [step.place for step in pair if isinstance(step, Deal)]
    turns = (k for k, step in enumerate(shape.steps) if isinstance(step, Turn) and step.place in places)
    return next(turns, None)


@games
def test_who_finds_a_slip_that_nobody_reports(name: str) -> None:
    for shape, index in steps(name):
        for slip, make in slips(shape, index).items():
            found = becomes(shape, index, make)
            assert found == expected(shape, index, slip), (slip, index, shape.moments)


def written() -> str:
    """Return the blind spots of every game as text."""
    lines = []
    for name in GAMES:
        rows: dict[tuple[str, str], list[set[str]]] = {}
        for shape, index in steps(name):
            for slip, make in slips(shape, index).items():
                found = becomes(shape, index, make)
                if found.asked is not None and found.asked <= index + 1:
                    continue
                seen, asked = rows.setdefault((slip, shape.moments[index]), [set(), set()])
                seen.add(_word(shape, found.seen))
                asked.add("count" if found.counted else _word(shape, found.asked))
        lines += ["", name]
        for (slip, at), (seen, asked) in sorted(rows.items()):
            lines.append(f"  {slip:22} {at:22} {', '.join(sorted(seen)):60} {', '.join(sorted(asked))}".rstrip())
    return "\n".join(lines)


def _word(shape: Shape, index: int | None) -> str:
    return "-" if index is None else (*shape.moments, "shuffle")[index]


if __name__ == "__main__":
    print(written())
