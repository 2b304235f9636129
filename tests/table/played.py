"""Whole rounds at the table, prompt by prompt, with a set of cards that may not be what it should be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random

import msgspec
from profiles import profile
from table.dealt import ANNA, BLUE, BORIS, FAILS, RED, SETTINGS, Dealt, every

from controller.cards import DECK, Card
from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import Event, RoundsSuspect, ShoeEnd
from controller.table.picture import draw

COUNTED = ("COUNT_STUB", "COUNT_AGAIN")


class Played(Dealt):
    """A table whose cards are `cards`: those that really lie in the shoe."""

    def __init__(self, seed: int = 1, *, count_every: int = 5, cards: Sequence[Card] = DECK) -> None:
        shipped = profile("russian_poker_live", count_every_rounds=count_every, breaker_cases=1_000)
        super().__init__(FAILS, settings=msgspec.structs.replace(SETTINGS, profile=shipped))
        self.random = Random(seed)
        self.cards = list(cards)
        self.start()
        self.plug()
        self.press(i.OpenTable())

    def scan_set(self, codes: Sequence[str]) -> Played:
        """Scan a set in, card by card; stop when it is turned away."""
        before = self.incidents_count
        for code in codes:
            self.scan(code=code)
            if self.incidents_count > before:
                break
        return self

    @property
    def incidents_count(self) -> int:
        return self.table.state.incidents_count

    def codes(self) -> list[str]:
        """Return the codes of the set in a random order."""
        return [BLUE.code(card) for card in self.random.sample(self.cards, len(self.cards))]

    def shuffle(self) -> None:
        """Shuffle, cut and lay the deck in the shoe."""
        self.shoe = self.random.sample(self.cards, len(self.cards))
        self.press(i.ConfirmShuffle())

    def until(self, done: Callable[[str], bool]) -> Played:
        """Do what the prompts say until one of them is what is waited for."""
        for _ in range(200):
            prompt = draw(self.table.state).prompt
            if done(prompt.code):
                return self
            self._do(prompt.code, prompt.place)
        raise AssertionError(f"stuck at {draw(self.table.state).prompt}")

    def round(self) -> Played:
        """Play the open round, or the next one, until its cards are collected or a count is due."""
        t = self.table.state
        last = t.round_no if t.round is not None else t.round_no + 1
        return self.until(lambda code: code in COUNTED or (t.round is None and t.round_no == last))

    def rounds(self, count: int) -> Played:
        for _ in range(count):
            self.round()
        return self

    def count(self, actor: str = ANNA) -> Played:
        """Count what really is not out, and go on."""
        out = self.table.state.register.out_count if self.table.state.round is not None else 0
        self.press(i.CountStub(len(self.cards) - out), actor)
        return self

    def counted_by_both(self) -> Played:
        return self.count().count(BORIS)

    def _do(self, code: str, place: str | None) -> None:
        match code:
            case "SHUFFLE":
                self.shuffle()
            case "START":
                self.press(i.OpenBetting())
            case "PLACE_BETS":
                self.press(i.CloseBetting())
                self.bets()
            case "DEAL_CARD":
                self.scan()
            case "WAIT_FOR_PLAYERS":
                window = self.table.state.in_play.window
                assert window is not None
                self.all_decided(window.window)
            case "TURN":
                self.press(i.TurnCards(place or ""))
            case "LAY_ASIDE":
                self.press(i.LayCardAside())
            case "CONFIRM_RESULT":
                self.press(i.ConfirmResult())
            case "CLEAR_TABLE":
                self.press(i.ClearTable())
            case _:
                raise AssertionError(code)


def loaded(seed: int = 1, *, count_every: int = 5) -> Played:
    """Return a table with a whole deck, scanned in and verified."""
    d = Played(seed, count_every=count_every)
    d.scan_set(d.codes()).press(i.VerifyDeck(52))
    assert d.phase is Phase.SHUFFLING
    return d


def prompt_of(d: Dealt) -> str:
    return draw(d.table.state).prompt.code


def suspects(events: Iterable[Event]) -> list[tuple[int, int, ShoeEnd]]:
    return [(event.first_round, event.last_round, event.reason) for event in every(events, RoundsSuspect)]


BadSet = Callable[[list[str], Random], list[str]]


def missing_card(codes: list[str], random: Random) -> list[str]:
    codes.pop(random.randrange(52))
    return codes


def extra_card(codes: list[str], random: Random) -> list[str]:
    codes.insert(random.randrange(1, 53), random.choice(codes))
    return codes


def foreign_card(codes: list[str], random: Random) -> list[str]:
    codes[random.randrange(52)] = RED.code(random.choice(DECK))
    return codes


def doubled_card(codes: list[str], random: Random) -> list[str]:
    """One card twice, and so another not at all: the count is right."""
    codes[random.randrange(52)] = random.choice(codes)
    return codes if len(set(codes)) < 52 else doubled_card(codes, random)
