"""The reference settlement of every game: a slip and the published outcome give a wallet's lines.

It reads nothing but the outcome in `confirmed`; a wallet in another language does the same sums. Money is
integer minor units; wins are rounded in one place, as the outcome says (D-54).
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from typing import NamedTuple, TypeAlias, assert_never

import msgspec

from controller.games.judge import option_fee
from controller.games.patterns import STAY, parse_pattern
from controller.games.published import (
    BoxOutcome,
    Exclusion,
    Outcome,
    Result,
    Rounding,
    Row,
    RowName,
    VoidedDeal,
    Wager,
    WagerOutcome,
)
from controller.games.rules import BLIND


class Decision(StrEnum):
    """What was decided on a box: by the player, or for him by the box's owner."""

    BET = "BET"
    INSURANCE = "INSURANCE"
    """Insured; the Bet is placed with it (RPL-29)."""
    FOLD = "FOLD"


class Prices(NamedTuple):
    """The prices of an outcome, in Antes (see there)."""

    of: Mapping[Wager, str]
    exchange: tuple[str, ...]

    @property
    def bet_wager(self) -> Wager:
        """What the Bet is called in this game."""
        return Wager.RAISE if Wager.RAISE in self.of else Wager.BET

    def fee(self, wager: Wager, count: int) -> str:
        """Return what a draw of `count` cards costs. Raises ValueError where it is not sold."""
        if wager in self.of:
            return self.of[wager]
        if wager is Wager.EXCHANGE_FEE and self.exchange:
            return self.exchange[count - 1]
        raise ValueError(f"{wager} is not sold in this game")


class LateBet(msgspec.Struct, frozen=True):
    """A bet that arrived after "no more bets": never part of the round (RPL-04)."""

    wager: Wager
    stake: int


class VoidedBet(msgspec.Struct, frozen=True):
    """A Bet or a fee that an answer of an abandoned deal has cost (OAB-24)."""

    deal: int
    wager: Wager
    stake: int


