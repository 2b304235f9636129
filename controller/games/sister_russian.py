"""What the two Russian sister games share: the sixth card and the purchase of the dealer's qualification."""

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import replace

from controller.games.procedure import DEALER, Announce, Window, window
from controller.games.purchase import change_highest_card
from controller.games.sister_game import (
    BET,
    EXCHANGE,
    FINAL_OPTIONS,
    FOLD,
    OPTIONS,
    SIXTH_CARD,
    SisterGame,
    Steps,
)
from controller.games.sister_outcome import Course, purchase_offered
from controller.games.sister_rules import RussianRules

BUY_TIME = "buy_time"
BUY = "BUY"
R = TypeVar("R", bound=RussianRules)


class RussianGame(SisterGame[R]):
    """A game with both ways of drawing that sells the dealer's qualification."""

    stages = (OPTIONS, FINAL_OPTIONS, BUY_TIME)
    actions = (BET, SIXTH_CARD, EXCHANGE, FOLD)

    @property
    def cards_at_most(self) -> int:
        """The dealer's change comes on top, twice where he may redraw (D-17)."""
        return super().cards_at_most + (2 if self.rules.redraw_same_rank else 1)

    def purchase(self, course: Course) -> Steps:
        """Buy time if the dealer does not qualify; if anybody buys, the dealer changes his highest card."""
        buyers = purchase_offered(course, self.house)
        if not buyers:
            return course
        answer = yield from window(
            Window(
                BUY_TIME,
                boxes=buyers,
                actions=(BUY,),
                prices_in_antes=self.rules.price_list.at_buy_time(),
                frees_card=True,
                hands=self.offers(course, buyers),
            )
        )
        course = replace(course, anyone_bought=answer.anyone_bought)
        if answer.anyone_bought is False:
            return course
        drawn = yield from change_highest_card(course.dealer, second_draw=self.rules.redraw_same_rank)
        course = replace(course, replacement=drawn)
        yield Announce(DEALER, self.dealer_hand(course))
        return course
