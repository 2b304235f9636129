"""Delimited ASCII scanners. This file is the pattern for the test file of every other device family:

golden bytes typed from the hardware notes, the ways of cutting a line, hostile bytes, the simulator's
faults. The bytes of the golden sessions are typed by hand and never come from the encoder.
"""

from __future__ import annotations

import random
import re

import pytest
from driver_scenes import CUT_SHORT, DAMAGED, NO_READ, WRONG_LENGTH, line_by_chance, reads_so

from drivers.contract import REPORTS_MAX, CodeRead, FailedReadCause, Garbage, ReadFailed, Report
from drivers.delimited import (
    GARBAGE_RUN_MAX,
    SURPLUS,
    DelimitedFramer,
    DelimitedOptions,
    Terminator,
    encode,
    open_delimited,
)
from simulators.devices.cuts import Line, decode, merged, recut
from simulators.devices.delimited import DelimitedScanner, Fault

GAP_US = 100_000


def line(*chunks: str) -> Line:
    """Chunks typed in hex, a second apart."""
    return [(1_000_000 * number, bytes.fromhex(chunk)) for number, chunk in enumerate(chunks, 1)]


def noise(count: int) -> Garbage:
    return Garbage(count, "bytes outside printable ASCII")


def no_frame(count: int) -> Garbage:
    return Garbage(0, f"{count} bytes without a frame: check baud, parity and family")


def empty(count: int) -> Garbage:
    return Garbage(count, "terminator without a frame")


CR: dict[str, object] = {"terminator": "cr"}
CR_LF: dict[str, object] = {"terminator": "cr-lf"}
STX: dict[str, object] = {"prefix": "\x02", "postfix": "#"}

