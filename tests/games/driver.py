"""Plays a script: answers each step it yields, and keeps what it asked for."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from controller.cards import DECK, Card
from controller.games.procedure import (
    Announce,
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
from controller.games.published import Outcome
from controller.games.registry import GAMES

CONFIG = Path(os.environ.get("MUTATED_GAMES") or Path(__file__).parents[2] / "config" / "games")
"""Where the settings lie; `mutate.py` puts changed ones elsewhere."""
BACCARAT = "baccarat"
POKER = tuple(name for name in GAMES if name != BACCARAT)
SISTERS = tuple(name for name in POKER if name != "russian_poker_live")


def settings(name: str) -> dict[str, Any]:
    return tomllib.loads((CONFIG / f"{name}.toml").read_text(encoding="utf-8"))


def game(name: str, **changes: Any) -> Any:
    """The game with its shipped settings, some of them changed; `limits` and `bonus` key by key."""
    changed = settings(name)
    for key, value in changes.items():
        merge = isinstance(value, dict) and isinstance(changed.get(key), dict)
        changed[key] = changed[key] | value if merge else value
    return GAMES[name].build(changed)


@dataclass
class Played:
    """One round: the steps in order, and how it ended."""

    steps: list[Step] = field(default_factory=list)
    outcome: Outcome | None = None

    def of(self, kind: type) -> list[Any]:
        return [step for step in self.steps if isinstance(step, kind)]

    @property
    def result(self) -> Outcome:
        assert self.outcome is not None
        return self.outcome

    @property
    def course(self) -> list[str]:
        """The round in words, cards and announcements by place and number."""
        return [in_words(step) for step in self.steps]


def in_words(step: Step) -> str:
    match step:
        case Betting():
            return "betting"
        case Deal(place=place, n=n, face=face):
            return f"deal {place} {n} {face}"
        case Window(stage=stage, boxes=boxes) | Decide(stage=stage, boxes=boxes):
            return f"{stage} {' '.join(boxes)}"
        case DecisionOf(stage=stage, box=box):
            return f"{stage} of {box}"
        case Turn(place=place):
            return f"turn {place}"
        case LayAside(place=place, n=n):
            return f"lay aside {place} {n}"
        case Announce(place=place):
            return f"announce {place}"


def play(
    played: Game,
    *,
    states: Mapping[str, BoxState],
    decisions: Mapping[tuple[str, str], Decision] = {},
    cards: Iterable[Card] = DECK,
    bought: bool | None = None,
) -> Played:
    """Play a round; `decisions` by stage and box, the others are silent."""
    shoe = iter(cards)
    told = {box: states.get(box, BoxState.EMPTY) for box in played.boxes}
    round_ = Played()
    script = played.script()
    answer: Answer = None
    while True:
        try:
            step = script.send(answer)
        except StopIteration as ended:
            round_.outcome = ended.value
            return round_
        round_.steps.append(step)
        match step:
            case Betting():
                answer = told
            case Deal():
                answer = next(shoe)
            case DecisionOf(stage=stage, box=box):
                answer = decisions.get((stage, box), Decision(None))
            case Window():
                answer = WindowAnswer(anyone_bought=bought)
            case _:
                answer = None
