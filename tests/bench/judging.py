"""The outcome of a main box against ranking its 33 hands, and a full house's settlement against bare sums.

Ours is what `confirmed` tells of the main box: 33 hands with every row, bonus bets; in a second figure the
whole round. The measure only ranks the 33 hands with phevaluator, which the product does not use: from
texts, as its manual calls it, and in a third figure from the numbers that it works with inside. The straw
man of settlement looks up each wager of each slip and multiplies.
"""

from __future__ import annotations

import random
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

from phevaluator import Card as TheirCard
from phevaluator import evaluate_cards

from controller.cards import DECK, Card
from controller.games.judge import Judge
from controller.games.offers import replaced
from controller.games.outcome import Facts, bonus_d, box_outcome, outcome, purchase_offered
from controller.games.patterns import PATTERNS, final_cards
from controller.games.poker import evaluate
from controller.games.published import BoxOutcome, HandOutcome, Result, RowName, Wager
from controller.games.rules import BLIND, BOXES, MAIN, load_rules
from controller.games.settlement import BoxSlip, Decision, settle

Figures = dict[str, float]

CONFIG = Path(__file__).parents[2] / "config" / "games" / "russian_poker_live.toml"
RULES = load_rules(tomllib.loads(CONFIG.read_text(encoding="utf-8")))
SEED = 20260101
ANTE = 100
BONUS = 50


def deals() -> Iterator[Facts]:
    """Yield random rounds; the dealer gets his new card where it is due."""
    rng = random.Random(SEED)
    while True:
        cards = tuple(rng.sample(DECK, 26))
        boxes = {box: cards[5 * index : 5 * index + 5] for index, box in enumerate(BOXES)}
        facts = Facts(boxes, cards[15:20], cards[20:25])
        yield Facts(boxes, cards[15:20], cards[20:25], cards[25]) if purchase_offered(facts) else facts


class Outcomes:
    """Rounds that were dealt, and the final hands of their main boxes as the other evaluator takes them."""

    def __init__(self, count: int) -> None:
        self._facts = [facts for facts, _ in zip(deals(), range(count), strict=False)]
        hands = [hand for facts in self._facts for hand in main_hands(facts)]
        self._texts = [tuple(map(str, hand)) for hand in hands]
        self._numbers = [tuple(map(TheirCard.to_id, hand)) for hand in self._texts]

    def ranking(self) -> Figures:
        """Rank the 33 hands of each round."""
        began = time.perf_counter()
        for texts in self._texts:
            evaluate_cards(*texts)
        between = time.perf_counter()
        for numbers in self._numbers:
            evaluate_cards(*numbers)
        ended = time.perf_counter()
        texts_us, numbers_us = self._us(between - began), self._us(ended - between)
        return {"main box": texts_us, "whole round": texts_us, "main box by numbers": numbers_us}

    def ours(self) -> Figures:
        """Work out each outcome, first of the main box alone."""
        began = time.perf_counter()
        for facts in self._facts:
            main_box(facts)
        between = time.perf_counter()
        for facts in self._facts:
            outcome(facts, RULES)
        ended = time.perf_counter()
        box_us, round_us = self._us(between - began), self._us(ended - between)
        return {"main box": box_us, "whole round": round_us, "main box by numbers": box_us}

    def _us(self, seconds: float) -> float:
        return seconds * 1_000_000 / len(self._facts)


def main_hands(facts: Facts) -> list[tuple[Card, ...]]:
    """Return the 33 hands that the main box can end with."""
    return [final_cards(pattern, facts.boxes[MAIN], facts.switch) for pattern in PATTERNS]


def main_box(facts: Facts) -> BoxOutcome:
    """Judge the main box from its cards and the dealer's."""
    drawn = facts.replacement
    after = None if drawn is None else evaluate(replaced(facts.dealer, drawn))
    judge = Judge(RULES, evaluate(facts.dealer), after)
    return box_outcome(MAIN, facts, judge, bonus_d(facts.dealer, RULES))


class Settlements:
    """One round in which the dealer did not qualify and somebody bought, and the slips of many players."""

    def __init__(self, player_count: int) -> None:
        self._outcome = next(outcome(facts, RULES) for facts in deals() if facts.replacement)
        self._slips = [tuple(self._slips_of(player)) for player in range(player_count)]
        self._stakes = [self._stakes_of(slips) for slips in self._slips]

    def bare_sums(self) -> Figures:
        """Look up and multiply."""
        began = time.perf_counter()
        for stakes in self._stakes:
            for row, wager, stake in stakes:
                row[wager] * stake
        return self._figures(began)

    def ours(self) -> Figures:
        """Settle every slip."""
        began = time.perf_counter()
        for slips in self._slips:
            settle(slips, self._outcome)
        return self._figures(began)

    def _figures(self, began: float) -> Figures:
        spent = time.perf_counter() - began
        return {"round": spent * 1_000, "player": spent * 1_000_000_000 / len(self._slips)}

    def _slips_of(self, player: int) -> Iterator[BoxSlip]:
        """Yield a slip on the main box, each way of playing in turn, and one on a blind box now and then."""
        hand = self._outcome.box(MAIN).hands[player % len(PATTERNS)]
        yield self._main_slip(hand, player // len(PATTERNS))
        if player % 3 == 0:
            blind = BLIND[player % len(BLIND)]
            yield BoxSlip(blind, ANTE, bonus_b=BONUS, bonus_d=BONUS)

    def _main_slip(self, hand: HandOutcome, turn: int) -> BoxSlip:
        ways = (*hand.rows, None)
        way = ways[turn % len(ways)]
        if way is None:
            return BoxSlip(MAIN, ANTE, hand.pattern, Decision.FOLD)
        insured = way in (RowName.INSURED, RowName.INSURED_BOUGHT)
        return BoxSlip(
            MAIN,
            ANTE,
            hand.pattern,
            Decision.INSURANCE if insured else Decision.BET,
            insurance=ANTE if insured else 0,
            bought=way in (RowName.BOUGHT, RowName.INSURED_BOUGHT),
            bonus_b=BONUS,
        )

    def _stakes_of(self, slips: tuple[BoxSlip, ...]) -> list[tuple[dict[Wager, int], Wager, int]]:
        factors = {Result.LOSE: 0, Result.FEE: 0}
        return [
            ({line.wager: factors.get(Result(line.outcome), 1)}, line.wager, line.stake)
            for line in settle(slips, self._outcome)
        ]