SESSIONS: dict[str, tuple[dict[str, object], Line, list[Report]]] = {
    # Hardware notes, 2.2.
    "ace of spades, CR LF": ({}, line("313031300D0A"), [CodeRead("1010")]),
    "queen of diamonds, LF": ({}, line("4431320A"), [CodeRead("D12")]),
    "king of diamonds, AIM id, CR": (CR, line("5D4330343133300D"), [CodeRead("4130")]),
    "no read": ({}, line("4E4F524541440D0A"), [NO_READ]),
    "Honeywell, CR": (CR, line("313031300D"), [CodeRead("1010")]),
    # 2.3 and the lessons of the public program.
    "the same card twice is two cards": ({}, line("313031300A", "313031300A"), [CodeRead("1010")] * 2),
    "two frames glued": ({}, line("313031300A343133300A"), [CodeRead("1010"), CodeRead("4130")]),
    "half a code, then silence": ({}, line("3130", "343133300A"), [CUT_SHORT, CodeRead("4130")]),
    "half a code with CR, then silence": ({}, line("31300D", "343133300A"), [CUT_SHORT, CodeRead("4130")]),
    "silence inside the terminator": ({}, line("313031300D", "0A"), [CUT_SHORT, empty(1)]),
    "noise between frames": ({}, line("FFFFFFFFC5FC", "313031300A"), [noise(6), CodeRead("1010")]),
    "noise and a terminator": ({}, line("FF800A"), [noise(3)]),
    "noise in front of a frame": ({}, line("FF313031300A"), [DAMAGED]),
    "noise inside a frame": ({}, line("3130B1300A"), [DAMAGED]),
    "noise inside a frame, then silence": ({}, line("3130B130"), [DAMAGED]),
    "DEL is no code": ({}, line("31307F300A"), [DAMAGED]),
    "CR inside a frame": ({}, line("31300D31300A"), [DAMAGED]),
    "two CR": ({}, line("313031300D0D0A"), [DAMAGED]),
    "lost terminator, next card at once": ({}, line("31303130343133300A"), [CodeRead("10104130")]),
    "lost terminator, next card later": ({}, line("31303130", "343133300A"), [CUT_SHORT, CodeRead("4130")]),
    "bare terminators": ({}, line("0A0D0A"), [empty(1), empty(2)]),
    "CR takes CR LF": (
        CR,
        line("313031300D0A", "343133300D0A343133300D"),
        [CodeRead("1010"), CodeRead("4130"), CodeRead("4130")],
    ),
    "CR: LF inside a frame": (CR, line("31300A31300D"), [DAMAGED]),
    "CR LF: both": (CR_LF, line("313031300D0A"), [CodeRead("1010")]),
    "CR LF: lost CR": (CR_LF, line("313031300A"), [DAMAGED]),
    "CR LF: lost LF": (CR_LF, line("313031300D343133300D0A"), [DAMAGED]),
    "CR LF: bare LF": (CR_LF, line("0A"), [empty(1)]),
    "framed by STX and #": (STX, line("0231303130230A"), [CodeRead("1010")]),
    "lost prefix": (STX, line("31303130230A"), [DAMAGED]),
    "lost postfix": (STX, line("02313031300A"), [DAMAGED]),
    "framing without data": (STX, line("02230A"), [DAMAGED]),
    "prefix twice": (STX, line("02313002313031300A"), [DAMAGED]),
    "framed, then silence": (STX, line("023130"), [CUT_SHORT]),
    "scanner in a mode with prefix": ({}, line("02313031300A"), [DAMAGED]),
    "AIM id kept": ({"aim_id": False}, line("5D4330343133300A"), [CodeRead("]C04130")]),
    "AIM id alone": ({}, line("5D43300A"), [WRONG_LENGTH]),
    "Zebra's no-read has an AIM id": ({"no_read": ["ERROR", "NR"]}, line("5D41304E520A"), [NO_READ]),
    "several no-read strings": (
        {"no_read": ["NO LABEL", "BADCODE"]},
        line("4E4F204C4142454C0A", "424144434F44450A"),
        [NO_READ, NO_READ],
    ),
    "no-read off": ({"no_read": []}, line("4E4F524541440A"), [CodeRead("NOREAD")]),
    "shorter than codes are": ({"min_length": 4}, line("3130", "31300A"), [CUT_SHORT, WRONG_LENGTH]),
    "longer than codes are": ({"max_length": 4}, line("31303130310A"), [WRONG_LENGTH]),
    "a no-read longer than codes are": ({"max_length": 3}, line("4E4F524541440A"), [NO_READ]),
    "far too long": (
        {"max_length": 4, "no_read": []},
        line("31" * 12 + "0A", "313031300A"),
        [WRONG_LENGTH, Garbage(12 - 9 + 1, SURPLUS), CodeRead("1010")],
    ),
    "far too long, then silence": (
        {"max_length": 4, "no_read": []},
        line("31" * 12, "313031300A"),
        [WRONG_LENGTH, Garbage(12 - 9, SURPLUS), CodeRead("1010")],
    ),
    "long noise": (
        {"max_length": 4, "no_read": []},
        line("FF" * 40, "313031300A"),
        [Garbage(40, SURPLUS), CodeRead("1010")],
    ),
    "long noise runs into a frame": (
        {"max_length": 4, "no_read": []},
        line("FF" * 40 + "313031300A"),
        [DAMAGED, Garbage(45, SURPLUS)],
    ),
}
BY_NAME = pytest.mark.parametrize(("options", "chunks", "expected"), SESSIONS.values(), ids=SESSIONS.keys())


@BY_NAME
def test_golden(options: dict[str, object], chunks: Line, expected: list[Report]) -> None:
    reads_so(lambda: open_delimited(options), chunks, expected)


SPELLED = {Terminator.LF: rb"([ -~]+)\r?", Terminator.CR: rb"\n?([ -~]+)", Terminator.CR_LF: rb"([ -~]+)\r"}


def random_line(seed: int) -> Line:
    """Frames and faults with silences around the character gap, also a microsecond beside it."""
    pieces = (b"1010\n", b"4130\r\n", b"41", b"30\n", b"\n", b"\r", b"\xff\x80", b"]C0", b"9" * 90)
    silences_us = (0, 500, 20_000, GAP_US - 1, GAP_US, GAP_US + 1, 700_000)
    return line_by_chance(seed, pieces, silences_us)


