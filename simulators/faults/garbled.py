"""A code with one wrong bit on a line that has no checksum: what comes of it, and how likely that is.

The card that comes out of it decides which fault of the catalogue this has been: unreadable, no card of the
deck, a card that is out already, or (unnoticed) another card.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection
from fractions import Fraction
from typing import NamedTuple

from controller.cards import Card

UNNOTICED, DOUBLED = "wrong-result", "doubled-card"
READ_AGAIN, NO_CARD = "damaged-frame", "unknown-code"


class Garbled(NamedTuple):
    """One garbled read. `chance` is how many of all its single bits give another card unnoticed."""

    round_no: int
    fault: str
    code: str | None
    """What arrives; None when it is no text."""
    chance: Fraction


class Misread(NamedTuple):
    """A card that was read as another one, unnoticed: where it lies, and how many came out before it."""

    place: str
    n: int
    out_before: int
    card: Card
    read_as: Card


class Garbler(NamedTuple):
    """What garbles the codes of one table; `card` is what the table takes a code for."""

    seed: int
    card: Callable[[str], Card | None]

    def garble(self, round_no: int, code: str, out: Collection[Card]) -> Garbled:
        """Turn one bit of `code` over, while the cards in `out` have left the shoe."""
        bits = range(8 * len(code))
        endings = [self._ending(_flipped(code, bit), out) for bit in bits]
        bit = random.Random(f"{self.seed}/garbled/{round_no}").choice(bits)
        chance = Fraction(endings.count(UNNOTICED), len(endings))
        return Garbled(round_no, endings[bit], _flipped(code, bit), chance)

    def _ending(self, code: str | None, out: Collection[Card]) -> str:
        if code is None:
            return READ_AGAIN
        read = self.card(code)
        if read is None:
            return NO_CARD
        return DOUBLED if read in out else UNNOTICED


def _flipped(code: str, bit: int) -> str | None:
    raw = bytearray(code.encode("ascii"))
    raw[bit // 8] ^= 1 << bit % 8
    return raw.decode("ascii") if all(0x20 <= byte <= 0x7E for byte in raw) else None
