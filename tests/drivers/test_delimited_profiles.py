"""The profiles of the delimited family: envelope, answers to the scanner, repeats, hints. Goldens by hand."""

from __future__ import annotations

import os
import random
import re
import tomllib
from pathlib import Path

import msgspec
import pytest
from driver_scenes import CUT_SHORT, DAMAGED, NO_READ, WRONG_LENGTH, collected, line_by_chance, reads_so

from drivers.contract import (
    REPORTS_MAX,
    CodeRead,
    Garbage,
    Report,
    SerialSettings,
)
from drivers.delimited import (
    ASKED_AGAIN,
    NOISE,
    PROFILES,
    DelimitedFramer,
    DelimitedOptions,
    encode,
    open_delimited,
)
from drivers.line_hints import FIRST_COUNT, PROBE
from simulators.devices.cuts import Line, decode, merged, recut

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
ACE = CodeRead("1010")


def line(*chunks: tuple[int, str]) -> Line:
    """Chunks typed in hex, each at its millisecond."""
    return [(1_000 * at_ms, bytes.fromhex(chunk)) for at_ms, chunk in chunks]


def asked(count: int) -> Garbage:
    return Garbage(count, ASKED_AGAIN)


FRAME = "02 31303130 0D0A 03 04"
FLIPPED = "02 31303131 0D0A 03 04"
PLAIN: dict[str, object] = {"profile": "omron-ack", "handshake": False}
STX_ETX: dict[str, object] = {"envelope": "stx-etx", "terminator": "none", "no_read": "ERROR"}
REPEATS: dict[str, object] = {"repeat_ms": 300}
RESENDS: dict[str, object] = {"profile": "honeywell-ack", "unanswered_ms": 2000}

