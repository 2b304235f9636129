"""The simulated Angel Eye shoe with its faults, and 200 real coups, as the driver reads them."""

from __future__ import annotations

import csv
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from driver_scenes import MISSED, RESTARTED, STAND_BY

from drivers.angel_eye import Frame, open_angel_eye
from drivers.contract import (
    CardDrawn,
    CodeRead,
    DeviceFault,
    DrawnOutside,
    Fault,
    Garbage,
    ReadFailed,
    Report,
    ShoeResult,
    ShoeWinner,
)
from simulators.devices.angel_eye import AngelEyeShoe, LineFault
from simulators.devices.cuts import Line, decode, recut

NATURAL = (0x98, 0xA1, 0xB1, 0xCA)
"""8 of diamonds and ace of spades for Player: nine; aces and tens for Banker."""
WON = ShoeResult(ShoeWinner.PLAYER, player_pair=False, banker_pair=False)


class Deal:
    """A shoe and what comes of it on the line, with the time between two steps of the deal."""

    def __init__(self, line_fault: Callable[[Frame, int], LineFault | None] | None = None, seed: int = 0):
        self.now_us = 0
        self.chunks: list[tuple[int, bytes]] = []
        self.shoe = AngelEyeShoe(self._hear, line_fault=line_fault, seed=seed)

    def _hear(self, data: bytes) -> None:
        self.chunks.append((self.now_us, data))

    def pause(self, ms: int = 2000) -> None:
        self.shoe.run()
        self.now_us += ms * 1000

    def deal(self, *cards: int) -> None:
        for card in cards:
            self.shoe.draw(card)
            self.pause()

    def reports(self) -> list[Report]:
        self.shoe.run()
        self.shoe.flush()
        return decode(open_angel_eye({}), self.chunks)


def laid(card: int, seq: int, place: str, *, again: bool = False) -> list[Report]:
    return [CardDrawn(place, again=again), CodeRead(f"{card:02X}", seq, place)]


NATURAL_REPORTS = [
    *laid(NATURAL[0], 3, "P1"),
    *laid(NATURAL[1], 5, "B1"),
    *laid(NATURAL[2], 7, "P2"),
    *laid(NATURAL[3], 9, "B2"),
    WON,
]


def coup(seed: int = 0, line_fault: Callable[[Frame, int], LineFault | None] | None = None) -> Deal:
    """A deal at which a coup has been dealt: nine frames behind a start-up and a stand-by."""
    deal = Deal(line_fault, seed)
    deal.pause()
    deal.shoe.stand_by()
    deal.deal(*NATURAL)
    return deal


def test_a_coup() -> None:
    assert coup().reports() == [RESTARTED, STAND_BY, *NATURAL_REPORTS]


def test_a_coup_without_stand_by() -> None:
    deal = coup()
    deal.shoe.stand_by(says_so=False)
    deal.deal(0x91)
    assert deal.reports()[-3:] == [WON, *laid(0x91, 3, "P1")]


def test_an_overdraw_opens_the_next_coup() -> None:
    deal = coup()
    deal.deal(0xC5)
    deal.shoe.complain(Fault.OVERDRAW, cleared=True)
    deal.shoe.stand_by()
    assert deal.reports()[-5:] == [
        DeviceFault(Fault.OVERDRAW, cleared=False),
        DeviceFault(Fault.OVERDRAW, cleared=True),
        STAND_BY,
        *laid(0xC5, 6, "P1", again=True),
    ]


def test_a_card_that_is_read_at_the_second_try() -> None:
    deal = Deal()
    deal.shoe.stand_by()
    deal.shoe.draw(0xC5, is_read=False)
    deal.shoe.read_again(0xC5)
    assert deal.reports() == [
        RESTARTED,
        STAND_BY,
        CardDrawn("P1"),
        DeviceFault(Fault.NOT_READ, cleared=False),
        DeviceFault(Fault.NOT_READ, cleared=True),
        CodeRead("C5", 5, "P1"),
    ]


