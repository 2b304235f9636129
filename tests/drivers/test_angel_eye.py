"""Angel Eye shoe, the decoder. Golden bytes are typed from the hardware notes, section 0.1; the check digits
of the frames that are not there were reckoned by hand, never by the encoder."""

from __future__ import annotations

import os

import pytest
from driver_scenes import (
    CUT_SHORT,
    DAMAGED,
    MISSED,
    RESTARTED,
    STAND_BY,
    WRONG_LENGTH,
    collected,
    line_by_chance,
    reads_so,
)

from drivers.angel_eye import (
    DAMAGED_FRAME,
    NOISE,
    AngelEyeOptions,
    Frame,
    encode,
    open_angel_eye,
)
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
from drivers.line_hints import PROBE
from simulators.devices.cuts import Line, decode, merged, recut

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
SILENCE_US = 1_000_000

START_UP = "05 30 53 03 36 30"
P1_DRAWN_1 = "05 31 44 81 80 03 37 37"
P1_2S_6 = "05 36 49 81 b2 03 34 46"
B1_2S_7 = "05 37 49 91 b2 03 35 45"
B1_7C_8 = "05 38 49 91 a7 03 34 34"
NOT_READ_1 = "05 31 45 c1 03 42 36"
OVERDRAW_9 = "05 39 45 82 03 46 44"
STAND_BY_1 = "05 31 50 03 36 32"
STAND_BY_5 = "05 35 50 03 36 36"

P1_2S = CodeRead("B2", 6, "P1")
B1_2S = CodeRead("B2", 7, "B1")
B1_7C = CodeRead("A7", 8, "B1")


def line(*chunks: str, apart_ms: int = 3000) -> Line:
    """Chunks typed in hex, longer apart than any time-out if not said otherwise."""
    return [(apart_ms * 1000 * number, bytes.fromhex(chunk)) for number, chunk in enumerate(chunks, 1)]


def once(*chunks: str) -> Line:
    """Chunks so soon after each other that no time-out passes."""
    return line(*chunks, apart_ms=20)


def result(winner: ShoeWinner, *pairs: str, six: bool = False) -> ShoeResult:
    return ShoeResult(winner, player_pair="P" in pairs, banker_pair="B" in pairs, banker_six=six)


def damaged_copy(count: int) -> Garbage:
    return Garbage(count, DAMAGED_FRAME)


