"""Baccarat out of an Angel Eye shoe: its bytes through a station, with the table file that is shipped.

TABLECTL_SOAK=1: all 200 real coups, else the first ten.
"""

from __future__ import annotations

import csv
import json
import os
import random
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from station.recorded import CONFIG, Session

from controller.games.baccarat import LAYOUT
from controller.games.procedure import BoxState
from controller.journal.recording import Kind
from controller.station.people import write_people
from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import Audience, IncidentKind, Refusal
from drivers.angel_eye import UNKNOWN_FACE
from simulators.cast import PINS, ROLES, the_cast
from simulators.devices.angel_eye import BANKER, AngelEyeShoe

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
COUPS_COUNT = 200 if SOAK else 10
BESIDE = Path(__file__).parents[2].parent / "shared" / "data"
COUPS = Path(os.environ.get("TABLECTL_DATA") or BESIDE) / "live_baccarat_coups.csv"
SUITS = {"D": 0x90, "C": 0xA0, "S": 0xB0, "H": 0xC0}
PLACES = ("P1", "B1", "P2", "B2", "P3", "B3")
WINNERS = {"P": "PLAYER", "B": "BANKER", "T": "TIE"}
NATURAL = (0x98, 0xA1, 0xB1, 0xCA)
"""8 of diamonds and ace of spades for Player: nine; aces and tens for Banker."""
SURPLUS = 0xC5
CARDS_AT_MOST = 380
"""Out of one shoe; the cutting card lies behind them."""


def write_config(folder: Path, *, burns: bool, stand_by_needed: bool) -> Path:
    """Write the shipped table's config below `folder`."""
    for name in ("games", "decks", "profiles"):
        shutil.copytree(CONFIG / name, folder / name)
    if not burns:
        replace(folder / "games" / "baccarat.toml", "burn_by_first_card = true", "burn_by_first_card = false")
    if stand_by_needed:
        replace(folder / "profiles" / "baccarat.toml", "[limits]", "[limits]\nstand_by_needed = true")
    (folder / "tables").mkdir()
    path = folder / "tables" / "ba2.toml"
    shutil.copy(CONFIG / "tables" / "baccarat_angel_eye.toml", path)
    replace(path, "../../run", "../run")
    people = folder / "run" / "people.json"
    people.parent.mkdir(mode=0o700)
    write_people(people, the_cast())
    return path


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text, old
    path.write_text(text.replace(old, new))


class Table(Session):
    """A station, its people, and an Angel Eye shoe on its line; a seed cuts and merges what that sends."""

    def __init__(
        self, folder: Path, *, burns: bool = False, stand_by_needed: bool = False, seed: int | None = None
    ) -> None:
        super().__init__(write_config(folder, burns=burns, stand_by_needed=stand_by_needed))
        self._unread = b""
        self._cuts = random.Random(seed) if seed is not None else None
        self.eye = AngelEyeShoe(self._hear)
        self.bring(Kind.OPENED, "/dev/pts/7")
        for person, role in ROLES.items():
            self.send(i.LogIn(role), person, pin=PINS[person])
        self.send(i.OpenTable())
        self.new_shoe()
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

    def new_shoe(self) -> None:
        """Two people accept it by its receipt."""
        for actor in ("anna", "boris"):
            self.send(i.LoadDeck("angel_eye", "R-1"), actor)
        self.send(i.VerifyDeck(416))
        self.send(i.ConfirmShuffle())

    def change_shoe(self) -> None:
        """Between two coups another shoe comes."""
        self.send(i.ChangeDeck(i.ChangeReason.CHANGED), "boris")
        self.new_shoe()

    def open_coup(self, *, stands_by: bool = True) -> None:
        """START to the end of betting time."""
        self.send(i.OpenBetting())
        self.send(i.CloseBetting())
        self.send(i.BetsTaken({LAYOUT: BoxState.DARK}), "bets")
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

    def finish(self) -> None:
        """RESULT, and the cards are collected."""
        self.send(i.ConfirmResult())
        self.send(i.ClearTable())

    @property
    def phase(self) -> Phase:
        return self.station.kernel.table.state.phase

    @property
    def asked(self) -> IncidentKind | None:
        """What people are asked about."""
        incident = self.station.kernel.table.state.incident
        return incident.kind if incident is not None else None

    def refused(self, command: i.AnyCommand) -> Refusal | None:
        """Press in vain, and return why."""
        self.send(command)
        return self.answers[-1].reason

    def told(self, event: str, audience: Audience = Audience.PUBLIC) -> list[dict[str, Any]]:
        """Return what was published of one kind."""
        messages = (json.loads(raw)["data"] for raw in self.feeds.sent[audience])
        return [data for data in messages if data["event"] == event]

    def dealt(self) -> list[tuple[str, int, str]]:
        """Return which cards were dealt, and where."""
        return [(data["place"], data["n"], data["card"]) for data in self.told("card.dealt")]

    def winners(self) -> list[str]:
        return [data["outcome"]["coup"]["winner"] for data in self.told("round.confirmed")]


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
    table.finish()
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
    table.finish()
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
    table.finish()
    assert table.winners() == ["PLAYER"]


def test_an_overdraw_holds_and_opens_the_next_coup(table: Table) -> None:
    table.open_coup()
    table.draw(*NATURAL, SURPLUS)
    assert table.asked is IncidentKind.SURPLUS_CARD
    assert table.refused(i.ConfirmResult()) is Refusal.HELD
    table.answer(False)
    table.finish()
    table.open_coup()  # The shoe says again that it was drawn, and reads it.
    table.draw(*NATURAL[1:], 0x91)
    table.finish()
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
    table.finish()
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
    table.finish()
    assert table.dealt()[0] == ("player", 1, "5h") and len(table.winners()) == 1


# Real coups.


@pytest.mark.skipif(not COUPS.exists(), reason=f"no data at {COUPS}; TABLECTL_DATA names another folder")
def test_real_coups_have_their_winners_published(tmp_path: Path) -> None:
    """Each frame three times, cut and merged at random; a new shoe where the coups need one."""
    with COUPS.open(newline="") as lines:
        rows = list(csv.DictReader(lines))[:COUPS_COUNT]
    assert len(rows) == COUPS_COUNT
    table = Table(tmp_path, seed=200)
    out: Counter[int] = Counter()
    for row in rows:
        cards = [SUITS[text[0]] | int(text[2:]) for place in PLACES if (text := row[place])]
        drawn = Counter(cards)
        if max((out + drawn).values()) > 8 or (out + drawn).total() > CARDS_AT_MOST:
            table.change_shoe()
            out.clear()
        out += drawn
        table.open_coup(stands_by=len(cards) % 2 == 0)
        table.draw(*cards)
        table.finish()
        assert table.asked is None, row
    # Five have no official winner; there the file's own reckoning stands.
    expected = [WINNERS[row["official_winner"] or row["winner_by_cards"]] for row in rows]
    assert table.winners() == expected
    assert all(data["agrees"] for data in table.told("shoe.judged", Audience.AUDIT))
    assert not table.told("incident.opened")
    table.stop()
