"""Whether a player's request may be accepted, and the reason when it may not (RPL-79).

The betting system asks this before it takes money; `settle` relies on it. One code serves all poker games:
what a game does not sell has no price.
"""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from math import floor
from typing import TypeAlias

import msgspec

from controller.games.offers import HandOffer, InsuranceRange
from controller.games.patterns import SIXTH, STAY, Pattern, exchange, parse_pattern
from controller.games.rules import BLIND, Rules
from controller.games.settlement import BoxSlip, Decision, price, rounded
from controller.games.sister_rules import BonusOasisRules, OasisRules, RoyalLimits, SisterRules


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
    Stage.OPTIONS: (Action.BET, Action.SIXTH_CARD, Action.EXCHANGE, Action.INSURANCE, Action.FOLD),
    Stage.FINAL_OPTIONS: (Action.BET, Action.INSURANCE, Action.FOLD),
    Stage.BUY_TIME: (Action.BUY,),
}
"""What a window may offer (RPL-04, RPL-13, RPL-21, RPL-33, D-24); a game may offer less."""


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
    NO_SUCH_STAKE = "NO_SUCH_STAKE"
    BOX_FULL = "BOX_FULL"
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
    what was published with the window for his pattern; `balance` in minor units. `dark` tells of a game
    whose boxes may be open or dark that this one is dark; `others_on_box` counts the other players' bets
    there (OAB-17).
    """

    open_stage: Stage | None
    slip: BoxSlip
    balance: int
    hand: HandOffer | None = None
    dark: bool = False
    others_on_box: int = 0


AnyRules: TypeAlias = Rules | SisterRules


def refusal(request: Request, standing: Standing, rules: AnyRules) -> Refusal | None:
    """Return why the request is refused, None when it is accepted, whole (COM-13)."""
    if request.action not in ACTIONS[request.stage]:
        return Refusal.WRONG_WINDOW
    if request.stage is not standing.open_stage:
        return Refusal.LATE
    if request.box not in rules.box_names:
        return Refusal.NO_SUCH_BOX
    match request.stage:
        case Stage.BETTING:
            return _betting(request, standing, rules)
        case Stage.OPTIONS | Stage.FINAL_OPTIONS:
            return _decision(request, standing, rules)
        case Stage.BUY_TIME:
            return _purchase(standing, rules)


def is_request_allowed(request: Request, standing: Standing, rules: AnyRules) -> bool:
    """Whether the request is accepted; `refusal` tells why not."""
    return refusal(request, standing, rules) is None


def insurance_limits(offered: InsuranceRange, ante: int, rules: Rules) -> tuple[int, int]:
    """Return least and greatest insurance in minor units.

    The greatest is the share of the possible win after the table maximum; by setting the maximum applies
    to the share (D-16). It is rounded as a win is (D-54).
    """
    most = rules.limits.table_max
    if rules.max_payout_includes_stake:
        most = max(0, most - _price(ante, rules.prices.bet))
    limit = most if rules.insurance_halved_first else rules.insurance.maximum_share * most
    greatest = rounded(min(ante * Fraction(offered.max), Fraction(limit)), rules.rounding)
    return price(ante, offered.min), greatest


def _within(amount: int, least: int, greatest: int, balance: int) -> Refusal | None:
    if amount < least:
        return Refusal.BELOW_MIN
    if amount > greatest:
        return Refusal.ABOVE_MAX
    return Refusal.BALANCE if amount > balance else None


def _is_dark(box: str, standing: Standing, rules: AnyRules) -> bool:
    return box in BLIND if isinstance(rules, Rules) else standing.dark


def _betting(request: Request, standing: Standing, rules: AnyRules) -> Refusal | None:
    if request.action is Action.ANTE:
        return _ante(request, standing, rules)
    if isinstance(rules, Rules):
        return _live_bonus(request, standing, rules)
    return _oasis_bonus(request, standing, rules)


def _ante(request: Request, standing: Standing, rules: AnyRules) -> Refusal | None:
    """Judge an Ante. That of a dark box takes its Bet along (RPL-05, OAB-27)."""
    amount, balance = request.amount, standing.balance
    prices, limits = rules.price_list, rules.limits
    if any((amount * antes).denominator != 1 for antes in prices.all()):
        return Refusal.ODD_AMOUNT  # D-54
    with_bet = amount + _price(amount, prices.bet)
    if outside := _within(amount, limits.ante_min, limits.ante_max, balance):
        return outside
    if isinstance(limits, RoyalLimits) and with_bet > limits.stakes_max:
        return Refusal.ABOVE_MAX
    if isinstance(rules, BonusOasisRules) and standing.others_on_box >= rules.bets_per_box_max:
        return Refusal.BOX_FULL
    needed = with_bet if _is_dark(request.box, standing, rules) else amount
    return Refusal.BALANCE if needed > balance else None


def _live_bonus(request: Request, standing: Standing, rules: Rules) -> Refusal | None:
    bonus = rules.bonus
    if bonus is None:
        return Refusal.NOT_OFFERED
    if not standing.slip.ante:
        return Refusal.NO_ANTE
    if request.action is Action.BONUS_B:
        return _within(request.amount, bonus.b_min, bonus.b_max, standing.balance)
    return _within(request.amount, bonus.d_min, bonus.d_max, standing.balance)


def _oasis_bonus(request: Request, standing: Standing, rules: SisterRules) -> Refusal | None:
    """Judge a bonus stake: one of the table's, and no more than its share of the Ante (OAB-19)."""
    bonus = rules.bonus if isinstance(rules, BonusOasisRules) else None
    if bonus is None or request.action is not Action.BONUS_B:
        return Refusal.NOT_OFFERED
    if not standing.slip.ante:
        return Refusal.NO_ANTE
    if request.amount not in bonus.stakes:
        return Refusal.NO_SUCH_STAKE
    greatest = floor(standing.slip.ante * bonus.ante_share_max)
    return _within(request.amount, min(bonus.stakes), greatest, standing.balance)


