"""Golden Oasis (GOA-01 to GOA-14)."""

from __future__ import annotations

from controller.games.oasis import forced_to_bet
from controller.games.poker import evaluate
from controller.games.procedure import Procedure
from controller.games.published import Wager
from controller.games.sister_game import BET, EXCHANGE, FINAL_OPTIONS, FOLD, OPTIONS, SisterGame
from controller.games.sister_rules import OasisRules
from controller.games.terms import Terms, fee, lose, push, refund, win


class GoldenOasis(SisterGame[OasisRules]):
    """One box plays open, the others dark; nobody's cards are shown to a dealer without a game."""

    name = "golden_oasis"
    stages = (OPTIONS, FINAL_OPTIONS)
    actions = (BET, EXCHANGE, FOLD)
    has_dark_boxes = True

    def script(self) -> Procedure:
        """The round in the order of the sheet."""
        course = yield from self.deal()  # GOA-02, GOA-03, GOA-12, GOA-13
        course = yield from self.options(course)  # GOA-04 to GOA-06
        course = yield from self.final_options(course, forced=forced_to_bet(course, self.rules))  # GOA-07
        course = yield from self.open_dealer(course)
        if course.dealer and evaluate(course.dealer).qualifies:  # GOA-10
            course = yield from self.open_dark_boxes(course)
        return self.result(course)  # GOA-08 to GOA-11

    def terms(self, rules: OasisRules) -> Terms:
        """Return the terms: the Ante wins with the Bet (D-03), one combination is paid."""
        return Terms(
            empty=refund("GOA-13"),
            folded=lose("GOA-04"),
            draw_fees={Wager.EXCHANGE_FEE: fee("GOA-06")},
            ante_alone=win(rules.ante_odds, "GOA-08"),
            bet_back=push("GOA-08"),
            ante_won=win(rules.ante_odds, "GOA-10"),
            bet_won=("GOA-10",),
            tied=push("GOA-11"),
            lost=lose("GOA-09"),
            folds_closed="GOA-10",
            unqualified_closed="GOA-10",
        )
