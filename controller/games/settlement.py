"""The reference settlement: a player's slip and the published outcome give the lines a wallet books.

It reads nothing but the outcome in `confirmed`; a wallet in another language does the same sums. Money is
integer minor units, and wins are rounded down in one place (D-54).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from fractions import Fraction

import msgspec

from controller.games.judge import option_fee
from controller.games.patterns import STAY, parse_pattern
from controller.games.published import (
    BoxOutcome,
    Exclusion,
    HandOutcome,
    Outcome,
    Result,
    Row,
    RowName,
    Wager,
    WagerOutcome,
)
from controller.games.rules import MAIN


class Decision(StrEnum):
    """What the player of the main box did with his hand."""

    BET = "BET"
    INSURANCE = "INSURANCE"
    """Insured; the Bet is placed with it (RPL-29)."""
    FOLD = "FOLD"


class LateBet(msgspec.Struct, frozen=True):
    """A bet that arrived after "no more bets": never part of the round (RPL-04)."""

    wager: Wager
    stake: int


class BoxSlip(msgspec.Struct, frozen=True):
    """What one player staked and chose on one box, in minor units.

    `pattern` stays `stay` for BET, for FOLD as dealt and for silence in options time (RPL-14). `decision`
    None is silence to the end (RPL-22); a blind box takes no decision. `can_place_bet` False turns the
    automatic BET into a FOLD (RPL-81).
    """

    box: str
    ante: int = 0
    pattern: str = STAY.text
    decision: Decision | None = None
    insurance: int = 0
    bought: bool = False
    bonus_b: int = 0
    bonus_d: int = 0
    can_place_bet: bool = True
    late: tuple[LateBet, ...] = ()

    def __post_init__(self) -> None:
        parse_pattern(self.pattern)
        if (self.decision is Decision.INSURANCE) != (self.insurance > 0):
            raise ValueError(f"{self.box}: decision {self.decision} with an insurance of {self.insurance}")


class LineOutcome(StrEnum):
    """What a wallet books. WIN_CAPPED is a win that the limit has cut."""

    WIN = "WIN"
    WIN_CAPPED = "WIN_CAPPED"
    PUSH = "PUSH"
    LOSE = "LOSE"
    FEE = "FEE"
    RETURN_BONUS = "RETURN_BONUS"
    REFUND = "REFUND"


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """One wager settled. `returned` is the amount credited, the stake included."""

    box: str
    wager: Wager
    stake: int
    outcome: LineOutcome
    returned: int
    rules: tuple[str, ...]
    odds: str | None = None


REFUNDED_LATE = WagerOutcome(Result.REFUND, ("RPL-04",))
REFUNDED_CANCELLED = WagerOutcome(Result.REFUND, ("RPL-73",))


def settle(slip: tuple[BoxSlip, ...], outcome: Outcome) -> tuple[Line, ...]:
    """Settle a player's slip, box by box.

    Raises ValueError for a slip that the rules never permitted: such a request has to be refused when it
    is made.
    """
    return tuple(line for box in slip for line in _settle_box(box, outcome))


def refund(slip: tuple[BoxSlip, ...], prices: Mapping[Wager, str]) -> tuple[Line, ...]:
    """Return every stake and fee placed so far: the round is cancelled (RPL-73).

    `prices` are the published ones, in Antes. A silent player has placed no Bet yet.
    """
    return tuple(
        _line(box.box, wager, stake, REFUNDED_CANCELLED)
        for box in slip
        for wager, stake in _stakes(box, prices, bet=bet_placed(box))
    ) + tuple(line for box in slip for line in _late(box))


def bet_placed(slip: BoxSlip) -> bool:
    """Whether the player himself has placed the Bet: on a blind box with the Ante (RPL-05)."""
    return slip.box != MAIN or slip.decision in (Decision.BET, Decision.INSURANCE)


def price(ante: int, antes: str) -> int:
    """Return a price in minor units. Raises ValueError when it is no whole number of them (D-54)."""
    amount = ante * Fraction(antes)
    if amount.denominator != 1:
        raise ValueError(f"{antes} Antes of {ante} is no whole amount; such an Ante is refused")
    return amount.numerator


def rounded_down(amount: Fraction) -> int:
    """Round a win, or the greatest insurance, down to whole minor units (D-54)."""
    return amount.numerator // amount.denominator


def _settle_box(slip: BoxSlip, outcome: Outcome) -> Iterator[Line]:
    if slip.ante:
        box = outcome.box(slip.box)
        hand = box.hand(slip.pattern)
        folds = _folds(slip, hand)
        row = _row(slip, box, hand, folds=folds)
        for wager, stake in _stakes(slip, outcome.prices, bet=not folds):
            if wager not in row:
                raise ValueError(f"{slip.box}: {wager} cannot be staked on {slip.pattern}")
            yield _line(slip.box, wager, stake, row[wager])
    yield from _late(slip)


def _folds(slip: BoxSlip, hand: HandOutcome) -> bool:
    """Whether the box is folded: by decision, or by silence without a combination (RPL-22, RPL-81)."""
    if slip.box != MAIN:
        return False
    if slip.decision is None:
        return not hand.combinations or not slip.can_place_bet
    return slip.decision is Decision.FOLD


def _row(slip: BoxSlip, box: BoxOutcome, hand: HandOutcome, *, folds: bool) -> Row:
    """Return the outcomes of all wagers on the box.

    A draw that nobody is said to have made is refunded, folded or not.
    """
    bonus = box.bonus or {}
    if folds and hand.excluded is not Exclusion.NOBODY_DREW:
        return (box.fold or {}) | bonus
    match bool(slip.insurance), slip.bought:
        case False, False:
            name = RowName.PLAIN
        case True, False:
            name = RowName.INSURED
        case False, True:
            name = RowName.BOUGHT
        case _:
            name = RowName.INSURED_BOUGHT
    if name not in hand.rows:
        raise ValueError(f"{slip.box}: {slip.pattern} cannot be played {name}")
    return hand.rows[name] | bonus


def _stakes(slip: BoxSlip, prices: Mapping[Wager, str], *, bet: bool) -> Iterator[tuple[Wager, int]]:
    """Yield what the player has staked and paid on the box."""
    if not slip.ante:
        return
    yield Wager.ANTE, slip.ante
    if fee := option_fee(parse_pattern(slip.pattern)):
        yield fee, price(slip.ante, prices[fee])
    if bet:
        yield Wager.BET, price(slip.ante, prices[Wager.BET])
    if slip.insurance:
        yield Wager.INSURANCE, slip.insurance
    if slip.bought:
        yield Wager.BUY_FEE, price(slip.ante, prices[Wager.BUY_FEE])
    if slip.bonus_b:
        yield Wager.BONUS_B, slip.bonus_b
    if slip.bonus_d:
        yield Wager.BONUS_D, slip.bonus_d


def _late(slip: BoxSlip) -> Iterator[Line]:
    for bet in slip.late:
        yield _line(slip.box, bet.wager, bet.stake, REFUNDED_LATE)


def _line(box: str, wager: Wager, stake: int, published: WagerOutcome) -> Line:
    outcome, returned = _returned(stake, published)
    return Line(box, wager, stake, outcome, returned, published.rules, published.odds)


def _returned(stake: int, published: WagerOutcome) -> tuple[LineOutcome, int]:
    """Work out what comes back of one stake (COM-12)."""
    match published.outcome:
        case Result.WIN:
            assert published.odds is not None
            win = rounded_down(stake * Fraction(published.odds))
            if published.limit is not None and win > published.limit:
                return LineOutcome.WIN_CAPPED, stake + published.limit
            return LineOutcome.WIN, stake + win
        case Result.PUSH | Result.REFUND | Result.RETURN_BONUS:
            return LineOutcome(published.outcome), stake
        case Result.LOSE | Result.FEE:
            return LineOutcome(published.outcome), 0
