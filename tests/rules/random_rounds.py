"""Rounds by lot for every game: a house with random settings, and a player who asks for anything.

The player asks as a player does, window by window, and gets what the product grants. What he asked for and
the cards that lay go to the oracle, which has its own mind about what is granted.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import oracle_family
from games import driver
from msgspec.structs import replace

from controller.cards import DECK, Card, Rank, Suit
from controller.games.combinations import PairedStraight
from controller.games.deal_pattern import DealPattern, initial_spots
from controller.games.offers import HandOffer
from controller.games.patterns import SIXTH, STAY, exchange
from controller.games.procedure import (
    DEALER,
    SWITCH,
    Answer,
    Betting,
    BoxState,
    Deal,
    Decide,
    DecisionOf,
    Face,
    Step,
    Window,
    WindowAnswer,
)
from controller.games.procedure import Decision as BoxDecision
from controller.games.published import Outcome, Rounding
from controller.games.registry import GAMES
from controller.games.requests import Action, Request, Stage, Standing, refusal
from controller.games.rules import MAIN, Rules
from controller.games.settlement import BoxSlip, Decision

RICH = 10**12
TABLE_MAXIMA = (1, 1_501, 3_001, 9_999, 500_000)
PRICES = (1, 1, 2, 3, "1/2", "3/2", "5/3")
BONUS_STAKES = (50, 100, 500, 75)
ANTE_ODDS = (1, 1, "19/20", "3/2", "7/3")
CHOICES = {
    "paired_straight": PairedStraight,
    "deal_pattern": DealPattern,
    "switch_cards_face": Face,
    "rounding": Rounding,
}
OPTIONS = {
    "bet": Action.BET,
    "fold": Action.FOLD,
    "exchange": Action.EXCHANGE,
    "sixth": Action.SIXTH_CARD,
    "insurance": Action.INSURANCE,
}


class House(NamedTuple):
    """A game under random settings; `told` is how the oracle gets to know them."""

    game: Any
    told: dict[str, Any]


class Round(NamedTuple):
    """A round that was played: what was published, the player's slips, and both for the oracle.

    `came` are the cards in the order in which they left the shoe, `in_play` the boxes that were dealt to.
    """

    outcome: Outcome
    slips: tuple[BoxSlip, ...]
    cards: dict[str, list[str]]
    bets: dict[str, Any]
    came: list[str]
    in_play: list[str]
    pattern: str


def random_house(rng: random.Random, name: str) -> House:
    """Every switch of the config by lot; limits, boxes, prices and bonus stakes too."""
    given = driver.settings(name)
    given |= {key: rng.random() < 0.5 for key, value in given.items() if isinstance(value, bool)}
    given |= {key: str(rng.choice(list(ways))) for key, ways in CHOICES.items() if key in given}
    given["ante_odds"] = rng.choice(ANTE_ODDS)
    if "boxes" in given:
        given["boxes"] = rng.randint(1, oracle_family.GAMES[name].boxes)
    if "exchange_prices" in given:
        given["exchange_prices"] = rng.choices(PRICES, k=5)
    known = oracle_family.GAMES[name].settings
    settings = {key: value for key, value in given.items() if key in known}
    settings["ante_odds"] = Fraction(given["ante_odds"])
    if name == oracle_family.LIVE:
        given["prices"]["exchange"] = rng.choice(PRICES)
        settings["exchange_prices"] = [given["prices"]["exchange"]] * 5
    if "bonus_stakes" in known:
        given["bonus"]["stakes"] = rng.sample(BONUS_STAKES, 3)
        settings["bonus_stakes"] = given["bonus"]["stakes"]
    table_max = given["limits"]["table_max"] = rng.choice(TABLE_MAXIMA)
    if name != oracle_family.LIVE and rng.random() < 0.2:
        del given["limits"]["table_max"]
        table_max = None
    told = {"game": name, "settings": settings, "limits": {"max_payout": table_max}}
    return House(GAMES[name].build(given), told)


def random_shoe(rng: random.Random, pattern: DealPattern) -> Iterator[Card]:
    """A whole deck; mostly its first cards are of few ranks or suits: strong hands, straights, ties."""
    count = rng.choice((13, 9, 7, 6, 5))
    lowest = rng.randint(2, 15 - count)
    run = list(range(lowest, lowest + count))
    ranks = set(rng.choice((run, rng.sample(list(Rank), count))))
    suits = set(rng.sample(list(Suit), rng.choice((4, 4, 4, 3))))
    deck = rng.sample(DECK, len(DECK))
    deck.sort(key=lambda card: card.rank not in ranks or card.suit not in suits)
    if rng.random() < 0.7:  # Where four places are dealt to, one gets three of a kind; mostly box 2.
        place = rng.choice("011113")
        spots = initial_spots("0123", pattern)
        indices = [spots.index((place, n)) for n in (1, 2, 3)]
        alike = [card for card in deck if card.rank == deck[indices[0]].rank][:3]
        for index, card in zip(indices, alike, strict=True):
            swap = deck.index(card)
            deck[index], deck[swap] = deck[swap], deck[index]
    return iter(deck)


def random_wishes(rng: random.Random, house: House) -> dict[str, Any]:
    """What a player wants of one box, in the oracle's words; nothing says that he may."""
    name, table_max = house.game.name, house.told["limits"]["max_payout"] or 0
    option = rng.choice([*OPTIONS, None, "exchange", "sixth", "sixth"])
    count = rng.choice((1, 1, 2, 2, 3, 4, 5)) if option == "exchange" else 0
    ante = rng.choice((300, 600, 600, 1_200, 1_500, rng.randint(100, 1_500)))
    limit = rng.choice((table_max, table_max - 2 * ante)) // rng.choice((1, 2))
    insurance = rng.choice((ante, ante, rng.randint(2, 8) * ante, limit, limit)) + rng.choice(
        (-1, 0, 0, 0, 1)
    )
    wishes: dict[str, Any] = {
        "ante": ante,
        "option": option,
        "positions": rng.sample(range(1, 6), count),
        "final": rng.choice(("bet", "fold", "insurance", "insurance", "insurance", None)),
        "insurance": max(1, insurance),
        "bought": rng.random() < 0.6,
    }
    if name == oracle_family.LIVE:
        return wishes | {"bonus_b": rng.choice((0, 50, 75)), "bonus_d": rng.choice((0, 50, 333))}
    return wishes | {"bonus": rng.choice((0, *BONUS_STAKES))}


