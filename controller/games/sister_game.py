"""What the scripts of the sister games share: dealing in turn, decisions box by box, the showdown.

A script names these steps in the order of its own rule sheet; none of them knows which game it serves.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import ClassVar, Generic, TypeVar

from msgspec.structs import replace

from controller.cards import Card
from controller.games.deal_pattern import initial_spots
from controller.games.offers import HandOffer, replaced
from controller.games.patterns import HAND_SIZE, SIXTH, exchange
from controller.games.paytables import total_odds
from controller.games.poker import evaluate
from controller.games.procedure import (
    DEALER,
    Announce,
    Answer,
    Betting,
    BoxState,
    Deal,
    Decide,
    Decision,
    DecisionOf,
    Face,
    Procedure,
    Step,
    Turn,
    bets,
    card,
    decision,
)
from controller.games.published import (
    EvaluatedHand,
    Outcome,
    card_texts,
    fraction_text,
    shown_combinations,
)
from controller.games.sister_outcome import Course, House, Play, outcome, single
from controller.games.sister_rules import SisterRules
from controller.games.terms import Terms

OPTIONS = "options"
FINAL_OPTIONS = "final_options"

BET = "BET"
FOLD = "FOLD"
EXCHANGE = "EXCHANGE"
SIXTH_CARD = "SIXTH_CARD"

Steps = Generator[Step, Answer, Course]
"""Steps of a script, which return the course of the round so far."""
R = TypeVar("R", bound=SisterRules)


class SisterGame(Generic[R]):
    """One game under one set of rules; a subclass adds its name, what it offers, its terms and its script."""

    name: ClassVar[str]
    stages: ClassVar[tuple[str, ...]]
    """The windows after betting time, in their order."""
    actions: ClassVar[tuple[str, ...]]
    """What a box may decide at first."""
    has_dark_boxes: ClassVar[bool] = False
    redeals: ClassVar[bool] = False
    shoe: ClassVar[None] = None

    def __init__(self, rules: R) -> None:
        self.rules = rules
        self.house = House(self.name, rules, self.terms(rules))

    def terms(self, rules: R) -> Terms:
        """Return what becomes of the wagers, as the rule sheet says."""
        raise NotImplementedError

    def script(self) -> Procedure:
        """Return the procedure of one round, at its beginning."""
        raise NotImplementedError

    @property
    def boxes(self) -> tuple[str, ...]:
        """The places that carry bets."""
        return self.rules.box_names

    @property
    def places(self) -> tuple[str, ...]:
        """The boxes, then the dealer."""
        return (*self.boxes, DEALER)

    @property
    def cards_at_most(self) -> int:
        """Every box exchanges five (D-51)."""
        hands = 2 if EXCHANGE in self.actions else 1
        return HAND_SIZE * (hands * len(self.boxes) + 1)

    @property
    def rescans_at_most(self) -> int:
        """How many re-scans the whole initial deal allows (RPL-75)."""
        return self.rules.max_rescans

    @property
    def corrects_results(self) -> bool:
        """By row 36 of the procedures: no rule of the game says otherwise."""
        return True

    def initial_deal(self, step: Deal) -> bool:
        """The first five cards of each place; what is drawn comes later."""
        return step.n <= HAND_SIZE

    def decision_to_come(self, stages_closed: frozenset[str]) -> bool:
        """Until the last window is over, somebody may have to decide."""
        return self.stages[-1] not in stages_closed

    def is_decision(self, step: Decide, decision: Decision) -> bool:
        """An action on offer; one to five different positions go with an exchange, none with the rest."""
        if decision.action not in step.actions:
            return False
        if decision.action != EXCHANGE:
            return not decision.positions
        try:
            exchange(*decision.positions)
        except ValueError:
            return False
        return True

    def deal(self) -> Steps:
        """Bets, then five cards to each box in play and to the dealer, in turn or in packets (D-10).

        A box that takes decisions is dealt face up (D-50). Without a box in play nobody gets a card. In a
        game without dark boxes every box in play is asked, and may be silent.
        """
        states = yield from bets(Betting())
        dark = {box: self.has_dark_boxes and states[box] is BoxState.DARK for box in self.boxes}
        in_play = [box for box in self.boxes if states[box] is not BoxState.EMPTY]
        laid: dict[str, tuple[Card, ...]] = dict.fromkeys((*in_play, DEALER), ())
        if not in_play:
            return Course({})
        for place, n in initial_spots(tuple(laid), self.rules.deal_pattern):
            up = n == self.rules.up_card if place == DEALER else not dark[place]
            step = Deal(place, n, Face.UP if up else Face.DOWN)
            laid[place] = (*laid[place], (yield from card(step)))
        dealer = laid.pop(DEALER)
        plays = {box: Play(cards, dark[box]) for box, cards in laid.items()}
        for box, play in plays.items():
            if not play.dark:
                yield Announce(box, self.shown_hand(play))
        return Course(plays, dealer)

    def options(self, course: Course, *, in_order: bool = False) -> Steps:
        """Each open box decides in turn and gets its cards before the next one (GRP-19, OAB-08)."""
        asked = tuple(box for box, play in course.plays.items() if not play.dark)
        if not asked:
            return course
        prices = self.rules.price_list.at_options()
        yield Decide(
            OPTIONS,
            asked,
            self.actions,
            prices,
            in_order=in_order,
            hands=self.offers(course, asked),
            frees_card=bool({EXCHANGE, SIXTH_CARD}.intersection(self.actions)),
        )
        for box in asked:
            choice = yield from decision(DecisionOf(OPTIONS, box))
            if choice.action in (EXCHANGE, SIXTH_CARD):
                play = yield from self._draw(box, course.plays[box], choice)
            else:
                play = self._decided(course.plays[box], choice)
            course = _with(course, box, play)
        return course

    def final_options(self, course: Course, *, forced: Iterable[str] = ()) -> Steps:
        """Each box that drew bets or folds, but for those that are `forced` to bet."""
        asked = tuple(box for box, play in course.plays.items() if play.pattern.draws and box not in forced)
        if not asked:
            return course
        prices = self.rules.price_list.at_final_options()
        hands = self.offers(course, asked)
        yield Decide(FINAL_OPTIONS, asked, (BET, FOLD), prices, hands=hands, frees_card=False)
        for box in asked:
            choice = yield from decision(DecisionOf(FINAL_OPTIONS, box))
            course = _with(course, box, self._decided(course.plays[box], choice))
        return course

    def open_dealer(self, course: Course) -> Steps:
        """The dealer turns his hidden cards, whoever has folded."""
        if course.dealer:
            yield Turn(DEALER)
            yield Announce(DEALER, self.dealer_hand(course))
        return course

    def open_dark_boxes(self, course: Course) -> Steps:
        """The dark boxes are turned in dealing order."""
        for box, play in course.plays.items():
            if play.dark:
                yield Turn(box)
                yield Announce(box, self.shown_hand(play))
        return course

    def result(self, course: Course) -> Outcome:
        """Judge every box."""
        return outcome(course, self.house)

    def offers(self, course: Course, boxes: Iterable[str]) -> tuple[HandOffer, ...]:
        """Return what the betting system needs to know of the hands of these boxes."""
        return tuple(self._offer(box, course.plays[box]) for box in boxes)

    def shown_hand(self, play: Play) -> EvaluatedHand:
        """Return what everybody may know of a box that lies open."""
        hand = self.house.hand(play.cards)
        return EvaluatedHand(card_texts(play.cards), shown_combinations(hand))

    def dealer_hand(self, course: Course) -> EvaluatedHand:
        """Return the dealer's hand, with the card that he drew if he did."""
        drawn = course.replacement
        cards = course.dealer if drawn is None else replaced(course.dealer, drawn)
        hand = single(evaluate(cards))
        return EvaluatedHand(card_texts(cards), shown_combinations(hand), qualified=hand.qualifies)

    def _offer(self, box: str, play: Play) -> HandOffer:
        hand = self.house.hand(play.cards)
        return HandOffer(
            pattern=play.pattern.text,
            odds=fraction_text(total_odds(hand, self.rules.odds)),
            purchase=self.house.may_buy(hand),
            combinations=shown_combinations(hand),
            box=box,
        )

    def _draw(self, box: str, play: Play, choice: Decision) -> Generator[Step, Answer, Play]:
        pattern = SIXTH if choice.action == SIXTH_CARD else exchange(*choice.positions)
        drawn: tuple[Card, ...] = ()
        for n in range(1, pattern.switch_count + 1):
            drawn = (*drawn, (yield from card(Deal(box, HAND_SIZE + n, Face.UP))))
        play = replace(play, pattern=pattern, drawn=drawn)
        yield Announce(box, self.shown_hand(play))
        return play

    def _decided(self, play: Play, choice: Decision) -> Play:
        """Note BET or FOLD; for a silent box a combination is a BET, else it folds (D-52)."""
        if choice.action is None:
            return replace(play, silent=True, folded=not self.house.hand(play.cards).qualifies)
        assert choice.action in (BET, FOLD), choice
        return replace(play, folded=choice.action == FOLD)


def _with(course: Course, box: str, play: Play) -> Course:
    return replace(course, plays={**course.plays, box: play})
