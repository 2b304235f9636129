"""A code with one wrong bit: how often it is another card's, counted by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from controller.cards import Card, Scheme, code_map
from simulators.faults.garbled import DOUBLED, NO_CARD, READ_AGAIN, UNNOTICED, Garbler

DECK = code_map("blue", Scheme.SUIT_DIGIT_RANK)
ROUNDS = 400


def endings(out: tuple[str, ...]) -> dict[str, set[str | None]]:
    found: dict[str, set[str | None]] = {}
    for number in range(ROUNDS):
        garbled = Garbler(1, DECK.card).garble(number, "1010", [Card.parse(card) for card in out])
        found.setdefault(garbled.fault, set()).add(garbled.code)
    return found


def test_every_ending_comes_and_each_code_has_its_own() -> None:
    found = endings(out=("Ac",))
    assert set(found) == {UNNOTICED, DOUBLED, NO_CARD, READ_AGAIN}
    assert found[DOUBLED] == {"3010"} and found[READ_AGAIN] == {None}
    assert found[UNNOTICED] == {"1110", "1030", "1050", "1090"}


@pytest.mark.parametrize(("out", "count"), [((), 5), (("Ac",), 4), (("Ac", "Js"), 3)])
def test_the_chance_counts_the_bits_that_give_a_card_of_the_shoe(out: tuple[str, ...], count: int) -> None:
    garbled = Garbler(1, DECK.card).garble(1, "1010", [Card.parse(card) for card in out])
    assert garbled.chance == Fraction(count, 32)


def test_the_same_seed_garbles_alike() -> None:
    first, second = (Garbler(5, DECK.card).garble(7, "4130", ()) for _ in range(2))
    assert first == second
