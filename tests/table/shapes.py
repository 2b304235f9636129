"""The legal courses of a round: every sequence of owed steps that a game's own script can ask for.

A shape is got by folding the script over answers of every kind: box states, decisions and numbers of
exchanged cards, silence, facts told or not, a dealer who qualifies or not. It knows nothing of a table.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from profiles import profile
from table.dealt import HANDS, SETTINGS
from table.following import Forks, ways

from controller.cards import DECK, Card, parse_cards
from controller.games.patterns import HAND_SIZE
from controller.games.procedure import (
    DEALER,
    SWITCH,
    Answer,
    Betting,
    BoxState,
    Deal,
    Decide,
    Decision,
    DecisionOf,
    Game,
    LayAside,
    Step,
    Turn,
    Window,
    WindowAnswer,
)
from controller.games.registry import GAMES
from controller.table.script_run import ScriptRun
from controller.table.settings import TableSettings

CONFIG = Path(__file__).parents[2] / "config"
TABLES = {
    table["game"]: table
    for path in sorted((CONFIG / "tables").glob("*.toml"))
    for table in (tomllib.loads(path.read_text()),)
}
"""The shipped table of each game: which profile it has is said there."""

DEALERS = ("Ah Kc 9d 7s 3c", "Kh Qd 9d 7s 3c")
"""The dealer qualifies, or does not."""
TOLD = (None, True, False)
FACTS = {
    "options": ("in_play", "anyone_drew"),
    "final_options": ("in_play",),
    "buy_time": ("anyone_bought",),
}
"""What the betting system may tell of a window."""


class Start(msgspec.Struct, frozen=True):
    """The dealer presses START."""


class Result(msgspec.Struct, frozen=True):
    """The dealer presses RESULT."""


class Clear(msgspec.Struct, frozen=True):
    """The dealer has collected the cards."""


Owed = Step | Start | Result | Clear


class Shape(NamedTuple):
    """One legal course: `steps` with the `answers` that lead through them, and the deck as it lies."""

    game: str
    steps: tuple[Owed, ...]
    answers: tuple[Answer, ...]
    shoe: tuple[Card, ...]

    @property
    def states(self) -> Mapping[str, BoxState]:
        """What the betting system tells when bets are closed."""
        states = self.answers[1]
        assert isinstance(states, Mapping)
        return states

    def place(self, index: int) -> str:
        """Return where a step belongs; what belongs nowhere is told of the dealer."""
        step = self.steps[index]
        return step.place if isinstance(step, Deal | Turn | LayAside) else DEALER

    @property
    def moments(self) -> tuple[str, ...]:
        """The steps in words."""
        return tuple(map(moment, self.steps))


@cache
def game_of(name: str) -> Game:
    """Return a game with its shipped settings."""
    return GAMES[name].build(tomllib.loads((CONFIG / "games" / f"{name}.toml").read_text()))


@cache
def settings_of(name: str) -> TableSettings:
    """Return the shipped table's procedures and times, with the people of these tests."""
    shipped = TABLES[name]
    return msgspec.structs.replace(
        SETTINGS,
        profile=profile(shipped["profile"]),
        windows_ms=shipped["times"]["windows_ms"],
        boxes_not_told={box: BoxState(state) for box, state in shipped["boxes_not_told"].items()},
    )


def moment(step: Owed) -> str:
    """Name what is owed, boxes alike: `deal box up`, `draw`, `options`, `turn dealer`."""
    match step:
        case Deal(place=place) if place == SWITCH:
            return "switch card"
        case Deal(place=place, n=n) if n > HAND_SIZE:
            return "replacement" if place == DEALER else "draw"
        case Deal(place=place, face=face):
            return f"deal {_role(place)} {face}"
        case DecisionOf(stage=stage):
            return f"{stage} answer"
        case Window(stage=stage) | Decide(stage=stage):
            return stage
        case Turn(place=place):
            return f"turn {_role(place)}"
        case LayAside():
            return "lay aside"
        case _:
            return type(step).__name__.lower()


def _role(place: str) -> str:
    return place if place in (DEALER, SWITCH) else "box"


