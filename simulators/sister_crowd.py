"""A crowd at a sister game of live Russian Poker: the wishes of owners and of those who bet along."""

from __future__ import annotations

import math
from random import Random

from controller.games.offers import HandOffer
from controller.games.requests import Action, Request, Stage
from controller.games.sister_rules import BonusOasisRules, SisterRules
from simulators.crowd import OUT_OF_LIMITS, SILENT, SITS_OUT, People

BOX_STAYS_EMPTY = 0.12
"""Share of the rounds in which nobody bets on a box, for each box."""
BETS_ON_A_BOX = 0.5
ODD_AMOUNT = 0.03
"""Share of Antes that are looked at no further, so that some make a price that is no whole amount (D-54)."""
TAKES_BONUS = 0.5
CONSENTS = 0.8
"""How often an owner lets somebody bet along on an open box (OAB-15)."""
OPTIONS = {None: SILENT, Action.BET: 0.3, Action.SIXTH_CARD: 0.25, Action.EXCHANGE: 0.33, Action.FOLD: 0.08}
BETS_WITH, BETS_WITHOUT = 0.85, 0.3
"""How often a box bets after its draw, with a combination and without one."""


class SisterCrowd(People):
    """Players at a table with these rules."""

    buys = 0.5

    def __init__(self, seed: int, rules: SisterRules, count: int) -> None:
        super().__init__(seed, count)
        self._rules = rules
        self._whole = math.lcm(*(price.denominator for price in rules.price_list.all()))

    def stakes(self, round_no: int, player: str) -> tuple[Request, ...]:
        """Return the bets that a player wishes for, for each box the Ante before its bonus bet."""
        chance = self._chance(round_no, player, "stakes")
        if chance.random() < SITS_OUT:
            return ()
        boxes = [box for box in self._rules.box_names if chance.random() < BETS_ON_A_BOX]
        return tuple(
            request
            for box in boxes
            if self._chance(round_no, "", f"empty/{box}").random() >= BOX_STAYS_EMPTY
            for request in self._box(box, chance)
        )

    def consents(self, round_no: int, owner: str, player: str) -> bool:
        """Whether the owner of an open box lets a player bet along (OAB-15)."""
        return self._chance(round_no, owner, f"consent/{player}").random() < CONSENTS

    def option(
        self, round_no: int, player: str, box: str, actions: tuple[str, ...], *, deal: int = 1
    ) -> Request | None:
        """Return an owner's choice for his box among `actions`; None is silence (D-52)."""
        chance = self._chance(round_no, player, _in_deal(f"option/{box}", deal))
        offered = {action: share for action, share in OPTIONS.items() if action is None or action in actions}
        action = chance.choices(tuple(offered), tuple(offered.values()))[0]
        if action is None:
            return None
        positions = tuple(chance.sample(range(1, 6), chance.randint(1, 5)))
        return Request(Stage.OPTIONS, action, box, positions=positions if action is Action.EXCHANGE else ())

    def final_option(self, round_no: int, player: str, hand: HandOffer, *, deal: int = 1) -> Request | None:
        """Return an owner's choice after the draw; None is silence (D-52)."""
        chance = self._chance(round_no, player, _in_deal(f"final/{hand.box}", deal))
        bets = BETS_WITH if hand.combinations else BETS_WITHOUT
        action = chance.choices((None, Action.BET, Action.FOLD), (SILENT, bets, 1 - SILENT - bets))[0]
        return None if action is None else Request(Stage.FINAL_OPTIONS, action, hand.box)

    def _box(self, box: str, chance: Random) -> list[Request]:
        requests = [Request(Stage.BETTING, Action.ANTE, box, self._ante(chance))]
        bonus = self._rules.bonus if isinstance(self._rules, BonusOasisRules) else None
        if bonus is not None and chance.random() < TAKES_BONUS:
            requests.append(Request(Stage.BETTING, Action.BONUS_B, box, chance.choice(bonus.stakes)))
        return requests

    def _ante(self, chance: Random) -> int:
        limits = self._rules.limits
        ante = chance.randint(limits.ante_min, min(limits.ante_max, limits.ante_min * 20))
        if chance.random() < OUT_OF_LIMITS:
            return max(limits.ante_min - self._whole, 1)
        if chance.random() < ODD_AMOUNT:
            return ante
        return max(ante - ante % self._whole, limits.ante_min)


def _in_deal(action: str, deal: int) -> str:
    """Name an action; in a new deal of the round everybody chooses afresh (OAB-24)."""
    return action if deal == 1 else f"{action}/{deal}"