SESSIONS: dict[str, tuple[dict[str, object], Line, list[Report]]] = {
    # Hardware notes, 2.2 and the table of 2.1.
    "generic": ({}, line((0, "313031300D0A"), (999, "4431320A")), [ACE, CodeRead("D12")]),
    "Zebra raw: AIM id": ({"profile": "zebra-raw"}, line((0, "5D4330343133300D")), [CodeRead("4130")]),
    "Zebra raw: no read": ({"profile": "zebra-raw"}, line((0, "4E520D"), (9, "5D41304E520D")), [NO_READ] * 2),
    "Honeywell": ({"profile": "honeywell-ack"}, line((0, "313031300D")), [ACE]),
    "Omron: no read": ({"profile": "omron"}, line((0, "4E4F524541440D0A")), [NO_READ]),
    "Omron: MS-850": (
        {"profile": "omron"},
        line((0, "4E4F204C4142454C0D0A424144434F44450D0A")),
        [NO_READ, NO_READ],
    ),
    "Omron: LRC": ({"profile": "omron-ack"}, line((0, FRAME)), [ACE]),
    "SICK, Keyence: STX and ETX": (STX_ETX, line((0, "023130313003 024552524F5203")), [ACE, NO_READ]),
    # The envelope.
    "wrong LRC": (PLAIN, line((0, FLIPPED), (50, FRAME)), [DAMAGED, ACE]),
    "LRC that is an STX": (PLAIN, line((0, "02 37 0D0A 03 33")), [CodeRead("7")]),
    "LRC that looks like ETX": (
        {**PLAIN, "terminator": "none"},
        line((0, "02 3131 03 03")),
        [CodeRead("11")],
    ),
    "LRC that looks like STX": (
        {**PLAIN, "terminator": "none"},
        line((0, "02 3130 03 02")),
        [CodeRead("10")],
    ),
    "lost STX": (PLAIN, line((0, "31303130 0D0A 03"), (500, FRAME)), [DAMAGED, ACE]),
    "lost ETX, next frame at once": (PLAIN, line((0, "02 31303130 0D0A 04" + FRAME)), [DAMAGED]),
    "lost ETX, next frame later": (PLAIN, line((0, "02 31303130 0D0A"), (500, FRAME)), [CUT_SHORT, ACE]),
    "lost LRC, next frame later": (PLAIN, line((0, "02 31303130 0D0A 03"), (500, FRAME)), [CUT_SHORT, ACE]),
    "STX inside a frame": (PLAIN, line((0, "02 31 02 3130 0D0A 03 05")), [DAMAGED]),
    "lost terminator": (PLAIN, line((0, "02 31303130 03 03")), [DAMAGED]),
    "noise between": (PLAIN, line((0, "FF80"), (500, FRAME)), [Garbage(2, NOISE), ACE]),
    "noise in front": (PLAIN, line((0, "FF" + FRAME + FRAME)), [DAMAGED, ACE]),
    "STX and no more": (PLAIN, line((0, "02"), (500, FRAME)), [CUT_SHORT, ACE]),
    "bare ETX": (PLAIN, line((0, "03" + FRAME)), [Garbage(1, "terminator without a frame"), ACE]),
    "no more room": (
        {**PLAIN, "max_length": 4, "no_read": []},
        line((0, "02" + "31" * 20 + "0D0A 03 04" + FRAME)),
        [WRONG_LENGTH, Garbage(13, "bytes beyond the longest possible frame"), ACE],
    ),
    # Asked for again: one read, however often it was damaged; a failure when nothing comes in time.
    "damaged, then sent again": (
        {"profile": "omron-ack"},
        line((0, FLIPPED), (50, FRAME)),
        [asked(9), ACE],
    ),
    "damaged twice, then well": (
        {"profile": "omron-ack"},
        line((0, FLIPPED), (150, FLIPPED), (300, FRAME)),
        [asked(9), asked(9), ACE],
    ),
    "damaged for good": (
        {"profile": "omron-ack"},
        line((0, FLIPPED), (50, FLIPPED), (100, FLIPPED), (150, FLIPPED), (800, FRAME)),
        [asked(9), asked(9), asked(9), DAMAGED, ACE],
    ),
    "damaged, and nothing more": ({"profile": "omron-ack"}, line((0, FLIPPED)), [asked(9), DAMAGED]),
    "damaged, and the answer is late": (
        {"profile": "omron-ack"},
        line((0, FLIPPED), (200, FRAME)),
        [asked(9), DAMAGED, ACE],
    ),
    "damaged, and the answer is just in time": (
        {"profile": "omron-ack"},
        line((0, FLIPPED), (199, "02 31"), (280, "303130 0D0A 03 04")),
        [asked(9), ACE],
    ),
    "damaged, and again it can't read": (
        {"profile": "omron-ack"},
        line((0, FLIPPED), (50, "02 4E4F52454144 0D0A 03 17")),
        [asked(9), NO_READ],
    ),
    "wrong length without an LRC may be damage": (
        {"profile": "honeywell-ack", "min_length": 4},
        line((0, "3130300D"), (50, "313031300D")),
        [asked(4), ACE],
    ),
    "wrong length under an LRC is the code's": (
        {"profile": "omron-ack", "min_length": 5},
        line((0, FRAME)),
        [WRONG_LENGTH],
    ),
    # What may be one card twice.
    "the same code within the guard time": (
        REPEATS,
        line((0, "313031300A"), (299, "313031300A"), (599, "313031300A")),
        [ACE, CodeRead("1010", repeat=True), ACE],
    ),
    "the same code after another one": (
        REPEATS,
        line((0, "313031300A"), (100, "343133300A"), (200, "313031300A")),
        [ACE, CodeRead("4130"), CodeRead("1010", repeat=True)],
    ),
    "without a guard time": ({}, line((0, "313031300A313031300A")), [ACE, ACE]),
    "unanswered, and sent again": (
        RESENDS,
        line((0, "313031300D"), (2000, "313031300D"), (4100, "313031300D")),
        [ACE, CodeRead("1010", repeat=True), CodeRead("1010", repeat=True)],
    ),
    "the same card, at another time than a resend": (
        RESENDS,
        line((0, "313031300D"), (1700, "313031300D"), (4000, "313031300D")),
        [ACE, ACE, ACE],
    ),
    "another card at the time of a resend": (
        RESENDS,
        line((0, "313031300D"), (2000, "343133300D")),
        [ACE, CodeRead("4130")],
    ),
    # What is wrong with the line.
    "a modem probe": (
        {},
        line((0, "41540D0A"), (500, "41542B47434150 0D0A")),
        [Garbage(4, PROBE), Garbage(9, PROBE)],
    ),
    "modem probes without an end": (
        {},
        line((0, "41540D41540D"), (900, "313031300A")),
        [Garbage(6, PROBE), ACE],
    ),
    "a modem probe in front of an envelope": (
        PLAIN,
        line((0, "41540D"), (500, FRAME)),
        [Garbage(3, PROBE), ACE],
    ),
    "codes that begin as a probe does": (
        {},
        line((0, "4154310A"), (500, "415444420A")),
        [CodeRead("AT1"), CodeRead("ATDB")],
    ),
}
BY_NAME = pytest.mark.parametrize(("options", "chunks", "expected"), SESSIONS.values(), ids=SESSIONS.keys())


