"""How often a line without a checksum turns one card into another unseen: exact, over all codes of a deck."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from typing import NamedTuple

BITS = 8
PRINTABLE = tuple(map(chr, range(0x20, 0x7F)))


class Changes(NamedTuple):
    """Ways to change one place of one code, and how many of them give the code of another card."""

    total: int
    undetected: int

    @property
    def rate(self) -> Fraction:
        """The share that nobody notices."""
        return Fraction(self.undetected, self.total)


class Misreads(NamedTuple):
    """What one changed bit, and one character read as another printable one, do to the codes of a deck."""

    bits: Changes
    characters: Changes


def misreads(codes: Collection[str]) -> Misreads:
    """Count over every code and place. Codes are ASCII."""
    known = frozenset(codes)
    bits = [changed for code in known for changed in _bit_changes(code)]
    characters = [changed for code in known for changed in _character_changes(code)]
    return Misreads(
        Changes(len(bits), sum(changed in known for changed in bits)),
        Changes(len(characters), sum(changed in known for changed in characters)),
    )


def _bit_changes(code: str) -> list[str]:
    return [
        code[:place] + chr(ord(code[place]) ^ 1 << bit) + code[place + 1 :]
        for place in range(len(code))
        for bit in range(BITS)
    ]


def _character_changes(code: str) -> list[str]:
    return [
        code[:place] + other + code[place + 1 :]
        for place in range(len(code))
        for other in PRINTABLE
        if other != code[place]
    ]
