"""The settings of baccarat as data: odds, limits, the shoe. They come from `config/games/baccarat.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any

import msgspec

from controller.cards import DECK, Rank
from controller.games.published import Rounding, Wager
from controller.games.requests import Refusal
from controller.games.rules import decode_fraction

DECK_SIZE = len(DECK)
LONGEST_COUP, LONGEST_BURN = 6, 11
MAIN_BETS = (Wager.PLAYER, Wager.BANKER)
PAIR_BETS = (Wager.PLAYER_PAIR, Wager.BANKER_PAIR)


class StakeLimits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Least and greatest stake of one player, in minor units."""

    min: int
    max: int

    def __post_init__(self) -> None:
        if not 0 < self.min <= self.max:
            raise ValueError(f"limits: min {self.min} to max {self.max} is no range")


class LayoutLimits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Limits of every wager (COM-13). `main` are those of Player and Banker, `pair` of each pair."""

    main: StakeLimits
    tie: StakeLimits
    pair: StakeLimits

    def of(self, wager: Wager) -> StakeLimits:
        """Return the limits of a wager."""
        if wager in MAIN_BETS:
            return self.main
        return self.tie if wager is Wager.TIE else self.pair


class BaccaratRules(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings of the game."""

    decks: Annotated[int, msgspec.Meta(ge=1, le=8)]
    """BAC-02."""
    player_odds: Fraction
    banker_odds: Fraction
    """The commission is in them (BAC-10)."""
    tie_odds: Fraction
    pair_odds: Fraction
    pairs: bool
    """Whether the pair bets are offered (BAC-12)."""
    burn_by_first_card: bool
    """Whether the first card of a new shoe is shown, and that many are burned (BAC-13)."""
    cutting_card_from_end: int
    """How many cards lie behind the cutting card (BAC-13)."""
    rounds_after_cutting_card: Annotated[int, msgspec.Meta(ge=0, le=5)]
    """How many coups follow the one in which the cutting card came out (BAC-13)."""
    limits: LayoutLimits
    rounding: Rounding = Rounding.DOWN
    """D-54."""
    max_rescans: Annotated[int, msgspec.Meta(ge=0)] = 1

    def __post_init__(self) -> None:
        most = DECK_SIZE * self.decks - LONGEST_BURN - LONGEST_COUP
        if not LONGEST_COUP <= self.cutting_card_from_end <= most:
            raise ValueError(
                f"cutting_card_from_end: {self.cutting_card_from_end} cards; expected {LONGEST_COUP} to "
                f"{most}, so that a coup lies behind the cutting card and the first one before it"
            )

    @property
    def wagers(self) -> tuple[Wager, ...]:
        """What can be staked on the layout."""
        return (*MAIN_BETS, Wager.TIE, *(PAIR_BETS if self.pairs else ()))


def load_baccarat_rules(settings: Mapping[str, Any]) -> BaccaratRules:
    """Convert a plain mapping, such as a decoded TOML file.

    Raises msgspec.ValidationError, with the path of the key, for one that is unknown, missing or out of
    range.
    """
    return msgspec.convert(settings, BaccaratRules, dec_hook=decode_fraction)


def stake_refusal(wager: Wager, amount: int, balance: int, rules: BaccaratRules) -> Refusal | None:
    """Return why a stake is refused, None when it is accepted, whole (COM-13, BAC-15)."""
    if wager not in rules.wagers:
        return Refusal.NOT_OFFERED
    limits = rules.limits.of(wager)
    if amount < limits.min:
        return Refusal.BELOW_MIN
    if amount > limits.max:
        return Refusal.ABOVE_MAX
    return Refusal.BALANCE if amount > balance else None


def points(rank: Rank) -> int:
    """Return what a card counts (BAC-03)."""
    if rank is Rank.ACE:
        return 1
    return int(rank) if rank < Rank.TEN else 0


BURN_COUNTS: Mapping[Rank, int] = {rank: points(rank) or 10 for rank in Rank}
"""How many cards are burned after the first one of a new shoe (BAC-13)."""