class Player:
    """Asks for what he wants, and answers for the house what is true of him or, now and then, nothing."""

    def __init__(self, rng: random.Random, house: House, wishes: dict[str, dict[str, Any]]) -> None:
        self.slips: dict[str, BoxSlip] = {}
        self._rng, self._game, self._wishes = rng, house.game, wishes
        self._live = isinstance(self._game.rules, Rules)
        self.states = {
            box: rng.choice((BoxState.DARK, BoxState.OPEN)) if box in wishes else BoxState.EMPTY
            for box in self._game.boxes
        }
        self._hands: dict[tuple[str, str], HandOffer] = {}
        self._granted: dict[str, BoxDecision] = {}

    @property
    def in_play(self) -> tuple[str, ...]:
        """The boxes with a bet."""
        return tuple(box for box, state in self.states.items() if state is not BoxState.EMPTY)

    def answer(self, step: Step) -> Answer:
        """Answer any step but a deal."""
        match step:
            case Betting():
                for box in self._wishes:
                    self._bet(box)
                return self.states
            case Decide():
                self._offered(step.hands)
                self._granted = {box: self._decide(Stage(step.stage), box) for box in step.boxes}
            case DecisionOf():
                return self._granted[step.box]
            case Window():
                self._offered(step.hands)
                return self._window(Stage(step.stage), step.boxes)
        return None

    def final_wish(self, box: str) -> str | None:
        """What he asked for in final options time; sister games have none for a box that did not draw."""
        asked = self._live or self.slips[box].pattern != STAY.text
        return self._wishes[box]["final"] if asked else None

    def _offered(self, hands: Iterable[HandOffer]) -> None:
        self._hands = {(hand.box, hand.pattern): hand for hand in hands}

    def _hand(self, box: str) -> HandOffer | None:
        return self._hands.get((box, self.slips[box].pattern))

    def _dark(self, box: str) -> bool:
        return not self._live and self._game.has_dark_boxes and self.states[box] is BoxState.DARK

    def _bet(self, box: str) -> None:
        wishes = self._wishes[box]
        self.slips[box] = BoxSlip(box)
        if not self._ask(Stage.BETTING, Action.ANTE, box, amount=wishes["ante"]):
            return
        decision = Decision.BET if self._dark(box) else None  # OAB-27
        self.slips[box] = BoxSlip(box, ante=wishes["ante"], decision=decision)
        for action, field in ((Action.BONUS_B, "bonus_b"), (Action.BONUS_D, "bonus_d")):
            stake = wishes.get(field, wishes.get("bonus", 0))
            if stake and self._ask(Stage.BETTING, action, box, amount=stake):
                self.slips[box] = replace(self.slips[box], **{field: stake})

    def _ask(self, stage: Stage, action: Action, box: str, **given: Any) -> bool:
        request = Request(stage, action, box, **given)
        standing = Standing(stage, self.slips[box], RICH, self._hand(box), dark=self._dark(box))
        return refusal(request, standing, self._game.rules) is None

    def _decide(self, stage: Stage, box: str) -> BoxDecision:
        """Ask for a decision on a box; one that is refused is silence."""
        wishes = self._wishes[box]
        option = wishes["option" if stage is Stage.OPTIONS else "final"]
        if option is None:
            return BoxDecision(None)
        action = OPTIONS[option]
        positions = tuple(wishes["positions"]) if action is Action.EXCHANGE else ()
        amount = wishes["insurance"] if action is Action.INSURANCE else 0
        if not self._ask(stage, action, box, amount=amount, positions=positions):
            return BoxDecision(None)
        match action:
            case Action.EXCHANGE:
                changes: dict[str, Any] = {"pattern": exchange(*positions).text}
            case Action.SIXTH_CARD:
                changes = {"pattern": SIXTH.text}
            case _:
                changes = {"decision": Decision(action), "insurance": amount}
        self.slips[box] = replace(self.slips[box], **changes)
        return BoxDecision(str(action), positions)

    def _window(self, stage: Stage, boxes: tuple[str, ...]) -> WindowAnswer:
        """Choose in a window of the live game or in a buy time. The house tells facts for all players."""
        if stage is Stage.BUY_TIME:
            for box in boxes:
                if box in self.slips and self._wishes[box]["bought"]:
                    bought = self._ask(stage, Action.BUY, box)
                    self.slips[box] = replace(self.slips[box], bought=bought)
            return WindowAnswer(anyone_bought=self._told(any(slip.bought for slip in self.slips.values())))
        self._decide(stage, MAIN)
        slip, hand = self.slips[MAIN], self._hand(MAIN)
        drew = slip.pattern != STAY.text
        if stage is Stage.OPTIONS:
            folded = slip.decision is Decision.FOLD or not slip.ante
            return WindowAnswer(in_play=self._told(not folded), anyone_drew=self._told(drew))
        silent = slip.decision is None and hand is not None and bool(hand.combinations)
        stays = slip.ante and (slip.decision in (Decision.BET, Decision.INSURANCE) or silent)
        return WindowAnswer(in_play=self._told(bool(stays)))

    def _told(self, mine: bool) -> bool | None:
        """What holds of one holds of any; where it does not, another player may be there."""
        return self._rng.choice((True, None) if mine else (True, None, False))


