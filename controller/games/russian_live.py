"""Live Russian Poker: the procedure of one round, in the order of the rule sheet (RPL-01 to RPL-84)."""

from __future__ import annotations

from itertools import chain

import msgspec

from controller.cards import Card
from controller.games.deal_pattern import initial_spots
from controller.games.offers import HandOffer, hands_by_pattern, replaced
from controller.games.outcome import Facts, outcome, prices, purchase_offered
from controller.games.patterns import HAND_SIZE
from controller.games.paytables import bonus_row
from controller.games.poker import Hand, evaluate
from controller.games.procedure import (
    DEALER,
    SWITCH,
    Announce,
    Betting,
    BoxState,
    Deal,
    Decide,
    Decision,
    Face,
    Procedure,
    Turn,
    Window,
    WindowAnswer,
    bets,
    card,
    window,
)
from controller.games.published import EvaluatedHand as EvaluatedHand
from controller.games.published import ShownCombination, Wager, card_texts, shown_combinations
from controller.games.purchase import change_highest_card
from controller.games.rules import BOXES, GAME, MAIN, Rules

OPTIONS = "options"
FINAL_OPTIONS = "final_options"
BUY_TIME = "buy_time"
PLACES = (*BOXES, DEALER)
SWITCH_CARDS = 5
CARDS_AT_MOST = HAND_SIZE * len(PLACES) + SWITCH_CARDS + 1