@BY_NAME
def test_golden(options: dict[str, object], chunks: Line, expected: list[Report]) -> None:
    reads_so(lambda: open_delimited(options), chunks, expected)


def random_line(seed: int, options: DelimitedOptions) -> Line:
    """Frames and damaged ones, with silences around every time-out there is."""
    frame = encode("1010", options)
    pieces = (frame, frame, encode("4130", options), frame[:3], frame[2:], b"\xff", b"\x02", b"\x03", b"AT\r")
    silences_us = (0, 500, 99_999, 100_000, 199_999, 200_001, 300_000, 1_900_000)
    return line_by_chance(seed, pieces, silences_us)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("more", [{}, REPEATS], ids=["", "repeats"])
def test_cuts_and_merges_read_the_same(profile: str, more: dict[str, object], seed: int) -> None:
    options = {"profile": profile, **more}
    chunks = random_line(seed, open_delimited(options).options)
    whole = decode(open_delimited(options), chunks)
    assert decode(open_delimited(options), recut(chunks, seed)) == whole
    assert (
        decode(open_delimited(options), merged(chunks, open_delimited(options).shortest_timeout_us)) == whole
    )


def spelled_in_envelopes(data: bytes) -> list[str]:
    """What the bytes spell as STX..ETX LRC frames with CR LF, by pattern and not by automaton."""
    codes = []
    for found in re.finditer(rb"(\x02[^\x03]*)\x03(.)|[^\x03]*\x03[^\x02]?", data, re.DOTALL):
        held, lrc = found[1] or b"", ord(found[2] or b"\0")
        for byte in held[1:]:
            lrc ^= byte
        match = re.fullmatch(rb"\x02([ -~]+)\r\n", held)
        code = re.sub(r"^\][A-Za-z][A-Za-z0-9]", "", match[1].decode()) if match and lrc == 3 else ""
        if 1 <= len(code) <= 64:
            codes.append(code)
    return codes


LINES: dict[str, tuple[bytes, bytes]] = {
    "generic": (rb"\n", rb"([ -~]+)\r?"),
    "zebra-raw": (rb"\r", rb"\n?([ -~]+)"),
    "honeywell-ack": (rb"\r", rb"\n?([ -~]+)"),
    "omron": (rb"\n", rb"([ -~]+)\r"),
    "stx-etx": (rb"\x03", rb"\x02([ -~]+)\n"),
}
"""Of each way of framing without an LRC: what ends a frame, and what stands before it."""


def spelled_in_lines(data: bytes, profile: str) -> list[str]:
    """What the bytes spell, by pattern and not by automaton."""
    end, frame = LINES[profile]
    matches = (re.fullmatch(frame, piece) for piece in re.split(end, data)[:-1])
    codes = [re.sub(r"^\][A-Za-z][A-Za-z0-9]", "", match[1].decode()) for match in matches if match]
    return [code for code in codes if 1 <= len(code) <= 64]


def mutated(seed: int, count: int, options: DelimitedOptions) -> bytes:
    """Frames of random codes, some of them with a byte changed, lost or put in."""
    rng, data = random.Random(seed), bytearray()
    while len(data) < count:
        frame = bytearray(encode(f"{rng.randint(1, 4)}{10 * rng.randint(1, 13):03}", options))
        where = rng.randrange(len(frame))
        match rng.randrange(6):
            case 0:
                frame[where] = rng.randrange(256)
            case 1:
                del frame[where]
            case 2:
                frame.insert(where, rng.randrange(256))
        data += frame
    return bytes(data)


