"""What becomes of Ante, Bet and fees, point by point of a rule sheet; the comparison behind it.

The poker games differ in whether the Ante wins with the Bet, in what is sold, and in the rules they cite.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

import msgspec

from controller.games.poker import Hand
from controller.games.published import Comparison, Result, Wager, WagerOutcome, fraction_text


def win(odds: Fraction, *rules: str) -> WagerOutcome:
    """The stake comes back with `odds` times as much."""
    return WagerOutcome(Result.WIN, rules, fraction_text(odds))


def push(*rules: str) -> WagerOutcome:
    """The stake comes back."""
    return WagerOutcome(Result.PUSH, rules)


def lose(*rules: str) -> WagerOutcome:
    """The stake is lost."""
    return WagerOutcome(Result.LOSE, rules)


def fee(*rules: str) -> WagerOutcome:
    """A price was paid; it never comes back."""
    return WagerOutcome(Result.FEE, rules)


def refund(*rules: str) -> WagerOutcome:
    """The wager never was in play."""
    return WagerOutcome(Result.REFUND, rules)


def compare(hand: Hand, dealer: Hand) -> Comparison:
    """Compare the best five cards with the dealer's (COM-08 to COM-10)."""
    if not dealer.qualifies:
        return Comparison.NOT_QUALIFIED
    if hand.rank == dealer.rank:
        return Comparison.TIE
    return Comparison.WIN if hand.rank > dealer.rank else Comparison.LOSE


class Limit(NamedTuple):
    """The most that a Bet may win, in minor units, with its stake or without (RPL-61, D-21)."""

    amount: int | None
    includes_stake: bool = False


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """The terms of one game, each with the rules that say so.

    `empty` is for a bet on a box that was said to have none. `ante_alone` and `bet_back` hold when the
    dealer does not qualify and nothing was bought; `ante_won` goes with a won Bet; `in_vain` is for Ante and
    Bet after a purchase that did not help. `bet_won` cites the rules of a won Bet, `double_won` those of
    one paid for two combinations: empty in games that pay one only. `folds_closed` and `unqualified_closed`
    are the rules, if any, by which the cards of a folded box, or of all boxes when the dealer does not
    qualify, are never published.
    """

    empty: WagerOutcome
    folded: WagerOutcome
    draw_fees: Mapping[Wager, WagerOutcome] = {}
    ante_alone: WagerOutcome
    bet_back: WagerOutcome
    ante_won: WagerOutcome
    bet_won: tuple[str, ...]
    double_won: tuple[str, ...] = ()
    tied: WagerOutcome
    lost: WagerOutcome
    in_vain: WagerOutcome | None = None
    buy_fee: WagerOutcome | None = None
    nobody_bought: WagerOutcome | None = None
    folds_closed: str | None = None
    unqualified_closed: str | None = None

    def closed(self, *, folded: bool, qualified: bool) -> str | None:
        """Return the rule that keeps a box closed; `qualified` is the dealer."""
        if folded and self.folds_closed:
            return self.folds_closed
        return None if qualified else self.unqualified_closed

    def stakes(
        self, comparison: Comparison, won: WagerOutcome, *, bought: bool
    ) -> tuple[WagerOutcome, WagerOutcome]:
        """Return the outcomes of Ante and Bet; `won` is that of a won Bet."""
        match comparison:
            case Comparison.WIN:
                return self.ante_won, won
            case Comparison.LOSE:
                return self.lost, self.lost
            case Comparison.TIE:
                return self.tied, self.tied
            case Comparison.NOT_QUALIFIED if bought:
                assert self.in_vain is not None, "nothing is sold here"
                return self.in_vain, self.in_vain
            case Comparison.NOT_QUALIFIED:
                return self.ante_alone, self.bet_back

    def won(self, hand: Hand, odds: str, limit: Limit) -> WagerOutcome:
        """Return the outcome of a Bet that this hand has won, at the odds of all its combinations."""
        return WagerOutcome(
            Result.WIN,
            self.double_won if hand.second else self.bet_won,
            odds,
            limit.amount,
            limit_includes_stake=limit.includes_stake,
        )
