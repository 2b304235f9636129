"""A second capture beside a shoe of eight decks, whose codes spell values: baccarat."""

from __future__ import annotations

import msgspec
from games.driver import BACCARAT
from profiles import profile
from table.dealt import only, refusal
from table.played import prompt_of
from table.shoe_dealt import CUTTING_CARD, SHOE8, SHOE_SETTINGS, ShoeDealt

from controller.cards import Card
from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import (
    Event,
    IncidentKind,
    IncidentOpened,
    ReadCompared,
    Refusal,
    RoundConfirmed,
)
from controller.table.second_look import unseen_card

SECOND = "second"
SETTINGS = msgspec.structs.replace(
    SHOE_SETTINGS,
    scanners=("shoe", SECOND),
    second_readers={SECOND: None},
    profile=profile(BACCARAT, order_run=400, second_capture_agrees=True),
)


class Looking(ShoeDealt):
    """Every card that the shoe's reader takes passes the second capture, too, while `looks` is set."""

    looks = True

    def plug(self, device: str | None = None) -> tuple[Event, ...]:
        self.feed(i.ScannerOpened(at=self.now + 1, scanner=SECOND))
        return super().plug(device)

    def feed(self, value: i.AnyInput) -> tuple[Event, ...]:
        events = super().feed(value)
        if self.looks and isinstance(value, i.CardRead) and value.scanner == "shoe":
            super().feed(msgspec.structs.replace(value, at=self.now + 1, scanner=SECOND))
        return events

    def look(self, code: str) -> tuple[Event, ...]:
        return super().feed(i.CardRead(at=self.now + 1, scanner=SECOND, code=code, device_seq=None, key=""))


def ready() -> Looking:
    d = Looking(settings=SETTINGS)
    d.to_ready()
    return d


def test_coups_of_a_shoe_that_both_readers_see_alike() -> None:
    """Values come again and again, first cards are burned; nobody is asked anything."""
    d = ready()
    for _ in range(4):
        d.coup()
        d.press(i.ConfirmResult())
        assert only(d.last, RoundConfirmed)
        d.press(i.ClearTable())
    assert d.table.state.incidents_count == 0


def test_a_value_that_came_before_in_the_coup_is_compared_in_its_turn() -> None:
    d = ready()
    d.to_burned()
    d.scan("9c")
    d.looks = False
    d.scan("9d")
    d.look(SHOE8.code(Card.parse("9c")))
    opened = only(d.last, IncidentOpened)
    assert (opened.kind, opened.place, opened.n) == (IncidentKind.DISPUTED_READ, "banker", 1)
    d.scan("9c")
    assert not d.table.state.incidents, "two nines of clubs, and the second capture has seen both"


def test_row_3_a_card_that_is_scanned_again_passes_both_readers_again() -> None:
    """Values come again in a shoe; yet after a re-scan the same one is the same card."""
    d = ready()
    d.to_burned()
    d.looks = False
    d.scan("9d")
    d.look(SHOE8.code(Card.parse("9c")))
    assert only(d.last, IncidentOpened).kind is IncidentKind.DISPUTED_READ
    d.looks = True
    d.scan("9c")
    d.scan("4s")
    assert not d.table.state.incidents and d.table.state.incidents_count == 1
    d.scan("9c")
    assert not d.table.state.incidents and unseen_card(d.table.state) is None


def test_row_2_cards_that_passed_unread_are_seen_anew_with_all_others() -> None:
    d = ready()
    d.to_burned()
    d.scan("9c")
    d.looks = False
    for card in ("4s", "Kd"):
        d.look(SHOE8.code(Card.parse(card)))
    assert only(d.last, IncidentOpened).kind is IncidentKind.MISREAD_LATE
    d.answer(True)
    d.looks = True
    for card in ("9c", "4s", "Kd"):
        d.scan(card)
    assert not d.table.state.incidents and d.table.state.incidents_count == 1
    assert [str(card.card) for card in d.table.state.in_play.laid] == ["9c", "4s", "Kd"]
    assert unseen_card(d.table.state) is None


def test_the_cutting_card_is_no_card_to_a_second_capture() -> None:
    d = ready()
    d.to_burned()
    assert refusal(d.look(CUTTING_CARD)) is Refusal.DEALS_NOTHING
    d.cutting_card()
    assert d.table.state.shoe.last_round is not None and not d.table.state.incidents


def test_a_shoes_opinion_comes_from_the_reader_that_deals() -> None:
    d = ready()
    d.coup()
    said = i.ShoeResulted(at=d.now + 1, scanner=SECOND, winner="TIE", player_pair=False, banker_pair=False)
    assert refusal(d.feed(said)) is Refusal.DEALS_NOTHING


def test_row_10_a_card_that_waits_for_the_next_coup_is_asked_about_once() -> None:
    d = ready()
    d.coup()
    d.looks = False
    d.scan("Kd")
    d.answer(False)
    assert [str(card.read.card) for card in d.table.state.shoe.kept] == ["Kd"]
    code = SHOE8.code(Card.parse("Kd"))
    assert [type(event) for event in d.look(code)] == [ReadCompared]
    d.press(i.ConfirmResult())
    d.press(i.ClearTable())
    assert [type(event) for event in d.look(code)] == [ReadCompared]
    d.press(i.OpenBetting())
    d.press(i.CloseBetting())
    d.bets()
    assert [str(card.card) for card in d.table.state.in_play.laid] == ["Kd"]
    assert d.phase is Phase.DEALING and prompt_of(d) == "DEAL_CARD"
