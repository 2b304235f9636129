"""The settings of live Russian Poker as data: pay tables, prices, limits, house variants.

They come from `config/games/russian_poker_live.toml`, read by the caller; their hash travels with each round.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import msgspec

from controller.games.combinations import STRENGTH, Kind, PairedStraight
from controller.games.deal_pattern import DealPattern
from controller.games.patterns import HAND_SIZE
from controller.games.paytables import BonusRow, check_complete
from controller.games.price_list import PriceList
from controller.games.procedure import Face
from controller.games.published import Rounding

GAME = "russian_poker_live"

BOXES = ("box1", "box2", "box3")
"""Box 1 lies next to the shoe (RPL-02)."""
MAIN = "box2"
"""The box that takes decisions; the others are blind."""
BLIND = ("box1", "box3")


class Prices(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What each wager beside the Ante costs, in Antes (RPL-05, RPL-13, RPL-33)."""

    bet: Fraction
    sixth_card: Fraction
    exchange: Fraction
    """For any number of cards."""
    purchase: Fraction

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            if getattr(self, name) <= 0:
                raise ValueError(f"prices.{name}: {getattr(self, name)} Antes; a price is above 0")


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Limits in minor units (RPL-60, RPL-64)."""

    ante_min: int
    ante_max: int
    table_max: int
    """The most that one box can win on its Bet in one round; the stake comes on top (RPL-61)."""

    def __post_init__(self) -> None:
        if not 0 < self.ante_min <= self.ante_max:
            raise ValueError(f"limits: ante_min {self.ante_min} to ante_max {self.ante_max} is no range")
        if self.table_max <= 0:
            raise ValueError(f"limits.table_max: {self.table_max} minor units; a maximum is above 0")


class InsuranceRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Insurance against a dealer who does not qualify (RPL-24 to RPL-26)."""

    lowest: Kind
    minimum: Fraction
    """In Antes."""
    maximum_share: Fraction
    """Of the possible win on the Bet, after the table maximum (D-16)."""
    odds: Fraction

    def covers(self, main: Kind) -> bool:
        """Whether a hand with this main combination may be insured."""
        return STRENGTH[main] >= STRENGTH[self.lowest]


class BonusRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Bonus bets B and D. Stake limits in minor units; without them the bets are not offered (RPL-59)."""

    b_min: int
    b_max: int
    d_min: int
    d_max: int
    odds: Mapping[BonusRow, Fraction]

    def __post_init__(self) -> None:
        check_complete(self.odds, tuple(BonusRow), "bonus.odds")
        for kind, low, high in (("b", self.b_min, self.b_max), ("d", self.d_min, self.d_max)):
            if not 0 < low <= high:
                raise ValueError(f"bonus: {kind}_min {low} to {kind}_max {high} is no range")


class Rules(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All settings of the game."""

    odds: Mapping[Kind, Fraction]
    """What the Bet pays (RPL-50)."""
    ante_odds: Fraction
    """What the Ante pays when the dealer does not qualify (RPL-41)."""
    prices: Prices
    limits: Limits
    insurance: InsuranceRules
    bonus: BonusRules | None = None
    paired_straight: PairedStraight = PairedStraight.STRAIGHT
    """D-08."""
    ante_paid_when_insured: bool = False
    """D-12."""
    insurance_returned_on_tie: bool = False
    """D-14."""
    insurance_halved_first: bool = False
    """Whether the greatest insurance is halved before the table maximum applies to it (D-16)."""
    insurance_in_options: bool = False
    """Whether a hand may be insured as dealt, in options time, too (RPL-16, D-24)."""
    redraw_same_rank: bool = False
    """Whether the dealer draws once more after a card of the rank that he laid aside (D-17)."""
    max_payout_includes_stake: bool = False
    """Whether `limits.table_max` counts the stake on the Bet too (D-21)."""
    skip_unused_switch_cards: bool = False
    """D-25."""
    switch_cards_face: Face = Face.DOWN
    """Face up, everybody sees a switch card as it is laid (D-45)."""
    deal_pattern: DealPattern = DealPattern.SINGLE
    """D-10."""
    rounding: Rounding = Rounding.DOWN
    """D-54."""
    max_rescans: int = 1

    def __post_init__(self) -> None:
        check_complete(self.odds, tuple(Kind), "odds")
        if self.max_rescans < 0:
            raise ValueError(f"max_rescans: {self.max_rescans}; it counts re-scans")

    @property
    def box_names(self) -> tuple[str, ...]:
        """The boxes of the layout."""
        return BOXES

    @property
    def price_list(self) -> PriceList:
        """What is sold, with its prices."""
        prices = self.prices
        return PriceList(prices.bet, (prices.exchange,) * HAND_SIZE, prices.sixth_card, prices.purchase)


def load_rules(settings: Mapping[str, Any]) -> Rules:
    """Convert a plain mapping, such as a decoded TOML file.

    Odds and prices are whole numbers or texts such as `"19/20"`. Raises msgspec.ValidationError, with the
    path of the key, for a key that is unknown, missing or out of range.
    """
    return msgspec.convert(settings, Rules, dec_hook=decode_fraction)


def decode_fraction(wanted: type, value: object) -> Fraction:
    """Read odds or a price: the `dec_hook` of msgspec. Raises ValueError for anything that is not exact."""
    assert wanted is Fraction, wanted
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(f'odds and prices are whole numbers or texts such as "19/20", got {value!r}')
    try:
        return Fraction(value)
    except ZeroDivisionError:
        raise ValueError(f"{value!r} divides by zero") from None