SESSIONS: dict[str, tuple[Line, list[Report]]] = {
    # Hardware notes, 0.1.
    "start-up": (line(START_UP), [RESTARTED]),
    "P1 drawn": (line(P1_DRAWN_1), [CardDrawn("P1")]),
    "two equal cards both count": (line(P1_2S_6, B1_2S_7), [P1_2S, B1_2S]),
    "the number jumped": (line(P1_2S_6, B1_7C_8), [P1_2S, MISSED, B1_7C]),
    "rank 0": (line("05 37 49 91 a0 03 34 43"), [DAMAGED]),
    "rank 14": (line("05 37 49 91 ae 03 34 32"), [DAMAGED]),
    "suit 0": (line("05 37 49 91 87 03 36 42"), [DAMAGED]),
    "suit 5": (line("05 37 49 91 d7 03 33 42"), [DAMAGED]),
    "place 4": (line("05 37 49 94 a7 03 34 45"), [DAMAGED]),
    "not read": (line(NOT_READ_1), [DeviceFault(Fault.NOT_READ, cleared=False)]),
    "overdraw": (line(OVERDRAW_9), [DeviceFault(Fault.OVERDRAW, cleared=False)]),
    "unknown letter": (line("05 31 5a 03 36 38"), [Garbage(6, "frame with the unknown letter 'Z'")]),
    "noise between frames": (
        line(P1_2S_6, "ff ff ff ff c5 fc", B1_2S_7),
        [P1_2S, Garbage(6, NOISE), B1_2S],
    ),
    # Three copies, numbers.
    "three copies are one": (once(*[P1_2S_6] * 3, *[B1_2S_7] * 3), [P1_2S, B1_2S]),
    "a copy long after": (line(P1_2S_6, P1_2S_6, B1_2S_7), [P1_2S, B1_2S]),
    "a refused card is refused once": (once(*["05 37 49 91 a0 03 34 43"] * 3), [DAMAGED]),
    "1 follows 9": (
        line(OVERDRAW_9, NOT_READ_1),
        [DeviceFault(Fault.OVERDRAW, cleared=False), DeviceFault(Fault.NOT_READ, cleared=False)],
    ),
    "1 follows 0": (line(START_UP, P1_DRAWN_1), [RESTARTED, CardDrawn("P1")]),
    "9 does not lead to 0": (
        line(OVERDRAW_9, "05 30 49 81 b2 03 34 39"),
        [DeviceFault(Fault.OVERDRAW, cleared=False), MISSED, CodeRead("B2", 0, "P1")],
    ),
    "start-up is no jump": (line(P1_2S_6, START_UP, STAND_BY_1), [P1_2S, RESTARTED, STAND_BY]),
    "start-up was lost": (line(P1_2S_6, STAND_BY_1), [P1_2S, MISSED, STAND_BY]),
    "same number, another frame": (
        line("05 37 49 91 a0 03 34 43", B1_2S_7),
        [DAMAGED, MISSED, B1_2S],
    ),
    "two missing": (line(STAND_BY_5, B1_7C_8), [STAND_BY, MISSED, B1_7C]),
    # Every letter.
    "stand-by": (line(STAND_BY_5), [STAND_BY]),
    "next coup's first card": (line("05 33 52 81 80 03 36 33"), [CardDrawn("P1", again=True)]),
    "next coup's place 4": (line("05 34 52 84 80 03 36 31"), [DAMAGED]),
    "drawn with a face": (line("05 32 44 81 b2 03 34 36"), [DAMAGED]),
    "Player": (line("05 31 47 90 03 45 35"), [result(ShoeWinner.PLAYER)]),
    "Tie, both pairs": (line("05 32 47 a3 03 44 35"), [result(ShoeWinner.TIE, "P", "B")]),
    "Banker, Player pair": (line("05 33 47 c1 03 42 36"), [result(ShoeWinner.BANKER, "P")]),
    "Banker with six": (line("05 34 47 d2 03 41 32"), [result(ShoeWinner.BANKER, "B", six=True)]),
    "no such winner": (line("05 35 47 b0 03 43 31"), [result(ShoeWinner.UNKNOWN)]),
    "a bit that no result has": (line("05 35 47 94 03 45 35"), [result(ShoeWinner.UNKNOWN)]),
    "another bit that no result has": (line("05 35 47 98 03 45 39"), [result(ShoeWinner.UNKNOWN)]),
    "a bit that a result has not": (line("05 35 47 10 03 36 31"), [result(ShoeWinner.UNKNOWN)]),
    "indicator button": (
        line("05 36 45 83 03 46 33"),
        [DeviceFault(Fault.INDICATOR_BUTTON, cleared=False)],
    ),
    "pulled back at the exit, cleared": (
        line("05 37 65 84 03 44 35"),
        [DeviceFault(Fault.PULLED_BACK_AT_EXIT, cleared=True)],
    ),
    "pulled back on the way": (
        line("05 38 45 85 03 46 42"),
        [DeviceFault(Fault.PULLED_BACK_ON_WAY, cleared=False)],
    ),
    "code error": (line("05 39 45 86 03 46 39"), [DeviceFault(Fault.CODE_ERROR, cleared=False)]),
    "draw time-out": (line("05 31 45 87 03 46 30"), [DeviceFault(Fault.DRAW_TIME_OUT, cleared=False)]),
    "unknown complaint": (line("05 32 45 88 03 46 43"), [DeviceFault(Fault.UNKNOWN, cleared=False)]),
    "read after all": (line("05 32 65 c1 03 39 35"), [DeviceFault(Fault.NOT_READ, cleared=True)]),
    "drawn outside, then taken back or shown": (
        line("05 34 64 81 b2 03 36 30", "05 35 69 81 b2 03 36 43"),
        [DrawnOutside("P1", "B2", ended=False), DrawnOutside("P1", "B2", ended=True)],
    ),
    "two equal cards drawn outside": (
        line("05 34 64 81 b2 03 36 30", "05 35 64 81 b2 03 36 31"),
        [DrawnOutside("P1", "B2", ended=False)] * 2,
    ),
    "drawn outside, face unknown": (
        line("05 34 64 81 80 03 35 32"),
        [DrawnOutside("P1", None, ended=False)],
    ),
    "drawn outside, rank 14": (line("05 34 64 81 8e 03 35 43"), [DAMAGED]),
    "lock": (line("05 32 4c 03 37 44"), [Garbage(6, "frame with the unknown letter 'L'")]),
    "preset": (line("05 33 4d 81 03 46 43"), [Garbage(7, "frame with the unknown letter 'M'")]),
    "a card without its high bit": (line("05 32 49 81 32 03 43 42"), [DAMAGED]),
    "one byte of data too few": (line("05 32 44 81 03 46 34"), [WRONG_LENGTH]),
    "03 as data": (line("05 32 49 81 03 03 46 41"), [DAMAGED]),
    # Damage, and what the numbers prove.
    "wrong check digits": (line("05 31 44 81 80 03 37 38"), [DAMAGED]),
    "lower-case check digits": (line("05 36 49 81 b2 03 34 66"), [DAMAGED]),
    "cut short": (line("05 36 49 81"), [CUT_SHORT]),
    "first copy damaged": (
        once("05 36 49 81 b3 03 34 46", P1_2S_6, P1_2S_6),
        [damaged_copy(8), P1_2S],
    ),
    "second copy damaged": (
        once(P1_2S_6, "05 36 49 81 b3 03 34 46", P1_2S_6),
        [P1_2S, damaged_copy(8)],
    ),
    "last copy damaged": (once(P1_2S_6, P1_2S_6, "05 36 49 80 b2 03 34 46"), [P1_2S, damaged_copy(8)]),
    "last copy damaged, next card later": (
        line(P1_2S_6, "05 36 49 80 b2 03 34 46", B1_2S_7),
        [P1_2S, damaged_copy(8), B1_2S],
    ),
    "a copy cut, the next at once": (once("05 36 49 81", P1_2S_6), [damaged_copy(4), P1_2S]),
    "a copy cut behind its 05": (once("05", P1_2S_6), [damaged_copy(1), P1_2S]),
    "two copies damaged": (
        once("05 37 49 81 b2 03 34 46", "05 36 49 81 b2 03 34 47", P1_2S_6),
        [damaged_copy(16), P1_2S],
    ),
    "all copies damaged, silence": (
        [*once(P1_2S_6, *["05 37 49 91 b3 03 35 45"] * 3), (9_000_000, bytes.fromhex(B1_7C_8))],
        [P1_2S, DAMAGED, B1_7C],
    ),
    "all copies damaged, no silence": (
        once(P1_2S_6, *["05 37 49 91 b3 03 35 45"] * 3, B1_7C_8),
        [P1_2S, damaged_copy(24), MISSED, B1_7C],
    ),
    "one failed read does not stand for two missing frames": (
        line(STAND_BY_5, "05 36 49 81 b3 03 34 46", B1_7C_8),
        [STAND_BY, DAMAGED, MISSED, B1_7C],
    ),
    "a failed read of no known number stands for no missing frame": (
        line(P1_2S_6, "05 ff 49 91 b2 03 35 45", B1_7C_8),
        [P1_2S, DAMAGED, MISSED, B1_7C],
    ),
    "a damaged frame that was a copy after all": (
        line(P1_2S_6, "05 ff 49 81 b2 03 34 46", B1_2S_7),
        [P1_2S, DAMAGED, B1_2S],
    ),
    "one damaged copy and one damaged frame": (
        once(P1_2S_6, "05 37 49 91 b3 03 35 45", "05 36 49"),
        [P1_2S, DAMAGED],
    ),
    "begin byte lost": (once("36 49 81 b2 03 34 46", P1_2S_6), [Garbage(7, NOISE), P1_2S]),
    "begin byte as data": (once("05 36 49 81 05 03 34 46", P1_2S_6), [damaged_copy(8), P1_2S]),
    "noise runs into a frame": (line("ff ff " + P1_2S_6), [Garbage(2, NOISE), P1_2S]),
    "foreign probe": (line("41 54 2b 47 43 41 50 0d"), [Garbage(8, PROBE)]),
    "begin bytes alone": (line("05 05 05"), [DAMAGED]),
}
BY_NAME = pytest.mark.parametrize(("chunks", "expected"), SESSIONS.values(), ids=SESSIONS.keys())


