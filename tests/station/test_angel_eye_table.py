"""Baccarat out of an Angel Eye shoe: its bytes through a station, with the table file that is shipped."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from station.coup_table import REAL_COUPS, CoupTable, real_coups, write_config

from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import Audience, IncidentKind, Refusal
from drivers.angel_eye import UNKNOWN_FACE
from simulators.devices.angel_eye import BANKER, AngelEyeShoe

SUITS = {"D": 0x90, "C": 0xA0, "S": 0xB0, "H": 0xC0}
NATURAL = (0x98, 0xA1, 0xB1, 0xCA)
"""8 of diamonds and ace of spades for Player: nine; aces and tens for Banker."""
SURPLUS = 0xC5


class Table(CoupTable):
    """A station, its people, and an Angel Eye shoe on its line; a seed cuts and merges what that sends."""

    def __init__(
        self, folder: Path, *, burns: bool = False, stand_by_needed: bool = False, seed: int | None = None
    ) -> None:
        name = "baccarat_angel_eye"
        path = write_config(folder, name, burns=burns, stand_by_needed=stand_by_needed)
        super().__init__(path, "angel_eye")
        self._unread = b""
        self._cuts = random.Random(seed) if seed is not None else None
        self.eye = AngelEyeShoe(self._hear)
        self.say()

    def _hear(self, data: bytes) -> None:
        self._unread += data

    def say(self) -> None:
        """The shoe sends all that it has to say, each frame three times."""
        self.eye.run()
        while self._unread:
            size = self._cuts.randint(1, 40) if self._cuts is not None else len(self._unread)
            piece, self._unread = self._unread[:size], self._unread[size:]
            self.chunk(piece)

    def open_coup(self, *, stands_by: bool = True) -> None:
        """START to the end of betting time."""
        self.open_bets()
        self.eye.stand_by(says_so=stands_by)
        self.say()

    def draw(self, *cards: int) -> None:
        """Cards leave the shoe, two seconds apart."""
        for card in cards:
            self.eye.draw(card)
            self.say()
            self.wait(2_000)

    def outside(self, card: int, *, ended: bool = False) -> None:
        """A card leaves the shoe while it waits for no card; or is back."""
        (self.eye.end_outside if ended else self.eye.draw_outside)(card)
        self.say()


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    """A table before its first coup; nothing is burned."""
    made = Table(tmp_path)
    yield made
    made.stop()


DEALT = [("player", 1, "8d"), ("banker", 1, "Ac"), ("player", 2, "As"), ("banker", 2, "Th")]


def test_a_coup(table: Table) -> None:
    table.open_coup()
    table.draw(*NATURAL)
    table.end_coup()
    assert table.dealt() == DEALT and table.winners() == ["PLAYER"]
    assert [data["agrees"] for data in table.told("shoe.judged", Audience.AUDIT)] == [True]
    assert all(answer.accepted for answer in table.answers)


def test_the_first_cards_of_a_shoe_are_drawn_outside_a_coup_and_burned(tmp_path: Path) -> None:
    table = Table(tmp_path, burns=True)
    table.open_coup()
    table.outside(0x91)  # The ace says that one more is burned.
    table.outside(SURPLUS)
    assert [data.get("card") for data in table.told("card.burned")] == ["Ad", None]
    table.draw(*NATURAL)
    table.end_coup()
    assert table.dealt() == DEALT and table.winners() == ["PLAYER"]
    table.stop()


def test_a_result_that_differs_waits_for_a_supervisor(table: Table) -> None:
    class Lying(AngelEyeShoe):
        def _result(self) -> int:
            return BANKER

    table.eye = Lying(table._hear)
    table.open_coup()
    table.draw(*NATURAL)
    assert table.asked is IncidentKind.SHOE_DISAGREES
    assert table.refused(i.ConfirmResult()) is Refusal.HELD
    assert table.refused(i.GoOn()) is Refusal.WRONG_ROLE
    table.send(i.GoOn(), "boris")
    table.end_coup()
    assert table.winners() == ["PLAYER"]


def test_an_overdraw_holds_and_opens_the_next_coup(table: Table) -> None:
    table.open_coup()
    table.draw(*NATURAL, SURPLUS)
    assert table.asked is IncidentKind.SURPLUS_CARD
    assert table.refused(i.ConfirmResult()) is Refusal.HELD
    table.answer(False)
    table.end_coup()
    table.open_coup()  # The shoe says again that it was drawn, and reads it.
    table.draw(*NATURAL[1:], 0x91)
    table.end_coup()
    assert table.dealt()[:5] == [*DEALT, ("player", 1, "5h")]
    assert len(table.winners()) == 2 and table.asked is None


def test_a_power_up_in_mid_deal_holds(table: Table) -> None:
    table.open_coup()
    table.draw(*NATURAL[:2])
    table.eye.power_up()
    table.say()
    assert table.asked is IncidentKind.SCANNER_LOST
    table.draw(NATURAL[2])
    assert table.dealt() == DEALT[:2] and table.phase is Phase.DEALING


def test_a_shoe_that_stands_by_anew_in_mid_deal_is_followed_by_the_order_of_drawing(table: Table) -> None:
    """Its places begin at P1 again, and of its own count the coup is not over."""
    table.open_coup()
    table.draw(*NATURAL[:2])
    table.eye.power_up()
    table.eye.stand_by()
    table.say()
    table.answer(False)
    table.draw(*NATURAL[2:])
    table.end_coup()
    assert table.dealt() == DEALT and table.winners() == ["PLAYER"]
    assert not table.told("shoe.judged", Audience.AUDIT)
    table.open_coup()
    table.draw(*NATURAL)
    assert [data["agrees"] for data in table.told("shoe.judged", Audience.AUDIT)] == [True]


def test_a_result_of_the_last_coup_that_comes_late_is_none_of_this_one(table: Table) -> None:
    table.open_coup()
    table.draw(*NATURAL)
    table.end_coup()
    table.open_bets()
    table.eye._say("G", BANKER)
    table.say()
    table.eye.stand_by(says_so=False)
    table.draw(*NATURAL)
    assert table.asked is None and table.phase is Phase.RESULT_PROPOSED


def test_by_setting_no_coup_begins_without_stand_by(tmp_path: Path) -> None:
    table = Table(tmp_path, stand_by_needed=True)
    assert table.refused(i.OpenBetting()) is Refusal.SHOE_NOT_READY
    table.eye.stand_by()
    table.say()
    assert table.refused(i.OpenBetting()) is None
    table.stop()


def test_by_default_a_coup_without_stand_by_is_a_coup(table: Table) -> None:
    table.open_coup(stands_by=False)
    table.draw(*NATURAL)
    table.end_coup()
    assert table.winners() == ["PLAYER"]


# Cards outside a coup (rows 7 and 10).


@pytest.mark.parametrize("card", [SURPLUS, UNKNOWN_FACE], ids=["seen by the shoe", "unseen"])
@pytest.mark.parametrize(
    ("when", "kind"),
    [
        ("ready", IncidentKind.EARLY_DRAW),
        ("betting", IncidentKind.EARLY_DRAW),
        ("dealing", IncidentKind.SURPLUS_CARD),
        ("proposed", IncidentKind.SURPLUS_CARD),
        ("confirmed", IncidentKind.SURPLUS_CARD),
    ],
)
def test_a_card_outside_a_coup_is_a_case_and_the_first_of_the_next(
    table: Table, when: str, kind: IncidentKind, card: int
) -> None:
    if when == "betting":
        table.send(i.OpenBetting())
    elif when != "ready":
        table.open_coup()
        table.draw(*NATURAL[: 2 if when == "dealing" else 4])
    if when == "confirmed":
        table.send(i.ConfirmResult())
    before = len(table.dealt())
    table.outside(card)
    assert table.asked is kind and len(table.dealt()) == before
    assert table.refused(i.OpenBetting()) is not None
    table.outside(card, ended=True)
    assert table.asked is kind  # The shoe does not say whether it was taken back or shown.
    table.answer(False)
    assert table.asked is None and len(table.dealt()) == before
    assert table.station.kernel.table.state.register.out_count == before


def test_a_card_outside_a_coup_is_read_when_the_shoe_opens_the_next_with_it(table: Table) -> None:
    table.outside(SURPLUS)
    table.answer(False)
    table.eye.surplus = SURPLUS
    table.open_coup()
    table.draw(*NATURAL[1:], 0x91)
    table.end_coup()
    assert table.dealt()[0] == ("player", 1, "5h") and len(table.winners()) == 1


# Real coups.


@REAL_COUPS
def test_real_coups_have_their_winners_published(tmp_path: Path) -> None:
    """Each frame three times, cut and merged at random; a new shoe where the coups need one."""
    table = Table(tmp_path, seed=200)
    expected = []
    for cards, winner in real_coups():
        table.make_room(cards)
        table.open_coup(stands_by=len(cards) % 2 == 0)
        table.draw(*(SUITS[card[0]] | int(card[2:]) for card in cards))
        table.end_coup()
        assert table.asked is None, cards
        expected.append(winner)
    assert table.winners() == expected
    assert all(data["agrees"] for data in table.told("shoe.judged", Audience.AUDIT))
    assert not table.told("incident.opened")
    table.stop()
