"""`tablectl enroll` over a pty, and what an enrolment and an inspection make of one code after another."""

from __future__ import annotations

import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from station.recorded import write_config
from station.test_doctor_command import OPENS, port_of, process

from controller.cards import DECK, Card, Scheme, code_map
from controller.cli import main
from controller.station import enroll_command
from controller.station.deck_file import load_deck
from controller.station.enrolled_file import deck_text, unfinished_path, write_deck
from controller.station.enrolment import AT_ONCE_US, NEW_DECK, Enrolment, Inspection
from drivers.pty import PtyDevice

BLUE, RED = code_map("blue", Scheme.SUIT_DIGIT_RANK), code_map("red", Scheme.LETTER_NUMBER)
SECOND = 1_000_000
PACE_S = AT_ONCE_US / 900_000
"""From one code that was read to the next one: a little more than what counts as two tags at once."""

on_posix = pytest.mark.skipif(os.name != "posix", reason="ptys exist on POSIX alone")


def uid(card: Card) -> str:
    return f"E00401{DECK.index(card):010X}"


# One code after another.


def shown(work: Enrolment | Inspection, *codes: str) -> list[str]:
    return [work.take(code, number * SECOND) for number, code in enumerate(codes)]


def test_cards_are_asked_for_in_their_order_and_paired() -> None:
    enrolment = Enrolment((BLUE,))
    assert enrolment.prompt == "1/52: show As"
    assert shown(enrolment, *map(uid, NEW_DECK))[1] == f"2s is {uid(NEW_DECK[1])!r}"
    assert enrolment.is_complete
    assert enrolment.codes == {uid(card): card for card in NEW_DECK}
    assert enrolment.take("one more", 60 * SECOND) == "'one more' refused: all cards have their code"


def test_a_code_that_is_known_is_refused_with_both_its_names() -> None:
    enrolment = Enrolment((BLUE, RED))
    told = shown(enrolment, "X1", "X2", "X1", "4130", "D12", "X3")
    assert told[2] == "'X1' refused: it is As already, the code of card 1"
    assert told[3] == "'4130' refused: it is Kd of deck blue"
    assert told[4] == "'D12' refused: it is Qd of deck red"
    assert list(enrolment.codes) == ["X1", "X2", "X3"]


def test_of_tags_that_lie_on_the_reader_together_none_is_taken() -> None:
    enrolment = Enrolment(())
    enrolment.take("X1", 0)
    for number, code in enumerate(("X2", "X3", "X4")):
        told = enrolment.take(code, SECOND + number * (AT_ONCE_US - 1))
    assert told == "'X3' and 'X4' came at once: neither is taken; show one card alone"
    assert list(enrolment.codes) == ["X1"]
    assert enrolment.take("X2", 3 * SECOND) == "2s is 'X2'"
    assert "refused" in enrolment.take("X2", 3 * SECOND + 1)
    assert list(enrolment.codes) == ["X1", "X2"]


def test_going_back_asks_for_the_last_cards_again() -> None:
    enrolment = Enrolment((), codes={"X1": NEW_DECK[0], "X2": NEW_DECK[1], "X3": NEW_DECK[2]})
    enrolment.go_back(2)
    assert enrolment.prompt == "2/52: show 2s"
    enrolment.go_back(9)
    assert enrolment.prompt == "1/52: show As"


def test_an_inspection_says_what_is_missing_doubled_and_foreign() -> None:
    inspection = Inspection(BLUE, (RED,))
    codes = [BLUE.code(card) for card in DECK if str(card) not in ("As", "2c")]
    told = shown(inspection, *codes, "4130", "H05", "????")
    assert told[-3] == "DOUBLED Kd: read as card 24, now as 51; 27.0 s lie between"
    assert told[-2] == "FOREIGN 'H05': 5h of deck red"
    assert inspection.prompt == "50/52"
    assert [text.partition(";")[0] for text in inspection.wrong()] == [
        "missing: As, 2c",
        "doubled: Kd (2 times)",
        "foreign: 'H05': 5h of deck red",
    ]
    whole = Inspection(BLUE, ())
    shown(whole, *BLUE.cards)
    assert (whole.is_complete, list(whole.wrong())) == (True, [])


