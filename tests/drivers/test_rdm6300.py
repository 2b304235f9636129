"""Badge readers: golden frames typed from the hardware notes, real and ghost frames, hostile bytes."""

from __future__ import annotations

import csv
import os
import random
from collections import Counter
from functools import reduce
from operator import xor
from pathlib import Path

import pytest
from driver_scenes import CUT_SHORT, DAMAGED

from drivers.contract import CodeRead, Garbage, Report
from drivers.rdm6300 import (
    ALONE,
    FRAME_BYTES,
    GARBAGE_RUN_MAX,
    STRAY,
    Checksum,
    RdmOptions,
    encode,
    is_ghost,
    open_rdm6300,
    read_frame,
)
from simulators.devices.cuts import Line, byte_by_byte, decode, merged, recut, splits
from simulators.devices.rdm6300 import PERIOD_US, BadgeReader, Fault

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
MS = 1_000
BESIDE = Path(__file__).parents[2].parent / "shared" / "data"
FRAMES = Path(os.environ.get("TABLECTL_DATA") or BESIDE) / "rdm6300_frames.csv"

# Hardware notes, section 6, typed.
GOLDEN = "02 31 30 30 30 38 36 46 34 34 34 32 36 03"
CODE = "100086F444"
OTHER = "02 30 30 30 34 31 34 43 44 37 45 41 33 03"
CLONE = "02 31 30 30 30 38 36 66 34 34 34 32 36 03"
READ = CodeRead(CODE)
LOST = Garbage(FRAME_BYTES, ALONE)


def at(*chunks: tuple[int, str]) -> Line:
    """Chunks typed in hex, each with its milliseconds."""
    return [(ms * MS, bytes.fromhex(text)) for ms, text in chunks]


def test_golden_frame() -> None:
    assert encode(CODE) == bytes.fromhex(GOLDEN)
    assert read_frame(bytes.fromhex(GOLDEN), RdmOptions()) == CODE
    assert int(CODE[2:], 16) == 8844356, "the number that is printed on the badge"


SESSIONS: dict[str, tuple[dict[str, object], Line, list[Report]]] = {
    "two equal frames": ({}, at((0, GOLDEN), (50, GOLDEN)), [READ]),
    "a badge that stays": ({}, at(*((ms, GOLDEN) for ms in range(0, 1_000, 50))), [READ]),
    "two frames in one chunk": ({}, at((0, GOLDEN + GOLDEN)), [READ]),
    "one frame alone": ({}, at((0, GOLDEN)), [LOST]),
    "two equal frames too far apart": ({}, at((0, GOLDEN), (300, GOLDEN)), [LOST, LOST]),
    "two equal frames just near enough": ({}, at((0, GOLDEN), (299, GOLDEN)), [READ]),
    "a ghost between two badges": (
        {},
        at((0, GOLDEN), (50, OTHER), (100, GOLDEN), (150, GOLDEN)),
        [LOST, LOST, READ],
    ),
    "a ghost while a badge lies there": (
        {},
        at((0, GOLDEN), (50, GOLDEN), (100, OTHER), (150, GOLDEN)),
        [READ, LOST],
    ),
    "gone for less than the re-arm time": (
        {},
        at((0, GOLDEN), (50, GOLDEN), (449, GOLDEN), (500, GOLDEN)),
        [READ],
    ),
    "gone for the re-arm time": (
        {},
        at((0, GOLDEN), (50, GOLDEN), (450, GOLDEN), (500, GOLDEN)),
        [READ, READ],
    ),
    "one badge after the other": (
        {},
        at((0, GOLDEN), (50, GOLDEN), (100, OTHER), (150, OTHER)),
        [READ, CodeRead("000414CD7E")],
    ),
    "wrong checksum": ({}, at((0, GOLDEN[:-5] + "37 03"), (50, GOLDEN), (100, GOLDEN)), [DAMAGED, READ]),
    "no hex digit": (
        {},
        at(
            (0, "02 31 30 30 30 47" + GOLDEN[17:]),
        ),
        [DAMAGED],
    ),
    "wrong end": (
        {},
        at(
            (0, GOLDEN[:-2] + "04"),
        ),
        [DAMAGED],
    ),
    "begins in the middle": (
        {},
        at((0, GOLDEN[9:]), (50, GOLDEN), (100, GOLDEN)),
        [Garbage(11, STRAY), READ],
    ),
    "stops in the middle": ({}, at((0, GOLDEN[:20]), (50, GOLDEN), (100, GOLDEN)), [CUT_SHORT, READ]),
    "begins again in the middle": ({}, at((0, GOLDEN[:20] + GOLDEN), (50, GOLDEN)), [CUT_SHORT, READ]),
    "noise": ({}, at((0, "FF FF 41"), (100, GOLDEN), (150, GOLDEN)), [Garbage(3, STRAY), READ]),
    "noise in front": ({}, at((0, "FF" + GOLDEN), (50, GOLDEN)), [Garbage(1, STRAY), READ]),
    "silence inside a frame": (
        {},
        at((0, GOLDEN[:20]), (40, GOLDEN[20:])),
        [CUT_SHORT, Garbage(7, STRAY)],
    ),
    "clone refused": ({}, at((0, CLONE), (50, CLONE)), [DAMAGED, DAMAGED]),
    "clone": ({"lower_case": True}, at((0, CLONE), (50, CLONE)), [READ]),
    "clone and original are one badge": ({"lower_case": True}, at((0, CLONE), (50, GOLDEN)), [READ]),
    "additive family refused": (
        {},
        at((0, "0232453030414630454339423403"), (50, "0232453030414630454339423403")),
        [DAMAGED, DAMAGED],
    ),
    "additive family": (
        {"checksum": "sum"},
        at((0, "0232453030414630454339423403"), (50, "0232453030414630454339423403")),
        [CodeRead("2E00AF0EC9")],
    ),
    "exclusive family refused by the other": ({"checksum": "sum"}, at((0, GOLDEN)), [DAMAGED]),
}
BY_NAME = pytest.mark.parametrize(("options", "chunks", "expected"), SESSIONS.values(), ids=SESSIONS.keys())


