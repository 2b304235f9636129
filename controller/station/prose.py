"""A procedure in the words of the pit, told from the steps of sample rounds.

Which steps may be left out, and when, is found by playing the round again with one thing changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from controller.games.procedure import (
    DEALER,
    SWITCH,
    Announce,
    Betting,
    BoxState,
    Deal,
    Decide,
    DecisionOf,
    Face,
    Game,
    LayAside,
    Step,
    Turn,
    Window,
)
from controller.games.published import Wager
from controller.station.sample_round import (
    NO_GAME,
    NOT_QUALIFIED,
    PAIR_OF_NINES,
    SAME_RANK_FIRST,
    TO_A_PAIR,
    Sample,
    Walked,
    usual_states,
    walk,
)

BETTING = "betting"
Key: TypeAlias = tuple[str, str]

WINDOWS = {
    BETTING: "Betting time",
    "options": "Options time",
    "final_options": "Final options time",
    "buy_time": "Extra time for the purchase",
}
ACTIONS = {
    "BET": "Bet",
    "SIXTH_CARD": "sixth card",
    "EXCHANGE": "exchange of one to five cards",
    "INSURANCE": "insurance (with the Bet)",
    "FOLD": "fold",
    "BUY": "buy the dealer's qualification",
}
SOLD_AS = {"SIXTH_CARD": Wager.SIXTH_FEE, "EXCHANGE": Wager.EXCHANGE_FEE, "BUY": Wager.BUY_FEE}
NUMBERS = ("no", "one", "two", "three", "four", "five")


class ToldStep(msgspec.Struct, frozen=True):
    """One numbered step. `left_out_if`: any of these, and the step does not happen."""

    text: str
    left_out_if: tuple[str, ...] = ()


class Procedure(msgspec.Struct, frozen=True):
    """A whole round. `without_bets` is what happens when nobody has bet, None when cards are dealt.

    `miscount` is what happens when a place has a wrong number of cards.
    """

    steps: tuple[ToldStep, ...]
    without_bets: str | None
    miscount: str


class Line(msgspec.Struct):
    """One step of one sample round; `key` finds it in another one."""

    key: Key
    text: str


def place_name(place: str) -> str:
    """Return what the pit calls a place."""
    if place == DEALER:
        return "the dealer"
    if place == SWITCH:
        return "the switch cards"
    return f"box {place.removeprefix('box')}"


def listed(words: Sequence[str], last: str = "and") -> str:
    """Join words as a sentence does."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def seconds(ms: int) -> str:
    """Spell a duration."""
    return f"{ms // 1_000} s" if ms % 1_000 == 0 else f"{ms / 1_000:.1f} s"


def procedure(game: Game, times_ms: Mapping[str, int] | None = None) -> Procedure:
    """Tell the longest round of `game`, with the lengths of its windows if they are known."""
    sample = fullest(game)
    told = lines(game, sample, times_ms or {})
    missing: dict[str, set[Key]] = {
        what: {line.key for line in told} - {line.key for line in lines(game, changed, {})}
        for what, changed in variations(sample)
    }
    nobody = missing.pop(NO_BETS)
    only = _for_combinations(game, sample)
    without = "Without a bet on any box no card is dealt." if len(nobody) == len(told) - 1 else None
    return Procedure(
        tuple(
            ToldStep(
                f"{line.text} {COMBINATIONS_ONLY}" if line.key in only else line.text,
                tuple(what for what, keys in missing.items() if line.key in keys),
            )
            for line in told
        ),
        without,
        REDEAL if game.redeals else CANCEL,
    )


NO_BETS = "no box has a bet"
REDEAL = (
    "If a place has a wrong number of cards, a supervisor has the round dealt anew: all cards are shuffled "
    "again; Antes, dark Bets and bonus stakes stand; what was decided is void, and its prices and Bets come "
    "back when the round ends (OAB-24). "
    "A dealer's card that was turned up by accident changes nothing (OAB-25)."
)
CANCEL = "If a place has a wrong number of cards, a supervisor cancels the round and all stakes come back."
COMBINATIONS_ONLY = "Only for boxes with Ace-King or better."


def _for_combinations(game: Game, sample: Sample) -> set[Key]:
    """Return the windows that sell nothing to a hand without a combination."""
    open_for = {
        _key(step, game)
        for step in walk(game, replace(sample, player=NO_GAME)).steps
        if isinstance(step, Window) and all(offer.purchase for offer in step.hands)
    }
    sold = walk(game, sample).steps
    return {
        _key(step, game) for step in sold if isinstance(step, Window) and "BUY" in step.actions
    } - open_for


