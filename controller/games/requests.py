"""Whether a player's request may be accepted, and the reason when it may not (RPL-79).

The betting system asks this before it takes money; `settle` relies on it.
"""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction

import msgspec

from controller.games.offers import HandOffer, InsuranceRange
from controller.games.patterns import STAY, exchange
from controller.games.rules import BOXES, MAIN, Rules
from controller.games.settlement import BoxSlip, Decision, price, rounded_down


class Stage(StrEnum):
    """The windows of a round in which players act."""

    BETTING = "betting"
    OPTIONS = "options"
    FINAL_OPTIONS = "final_options"
    BUY_TIME = "buy_time"


class Action(StrEnum):
    """What a player may ask for."""

    ANTE = "ANTE"
    BONUS_B = "BONUS_B"
    BONUS_D = "BONUS_D"
    BET = "BET"
    SIXTH_CARD = "SIXTH_CARD"
    EXCHANGE = "EXCHANGE"
    INSURANCE = "INSURANCE"
    FOLD = "FOLD"
    BUY = "BUY"


ACTIONS = {
    Stage.BETTING: (Action.ANTE, Action.BONUS_B, Action.BONUS_D),
    Stage.OPTIONS: (Action.BET, Action.SIXTH_CARD, Action.EXCHANGE, Action.FOLD),
    Stage.FINAL_OPTIONS: (Action.BET, Action.INSURANCE, Action.FOLD),
    Stage.BUY_TIME: (Action.BUY,),
}
"""What each window offers (RPL-04, RPL-13, RPL-21, RPL-33)."""


class Refusal(StrEnum):
    """Why a request is refused."""

    LATE = "LATE"
    WRONG_WINDOW = "WRONG_WINDOW"
    NO_SUCH_BOX = "NO_SUCH_BOX"
    BLIND_BOX = "BLIND_BOX"
    NO_ANTE = "NO_ANTE"
    ALREADY_CHOSEN = "ALREADY_CHOSEN"
    FOLDED = "FOLDED"
    NOT_OFFERED = "NOT_OFFERED"
    NO_COMBINATION = "NO_COMBINATION"
    BAD_POSITIONS = "BAD_POSITIONS"
    BELOW_MIN = "BELOW_MIN"
    ABOVE_MAX = "ABOVE_MAX"
    ODD_AMOUNT = "ODD_AMOUNT"
    BALANCE = "BALANCE"


class Request(msgspec.Struct, frozen=True):
    """A player's request, made in the window `stage`. `amount` in minor units, `positions` from 1."""

    stage: Stage
    action: Action
    box: str
    amount: int = 0
    positions: tuple[int, ...] = ()


class Standing(msgspec.Struct, frozen=True):
    """What holds when a request arrives.

    `open_stage` is None while no window is open; `slip` is the player's slip of that box so far; `hand`
    what was published with the window for his pattern; `balance` in minor units.
    """

    open_stage: Stage | None
    slip: BoxSlip
    balance: int
    hand: HandOffer | None = None


def refusal(request: Request, standing: Standing, rules: Rules) -> Refusal | None:
    """Return why the request is refused, None when it is accepted, whole (COM-13)."""
    if request.action not in ACTIONS[request.stage]:
        return Refusal.WRONG_WINDOW
    if request.stage is not standing.open_stage:
        return Refusal.LATE
    if request.box not in BOXES:
        return Refusal.NO_SUCH_BOX
    match request.stage:
        case Stage.BETTING:
            return _betting(request, standing, rules)
        case Stage.OPTIONS | Stage.FINAL_OPTIONS:
            return _decision(request, standing, rules)
        case Stage.BUY_TIME:
            return _purchase(standing, rules)


def is_request_allowed(request: Request, standing: Standing, rules: Rules) -> bool:
    """Whether the request is accepted; `refusal` tells why not."""
    return refusal(request, standing, rules) is None


