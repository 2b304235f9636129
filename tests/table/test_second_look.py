"""Readers that deal nothing: a second capture and position readers (rows 2, 3, 10, 11 of the procedures)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from random import Random

import msgspec
import pytest
from profiles import profile
from table.dealt import (
    ANNA,
    BLUE,
    BORIS,
    FAILS,
    IN_A_ROUND,
    PLAYS,
    RED,
    SETTINGS,
    Dealt,
    every,
    only,
    refusal,
)
from table.histories import play
from table.invariants import Watcher
from table.played import prompt_of
from table.test_secrecy import swapped, told

from controller.cards import Card, Register
from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import (
    AUDIENCES,
    AUDIT_ONLY,
    CardBurned,
    CardDealt,
    CardWithdrawn,
    Event,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    PositionCorrected,
    ReadCompared,
    Refusal,
    RoundConfirmed,
    Verdict,
    encode_events,
)
from controller.table.picture import draw
from controller.table.second_look import LOOKS_MAX
from controller.table.settings import TableSettings
from controller.table.table import Table

SECOND, PAD = "second", "pad2"
READERS: Mapping[str, str | None] = {SECOND: None, PAD: "box2"}


def settings(house: str = "default", **limits: int) -> TableSettings:
    """A table with a second capture and a reader at box 2."""
    scanners = ("shoe", SECOND, PAD)
    made = profile(house, **limits)
    return msgspec.structs.replace(SETTINGS, scanners=scanners, second_readers=READERS, profile=made)


class Compared(Dealt):
    """A table whose other scanners are there from the start."""

    def plug(self, device: str | None = None) -> tuple[Event, ...]:
        for scanner in READERS:
            self.feed(i.ScannerOpened(at=self.now + 1, scanner=scanner))
        return super().plug(device)

    def look(self, card: str, scanner: str = SECOND, *, code: str | None = None) -> tuple[Event, ...]:
        """Let another reader see a card."""
        code = code or BLUE.code(Card.parse(card))
        key = self._new_key()
        return self.feed(i.CardRead(at=self.now + 1, scanner=scanner, code=code, device_seq=None, key=key))

    def deal_and_look(self, count: int) -> Compared:
        """Deal cards, each of which the second capture sees, and the pad those of box 2."""
        for _ in range(count):
            self.deal(1)
            card = self.table.state.in_play.laid[-1]
            for scanner in (SECOND, PAD) if card.place == "box2" else (SECOND,):
                assert not every(self.look(str(card.card), scanner), IncidentOpened)
        return self


def played(house: str = "default", **limits: int) -> Compared:
    return Compared(settings=settings(house, **limits))


def dealing(house: str = "default", count: int = 4, **limits: int) -> Compared:
    """So many cards lie, and all readers have seen them."""
    d = played(house, **limits)
    d.to_dealing()
    return d.deal_and_look(count)


def opened(d: Dealt) -> tuple[IncidentKind, str | None, int | None]:
    found = only(d.last, IncidentOpened)
    return found.kind, found.place, found.n


def test_what_all_readers_agree_on_needs_nobody() -> None:
    d = dealing(count=20)
    assert d.phase is Phase.DECIDING and not d.table.state.incidents_count
    assert len(every(d.events, ReadCompared)) == 25


def test_a_reader_that_deals_nothing_never_deals() -> None:
    d = played()
    d.to_dealing()
    card = str(d.shoe[0])
    assert [type(event) for event in d.look(card)] == [ReadCompared]
    assert not d.table.state.in_play.laid
    d.deal_and_look(1)
    assert not d.table.state.incidents, "it was a card ahead"


def test_the_event_is_the_same_whatever_was_seen() -> None:
    """Of a hidden card nobody learns anything, and a look is for the back office alone."""
    d = dealing()
    hidden = next(card for card in d.table.state.in_play.laid if not card.open)
    for card in (str(hidden.card), str(d.shoe[0])):
        events = d.look(card)
        assert encode_events(events) == encode_events((ReadCompared(scanner=SECOND),))
    assert ReadCompared.audiences == AUDIT_ONLY


def test_row_3_the_last_card_reads_differently_and_is_scanned_again() -> None:
    d = dealing(count=2)
    truth = str(d.shoe.pop(0))
    d.scan("Qs")
    d.look(truth)
    assert opened(d) == (IncidentKind.DISPUTED_READ, "box3", 1)
    assert only(d.last, CardWithdrawn).n == 1
    d.scan(truth)
    assert only(d.last, CardDealt).place == "box3"
    assert not d.table.state.incidents
    d.deal_and_look(2)


def test_row_3_when_the_other_reader_was_wrong_it_sees_the_card_once_more() -> None:
    d = dealing(count=2)
    truth = str(d.shoe[0])
    d.deal(1)
    d.look("Qs")
    d.scan(truth)
    assert not d.table.state.incidents
    assert [look.code for look in d.table.state.in_play.looks[SECOND]].count(BLUE.code(Card.parse("Qs"))) == 0
    d.look(truth)
    d.deal_and_look(3)


def test_row_3_a_card_that_both_readers_misread_is_the_dealers_to_dispute() -> None:
    d = dealing(count=2)
    truth = str(d.shoe.pop(0))
    d.scan("Qs")
    d.look("Qs")
    d.press(i.DisputeReading())
    d.scan(truth)
    assert not d.table.state.incidents, "what the second capture had seen is gone with the reading"
    d.look(truth)
    d.deal_and_look(2)


def test_row_3_a_later_card_makes_it_a_scan_from_the_first() -> None:
    d = dealing(count=2)
    truth = str(d.shoe.pop(0))
    laid = [str(card.card) for card in d.table.state.in_play.laid]
    d.scan("Qs")
    d.deal(1)
    d.look(truth)
    assert opened(d) == (IncidentKind.DISPUTED_READ, "box3", 1)
    assert prompt_of(d) == "SCAN_FROM_FIRST"
    last = str(d.table.state.in_play.laid[-1].card)
    for card in (*laid, truth, last):
        d.scan(card)
    assert not d.table.state.incidents
    assert [str(card.card) for card in d.table.state.in_play.laid] == [*laid, truth, last]


def test_row_3_a_position_reader_finds_another_card_at_its_place() -> None:
    d = dealing(count=1)
    truth = str(d.shoe.pop(0))
    d.scan("Qs")
    d.look(truth, PAD)
    assert opened(d) == (IncidentKind.DISPUTED_READ, "box2", 1)
    d.scan(truth)
    assert not d.table.state.incidents, "the pad has seen it already"
    assert len(d.table.state.in_play.looks[PAD]) == 1


@pytest.mark.parametrize("code", ["A01", "XYZ"])
def test_a_code_that_is_no_card_of_this_deck_is_a_difference(code: str) -> None:
    d = dealing(count=2).deal(1)
    d.look("", code=code)
    assert opened(d)[0] is IncidentKind.DISPUTED_READ


def test_row_11_a_card_that_was_dealt_elsewhere() -> None:
    d = dealing(count=1)
    card = str(d.table.state.in_play.laid[0].card)
    d.look(card, PAD)
    assert opened(d) == (IncidentKind.WRONG_PLACE, "box1", 1)
    assert prompt_of(d) == "MOVE_CARD", "no later card: the table knows"
    d.answer(True)
    assert only(d.last, PositionCorrected).place == "box1"
    d.deal_and_look(2)
    d.look(card, PAD)
    assert prompt_of(d) == "CALL_SUPERVISOR", "later cards lie: a supervisor re-lays, or cancels"


def test_row_2_a_card_passed_the_dealing_reader_unread() -> None:
    d = dealing(count=4)
    laid = [str(card.card) for card in d.table.state.in_play.laid]
    unread, behind = (str(d.shoe[0]), str(d.shoe[1]))
    assert not every(d.look(unread), IncidentOpened)
    d.look(behind)
    assert opened(d)[0] is IncidentKind.MISREAD_LATE
    d.answer(True)
    for card in laid:
        d.scan(card)
    d.deal(2)
    d.deal_and_look(1)
    assert d.table.state.incidents_count == 1


def test_row_10_a_card_that_only_the_second_capture_saw_is_scanned_to_be_burned() -> None:
    d = at_result()
    d.look(str(d.table.state.in_play.laid[-1].card))
    surplus = str(d.shoe.pop(0))
    d.look(surplus)
    assert opened(d)[0] is IncidentKind.SURPLUS_CARD
    d.answer(False)
    assert prompt_of(d) == "SCAN_TO_BURN"
    d.scan(surplus)
    assert only(d.last, CardBurned)
    assert not d.table.state.incidents


def test_row_10_the_second_look_at_a_surplus_card_asks_nothing_more() -> None:
    d = at_result()
    d.look(str(d.table.state.in_play.laid[-1].card))
    surplus = str(d.shoe[0])
    d.scan()
    d.answer(False)
    assert not every(d.look(surplus), IncidentOpened)


def test_row_23a_a_card_that_came_too_early_lies_there_until_it_is_due() -> None:
    d = dealing(count=20)
    d.look(str(d.shoe[0]))
    assert opened(d)[0] is IncidentKind.EARLY_EXCHANGE
    d.answer(False)
    d.all_decided("options")
    d.deal(1)
    assert not d.table.state.incidents and prompt_of(d) == "DEAL_CARD"


@pytest.mark.parametrize("is_seen", [True, False])
def test_row_7_an_early_card_ends_alike_whichever_reader_it_passes_first(is_seen: bool) -> None:
    ended = []
    for capture_first in (True, False):
        d = played("russian_poker_live")
        d.to_betting()
        card = str(d.shoe[0])
        for step in (d.look, d.scan) if capture_first else (d.scan, d.look):
            step(card)
        d.answer(is_seen)
        if not is_seen and capture_first:
            d.scan(card)
        decided = only(d.events, IncidentDecided)
        ended.append((decided.verdict, decided.cell, d.phase))
    assert ended[0] == ended[1]
    assert ended[0][0] is (Verdict.CANCELLED if is_seen else Verdict.BURNED)


def test_a_card_before_start_is_one_whoever_sees_it() -> None:
    d = played()
    d.to_ready()
    d.look("Qs")
    assert d.phase is Phase.SHUFFLING
    assert refusal(d.look("Ks")) is Refusal.WRONG_PHASE


def test_a_card_after_the_result_is_a_deck_check() -> None:
    d = played()
    d.to_confirmed()
    laid = str(d.table.state.in_play.laid[0].card)
    assert not every(d.look(laid), IncidentOpened) and not d.table.state.deck_suspect
    d.look(str(d.shoe[0]))
    assert d.table.state.deck_suspect


@pytest.mark.parametrize("where", IN_A_ROUND)
def test_a_look_is_taken_in_every_hold_and_judged_after_it(where: str) -> None:
    d = Compared(FAILS, settings=settings())
    IN_A_ROUND[where](d)
    d.unplug()
    assert [type(event) for event in d.look("Qs")] == [ReadCompared]
    Dealt.plug(d)
    d.answer(False)
    early = where == "betting"
    assert opened(d)[0] is (IncidentKind.EARLY_DRAW if early else IncidentKind.DISPUTED_READ)


def test_a_failed_read_of_another_reader_says_nothing() -> None:
    d = dealing()
    for value in (
        i.ReadFailed(at=d.now + 1, scanner=PAD, cause="DAMAGED"),
        i.CardsTogether(at=d.now + 2, scanner=PAD, count=2),
    ):
        assert refusal(d.feed(value)) is Refusal.DEALS_NOTHING
    assert refusal(d.look("Qs", "nobody")) is Refusal.UNKNOWN_SCANNER


def test_a_reader_gone_mad_fills_no_memory() -> None:
    d = dealing()
    for number in range(LOOKS_MAX + 20):
        d.look("", code=f"X{number}")
    assert len(d.table.state.in_play.looks[SECOND]) == LOOKS_MAX
    assert d.table.state.incidents_count == 1


def test_row_30_a_reader_that_deals_nothing_holds_no_round() -> None:
    """No card passes unread without it: what it misses is missing at RESULT; no round opens without it."""
    d = dealing()
    d.feed(i.ScannerLost(at=d.now + 1, scanner=PAD, reason="unplugged"))
    d.feed(i.ScannerRestarted(at=d.now + 1, scanner=SECOND))
    assert not d.table.state.incidents and draw(d.table.state).scanners_down == (PAD,)
    d.deal(2)
    d.unplug()
    d.feed(i.ScannerOpened(at=d.now + 1, scanner=PAD))
    assert prompt_of(d) == "SCANNER_GONE", "the one that deals is still away"
    Dealt.plug(d)
    d.answer(False)
    assert not d.table.state.incidents
    again = played()
    again.to_ready()
    again.feed(i.ScannerLost(at=again.now + 1, scanner=PAD, reason="unplugged"))
    assert refusal(again.press(i.OpenBetting())) is Refusal.SCANNER_DOWN


def test_row_30_another_second_reader_is_accepted_by_the_next_start() -> None:
    d = dealing()
    d.feed(i.ScannerOpened(at=d.now + 1, scanner=SECOND, device="a"))
    d.feed(i.ScannerOpened(at=d.now + 1, scanner=SECOND, device="b"))
    assert only(d.last, IncidentOpened).kind is IncidentKind.OTHER_SCANNER
    assert not d.table.state.incidents and d.table.state.strange_devices == {SECOND: "b"}


# Where a code is on many cards.


def with_copies(count: int) -> Compared:
    """As `dealing`, out of two decks whose codes spell values alone."""
    d = played()
    d.to_dealing()
    d.table.state.register = Register(msgspec.structs.replace(BLUE, copies=2), (RED,))
    return d.deal_and_look(count)


def test_a_value_again_is_another_card() -> None:
    d = with_copies(2)
    first = str(d.table.state.in_play.laid[0].card)
    d.scan(first)
    assert prompt_of(d) == "DEAL_CARD" and len(d.table.state.in_play.laid) == 3
    d.look(first)
    assert [look.met for look in d.table.state.in_play.looks[SECOND]] == [True] * 3
    assert not every(d.look(first), IncidentOpened), "a card ahead: the next one may be another such"
    d.deal(1)
    assert opened(d)[0] is IncidentKind.DISPUTED_READ


def test_a_value_that_the_driver_marks_as_a_repeat_is_the_same_card() -> None:
    d = with_copies(2)
    code = d.table.state.in_play.laid[-1].code
    read = i.CardRead(at=d.now + 1, scanner=SECOND, code=code, device_seq=None, key="", repeat=True)
    d.feed(read)
    assert len(d.table.state.in_play.looks[SECOND]) == 2


def test_a_value_that_lies_elsewhere_may_be_the_card_that_is_due() -> None:
    d = with_copies(1)
    first = str(d.table.state.in_play.laid[0].card)
    assert not every(d.look(first, PAD), IncidentOpened), "box 2 is due, and has one of its own"
    d.scan(first)
    d.deal(1)
    assert not d.table.state.incidents
    d.look(str(d.table.state.in_play.laid[-1].card), PAD)
    assert opened(d) == (IncidentKind.WRONG_PLACE, "box3", 1)


# What must agree.


def at_result(**limits: int) -> Compared:
    """The result is proposed; the second capture has not seen the last card, the pad none of its five."""
    d = played("russian_poker_live", **limits)
    d.to_result()
    for card in d.table.state.in_play.laid[:-1]:
        d.look(str(card.card))
    return d


def test_by_default_nothing_must_agree() -> None:
    d = at_result()
    assert prompt_of(d) == "CONFIRM_RESULT"
    d.press(i.ConfirmResult())
    assert only(d.last, RoundConfirmed)


def test_the_result_waits_until_the_second_capture_has_seen_every_card() -> None:
    d = at_result(second_capture_agrees=True)
    last = d.table.state.in_play.laid[-1]
    prompt = draw(d.table.state).prompt
    assert (prompt.code, prompt.place, prompt.n) == ("SHOW_CARD", last.place, last.n)
    assert refusal(d.press(i.ConfirmResult())) is Refusal.NOT_SEEN_AGAIN
    d.look(str(last.card))
    assert prompt_of(d) == "CONFIRM_RESULT"
    d.press(i.ConfirmResult())
    assert only(d.last, RoundConfirmed)


def test_the_result_waits_for_the_reader_of_a_place() -> None:
    d = at_result(position_readers_agree=True)
    for card in d.table.state.in_play.at_place("box2"):
        prompt = draw(d.table.state).prompt
        assert (prompt.code, prompt.place, prompt.n) == ("SHOW_CARD", "box2", card.n)
        d.look(str(card.card), PAD)
    assert prompt_of(d) == "CONFIRM_RESULT"


def test_a_supervisor_may_confirm_without_and_it_is_on_record() -> None:
    d = at_result(second_capture_agrees=True)
    d.press(i.ConfirmResult(), BORIS)
    assert only(d.last, IncidentOpened).kind is IncidentKind.NOT_SEEN_AGAIN
    decided = only(d.last, IncidentDecided)
    assert (decided.verdict, decided.by, decided.cell) == (Verdict.WENT_ON, BORIS, "3 unseen")
    assert only(d.last, RoundConfirmed)


def entered_by_two() -> Compared:
    """No reader could read the first switch card: two people have entered it."""
    d = dealing("russian_poker_live", second_capture_agrees=True, count=20)
    d.all_decided("options")
    for _ in range(4):
        d.fail()
    d.press(i.OrderEntry(), BORIS)
    incident = d.table.state.incident
    assert incident is not None
    card = str(d.shoe.pop(0))
    for actor in (ANNA, BORIS):
        d.press(i.EnterCard(incident.number, card), actor)
    assert only(d.last, CardDealt).manual
    return d


def test_a_card_that_two_people_entered_needs_no_second_reader() -> None:
    d = entered_by_two().deal_and_look(4)
    d.all_decided("final_options")
    d.turn()
    assert prompt_of(d) == "CONFIRM_RESULT"


def test_a_look_at_the_next_card_disputes_none_that_two_people_entered() -> None:
    d = entered_by_two()
    d.look(str(d.shoe[0]))
    d.deal(1)
    assert d.table.state.incidents_count == 1, "the second capture was a card ahead"
    truth = str(d.shoe.pop(0))
    d.scan("Qs")
    d.look(truth)
    assert opened(d) == (IncidentKind.DISPUTED_READ, "switch", 3)


# What survives.


def test_the_inputs_bring_every_look_back() -> None:
    d = dealing(count=6)
    d.look(str(d.shoe[0]))
    again = Table(d.settings, d.game, BLUE)
    for value in d.inputs:
        again.step(value)
    assert repr(again.state.in_play.looks) == repr(d.table.state.in_play.looks)
    assert len(again.state.in_play.looks[SECOND]) == 7


def test_a_look_that_was_never_taken_is_judged_after_the_restart() -> None:
    d = dealing(count=2)
    truth = str(d.shoe.pop(0))
    d.scan("Qs")
    d.start(untaken=(i.UntakenRead(SECOND, BLUE.code(Card.parse(truth))),))
    d.plug()
    d.confirm_picture()
    d.answer(False)
    assert opened(d) == (IncidentKind.DISPUTED_READ, "box3", 1)


def test_a_redeal_begins_with_nothing_seen() -> None:
    d = dealing("oasis_with_bonus", count=4)
    d.press(i.Observed(IncidentKind.WRONG_NUMBER_OF_CARDS, "box1"))
    d.press(i.OrderRedeal(), BORIS)
    d.press(i.ConfirmShuffle())
    d.shoe = list(BLUE.cards.values())
    d.deal_and_look(4)
    assert d.table.state.incidents_count == 1


# Any history.


class Crowded(Compared):
    """A table at which the other readers look at most cards, now and then at another one, or late."""

    def __init__(self, seed: int) -> None:
        super().__init__(
            FAILS if seed % 2 else PLAYS,
            settings=settings("russian_poker_live", second_capture_agrees=True, breaker_cases=1_000),
        )
        self.random = Random(seed)
        self.late: list[str] = []

    def feed(self, value: i.AnyInput) -> tuple[Event, ...]:
        """After a read of the shoe come the looks."""
        events = super().feed(value)
        if isinstance(value, i.CardRead) and value.scanner == "shoe":
            self._look_after(value.code)
        return events

    def _look_after(self, code: str) -> None:
        current = self.table.state.round
        if self.random.random() < 0.02:
            return  # The other readers miss it.
        self.late.append(self.random.choice(list(BLUE.cards)) if self.random.random() < 0.02 else code)
        while self.late and self.random.random() < 0.9:
            seen = self.late.pop(0)
            self.look("", SECOND, code=seen)
            is_here = current is not None and any(card.code == seen for card in current.at_place("box2"))
            if is_here or self.random.random() < 0.02:
                self.look("", PAD, code=seen)


@pytest.mark.parametrize("seed", range(6))
def test_the_invariants_hold_whatever_the_readers_see(seed: int) -> None:
    d = Crowded(seed)
    play(d, seed, 400, Watcher().check)
    again = Table(d.settings, d.game, BLUE, (RED,))
    for value, events in zip(d.inputs, d.steps, strict=True):
        assert encode_events(again.step(i.decode_input(i.encode_input(value)))) == encode_events(events)


def test_such_histories_reach_what_readers_notice() -> None:
    """The proof that the histories above are worth something."""
    kinds: Counter[IncidentKind] = Counter()
    results = 0
    for seed in range(8):
        d = Crowded(seed)
        play(d, seed, 400, lambda _: None)
        for events in d.steps:
            if every(events, ReadCompared):
                kinds.update(opened.kind for opened in every(events, IncidentOpened))
        kinds.update(one.kind for one in every(d.events, IncidentOpened) if one.cell == "3 unseen")
        results += len(every(d.events, RoundConfirmed))
    wanted = {IncidentKind.DISPUTED_READ, IncidentKind.WRONG_PLACE, IncidentKind.NOT_SEEN_AGAIN}
    assert wanted <= kinds.keys() and results >= 5, (kinds, results)


@pytest.mark.parametrize(("place", "n"), [("box1", 2), ("box3", 5), ("dealer", 1), ("switch", 3)])
@pytest.mark.parametrize("is_seen", [True, False])
def test_nobody_learns_a_hidden_card_from_a_second_look(place: str, n: int, is_seen: bool) -> None:
    """Two rounds that differ in one hidden card are told alike, whether the readers have seen it or not."""

    def run(hands: dict[str, str]) -> list[bytes]:
        d = Compared(hands, settings=settings("russian_poker_live", second_capture_agrees=True))
        pictures: list[bytes] = []
        d.to_dealing()
        for window, count in (("options", 20), ("final_options", 5)):
            for _ in range(count):
                d.deal(1)
                laid = d.table.state.in_play.laid[-1]
                if is_seen or (laid.place, laid.n) != (place, n):
                    d.look(str(laid.card))
                pictures.append(msgspec.json.encode(draw(d.table.state)))
            d.all_decided(window)
        steps = [told(d, events, audience, place=place) for events in d.steps for audience in AUDIENCES]
        return [*pictures, *steps]

    assert run(FAILS) == run(swapped(place, n, "2s"))
