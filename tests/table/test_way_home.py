"""No dead end: from wherever a random history of any game has led, what the table asks for leads home.

Home is the deck that is to be shuffled or verified, with no round open. In each situation every answer to a
question and every press that a supervisor is offered is tried.

TABLECTL_SOAK=1: more and longer histories.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from random import Random

import pytest
from games.driver import POKER
from msgspec.structs import replace
from profiles import profile
from table.dealt import BETS, BORIS, SETTINGS, Dealt, only, refusal
from table.following import OFF_ROUND, Chooser, Follower, ways
from table.histories import ANYTHING
from table.invariants import Watcher
from table.shapes import game_of, settings_of

from controller.cards import DECK, Card, parse_cards
from controller.games.procedure import BoxState, Decision, WindowAnswer
from controller.table import inputs as i
from controller.table.charts import IncidentState, Phase
from controller.table.events import (
    CardBurned,
    CardDealt,
    IncidentAsked,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    Refusal,
    RoundCancelled,
    Verdict,
)
from controller.table.inputs import CancelReason
from controller.table.interruptions import is_other_program
from controller.table.observations import reportable
from controller.table.picture import draw
from controller.table.state import TableState

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
SEEDS = range(30 if SOAK else 1)
STEPS = 3_000 if SOAK else 1_200
WAYS_MAX = 200 if SOAK else 12
"""Nested incidents multiply their ways."""


class Chance(Random):
    """Takes any way."""

    choose = Random.choice


class Crowd(Follower):
    """People who mostly do what is asked, at a table whose players and shoe are left to chance."""

    def __init__(self, d: Dealt, chooser: Chooser, random: Random) -> None:
        super().__init__(d, chooser, scan=self._scan, shuffle=self._shuffle)
        self.random = random
        self._shuffle()

    def _shuffle(self) -> None:
        random, boxes = self.random, self.d.game.boxes
        self.d.shoe = random.sample(DECK, len(DECK))
        self.states = {box: random.choice((*BoxState, BoxState.OPEN)) for box in boxes}
        options = [Decision(action) for action in ("BET", "FOLD", "SIXTH_CARD", None)]
        options += [Decision("EXCHANGE", tuple(range(1, count + 1))) for count in (1, 2, 5)]
        known = [one for one in options if one.action in (None, *getattr(self.d.game, "actions", ()))]
        final = options[:2]
        self.decisions = {
            **{("options", box): random.choice(known) for box in boxes},
            **{("final_options", box): random.choice(final) for box in boxes},
        }
        told = [random.choice((True, False, None)) for _ in range(3)]
        self.answers = {stage: WindowAnswer(*told) for stage in self.d.settings.windows_ms}

    def _scan(self) -> None:
        """Scan the next card that the table does not know; with none left the round can't be finished."""
        t = self.d.table.state
        asked_about = [incident.read.card for incident in t.incidents if incident.read is not None]
        while self.d.shoe and (_is_out(t, self.d.shoe[0]) or self.d.shoe[0] in asked_about):
            self.d.shoe.pop(0)
        if self.d.shoe:
            self.d.scan()
        else:
            self.d.press(i.Observed(IncidentKind.DEVICE_FAILED))


def _is_out(t: TableState, card: Card) -> bool:
    return not isinstance(t.register.check(t.register.deck.code(card)), Card)


def situation(t: TableState) -> tuple[object, ...]:
    """Return what a situation is: phase, what is owed, and every open incident with its cell."""
    current = t.round
    open_ones = tuple((x.kind, x.state, x.cell, x.again is None, x.reported_by is None) for x in t.incidents)
    if current is None:
        return t.phase, open_ones
    window = current.window
    waits = window is not None and (window.is_open, window.settled, window.interrupted)
    return t.phase, open_ones, type(current.run.owed), waits, bool(current.held), is_other_program(t)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", POKER)