def test_an_inspection_of_a_shoe_counts_all_its_decks() -> None:
    shoe = code_map("shoe8", Scheme.SUIT_DIGIT_RANK, decks=8)
    inspection = Inspection(shoe, ())
    shown(inspection, *[*shoe.cards] * 7)
    assert not inspection.is_complete and inspection.prompt == "364/416"
    assert next(inspection.wrong()).startswith("missing: As (1 times), 2s (1 times)")
    shown(inspection, *shoe.cards)
    assert (inspection.is_complete, list(inspection.wrong())) == (True, [])
    [told] = shown(inspection, "1010")
    assert told.startswith("DOUBLED As") and "now as 417" in told
    assert [text.partition(";")[0] for text in inspection.wrong()] == ["doubled: As (9 times)"]


def test_the_file_of_a_deck_is_read_back_as_the_deck(tmp_path: Path) -> None:
    codes = {f'"\\{number}': card for number, card in enumerate(NEW_DECK)}
    path = tmp_path / "odd.toml"
    path.write_text(deck_text(codes, "Scanned in."))
    assert dict(load_deck(path).cards) == codes


def test_writing_a_deck_touches_no_other_file(tmp_path: Path) -> None:
    path, other = tmp_path / "green.toml", tmp_path / "green.new.toml"
    other.write_text("mine")
    write_deck(path, {uid(card): card for card in NEW_DECK}, "Scanned in.")
    assert other.read_text() == "mine"
    assert sorted(found.name for found in tmp_path.iterdir()) == ["green.new.toml", "green.toml"]


# The command, over a pty.


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """The demo table with a scanner for tags, read from the first moment on."""
    return write_config(tmp_path, **{"settle_ms = 300": "settle_ms = 0", "max_length = 4": "max_length = 16"})


