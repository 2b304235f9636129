"""The wager rows of one hand: what becomes of each stake and fee, however the hand was played.

Hands with the same combinations that fare alike share one set of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from controller.games.offers import insurable
from controller.games.patterns import PATTERNS, SIXTH, STAY, Pattern
from controller.games.paytables import total_odds
from controller.games.poker import Hand
from controller.games.published import (
    Comparison,
    Exclusion,
    Result,
    Row,
    RowName,
    Rows,
    Wager,
    WagerOutcome,
    fraction_text,
)
from controller.games.rules import Rules

INSURED = (RowName.INSURED, RowName.INSURED_BOUGHT)
BOUGHT = (RowName.BOUGHT, RowName.INSURED_BOUGHT)

ANTE_BACK = WagerOutcome(Result.PUSH, ("RPL-42",))
LOST = WagerOutcome(Result.LOSE, ("RPL-44",))
TIED = WagerOutcome(Result.PUSH, ("RPL-43",))
BOUGHT_IN_VAIN = WagerOutcome(Result.PUSH, ("RPL-40",))
INSURED_BACK = WagerOutcome(Result.PUSH, ("RPL-46",))
BET_BACK = WagerOutcome(Result.PUSH, ("RPL-41",))
OPTION_FEE = WagerOutcome(Result.FEE, ("RPL-13",))
BUY_FEE = WagerOutcome(Result.FEE, ("RPL-39",))
INSURANCE_LOST = WagerOutcome(Result.LOSE, ("RPL-27",))
INSURANCE_BACK = WagerOutcome(Result.RETURN_BONUS, ("RPL-28",))
NOBODY_BOUGHT = WagerOutcome(Result.REFUND, ("RPL-38",))

REFUNDS = {
    Exclusion.BOX_EMPTY: WagerOutcome(Result.REFUND, ("RPL-08",)),
    Exclusion.NOBODY_DREW: WagerOutcome(Result.REFUND, ("RPL-17",)),
    Exclusion.ALL_FOLDED: WagerOutcome(Result.REFUND, ("RPL-23",)),
}

FOLDED: Row = {
    Wager.ANTE: WagerOutcome(Result.LOSE, ("RPL-23",)),
    Wager.SIXTH_FEE: WagerOutcome(Result.FEE, ("RPL-23",)),
    Wager.EXCHANGE_FEE: WagerOutcome(Result.FEE, ("RPL-23",)),
}


def compare(hand: Hand, dealer: Hand) -> Comparison:
    """Compare the best five cards with the dealer's (RPL-41 to RPL-44)."""
    if not dealer.qualifies:
        return Comparison.NOT_QUALIFIED
    if hand.rank == dealer.rank:
        return Comparison.TIE
    return Comparison.WIN if hand.rank > dealer.rank else Comparison.LOSE


def option_fee(pattern: Pattern) -> Wager | None:
    """Return the wager that pays for a draw."""
    return OPTION_FEES[pattern.text]


OPTION_FEES: dict[str, Wager | None] = dict.fromkeys(
    (pattern.text for pattern in PATTERNS), Wager.EXCHANGE_FEE
)
OPTION_FEES |= {STAY.text: None, SIXTH.text: Wager.SIXTH_FEE}


class Verdict(NamedTuple):
    """What is published of a hand beside its cards; `after` is the comparison after the purchase."""

    odds: str
    comparison: Comparison
    after: Comparison | None
    rows: Rows