def owed(step: Owed) -> tuple[Any, ...]:
    """Return what makes two steps different work: never a price, an offer or an answer."""
    match step:
        case Deal():
            return ("deal", step.place, step.n, step.face)
        case Decide() | Window():
            return (step.stage, step.boxes if isinstance(step, Decide) else ())
        case Turn() | LayAside():
            return (moment(step), step.place)
        case DecisionOf():
            return (moment(step), step.box)
        case _:
            return (moment(step),)


def every_shape(name: str, *, brief: bool = False) -> Iterator[Shape]:
    """Yield every legal course of a game, one for each way in which people may answer.

    `brief`: each kind of answer once, an exchange of two cards and a final BET or FOLD.
    """
    for dealer in DEALERS:
        for forks in ways():
            yield _follow(name, dealer, forks, brief=brief)


def different(shapes: Iterable[Shape]) -> list[Shape]:
    """Return the first of all shapes that owe the same."""
    found: dict[tuple[Any, ...], Shape] = {}
    for shape in shapes:
        found.setdefault(tuple(map(owed, shape.steps)), shape)
    return list(found.values())


def few(shapes: Sequence[Shape]) -> list[Shape]:
    """Return shapes, the longest first, in which every moment follows every other that it can follow."""
    wanted = {pair for shape in shapes for pair in pairwise(shape.moments)}
    chosen: list[Shape] = []
    for shape in sorted(shapes, key=lambda shape: -len(shape.steps)):
        new = wanted.intersection(pairwise(shape.moments))
        if new:
            chosen.append(shape)
            wanted -= new
    return chosen


def _follow(name: str, dealer: str, forks: Forks, *, brief: bool) -> Shape:
    """Run the script, answering as people choose."""
    game = game_of(name)
    run = ScriptRun(game)
    hands = {place: list(parse_cards(text)) for place, text in {**HANDS, DEALER: dealer}.items()}
    used = {card for hand in hands.values() for card in hand}
    rest = [card for card in DECK if card not in used]
    dealt: list[Card] = []
    while (step := run.owed) is not None:
        answer: Answer = None
        if isinstance(step, Deal):
            hand = hands.get(step.place, []) if step.n <= HAND_SIZE else []
            answer = (hand or rest).pop(0)
            dealt.append(answer)
        elif choices := _choices(game, run, brief=brief):
            answer = forks.choose(choices)
        run.tell(answer)
    left = tuple(card for card in DECK if card not in dealt)
    steps = (Start(), *run.asked, Result(), Clear())
    return Shape(name, steps, (None, *run.facts, None, None), (*dealt, *left))


def _choices(game: Game, run: ScriptRun, *, brief: bool) -> list[Any]:
    match run.owed:
        case Betting():
            kinds = [_states(game, box) for box in game.boxes]
            return [dict(zip(game.boxes, states, strict=True)) for states in product(*kinds)]
        case Window(stage=stage):
            names = FACTS[stage]
            told = product(TOLD, repeat=len(names))
            return [WindowAnswer(**dict(zip(names, values, strict=True))) for values in told]
        case DecisionOf(stage=stage) if _waits_for_silence(run, stage):
            return [Decision(None)]
        case DecisionOf(stage="options"):
            return [Decision(None), *_decisions(game, counts=(2,) if brief else range(1, HAND_SIZE + 1))]
        case DecisionOf():
            return [Decision("BET"), Decision("FOLD"), *(() if brief else (Decision(None),))]
        case _:
            return []


def _waits_for_silence(run: ScriptRun, stage: str) -> bool:
    """Whether an earlier box is silent, and nobody may answer before it (OAB-14)."""
    window = next(step for step in reversed(run.asked) if isinstance(step, Decide))
    assert window.stage == stage
    earlier = run.facts[run.asked.index(window) + 1 :]
    return window.in_order and Decision(None) in earlier


def _decisions(game: Any, counts: Iterable[int]) -> Iterator[Decision]:
    for action in game.actions:
        if action == "EXCHANGE":
            yield from (Decision(action, tuple(range(1, count + 1))) for count in counts)
        else:
            yield Decision(action)


def _states(game: Any, box: str) -> tuple[BoxState, ...]:
    """Return the states in which a box is dealt differently; elsewhere dark and open are the same."""
    if getattr(game, "has_dark_boxes", False):
        return (BoxState.OPEN, BoxState.DARK, BoxState.EMPTY)
    return (settings_of(game.name).boxes_not_told[box], BoxState.EMPTY)
