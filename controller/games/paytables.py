"""Pay tables: what a combination and a bonus hand are worth, as exact fractions of the stake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise
from typing import TypeVar

from controller.cards import Rank
from controller.games.combinations import Kind
from controller.games.poker import Hand

Row = TypeVar("Row", bound=StrEnum)


class BonusRow(StrEnum):
    """Rows of the bonus table, dearest first (RPL-51)."""

    ROYAL = "ROYAL"
    STRAIGHT_FLUSH = "STRAIGHT_FLUSH"
    QUADS = "QUADS"
    FULL_HOUSE = "FULL_HOUSE"
    FLUSH = "FLUSH"
    STRAIGHT = "STRAIGHT"
    SEVENS_777 = "SEVENS_777"
    """Three sevens without a pair beside them (BON-02)."""
    SEVENS_77_PAIR = "SEVENS_77_PAIR"
    """Two pairs, one of them sevens (BON-03)."""
    AK = "AK"


def check_complete(table: Mapping[Row, Fraction], rows: Sequence[Row], name: str) -> None:
    """Raise ValueError unless `table` pays every one of `rows`, the higher never less than the lower.

    Which of two hands is the dearer is decided by their names alone (DBL-06, RPL-55), so a table in
    which a lower row pays more cannot be played.
    """
    if missing := [row for row in rows if row not in table]:
        raise ValueError(f"{name}: no odds for {', '.join(missing)}")
    if table[rows[-1]] <= 0:
        raise ValueError(f"{name}: {rows[-1]} pays {table[rows[-1]]}; odds are above 0")
    for higher, lower in pairwise(rows):
        if table[higher] < table[lower]:
            raise ValueError(f"{name}: {higher} pays {table[higher]}, less than {lower}, {table[lower]}")


def total_odds(hand: Hand, table: Mapping[Kind, Fraction]) -> Fraction:
    """Return the odds of both combinations together (DBL-04); 0 for "no game"."""
    if hand.main is None:
        return Fraction(0)
    odds = table[hand.main.kind]
    return odds if hand.second is None else odds + table[hand.second.kind]


def bonus_row(hand: Hand, *, doubles: bool) -> BonusRow | None:
    """Return the bonus row of five dealt cards, the higher one of two (RPL-55), None when they lose.

    With `doubles`, as for a player's box (RPL-56), Ace-King counts as the second combination too; the
    dealer's hand has one combination only (RPL-57).
    """
    match hand.main:
        case None:
            return None
        case main if main.kind in BONUS_BY_KIND:
            return BONUS_BY_KIND[main.kind]
        case main if any(card.rank is Rank.SEVEN for card in main.cards):
            if main.kind is Kind.TRIPS:
                return BonusRow.SEVENS_777
            if main.kind is Kind.TWO_PAIR:
                return BonusRow.SEVENS_77_PAIR
    counted = hand.combinations if doubles else hand.combinations[:1]
    return BonusRow.AK if any(combination.kind is Kind.AK for combination in counted) else None


BONUS_BY_KIND = {
    kind: BonusRow(kind)
    for kind in (Kind.ROYAL, Kind.STRAIGHT_FLUSH, Kind.QUADS, Kind.FULL_HOUSE, Kind.FLUSH, Kind.STRAIGHT)
}
