"""The settings of live Russian Poker's sister games as data, from `config/games/<game>.toml`.

A game has the keys that its own rule sheet or a decision speaks of, and no others.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, TypeVar

import msgspec

from controller.games.combinations import Kind, PairedStraight
from controller.games.deal_pattern import DealPattern
from controller.games.paytables import BonusRow, check_complete
from controller.games.price_list import PriceList
from controller.games.published import Rounding, Wager
from controller.games.rules import decode_fraction

BoxCount = Annotated[int, msgspec.Meta(ge=1, le=4)]
"""So many that ten cards each, the dealer's five and a replacement fit one deck (D-51)."""
FivePrices = tuple[Fraction, Fraction, Fraction, Fraction, Fraction]
"""What exchanging one to five cards costs, in Antes."""

BONUS_ROWS = tuple(row for row in BonusRow if row is not BonusRow.AK)
"""The bonus hands of Oasis (OAB-20)."""


class AnteLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits in minor units; they are the table's own (COM-13)."""

    ante_min: int
    ante_max: int
    table_max: int | None = None
    """The most that one box can win on its Bet in one round, the stake on top; None for no such limit."""

    def __post_init__(self) -> None:
        if not 0 < self.ante_min <= self.ante_max:
            raise ValueError(f"limits: ante_min {self.ante_min} to ante_max {self.ante_max} is no range")
        if self.table_max is not None and self.table_max <= 0:
            raise ValueError(f"limits.table_max: {self.table_max} minor units; a maximum is above 0")


class RoyalLimits(AnteLimits, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`stakes_max` is what Ante and Raise together may be (ROY-02)."""

    stakes_max: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.stakes_max < self.ante_min:
            raise ValueError(f"limits.stakes_max: {self.stakes_max} is below ante_min {self.ante_min}")


class SisterRules(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings that every one of these games has."""

    odds: Mapping[Kind, Fraction]
    """What the Bet pays."""
    ante_odds: Fraction
    """What the Ante pays whenever it wins."""
    bet_price: Fraction
    """In Antes, like every price."""
    limits: AnteLimits
    up_card: Annotated[int, msgspec.Meta(ge=1, le=5)]
    """Which of the dealer's cards lies open (D-33)."""
    deal_pattern: DealPattern = DealPattern.SINGLE
    """D-10."""
    rounding: Rounding = Rounding.DOWN
    """D-54."""
    max_rescans: Annotated[int, msgspec.Meta(ge=0)] = 1
    max_payout_includes_stake: bool = False
    """Whether `table_max` counts the stake on the Bet too (D-21)."""

    def __post_init__(self) -> None:
        check_complete(self.odds, tuple(Kind), "odds")
        _ = self.price_list  # Its own check raises.

    @property
    def box_names(self) -> tuple[str, ...]:
        """The boxes in dealing order."""
        return tuple(f"box{number}" for number in range(1, self.box_count + 1))

    @property
    def box_count(self) -> int:
        """How many boxes the layout has."""
        return 1

    @property
    def price_list(self) -> PriceList:
        """What is sold, with its prices."""
        return PriceList(self.bet_price)


class CaribbeanRules(SisterRules, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Caribbean Poker."""

    boxes: BoxCount = 3

    @property
    def box_count(self) -> int:
        return self.boxes


class OasisRules(CaribbeanRules, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Oasis Poker and Golden Oasis."""

    exchange_prices: FivePrices
    force_bet_after_five: bool = False
    """Whether a box that has exchanged five cards must bet (D-22, OAS-05)."""

    @property
    def price_list(self) -> PriceList:
        return PriceList(self.bet_price, self.exchange_prices)


class OasisBonus(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The bonus stake beside the Ante (OAB-19, OAB-20). `stakes` in minor units."""

    stakes: tuple[int, ...]
    ante_share_max: Fraction
    odds: Mapping[BonusRow, Fraction]

    def __post_init__(self) -> None:
        check_complete(self.odds, BONUS_ROWS, "bonus.odds")
        if BonusRow.AK in self.odds:
            raise ValueError("bonus.odds: AK; Ace-King is no bonus hand of this game (OAB-20)")
        if not self.stakes or min(self.stakes) <= 0:
            raise ValueError("bonus.stakes: at least one, each above 0")
        if self.ante_share_max <= 0:
            raise ValueError(f"bonus.ante_share_max: {self.ante_share_max}; a share is above 0")


class BonusOasisRules(CaribbeanRules, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Oasis with bonus; `bonus` is left out where no bonus is offered."""

    exchange_prices: FivePrices
    bets_per_box_max: Annotated[int, msgspec.Meta(ge=1)]
    """The owner's and his passengers' (OAB-17)."""
    bonus: OasisBonus | None = None
    fold_loses_bonus: bool = False
    """Also without an exchange (D-23)."""
    open_boxes_in_order: bool = True
    """Whether a second open box waits for the first one's decision (OAB-14)."""

    @property
    def price_list(self) -> PriceList:
        return PriceList(self.bet_price, self.exchange_prices)


class RussianRules(SisterRules, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What Grandmaster's Russian Poker and Royal Poker share."""

    exchange_prices: FivePrices
    sixth_card_price: Fraction
    purchase_price: Fraction
    paired_straight: PairedStraight = PairedStraight.STRAIGHT
    """D-08."""
    purchase_needs_combination: bool = False
    """D-35."""
    redraw_same_rank: bool = False
    """Whether the dealer draws once more after a card of the rank that he laid aside (D-17)."""

    @property
    def price_list(self) -> PriceList:
        return PriceList(self.bet_price, self.exchange_prices, self.sixth_card_price, self.purchase_price)


class GrandmasterRules(RussianRules, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Grandmaster's Russian Poker."""

    boxes: Annotated[int, msgspec.Meta(ge=1, le=3)] = 3
    """GRP-02, D-28."""

    @property
    def box_count(self) -> int:
        return self.boxes


class RoyalRules(RussianRules, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Royal Poker, on one box (ROY-02)."""

    limits: RoyalLimits

    @property
    def price_list(self) -> PriceList:
        return msgspec.structs.replace(super().price_list, bet_wager=Wager.RAISE)


R = TypeVar("R", bound=SisterRules)


def load_sister_rules(settings: Mapping[str, Any], game: type[R]) -> R:
    """Convert a plain mapping, such as a decoded TOML file, to the settings of a game.

    Raises msgspec.ValidationError, with the path of the key, for one that is unknown, missing or out of
    range.
    """
    return msgspec.convert(settings, game, dec_hook=decode_fraction)
