"""Sample rounds: a game's own script, played with made-up cards and choices.

What people read about a procedure is told from these rounds, so that it says what the script does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from controller.cards import DECK, Card, parse_cards
from controller.games.procedure import (
    DEALER,
    SWITCH,
    Answer,
    Betting,
    BoxState,
    Deal,
    Decide,
    Decision,
    DecisionOf,
    Game,
    Step,
    Window,
    WindowAnswer,
)
from controller.games.published import Outcome
from controller.games.rules import MAIN
from controller.games.sister_game import SisterGame
from controller.games.sister_rules import BonusOasisRules

Cards = tuple[Card, ...]

NOT_QUALIFIED = parse_cards("Kh 9s 8s 7s 5s")
"""A dealer's hand that one card turns into a pair, into a straight flush, or into nothing."""
TO_A_PAIR = parse_cards("9h")
TO_A_STRAIGHT_FLUSH = parse_cards("6s")
TO_NOTHING = parse_cards("2d")
SAME_RANK_FIRST = parse_cards("Kd 9h")
PAIR_OF_NINES = parse_cards("9h 9c 4c 3s 2h")
FOUR_ACES = parse_cards("Ah Ad Ac As 2h")
STRAIGHT = parse_cards("Th 9c 8h 7s 6d")

FOUR_TENS = parse_cards("Tc Td Ts Th 3c 8d")
"""A player's five cards and the one he draws; four tens, or one straight, with either."""
SAME_STRAIGHT = parse_cards("Tc 9d 8s 7h 6s 6c")
NO_GAME = parse_cards("Tc 8d 6s 4h 2s 3d")
PAIRS = (*parse_cards("Qc Qd"), *parse_cards("Jc Jd"), *parse_cards("Qh Qs"))
"""What the other boxes hold, two cards each; no sample names a queen or a jack."""


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """What happens in a round. `player` are the five dealt cards and the drawn one of the first open box.

    The boxes that decide all draw, or else bet, unless they fold at once; those that `give_up` fold when
    nothing is left to draw. `exchanged` are the positions where there is no sixth card to draw. `drawn` are
    the dealer's further cards.
    """

    states: Mapping[str, BoxState]
    player: Cards = FOUR_TENS
    dealer: Cards = NOT_QUALIFIED
    drawn: Cards = TO_A_PAIR
    draws: bool = True
    exchanged: tuple[int, ...] = (5,)
    folds: bool = False
    give_up: bool = False
    buys: bool = True

    @property
    def deciding(self) -> tuple[str, ...]:
        """The boxes that take decisions."""
        return tuple(box for box, state in self.states.items() if state is BoxState.OPEN)


class Walked(msgspec.Struct, frozen=True):
    """A sample round that has been played: its steps in order, the cards as they came, the result."""

    steps: tuple[Step, ...]
    cards: Mapping[tuple[str, int], Card]
    outcome: Outcome


def usual_states(game: Game) -> dict[str, BoxState]:
    """Return which boxes decide and which are dark when all are in play.

    Where any box may be dark it is one that decides (GOA-12), or two (OAB-14).
    """
    if not isinstance(game, SisterGame):
        return {box: BoxState.OPEN if box == MAIN else BoxState.DARK for box in game.boxes}
    if not game.has_dark_boxes:
        return dict.fromkeys(game.boxes, BoxState.OPEN)
    count = 2 if isinstance(game.rules, BonusOasisRules) and len(game.boxes) > 2 else 1
    return {box: BoxState.OPEN if n < count else BoxState.DARK for n, box in enumerate(game.boxes)}


def walk(game: Game, sample: Sample) -> Walked:
    """Play the game's script through one round of `sample`."""
    cards = _Shoe(sample)
    script = game.script()
    steps: list[Step] = []
    answer: Answer = None
    while True:
        try:
            step = script.send(answer)
        except StopIteration as ended:
            return Walked(tuple(steps), cards.dealt, ended.value)
        steps.append(step)
        answer = _answer(step, steps, sample, cards)


class _Shoe:
    """Gives the sample's own cards where they belong, and others of the deck everywhere else."""

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self._player = (sample.deciding or (None,))[0]
        named = {*sample.player, *sample.dealer, *sample.drawn, *PAIRS}
        self._others: Iterator[Card] = (card for card in DECK if card not in named)
        boxes = [box for box in sample.states if box != self._player]
        self._pairs = {box: PAIRS[2 * n : 2 * n + 2] for n, box in enumerate(boxes)}
        self.dealt: dict[tuple[str, int], Card] = {}

    def card(self, step: Deal) -> Card:
        own: Cards = ()
        if step.place == DEALER:
            own = (*self._sample.dealer, *self._sample.drawn)
        elif step.place == self._player:
            own = self._sample.player
        elif step.place == SWITCH:
            own = self._sample.player[-1:]
        elif step.place in self._pairs:
            own = self._pairs[step.place]
        drawn = own[step.n - 1] if step.n <= len(own) else next(self._others)
        self.dealt[step.place, step.n] = drawn
        return drawn


def _answer(step: Step, steps: list[Step], sample: Sample, cards: _Shoe) -> Answer:
    match step:
        case Betting():
            return sample.states
        case Deal():
            return cards.card(step)
        case Window():
            drew = sample.draws and not sample.folds
            return WindowAnswer(in_play=not sample.folds, anyone_drew=drew, anyone_bought=sample.buys)
        case DecisionOf(stage=stage):
            opened = next(one for one in steps if isinstance(one, Decide) and one.stage == stage)
            return _decision(opened.actions, sample)
        case _:
            return None


def _decision(actions: tuple[str, ...], sample: Sample) -> Decision:
    if sample.folds:
        return Decision("FOLD")
    if sample.draws and "SIXTH_CARD" in actions:
        return Decision("SIXTH_CARD")
    if sample.draws and "EXCHANGE" in actions:
        return Decision("EXCHANGE", sample.exchanged)
    return Decision("FOLD" if sample.give_up else "BET")