def insurance_limits(offered: InsuranceRange, ante: int, rules: Rules) -> tuple[int, int]:
    """Return least and greatest insurance in minor units.

    The greatest is the share of the possible win after the table maximum (D-16), rounded down (D-54).
    """
    share_of_maximum = rules.insurance.maximum_share * rules.limits.table_max
    greatest = rounded_down(min(ante * Fraction(offered.max), share_of_maximum))
    return price(ante, offered.min), greatest


def _within(amount: int, least: int, greatest: int, balance: int) -> Refusal | None:
    if amount < least:
        return Refusal.BELOW_MIN
    if amount > greatest:
        return Refusal.ABOVE_MAX
    return Refusal.BALANCE if amount > balance else None


def _betting(request: Request, standing: Standing, rules: Rules) -> Refusal | None:
    """Judge an Ante or a bonus bet. The Ante of a blind box takes its Bet along (RPL-05)."""
    amount, balance = request.amount, standing.balance
    if request.action is Action.ANTE:
        limits = rules.limits
        prices = rules.prices
        if any(
            (amount * antes).denominator != 1
            for antes in (prices.bet, prices.sixth_card, prices.exchange, prices.purchase)
        ):
            return Refusal.ODD_AMOUNT
        outside = _within(amount, limits.ante_min, limits.ante_max, balance)
        needed = amount if request.box == MAIN else amount + _price(amount, prices.bet)
        return outside or (Refusal.BALANCE if needed > balance else None)
    if rules.bonus is None:
        return Refusal.NOT_OFFERED
    if not standing.slip.ante:
        return Refusal.NO_ANTE
    bonus = rules.bonus
    if request.action is Action.BONUS_B:
        return _within(amount, bonus.b_min, bonus.b_max, balance)
    return _within(amount, bonus.d_min, bonus.d_max, balance)


def _decision(request: Request, standing: Standing, rules: Rules) -> Refusal | None:
    """Judge a choice for the main box; a draw needs the money for the later Bet too (RPL-15)."""
    slip = standing.slip
    if request.box != MAIN:
        return Refusal.BLIND_BOX
    if not slip.ante:
        return Refusal.NO_ANTE
    drew = slip.pattern != STAY.text
    if slip.decision is not None or (drew and request.stage is Stage.OPTIONS):
        return Refusal.ALREADY_CHOSEN
    bet = _price(slip.ante, rules.prices.bet)
    match request.action:
        case Action.BET:
            needed = bet
        case Action.SIXTH_CARD:
            needed = bet + _price(slip.ante, rules.prices.sixth_card)
        case Action.EXCHANGE:
            if not _can_exchange(request.positions):
                return Refusal.BAD_POSITIONS
            needed = bet + _price(slip.ante, rules.prices.exchange)
        case Action.INSURANCE:
            return _insurance(request, standing, rules, bet)
        case _:
            needed = 0
    return Refusal.BALANCE if needed > standing.balance else None


def _can_exchange(positions: tuple[int, ...]) -> bool:
    try:
        exchange(*positions)
    except ValueError:
        return False
    return True


def _insurance(request: Request, standing: Standing, rules: Rules, bet: int) -> Refusal | None:
    if standing.slip.pattern == STAY.text:
        return Refusal.NOT_OFFERED
    if standing.hand is None or standing.hand.insurance is None:
        return Refusal.NO_COMBINATION
    least, greatest = insurance_limits(standing.hand.insurance, standing.slip.ante, rules)
    return _within(request.amount, least, greatest, standing.balance - bet)


def _purchase(standing: Standing, rules: Rules) -> Refusal | None:
    """Judge the purchase of the dealer's qualification, on any box with a combination (RPL-33)."""
    slip = standing.slip
    if not slip.ante:
        return Refusal.NO_ANTE
    if slip.decision is Decision.FOLD:
        return Refusal.FOLDED
    if slip.bought:
        return Refusal.ALREADY_CHOSEN
    if standing.hand is None or not standing.hand.purchase:
        return Refusal.NO_COMBINATION
    return Refusal.BALANCE if _price(slip.ante, rules.prices.purchase) > standing.balance else None


def _price(ante: int, antes: Fraction) -> int:
    return price(ante, str(antes))
