"""Slips of the dealer that nobody reports: what he does instead of the step that is due, and who finds out.

After the slip he goes on as he thinks right, until the table asks or refuses, or the round is over and
the stub is counted. A person can see it as soon as the table does not lie as its picture shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from table.playing import Course
from table.shapes import Owed, Shape, Start

from controller.cards import Card
from controller.games.procedure import DEALER, Deal, Decide, DecisionOf, Face, LayAside, Turn
from controller.table import inputs as i


class Found(NamedTuple):
    """Who finds a slip. `seen` and `asked` are indices of steps, None for never.

    `seen`: after this step a person can see it. `asked`: at this step the table asks or refuses; one more
    than the last step is the shuffle for the next round. `counted`: the stub is not what it should be.
    """

    seen: int | None
    asked: int | None
    counted: bool


Slip = Callable[[Course], object]


def becomes(shape: Shape, index: int, slip: Slip) -> Found:
    """Make a slip at step `index`, go on as if nothing had happened, and say who finds it."""
    course = Course(shape).to(index)
    course.mark = len(course.d.steps)
    slip(course)
    course.index += 1
    seen = None
    while True:
        if seen is None and not course.looks_as_shown:
            seen = course.index - 1
        if course.asks:
            return Found(seen, course.index - 1, counted=False)
        if course.index == len(shape.steps):
            break
        course.do()
    if course.d.table.state.register.left_count != len(course.d.shoe):
        return Found(seen, None, counted=True)
    course.mark = len(course.d.steps)
    course.d.press(i.ConfirmShuffle())
    return Found(seen, len(shape.steps) if course.flags else None, counted=False)


def slips(shape: Shape, index: int) -> Mapping[str, Slip]:
    """Return the slips that can be made at a step, by their names."""
    step = shape.steps[index]
    match step:
        case Deal():
            later = shape.steps[index + 1]
            in_turn = isinstance(later, Deal) and later.place != step.place
            named = {**CARD_SLIPS, **({"swapped with the next": _swapped} if in_turn else {})}
            return {name: partial(slip, step=step) for name, slip in named.items()}
        case Start():
            return {"left out": _left_out, "the deck lacks a card": _lacking, "a card too many": _too_many}
        case Turn(place=place):
            return {"left out": _left_out, "pressed, not turned": partial(_not_turned, place=place)}
        case LayAside():
            return {"left out": _left_out, "another card": partial(_other_aside, step=step)}
        case Decide() | DecisionOf():
            return {}  # An answer that is not told is silence, which is legal.
        case _:
            return {"left out": _left_out}


def _left_out(course: Course) -> None:
    """Nothing is done: neither card nor press nor answer."""


def _lacking(course: Course) -> None:
    course.d.shoe.pop()
    course.d.press(i.OpenBetting())


def _too_many(course: Course) -> None:
    course.d.shoe.append(Card.parse("2c"))
    course.d.press(i.OpenBetting())


def _not_turned(course: Course, place: str) -> None:
    course.d.press(i.TurnCards(place))


def _other_aside(course: Course, step: LayAside) -> None:
    course.aside.add(course.cards[step.place][step.n % 5])
    course.d.press(i.LayCardAside())


def _unread(course: Course, step: Deal) -> None:
    course.lay(step, course.draw())


def _one_more(course: Course, step: Deal) -> None:
    course.lay(step, course.scan())
    course.lay(step, course.scan())


def _one_more_unread(course: Course, step: Deal) -> None:
    """Which card it is does not matter; the last one leaves the course as it is."""
    course.lay(step, course.scan())
    course.lay(step, course.draw(last=True))


def _elsewhere(course: Course, step: Deal) -> None:
    other = next(place for place in (*course.d.game.boxes, DEALER) if place != step.place)
    course.lay(step, course.scan(), place=other)


def _other_face(course: Course, step: Deal) -> None:
    course.lay(step, course.scan(), face=Face.DOWN if step.face is Face.UP else Face.UP)


def _swapped(course: Course, step: Deal) -> None:
    """Two cards in turn are laid each where the other one is due."""
    later: Owed = course.shape.steps[course.index + 1]
    assert isinstance(later, Deal)
    first, second = course.scan(), course.scan()
    course.lay(step, second)
    course.lay(later, first)
    course.index += 1


CARD_SLIPS: dict[str, Callable[[Course, Deal], None]] = {
    "not dealt": lambda course, step: None,
    "dealt unread": _unread,
    "one more, read": _one_more,
    "one more, unread": _one_more_unread,
    "laid elsewhere": _elsewhere,
    "other face": _other_face,
}
