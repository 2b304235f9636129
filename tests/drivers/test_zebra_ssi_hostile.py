"""Zebra SSI under hostile bytes.

TABLECTL_SOAK=1 takes ten million of them, and every code of both printed schemes through every change of a
single byte.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import pytest
from ssi_dialogue import SECOND
from ssi_golden import ACE, DAMAGED, DIGITS, GAP_US, KEPT, LETTERS, PACKETS, POWER_UP, drain

from drivers.contract import (
    REPORTS_MAX,
    CodeRead,
    FailedReadCause,
    Garbage,
    ReadFailed,
)
from drivers.ssi.packet import Packet, Source, encode
from drivers.zebra_ssi import NO_PACKET, open_zebra_ssi

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
pytestmark = pytest.mark.timeout(3600 if SOAK else 120)

EXTENDED_ACE = "0CF300000301000431303130FE37"
"""1010 in the extended format."""


def spelled(data: bytes, *, extended: bool) -> list[str]:
    """Every code that a packet spells anywhere in `data`, by trying each offset.

    In the extended format type, one byte and a length of two stand before the characters, else the type.
    """
    begin = 8 if extended else 5
    codes = []
    for offset in range(len(data) - 7):
        size = data[offset]
        if size < 4 or data[offset + 1] != 0xF3 or offset + size + 2 > len(data):
            continue
        if (
            sum(data[offset : offset + size]) + 256 * data[offset + size] + data[offset + size + 1] & 0xFFFF
            == 0
        ):
            code = data[offset + begin : offset + size]
            if not extended or data[offset + 6 : offset + 8] == len(code).to_bytes(2, "big"):
                codes.append(code.decode("latin-1").rstrip("\r\n"))
    return codes


def hostile_chunks(rng: random.Random, byte_count: int) -> Iterator[bytes]:
    """Bytes that are nearly packets: cut, with changed, added and missing bytes, or nothing but noise."""
    golden = [bytes.fromhex(text) for text in (*PACKETS, EXTENDED_ACE, EXTENDED_ACE)]
    while byte_count > 0:
        chunk = bytearray().join(rng.choices(golden, k=rng.randrange(1, 4)))
        for _ in range(rng.choice((0, 0, 1, 3))):
            at = rng.randrange(len(chunk))
            match rng.randrange(4):
                case 0:
                    chunk[at] = rng.randrange(256)
                case 1:
                    chunk.insert(at, rng.randrange(256))
                case 2:
                    del chunk[at : at + rng.randrange(1, 4)]
                case _:
                    chunk[at:at] = rng.randbytes(rng.randrange(300))
            chunk = chunk or bytearray(b"\x09")
        byte_count -= len(chunk)
        yield bytes(chunk)


@pytest.mark.parametrize("options", [KEPT, {}, {"decode_format": "extended"}])
def test_hostile_bytes_spell_every_card_that_is_read(options: dict[str, object]) -> None:
    """No exception, a bounded buffer, and no card that the bytes do not spell, in their order."""
    rng = random.Random(str(options))
    framer, at_us, data, codes = open_zebra_ssi(options), 0, bytearray(), []
    framer.opened(0)
    for chunk in hostile_chunks(rng, 3_400_000 if SOAK else 20_000):
        at_us += rng.choice((0, 10_000, GAP_US, SECOND))
        framer.receive(chunk, at_us)
        data += chunk
        assert len(framer._held) <= 257
        reports = drain(framer)
        codes += [report.code for report in reports if isinstance(report, CodeRead)]
        for report in reports:
            framer.acknowledge(report)
        assert len(framer.bytes_to_send()) < 2_000
    rest = iter(spelled(bytes(data), extended="decode_format" in options))
    assert all(code in rest for code in codes)
    assert len(codes) > 20


def test_noise_alone_gives_no_card_and_keeps_nothing() -> None:
    rng = random.Random(3)
    framer = open_zebra_ssi(KEPT)
    for at_us in range(0, 200 * GAP_US, GAP_US):
        framer.receive(rng.randbytes(500 if SOAK else 100), at_us)
        assert not any(isinstance(report, CodeRead) for report in drain(framer))
        assert len(framer._held) <= 257


def test_a_flood_without_a_silence_is_counted_and_not_kept() -> None:
    framer = open_zebra_ssi(KEPT)
    for at_us in range(64):
        framer.receive(b"\x02" * 4096, at_us)
    reports = drain(framer)
    assert reports.count(Garbage(4096, NO_PACKET)) == 64
    assert DAMAGED in reports and len(framer._held) == 0
    assert framer.bytes_to_send() == b""


def test_reports_that_nobody_collects_are_bounded_and_say_so() -> None:
    framer = open_zebra_ssi(KEPT)
    framer.receive(bytes.fromhex(ACE) * 10_000, 0)
    reports = drain(framer)
    assert len(reports) == REPORTS_MAX
    assert reports[-1] == ReadFailed(FailedReadCause.OVERRUN)


def test_answers_that_nobody_collects_are_bounded() -> None:
    framer = open_zebra_ssi(KEPT)
    framer.receive(bytes.fromhex(POWER_UP) * 10_000, 0)
    assert len(framer.bytes_to_send()) < 2_000


@pytest.mark.parametrize("code", DIGITS + LETTERS if SOAK else ["1010", "4130", "A01"])
def test_no_single_changed_byte_gives_a_card(code: str) -> None:
    """Every byte of the packet, also length, type and checksum, in every way; what comes again is the card.

    The sum changes with each byte, so that the type of another bar code shows like a digit of another card.
    """
    raw = encode(Packet(0xF3, b"\x03" + code.encode(), source=Source.DECODER))
    again = encode(Packet(0xF3, b"\x03" + code.encode(), source=Source.DECODER, status=1))
    framer, at_us = open_zebra_ssi(KEPT), 0
    other = bytes.fromhex("07F30000033939FE91")
    for offset in range(len(raw)):
        for change in range(1, 256):
            at_us += 20 * SECOND
            framer.receive(other, at_us)
            changed = raw[:offset] + bytes((raw[offset] ^ change,)) + raw[offset + 1 :]
            framer.receive(changed, at_us + SECOND)
            framer.receive(again, at_us + 2 * SECOND)
            codes = [report.code for report in drain(framer) if isinstance(report, CodeRead)]
            assert codes == ["99", code], (offset, change)