@pytest.mark.parametrize("terminator", SPELLED)
@pytest.mark.parametrize("seed", range(20))
def test_cuts_and_merges_read_the_same(seed: int, terminator: Terminator) -> None:
    chunks = random_line(seed)
    options = {"terminator": terminator.value}
    whole = decode(open_delimited(options), chunks)
    assert decode(open_delimited(options), recut(chunks, seed)) == whole
    fewer = merged(chunks, open_delimited(options).shortest_timeout_us)
    assert len(fewer) < len(chunks)
    assert decode(open_delimited(options), fewer) == whole


def test_ticks_that_come_late_change_nothing() -> None:
    """A loop that overslept ticks after the next chunk has been stamped; the stamps alone decide."""
    for seed in range(20):
        framer, reports = open_delimited({}), []
        for at_us, chunk in random_line(seed):
            framer.receive(chunk, at_us)
            while (report := framer.next_report()) is not None:
                reports.append(report)
        framer.tick(10**12)
        while (report := framer.next_report()) is not None:
            reports.append(report)
        assert reports == decode(open_delimited({}), random_line(seed))


def test_deadline_follows_the_last_byte_of_an_open_frame() -> None:
    framer = open_delimited({})
    assert framer.next_deadline_us() is None
    framer.receive(b"10", 5)
    assert framer.next_deadline_us() == 5 + GAP_US
    framer.receive(b"1", 70_000)
    framer.tick(70_000 + GAP_US - 1)
    assert framer.next_report() is None
    framer.receive(b"0\n", 70_000 + GAP_US - 1)
    assert framer.next_report() == CodeRead("1010")
    assert framer.next_deadline_us() is None


def spelled_codes(data: bytes, terminator: Terminator) -> list[str]:
    """What the bytes spell, by pattern and not by automaton; at most 64 characters, no AIM id."""
    codes = []
    for piece in data.split(b"\r" if terminator is Terminator.CR else b"\n")[:-1]:
        match = re.fullmatch(SPELLED[terminator], piece)
        code = re.sub(r"^\][A-Za-z][A-Za-z0-9]", "", match[1].decode()) if match else ""
        if 1 <= len(code) <= 64:
            codes.append(code)
    return codes


@pytest.mark.parametrize("terminator", SPELLED)
@pytest.mark.parametrize("alphabet", ["any", "likely"])
def test_random_bytes(terminator: Terminator, alphabet: str) -> None:
    """No exception, a bounded buffer, and exactly the codes that the bytes spell."""
    rng = random.Random(f"{terminator} {alphabet}")
    data = rng.randbytes(200_000)
    if alphabet == "likely":
        data = bytes(b"10A]C\r\n\n\xff\x02"[byte % 10] for byte in data)
    framer = open_delimited({"terminator": terminator.value})
    codes = []
    for offset in range(0, len(data), 997):
        framer.receive(data[offset : offset + 997], offset)
        assert len(framer._cutter.held) <= framer._cutter.held_max
        while (report := framer.next_report()) is not None:
            if isinstance(report, CodeRead):
                codes.append(report.code)
    assert codes == spelled_codes(data, terminator)
    assert len(codes) > 500 or alphabet == "any"


def test_flood_without_an_end_is_counted_and_not_kept() -> None:
    framer = open_delimited({})
    for at_us in range(64):
        framer.receive(b"1" * 4096, at_us)
    reports = []
    while (report := framer.next_report()) is not None:
        reports.append(report)
    assert reports[0] == WRONG_LENGTH
    surplus = [report for report in reports[1:] if report == Garbage(GARBAGE_RUN_MAX, SURPLUS)]
    warnings = [report for report in reports[1:] if report not in surplus]
    assert len(surplus) == 63
    assert warnings == [no_frame(4096 << doublings) for doublings in range(6)]
    assert len(framer._cutter.held) == 0


def test_reports_that_nobody_collects_are_bounded_and_say_so() -> None:
    framer = open_delimited({})
    framer.receive(b"1\n" * 50_000, 0)
    reports = []
    while (report := framer.next_report()) is not None:
        reports.append(report)
    assert len(reports) == REPORTS_MAX
    assert reports[-1] == ReadFailed(FailedReadCause.OVERRUN)
    assert set(reports[:-1]) == {CodeRead("1")}


