"""A crowd of players. What each does, and when, hangs on (seed, round number, player, action) alone.

Nothing depends on the order of calls: a run that was killed and recovered meets the same crowd.
"""

from __future__ import annotations

from random import Random

from controller.games.offers import HandOffer
from controller.games.requests import Action, Request, Stage, insurance_limits
from controller.games.rules import BOXES, MAIN, Rules

MILLISECOND = 1_000
MAIN_STAYS_EMPTY = 0.12
"""Share of the rounds in which nobody plays the main box (RPL-07, RPL-83)."""
SITS_OUT = 0.15
COMES_LATE = 0.03
OUT_OF_LIMITS = 0.03
"""Share of Antes below the minimum: the crowd has to be refused now and then."""
SILENT = 0.04
LEAST_DELAY_MS, GREATEST_DELAY_MS = 20, 200


class People:
    """`count` players, named `p01` and so on: when they act, and what they do in every game."""

    buys = 0.25
    """How often one who may buy the dealer's qualification wants to."""

    def __init__(self, seed: int, count: int) -> None:
        self._seed = seed
        self.players = tuple(f"p{number:02}" for number in range(1, count + 1))

    def moment(self, round_no: int, who: str, window: str, duration_us: int) -> int:
        """Return how long after its opening somebody acts in a window, in microseconds."""
        chance = self._chance(round_no, who, f"{window}/moment")
        return duration_us * chance.randrange(50, 700) // 1_000

    def delay_us(self, round_no: int, action: str, *, at_most_ms: int) -> int:
        """Return how long the betting system itself takes for an action."""
        chance = self._chance(round_no, "", action)
        return min(chance.randrange(LEAST_DELAY_MS, GREATEST_DELAY_MS), at_most_ms) * MILLISECOND

    def is_late(self, round_no: int, player: str) -> bool:
        """Whether the player's bets arrive after "no more bets"."""
        return self._chance(round_no, player, "late").random() < COMES_LATE

    def purchase(self, round_no: int, player: str, box: str) -> bool:
        """Whether the player wants the dealer's qualification for a box (RPL-33)."""
        return self._chance(round_no, player, f"buy/{box}").random() < self.buys

    def is_silent(self, round_no: int, player: str, stage: Stage) -> bool:
        """Whether the player says neither yes nor no in a window until it ends."""
        return self._chance(round_no, player, f"{stage}/silent").random() < SILENT

    def _chance(self, round_no: int, player: str, action: str) -> Random:
        return Random(f"{self._seed}/{round_no}/{player}/{action}")


class Crowd(People):
    """Players at a table of live Russian Poker with these rules."""

    def __init__(self, seed: int, rules: Rules, count: int) -> None:
        super().__init__(seed, count)
        self._rules = rules

    def stakes(self, round_no: int, player: str) -> tuple[Request, ...]:
        """Return the bets of a player, for each box the Ante before its bonus bets; none if he sits out."""
        chance = self._chance(round_no, player, "stakes")
        if chance.random() < SITS_OUT:
            return ()
        boxes = [box for box in BOXES if chance.random() < (0.75 if box == MAIN else 0.3)]
        if self._chance(round_no, "", "main").random() < MAIN_STAYS_EMPTY:
            boxes = [box for box in boxes if box != MAIN]
        return tuple(request for box in boxes for request in self._box(box, chance))

    def option(self, round_no: int, player: str) -> Request | None:
        """Return the choice in options time; None is silence (RPL-13, RPL-14)."""
        chance = self._chance(round_no, player, "option")
        options = (None, Action.BET, Action.SIXTH_CARD, Action.EXCHANGE, Action.FOLD)
        action = chance.choices(options, (SILENT, 0.25, 0.3, 0.33, 0.08))[0]
        if action is None:
            return None
        count = chance.randint(1, 5)
        positions = tuple(chance.sample(range(1, 6), count)) if action is Action.EXCHANGE else ()
        return Request(Stage.OPTIONS, action, MAIN, positions=positions)

    def final_option(self, round_no: int, player: str, hand: HandOffer, ante: int) -> Request | None:
        """Return the choice in final options time; None is silence (RPL-21, RPL-22)."""
        chance = self._chance(round_no, player, "final")
        if hand.insurance is not None and chance.random() < 0.6:
            least, greatest = insurance_limits(hand.insurance, ante, self._rules)
            amount = chance.randint(least, max(least, greatest))
            return Request(Stage.FINAL_OPTIONS, Action.INSURANCE, MAIN, amount=amount)
        bets = 0.85 if hand.combinations else 0.1
        options = (None, Action.BET, Action.INSURANCE, Action.FOLD)
        action = chance.choices(options, (SILENT, bets, 0.02, 0.94 - bets))[0]
        if action is None:
            return None
        amount = ante if action is Action.INSURANCE else 0
        return Request(Stage.FINAL_OPTIONS, action, MAIN, amount=amount)

    def _box(self, box: str, chance: Random) -> list[Request]:
        limits, bonus = self._rules.limits, self._rules.bonus
        ante = chance.randint(limits.ante_min, min(limits.ante_max, limits.ante_min * 20))
        if chance.random() < OUT_OF_LIMITS:
            ante = limits.ante_min - 1
        requests = [Request(Stage.BETTING, Action.ANTE, box, max(ante, 1))]
        if bonus is not None and chance.random() < 0.4:
            requests.append(
                Request(Stage.BETTING, Action.BONUS_B, box, chance.randint(bonus.b_min, bonus.b_max))
            )
        if bonus is not None and chance.random() < 0.3:
            requests.append(
                Request(Stage.BETTING, Action.BONUS_D, box, chance.randint(bonus.d_min, bonus.d_max))
            )
        return requests
