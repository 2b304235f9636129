"""Caribbean Poker (CAR-01 to CAR-10)."""

from __future__ import annotations

from controller.games.procedure import Procedure
from controller.games.sister_game import BET, FOLD, OPTIONS, SisterGame
from controller.games.sister_rules import CaribbeanRules
from controller.games.terms import Terms, lose, push, refund, win


class Caribbean(SisterGame[CaribbeanRules]):
    """Bet or fold, and nothing else."""

    name = "caribbean_poker"
    stages = (OPTIONS,)
    actions = (BET, FOLD)

    def script(self) -> Procedure:
        """The round in the order of the sheet."""
        course = yield from self.deal()  # CAR-02, CAR-03, CAR-09
        course = yield from self.options(course)  # CAR-04
        course = yield from self.open_dealer(course)
        return self.result(course)  # CAR-05 to CAR-08

    def terms(self, rules: CaribbeanRules) -> Terms:
        """Return the terms: the Ante wins with the Bet (D-03)."""
        return Terms(
            empty=refund("CAR-09"),
            folded=lose("CAR-04"),
            ante_alone=win(rules.ante_odds, "CAR-05"),
            bet_back=push("CAR-05"),
            ante_won=win(rules.ante_odds, "CAR-06"),
            bet_won=("CAR-06",),
            tied=push("CAR-07"),
            lost=lose("CAR-08"),
        )
