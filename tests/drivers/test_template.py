"""The template driver, which is also the third-party driver of these tests. To be copied with it.

Bytes are typed from the device's manual, never made by `encode`: an error there must not hide in the decoder.
"""

from __future__ import annotations

import random
import re

import pytest

from drivers.contract import CodeRead, FailedReadCause, Garbage, ReadFailed, Report
from drivers.template import FRAME_MAX, encode, open_template
from simulators.devices.cuts import Line, byte_by_byte, decode, merged, recut, splits

FIRST, SECOND, THIRD = "02 31 313031 03 02", "02 32 323032 03 01", "02 33 333033 03 00"
FIRST_AGAIN = "02 32 313031 03 01"
DAMAGED, CUT_SHORT = ReadFailed(FailedReadCause.DAMAGED), ReadFailed(FailedReadCause.CUT_SHORT)


def line(*chunks: str) -> Line:
    """Chunks typed in hex, a second apart."""
    return [(1_000_000 * number, bytes.fromhex(chunk)) for number, chunk in enumerate(chunks, 1)]


SESSIONS: dict[str, tuple[Line, list[Report]]] = {
    "two reads": (line(FIRST + SECOND), [CodeRead("101", 1), CodeRead("202", 2)]),
    "sent again": (line(FIRST, FIRST, SECOND), [CodeRead("101", 1), CodeRead("202", 2)]),
    "one is missing": (line(FIRST, THIRD), [CodeRead("101", 1), CUT_SHORT, CodeRead("303", 3)]),
    "after nine comes nought": (
        line("02 39 31 03 0B", "02 30 31 03 02"),
        [CodeRead("1", 9), CodeRead("1", 0)],
    ),
    "the same code, another read": (
        line(FIRST, FIRST_AGAIN),
        [CodeRead("101", 1), CodeRead("101", 2)],
    ),
    "wrong sum": (line("02 31 313031 03 04"), [DAMAGED]),
    "cut short": (line("02 31 31", FIRST), [CUT_SHORT, CodeRead("101", 1)]),
    "noise": (line("FF80", FIRST), [Garbage(2, "noise"), CodeRead("101", 1)]),
    "without an end": (line("31" * (FRAME_MAX + 1), FIRST), [DAMAGED, CodeRead("101", 1)]),
}


@pytest.mark.parametrize(("chunks", "expected"), SESSIONS.values(), ids=SESSIONS.keys())
def test_golden(chunks: Line, expected: list[Report]) -> None:
    """Whole, byte by byte, split at every offset, cut at random."""
    for cut in (chunks, byte_by_byte(chunks), *splits(chunks), recut(chunks, 1), merged(chunks, 100_000)):
        assert decode(open_template({}), cut) == expected


def test_hostile_bytes() -> None:
    """No exception, a bounded buffer, no code that the bytes do not spell."""
    rng = random.Random(1)
    data = bytearray().join(encode(str(rng.randrange(10_000)), number % 10) for number in range(5_000))
    for _ in range(2_000):
        data[rng.randrange(len(data))] = rng.randrange(256)
    spelled = {found[1].decode() for found in re.finditer(rb"(?=\x02\d([0-9A-Za-z]+)\x03)", data)}
    framer, codes = open_template({}), []
    for at in range(len(data)):
        framer.receive(bytes(data[at : at + 1]), at)
        assert len(framer._held) <= FRAME_MAX
        while (report := framer.next_report()) is not None:
            codes += [report.code] if isinstance(report, CodeRead) else []
    assert len(codes) > 1_000
    assert spelled.issuperset(codes)


def test_the_answer_waits_until_the_read_is_durable_and_is_given_again() -> None:
    framer = open_template({})
    framer.receive(bytes.fromhex(FIRST + FIRST), 0)
    report = framer.next_report()
    assert (report, framer.next_report(), framer.bytes_to_send()) == (CodeRead("101", 1), None, b"")
    framer.acknowledge(CodeRead("101", 1))
    assert framer.bytes_to_send() == b"\x061"
    framer.receive(bytes.fromhex(FIRST), 1)
    assert (framer.next_report(), framer.bytes_to_send()) == (None, b"\x061")


def test_a_reopened_line_begins_anew() -> None:
    framer = open_template({})
    framer.receive(bytes.fromhex(FIRST + "02 31"), 0)
    framer.opened(10)
    framer.receive(bytes.fromhex(FIRST), 20)
    reports = [framer.next_report() for _ in range(4)]
    assert reports == [CodeRead("101", 1), CUT_SHORT, CodeRead("101", 1), None]


def test_encode() -> None:
    assert encode("101", 1) == bytes.fromhex(FIRST)
