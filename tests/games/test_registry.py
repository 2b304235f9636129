"""Every game of the registry can be built from its shipped settings, and opens the windows that it names."""

from __future__ import annotations

from itertools import product

import pytest
from games.driver import CONFIG, game, play

from controller.cards import DECK
from controller.games.procedure import BoxState, Decide, Decision, Window
from controller.games.registry import GAMES


def test_each_game_has_its_settings_and_each_settings_file_its_game() -> None:
    assert {path.stem for path in CONFIG.glob("*.toml")} == set(GAMES)


@pytest.mark.parametrize("name", GAMES)
def test_the_windows_of_a_game_are_those_of_the_registry(name: str) -> None:
    built = game(name)
    opened: set[str] = set()
    for action, start in product(built.actions if hasattr(built, "actions") else ("BET",), range(8)):
        positions = (1,) if action == "EXCHANGE" else ()
        decisions = {("options", box): Decision(action, positions) for box in built.boxes}
        cards = DECK[start * 5 :: 2] + DECK[: start * 5] + DECK[start * 5 + 1 :: 2]
        cards = tuple(dict.fromkeys(cards))
        states = dict.fromkeys(built.boxes, BoxState.OPEN)
        played = play(built, states=states, decisions=decisions, cards=cards)
        opened |= {step.stage for step in (*played.of(Decide), *played.of(Window))}
    assert opened == set(GAMES[name].stages)