def test_what_the_table_asks_for_leads_home_from_every_situation(name: str, seed: int) -> None:
    seen: set[object] = set()
    for at, (d, boundary, record) in enumerate(history(name, seed)):
        key = situation(d.table.state)
        if key in seen:
            continue
        seen.add(key)
        for number, forks in enumerate(islice(ways(), WAYS_MAX)):
            again = Dealt(game=d.game, settings=d.settings)
            if record is not None:
                again.table.restore(record)
            again.requests, again.keys, again.now = 100_000, 100_000, again.table.state.now or again.now
            for value in d.inputs[boundary:]:
                again.feed(value)
            assert situation(again.table.state) == key
            people = Crowd(again, forks, Random(at + number))
            assert people.home() in OFF_ROUND


def history(name: str, seed: int) -> Iterator[tuple[Dealt, int, bytes | None]]:
    """Play a random history; yield the table after each input, with the last boundary and its record."""
    d = Dealt(game=game_of(name), settings=settings_of(name))
    random = Chance(seed)
    people = Crowd(d, random, random)
    d.start()
    d.plug()
    boundary, record = 0, None
    watcher = Watcher()
    while len(d.inputs) < STEPS:
        before = len(d.inputs)
        if random.random() < 0.75:
            people.act()
        else:
            random.choice(ANYTHING)(d, random)
        watcher.check(d)
        if d.table.carried() is not None:
            boundary, record = len(d.inputs), d.table.carried()
        if len(d.inputs) > before:
            yield d, boundary, record


# What random ways have found, kept as single cases.


def test_a_reading_that_was_disputed_and_could_not_be_repeated_stands_when_the_report_is_withdrawn() -> None:
    d = dealing("caribbean_poker").deal(5)
    first = d.table.state.in_play.laid[-1]
    d.press(i.DisputeReading())
    d.fail()
    assert refusal(d.press(i.WithdrawReport(), BORIS)) is None
    again = only(d.last, CardDealt)
    assert (again.place, again.n, again.reading) == (first.place, first.n, 2)
    d.scan(code=first.code)
    assert only(d.last, IncidentOpened).kind is IncidentKind.SAME_CODE_AGAIN


def test_row_2_before_the_first_card_lies_there_is_nothing_to_scan_again() -> None:
    d = dealing("caribbean_poker")
    d.press(i.Observed(IncidentKind.MISREAD_LATE))
    d.answer(True)
    assert only(d.last, IncidentDecided).verdict is Verdict.RESCANNED
    d.deal(1)


def test_row_10_a_card_after_the_result_is_surplus_also_before_the_guard_is_over() -> None:
    d = dealing("royal_poker", first="2c Ac 2d Kd 7h 9h 9s 8c Jc 7d").deal(10)
    d.advance(d.settings.windows_ms["options"] + d.settings.grace_ms)
    d.press(i.TurnCards("dealer"))
    assert d.phase is Phase.RESULT_PROPOSED and d.now < d.table.state.in_play.free_at
    d.scan()
    assert only(d.last, IncidentOpened).kind is IncidentKind.SURPLUS_CARD


def test_row_3_a_lost_order_begins_the_re_scan_of_all_cards_anew() -> None:
    d = dealing("caribbean_poker").deal(6)
    codes = [laid.code for laid in d.table.state.in_play.laid]
    d.press(i.Observed(IncidentKind.MISREAD_LATE))
    d.answer(True)
    for code in (codes[0], codes[2]):
        d.scan(code=code)
    assert refusal(d.scan(code=codes[0])) is Refusal.ALREADY_READ
    d.scan(code=codes[2])
    assert only(d.last, IncidentAsked).n == 1
    for code in codes:
        d.scan(code=code)
    assert only(d.last, IncidentDecided).verdict is Verdict.RESCANNED
    assert [laid.code for laid in d.table.state.in_play.laid] == codes


