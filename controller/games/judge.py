"""The wager rows of one hand: what becomes of each stake and fee, however the hand was played.

Hands with the same combinations that fare alike share one set of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
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
from controller.games.terms import Limit, Terms, compare, fee, lose, push, refund, win

INSURED = (RowName.INSURED, RowName.INSURED_BOUGHT)
BOUGHT = (RowName.BOUGHT, RowName.INSURED_BOUGHT)

INSURED_BACK = push("RPL-46")
INSURANCE_LOST = lose("RPL-27")
INSURANCE_BACK = WagerOutcome(Result.RETURN_BONUS, ("RPL-28",))
INSURANCE_TIED = push("RPL-27")
NOBODY_BOUGHT = refund("RPL-38")

REFUNDS = {
    Exclusion.BOX_EMPTY: refund("RPL-08"),
    Exclusion.NOBODY_DREW: refund("RPL-17"),
    Exclusion.ALL_FOLDED: refund("RPL-23"),
}

FOLDED: Row = {
    Wager.ANTE: lose("RPL-23"),
    Wager.SIXTH_FEE: fee("RPL-23"),
    Wager.EXCHANGE_FEE: fee("RPL-23"),
}


@cache
def live_terms(ante_odds: Fraction) -> Terms:
    """Return the terms of live Russian Poker, insurance aside."""
    return Terms(
        empty=REFUNDS[Exclusion.BOX_EMPTY],
        folded=FOLDED[Wager.ANTE],
        draw_fees=dict.fromkeys((Wager.SIXTH_FEE, Wager.EXCHANGE_FEE), fee("RPL-13")),
        ante_alone=win(ante_odds, "RPL-41"),
        bet_back=push("RPL-41"),
        ante_won=push("RPL-42"),
        bet_won=("RPL-42", "RPL-50"),
        double_won=("RPL-42", "RPL-45", "RPL-50"),
        tied=push("RPL-43"),
        lost=lose("RPL-44"),
        in_vain=push("RPL-40"),
        buy_fee=fee("RPL-39"),
        nobody_bought=NOBODY_BOUGHT,
    )


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
        self._terms = live_terms(rules.ante_odds)

    def judge(self, pattern: Pattern, hand: Hand, excluded: Exclusion | None) -> Verdict:
        """Judge a hand; all its wagers are refunded when a fact has excluded it."""
        comparison = compare(hand, self.dealer)
        after = None if self.after is None or hand.main is None else compare(hand, self.after)
        main, second = hand.main and hand.main.kind, hand.second and hand.second.kind
        key = (OPTION_FEES[pattern.text], main, second, comparison, after, excluded)
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
        limit = Limit(self.rules.limits.table_max, self.rules.max_payout_includes_stake)
        won = self._terms.won(hand, odds, limit)
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
        wagers = _wagers(name, option_fee(pattern))
        row = {wager: self._terms.draw_fees.get(wager, self._terms.lost) for wager in wagers}
        row[Wager.ANTE], row[Wager.BET] = self._stakes(name, comparison, won)
        if name in INSURED:
            row[Wager.INSURANCE] = self._insurance(name, comparison)
        if name in BOUGHT:
            assert self._terms.buy_fee is not None
            row[Wager.BUY_FEE] = self._terms.buy_fee
        return row

    def _stakes(
        self, name: RowName, comparison: Comparison, won: WagerOutcome
    ) -> tuple[WagerOutcome, WagerOutcome]:
        """Return the outcomes of Ante and Bet; `won` is that of a won Bet."""
        if name is RowName.INSURED and comparison is Comparison.NOT_QUALIFIED:  # RPL-46
            ante_paid = self.rules.ante_paid_when_insured
            return self._terms.ante_alone if ante_paid else INSURED_BACK, INSURED_BACK
        return self._terms.stakes(comparison, won, bought=name in BOUGHT)

    def _insurance(self, name: RowName, comparison: Comparison) -> WagerOutcome:
        """Judge insurance at the showdown; a purchase afterwards does not touch it (D-15)."""
        if not self.dealer.qualifies:
            rules = ("RPL-26", "RPL-36") if name in BOUGHT else ("RPL-26",)
            return WagerOutcome(Result.WIN, rules, fraction_text(self.rules.insurance.odds))
        if comparison is Comparison.LOSE:
            return INSURANCE_BACK
        tie_returns = comparison is Comparison.TIE and self.rules.insurance_returned_on_tie
        return INSURANCE_TIED if tie_returns else INSURANCE_LOST


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
