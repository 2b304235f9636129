"""Zebra SSI: golden packets and sessions, whole and cut anyhow, typed from the hardware notes, section 3."""

from __future__ import annotations

import random

import pytest
from ssi_dialogue import SECOND
from ssi_golden import (
    ACE,
    ACE_AGAIN,
    ACK,
    BROKEN_ACE,
    BROKEN_ACE_AGAIN,
    DAMAGED,
    GAP_US,
    KEPT,
    KING,
    PACKETS,
    POWER_UP,
    POWER_UP_AGAIN,
    RESTARTED,
    SCANNER_ACK,
    WRONG_LENGTH,
    A,
    K,
    drain,
)

from drivers.contract import (
    CodeRead,
    FailedReadCause,
    Garbage,
    ReadFailed,
    Report,
)
from drivers.families import open_framer
from drivers.ssi.packet import Packet, decode, encode
from drivers.zebra_ssi import BROKEN, ECHO, NO_PACKET, RAW_KEPT, UNKNOWN, open_zebra_ssi
from simulators.devices.cuts import Line, byte_by_byte, merged, recut, splits
from simulators.devices.cuts import decode as read_line

# Packets.


@pytest.mark.parametrize(("raw", "fields"), PACKETS.items(), ids=PACKETS.keys())
def test_golden_packets_in_both_directions(raw: str, fields: tuple[int, int, int, str]) -> None:
    opcode, source, status, data = fields
    packet = Packet(opcode, bytes.fromhex(data), source=source, status=status)
    assert decode(bytes.fromhex(raw)) == packet
    assert encode(packet) == bytes.fromhex(raw)


def test_a_packet_holds_251_bytes_and_no_more() -> None:
    assert len(encode(Packet(0xF3, b"Z" * 251))) == 257
    with pytest.raises(ValueError, match="got 252 bytes of data, expected 251 at most"):
        encode(Packet(0xF3, b"Z" * 252))


# Sessions: what is read.


def line(*chunks: str) -> Line:
    """Chunks typed in hex, a second apart."""
    return [(SECOND * number, bytes.fromhex(chunk)) for number, chunk in enumerate(chunks, 1)]


EXTENDED: dict[str, object] = {"decode_format": "extended"}