@BY_NAME
def test_golden_whole(options: dict[str, object], chunks: Line, expected: list[Report]) -> None:
    assert decode(open_rdm6300(options), chunks) == expected


@BY_NAME
def test_golden_byte_by_byte_merged_and_split_at_every_offset(
    options: dict[str, object], chunks: Line, expected: list[Report]
) -> None:
    gap_us = open_rdm6300(options).shortest_timeout_us
    for line in (byte_by_byte(chunks), recut(chunks, 1), merged(chunks, gap_us), *splits(chunks)):
        assert decode(open_rdm6300(options), line) == expected


def test_a_line_that_opens_anew_forgets_what_was_said() -> None:
    framer = open_rdm6300({})
    framer.receive(bytes.fromhex(GOLDEN + GOLDEN[:20]), 0)
    framer.opened(10 * MS)
    framer.receive(bytes.fromhex(GOLDEN), 20 * MS)
    reports = [framer.next_report() for _ in range(3)]
    assert reports == [CUT_SHORT, LOST, None]
    framer.receive(bytes.fromhex(GOLDEN), 70 * MS)
    assert framer.next_report() == READ
    framer.acknowledge(READ)
    assert framer.bytes_to_send() == b""


# Frames of real readers.

WITH_DATA = pytest.mark.skipif(not FRAMES.exists(), reason=f"no data at {FRAMES}")


def rows() -> list[dict[str, str]]:
    with FRAMES.open(newline="") as file:
        return list(csv.DictReader(file))


@WITH_DATA
def test_frames_of_real_readers() -> None:
    """Real tags are read, a ghost alone is not, and the additive family is refused with XOR."""
    kinds = {"real tag": 0, "GHOST read": 0, "sample in source": 0}
    for row in rows():
        frame, code = bytes.fromhex(row["frame_hex"]), row["tag_hex"]
        twice = decode(open_rdm6300({}), [(0, frame), (PERIOD_US, frame)])
        assert twice == ([CodeRead(code)] if row["xor_ok"] == "1" else [DAMAGED, DAMAGED])
        if row["xor_ok"] == "1":
            assert decode(open_rdm6300({}), [(0, frame)]) == [LOST]
            assert encode(code) == frame
        by_sum = decode(open_rdm6300({"checksum": "sum"}), [(0, frame), (PERIOD_US, frame)])
        assert (by_sum == [CodeRead(code)]) == (row["sum_ok"] == "1")
        assert is_ghost(code) == (row["kind"] == "GHOST read"), code
        kinds[row["kind"]] += 1
    assert kinds == {"real tag": 4, "GHOST read": 8, "sample in source": 1}


@WITH_DATA
def test_ghosts_one_after_the_other_are_no_badge() -> None:
    ghosts = [bytes.fromhex(row["frame_hex"]) for row in rows() if row["kind"] == "GHOST read"]
    line = [(50 * MS * number, frame) for number, frame in enumerate(ghosts * 20)]
    assert set(decode(open_rdm6300({}), line)) == {LOST}


def test_what_is_a_ghost() -> None:
    assert all(is_ghost(code) for code in ("0000000000", "000000078F", "0000000123", "dAeF6fEE2B"))
    assert not any(is_ghost(code) for code in (CODE, "0000001234", "DAEF6FEE2C", "0" * 11, "badge/0000"))