def variations(sample: Sample) -> Iterator[tuple[str, Sample]]:
    """Yield the same round with one thing changed, and what that is."""
    yield NO_BETS, replace(sample, states=dict.fromkeys(sample.states, BoxState.EMPTY))
    if len(sample.deciding) < len(sample.states):
        quiet = {
            box: BoxState.EMPTY if box in sample.deciding else state for box, state in sample.states.items()
        }
        names = [place_name(box) for box in sample.deciding]
        who = f"{names[0]} has no" if len(names) == 1 else f"neither {listed(names, 'nor')} has a"
        yield f"{who} bet", replace(sample, states=quiet)
    yield "nobody draws", replace(sample, draws=False)
    whole = replace(sample, exchanged=(1, 2, 3, 4, 5))
    yield "all who draw have exchanged five cards", whole
    yield "every box that decides folds", replace(sample, folds=True)
    if sample.dealer == NOT_QUALIFIED:
        yield "the dealer qualifies", replace(sample, dealer=PAIR_OF_NINES)
    else:
        yield "the dealer does not qualify", replace(sample, dealer=NOT_QUALIFIED)
    yield "nobody buys", replace(sample, buys=False)
    if sample.drawn == SAME_RANK_FIRST:
        yield "the drawn card has another rank than the one laid aside", replace(sample, drawn=TO_A_PAIR)


def fullest(game: Game) -> Sample:
    """Return the sample in which most is to do."""
    states = usual_states(game)
    samples = [
        Sample(states=states),
        Sample(states=states, drawn=SAME_RANK_FIRST),
        Sample(states=states, dealer=PAIR_OF_NINES, drawn=()),
    ]
    return max(samples, key=lambda sample: len(lines(game, sample, {})))


def lines(game: Game, sample: Sample, times_ms: Mapping[str, int]) -> list[Line]:
    """Tell one sample round, step by step."""
    return _Teller(game, sample, walk(game, sample), times_ms).tell()