class Judge:
    """Judges the hands of one round.

    `after` is the dealer's hand after the purchase, None while no card was drawn for him.
    """

    def __init__(self, rules: Rules, dealer: Hand, after: Hand | None) -> None:
        self.rules = rules
        self.dealer = dealer
        self.after = after
        self._verdicts: dict[object, Verdict] = {}
        self._ante_won = WagerOutcome(Result.WIN, ("RPL-41",), fraction_text(rules.ante_odds))

    def judge(self, pattern: Pattern, hand: Hand, excluded: Exclusion | None) -> Verdict:
        """Judge a hand; all its wagers are refunded when a fact has excluded it."""
        comparison = compare(hand, self.dealer)
        after = None if self.after is None or hand.main is None else compare(hand, self.after)
        kinds = (hand.main and hand.main.kind, hand.second and hand.second.kind)
        key = (OPTION_FEES[pattern.text], kinds, comparison, after, excluded)
        verdict = self._verdicts.get(key)
        if verdict is None:
            odds = fraction_text(total_odds(hand, self.rules.odds))
            rows = self.refunds(pattern, hand, excluded) if excluded else self._rows(pattern, hand, odds)
            verdict = self._verdicts[key] = Verdict(odds, comparison, after, rows)
        return verdict

    def refunds(self, pattern: Pattern, hand: Hand | None, excluded: Exclusion) -> Rows:
        """Return the rows of an excluded hand; None is a draw in a round without switch cards."""
        refund = REFUNDS[excluded]
        return {
            name: dict.fromkeys(_wagers(name, option_fee(pattern)), refund)
            for name in self._row_names(pattern, hand)
        }

    def _rows(self, pattern: Pattern, hand: Hand, odds: str) -> Rows:
        double = ("RPL-45",) if hand.second else ()
        won = WagerOutcome(Result.WIN, ("RPL-42", *double, "RPL-50"), odds, self.rules.limits.table_max)
        return {name: self._row(name, pattern, hand, won) for name in self._row_names(pattern, hand)}

    def _row_names(self, pattern: Pattern, hand: Hand | None) -> Iterator[RowName]:
        """Yield the ways of playing that the rules allow; all for a hand whose cards nobody knows."""
        insured = pattern.draws if hand is None else insurable(pattern, hand, self.rules)
        bought = not self.dealer.qualifies and (hand is None or hand.qualifies)
        yield RowName.PLAIN
        if insured:
            yield RowName.INSURED
        if bought:
            yield RowName.BOUGHT
        if insured and bought:
            yield RowName.INSURED_BOUGHT

    def _row(self, name: RowName, pattern: Pattern, hand: Hand, won: WagerOutcome) -> Row:
        dealer = self.after if name in BOUGHT else self.dealer
        if dealer is None:
            return dict.fromkeys(_wagers(name, option_fee(pattern)), NOBODY_BOUGHT)
        comparison = compare(hand, dealer)
        ante, bet = self._stakes(name, comparison, won)
        row = dict.fromkeys(_wagers(name, option_fee(pattern)), OPTION_FEE)
        row[Wager.ANTE] = ante
        row[Wager.BET] = bet
        if name in INSURED:
            row[Wager.INSURANCE] = self._insurance(name, comparison)
        if name in BOUGHT:
            row[Wager.BUY_FEE] = BUY_FEE
        return row

    def _stakes(
        self, name: RowName, comparison: Comparison, won: WagerOutcome
    ) -> tuple[WagerOutcome, WagerOutcome]:
        """Return the outcomes of Ante and Bet; `won` is that of a won Bet."""
        match comparison:
            case Comparison.WIN:
                return ANTE_BACK, won
            case Comparison.LOSE:
                return LOST, LOST
            case Comparison.TIE:
                return TIED, TIED
            case Comparison.NOT_QUALIFIED:
                if name in BOUGHT:
                    return BOUGHT_IN_VAIN, BOUGHT_IN_VAIN
                if name in INSURED:
                    ante_paid = self.rules.ante_paid_when_insured
                    return self._ante_won if ante_paid else INSURED_BACK, INSURED_BACK
                return self._ante_won, BET_BACK

    def _insurance(self, name: RowName, comparison: Comparison) -> WagerOutcome:
        """Judge insurance at the showdown; a purchase afterwards does not touch it (D-15)."""
        if not self.dealer.qualifies:
            rules = ("RPL-26", "RPL-36") if name in BOUGHT else ("RPL-26",)
            return WagerOutcome(Result.WIN, rules, fraction_text(self.rules.insurance.odds))
        return INSURANCE_BACK if comparison is Comparison.LOSE else INSURANCE_LOST


@cache
def _wagers(name: RowName, fee: Wager | None) -> tuple[Wager, ...]:
    """Return the wagers of a row in the order of settlement lines."""
    return (
        Wager.ANTE,
        *((fee,) if fee else ()),
        Wager.BET,
        *((Wager.INSURANCE,) if name in INSURED else ()),
        *((Wager.BUY_FEE,) if name in BOUGHT else ()),
    )
