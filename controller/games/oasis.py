"""Oasis Poker (OAS-01 to OAS-07): Caribbean Poker with an exchange before the decision."""

from __future__ import annotations

from controller.games.patterns import HAND_SIZE
from controller.games.procedure import Procedure
from controller.games.published import Wager
from controller.games.sister_game import BET, EXCHANGE, FINAL_OPTIONS, FOLD, OPTIONS, SisterGame
from controller.games.sister_outcome import Course
from controller.games.sister_rules import OasisRules
from controller.games.terms import Terms, fee, lose, push, refund, win


class Oasis(SisterGame[OasisRules]):
    """Exchange one to five cards once, then bet or fold."""

    name = "oasis_poker"
    stages = (OPTIONS, FINAL_OPTIONS)
    actions = (BET, EXCHANGE, FOLD)

    def script(self) -> Procedure:
        """The round in the order of the sheet."""
        course = yield from self.deal()  # OAS-02, OAS-03
        course = yield from self.options(course)  # OAS-04, OAS-07
        course = yield from self.final_options(course, forced=forced_to_bet(course, self.rules))  # OAS-05
        course = yield from self.open_dealer(course)
        return self.result(course)  # OAS-06

    def terms(self, rules: OasisRules) -> Terms:
        """Return the terms: those of Caribbean Poker (OAS-06)."""
        return Terms(
            empty=refund("OAS-03"),
            folded=lose("OAS-05"),
            draw_fees={Wager.EXCHANGE_FEE: fee("OAS-04")},
            ante_alone=win(rules.ante_odds, "OAS-06", "CAR-05"),
            bet_back=push("OAS-06", "CAR-05"),
            ante_won=win(rules.ante_odds, "OAS-06", "CAR-06"),
            bet_won=("OAS-06", "CAR-06"),
            tied=push("OAS-06", "CAR-07"),
            lost=lose("OAS-06", "CAR-08"),
        )


def forced_to_bet(course: Course, rules: OasisRules) -> frozenset[str]:
    """Return the boxes whose exchange of five cards was their Bet too; by default none (D-22, OAS-05)."""
    if not rules.force_bet_after_five:
        return frozenset()
    return frozenset(box for box, play in course.plays.items() if len(play.drawn) == HAND_SIZE)