@BY_NAME
def test_golden(chunks: Line, expected: list[Report]) -> None:
    reads_so(lambda: open_angel_eye({}), chunks, expected)


@BY_NAME
def test_golden_merged(chunks: Line, expected: list[Report]) -> None:
    assert decode(open_angel_eye({}), merged(chunks, SILENCE_US)) == expected


def random_line(seed: int) -> Line:
    """Frames, damage and noise with silences around the time-out, also a microsecond beside it."""
    typed = (START_UP, P1_DRAWN_1, P1_2S_6, B1_2S_7, B1_7C_8, "05 37 49 91 b3 03 35 45", "05 36 49")
    pieces = [*map(bytes.fromhex, typed), b"\xff\xff", b"\x05", b"\x03" * 9]
    silences_us = (0, 500, 20_000, SILENCE_US - 1, SILENCE_US, SILENCE_US + 1, 7_000_000)
    return line_by_chance(seed, pieces, silences_us)


@pytest.mark.parametrize("seed", range(20))
def test_cuts_merges_and_late_ticks_read_the_same(seed: int) -> None:
    chunks = random_line(seed)
    whole = decode(open_angel_eye({}), chunks)
    assert {type(report) for report in whole} >= {CodeRead, ReadFailed, Garbage}
    assert decode(open_angel_eye({}), recut(chunks, seed)) == whole
    fewer = merged(chunks, SILENCE_US)
    assert len(fewer) < len(chunks)
    assert decode(open_angel_eye({}), fewer) == whole
    framer = open_angel_eye({})
    for at_us, chunk in chunks:
        framer.receive(chunk, at_us)
    framer.tick(10**12)
    assert collected(framer) == whole