def _decision(request: Request, standing: Standing, rules: AnyRules) -> Refusal | None:
    """Judge a choice for a box; a draw needs the money for the later Bet too (RPL-15, GRP-10)."""
    slip, prices = standing.slip, rules.price_list
    if _is_dark(request.box, standing, rules):
        return Refusal.BLIND_BOX
    if not slip.ante:
        return Refusal.NO_ANTE
    if _has_chosen(request, slip, rules):
        return Refusal.ALREADY_CHOSEN
    bet = _price(slip.ante, prices.bet)
    match request.action:
        case Action.INSURANCE:
            return _insurance(request, standing, rules, bet)
        case Action.SIXTH_CARD | Action.EXCHANGE:
            pattern = _pattern(request)
            if pattern is None:
                return Refusal.BAD_POSITIONS
            fee = prices.draw(pattern)
            if fee is None:
                return Refusal.NOT_OFFERED
            needed = bet + _price(slip.ante, fee)
        case Action.BET:
            needed = bet
        case _:
            needed = 0
    return Refusal.BALANCE if needed > standing.balance else None


def _has_chosen(request: Request, slip: BoxSlip, rules: AnyRules) -> bool:
    """Whether nothing is left to decide in this window.

    Silence in options time leaves a player of live Russian Poker the final options (RPL-14); in the other
    games only a box that drew is asked again (D-52), and not where five cards were its Bet too (OAS-05).
    """
    if slip.decision is not None:
        return True
    pattern = parse_pattern(slip.pattern)
    if request.stage is Stage.OPTIONS:
        return pattern.draws
    if isinstance(rules, Rules):
        return False
    forced = isinstance(rules, OasisRules) and rules.force_bet_after_five and len(pattern.positions) == 5
    return forced or not pattern.draws


def _pattern(request: Request) -> Pattern | None:
    """Return the draw that is asked for, None for positions that cannot be exchanged."""
    if request.action is Action.SIXTH_CARD:
        return SIXTH
    try:
        return exchange(*request.positions)
    except ValueError:
        return None


def _insurance(request: Request, standing: Standing, rules: AnyRules, bet: int) -> Refusal | None:
    if not isinstance(rules, Rules):
        return Refusal.NOT_OFFERED
    drew = standing.slip.pattern != STAY.text
    offered = drew if request.stage is Stage.FINAL_OPTIONS else rules.insurance_in_options
    if not offered:
        return Refusal.NOT_OFFERED
    if standing.hand is None or standing.hand.insurance is None:
        return Refusal.NO_COMBINATION
    least, greatest = insurance_limits(standing.hand.insurance, standing.slip.ante, rules)
    return _within(request.amount, least, greatest, standing.balance - bet)


def _purchase(standing: Standing, rules: AnyRules) -> Refusal | None:
    """Judge the purchase of the dealer's qualification, on any box that is offered it (RPL-33, GRP-17)."""
    slip = standing.slip
    antes = rules.price_list.purchase
    if antes is None:
        return Refusal.NOT_OFFERED
    if not slip.ante:
        return Refusal.NO_ANTE
    if slip.decision is Decision.FOLD:
        return Refusal.FOLDED
    if slip.bought:
        return Refusal.ALREADY_CHOSEN
    if standing.hand is None or not standing.hand.purchase:
        return Refusal.NO_COMBINATION
    return Refusal.BALANCE if _price(slip.ante, antes) > standing.balance else None


def _price(ante: int, antes: Fraction) -> int:
    return price(ante, str(antes))
