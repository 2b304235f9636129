"""A script being played: the fold of a game's procedure over the facts of a round.

The facts are kept as a list, so that a corrected reading is one changed fact and the script run again
from the first. If it then owes something else than before, the correction is refused here and becomes
an incident; cards on the table never shift their meaning silently.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from controller.games.procedure import (
    Announce,
    Answer,
    Deal,
    Decide,
    DecisionOf,
    Game,
    LayAside,
    Procedure,
    Step,
    Turn,
    Window,
)


class ScriptRun:
    """The script of one round. `owed` is the next step; None once the `outcome` is there."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self.facts: list[Answer] = []
        self.asked: list[Step] = []
        self._announcements: list[Announce] = []
        self.owed: Step | None = None
        self.outcome: Any = None
        self._procedure: Procedure = game.script()
        self._resume(None)

    def tell(self, fact: Answer) -> None:
        """Answer the step that is owed."""
        assert self.owed is not None, "the script has ended"
        self.asked.append(self.owed)
        self.facts.append(fact)
        self._resume(fact)

    def correct(self, changed: Mapping[int, Answer]) -> bool:
        """Change facts by their index; return False, and change nothing, if other steps would be owed."""
        facts = [changed.get(index, fact) for index, fact in enumerate(self.facts)]
        again = ScriptRun(self._game)
        for asked, told in zip(self.asked, facts, strict=True):
            if again.owed is None or shape(again.owed) != shape(asked):
                return False
            again.tell(told)
        if (again.owed is None) != (self.owed is None):
            return False
        if self.owed is not None and again.owed is not None and shape(again.owed) != shape(self.owed):
            return False
        self._become(again)
        return True

    def withdraw_last(self) -> None:
        """Forget the last fact; its step is owed again."""
        again = ScriptRun(self._game)
        for told in self.facts[:-1]:
            again.tell(told)
        self._become(again)

    def take_announcements(self) -> tuple[Announce, ...]:
        """Return what may be announced since the last call; after a correction, all of it again."""
        announcements, self._announcements = tuple(self._announcements), []
        return announcements

    def _become(self, again: ScriptRun) -> None:
        self.facts, self.asked = again.facts, again.asked
        self.owed, self.outcome = again.owed, again.outcome
        self._procedure, self._announcements = again._procedure, again._announcements

    def _resume(self, answer: Answer) -> None:
        try:
            step = self._procedure.send(answer)
            while isinstance(step, Announce):
                self._announcements.append(step)
                step = self._procedure.send(None)
        except StopIteration as ended:
            self.owed, self.outcome = None, ended.value
        else:
            self.owed = step


def shape(step: Step) -> tuple[object, ...]:
    """Return what makes two steps the same thing to do: kind and place, never a card's value."""
    match step:
        case Deal(place=place, n=n):
            return (Deal, place, n)
        case Turn(place=place):
            return (Turn, place)
        case LayAside(place=place):
            return (LayAside, place)
        case Window(stage=stage) | Decide(stage=stage):
            return (type(step), stage)
        case DecisionOf(stage=stage, box=box):
            return (DecisionOf, stage, box)
        case _:
            return (type(step),)
