"""The outcome of a round of a sister game: each box has decided as one, so each has one hand or a fold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

import msgspec

from controller.cards import Card
from controller.games import published
from controller.games.judge import option_fee
from controller.games.offers import replaced
from controller.games.patterns import STAY, Pattern, final_cards
from controller.games.paytables import total_odds
from controller.games.poker import Hand, evaluate
from controller.games.published import (
    BoxOutcome,
    Exclusion,
    HandOutcome,
    Outcome,
    Row,
    RowName,
    Rows,
    Wager,
    fraction_text,
)
from controller.games.sister_rules import RussianRules, SisterRules
from controller.games.terms import Limit, Terms, compare

NOT_OPENED = published.DealerHand((), qualified=False)
"""Nobody played, and the dealer got no cards."""


class Play(msgspec.Struct, frozen=True):
    """How a box was played. `drawn` are the cards of its draw, in dealing order.

    A box is `silent` when the rules decided for it (D-52).
    """

    dealt: tuple[Card, ...]
    dark: bool
    pattern: Pattern = STAY
    drawn: tuple[Card, ...] = ()
    folded: bool = False
    silent: bool = False

    @property
    def cards(self) -> tuple[Card, ...]:
        """The hand after the draw."""
        return final_cards(self.pattern, self.dealt, self.drawn)


class Course(msgspec.Struct, frozen=True):
    """What happened in a round.

    `plays` holds the boxes in play, in dealing order; without any the dealer has no cards. `replacement`
    is the card that counts after a purchase, `anyone_bought` None when not told.
    """

    plays: Mapping[str, Play]
    dealer: tuple[Card, ...] = ()
    replacement: Card | None = None
    anyone_bought: bool | None = None


class House(msgspec.Struct, frozen=True):
    """A game as it is played in one house."""

    game: str
    rules: SisterRules
    terms: Terms

    def hand(self, cards: tuple[Card, ...]) -> Hand:
        """Evaluate a player's cards, with one combination where the game pays no second one."""
        if isinstance(self.rules, RussianRules):
            return evaluate(cards, paired_straight=self.rules.paired_straight)
        return single(evaluate(cards))

    def may_buy(self, hand: Hand) -> bool:
        """Whether a box with this hand is offered the purchase if the dealer does not qualify (D-35)."""
        if not isinstance(self.rules, RussianRules):
            return False
        return hand.qualifies or not self.rules.purchase_needs_combination


def single(hand: Hand) -> Hand:
    """Return the hand with its main combination alone."""
    return msgspec.structs.replace(hand, second=None)


def purchase_offered(course: Course, house: House) -> tuple[str, ...]:
    """Return the boxes that are offered the purchase; none when the dealer qualifies."""
    if not course.dealer or evaluate(course.dealer).qualifies:
        return ()
    return tuple(
        box for box, play in course.plays.items() if not play.folded and house.may_buy(house.hand(play.cards))
    )


def outcome(course: Course, house: House) -> Outcome:
    """Work out the result of a round.

    Raises ValueError for cards that cannot lie so: one of them twice, one too many, or one too few.
    """
    _check_cards(course)
    buyers = purchase_offered(course, house)
    due = bool(buyers) and course.anyone_bought is not False
    if due != (course.replacement is not None):
        expected = "a card" if due else "no card"
        raise ValueError(f"dealer's replacement: {expected} is due, got {course.replacement}")
    dealer = evaluate(course.dealer) if course.dealer else None
    after_cards = () if course.replacement is None else replaced(course.dealer, course.replacement)
    after = evaluate(after_cards) if after_cards else None
    judge = _Judge(house, dealer, after, buyers)
    prices = house.rules.price_list
    return Outcome(
        game=house.game,
        prices=prices.shown(),
        dealer=NOT_OPENED if dealer is None else published.shown_dealer(course.dealer, dealer),
        boxes=tuple(judge.box(box, course.plays.get(box)) for box in house.rules.box_names),
        dealer_after_purchase=None if after is None else published.shown_dealer(after_cards, after),
        exchange_prices=prices.exchange_shown(),
        rounding=house.rules.rounding,
    )