def test_nothing_is_sent_to_the_scanner() -> None:
    framer = open_delimited({})
    framer.receive(b"1010\n", 0)
    report = framer.next_report()
    assert report is not None
    framer.acknowledge(report)
    assert framer.bytes_to_send() == b""


# The other direction.


@pytest.mark.parametrize(
    ("options", "frame"),
    [
        (DelimitedOptions(), "34 31 33 30 0A"),
        (DelimitedOptions(terminator=Terminator.CR), "34 31 33 30 0D"),
        (DelimitedOptions(terminator=Terminator.CR_LF), "34 31 33 30 0D 0A"),
        (DelimitedOptions(prefix="\x02", postfix="#"), "02 34 31 33 30 23 0A"),
    ],
)
def test_encode(options: DelimitedOptions, frame: str) -> None:
    assert encode("4130", options) == bytes.fromhex(frame)
    assert decode(DelimitedFramer(options), [(0, encode("4130", options))]) == [CodeRead("4130")]


@pytest.mark.parametrize("data", ["", "10\n", "\x02", "é"])
def test_encode_refuses_what_no_frame_can_carry(data: str) -> None:
    with pytest.raises(ValueError, match="not printable ASCII"):
        encode(data, DelimitedOptions())


# The simulated scanner's faults, as the driver reads them.


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (None, [CodeRead("1010")]),
        (Fault.SPLIT, [CodeRead("1010")]),
        (Fault.CUT, [CUT_SHORT]),
        (Fault.LOST_TERMINATOR, [CUT_SHORT]),
        (Fault.NOISE, [DAMAGED]),
    ],
)
def test_fault_and_the_scan_after_it(fault: Fault | None, expected: list[Report], seed: int) -> None:
    chunks: list[tuple[int, bytes]] = []
    now_us = 0
    scanner = DelimitedScanner(lambda data: chunks.append((now_us, data)), seed=seed)
    scanner.scan("1010", fault)
    now_us = 1_000_000
    scanner.scan("4130")
    assert decode(open_delimited({}), chunks) == [*expected, CodeRead("4130")]


def test_flipped_byte_is_never_the_code_that_was_scanned() -> None:
    for seed in range(200):
        pieces: list[bytes] = []
        DelimitedScanner(pieces.append, seed=seed).scan("1010", Fault.FLIPPED_BYTE)
        reports = decode(open_delimited({}), [(0, piece) for piece in pieces])
        assert reports
        assert CodeRead("1010") not in reports


# Options.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"terminater": "lf"}, "driver delimited: option 'terminater' is not .*; nearest is 'terminator'"),
        ({"profile": "generik"}, "driver delimited: profile 'generik' is not .*; nearest is 'generic'"),
        ({"terminator": "crlf"}, r"driver delimited: .*'crlf'.*terminator"),
        ({"char_gap_ms": "soon"}, r"driver delimited: Expected `int`, got `str` - at `\$\.char_gap_ms`"),
        ({"char_gap_ms": 1}, "driver delimited: .*char_gap_ms"),
        ({"min_length": 5, "max_length": 4}, "min_length 5 is above max_length 4"),
        ({"prefix": "\n"}, "prefix, postfix: .* is not ASCII without CR and LF"),
        ({"no_read": "\x00"}, "no_read: .* is not printable ASCII"),
    ],
)
def test_options_that_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        open_delimited(options)


def test_options_go_on_top_of_the_profile() -> None:
    framer = open_delimited({"profile": "generic", "no_read": "ERROR", "char_gap_ms": 50})
    assert framer.options == DelimitedOptions(no_read=("ERROR",), char_gap_ms=50)
    assert framer.shortest_timeout_us == 50_000


def test_a_frame_that_had_begun_ends_with_its_line() -> None:
    framer = open_delimited({})
    framer.receive(b"10", 0)
    framer.opened(50_000)
    framer.receive(b"1010\n", 60_000)
    reports = [framer.next_report() for _ in range(3)]
    assert reports == [ReadFailed(FailedReadCause.CUT_SHORT), CodeRead("1010"), None]
