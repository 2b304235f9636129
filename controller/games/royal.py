"""Royal Poker (ROY-01 to ROY-16)."""

from __future__ import annotations

from controller.games.procedure import Procedure
from controller.games.published import Wager
from controller.games.sister_rules import RoyalRules
from controller.games.sister_russian import RussianGame
from controller.games.terms import Terms, fee, lose, push, refund, win


class Royal(RussianGame[RoyalRules]):
    """One box; the Bet is called the raise."""

    name = "royal_poker"

    def script(self) -> Procedure:
        """The round in the order of the sheet."""
        course = yield from self.deal()  # ROY-02, ROY-03, ROY-15
        course = yield from self.options(course)  # ROY-04 to ROY-06
        course = yield from self.final_options(course)  # ROY-05, ROY-06
        course = yield from self.open_dealer(course)  # ROY-06
        course = yield from self.purchase(course)  # ROY-09
        return self.result(course)  # ROY-08 to ROY-12

    def terms(self, rules: RoyalRules) -> Terms:
        """Return the terms: the Ante never wins beside the raise (D-03), no fee comes back (D-18)."""
        return Terms(
            empty=refund("ROY-15"),
            folded=lose("ROY-06"),
            draw_fees=dict.fromkeys((Wager.SIXTH_FEE, Wager.EXCHANGE_FEE), fee("ROY-05")),
            ante_alone=win(rules.ante_odds, "ROY-08"),
            bet_back=push("ROY-08"),
            ante_won=push("ROY-10"),
            bet_won=("ROY-10",),
            double_won=("ROY-10", "ROY-11"),
            tied=push("ROY-10"),
            lost=lose("ROY-10"),
            in_vain=push("ROY-09"),
            buy_fee=fee("ROY-09"),
            nobody_bought=refund("ROY-09"),
        )