def test_deadline_follows_the_last_byte_of_what_is_open() -> None:
    framer = open_angel_eye({})
    assert framer.next_deadline_us() is None
    framer.receive(bytes.fromhex("05 36 49"), 5)
    framer.receive(bytes.fromhex("81"), 70_000)
    assert framer.next_deadline_us() == 70_000 + SILENCE_US
    framer.tick(70_000 + SILENCE_US - 1)
    assert framer.next_report() is None
    framer.tick(70_000 + SILENCE_US)
    assert framer.next_report() == CUT_SHORT
    assert framer.next_deadline_us() is None
    framer.receive(bytes.fromhex("ff" + P1_2S_6), 2_000_000)
    assert framer.next_deadline_us() is None


# The line goes down and comes back.


def reopened(before: str, after: str) -> list[Report]:
    """What is read on both sides of a reconnect."""
    framer = open_angel_eye({})
    framer.receive(bytes.fromhex(before), 0)
    framer.opened(50_000)
    framer.receive(bytes.fromhex(after), 60_000)
    return collected(framer)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (P1_2S_6, B1_2S_7, [P1_2S, B1_2S]),
        (P1_2S_6, B1_7C_8, [P1_2S, MISSED, B1_7C]),
        (P1_2S_6, P1_2S_6, [P1_2S]),
        (P1_2S_6 + "05 37 49", B1_2S_7, [P1_2S, CUT_SHORT, B1_2S]),
        # The failed read of before can't stand for what was lost while the line was down.
        (P1_2S_6 + "05 37 49", B1_7C_8, [P1_2S, CUT_SHORT, MISSED, B1_7C]),
        # Nine frames or a power-up may lie between: the table hears it again.
        (START_UP, START_UP, [RESTARTED, RESTARTED]),
        (STAND_BY_5, STAND_BY_5 * 3, [STAND_BY, MISSED, STAND_BY]),
        (START_UP, START_UP * 3 + STAND_BY_1, [RESTARTED, RESTARTED, STAND_BY]),
    ],
)
def test_numbers_go_on_over_a_reconnect(before: str, after: str, expected: list[Report]) -> None:
    assert reopened(before, after) == expected


# The host's answer.


def test_by_default_the_host_is_silent() -> None:
    framer = open_angel_eye({})
    framer.receive(bytes.fromhex(P1_2S_6 + STAND_BY_5), 0)
    for report in collected(framer):
        framer.acknowledge(report)
    assert framer.bytes_to_send() == b""


