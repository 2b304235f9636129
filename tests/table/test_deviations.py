"""Every legal course of a round, and every single step that goes wrong in it.

No legal course is refused. What a sensor or a person reports is flagged at that step; what nobody
reports is a blind spot, and `blind_spots.txt` lists who finds it, and when.

TABLECTL_SOAK=1: every legal course in every manner; every step of all courses that owe different work, for
what nobody reports, for messages and for the scanner; every report at every kind of step.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
from games.driver import POKER
from table.dealt import digest, every, refusal
from table.following import Follower, Forks, ways
from table.playing import Course, Manner
from table.reports import Report, is_met, observed, sender, sensed, wrong_messages
from table.shapes import Owed, Shape, Start, different, every_shape, few, owed, settings_of
from table.slips import Found, becomes, slips

from controller.games.procedure import Betting, Deal, DecisionOf, Face, LayAside, Turn, Window
from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import (
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    Refusal,
    RoundCancelled,
    RoundConfirmed,
    Verdict,
)

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
GOLDEN = Path(__file__).with_name("blind_spots.txt")
games = pytest.mark.parametrize("name", POKER)


@cache
def courses(name: str) -> list[Shape]:
    """The courses that owe different work; in brief, with exchanges of two cards only."""
    return different(every_shape(name, brief=not SOAK))


def steps(name: str, *, brief: bool = not SOAK) -> Iterator[tuple[Shape, int]]:
    """Yield every step that has its own past; in brief, of a few courses, and with its own neighbours."""
    seen: set[object] = set()
    for shape in few(courses(name)) if brief else courses(name):
        work = tuple(map(owed, shape.steps))
        for index in range(len(shape.steps)):
            key = shape.moments[max(0, index - 1) : index + 2] if brief else work[: index + 1]
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


Row = tuple[str, str, str, str]
"""A slip, at which moment, where it is found, from when on it is seen."""


@games
def test_who_finds_a_slip_that_nobody_reports(name: str) -> None:
    everywhere = (
        steps(name) if SOAK else ((shape, k) for shape in courses(name) for k in range(len(shape.steps)))
    )
    made = [(row, where) for where in everywhere for row in rows(*where)]
    for (slip, *_), (shape, index) in made if SOAK else dict(made).items():
        found = becomes(shape, index, slips(shape, index)[slip])
        assert found == expected(shape, index, slip), (slip, index, shape.moments)


def rows(shape: Shape, index: int) -> Iterator[Row]:
    """Yield what becomes of each slip at a step, in words."""
    words = (*shape.moments, "the next shuffle")
    for slip in slips(shape, index):
        found = expected(shape, index, slip)
        asked = "count" if found.counted else "-" if found.asked is None else words[found.asked]
        at_once = found.asked is not None and found.asked <= index + 1
        yield (
            slip,
            words[index],
            "at once" if at_once else asked,
            "-" if found.seen is None else words[found.seen],
        )


def written() -> str:
    """Return the blind spots as text: the slips after which the dealer goes on without being stopped."""
    lines = [
        "Slips that nobody reports, and that the table does not stop at once.",
        "found: where the table asks or refuses; count: the stub is wrong, at its next count.",
        "seen: from when on a person can see that the table does not lie as its picture says. -: never.",
    ]
    for name in POKER:
        shapes = different(every_shape(name, brief=True))
        made = {row for shape in shapes for index in range(len(shape.steps)) for row in rows(shape, index)}
        blind = {row for row in made if row[2] != "at once"}
        lines += ["", name, LINE.format("slip", "at", "found", "seen").rstrip()]
        for spot in sorted({row[:2] for row in blind}):
            found, seen = ({row[k] for row in blind if row[:2] == spot} for k in (2, 3))
            lines.append(LINE.format(*spot, ", ".join(sorted(found)), ", ".join(sorted(seen))).rstrip())
    return "\n".join(lines) + "\n"


LINE = "  {:22} {:17} {:31} {}"


def test_the_blind_spots_are_the_golden_ones() -> None:
    """To accept a change: write `written()` to blind_spots.txt and say in the commit why."""
    assert written() == GOLDEN.read_text()


@games
def test_a_message_or_press_that_is_not_due_is_refused_and_changes_nothing(name: str) -> None:
    for shape, index in steps(name):
        course = Course(shape).to(index)
        if not is_met(course):
            continue
        before = digest(course.d.table)
        for message in list(wrong_messages(course)):
            events = course.d.press(message, sender(message))
            assert refusal(events) is not None, (message, shape.moments[index])
            assert digest(course.d.table) == before, (message, shape.moments[index])
        course.to(len(shape.steps))
        assert not course.flags and course.d.phase is Phase.SHUFFLING


@games
def test_what_the_scanner_sees_is_flagged_at_that_step(name: str) -> None:
    for shape, index in steps(name):
        for report, _ in cases(shape, index, sensed):
            course = told(shape, index, sensed, report)
            assert course.flags, (report, shape.moments[index])


Cases = Callable[[Course], Iterator[tuple[str, Report]]]


def cases(shape: Shape, index: int, kind: Cases) -> list[tuple[str, Report]]:
    course = Course(shape).to(index)
    return list(kind(course)) if is_met(course) else []


def told(shape: Shape, index: int, kind: Cases, name: str) -> Course:
    """Return the course when the table has just been told; the round lies as before, or has fallen."""
    course = Course(shape).to(index)
    act = dict(kind(course))[name]
    before = lying(course)
    course.mark = len(course.d.steps)
    act(course)
    if name != "card before the guard":  # Which closes the window first.
        assert lying(course) == before or course.d.phase is Phase.CANCELLED, (name, shape.moments[index])
    return course


def lying(course: Course) -> list[object]:
    """Return what an incident must leave alone: the script, the cards, the window, its time."""
    t = course.d.table.state
    if t.round is None:
        return []
    r = t.round
    times = {name: t.deadlines.get(name) for name in ("window", "grace", "held")}  # No incident's own time.
    return [t.phase, list(r.run.facts), r.run.owed, repr(r.laid), repr(r.window), times, r.free_at]


def follower(course: Course, forks: Forks) -> Follower:
    """Return the people at this table, who want what the shape says."""
    shape = course.shape
    pairs = [*zip(shape.steps, shape.answers, strict=True)]

    def shuffle() -> None:
        course.d.shoe = list(shape.shoe)
        course.drawn.clear()

    return Follower(
        course.d,
        forks,
        scan=course.scan_first_waiting,
        shuffle=shuffle,
        states=shape.states,
        decisions={(step.stage, step.box): a for step, a in pairs if isinstance(step, DecisionOf)},
        answers={step.stage: a for step, a in pairs if isinstance(step, Window)},
    )


def ends_in_order(course: Course, forks: Forks) -> None:
    """Follow what the table asks: the round ends once, and the cards lie in the order of drawing.

    An early card for which no place became due is held to the end; one after RESULT is no card of the round,
    nor is one that was read in a hold and that a supervisor has found in the shoe.
    """
    if course.d.phase is Phase.CONFIRMED:
        course.drawn = course.drawn[: len(course.d.table.state.in_play.laid)]
    people = follower(course, forks)
    phase = people.to_the_end()
    ended = [event for event in course.d.events if isinstance(event, RoundConfirmed | RoundCancelled)]
    assert len(ended) == (phase in (Phase.CONFIRMED, Phase.CANCELLED))
    if phase is Phase.CONFIRMED:
        current = course.d.table.state.in_play
        beside = {card.card for card in (*current.burned, *current.held)}
        if Verdict.WITHDRAWN in [decided.verdict for decided in every(course.d.events, IncidentDecided)]:
            beside.update(course.unplaced)  # It was reported, and then nobody asked for it.
        lying = {laid.card for laid in current.laid}
        if any(decided.cell == "2b not out" for decided in every(course.d.events, IncidentDecided)):
            beside.update(card for card in course.drawn if card not in lying)  # In the shoe, after all.
        assert [card.card for card in current.laid] == [card for card in course.drawn if card not in beside]
    people.home()


@games
def test_what_is_reported_is_flagged_and_every_way_on_leads_to_the_end(name: str) -> None:
    for shape, index, kind, report in reported()[name]:
        for forks in ways():
            course = told(shape, index, kind, report)
            assert every(course.flags, IncidentOpened), (report, shape.moments[index])
            ends_in_order(course, forks)


REPORTED_AS: Mapping[str, IncidentKind] = {
    "dealt unread": IncidentKind.MISREAD_LATE,
    "one more, unread": IncidentKind.SURPLUS_CARD,
    "laid elsewhere": IncidentKind.WRONG_PLACE,
    "swapped with the next": IncidentKind.WRONG_PLACE,
    "another card": IncidentKind.WRONG_PLACE,
    "other face": IncidentKind.HIDDEN_CARD_SHOWN,
    "pressed, not turned": IncidentKind.PRESS_FORGOTTEN,
    "the deck lacks a card": IncidentKind.CARD_ON_FLOOR,
}
"""What the dealer reports after a slip. One more that was read is called surplus; the rest he simply does."""


@games
def test_a_slip_that_is_reported_at_once_is_flagged_and_mended(name: str) -> None:
    tried: set[object] = set()
    for shape, index in steps(name, brief=True):
        for slip, make in slips(shape, index).items():
            key = (slip, shape.moments[index : index + 2])
            kind = REPORTED_AS.get(slip)
            if (kind is None and slip != "one more, read") or (not SOAK and key in tried):
                continue
            tried.add(key)
            for forks in ways():
                course = Course(shape).to(index)
                make(course)
                if not course.flags:
                    course.mark = len(course.d.steps)
                    report = i.CallSurplus() if kind is None else i.Observed(kind, shape.place(index))
                    if refusal(course.d.press(report)) is Refusal.TOO_LATE:  # A window has opened over it.
                        course.d.press(i.Observed(IncidentKind.WRONG_NUMBER_OF_CARDS, shape.place(index)))
                assert every(course.flags, IncidentOpened), (slip, shape.moments[index])
                ends_in_order(course, forks)


@cache
def reported() -> Mapping[str, list[tuple[Shape, int, Cases, str]]]:
    """Return every report at every step, by game; in brief once for a profile, phase and kind of step."""
    seen: set[object] = set()
    found: dict[str, list[tuple[Shape, int, Cases, str]]] = {name: [] for name in POKER}
    for name in POKER:
        for shape, index in steps(name, brief=True):
            work, phase = type(shape.steps[index]), Course(shape).to(index).d.phase
            for kind in (sensed, observed):
                for report, _ in cases(shape, index, kind):
                    key = (settings_of(name).profile.name, report, phase, work)
                    if SOAK or key not in seen:
                        seen.add(key)
                        found[name].append((shape, index, kind, report))
    return found
