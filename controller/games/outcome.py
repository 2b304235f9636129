"""The outcome of a round of live Russian Poker, for every answer that a player may have given.

Which cards lie and what the betting system told is all that counts; a fact that was not told counts as
yes, and what a told fact excludes is still listed, with every wager refunded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain

import msgspec

from controller.cards import Card
from controller.games import published
from controller.games.judge import FOLDED, REFUNDS, Judge
from controller.games.offers import replaced
from controller.games.patterns import PATTERNS, STAY, Pattern, final_cards
from controller.games.paytables import bonus_row
from controller.games.poker import Hand, evaluate
from controller.games.published import (
    BoxOutcome,
    Exclusion,
    HandOutcome,
    Outcome,
    Result,
    Wager,
    WagerOutcome,
    fraction_text,
)
from controller.games.rules import BOXES, GAME, MAIN, Rules


class Facts(msgspec.Struct, frozen=True):
    """What happened in a round.

    `boxes` holds the five dealt cards of each box; `switch` five switch cards or none; `replacement` the
    card drawn for the dealer after a purchase. `empty` names the boxes without a bet. The answers are
    yes, no, or None for not told.
    """

    boxes: Mapping[str, tuple[Card, ...]]
    dealer: tuple[Card, ...]
    switch: tuple[Card, ...] = ()
    replacement: Card | None = None
    empty: frozenset[str] = frozenset()
    anyone_drew: bool | None = None
    main_in_play: bool | None = None
    anyone_bought: bool | None = None


def purchase_offered(facts: Facts) -> tuple[str, ...]:
    """Return the boxes that are offered the purchase; none when the dealer qualifies (RPL-33, D-53).

    Without a box there is no buy time.
    """
    if evaluate(facts.dealer).qualifies:
        return ()
    return tuple(
        box
        for box in BOXES
        if any(
            evaluate(final_cards(pattern, facts.boxes[box], facts.switch)).qualifies
            for pattern in _patterns(box)
            if exclusion(facts, box, pattern) is None
        )
    )


def exclusion(facts: Facts, box: str, pattern: Pattern) -> Exclusion | None:
    """Return the fact that rules this hand out, None when it may have been played."""
    if box in facts.empty:
        return Exclusion.BOX_EMPTY
    if box == MAIN and pattern.draws and facts.anyone_drew is False:
        return Exclusion.NOBODY_DREW
    if box == MAIN and facts.main_in_play is False:
        return Exclusion.ALL_FOLDED
    return None


def bonus_b(dealt: tuple[Card, ...], rules: Rules) -> WagerOutcome:
    """Judge bonus bet B on the five dealt cards of a box (RPL-52 to RPL-56)."""
    return _bonus(dealt, rules, doubles=True, rule="RPL-52")


def bonus_d(dealer: tuple[Card, ...], rules: Rules) -> WagerOutcome:
    """Judge bonus bet D on the dealer's five dealt cards (RPL-57, RPL-58)."""
    return _bonus(dealer, rules, doubles=False, rule="RPL-57")


def _bonus(cards: tuple[Card, ...], rules: Rules, *, doubles: bool, rule: str) -> WagerOutcome:
    assert rules.bonus is not None, "no bonus bets at this table"
    row = bonus_row(evaluate(cards), doubles=doubles)
    if row is None:
        return WagerOutcome(Result.LOSE, (rule, "RPL-54" if doubles else "RPL-58"))
    return WagerOutcome(Result.WIN, (rule, "RPL-51"), fraction_text(rules.bonus.odds[row]), bonus=row)