def play_round(rng: random.Random, name: str) -> Round:
    """Play one round of a game to its end."""
    house = random_house(rng, name)
    boxes = [box for box in house.game.boxes if rng.random() < 0.7] or house.game.boxes
    wishes = {box: random_wishes(rng, house) for box in boxes}
    player = Player(rng, house, wishes)
    pattern = house.game.rules.deal_pattern
    came: list[str] = []
    outcome, laid = deal_to(player, house.game, noted(random_shoe(rng, pattern), came))
    cards: dict[str, list[str]] = {"dealer": laid[DEALER][:5], "replacement": laid[DEALER][5:]}
    bets = house.told | {"anyone_bought": bool(cards["replacement"])}
    for box, wished in wishes.items():
        cards |= {box: laid[box][:5], f"{box}_drawn": laid[box][5:]}
        bets[box] = wished | {"dark": player.states[box] is BoxState.DARK, "final": player.final_wish(box)}
    cards["switch"] = laid[SWITCH]
    return Round(outcome, tuple(player.slips.values()), cards, bets, came, list(player.in_play), str(pattern))


def noted(shoe: Iterator[Card], came: list[str]) -> Iterator[Card]:
    """Pass the cards on and write down what came."""
    for card in shoe:
        came.append(str(card))
        yield card


def deal_to(player: Player, game: Any, shoe: Iterator[Card]) -> tuple[Outcome, dict[str, list[str]]]:
    """Run the script; return its outcome and the cards that were dealt to each place, in their order."""
    laid: dict[str, list[str]] = defaultdict(list)
    script = game.script()
    answer: Answer = None
    while True:
        try:
            step = script.send(answer)
        except StopIteration as ended:
            return ended.value, laid
        if isinstance(step, Deal):
            card = next(shoe)
            laid[step.place].append(str(card))
            answer = card
        else:
            answer = player.answer(step)
