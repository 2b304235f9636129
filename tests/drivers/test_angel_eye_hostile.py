"""Angel Eye shoe, hostile bytes: random, mutated, changed one by one, floods."""

from __future__ import annotations

import os
import random
import re
from functools import reduce
from operator import xor

import pytest
from driver_scenes import CUT_SHORT, DAMAGED, collected

from drivers.angel_eye import (
    LONGEST,
    NOISE,
    STRAY_RUN_MAX,
    AngelEyeFramer,
    AngelEyeOptions,
    Frame,
    encode,
    open_angel_eye,
)
from drivers.contract import REPORTS_MAX, CodeRead, FailedReadCause, Garbage, ReadFailed, Report
from simulators.devices.cuts import decode

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
SILENCE_US = 1_000_000

P1_2S_6 = "05 36 49 81 b2 03 34 46"
B1_2S_7 = "05 37 49 91 b2 03 35 45"
B1_7C_8 = "05 38 49 91 a7 03 34 34"
P1_2S, B1_2S, B1_7C = CodeRead("B2", 6, "P1"), CodeRead("B2", 7, "B1"), CodeRead("A7", 8, "B1")


SPELLED = re.compile(rb"\x05(([0-9])([A-Za-z])(.{0,2}?)\x03)([0-9A-F]{2})", re.DOTALL)
SPELLED_CARD = re.compile(rb"[\x81-\x83\x91-\x93]([\x91-\x9d\xa1-\xad\xb1-\xbd\xc1-\xcd])", re.DOTALL)


def spelled_codes(data: bytes) -> list[str]:
    """What the bytes spell, by pattern and not by automaton."""
    codes, last, at = [], b"", data.find(b"\x05")
    while at >= 0:
        match = SPELLED.match(data, at)
        if match and reduce(xor, match[1]) == int(match[5], 16):
            card = SPELLED_CARD.fullmatch(match[4])
            if match[1] != last and match[3] == b"I" and card:
                codes.append(card[1].hex().upper())
            last, at = match[1], match.end() - 1
        at = data.find(b"\x05", at + 1)
    return codes


def frames_of_cards(rng: random.Random) -> bytes:
    """Card frames in a row, each up to three times."""
    pieces, seq = [], 0
    while len(pieces) < 20_000:
        seq = seq % 9 + 1
        place = rng.choice(b"\x81\x82\x83\x91\x92\x93")
        frame = Frame(seq, rng.choice("IIID"), bytes((place, rng.randrange(0x90, 0xCE))))
        pieces += [encode(frame)] * rng.randint(1, 3)
    return b"".join(pieces)


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Change, drop or double a byte here and there."""
    changed = bytearray()
    for byte in data:
        chance = rng.random()
        if chance < 0.03:
            byte ^= 1 << rng.randrange(8)
        elif chance < 0.04:
            continue
        elif chance < 0.05:
            changed.append(rng.choice(b"\x03\x05\xff0I"))
        changed.append(byte)
    return bytes(changed)


@pytest.mark.parametrize("kind", ["any", "likely", "mutated"])
def test_random_bytes(kind: str) -> None:
    """No exception, a bounded buffer, and exactly the codes that the bytes spell."""
    rng = random.Random(kind)
    count = 3_400_000 if SOAK else 60_000
    data = rng.randbytes(count)
    if kind == "likely":
        data = bytes(b"\x05\x03016IDF4\x81\x91\xb2"[byte % 12] for byte in data)
    elif kind == "mutated":
        frames = frames_of_cards(rng)
        data = mutated(frames * (count // len(frames) + 1), rng)[:count]
    framer = open_angel_eye({})
    codes = []
    for offset in range(0, len(data), 997):
        framer.receive(data[offset : offset + 997], offset)
        assert len(framer._held) < LONGEST
        codes += [report.code for report in collected(framer) if isinstance(report, CodeRead)]
    assert codes == spelled_codes(data)
    assert len(codes) > 1000 or kind != "mutated"


def test_no_single_changed_byte_gives_another_card() -> None:
    """All cards at all places, every byte; every value with TABLECTL_SOAK, else one in sixteen of them."""
    cards = [suit << 4 | 0x80 | rank for suit in range(1, 5) for rank in range(1, 14)]
    for number, card in enumerate(cards):
        for place in b"\x81\x91\x82\x92\x83\x93":
            right = encode(Frame(number % 9 + 1, "I", bytes((place, card))))
            for index in range(len(right)):
                for value in range(256) if SOAK else range((number + index) % 16, 256, 16):
                    if value == right[index]:
                        continue
                    framer = AngelEyeFramer(AngelEyeOptions())
                    framer.receive(right[:index] + bytes((value,)) + right[index + 1 :], 0)
                    framer.tick(SILENCE_US)
                    [report] = collected(framer)
                    assert report in (DAMAGED, CUT_SHORT, Garbage(8, NOISE)), (right, index, value)


@pytest.mark.parametrize("copy", range(3))
def test_any_damage_to_one_of_three_copies_loses_and_doubles_nothing(copy: int) -> None:
    """The last copy alone may give a failed read, when what is left does not begin like a copy."""
    right = bytes.fromhex(B1_2S_7)
    for index in range(len(right)):
        for bit in range(8):
            wrong = right[:index] + bytes((right[index] ^ 1 << bit,)) + right[index + 1 :]
            copies = [right] * 3
            copies[copy] = wrong
            chunks = [(0, bytes.fromhex(P1_2S_6)), *((20_000 * n, one) for n, one in enumerate(copies, 1))]
            reports = decode(open_angel_eye({}), [*chunks, (9_000_000, bytes.fromhex(B1_7C_8))])
            assert [r for r in reports if isinstance(r, CodeRead)] == [P1_2S, B1_2S, B1_7C]
            failed = [r for r in reports if isinstance(r, ReadFailed)]
            is_unlike = index in (1, 2) or wrong.count(5) > 1
            assert len(failed) == (copy == 2 and is_unlike), (index, bit)


@pytest.mark.parametrize(("noise", "report"), [("ff", Garbage(STRAY_RUN_MAX, NOISE)), ("05", DAMAGED)])
def test_flood_without_a_frame_is_counted_and_not_kept(noise: str, report: Report) -> None:
    framer = open_angel_eye({})
    for at_us in range(16):
        framer.receive(bytes.fromhex(noise) * STRAY_RUN_MAX, at_us)
    reports = collected(framer)
    warnings = [one for one in reports if isinstance(one, Garbage) and one.count == 0]
    assert set(reports) - set(warnings) == {report}
    assert len(reports) - len(warnings) in (15, 16) and len(warnings) in (4, 5)
    assert len(framer._held) <= 1


def test_reports_that_nobody_collects_are_bounded_and_say_so() -> None:
    framer = open_angel_eye({})
    framer.receive(bytes.fromhex(P1_2S_6 + B1_2S_7) * 5_000, 0)
    reports = collected(framer)
    assert len(reports) == REPORTS_MAX
    assert reports[-1] == ReadFailed(FailedReadCause.OVERRUN)
