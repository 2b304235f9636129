"""Nobody learns a face-down card before it is turned: the differential proof, on the whole stack.

Two stations get the same tape with the same keys, but ONE hidden card is another one, with a code of
another length, that else stays in the shoe. Everything that leaves them is the same, byte for byte, up to
the moment that opens the card, once commitments and what is computed from them are masked. What the betting
system may learn earlier is written down in `exchange.ALLOWED`. Exempt are journal and recording (mode 0600).
"""

from __future__ import annotations

import asyncio
import os
import random
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from e2e.exchange import (
    ALLOWED,
    SNAPSHOTS_ALLOWED,
    SWITCH,
    Hidden,
    entered_in,
    exchanged,
    first_difference,
    frames,
    hidden_cards,
    with_frame,
)
from e2e.leaks import LEAKS, Leak, Spy
from e2e.taped import FRAME_END, OneFault, Tape, frame, play, spell, write_config
from e2e.witness import Witness

from controller.cards import DECK, Card
from controller.journal import JournalFailed
from controller.station.config import load
from controller.station.feeds import Feeds
from controller.station.log import JsonLines
from controller.station.pages.server import Pages
from controller.station.parts import named
from simulators.faults.catalogue import FAULTS, LIVE

TESTS = Path(__file__).parents[1]
SOAK = bool(os.environ.get("TABLECTL_SOAK"))
SEEDS = range(1, 5) if SOAK else (1,)
OTHERS = 2 if SOAK else 1
ALL = 100


class Case(NamedTuple):
    """A round to play: its fault, at which card, and after how many scans the process starts again."""

    fault: str | None
    card: int = 0
    restart_after: int | None = None
    cards: int = 8 if SOAK else 1
    """How many of its hidden cards are exchanged, one by one."""
    open_switch: bool = False
    """Whether the house lays the switch cards open (D-45)."""

    def __str__(self) -> str:
        house = "-open_switch" if self.open_switch else ""
        return f"{self.fault or 'plain'}-{self.card}-{self.restart_after or 0}{house}"


HIDDEN_CARDS = (5, 7, 12)
"""Cards of the deal that lie face down: box 1, box 3, dealer (RPL-09, RPL-10)."""
CASES = (
    Case(None, cards=ALL),
    Case(None, restart_after=7),
    Case(None, restart_after=22),
    *(
        Case(fault.id, next((card for card in HIDDEN_CARDS if card in cards), cards[0]))
        for fault in FAULTS
        for cards in [LIVE.cards.get(fault.moment, (0,))]
    ),
    Case("misread", 3),  # A disputed reading of a card that lies face down.
    Case("misread", 23),
    Case("duplicate-read", 22),
    Case("doubled-card", 12),
    Case("no-read-twice", 23),
    Case(None, open_switch=True, cards=ALL if SOAK else 3),
    Case("early-exchange", open_switch=True),
    Case("misread", 23, open_switch=True),
)