def test_a_read_is_acknowledged_when_it_is_durable_and_again_when_it_comes_again() -> None:
    framer = open_angel_eye({"acknowledge": "06 0d"})
    framer.receive(bytes.fromhex(P1_2S_6), 0)
    assert framer.bytes_to_send() == b""
    framer.receive(bytes.fromhex(P1_2S_6), 1)  # Sent again before the input was durable.
    [report] = collected(framer)
    assert framer.bytes_to_send() == b""
    framer.acknowledge(report)
    assert framer.bytes_to_send() == b"\x06\x0d"
    assert framer.bytes_to_send() == b""
    framer.receive(bytes.fromhex(P1_2S_6 * 100), 2)
    assert collected(framer) == []
    assert framer.bytes_to_send() == b"\x06\x0d"
    framer.acknowledge(report)
    assert framer.bytes_to_send() == b""


@pytest.mark.parametrize("frame", [START_UP, STAND_BY_5, "05 31 5a 03 36 38"])
def test_what_the_shoe_says_of_itself_is_acknowledged_at_once(frame: str) -> None:
    framer = open_angel_eye({"acknowledge": "06"})
    framer.receive(bytes.fromhex(frame), 0)
    assert framer.bytes_to_send() == b"\x06"
    [report] = collected(framer)
    framer.acknowledge(report)
    assert framer.bytes_to_send() == b""


@pytest.mark.parametrize("frame", ["05 37 49 91 a0 03 34 43", OVERDRAW_9, "05 31 47 90 03 45 35"])
def test_refused_cards_complaints_and_results_are_acknowledged_too(frame: str) -> None:
    framer = open_angel_eye({"acknowledge": "06"})
    framer.receive(bytes.fromhex(frame), 0)
    assert framer.bytes_to_send() == b""
    framer.acknowledge(collected(framer)[0])
    assert framer.bytes_to_send() == b"\x06"


def test_the_failed_read_of_a_jump_alone_releases_no_answer() -> None:
    framer = open_angel_eye({"acknowledge": "06"})
    framer.receive(bytes.fromhex(P1_2S_6 + B1_7C_8), 0)
    read, missed, late = collected(framer)
    for report, sent in ((read, b""), (missed, b""), (late, b"\x06")):
        framer.acknowledge(report)
        assert framer.bytes_to_send() == sent, report


def test_stand_by_behind_a_jump_waits_for_the_failed_read() -> None:
    framer = open_angel_eye({"acknowledge": "06"})
    framer.receive(bytes.fromhex(P1_2S_6 + STAND_BY_5), 0)
    missed = collected(framer)[1]
    assert framer.bytes_to_send() == b""
    framer.acknowledge(missed)
    assert framer.bytes_to_send() == b"\x06"


def test_damaged_frames_are_not_answered_nor_what_was_due_before_a_reconnect() -> None:
    framer = open_angel_eye({"acknowledge": "06"})
    framer.receive(bytes.fromhex("05 36 49 81 b3 03 34 46"), 0)
    framer.tick(SILENCE_US)
    framer.acknowledge(collected(framer)[0])
    assert framer.bytes_to_send() == b""
    framer.receive(bytes.fromhex(START_UP), 2_000_000)
    framer.opened(3_000_000)
    assert framer.bytes_to_send() == b""


# The other direction, and options.


@pytest.mark.parametrize(
    ("frame", "typed"),
    [
        (Frame(0, "S"), START_UP),
        (Frame(1, "D", b"\x81\x80"), P1_DRAWN_1),
        (Frame(7, "I", b"\x91\xb2"), B1_2S_7),
        (Frame(9, "E", b"\x82"), OVERDRAW_9),
    ],
)
def test_encode(frame: Frame, typed: str) -> None:
    assert encode(frame) == bytes.fromhex(typed)


@pytest.mark.parametrize("frame", [Frame(10, "S"), Frame(1, "é"), Frame(1, "SS"), Frame(1, "I", b"\x81" * 3)])
def test_encode_refuses_what_no_frame_can_carry(frame: Frame) -> None:
    with pytest.raises(ValueError, match="no frame: number"):
        encode(frame)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"acknowlege": "06"}, "option 'acknowlege' is not .*; nearest is 'acknowledge'"),
        ({"acknowledge": "ACK"}, "acknowledge: 'ACK' is not bytes in hex"),
        ({"silence_ms": 1}, "silence_ms"),
    ],
)
def test_options_that_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=f"driver angel_eye: .*{message}"):
        open_angel_eye(options)


def test_options() -> None:
    framer = open_angel_eye({"silence_ms": 50})
    assert framer.options == AngelEyeOptions(silence_ms=50)
    assert framer.shortest_timeout_us == 50_000