SESSIONS: dict[str, tuple[dict[str, object], Line, list[Report]]] = {
    # 3.3.
    "ace of spades, Code 128": ({}, line(ACE), [A]),
    "queen of diamonds and CR, Code 39": ({}, line("09F30000014431320DFE4F"), [CodeRead("D12")]),
    "king of diamonds, Data Matrix": ({}, line(KING), [K]),
    "power-up": ({}, line(POWER_UP), [RESTARTED]),
    # 3.4.
    "a repetition is the same card": ({}, line(ACE, ACE_AGAIN, ACE_AGAIN), [A]),
    "the same card twice is two cards": ({}, line(ACE, ACE), [A, A]),
    "repeated, and the same card once more": ({}, line(ACE, ACE_AGAIN, ACE), [A, A]),
    "a repetition whose first never arrived": ({}, line(ACE_AGAIN), [A]),
    "a repetition of another card": ({}, line(KING, ACE_AGAIN), [K, A]),
    "a power-up is told once": ({}, line(POWER_UP, POWER_UP_AGAIN), [RESTARTED]),
    "an event again behind damage is itself": (
        {},
        line(POWER_UP, BROKEN_ACE, POWER_UP_AGAIN),
        [RESTARTED, Garbage(11, BROKEN)],
    ),
    "a repetition over a power-up is a card": ({}, line(ACE, POWER_UP, ACE_AGAIN), [A, RESTARTED, A]),
    # 3.1: status bits are masked.
    "0x20 in a decode message": ({}, line("09F300200331303130FE1F", "09F300210331303130FE1E"), [A]),
    "a repetition with a bit more": ({}, line(ACE, "09F300210331303130FE1E"), [A]),
    # 3.2.
    "extended format": (EXTENDED, line("0CF3000003010004" + "31303130" + "FE37"), [A]),
    "extended, a length that lies": (EXTENDED, line("0CF3000003010005" + "31303130" + "FE36"), [DAMAGED]),
    "extended, cut off before its length": (EXTENDED, line("06F300000301FF03"), [DAMAGED]),
    "classic while the scanner is extended": ({}, line("0CF3000003010004" + "31303130" + "FE37"), [DAMAGED]),
    "no read": ({}, line("07F30000014E52FE65"), [ReadFailed(FailedReadCause.NO_READ)]),
    "no-read off": ({"no_read": []}, line("07F30000014E52FE65"), [CodeRead("NR")]),
    "no characters": ({}, line("05F3000003FF05"), [WRONG_LENGTH]),
    "no data at all": ({}, line("04F30000FF09"), [WRONG_LENGTH]),
    "longer than codes are": ({"max_length": 3}, line(ACE), [WRONG_LENGTH]),
    "shorter than codes are": ({"min_length": 4}, line("09F30000014431320DFE4F"), [WRONG_LENGTH]),
    "not printable": ({}, line("06F300000380FE84"), [DAMAGED]),
    "two packets, the last of them marked as the last": (
        {},
        line("09F300020331303130FE3D", ACE, KING),
        [WRONG_LENGTH, WRONG_LENGTH, K],
    ),
    "the first packet of two, then the last as a repetition": (
        {},
        line("09F300020331303130FE3D", ACE_AGAIN),
        [WRONG_LENGTH, WRONG_LENGTH],
    ),
    "the first packet of two, then a power-up": (
        {},
        line("09F300020331303130FE3D", POWER_UP, KING),
        [WRONG_LENGTH, RESTARTED, K],
    ),
    "a segment": ({}, line("0573000000FF88"), [WRONG_LENGTH]),
    "a segment of a code of 500 characters": (
        EXTENDED,
        line("FF73020000F3000001F71C0101F4" + "5A" * 241 + "A6D5"),
        [WRONG_LENGTH],
    ),
    "merged": ({}, line(ACE + KING), [A, K]),
    "an unknown packet": ({}, line("04990000FF63"), [Garbage(6, UNKNOWN)]),
    "answers that nobody waits for": ({}, line(SCANNER_ACK, "04D00001FF2B", "05D1000006FF24"), []),
    "our own words": ({}, line(ACK), [Garbage(6, ECHO)]),
    # 3.5.
    "checksum wrong, then repeated": ({}, line(BROKEN_ACE, ACE_AGAIN), [Garbage(11, BROKEN), A]),
    "checksum wrong, never repeated": ({}, line(BROKEN_ACE), [Garbage(11, BROKEN), DAMAGED]),
    "checksum wrong, then another card": ({}, line(BROKEN_ACE, KING), [Garbage(11, BROKEN), DAMAGED, K]),
    "wrong three times is given up at once": (
        {},
        line(BROKEN_ACE, BROKEN_ACE_AGAIN, BROKEN_ACE_AGAIN, KING),
        [Garbage(11, BROKEN)] * 3 + [DAMAGED, K],
    ),
    "wrong, and what comes again equals the last": (
        {},
        line(ACE, BROKEN_ACE, ACE_AGAIN, ACE_AGAIN),
        [A, Garbage(11, BROKEN), DAMAGED],
    ),
    "length too short": (
        {},
        line("05" + ACE[2:], ACE_AGAIN),
        [Garbage(11, BROKEN), A],
    ),
    "length below four": ({}, line("03" + ACE[2:], ACE_AGAIN), [Garbage(11, BROKEN), A]),
    "length far too long": ({}, line("F9" + ACE[2:], ACE_AGAIN), [Garbage(11, BROKEN), A]),
    "a packet behind a damaged one, without a silence": (
        {},
        line(BROKEN_ACE + KING),
        [Garbage(22, BROKEN), DAMAGED],
    ),
    "half a packet, then silence": ({}, line(ACE[:12], ACE_AGAIN), [Garbage(6, BROKEN), A]),
    "its first bytes alone": ({}, line(ACE[:4]), [Garbage(2, BROKEN), DAMAGED]),
    "noise": ({}, line("FFFFFFFFC5FC", ACE), [Garbage(6, NO_PACKET), A]),
    "a break": ({}, line("0000", ACE), [Garbage(2, NO_PACKET), A]),
    "noise in front of a packet": ({}, line("FF" + ACE, ACE_AGAIN), [Garbage(12, BROKEN), A]),
    "raw characters": (KEPT, line("31303130", ACE), [DAMAGED, Garbage(4, RAW_KEPT), A]),
    "raw characters with CR": (KEPT, line("313031300D"), [DAMAGED, Garbage(5, RAW_KEPT)]),
    "raw characters as long as they say": (
        KEPT,
        line("30" * 50, ACE),
        [DAMAGED, Garbage(50, RAW_KEPT), A],
    ),
    "characters behind a damaged packet are its rest": (
        {},
        line(BROKEN_ACE, "3130", ACE_AGAIN),
        [Garbage(11, BROKEN), Garbage(2, BROKEN), A],
    ),
}
BY_NAME = pytest.mark.parametrize(("options", "chunks", "expected"), SESSIONS.values(), ids=SESSIONS.keys())


