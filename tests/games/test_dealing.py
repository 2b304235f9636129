"""How cards are laid in other houses: packets in the initial deal (D-10), open switch cards (D-45)."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import msgspec
import pytest
from games.driver import POKER, Played, game, play

from controller.games.deal_pattern import DealPattern, initial_spots
from controller.games.procedure import SWITCH, BoxState, Deal, Decision, Face, Turn

LIVE = "russian_poker_live"


def played(name: str, **changes: Any) -> Played:
    """A round in which every box plays, those that decide draw where they can, and nobody buys."""
    made = game(name, **changes)
    draw = Decision("EXCHANGE", (2, 4)) if name != "caribbean_poker" else Decision("BET")
    decisions = {("options", box): draw for box in made.boxes}
    return play(made, states=dict.fromkeys(made.boxes, BoxState.OPEN), decisions=decisions, bought=False)


def deals(round_: Played) -> list[Deal]:
    return [step for step in round_.steps if isinstance(step, Deal)]


def test_spots_of_both_patterns() -> None:
    places = ("box1", "dealer")
    single = [("box1", 1), ("dealer", 1), ("box1", 2), ("dealer", 2), ("box1", 3)]
    assert list(initial_spots(places, DealPattern.SINGLE))[:5] == single
    packets = initial_spots(places, DealPattern.PACKETS)
    assert packets == (*(("box1", n) for n in range(1, 6)), *(("dealer", n) for n in range(1, 6)))


@pytest.mark.parametrize("name", POKER)
def test_in_packets_a_place_is_dealt_whole_before_the_next(name: str) -> None:
    made = game(name)
    first = deals(played(name, deal_pattern="packets"))[: 5 * len(made.places)]
    assert [place for place, _ in groupby(first, key=lambda step: step.place)] == list(made.places)
    assert [step.n for step in first] == [1, 2, 3, 4, 5] * len(made.places)


@pytest.mark.parametrize("name", POKER)
def test_packets_change_the_order_of_the_initial_deal_and_nothing_else(name: str) -> None:
    """The same faces (D-33, D-50); what is drawn later comes as ever."""
    single, packets = deals(played(name)), deals(played(name, deal_pattern="packets"))
    initial = 5 * len(game(name).places)
    assert single[:initial] != packets[:initial]
    assert set(single[:initial]) == set(packets[:initial])
    assert [step.place for step in single[initial:]] == [step.place for step in packets[initial:]]


def test_open_switch_cards_are_shown_to_all_and_never_turned() -> None:
    closed, opened = played(LIVE), played(LIVE, switch_cards_face="up")
    faces = {(step.face, step.shown_to_betting) for step in deals(closed) if step.place == SWITCH}
    assert faces == {(Face.DOWN, True)}
    faces = {(step.face, step.shown_to_betting) for step in deals(opened) if step.place == SWITCH}
    assert faces == {(Face.UP, False)}
    turned = [words for words in closed.course if words != f"turn {SWITCH}"]
    assert opened.course == [
        f"{words[:-4]}up" if words.startswith(f"deal {SWITCH}") else words for words in turned
    ]
    assert [step.place for step in opened.of(Turn)] == ["box1", "box3", "dealer"]
    assert opened.result == closed.result


@pytest.mark.parametrize("name", POKER)
@pytest.mark.parametrize("key", ["deal_pattern", "rounding", "switch_cards_face"])
def test_another_word_is_refused_with_its_key(name: str, key: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=key):
        game(name, **{key: "sideways"})
