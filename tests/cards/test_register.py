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


# Sets of many decks.

EIGHT_VALUE_ONLY = 8
FIVE = "1050"


def test_the_ninth_five_of_spades_of_eight_decks_is_one_too_many() -> None:
    r: Register[str] = Register(code_map("shoe", Scheme.SUIT_DIGIT_RANK, decks=EIGHT_VALUE_ONLY), (RED,))
    assert r.size == r.left_count == 416
    for n in range(EIGHT_VALUE_ONLY):
        assert r.check(FIVE) == Card.parse("5s")
        r.take(FIVE, f"place {n}")
    assert r.check(FIVE) is Anomaly.ALREADY_OUT
    assert r.places(FIVE) == tuple(f"place {n}" for n in range(EIGHT_VALUE_ONLY))
    r.withdraw(FIVE)
    assert r.where(FIVE) == "place 6" and r.check(FIVE) == Card.parse("5s")
    r.withdraw(FIVE, "place 2")
    assert r.places(FIVE)[:3] == ("place 0", "place 1", "place 3")
    r.take(FIVE, "place 9")
    r.move(FIVE, "burn")
    assert r.places(FIVE)[-1] == "burn" and r.out_count == 7


def test_two_decks_with_a_code_for_each_card_have_no_card_twice() -> None:
    table = {f"{deck}{number:02d}": str(card) for deck in "AB" for number, card in enumerate(DECK)}
    r: Register[str] = Register(code_map("shoe", Scheme.TABLE, table, decks=2))
    assert r.size == 104
    r.take("A00", "box1")
    assert r.check("A00") is Anomaly.ALREADY_OUT and r.check("B00") == DECK[0]
    r.take("B00", "box2")
    assert r.places("A00") == ("box1",) and r.where("B00") == "box2"


def test_a_set_in_which_a_card_has_too_many_codes_is_refused() -> None:
    table = {f"{deck}{number:02d}": str(card) for deck in "AB" for number, card in enumerate(DECK)}
    table["B51"] = str(DECK[0])
    with pytest.raises(ValueError, match="deck shoe: not 2 codes for 2c, As"):
        code_map("shoe", Scheme.TABLE, table, decks=2)


def test_cards_are_told_in_the_order_in_which_they_left() -> None:
    r = register()
    for code in ("1010", "2020", "3030"):
        r.take(code, "box1")
    r.withdraw("2020")
    r.take("2020", "box2")
    assert [str(card) for card in r.drawn()] == ["As", "3c", "2h"]