def outcome(facts: Facts, rules: Rules) -> Outcome:
    """Work out the result of a round.

    Raises ValueError for cards that cannot lie so: one of them twice, one too many, or one too few.
    """
    _check_cards(facts)
    dealer = evaluate(facts.dealer)
    dealer_cards = after_cards = facts.dealer
    after = None
    if facts.replacement is not None:
        after_cards = replaced(dealer_cards, facts.replacement)
        after = evaluate(after_cards)
    judge = Judge(rules, dealer, after)
    on_dealer = None if rules.bonus is None else bonus_d(facts.dealer, rules)
    boxes = tuple(box_outcome(box, facts, judge, on_dealer) for box in BOXES)
    _check_replacement(facts, dealer, boxes)
    return Outcome(
        game=GAME,
        prices=prices(rules),
        dealer=published.shown_dealer(dealer_cards, dealer),
        boxes=boxes,
        dealer_after_purchase=None if after is None else published.shown_dealer(after_cards, after),
        rounding=rules.rounding,
    )


def prices(rules: Rules) -> dict[Wager, str]:
    """Return what each priced wager costs, in Antes, as it is published."""
    return rules.price_list.shown()


def _check_cards(facts: Facts) -> None:
    drawn = () if facts.replacement is None else (facts.replacement,)
    cards = tuple(chain(*(facts.boxes[box] for box in BOXES), facts.dealer, facts.switch, drawn))
    if len(set(cards)) != len(cards):
        raise ValueError("a card lies on the table twice")
    if len(facts.switch) not in (0, 5):
        raise ValueError(f"{len(facts.switch)} switch cards; there are five or none (RPL-17)")
    if not facts.switch and facts.anyone_drew is not False and MAIN not in facts.empty:
        raise ValueError("no switch cards, and nobody said that nobody drew (RPL-17)")


def _check_replacement(facts: Facts, dealer: Hand, boxes: Iterable[BoxOutcome]) -> None:
    """Compare the replacement card with what was due, by the rule of `purchase_offered`."""
    offered = any(hand.combinations and not hand.excluded for box in boxes for hand in box.hands)
    due = offered and not dealer.qualifies and facts.anyone_bought is not False
    if due != (facts.replacement is not None):
        expected = "a card" if due else "no card"
        raise ValueError(f"dealer's replacement: {expected} is due, got {facts.replacement} (RPL-33, RPL-34)")


def _patterns(box: str) -> tuple[Pattern, ...]:
    return PATTERNS if box == MAIN else (STAY,)


def box_outcome(box: str, facts: Facts, judge: Judge, on_dealer: WagerOutcome | None) -> BoxOutcome:
    """Judge a box; `on_dealer` is bonus bet D, the same on all of them, None where it is not offered."""
    refund = REFUNDS[Exclusion.BOX_EMPTY] if box in facts.empty else None
    bonus = None
    if on_dealer is not None:
        bonus = {
            Wager.BONUS_B: refund or bonus_b(facts.boxes[box], judge.rules),
            Wager.BONUS_D: refund or on_dealer,
        }
    fold = dict.fromkeys(FOLDED, refund) if refund else FOLDED
    return BoxOutcome(
        box=box,
        hands=tuple(_hand(box, pattern, facts, judge) for pattern in _patterns(box)),
        fold=fold if box == MAIN else None,
        bonus=bonus,
    )


def _hand(box: str, pattern: Pattern, facts: Facts, judge: Judge) -> HandOutcome:
    excluded = exclusion(facts, box, pattern)
    if pattern.draws and not facts.switch:
        assert excluded is not None, pattern
        return HandOutcome(pattern.text, (), excluded=excluded, rows=judge.refunds(pattern, None, excluded))
    cards = final_cards(pattern, facts.boxes[box], facts.switch)
    hand = evaluate(cards, paired_straight=judge.rules.paired_straight)
    verdict = judge.judge(pattern, hand, excluded)
    return HandOutcome(
        pattern=pattern.text,
        cards=published.card_texts(cards),
        combinations=published.shown_combinations(hand),
        odds=verdict.odds,
        comparison=verdict.comparison,
        bought_comparison=verdict.after,
        excluded=excluded,
        rows=verdict.rows,
    )
