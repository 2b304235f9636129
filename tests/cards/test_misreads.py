"""The undetected-misread rate of a code scheme, against codes for which it can be counted by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from controller.cards import Scheme, code_map
from controller.cards.misreads import Changes, misreads


def test_codes_that_are_one_bit_apart() -> None:
    """0x30 and 0x31 differ in the lowest bit: one of eight changes, one of 94 characters."""
    assert misreads({"0", "1"}) == (Changes(16, 2), Changes(188, 2))
    assert misreads({"0", "3"}).bits == Changes(16, 0)
    assert misreads({"00", "11"}).characters.rate == 0
    assert misreads({"0", "1"}).bits.rate == Fraction(1, 8)


@pytest.mark.parametrize(
    ("scheme", "bits", "characters"),
    [
        # Bits: suits 1-3 and 2-3 (4 x 13), 0-1 before 10, 20, 30 (6 x 4), tens 1-9 (22 x 4), 10-13 (8 x 4).
        # Characters: suits 52 x 3, the same 6 x 4, tens (9 x 8 + 4 x 3) x 4.
        (Scheme.SUIT_DIGIT_RANK, Changes(52 * 4 * 8, 196), Changes(52 * 4 * 94, 516)),
        # Of the letters only A-C are a bit apart: 2 x 13; the ranks as above.
        (Scheme.LETTER_NUMBER, Changes(52 * 3 * 8, 170), Changes(52 * 3 * 94, 516)),
        # Suits c-s; ranks: eight pairs among 2-9, J-K and Q-A. Any rank or suit for another is a card.
        (Scheme.PLAIN, Changes(52 * 2 * 8, 2 * 13 + 20 * 4), Changes(52 * 2 * 94, 52 * (12 + 3))),
    ],
)
def test_the_schemes_of_the_house(scheme: Scheme, bits: Changes, characters: Changes) -> None:
    assert misreads(code_map("any", scheme).cards) == (bits, characters)
