"""Code maps: the five schemes, complete and one-to-one, and what they refuse."""

from __future__ import annotations

import pytest

from controller.cards import DECK, Card, Rank, Scheme, Suit, code_map, parse_cards

TAGS = {f"E004010000{index:06X}": str(card) for index, card in enumerate(DECK)}


def table_for(scheme: Scheme) -> dict[str, str] | None:
    return TAGS if scheme is Scheme.TABLE else None


@pytest.mark.parametrize("scheme", Scheme)
def test_every_card_has_one_code_and_every_code_one_card(scheme: Scheme) -> None:
    codes = code_map("blue", scheme, table_for(scheme))
    assert codes.name == "blue" and len(codes.cards) == 52
    assert {codes.card(codes.code(card)) for card in DECK} == set(DECK)
    assert {codes.code(card) for card in codes.cards.values()} == set(codes.cards)


@pytest.mark.parametrize(
    ("scheme", "code", "card"),
    [
        (Scheme.SUIT_DIGIT_RANK, "1010", "As"),
        (Scheme.SUIT_DIGIT_RANK, "2020", "2h"),
        (Scheme.SUIT_DIGIT_RANK, "3100", "Tc"),
        (Scheme.SUIT_DIGIT_RANK, "4130", "Kd"),
        (Scheme.LETTER_NUMBER, "A01", "As"),
        (Scheme.LETTER_NUMBER, "H10", "Th"),
        (Scheme.LETTER_NUMBER, "C13", "Kc"),
        (Scheme.LETTER_NUMBER, "D12", "Qd"),
        (Scheme.ANGEL_EYE, "B2", "2s"),
        (Scheme.ANGEL_EYE, "A7", "7c"),
        (Scheme.ANGEL_EYE, "91", "Ad"),
        (Scheme.ANGEL_EYE, "CA", "Th"),
        (Scheme.ANGEL_EYE, "9D", "Kd"),
        (Scheme.PLAIN, "Td", "Td"),
        (Scheme.PLAIN, "2c", "2c"),
        (Scheme.TABLE, "E004010000000000", "2c"),
    ],
)
def test_spellings(scheme: Scheme, code: str, card: str) -> None:
    codes = code_map("blue", scheme, table_for(scheme))
    assert codes.card(code) == Card.parse(card)
    assert codes.code(Card.parse(card)) == code


@pytest.mark.parametrize("code", ["", "0010", "5010", "1000", "1140", "101", "10100", " 1010", "As", "A01"])
def test_a_code_that_the_deck_has_not_is_no_card(code: str) -> None:
    assert code_map("blue", Scheme.SUIT_DIGIT_RANK).card(code) is None


def test_a_card_without_a_code_is_named() -> None:
    short = {code: card for code, card in TAGS.items() if card not in ("As", "2c")}
    with pytest.raises(ValueError, match="deck red: no code for 2c, As"):
        code_map("red", Scheme.TABLE, short)


def test_a_card_with_two_codes_is_refused() -> None:
    with pytest.raises(ValueError, match="53 codes for 52 cards"):
        code_map("red", Scheme.TABLE, {**TAGS, "E004FFFF": "As"})


def test_a_word_that_is_no_card_is_refused() -> None:
    with pytest.raises(ValueError, match="'Xx' is not a card"):
        code_map("red", Scheme.TABLE, {**TAGS, "E004FFFF": "Xx"})


@pytest.mark.parametrize("scheme", Scheme)
def test_a_table_goes_with_its_scheme_and_no_other(scheme: Scheme) -> None:
    wrong = None if scheme is Scheme.TABLE else TAGS
    with pytest.raises(ValueError, match="do not go together"):
        code_map("red", scheme, wrong)


def test_a_card_that_is_not_in_the_deck_has_no_code() -> None:
    joker = Card(Rank.ACE, "x")  # type: ignore[arg-type]
    with pytest.raises(KeyError):
        code_map("blue", Scheme.PLAIN).code(joker)


def test_the_deck_is_52_cards_and_texts_read_back() -> None:
    assert len(set(DECK)) == 52 == len(Suit) * len(Rank)
    assert parse_cards(" ".join(str(card) for card in DECK)) == DECK


@pytest.mark.parametrize("text", ["", "A", "as", "AS", "10s", "1s", "Asx", " As", "a♠"])
def test_what_is_no_card_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a card"):
        Card.parse(text)