def test_power_up_in_mid_deal_forgets_the_coup() -> None:
    deal = coup()
    deal.shoe.stand_by()
    deal.deal(0x91, 0xA2)
    deal.shoe.power_up()
    deal.deal(0x93)
    assert deal.reports()[-4:] == [CodeRead("A2", 6, "B1"), RESTARTED, *laid(0x93, 2, "P1")]


def test_cards_outside_a_coup_and_complaints() -> None:
    deal = Deal()
    deal.shoe.draw_outside(0xC5)
    deal.shoe.end_outside(0xC5)
    for fault in (Fault.DRAW_TIME_OUT, Fault.PULLED_BACK_AT_EXIT, Fault.PULLED_BACK_ON_WAY):
        deal.shoe.complain(fault)
    assert deal.reports() == [
        RESTARTED,
        DrawnOutside("P1", "C5", ended=False),
        DrawnOutside("P1", "C5", ended=True),
        DeviceFault(Fault.DRAW_TIME_OUT, cleared=False),
        DeviceFault(Fault.PULLED_BACK_AT_EXIT, cleared=False),
        DeviceFault(Fault.PULLED_BACK_ON_WAY, cleared=False),
    ]


def test_a_storm_is_heard_to_its_end() -> None:
    deal = Deal()
    deal.shoe.storm(500)
    reports = deal.reports()
    assert [report.cleared for report in reports if isinstance(report, DeviceFault)] == [False, True] * 500
    assert len(reports) == 1001


def test_an_acknowledged_frame_is_sent_once_and_a_lost_answer_repeats_it() -> None:
    framer = open_angel_eye({"acknowledge": "06"})
    sent: list[bytes] = []
    shoe = AngelEyeShoe(sent.append, acknowledgement=b"\x06")
    shoe.stand_by()
    for is_lost in (False, True, False):
        assert shoe.step()
        framer.receive(sent[-1], 0)
        answer = framer.bytes_to_send()
        assert answer == b"\x06"
        shoe.hear(b"" if is_lost else answer)
    assert not shoe.step()
    assert sent[0] != sent[1] == sent[2]
    assert [framer.next_report() for _ in range(3)] == [RESTARTED, STAND_BY, None]


# The line.


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("fault", LineFault)
def test_a_fault_of_one_copy_changes_nothing(fault: LineFault, seed: int) -> None:
    """The second copy of each frame; the third is whole and proves that nothing is missing."""
    deal = coup(seed, lambda frame, copy: fault if copy == 2 else None)
    reports = deal.reports()
    assert [r for r in reports if not isinstance(r, Garbage)] == [RESTARTED, STAND_BY, *NATURAL_REPORTS]
    damaging = (LineFault.CUT, LineFault.FLIPPED, LineFault.NOISE)
    assert any(isinstance(r, Garbage) for r in reports) == (fault in damaging)


def test_noise_of_the_line_is_counted() -> None:
    deal = coup()
    deal.shoe.noise(6)
    assert [r.count for r in deal.reports() if isinstance(r, Garbage)] == [6]


def lost_face(frame: Frame, copy: int) -> LineFault | None:
    return LineFault.LOST if (frame.seq, frame.letter) == (5, "I") else None


def test_a_frame_that_is_lost_wholly_is_missed() -> None:
    whole = [RESTARTED, STAND_BY, *NATURAL_REPORTS]
    index = whole.index(CodeRead("A1", 5, "B1"))
    assert coup(line_fault=lost_face).reports() == [*whole[:index], MISSED, *whole[index + 1 :]]