@pytest.mark.parametrize("profile", [*PROFILES, "stx-etx"])
@pytest.mark.parametrize("kind", ["random", "mutated"])
def test_hostile_bytes(profile: str, kind: str) -> None:
    """No exception, a bounded buffer, bounded answers, and exactly the codes that are spelled."""
    framing = {"profile": profile} if profile in PROFILES else {"envelope": profile}
    framer = open_delimited({**framing, "repeat_ms": 1})
    count = 2_000_000 if SOAK else 60_000
    data = mutated(7, count, framer.options) if kind == "mutated" else random.Random(7).randbytes(count)
    codes = []
    for offset in range(0, count, 997):
        framer.receive(data[offset : min(count, offset + 997)], offset)
        assert len(framer._cutter.held) <= framer._cutter.held_max
        while (report := framer.next_report()) is not None:
            if isinstance(report, CodeRead):
                codes.append(report.code)
        assert len(framer._answers._pending) <= REPORTS_MAX
    if profile == "omron-ack":
        assert codes == spelled_in_envelopes(data[:count])
    else:
        assert codes == spelled_in_lines(data[:count], profile)
    assert len(codes) > 500 or kind == "random"


def test_under_an_lrc_no_single_changed_byte_gives_a_card() -> None:
    options = PROFILES["omron-ack"]
    codes = [f"{suit}{10 * rank:03}" for suit in range(1, 5) for rank in range(1, 14)]
    for code in codes if SOAK else ("1010", "1130", "2020", "4130"):
        frame = encode(code, options)
        for where in range(len(frame)):
            for other in set(range(256)) - {frame[where]}:
                changed = frame[:where] + bytes((other,)) + frame[where + 1 :]
                reports = decode(DelimitedFramer(options), [(0, changed)])
                assert not any(isinstance(report, CodeRead) for report in reports), (code, where, other)


# A line that is set otherwise than its device.


def test_bytes_without_a_frame_are_named_and_not_at_every_chunk() -> None:
    framer = open_delimited({})
    reports: list[Report] = []
    for number in range(100):
        framer.receive(b"\xf8\x00\x80\xe0\n", 200_000 * number)
        reports += collected(framer)
    hints = [report.hint for report in reports if isinstance(report, Garbage) and report.hint != NOISE]
    assert hints == [
        f"{count} bytes without a frame: check baud, parity and family" for count in (65, 130, 260)
    ]
    framer.receive(b"1010\n" + b"\xff\n" * (FIRST_COUNT // 2), 10**9)
    assert "64 bytes without" in str(collected(framer)[-1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"terminator": "none"}, "terminator none: .* give an envelope"),
        ({"envelope": "stx-etx", "prefix": "\x03"}, "prefix, postfix: .* inside an envelope"),
        ({"unanswered_ms": 2000}, "unanswered_ms: .* give handshake = true"),
        ({"handshake": True, "unanswered_ms": 200}, "unanswered_ms 200 is not above resend_ms 200"),
    ],
)
def test_options_that_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        open_delimited(options)


# The table of other devices in the drivers' README.


def readme_rows() -> list[tuple[str, str, str]]:
    text = (Path(__file__).parents[2] / "drivers" / "README.md").read_text()
    _, _, rows = text.partition("| device | options |")
    table = rows.partition("\n\n")[0].splitlines()[2:]
    return [(cells[1], cells[2], cells[3]) for row in table if (cells := row.split("|"))]


def typed(cell: str) -> dict[str, object]:
    """The settings that a cell names, as they would stand in a table's file."""
    return tomllib.loads("\n".join(re.findall(r"`(\w+ = [^`]+)`", cell)))


@pytest.mark.parametrize(
    ("device", "options", "serial"), readme_rows(), ids=[row[0] for row in readme_rows()]
)
def test_what_the_readme_says_of_a_device_can_be_written(device: str, options: str, serial: str) -> None:
    framer = open_delimited(typed(options))
    msgspec.convert(typed(serial), SerialSettings)
    frame = encode("1010", framer.options)
    assert decode(framer, [(0, frame)]) == [ACE]