def _check_cards(course: Course) -> None:
    drawn = () if course.replacement is None else (course.replacement,)
    boxes = ((*play.dealt, *play.drawn) for play in course.plays.values())
    cards = tuple(chain(*boxes, course.dealer, drawn))
    if len(set(cards)) != len(cards):
        raise ValueError("a card lies on the table twice")
    if bool(course.plays) != bool(course.dealer):
        raise ValueError("the dealer has cards if a box is in play, and only then")


class _Judge:
    """Judges the boxes of one round. `after` is the dealer's hand after a purchase by any of `buyers`."""

    def __init__(
        self, house: House, dealer: Hand | None, after: Hand | None, buyers: tuple[str, ...]
    ) -> None:
        self._house = house
        self._terms = house.terms
        self._bet = house.rules.price_list.bet_wager
        self._dealer = dealer
        self._after = after
        self._buyers = buyers

    def box(self, box: str, play: Play | None) -> BoxOutcome:
        """Judge a box; None is an empty one, where a bet that is there all the same comes back."""
        if play is None:
            row: Row = {Wager.ANTE: self._terms.empty, self._bet: self._terms.empty}
            hand = HandOutcome(STAY.text, (), excluded=Exclusion.BOX_EMPTY, rows={RowName.PLAIN: row})
            return BoxOutcome(box, (hand,), fold={Wager.ANTE: self._terms.empty})
        closed = self._terms.closed(folded=play.folded, qualified=self._shown_dealer.qualifies)
        fold = self._fold(play) if play.folded or play.silent else None
        if play.folded:
            return BoxOutcome(box, (), fold=fold, closed=closed)
        return BoxOutcome(box, (self._hand(box, play, closed=closed is not None),), fold=fold, closed=closed)

    @property
    def _shown_dealer(self) -> Hand:
        assert self._dealer is not None, "a box is in play, so the dealer has cards"
        return self._dealer

    def _fold(self, play: Play) -> Row:
        row = {Wager.ANTE: self._terms.folded}
        return row | {wager: self._terms.draw_fees[wager] for wager in _fees(play)}

    def _hand(self, box: str, play: Play, *, closed: bool) -> HandOutcome:
        hand = self._house.hand(play.cards)
        bought = box in self._buyers
        outcome = HandOutcome(
            pattern=play.pattern.text,
            cards=published.card_texts(play.cards),
            combinations=published.shown_combinations(hand),
            odds=fraction_text(total_odds(hand, self._house.rules.odds)),
            comparison=compare(hand, self._shown_dealer),
            bought_comparison=compare(hand, self._after) if bought and self._after else None,
            rows=self._rows(play, hand, bought=bought),
        )
        if closed:
            return msgspec.structs.replace(outcome, cards=(), combinations=(), odds="0")
        return outcome

    def _rows(self, play: Play, hand: Hand, *, bought: bool) -> Rows:
        rows = {RowName.PLAIN: self._row(play, hand, self._shown_dealer)}
        if not bought:
            return rows
        if self._after is None:
            assert self._terms.nobody_bought is not None
            wagers = (*rows[RowName.PLAIN], Wager.BUY_FEE)
            return rows | {RowName.BOUGHT: dict.fromkeys(wagers, self._terms.nobody_bought)}
        assert self._terms.buy_fee is not None
        row = self._row(play, hand, self._after, bought=True)
        return rows | {RowName.BOUGHT: row | {Wager.BUY_FEE: self._terms.buy_fee}}

    def _row(self, play: Play, hand: Hand, dealer: Hand, *, bought: bool = False) -> Row:
        rules = self._house.rules
        limit = Limit(
            rules.limits.table_max, rules.max_payout_includes_stake and rules.limits.table_max is not None
        )
        won = self._terms.won(hand, fraction_text(total_odds(hand, rules.odds)), limit)
        ante, bet = self._terms.stakes(compare(hand, dealer), won, bought=bought)
        fees = {wager: self._terms.draw_fees[wager] for wager in _fees(play)}
        return {Wager.ANTE: ante} | fees | {self._bet: bet}


def _fees(play: Play) -> Iterator[Wager]:
    if fee := option_fee(play.pattern):
        yield fee