@pytest.mark.parametrize("seed", range(40))
def test_no_fault_of_the_line_gives_a_wrong_card_or_hides_one(seed: int) -> None:
    """Whatever happens to the copies: what is read was drawn, in order and once; what is not read is told."""
    rng = random.Random(seed)
    faults = list(LineFault)

    def fault(frame: Frame, copy: int) -> LineFault | None:
        is_spared = frame.letter in "SP"
        return rng.choice(faults) if not is_spared and rng.random() < 0.8 else None

    deal = Deal(fault, seed)
    deal.pause()
    drawn: list[tuple[str, str]] = []
    for _ in range(12):
        deal.shoe.stand_by()
        while (place := deal.shoe.due) is not None:
            card = rng.randrange(1, 5) << 4 | 0x80 | rng.randrange(1, 14)
            deal.shoe.draw(card)
            drawn.append((place, f"{card:02X}"))
            deal.pause(rng.choice((0, 300, 3000)))
    deal.shoe.stand_by()
    at, is_told = 0, False
    for report in deal.reports():
        if isinstance(report, ReadFailed):
            is_told = True
        elif isinstance(report, CodeRead) and report.place:
            found = drawn.index((report.place, report.code), at)
            assert found == at or is_told, report
            at, is_told = found + 1, False
    assert at == len(drawn) or is_told


# Real coups.

BESIDE = Path(__file__).parents[2].parent / "shared" / "data"
COUPS = Path(os.environ.get("TABLECTL_DATA") or BESIDE) / "live_baccarat_coups.csv"
SUITS = {"D": 0x90, "C": 0xA0, "S": 0xB0, "H": 0xC0}
PLACES = ("P1", "B1", "P2", "B2", "P3", "B3")
LETTERS = {ShoeWinner.PLAYER: "P", ShoeWinner.TIE: "T", ShoeWinner.BANKER: "B"}


def winner_of(cards: dict[str, str]) -> str:
    """Reckon who has won from the codes that were read, by place."""
    points = {
        side: sum(min(int(code[1], 16), 10) for place, code in cards.items() if place[0] == side) % 10
        for side in "PB"
    }
    return "T" if points["P"] == points["B"] else max(points, key=lambda side: points[side])


def glued(chunks: Line, seed: int) -> Line:
    """Chunks as a busy port hands them out: cut anywhere, some with what followed within 0.2 s."""
    rng = random.Random(seed)
    pieces: list[tuple[int, bytes]] = []
    for at_us, piece in recut(chunks, seed):
        if pieces and at_us - pieces[-1][0] < 200_000 and rng.random() < 0.8:
            piece = pieces.pop()[1] + piece
        pieces.append((at_us, piece))
    return pieces


@pytest.mark.skipif(not COUPS.exists(), reason=f"no data at {COUPS}; TABLECTL_DATA names another folder")
def test_real_coups_have_their_official_winners() -> None:
    """Each frame three times, chunks cut and merged at random: the right cards, once each, both winners."""
    with COUPS.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 200
    rng = random.Random(200)
    deal = Deal()
    deal.pause()
    deal.shoe.stand_by()
    for row in rows:
        for place in PLACES:
            if row[place]:
                suit, _, rank = row[place].partition(".")
                deal.deal(SUITS[suit] | int(rank))
                deal.pause(rng.randint(300, 3000))
        assert deal.shoe.due is None, row
        deal.shoe.stand_by(says_so=rng.random() < 0.9)
    reports = decode(open_angel_eye({}), glued(deal.chunks, 200))
    assert not [r for r in reports if isinstance(r, ReadFailed | Garbage)]
    coups: list[tuple[dict[str, str], ShoeWinner]] = []
    cards: dict[str, str] = {}
    for report in reports:
        match report:
            case CodeRead(code=code, place=str(place)):
                assert place not in cards
                cards[place] = code
            case ShoeResult(winner=winner):
                coups.append((cards, winner))
                cards = {}
    assert not cards
    for row, (cards, winner) in zip(rows, coups, strict=True):
        expected = [f"{SUITS[text[0]] | int(text[2:]):02X}" for place in PLACES if (text := row[place])]
        assert [cards[place] for place in PLACES if place in cards] == expected
        # Five have no official winner; there the file's own reckoning stands.
        assert winner_of(cards) == LETTERS[winner] == (row["official_winner"] or row["winner_by_cards"])