# The simulated reader.


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("fault", list(Fault))
def test_a_badge_is_read_once_under_every_fault(fault: Fault, seed: int) -> None:
    chunks: list[tuple[int, bytes]] = []
    now_us = 0
    reader = BadgeReader(lambda data: chunks.append((now_us, data)), seed=seed)
    reader.repeat()
    assert chunks == []
    reader.badge = CODE
    for number in range(40):
        now_us += PERIOD_US
        reader.repeat(fault if number % 3 == 0 else None)
        if number == 20:
            reader.ghost("4FFB388FFF")
    reports = decode(open_rdm6300({"lower_case": fault is Fault.LOWER_CASE}), chunks)
    assert [report for report in reports if isinstance(report, CodeRead)] == [READ]
    assert decode(open_rdm6300({"lower_case": fault is Fault.LOWER_CASE}), byte_by_byte(chunks)) == reports


# Hostile bytes.


def spelled(data: bytes) -> Counter[str]:
    """How often each code stands in a valid frame anywhere in the bytes; shares nothing with the driver."""
    codes = Counter[str]()
    for start in range(len(data) - 13):
        digits = data[start + 1 : start + 13]
        if data[start] != 2 or data[start + 13] != 3 or not set(digits) <= set(b"0123456789ABCDEF"):
            continue
        values = [int(digits[place : place + 2], 16) for place in range(0, 12, 2)]
        if reduce(xor, values) == 0:
            codes[digits[:10].decode()] += 1
    return codes


@pytest.mark.parametrize("kind", ["any", "likely", "mutated"])
def test_hostile_bytes(kind: str) -> None:
    """No exception, a bounded buffer, and no badge that the bytes do not spell, at least twice."""
    rng = random.Random(kind)
    total = 3_400_000 if SOAK else 60_000
    data = bytearray(rng.randbytes(total)) if kind == "any" else bytearray()
    while len(data) < total:
        if kind == "likely":
            data += bytes(b"\x02\x03019AF\xff"[byte % 8] for byte in rng.randbytes(1000))
        else:
            frame = bytearray(encode(rng.randbytes(5).hex()) * rng.choice((1, 2, 3)))
            for _ in range(rng.choice((0, 0, 1, 2))):
                frame[rng.randrange(len(frame))] = rng.randrange(256)
            data += frame
    framer, codes = open_rdm6300({}), set[str]()
    for offset in range(0, len(data), 97):
        framer.receive(bytes(data[offset : offset + 97]), offset * MS // 4)
        assert len(framer._held) < FRAME_BYTES and framer._strays.count < GARBAGE_RUN_MAX
        while (report := framer.next_report()) is not None:
            if isinstance(report, CodeRead):
                codes.add(report.code)
    assert codes <= {code for code, count in spelled(bytes(data)).items() if count >= 2}
    assert kind != "mutated" or len(codes) > 500


@pytest.mark.parametrize("options", [{}, {"lower_case": True}, {"checksum": "sum"}])
def test_no_single_changed_byte_gives_another_badge(options: dict[str, object]) -> None:
    """Every byte of the frame, every other value, twice over: never another code; sum as well as XOR."""
    framer, now_us = open_rdm6300(options), 0
    good = encode(CODE, framer.options.checksum)
    for offset in range(FRAME_BYTES):
        for value in range(256):
            changed = good[:offset] + bytes((value,)) + good[offset + 1 :]
            now_us += 1_000 * MS
            framer.receive(changed + changed, now_us)
            while (report := framer.next_report()) is not None:
                assert not isinstance(report, CodeRead) or report.code == CODE


def test_no_single_changed_digit_of_any_pair_passes_a_checksum() -> None:
    """For every byte and every other byte in its place the checksum differs, whatever the other four are."""
    for checksum in Checksum:
        sums = {(was, now) for was in range(256) for now in range(256) if was != now}
        assert all(
            encode(f"{was:02X}00000000", checksum)[11:13] != encode(f"{now:02X}00000000", checksum)[11:13]
            for was, now in sums
        )


def test_a_flood_is_counted_and_not_kept() -> None:
    framer = open_rdm6300({})
    framer.receive(b"\xff" * (3 * GARBAGE_RUN_MAX), 0)
    reports = [framer.next_report() for _ in range(6)]
    assert [one for one in reports if isinstance(one, Garbage) and one.count] == [
        Garbage(GARBAGE_RUN_MAX, STRAY)
    ] * 3
    assert reports[-1] is None and "8192 bytes without a frame" in str(reports[3])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"confirm": 5}, "driver rdm6300: option 'confirm' is not .*; nearest is 'confirm_ms'"),
        ({"checksum": "crc"}, "driver rdm6300: .*checksum"),
        ({"rearm_ms": 1}, "driver rdm6300: .*rearm_ms"),
    ],
)
def test_options_that_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        open_rdm6300(options)