class Desk:
    """A person who shows cards to a simulated scanner and reads what `tablectl enroll` says of each."""

    def __init__(self, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.config = config
        self.deck = config.parent.parent / "decks" / "green.toml"
        self.line = PtyDevice(port_of(config))
        self.said: list[str] = []
        self._news: queue.Queue[str] = queue.Queue()
        monkeypatch.setattr(enroll_command, "say_now", self._hear)

    def _hear(self, text: str) -> None:
        self.said.append(text)
        self._news.put(text)

    def enroll(self, *words: str, person: Callable[[], None] = lambda: None) -> int:
        """Run the command while `person` shows cards."""
        self.said.clear()
        showing = threading.Thread(target=self._show, args=(person,))
        showing.start()
        try:
            return main(["enroll", str(self.config), str(self.deck), *words])
        finally:
            showing.join()

    def _show(self, person: Callable[[], None]) -> None:
        while not self._news.get(timeout=30).startswith("scanner open"):
            pass
        person()

    def show(self, *codes: str) -> None:
        """Show cards one by one, each a while after the one before was answered."""
        for code in codes:
            time.sleep(PACE_S)
            self.line.write(code.encode() + b"\n")
            self._news.get(timeout=30)

    def show_at_once(self, *codes: str) -> None:
        self.line.write(b"".join(code.encode() + b"\n" for code in codes))

    def interrupt(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def desk(config: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    desk = Desk(config, monkeypatch)
    yield desk
    desk.line.unplug()


@on_posix
def test_a_deck_of_tags_is_scanned_in_with_a_break(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path.name for path in desk.deck.parent.iterdir()}

    def begin() -> None:
        desk.show(*map(uid, NEW_DECK[:5]), uid(NEW_DECK[2]), "1010", "NOREAD")
        desk.interrupt()

    assert desk.enroll(person=begin) == 1
    assert desk.said[0].endswith("; 1/52: show As")
    assert desk.said[5].endswith("; 6/52: show 6s")
    assert desk.said[6:] == [
        f"{uid(NEW_DECK[2])!r} refused: it is 3s already, the code of card 3; 6/52: show 6s",
        "'1010' refused: it is As of deck blue; 6/52: show 6s",
        "not read (NO_READ): show that card again; 6/52: show 6s",
    ]
    waiting = unfinished_path(desk.deck)
    assert f"not finished: 5 of 52 cards are kept in {waiting}" in capsys.readouterr().err
    assert not desk.deck.exists()

    assert desk.enroll("--back", "2", person=lambda: desk.show(*map(uid, NEW_DECK[3:]))) == 0
    assert desk.said[0] == f"goes on with {waiting}: 3 cards are in it"
    assert dict(load_deck(desk.deck).cards) == {uid(card): card for card in NEW_DECK}
    assert {path.name for path in desk.deck.parent.iterdir()} - before == {"green.toml"}


@on_posix
def test_a_deck_that_has_its_file_is_inspected(desk: Desk) -> None:
    desk.deck = desk.deck.with_name("blue.toml")
    codes = list(BLUE.cards)
    assert desk.enroll(person=lambda: desk.show_at_once(*codes)) == 0
    assert desk.said[-1] == "deck blue: 52 cards, none too many"
    assert desk.said[-2] == "As; 52/52"
    odd = [*codes[1:], codes[5], "H05"]
    assert desk.enroll("--silence", "1", person=lambda: desk.show_at_once(*odd)) == 1
    assert desk.said[-3] == "missing: 2c"
    assert desk.said[-2].startswith("doubled: 7c (2 times)")
    assert desk.said[-1] == "foreign: 'H05': 5h of deck red"


@on_posix
def test_a_scanner_in_use_is_left_alone(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    with process("-c", OPENS, desk.line.node) as other:
        assert main(["enroll", str(desk.config), str(desk.deck)]) == 3
    assert f"(pid {other.pid}) uses it" in capsys.readouterr().err


def spoiled(text: str) -> Callable[[Path], None]:
    return lambda deck: (unfinished_path(deck).write_text(text), None)[1]


def other_order(deck: Path) -> None:
    names = [str(card) for card in NEW_DECK]
    unfinished_path(deck).write_text('{"order":["' + '","'.join(names) + '"],"codes":{}}')
    deck.with_name("order.txt").write_text(" ".join(reversed(names)))


def short_order(deck: Path) -> None:
    deck.with_name("order.txt").write_text("As As")


@pytest.mark.parametrize(
    ("prepare", "words", "expected"),
    [
        (spoiled("{"), (), "--discard begins anew"),
        (spoiled('{"order":["As"],"codes":{}}'), (), "its codes do not follow its order"),
        (other_order, ("--order", "order.txt"), "has another order"),
        (short_order, ("--order", "order.txt"), "got 2 cards, expected each of the 52 once"),
    ],
    ids=["broken", "half", "other-order", "no-order"],
)
def test_what_can_not_be_gone_on_with(
    config: Path,
    prepare: Callable[[Path], None],
    words: tuple[str, ...],
    expected: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    deck = config.parent.parent / "decks" / "green.toml"
    monkeypatch.chdir(deck.parent)
    prepare(deck)
    assert main(["enroll", str(config), str(deck), *words]) == 1
    assert expected in capsys.readouterr().err


@on_posix
def test_nothing_is_kept_of_nothing(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    assert desk.enroll(person=desk.interrupt) == 1
    assert "not begun: no card was scanned in" in capsys.readouterr().err
    assert not unfinished_path(desk.deck).exists()


def test_refused_words(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["enroll", str(config), "green"]) == 2
    assert main(["enroll", str(config), "green.toml", "--scanner", "door"]) == 2
    assert "--scanner: expected one of shoe" in capsys.readouterr().err
    assert main(["enroll", str(config.with_name("no.toml")), "green.toml"]) == 3


@on_posix
def test_discard_and_an_order_of_ones_own(desk: Desk) -> None:
    spoiled("{")(desk.deck)
    order = desk.deck.with_name("order.txt")
    order.write_text(" ".join(map(str, DECK)))
    words = ("--discard", "--order", str(order), "--silence", "1")
    assert desk.enroll(*words, person=lambda: desk.show("X01")) == 1
    assert desk.said[0].endswith("1/52: show 2c")
    assert desk.said[1] == "2c is 'X01'; 2/52: show 3c"
