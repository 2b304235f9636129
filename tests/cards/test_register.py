"""The register: every code is in the shoe, out, or not of this deck."""

from __future__ import annotations

import pytest

from controller.cards import DECK, Anomaly, Card, Register, Scheme, code_map

BLUE = code_map("blue", Scheme.SUIT_DIGIT_RANK)
RED = code_map("red", Scheme.LETTER_NUMBER)


def register() -> Register[str]:
    return Register(BLUE, (RED,))


def test_a_card_in_the_shoe_checks_as_itself_and_nothing_changes() -> None:
    r = register()
    for _ in range(2):
        assert r.check("1010") == Card.parse("As")
    assert (r.out_count, r.left_count) == (0, 52)


@pytest.mark.parametrize(
    ("code", "anomaly"),
    [("A01", Anomaly.FOREIGN_CODE), ("9999", Anomaly.UNKNOWN_CODE), ("", Anomaly.UNKNOWN_CODE)],
)
def test_a_code_of_another_deck_is_told_from_one_of_none(code: str, anomaly: Anomaly) -> None:
    assert register().check(code) is anomaly


def test_without_other_decks_every_strange_code_is_unknown() -> None:
    assert Register[str](BLUE).check("A01") is Anomaly.UNKNOWN_CODE


def test_a_card_that_was_taken_is_out_until_it_is_withdrawn() -> None:
    r = register()
    r.take("1010", "box1")
    assert r.check("1010") is Anomaly.ALREADY_OUT and r.where("1010") == "box1"
    assert (r.out_count, r.left_count) == (1, 51)
    r.withdraw("1010")
    assert r.check("1010") == Card.parse("As") and r.out_count == 0
    with pytest.raises(KeyError):
        r.where("1010")


@pytest.mark.parametrize("code", ["1010", "A01", "9999"])
def test_taking_what_is_not_in_the_shoe_is_a_bug(code: str) -> None:
    r = register()
    r.take("1010", "box1")
    with pytest.raises(AssertionError):
        r.take(code, "box2")


def test_a_card_moves_only_when_it_is_out() -> None:
    r = register()
    with pytest.raises(AssertionError):
        r.move("1010", "burn")
    r.take("1010", "box1")
    r.move("1010", "burn")
    assert r.where("1010") == "burn" and r.out_count == 1


def test_withdrawing_what_is_in_the_shoe_is_a_bug() -> None:
    with pytest.raises(KeyError):
        register().withdraw("1010")


def test_the_shuffle_brings_all_cards_back() -> None:
    r = register()
    for card in DECK:
        r.take(BLUE.code(card), "box1")
    assert r.left_count == 0
    r.shuffle()
    assert (r.out_count, r.left_count) == (0, 52)
    assert r.check("1010") == Card.parse("As")