class RussianLive:
    """Live Russian Poker under one set of rules."""

    name = GAME
    redeals = False
    shoe = None
    places = PLACES
    boxes = BOXES

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._prices = prices(rules)

    @property
    def cards_at_most(self) -> int:
        """All places, the switch cards, the dealer's change: two where he may redraw (D-17)."""
        return CARDS_AT_MOST + self.rules.redraw_same_rank

    @property
    def rescans_at_most(self) -> int:
        """One by the rules of the game (RPL-75)."""
        return self.rules.max_rescans

    @property
    def corrects_results(self) -> bool:
        """Never: a round that ended with a wrong result is refunded (RPL-74)."""
        return False

    def initial_deal(self, step: Deal) -> bool:
        """The twenty cards of RPL-09; the switch cards and the dealer's replacement come later."""
        return step.place in PLACES and step.n <= HAND_SIZE

    def decision_to_come(self, stages_closed: frozenset[str]) -> bool:
        """Until the buy time is over, somebody may have to decide (RPL-33)."""
        return BUY_TIME not in stages_closed

    def is_decision(self, _step: Decide, _decision: Decision) -> bool:
        """No card hangs on a player's choice here: the table asks for facts only."""
        return False

    def script(self) -> Procedure:
        """The round, in the order of the sheet."""
        states = yield from bets(Betting())
        empty = frozenset(box for box in BOXES if states[box] is BoxState.EMPTY)

        laid: dict[str, tuple[Card, ...]] = dict.fromkeys(PLACES, ())
        for place, n in initial_spots(PLACES, self.rules.deal_pattern):  # RPL-09
            up = place == MAIN or (place == DEALER and n == HAND_SIZE)  # RPL-10, RPL-11
            dealt = yield from card(Deal(place, n, Face.UP if up else Face.DOWN))
            laid[place] = (*laid[place], dealt)
        yield Announce(MAIN, self._player_hand(laid[MAIN]))  # B of the main box (RPL-52)

        switch: tuple[Card, ...] = ()
        options = final = WindowAnswer(anyone_drew=False)
        if MAIN not in empty:  # RPL-83
            options = yield from window(self._options(laid[MAIN]))
            if options.anyone_drew is not False or not self.rules.skip_unused_switch_cards:
                for n in range(1, SWITCH_CARDS + 1):  # RPL-17
                    switch = (*switch, (yield from card(self._switch_card(n))))
            if options.in_play is not False:
                final = yield from window(self._final_options(laid[MAIN], switch))

        if switch and self.rules.switch_cards_face is Face.DOWN:
            yield Turn(SWITCH)
        for box in BOXES:
            if box != MAIN:
                yield Turn(box)  # RPL-32: box 1, then box 3
                yield Announce(box, self._player_hand(laid[box]))
        yield Turn(DEALER)
        yield Announce(DEALER, self._dealer_hand(laid[DEALER], laid[DEALER]))

        facts = Facts(
            boxes={box: laid[box] for box in BOXES},
            dealer=laid[DEALER],
            switch=switch,
            empty=empty,
            anyone_drew=options.anyone_drew,
            main_in_play=False if options.in_play is False else final.in_play,
        )
        may_buy = purchase_offered(facts)  # RPL-33
        if may_buy:
            answer = yield from window(self._buy_time(may_buy, laid, switch))
            facts = msgspec.structs.replace(facts, anyone_bought=answer.anyone_bought)
            if answer.anyone_bought is not False:  # RPL-34, RPL-38
                change = change_highest_card(laid[DEALER], second_draw=self.rules.redraw_same_rank)
                drawn = yield from change
                facts = msgspec.structs.replace(facts, replacement=drawn)
                after = replaced(laid[DEALER], drawn)
                yield Announce(DEALER, self._dealer_hand(after, laid[DEALER]))
        return outcome(facts, self.rules)

    def _switch_card(self, n: int) -> Deal:
        """Closed, only those who paid for it are shown it; open, it is everybody's at once (D-45)."""
        face = self.rules.switch_cards_face
        return Deal(SWITCH, n, face, shown_to_betting=face is Face.DOWN)

    def _options(self, dealt: tuple[Card, ...]) -> Window:
        insurance = ("INSURANCE",) if self.rules.insurance_in_options else ()  # D-24
        return Window(
            OPTIONS,
            boxes=(MAIN,),
            actions=("BET", "SIXTH_CARD", "EXCHANGE", *insurance, "FOLD"),
            prices_in_antes=self._price_of(Wager.BET, Wager.SIXTH_FEE, Wager.EXCHANGE_FEE),
            frees_card=True,
            hands=self._offers(dealt, ()),
        )

    def _final_options(self, dealt: tuple[Card, ...], switch: tuple[Card, ...]) -> Window:
        return Window(
            FINAL_OPTIONS,
            boxes=(MAIN,),
            actions=("BET", "INSURANCE", "FOLD"),
            prices_in_antes=self._price_of(Wager.BET),
            frees_card=False,
            hands=self._offers(dealt, switch),
        )

    def _buy_time(
        self, boxes: tuple[str, ...], laid: dict[str, tuple[Card, ...]], switch: tuple[Card, ...]
    ) -> Window:
        hands = [self._offers(laid[box], switch if box == MAIN else (), box) for box in boxes]
        return Window(
            BUY_TIME,
            boxes=boxes,
            actions=("BUY",),
            prices_in_antes=self._price_of(Wager.BUY_FEE),
            frees_card=True,
            hands=tuple(chain.from_iterable(hands)),
        )

    def _price_of(self, *wagers: Wager) -> dict[str, str]:
        return {wager: self._prices[wager] for wager in wagers}

    def _offers(
        self, dealt: tuple[Card, ...], switch: tuple[Card, ...], box: str = MAIN
    ) -> tuple[HandOffer, ...]:
        return hands_by_pattern(dealt, switch, self.rules, box=box)

    def _player_hand(self, dealt: tuple[Card, ...]) -> EvaluatedHand:
        hand = evaluate(dealt, paired_straight=self.rules.paired_straight)
        bonus = bonus_row(hand, doubles=True) if self.rules.bonus is not None else None
        return EvaluatedHand(card_texts(dealt), shown_combinations(hand), bonus)

    def _dealer_hand(self, cards: tuple[Card, ...], dealt: tuple[Card, ...]) -> EvaluatedHand:
        hand = evaluate(cards)
        bonus = bonus_row(evaluate(dealt), doubles=False) if self.rules.bonus is not None else None
        return EvaluatedHand(card_texts(cards), _single(hand), bonus, qualified=hand.qualifies)


def _single(hand: Hand) -> tuple[ShownCombination, ...]:
    """The dealer's hand has one combination (DBL-05)."""
    return shown_combinations(hand)[:1]
