"""A station with baccarat, driven by hand, and the real coups that are dealt at it.

The coups are nobody's here and never copied: they are read where `TABLECTL_DATA` says, by default from the
folder of shared data beside the checkout. TABLECTL_SOAK=1: all 200 of them, else the first ten.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
from collections import Counter
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
from simulators.cast import PINS, ROLES, the_cast

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
COUPS_COUNT = 200 if SOAK else 10
BESIDE = Path(__file__).parents[2].parent / "shared" / "data"
COUPS = Path(os.environ.get("TABLECTL_DATA") or BESIDE) / "live_baccarat_coups.csv"
REAL_COUPS = pytest.mark.skipif(
    not COUPS.exists(), reason=f"no data at {COUPS}; TABLECTL_DATA names another folder"
)
PLACES = ("P1", "B1", "P2", "B2", "P3", "B3")
WINNERS = {"P": "PLAYER", "B": "BANKER", "T": "TIE"}
CARDS_AT_MOST = 380
"""Out of one shoe; the cutting card lies behind them."""


def write_config(folder: Path, table: str, *, burns: bool = False, stand_by_needed: bool = False) -> Path:
    """Write the config of a table that is shipped below `folder`."""
    for name in ("games", "decks", "profiles"):
        shutil.copytree(CONFIG / name, folder / name)
    if not burns:
        replace(folder / "games" / "baccarat.toml", "burn_by_first_card = true", "burn_by_first_card = false")
    if stand_by_needed:
        replace(folder / "profiles" / "baccarat.toml", "[limits]", "[limits]\nstand_by_needed = true")
    (folder / "tables").mkdir()
    path = folder / "tables" / f"{table}.toml"
    shutil.copy(CONFIG / "tables" / path.name, path)
    replace(path, "../../run", "../run")
    people = folder / "run" / "people.json"
    people.parent.mkdir(mode=0o700)
    write_people(people, the_cast())
    return path


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text, old
    path.write_text(text.replace(old, new))


def real_coups() -> list[tuple[list[str], str]]:
    """Return the cards of each coup as drawn, spelled as in the file (`S.9`), and who wins."""
    with COUPS.open(newline="") as lines:
        rows = list(csv.DictReader(lines))[:COUPS_COUNT]
    assert len(rows) == COUPS_COUNT
    # Five have no official winner; there the file's own reckoning stands.
    return [
        (
            [row[place] for place in PLACES if row[place]],
            WINNERS[row["official_winner"] or row["winner_by_cards"]],
        )
        for row in rows
    ]


class CoupTable(Session):
    """A station, its people and a shoe. `deck` is the name of its cards."""

    def __init__(self, config: Path, deck: str) -> None:
        super().__init__(config)
        self._deck = deck
        self._out: Counter[str] = Counter()
        self.bring(Kind.OPENED, "/dev/pts/7")
        for person, role in ROLES.items():
            self.send(i.LogIn(role), person, pin=PINS[person])
        self.send(i.OpenTable())
        self.new_shoe()

    def new_shoe(self) -> None:
        """Two people accept it by its receipt."""
        for actor in ("anna", "boris"):
            self.send(i.LoadDeck(self._deck, "R-1"), actor)
        self.send(i.VerifyDeck(416))
        self.send(i.ConfirmShuffle())

    def make_room(self, cards: list[str]) -> None:
        """Between two coups another shoe comes where the cards of the next are not in this one."""
        drawn = Counter(cards)
        if max((self._out + drawn).values()) > 8 or (self._out + drawn).total() > CARDS_AT_MOST:
            self.send(i.ChangeDeck(i.ChangeReason.CHANGED), "boris")
            self.new_shoe()
            self._out.clear()
        self._out += drawn

    def open_bets(self) -> None:
        """START to the end of betting time."""
        self.send(i.OpenBetting())
        self.send(i.CloseBetting())
        self.send(i.BetsTaken({LAYOUT: BoxState.DARK}), "bets")

    def end_coup(self) -> None:
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