class BoxSlip(msgspec.Struct, frozen=True, tag="box"):
    """What one player staked on one box and what was chosen there, in minor units.

    `pattern` stays `stay` for BET, for FOLD as dealt and for silence in options time (RPL-14). `decision`
    None is silence to the end (RPL-22, D-52); a blind box of live Russian Poker takes no decision, on the
    dark box of another game BET was placed with the Ante (OAB-27). `can_place_bet` False turns the
    automatic BET into a FOLD (RPL-81). `deal` is the one in which these answers were given,
    `voided` what the answers of the deals before it have cost; a dark box stays with deal 1 (OAB-24).
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
    deal: int = 1
    voided: tuple[VoidedBet, ...] = ()

    def __post_init__(self) -> None:
        parse_pattern(self.pattern)
        if (self.decision is Decision.INSURANCE) != (self.insurance > 0):
            raise ValueError(f"{self.box}: decision {self.decision} with an insurance of {self.insurance}")


class LayoutSlip(msgspec.Struct, frozen=True, tag="layout"):
    """What one player has staked on a layout where every wager stands by itself (BAC-15), in minor units."""

    box: str
    stakes: Mapping[Wager, int] = {}
    late: tuple[LateBet, ...] = ()


Slip: TypeAlias = BoxSlip | LayoutSlip


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
    """One wager settled. `returned` is the amount credited, the stake included.

    `deal` is the one in which a Bet or a fee was placed; other wagers are of deal 1.
    """

    box: str
    wager: Wager
    stake: int
    outcome: LineOutcome
    returned: int
    rules: tuple[str, ...]
    odds: str | None = None
    deal: int = 1


REFUNDED_LATE = WagerOutcome(Result.REFUND, ("RPL-04",))
REFUNDED_CANCELLED = WagerOutcome(Result.REFUND, ("RPL-73",))


def settle(slip: tuple[Slip, ...], outcome: Outcome, voided: tuple[VoidedDeal, ...] = ()) -> tuple[Line, ...]:
    """Settle a player's slip, box by box; `voided` are the abandoned deals, as `confirmed` lists them.

    Raises ValueError for a slip that the rules never permitted: such a request has to be refused when it
    is made. The same for wagers of a deal that was not abandoned.
    """
    deals = {each.deal: each for each in voided}
    return tuple(
        line
        for part in slip
        for line in (
            _settle_layout(part, outcome)
            if isinstance(part, LayoutSlip)
            else _settle_box(part, outcome, deals)
        )
    )


def refund_layout(slip: LayoutSlip) -> tuple[Line, ...]:
    """Return every stake on a layout: the round is cancelled (RPL-73)."""
    stakes = slip.stakes.items()
    placed = [_line(slip.box, wager, stake, REFUNDED_CANCELLED) for wager, stake in stakes]
    return (*placed, *_late(slip))


def refund(
    slip: tuple[BoxSlip, ...],
    prices: Mapping[Wager, str],
    *,
    exchange_prices: tuple[str, ...] = (),
    blind: Container[str] = BLIND,
) -> tuple[Line, ...]:
    """Return every stake and fee placed so far: the round is cancelled (RPL-73).

    Prices are the published ones, in Antes. `blind` names the boxes where the Bet always goes with the
    Ante: none but in live Russian Poker. A silent player has placed no Bet yet.
    """
    priced = Prices(prices, exchange_prices)
    return tuple(
        _line(box.box, wager, stake, REFUNDED_CANCELLED, deal=_deal_of(box, wager))
        for box in slip
        for wager, stake in _stakes(box, priced, bet=box.box in blind or bet_placed(box))
    ) + tuple(line for box in slip for line in (*_voided(box, REFUNDED_CANCELLED), *_late(box)))


def bet_placed(slip: BoxSlip) -> bool:
    """Whether the Bet was placed by a decision; on a dark box, with the Ante (OAB-27)."""
    return slip.decision in (Decision.BET, Decision.INSURANCE)


def price(ante: int, antes: str) -> int:
    """Return a price in minor units. Raises ValueError when it is no whole number of them (D-54)."""
    amount = ante * exactly(antes)
    if amount.denominator != 1:
        raise ValueError(f"{antes} Antes of {ante} is no whole amount; such an Ante is refused")
    return amount.numerator


@lru_cache
def exactly(text: str) -> Fraction:
    """Read odds or a price; an outcome has few of them, and its slips may be many."""
    return Fraction(text)


def rounded(amount: Fraction, rounding: Rounding) -> int:
    """Round a win, or the greatest insurance, to whole minor units (D-54)."""
    match rounding:
        case Rounding.DOWN:
            return floor(amount)
        case Rounding.UP:
            return ceil(amount)
        case _:
            assert_never(rounding)


def _settle_box(slip: BoxSlip, outcome: Outcome, voided: Mapping[int, VoidedDeal]) -> Iterator[Line]:
    playing = len(voided) + 1
    if slip.ante:
        if any(each.row(slip.box) for each in voided.values()) and slip.deal != playing:
            raise ValueError(f"{slip.box}: answers of deal {slip.deal}, deal {playing} was played")
        box = outcome.box(slip.box)
        folds = _folds(slip, box)
        row = _row(slip, box, folds=folds)
        prices = Prices(outcome.prices, outcome.exchange_prices)
        for wager, stake in _stakes(slip, prices, bet=not folds):
            if wager not in row:
                raise ValueError(f"{slip.box}: {wager} cannot be staked on {slip.pattern}")
            yield _line(slip.box, wager, stake, row[wager], outcome.rounding, deal=_deal_of(slip, wager))
    for bet in slip.voided:
        if bet.deal not in voided or bet.wager not in (row := voided[bet.deal].row(slip.box)):
            raise ValueError(f"{slip.box}: {bet.wager} of deal {bet.deal}, which is not void")
        yield _line(slip.box, bet.wager, bet.stake, row[bet.wager], deal=bet.deal)
    yield from _late(slip)


def _settle_layout(slip: LayoutSlip, outcome: Outcome) -> Iterator[Line]:
    row = outcome.box(slip.box).hand(STAY.text).rows[RowName.PLAIN]
    for wager, stake in slip.stakes.items():
        if wager not in row:
            raise ValueError(f"{slip.box}: {wager} is not offered")
        yield _line(slip.box, wager, stake, row[wager], outcome.rounding)
    yield from _late(slip)


def _folds(slip: BoxSlip, box: BoxOutcome) -> bool:
    """Whether the player folds: by decision, or by silence without a combination (RPL-22, RPL-81, D-52).

    Raises ValueError for a decision that the box cannot have taken.
    """
    if not box.hands and bet_placed(slip):
        raise ValueError(f"{slip.box}: decision {slip.decision} on a box that has folded")
    if box.fold is None and slip.decision is Decision.FOLD:
        raise ValueError(f"{slip.box}: decision {slip.decision} on a box that has bet")
    if not box.hands or slip.decision is Decision.FOLD:
        return True
    if box.fold is None or slip.decision is not None:
        return False
    hidden = box.closed is not None  # Closed, it was in play: the rules bet on a combination alone.
    return not (hidden or box.hand(slip.pattern).combinations) or not slip.can_place_bet


def _row(slip: BoxSlip, box: BoxOutcome, *, folds: bool) -> Row:
    """Return the outcomes of all wagers on the box.

    A draw that nobody is said to have made is refunded, folded or not.
    """
    bonus = box.bonus or {}
    if not box.hands:
        return (box.fold or {}) | bonus
    hand = box.hand(slip.pattern)
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


def _stakes(slip: BoxSlip, prices: Prices, *, bet: bool) -> Iterator[tuple[Wager, int]]:
    """Yield what the player has staked and paid on the box."""
    if not slip.ante:
        return
    yield Wager.ANTE, slip.ante
    pattern = parse_pattern(slip.pattern)
    if fee := option_fee(pattern):
        yield fee, price(slip.ante, prices.fee(fee, pattern.switch_count))
    if bet:
        yield prices.bet_wager, price(slip.ante, prices.of[prices.bet_wager])
    if slip.insurance:
        yield Wager.INSURANCE, slip.insurance
    if slip.bought:
        yield Wager.BUY_FEE, price(slip.ante, prices.of[Wager.BUY_FEE])
    if slip.bonus_b:
        yield Wager.BONUS_B, slip.bonus_b
    if slip.bonus_d:
        yield Wager.BONUS_D, slip.bonus_d


def _deal_of(slip: BoxSlip, wager: Wager) -> int:
    """Return the deal of a wager: Ante and bonus stakes are placed once, what answers cost in each deal."""
    return 1 if wager in (Wager.ANTE, Wager.BONUS_B, Wager.BONUS_D) else slip.deal


def _voided(slip: BoxSlip, published: WagerOutcome) -> Iterator[Line]:
    for bet in slip.voided:
        yield _line(slip.box, bet.wager, bet.stake, published, deal=bet.deal)


def _late(slip: Slip) -> Iterator[Line]:
    for bet in slip.late:
        yield _line(slip.box, bet.wager, bet.stake, REFUNDED_LATE)


def _line(
    box: str,
    wager: Wager,
    stake: int,
    published: WagerOutcome,
    rounding: Rounding = Rounding.DOWN,
    *,
    deal: int = 1,
) -> Line:
    """Settle one wager; of a refund nothing is rounded."""
    outcome, returned = _returned(stake, published, rounding)
    return Line(box, wager, stake, outcome, returned, published.rules, published.odds, deal)


def most_win(stake: int, published: WagerOutcome) -> int | None:
    """Return the most that this stake may win, None for no limit (RPL-61, D-21)."""
    if published.limit is None or not published.limit_includes_stake:
        return published.limit
    return max(0, published.limit - stake)


def _returned(stake: int, published: WagerOutcome, rounding: Rounding) -> tuple[LineOutcome, int]:
    """Work out what comes back of one stake (COM-12)."""
    match published.outcome:
        case Result.WIN:
            assert published.odds is not None
            win = rounded(stake * exactly(published.odds), rounding)
            most = most_win(stake, published)
            if most is not None and win > most:
                return LineOutcome.WIN_CAPPED, stake + most
            return LineOutcome.WIN, stake + win
        case Result.PUSH | Result.REFUND | Result.RETURN_BONUS:
            return LineOutcome(published.outcome), stake
        case Result.LOSE | Result.FEE:
            return LineOutcome(published.outcome), 0