class Played:
    """A tape, and what a station says to it."""

    def __init__(self, folder: Path, case: Case, seed: int) -> None:
        self._folder = folder
        self._open_switch = case.open_switch
        self._runs = 0
        plan = OneFault(case.fault, case.card, seed=seed)
        self.tape = play(self._config(), plan, rounds=1, restart_after=case.restart_after).tape
        self.witness = self.witnessed(self.tape)
        self.hidden = hidden_cards(self.witness)

    def _config(self) -> Any:
        self._runs += 1
        config = write_config(self._folder / str(self._runs))
        if not self._open_switch:
            return config
        rules = config.path.parents[1] / "games" / "russian_poker_live.toml"
        rules.write_text(rules.read_text().replace('switch_cards_face = "down"', 'switch_cards_face = "up"'))
        return load(config.path)

    def witnessed(self, tape: Tape) -> Witness:
        """Drive a tape into a station of its own."""
        return Witness(self._config(), tape)

    def others(self, card: Card) -> list[Card]:
        """Return cards that stay in the shoe, those first whose code has another length."""
        scanned = {data for _, data in frames(self.tape)}
        entered = {entered_in(taped) for taped in self.tape}
        left = [other for other in DECK if frame(other) not in scanned and str(other) not in entered]
        random.Random(str(card)).shuffle(left)
        return sorted(left, key=lambda other: len(spell(other)) == len(spell(card)))

    def special_first(self, case: Case) -> list[Hidden]:
        """Return the hidden cards, first those that something has happened to, then in any order."""
        rng = random.Random(str(case))
        at_card = {("box1", "box2", "box3", "dealer")[(case.card - 1) % 4]: (case.card + 3) // 4}
        if case.card > 20:
            at_card = {SWITCH: case.card - 20}

        def rank(hidden: Hidden) -> tuple[bool, float]:
            special = len(hidden.places) > 1 or bool(hidden.places & {*at_card.items(), ("burn", 1)})
            return (not special, rng.random())

        return sorted(self.hidden, key=rank)


def compare(played: Played, hidden: Hidden, other: Card) -> str | None:
    """Return the first difference before the card is opened. The moment that opens it must differ."""
    changed = played.witnessed(exchanged(played.tape, hidden.card, other))
    again = {card.card: card for card in hidden_cards(changed)}
    difference = first_difference(played.witness.moments, changed.moments, hidden.opened_at, hidden.places)
    if difference is None:
        opened = again[other]
        assert (opened.opened_at, opened.places) == (hidden.opened_at, hidden.places)
        assert first_difference(played.witness.moments, changed.moments, hidden.opened_at + 1)
    return difference


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_hidden_card_changes_nothing_before_it_is_opened(tmp_path: Path, case: Case, seed: int) -> None:
    played = Played(tmp_path, case, seed)
    for hidden in played.special_first(case)[: case.cards]:
        for other in played.others(hidden.card)[:OTHERS]:
            difference = compare(played, hidden, other)
            assert difference is None, f"{sorted(hidden.places)}, {hidden.card} or {other}: {difference}"


def test_the_cases_hide_cards_in_every_place(tmp_path: Path) -> None:
    """What `compare` goes through is really there: boxes, dealer, switch, burned and withdrawn cards."""
    plain = Played(tmp_path / "plain", Case(None), 1)
    places = {place for hidden in plain.hidden for place in hidden.places}
    assert places == {
        *(("box1", n) for n in range(1, 6)),
        *(("box3", n) for n in range(1, 6)),
        *(("dealer", n) for n in range(1, 5)),
        *(("switch", n) for n in range(1, 6)),
    }
    opened = Played(tmp_path / "open", Case(None, open_switch=True), 1)
    assert {place for hidden in opened.hidden for place in hidden.places} == {
        place for place in places if place[0] != SWITCH
    }
    early = Played(tmp_path / "early", Case("early-draw"), 1)
    assert ("burn", 1) in {place for hidden in early.hidden for place in hidden.places}
    called = Played(tmp_path / "called", Case("surplus-called", 5), 1)
    assert {("burn", 1), ("box1", 2)} in [hidden.places for hidden in called.hidden]


def test_what_the_betting_system_may_know_is_what_it_is_told(tmp_path: Path) -> None:
    """The other half of `ALLOWED`: without it a switch card shows, in both messages, and nowhere else."""
    played = Played(tmp_path, Case(None), 1)
    [hidden] = [hidden for hidden in played.hidden if (SWITCH, 1) in hidden.places]
    changed = played.witnessed(exchanged(played.tape, hidden.card, played.others(hidden.card)[0]))
    until = hidden.opened_at
    moments = zip(played.witness.moments[:until], changed.moments[:until], strict=True)
    pairs = [pair for one, two in moments for pair in zip(one, two, strict=True) if pair[0] != pair[1]]
    assert {one.channel for one, _ in pairs} == {"live.betting", *SNAPSHOTS_ALLOWED}
    live = [msgspec.json.decode(one.raw) for one, _ in pairs if one.channel == "live.betting"]
    assert {("live.betting", message["type"]) for message in live if "type" in message} == set(ALLOWED)


CANCELLED = ("hidden-shown", "no-read-twice", "doubled-card", "foreign-card", "surplus-called-seen")


@pytest.mark.parametrize("fault", CANCELLED)
def test_a_cancelled_round_opens_its_cards_in_the_terminal_event_and_not_before(
    tmp_path: Path, fault: str
) -> None:
    played = Played(tmp_path, Case(fault, 12), 1)
    [(terminal, message)] = [
        (moment, message)
        for moment, message in played.witness.messages("public")
        if message["type"] == "tablectl.round.cancelled.v1"
    ]
    assert {hidden.opened_at for hidden in played.hidden} == {terminal}
    assert len(message["data"]["opened"]) >= len(played.hidden) > 0


# Cards that never lie on a place: nothing opens them, so nothing ever tells them.

NEVER_OPENED = {"foreign-card": 12, "unknown-code": 12, "late-card": 0, "card-before-start": 0}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("fault", NEVER_OPENED)
def test_a_card_without_a_place_is_never_told(tmp_path: Path, fault: str, seed: int) -> None:
    played = Played(tmp_path, Case(fault, NEVER_OPENED[fault]), seed)
    deck = {frame(card) for card in DECK}
    found = list(frames(played.tape))
    foreign = [pieces for pieces, data in found if data not in deck]
    if fault in ("foreign-card", "unknown-code"):
        [pieces] = foreign
        others = [b"D12", b"77", b"8888888888"]
    else:
        pieces = found[0 if fault == "card-before-start" else -1][0]
        scanned = Card.parse(next(str(card) for card in DECK if frame(card) == dict_of(found)[pieces[0]]))
        others = [spell(card).encode() for card in played.others(scanned)[:2]]
    for other in others:
        changed = played.witnessed(with_frame(played.tape, pieces, other + FRAME_END))
        assert first_difference(played.witness.moments, changed.moments) is None


def dict_of(found: list[tuple[list[int], bytes]]) -> dict[int, bytes]:
    """Return frames by the number of the first deed that brought them."""
    return {pieces[0]: data for pieces, data in found}


def test_the_witness_hears_every_way_out() -> None:
    """A station that gets another way to say something needs a witness that hears it."""
    ways = {name for name in vars(Feeds) if not name.startswith("_")}
    assert ways == {
        "publish",
        "picture",
        "alive",
        "close",
        "sockets",
    }  # Doors add addresses to these sockets.
    shown = {name for name in vars(Pages) if not name.startswith("_")}
    assert shown == {"show", "run", "close"}


# What is exempt is for the eyes of its owner alone.


def test_journal_and_recording_have_mode_0600_in_folders_of_mode_0700(tmp_path: Path) -> None:
    config = write_config(tmp_path / "one")
    play(config, OneFault(None, seed=1), rounds=1)
    files = [path for path in config.table_dir.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} >= {".journal", ".capture"}
    for path in files:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    for folder in (config.run_dir, *{path.parent for path in files}):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700, folder


# A bug stops the process; what it says of itself names no card either.

BUG = """
from controller.cards import Register
from controller.station import log
from e2e.leaks import LEAKS, Leak, Spy
from e2e.taped import write_config
log.set_up()
register = Register(write_config(Path(sys.argv[1])).deck)
for where in (1, 2):
    register.take(sys.argv[2], where)
"""


@pytest.mark.parametrize("code", ["1s", "12d"])
def test_a_bug_that_stops_the_process_does_not_say_at_which_card(tmp_path: Path, code: str) -> None:
    path = ["--", str(tmp_path), code]
    script = f"import sys; from pathlib import Path; sys.path.append({str(TESTS)!r}); sys.argv.pop(1)\n{BUG}"
    done = subprocess.run([sys.executable, "-c", script, *path], capture_output=True, text=True, check=False)
    [line] = [msgspec.json.decode(text) for text in done.stderr.splitlines()]
    assert (done.returncode, line["level"], line["what"]) == (1, "critical", "the process stops")
    assert line["exception"].endswith("\nAssertionError\n") and "in take" in line["exception"]
    assert code not in done.stderr


def test_a_part_of_the_station_that_dies_does_not_say_at_which_card(caplog: pytest.LogCaptureFixture) -> None:
    code = spell(Card.parse("Qd"))

    async def fail(told: Exception) -> None:
        raise told from ValueError(f"{code} is in the hand twice")

    with pytest.raises(KeyError):
        asyncio.run(named("consumer", fail(KeyError(code))))
    with pytest.raises(JournalFailed):
        asyncio.run(named("consumer", fail(JournalFailed("the disk is full"))))
    [of_a_bug, of_the_disk] = [JsonLines().format(record) for record in caplog.records]
    assert code not in of_a_bug and "KeyError" in of_a_bug and '"part":"consumer"' in of_a_bug
    assert "the disk is full" in of_the_disk


# The proof proves itself: builds that tell the length of a code are caught, whichever way they tell it.


@pytest.fixture(params=LEAKS)
def leak(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Leak]:
    """Build the leak in."""
    leak = LEAKS[request.param]
    monkeypatch.setattr("controller.station.kernel.Table", leak.table)
    if leak.patch is not None:
        monkeypatch.setattr(*leak.patch)
    yield leak


def test_a_build_that_leaks_a_length_is_caught(tmp_path: Path, leak: Leak) -> None:
    played = Played(tmp_path, Case(None), 1)
    hidden = next(hidden for hidden in played.hidden if {place for place, _ in hidden.places} == {leak.place})
    [other, *_] = played.others(hidden.card)
    assert len(spell(other)) != len(spell(hidden.card))
    difference = compare(played, hidden, other)
    assert difference is not None
    assert any(channel in difference.splitlines()[0] for channel in leak.channel.split("|"))


def test_the_same_build_without_the_leak_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("controller.station.kernel.Table", Spy)
    played = Played(tmp_path, Case(None), 1)
    assert compare(played, played.hidden[-1], played.others(played.hidden[-1].card)[0]) is None
