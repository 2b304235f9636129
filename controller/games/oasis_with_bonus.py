"""Oasis with bonus (OAB-01 to OAB-28)."""

from __future__ import annotations

from msgspec.structs import replace

from controller.games.paytables import BonusRow, bonus_row
from controller.games.poker import evaluate
from controller.games.procedure import Procedure
from controller.games.published import (
    BoxOutcome,
    EvaluatedHand,
    Outcome,
    Result,
    Wager,
    WagerOutcome,
    fraction_text,
)
from controller.games.sister_game import BET, EXCHANGE, FINAL_OPTIONS, FOLD, OPTIONS, SisterGame
from controller.games.sister_outcome import Course, Play
from controller.games.sister_rules import BonusOasisRules, OasisBonus
from controller.games.terms import Terms, fee, lose, push, refund, win


class OasisWithBonus(SisterGame[BonusOasisRules]):
    """Open boxes and dark ones; a bonus stake on the five dealt cards of any box in play."""

    name = "oasis_with_bonus"
    stages = (OPTIONS, FINAL_OPTIONS)
    actions = (BET, EXCHANGE, FOLD)
    has_dark_boxes = True
    redeals = True  # OAB-24

    def script(self) -> Procedure:
        """The round in the order of the sheet."""
        course = yield from self.deal()  # OAB-02, OAB-03, OAB-27, OAB-28
        in_order = self.rules.open_boxes_in_order
        course = yield from self.options(course, in_order=in_order)  # OAB-04 to OAB-06, OAB-08, OAB-14
        course = yield from self.final_options(course)  # OAB-07
        course = yield from self.open_dealer(course)  # OAB-10
        course = yield from self.open_dark_boxes(course)
        return self.result(course)  # OAB-09 to OAB-13

    def terms(self, rules: BonusOasisRules) -> Terms:
        """Return the terms: the Ante wins with the Bet (D-03), one combination is paid."""
        return Terms(
            empty=refund("OAB-28"),
            folded=lose("OAB-05"),
            draw_fees={Wager.EXCHANGE_FEE: fee("OAB-06")},
            ante_alone=win(rules.ante_odds, "OAB-09"),
            bet_back=push("OAB-09"),
            ante_won=win(rules.ante_odds, "OAB-10"),
            bet_won=("OAB-10", "OAB-12"),
            tied=push("OAB-11"),
            lost=lose("OAB-10"),
            folds_closed="OAB-05",
        )

    def result(self, course: Course) -> Outcome:
        """Judge every box, and the bonus beside it, which knows no dealer (OAB-18)."""
        judged = super().result(course)
        if self.rules.bonus is None:
            return judged
        bonus = self.rules.bonus
        boxes = tuple(self._with_bonus(box, course.plays.get(box.box), bonus) for box in judged.boxes)
        return replace(judged, boxes=boxes)

    def shown_hand(self, play: Play) -> EvaluatedHand:
        """Return the hand, with its bonus row unless the bonus is lost by an exchange."""
        shown = super().shown_hand(play)
        bonus = self.rules.bonus
        if bonus is None or play.pattern.draws:
            return shown
        return replace(shown, bonus=_row(play, bonus))

    def _with_bonus(self, box: BoxOutcome, play: Play | None, bonus: OasisBonus) -> BoxOutcome:
        judged = self.house.terms.empty if play is None else self._judged(play, bonus)
        return replace(box, bonus={Wager.BONUS_B: judged})

    def _judged(self, play: Play, bonus: OasisBonus) -> WagerOutcome:
        """Judge the bonus of a box in play: any exchange loses it, a fold only by setting (D-23)."""
        row = _row(play, bonus)
        lost_by_fold = play.folded and self.rules.fold_loses_bonus
        if row is None or play.pattern.draws or lost_by_fold:
            return lose("OAB-21")
        return WagerOutcome(Result.WIN, ("OAB-18", "OAB-20"), fraction_text(bonus.odds[row]), bonus=row)


def _row(play: Play, bonus: OasisBonus) -> BonusRow | None:
    """Return the highest bonus hand of the five dealt cards (OAB-22)."""
    row = bonus_row(evaluate(play.dealt), doubles=False)
    return row if row in bonus.odds else None