class _Teller:
    """Tells the steps of one round; takes several that belong together as one."""

    def __init__(self, game: Game, sample: Sample, walked: Walked, times_ms: Mapping[str, int]) -> None:
        self._game = game
        self._sample = sample
        self._walked = walked
        self._times_ms = times_ms
        self._left = list(walked.steps)

    def tell(self) -> list[Line]:
        told: list[Line] = []
        while self._left:
            step = self._left[0]
            if isinstance(step, Announce):
                told[-1].text += f" {self._announced()}"
            else:
                told.append(Line(_key(step, self._game), self._step(step)))
        return told

    def _take(self, *kinds: type[Step]) -> list[Step]:
        taken: list[Step] = []
        while self._left and isinstance(self._left[0], kinds):
            taken.append(self._left.pop(0))
        return taken

    def _step(self, step: Step) -> str:
        match step:
            case Betting():
                self._left.pop(0)
                boxes = listed([self._box(box) for box in self._game.boxes])
                dark = BoxState.DARK in self._sample.states.values()
                at_once = " On a dark box Ante and Bet are placed together." if dark else ""
                return f"{self._window(BETTING)}: bets on {boxes}.{at_once}"
            case Deal():
                return self._deals([one for one in self._take(Deal) if isinstance(one, Deal)])
            case Decide():
                self._left.pop(0)
                return f"{self._offer(step)} {self._served(step)}".strip()
            case Window():
                self._left.pop(0)
                return self._offer(step)
            case Turn(place=place):
                self._left.pop(0)
                return f"The dealer turns {_turned(place)}."
            case LayAside():
                self._left.pop(0)
                return self._laid_aside(step)
            case _:
                raise AssertionError(f"{step} is told with the step before it")

    def _window(self, stage: str) -> str:
        name = WINDOWS.get(stage, stage)
        return f"{name} ({seconds(self._times_ms[stage])})" if stage in self._times_ms else name

    def _box(self, box: str) -> str:
        dark = self._sample.states.get(box) is BoxState.DARK
        return f"{place_name(box)}{' (dark)' if dark else ''}"

    def _offer(self, step: Window | Decide) -> str:
        boxes = [self._box(box) for box in step.boxes]
        who = f"{boxes[0]} chooses" if len(boxes) == 1 else f"{listed(boxes)} choose, each for itself"
        actions = [_priced(action, step.prices_in_antes) for action in step.actions]
        return f"{self._window(step.stage)}: {who}: {listed(actions, 'or')}."

    def _served(self, opened: Decide) -> str:
        """Tell in which order boxes are served after a window, and when they get their cards."""
        steps = self._take(DecisionOf, Deal, Announce)
        order = [place_name(step.box) for step in steps if isinstance(step, DecisionOf)]
        dealt = [step for step in steps if isinstance(step, Deal)]
        text = ""
        if opened.in_order and len(order) > 1:
            text += "The next box is asked when the one before it has decided. "
        if not dealt:
            return text.strip()
        face = listed(sorted({step.face for step in dealt}), "or")
        text += f"New cards come from the shoe, face {face}"
        return text + (f", in the order {listed(order)}, a box whole before the next." if order[1:] else ".")

    def _deals(self, deals: list[Deal]) -> str:
        places = list(dict.fromkeys(step.place for step in deals))
        if len(deals) == 1:
            return f"The dealer draws one card and lays it on the vacant place, face {deals[0].face}."
        if len(places) == 1:
            seen = " Bettors see those that they have paid for." if deals[0].shown_to_betting else ""
            return f"{len(deals)} cards face {deals[0].face}: {place_name(places[0])}.{seen}"
        laid: dict[str, list[str]] = {}
        for place in places:
            how = _laid([one for one in deals if one.place == place])
            laid.setdefault(how, []).append(self._box(place))
        each = "; ".join(f"{listed(names)} {how}" for how, names in laid.items())
        order = listed([place_name(place) for place in places])
        return f"{len(deals)} cards, {_rhythm(deals, places, order)}: {each}."

    def _laid_aside(self, step: LayAside) -> str:
        laid = self._walked.cards[step.place, step.n]
        dealt = [card for (place, n), card in self._walked.cards.items() if place == step.place and n <= 5]
        what = "the card just drawn"
        if step.n <= len(dealt):
            what = "his highest card" if laid.rank == max(card.rank for card in dealt) else f"card {step.n}"
        return f"The dealer lays {what} face down on the marked place beside the hand."

    def _announced(self) -> str:
        places = [step.place for step in self._take(Announce) if isinstance(step, Announce)]
        names = listed([place_name(place) for place in places])
        return (
            f"The hand of {names} is announced."
            if len(places) == 1
            else f"The hands of {names} are announced."
        )


def _rhythm(deals: list[Deal], places: list[str], order: str) -> str:
    """Tell a deal in turn from one in packets by the cards themselves."""
    count = len(deals) // len(places)
    dealt = [step.place for step in deals]
    if dealt == places * count:
        return f"one at a time to {order} in turn, {NUMBERS[count]} rounds"
    assert dealt == [place for place in places for _ in range(count)], "in turn, or in packets"
    return f"{NUMBERS[count]} at once to {order}, out of a shuffling machine"


def _laid(deals: list[Deal]) -> str:
    up = [str(step.n) for step in deals if step.face is Face.UP]
    if len(up) in (0, len(deals)):
        return f"face {deals[0].face}"
    return f"face down, but card {listed(up)} face up"


def _turned(place: str) -> str:
    return "his hidden cards" if place == DEALER else place_name(place)


def _key(step: Step, game: Game) -> Key:
    match step:
        case Deal():
            return ("deal", "initial" if game.initial_deal(step) else f"{step.place} {step.n}")
        case Turn(place=place):
            return ("turn", place)
        case LayAside(place=place, n=n):
            return ("lay aside", f"{place} {'dealt' if n <= 5 else n}")
        case Window(stage=stage) | Decide(stage=stage):
            return ("window", stage)
        case _:
            return ("window", BETTING)


def _priced(action: str, prices: Mapping[str, str]) -> str:
    """Return the name of an action and what it costs."""
    name = ACTIONS.get(action, action)
    if action == "BET":
        wager = Wager.RAISE if Wager.RAISE in prices else Wager.BET
        return f"{'raise' if wager is Wager.RAISE else name} ({prices[wager]} A)"
    fee = SOLD_AS.get(action)
    by_count = [prices[f"{fee}:{count}"] for count in range(1, 6) if f"{fee}:{count}" in prices]
    if by_count:
        return f"{name} ({', '.join(by_count)} A)"
    return f"{name} ({prices[fee]} A)" if fee is not None and fee in prices else name
