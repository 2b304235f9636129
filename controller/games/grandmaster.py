"""Grandmaster's Russian Poker (GRP-01 to GRP-20)."""

from __future__ import annotations

from controller.games.procedure import Procedure
from controller.games.published import Wager
from controller.games.sister_rules import GrandmasterRules
from controller.games.sister_russian import RussianGame
from controller.games.terms import Terms, fee, lose, push, refund, win


class Grandmaster(RussianGame[GrandmasterRules]):
    """Every box decides for itself; both combinations are paid."""

    name = "grandmaster_russian_poker"

    def script(self) -> Procedure:
        """The round in the order of the sheet."""
        course = yield from self.deal()  # GRP-04, GRP-05, GRP-18
        course = yield from self.options(course)  # GRP-06 to GRP-10, GRP-19
        course = yield from self.final_options(course)  # GRP-09, GRP-10
        course = yield from self.open_dealer(course)
        course = yield from self.purchase(course)  # GRP-15, GRP-17
        return self.result(course)  # GRP-11 to GRP-14, GRP-16

    def terms(self, rules: GrandmasterRules) -> Terms:
        """Return the terms: the Ante never wins beside the Bet (D-03), no fee comes back (D-18)."""
        return Terms(
            empty=refund("GRP-18"),
            folded=lose("GRP-07"),
            draw_fees={Wager.SIXTH_FEE: fee("GRP-09"), Wager.EXCHANGE_FEE: fee("GRP-10")},
            ante_alone=win(rules.ante_odds, "GRP-14"),
            bet_back=push("GRP-14"),
            ante_won=push("GRP-13"),
            bet_won=("GRP-12",),
            double_won=("GRP-12", "GRP-11"),
            tied=push("GRP-13"),
            lost=lose("GRP-13"),
            in_vain=push("GRP-16"),
            buy_fee=fee("GRP-15"),
            nobody_bought=refund("GRP-15"),
        )