@BY_NAME
def test_golden_whole(options: dict[str, object], chunks: Line, expected: list[Report]) -> None:
    assert read_line(open_zebra_ssi(KEPT | options), chunks) == expected


@BY_NAME
def test_golden_byte_by_byte(options: dict[str, object], chunks: Line, expected: list[Report]) -> None:
    assert read_line(open_zebra_ssi(KEPT | options), byte_by_byte(chunks)) == expected


@BY_NAME
def test_golden_split_at_every_offset(
    options: dict[str, object], chunks: Line, expected: list[Report]
) -> None:
    for cut in splits(chunks):
        assert read_line(open_zebra_ssi(KEPT | options), cut) == expected, cut


def random_line(seed: int) -> Line:
    """Packets and faults with silences around the character time-out, also a microsecond beside it."""
    rng = random.Random(seed)
    pieces = [bytes.fromhex(text) for text in (ACE, ACE_AGAIN, KING, POWER_UP, BROKEN_ACE, SCANNER_ACK)]
    pieces += [pieces[0][:5], pieces[0][5:], b"1010\r", b"\xff\xc5", b"\x00", b"\x02" * 300]
    silences_us = (0, 500, GAP_US - 1, GAP_US, GAP_US + 1, SECOND, 3 * SECOND)
    at_us, chunks = 0, []
    for _ in range(80):
        at_us += rng.choice(silences_us)
        chunks.append((at_us, rng.choice(pieces)))
    return chunks


@pytest.mark.parametrize("seed", range(20))
def test_cuts_and_merges_read_the_same(seed: int) -> None:
    chunks = random_line(seed)
    whole = read_line(open_zebra_ssi(KEPT), chunks)
    assert {type(report) for report in whole} >= {CodeRead, ReadFailed, Garbage}
    assert read_line(open_zebra_ssi(KEPT), recut(chunks, seed)) == whole
    fewer = merged(chunks, open_zebra_ssi(KEPT).shortest_timeout_us)
    assert len(fewer) < len(chunks)
    assert read_line(open_zebra_ssi(KEPT), fewer) == whole


def test_late_ticks_and_answers_that_were_never_released_change_no_read() -> None:
    """A replay neither acknowledges nor sends; the stamps of the bytes alone decide."""
    for seed in range(20):
        framer, reports = open_zebra_ssi(KEPT), []
        for at_us, chunk in random_line(seed):
            framer.receive(chunk, at_us)
            reports += drain(framer)
        framer.tick(3600 * SECOND)
        assert reports + drain(framer) == read_line(open_zebra_ssi(KEPT), random_line(seed))


# Options.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"setup": "none"}, "driver zebra_ssi: option 'setup' is not .*; nearest is 'set_up'"),
        ({"set_up": "forever"}, "driver zebra_ssi: .*'forever'.*set_up"),
        ({"decode_format": "old"}, "driver zebra_ssi: .*'old'.*decode_format"),
        ({"set_up_beep": 256}, "driver zebra_ssi: .*set_up_beep"),
        ({"char_timeout_ms": 1}, "driver zebra_ssi: .*char_timeout_ms"),
        ({"min_length": 5, "max_length": 4}, "min_length 5 is above max_length 4"),
    ],
)
def test_options_that_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        open_framer("zebra_ssi", options)


def test_options_that_are_taken() -> None:
    framer = open_zebra_ssi({"no_read": "ERROR", "char_timeout_ms": 50})
    assert framer.options.no_read == ("ERROR",) and framer.shortest_timeout_us == 50_000
