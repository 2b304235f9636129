"""The 33 patterns: their names, their cards, and what is no pattern."""

from __future__ import annotations

import pytest

from controller.cards import parse_cards
from controller.games.patterns import PATTERNS, SIXTH, STAY, exchange, final_cards, parse_pattern

DEALT = parse_cards("Kd 4h Kc 9s 2d")
SWITCH = parse_cards("Ks 7h 8d 2h 5d")


def test_there_are_33_with_names_of_their_own() -> None:
    assert len(PATTERNS) == len({pattern.text for pattern in PATTERNS}) == 33
    assert [pattern.text for pattern in PATTERNS[:8]] == [
        "stay",
        "sixth",
        "exchange:1",
        "exchange:2",
        "exchange:3",
        "exchange:4",
        "exchange:5",
        "exchange:1,2",
    ]
    assert PATTERNS[-1].text == "exchange:1,2,3,4,5"


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.text)
def test_every_pattern_reads_back_and_takes_the_first_switch_cards(pattern) -> None:
    assert parse_pattern(pattern.text) is pattern
    hand = final_cards(pattern, DEALT, SWITCH)
    assert set(hand) - set(DEALT) == set(SWITCH[: pattern.switch_count])
    assert len(hand) == (6 if pattern == SIXTH else 5)
    kept = [card for position, card in enumerate(DEALT, start=1) if position not in pattern.positions]
    assert set(kept) <= set(hand)


def test_the_lowest_position_gets_the_first_switch_card() -> None:
    assert final_cards(exchange(4, 2), DEALT, SWITCH) == parse_cards("Kd Ks Kc 7h 2d")  # RPL-18
    assert final_cards(SIXTH, DEALT, SWITCH) == (*DEALT, SWITCH[0])  # RPL-19
    assert final_cards(STAY, DEALT, ()) == DEALT


@pytest.mark.parametrize("positions", [(), (0,), (6,), (2, 2), (1, 2, 3, 4, 5, 6)])
def test_positions_that_cannot_be_exchanged(positions: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="cannot exchange positions"):
        exchange(*positions)


@pytest.mark.parametrize("text", ["", "exchange:", "exchange:2,1", "exchange:1, 3", "SIXTH", "exchange:6"])
def test_names_that_are_no_pattern(text: str) -> None:
    with pytest.raises(ValueError, match="is not a pattern"):
        parse_pattern(text)


@pytest.mark.parametrize(("dealt", "switch"), [(DEALT[:4], SWITCH), (DEALT, SWITCH[:1])])
def test_missing_cards_are_refused(dealt, switch) -> None:
    with pytest.raises(ValueError, match=r"exchange:1,2 of \d dealt and \d switch cards"):
        final_cards(exchange(1, 2), dealt, switch)