def test_row_3_a_window_that_ends_while_the_supervisor_thinks_leaves_the_card_to_be_scanned_again() -> None:
    d = Dealt(settings=replace(SETTINGS, profile=profile("default"))).to_dealing()
    d.fail()
    d.deal(20)
    last = d.table.state.in_play.laid[-1]
    d.press(i.DisputeReading())
    d.advance(16_000)
    assert refusal(d.press(i.OrderRescan(), BORIS)) is None
    d.scan(code=last.code)
    assert only(d.last, IncidentDecided).verdict is Verdict.RESCANNED


def test_row_23_no_box_is_offered_to_be_voided_when_none_is_left() -> None:
    d = dealing("royal_poker").deal(10)
    for left in (True, False):
        d.press(i.Observed(IncidentKind.WRONG_NUMBER_OF_CARDS, "box1"))
        assert ("void_box" in draw(d.table.state).buttons) is left
        d.press(i.VoidBox("box1"), BORIS)


def early_and_seen() -> Dealt:
    """A card for box 1 has come out before it has decided, and its face has been seen."""
    d = dealing("oasis_poker").deal(20)
    d.scan()
    assert only(d.last, IncidentOpened).kind is IncidentKind.EARLY_EXCHANGE
    d.answer(True)
    return d


def test_row_23a_an_early_card_that_was_seen_is_burned_when_its_box_is_voided() -> None:
    d = early_and_seen()
    out = d.table.state.register.out_count
    d.press(i.VoidBox("box1"), BORIS)
    assert only(d.last, CardBurned).reason == IncidentKind.EARLY_EXCHANGE
    assert d.table.state.register.out_count == out + 1


def test_a_card_that_people_are_asked_about_is_opened_when_a_supervisor_cancels() -> None:
    d = early_and_seen()
    d.press(i.ConfirmCancel(), BORIS)
    opened = only(d.last, RoundCancelled).opened
    assert [card.card for card in opened if card.place == "burn"] == [str(DECK[20])]


def test_a_card_that_people_are_asked_about_is_laid_nowhere_by_a_re_scan_of_all_cards() -> None:
    d = dealing("caribbean_poker").deal(20)
    codes = [laid.code for laid in d.table.state.in_play.laid]
    d.scan()
    asked_about = d.inputs[-1]
    assert isinstance(asked_about, i.CardRead)
    d.press(i.Observed(IncidentKind.MISREAD_LATE), BORIS)
    d.answer(True)
    for code in (*codes[:-1], asked_about.code):
        d.scan(code=code)
    assert only(d.last, RoundCancelled).reason is CancelReason.WRONG_READING


def test_oab_24_in_the_shuffle_of_a_redeal_nothing_is_reported_that_needs_a_card() -> None:
    d = dealing("oasis_with_bonus").deal(3)
    d.press(i.Observed(IncidentKind.WRONG_NUMBER_OF_CARDS, "box1"))
    d.press(i.OrderRedeal(), BORIS)
    assert refusal(d.press(i.Observed(IncidentKind.MISREAD_LATE, "box1"))) is Refusal.NOT_OFFERED
    for kind in reportable(d.table.state):
        d.press(i.Observed(IncidentKind(kind), "box1"))
        incident = d.table.state.incident
        assert incident is None or incident.state is IncidentState.SUPERVISOR, kind
        if incident is not None:
            assert refusal(d.press(i.WithdrawReport(), BORIS)) is None


def dealing(name: str, first: str = "") -> Dealt:
    """Return a table of this game whose boxes are all open; card 1 is owed."""
    d = Dealt(game=game_of(name), settings=settings_of(name))
    stacked = parse_cards(first) if first else ()
    d.shoe = [*stacked, *(card for card in DECK if card not in stacked)]
    d.to_betting()
    d.press(i.CloseBetting())
    d.press(i.BetsTaken(dict.fromkeys(d.game.boxes, BoxState.OPEN)), BETS)
    return d
