"""Zebra SSI: golden bytes typed from the hardware notes, section 3, cuts, hostile bytes, the whole dialogue.

No golden byte comes from the encoder. TABLECTL_SOAK=1 takes ten million hostile bytes and every code of both
printed schemes through every change of a single byte.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import pytest
from ssi_dialogue import SECOND, Dialogue, packeted

from drivers.contract import (
    REPORTS_MAX,
    CodeRead,
    DeviceReported,
    DeviceState,
    FailedReadCause,
    Framer,
    Garbage,
    Interlock,
    ReadFailed,
    Report,
)
from drivers.families import open_framer
from drivers.ssi.packet import Packet, Source, decode, encode
from drivers.zebra_ssi import BROKEN, ECHO, NO_PACKET, RAW, RAW_KEPT, UNKNOWN, open_zebra_ssi
from simulators.devices.cuts import Line, byte_by_byte, merged, recut, splits
from simulators.devices.cuts import decode as read_line
from simulators.devices.zebra_ssi import Fault

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
pytestmark = pytest.mark.timeout(3600 if SOAK else 120)

GAP_US = 200_000
FOREVER_US = 3600 * SECOND
ACK = "04D00400FF28"
NAK_RESEND = "05D1040001FF25"
NAK_DENIED = "05D1040006FF20"
SCANNER_ACK = "04D00000FF2C"
ACE = "09F300000331303130FE3F"
ACE_AGAIN = "09F300010331303130FE3E"
KING = "09F300001B34313330FE21"
BROKEN_ACE = "09F300000331303131FE3F"
BROKEN_ACE_AGAIN = "09F300010331303131FE3E"
POWER_UP = "05F6000003FF02"
POWER_UP_AGAIN = "05F6000103FF01"
PACKETED = "07C60400FFEE01FD41"
PACKETED_AGAIN = "07C60401FFEE01FD40"
PACKETED_FOR_GOOD = "07C60408FFEE01FD39"
BOOT_EVENT = "08C60400FFF00201FD3C"
BOOT_EVENT_FOR_GOOD = "08C60408FFF00201FD34"
ENABLE, DISABLE = "04E90400FF0F", "04EA0400FF0E"

KEPT: dict[str, object] = {"set_up": "none"}
DAMAGED = ReadFailed(FailedReadCause.DAMAGED)
WRONG_LENGTH = ReadFailed(FailedReadCause.WRONG_LENGTH)
RESTARTED = DeviceReported(DeviceState.RESTARTED)


# Packets.

PACKETS = {
    # Hardware notes, 3.3, line by line: opcode, source, status, data.
    ACK: (0xD0, 4, 0, ""),
    NAK_RESEND: (0xD1, 4, 0, "01"),
    "05D1040002FF24": (0xD1, 4, 0, "02"),
    NAK_DENIED: (0xD1, 4, 0, "06"),
    SCANNER_ACK: (0xD0, 0, 0, ""),
    ACE: (0xF3, 0, 0, "0331303130"),
    ACE_AGAIN: (0xF3, 0, 1, "0331303130"),
    "09F30000014431320DFE4F": (0xF3, 0, 0, "014431320D"),
    KING: (0xF3, 0, 0, "1B34313330"),
    "04E40400FF14": (0xE4, 4, 0, ""),
    "04E50400FF13": (0xE5, 4, 0, ""),
    ENABLE: (0xE9, 4, 0, ""),
    DISABLE: (0xEA, 4, 0, ""),
    # 3.3's check of the formula: ENABLE with status 08.
    "04E90408FF07": (0xE9, 4, 8, ""),
    "04A30400FF55": (0xA3, 4, 0, ""),
    "04D30400FF25": (0xD3, 4, 0, ""),
    "05E6040001FF10": (0xE6, 4, 0, "01"),
    "05E7040001FF0F": (0xE7, 4, 0, "01"),
    PACKETED: (0xC6, 4, 0, "FFEE01"),
    PACKETED_FOR_GOOD: (0xC6, 4, 8, "FFEE01"),
    POWER_UP: (0xF6, 0, 0, "03"),
}


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
A, K = CodeRead("1010"), CodeRead("4130")

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


def drain(framer: Framer) -> list[Report]:
    reports = []
    while (report := framer.next_report()) is not None:
        reports.append(report)
    return reports


def test_late_ticks_and_answers_that_were_never_released_change_no_read() -> None:
    """A replay neither acknowledges nor sends; the stamps of the bytes alone decide."""
    for seed in range(20):
        framer, reports = open_zebra_ssi(KEPT), []
        for at_us, chunk in random_line(seed):
            framer.receive(chunk, at_us)
            reports += drain(framer)
        framer.tick(FOREVER_US)
        assert reports + drain(framer) == read_line(open_zebra_ssi(KEPT), random_line(seed))


# Hostile bytes.


def spelled(data: bytes) -> list[str]:
    """Every code that a packet spells anywhere in `data`, by trying each offset."""
    codes = []
    for offset in range(len(data) - 7):
        size = data[offset]
        if size < 4 or data[offset + 1] != 0xF3 or offset + size + 2 > len(data):
            continue
        if (
            sum(data[offset : offset + size]) + 256 * data[offset + size] + data[offset + size + 1] & 0xFFFF
            == 0
        ):
            codes.append(data[offset + 5 : offset + size].decode("latin-1").rstrip("\r\n"))
    return codes


def hostile_chunks(rng: random.Random, byte_count: int) -> Iterator[bytes]:
    """Bytes that are nearly packets: cut, with changed, added and missing bytes, or nothing but noise."""
    golden = [bytes.fromhex(text) for text in PACKETS]
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
    rest = iter(spelled(bytes(data)))
    if options != {"decode_format": "extended"}:
        assert all(code in rest for code in codes)
        assert len(codes) > 30
    else:
        assert codes == []


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


RANKS = range(1, 14)
DIGITS = [f"{suit}{rank:02}0" for suit in "1234" for rank in RANKS]
LETTERS = [f"{suit}{rank:02}" for suit in "AHCD" for rank in RANKS]


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


# What is answered, and when.


def sent_after(framer: Framer) -> str:
    return framer.bytes_to_send().hex().upper()


def read(framer: Framer, at_us: int, chunk: str) -> Report:
    """Feed a chunk that makes one report."""
    framer.receive(bytes.fromhex(chunk), at_us)
    (report,) = drain(framer)
    return report


def test_a_card_is_acknowledged_when_it_is_durable_and_not_before() -> None:
    framer = open_zebra_ssi(KEPT)
    report = read(framer, 0, ACE)
    assert sent_after(framer) == ""
    framer.tick(SECOND)
    assert sent_after(framer) == ""
    framer.acknowledge(report)
    assert sent_after(framer) == ACK
    assert sent_after(framer) == ""


def test_a_repetition_of_an_acknowledged_card_is_acknowledged_again() -> None:
    framer = open_zebra_ssi(KEPT)
    framer.acknowledge(read(framer, 0, ACE))
    assert sent_after(framer) == ACK
    framer.receive(bytes.fromhex(ACE_AGAIN), 2 * SECOND)
    assert drain(framer) == [] and sent_after(framer) == ACK


def test_a_repetition_while_durability_is_pending_is_no_card_and_acknowledged_once_durable() -> None:
    framer = open_zebra_ssi(KEPT)
    report = read(framer, 0, ACE)
    framer.receive(bytes.fromhex(ACE_AGAIN), 2 * SECOND)
    assert drain(framer) == [] and sent_after(framer) == ""
    framer.acknowledge(report)
    assert sent_after(framer) == ACK


def test_an_equal_report_of_another_read_releases_nothing() -> None:
    """Two equal cards: the first one's durability is none of the second's."""
    framer = open_zebra_ssi(KEPT)
    first, second = read(framer, 0, ACE), read(framer, SECOND, ACE)
    assert first == second
    framer.acknowledge(first)
    assert sent_after(framer) == ""
    framer.acknowledge(second)
    assert sent_after(framer) == ACK


def test_a_late_acknowledgement_never_answers_the_next_card() -> None:
    framer = open_zebra_ssi(KEPT)
    late = read(framer, 0, ACE)
    framer.receive(bytes.fromhex(KING[:10]), 7 * SECOND)
    framer.acknowledge(late)
    assert sent_after(framer) == "", "half of the next packet is here"
    framer.receive(bytes.fromhex(KING[10:]), 7 * SECOND)
    assert sent_after(framer) == ""
    (report,) = drain(framer)
    framer.acknowledge(report)
    assert sent_after(framer) == ACK


def test_an_answer_waits_until_noise_is_over() -> None:
    framer = open_zebra_ssi(KEPT)
    report = read(framer, 0, ACE)
    framer.receive(b"\xff", SECOND)
    framer.acknowledge(report)
    assert sent_after(framer) == ""
    framer.tick(SECOND + GAP_US)
    assert sent_after(framer) == NAK_RESEND + ACK


def test_damage_is_asked_for_again_after_the_silence() -> None:
    framer = open_zebra_ssi(KEPT)
    framer.receive(bytes.fromhex(BROKEN_ACE), 0)
    assert sent_after(framer) == "" and framer.next_deadline_us() == GAP_US
    framer.tick(GAP_US)
    assert sent_after(framer) == NAK_RESEND
    assert framer.next_deadline_us() == GAP_US + 2_100_000
    framer.receive(bytes.fromhex(ACE_AGAIN), SECOND)
    assert drain(framer) == [Garbage(11, BROKEN), A]
    assert framer.next_deadline_us() is None


def test_a_repetition_that_came_by_itself_is_not_asked_for() -> None:
    framer = open_zebra_ssi(KEPT)
    framer.receive(bytes.fromhex(BROKEN_ACE), 0)
    framer.receive(bytes.fromhex(ACE_AGAIN), 2 * SECOND)
    framer.acknowledge(drain(framer)[-1])
    assert sent_after(framer) == ACK


def test_an_event_that_came_again_by_itself_is_not_asked_for() -> None:
    framer = open_zebra_ssi(KEPT)
    talk(framer, (0, POWER_UP, ACK), (SECOND, BROKEN_ACE, ""), (2 * SECOND, POWER_UP_AGAIN, ACK))


def test_a_failed_read_is_acknowledged_like_a_card() -> None:
    framer = open_zebra_ssi(KEPT)
    framer.acknowledge(read(framer, 0, "07F30000014E52FE65"))
    assert sent_after(framer) == ACK


@pytest.mark.parametrize("packet", ["0573000000FF88", "04990000FF63"])
def test_what_is_no_card_is_denied(packet: str) -> None:
    framer = open_zebra_ssi(KEPT)
    framer.acknowledge(read(framer, 0, packet))
    assert sent_after(framer) == NAK_DENIED


def test_an_event_is_acknowledged_at_once_also_in_front_of_a_card() -> None:
    framer = open_zebra_ssi(KEPT)
    framer.receive(bytes.fromhex(POWER_UP + ACE), 0)
    assert sent_after(framer) == ACK
    framer.acknowledge(drain(framer)[-1])
    assert sent_after(framer) == ACK


# Set-up.


def open_at_0(options: dict[str, object]) -> Framer:
    framer = open_zebra_ssi(options)
    framer.opened(0)
    return framer


def talk(framer: Framer, *steps: tuple[int, str, str]) -> None:
    """At each time the scanner says something, "" for nothing; the host must say what is third."""
    for at_us, said, expected in steps:
        framer.receive(bytes.fromhex(said), at_us) if said else framer.tick(at_us)
        assert sent_after(framer) == expected, at_us


@pytest.mark.parametrize(
    ("options", "packeted_bytes", "boot_bytes"),
    [
        ({}, PACKETED, BOOT_EVENT),
        ({"set_up": "permanent"}, PACKETED_FOR_GOOD, BOOT_EVENT_FOR_GOOD),
        ({"set_up_beep": 1}, "07C6040001EE01FE3F", "08C6040001F00201FE3A"),
        ({"wakeup": True}, "00" + PACKETED, "00" + BOOT_EVENT),
    ],
)
def test_set_up_after_the_line_has_settled(
    options: dict[str, object], packeted_bytes: str, boot_bytes: str
) -> None:
    framer = open_at_0(options)
    assert sent_after(framer) == "" and framer.next_deadline_us() == 500_000
    talk(
        framer, (500_000, "", packeted_bytes), (510_000, SCANNER_ACK, boot_bytes), (520_000, SCANNER_ACK, "")
    )
    assert drain(framer) == [DeviceReported(DeviceState.CONFIGURED)]
    assert framer.next_deadline_us() is None


def test_set_up_again_after_every_power_up() -> None:
    framer = open_at_0({"set_up_delay_ms": 0})
    talk(framer, (0, "", PACKETED), (1, SCANNER_ACK, BOOT_EVENT), (2, SCANNER_ACK, ""))
    talk(framer, (SECOND, POWER_UP, ACK + PACKETED), (SECOND + 1, SCANNER_ACK, BOOT_EVENT))
    talk(framer, (2 * SECOND, POWER_UP, ACK + PACKETED), (2 * SECOND + 1, SCANNER_ACK, BOOT_EVENT))


def test_raw_characters_bring_the_set_up_again() -> None:
    framer = open_at_0({"set_up_delay_ms": 0})
    talk(framer, (0, "", PACKETED), (1, SCANNER_ACK, BOOT_EVENT), (2, SCANNER_ACK, ""))
    drain(framer)
    talk(framer, (SECOND, "31303130", ""), (SECOND + GAP_US, "", PACKETED))
    assert drain(framer) == [DAMAGED, Garbage(4, RAW)]


def test_a_command_that_nobody_answers_is_sent_three_times_and_later_anew() -> None:
    framer = open_at_0({"set_up_delay_ms": 0})
    talk(framer, (0, "", PACKETED), (2 * SECOND - 1, "", ""), (2 * SECOND, "", PACKETED_AGAIN))
    talk(framer, (4 * SECOND, "", PACKETED_AGAIN), (6 * SECOND, "", ""))
    assert drain(framer) == [DeviceReported(DeviceState.SILENT)]
    assert framer.next_deadline_us() == 16 * SECOND
    talk(framer, (16 * SECOND, "", PACKETED), (18 * SECOND, "", PACKETED_AGAIN))
    talk(framer, (20 * SECOND, "", PACKETED_AGAIN), (22 * SECOND, "", ""))
    assert drain(framer) == [], "told once until it answers"
    talk(
        framer,
        (32 * SECOND, "", PACKETED),
        (33 * SECOND, SCANNER_ACK, BOOT_EVENT),
        (34 * SECOND, SCANNER_ACK, ""),
    )
    assert drain(framer) == [DeviceReported(DeviceState.CONFIGURED)]
    talk(framer, (40 * SECOND, POWER_UP, ACK + PACKETED), (42 * SECOND, "", PACKETED_AGAIN))
    talk(framer, (44 * SECOND, "", PACKETED_AGAIN), (46 * SECOND, "", ""))
    assert drain(framer) == [RESTARTED, DeviceReported(DeviceState.SILENT)]


def test_a_scanner_that_wants_it_again_gets_it_twice_and_one_that_refuses_does_not() -> None:
    again, denied = "05D1000001FF29", "05D1000006FF24"
    framer = open_at_0({"set_up_delay_ms": 0})
    talk(framer, (0, "", PACKETED), (1, again, PACKETED_AGAIN), (2, SCANNER_ACK, BOOT_EVENT), (3, denied, ""))
    assert drain(framer) == [DeviceReported(DeviceState.REFUSED)]
    storm = open_at_0({"set_up_delay_ms": 0})
    talk(storm, (0, "", PACKETED), (1, again, PACKETED_AGAIN), (2, again, PACKETED_AGAIN), (3, again, ""))
    assert drain(storm) == [DeviceReported(DeviceState.SILENT)]


def test_no_command_while_a_card_waits_for_its_acknowledgement() -> None:
    framer = open_at_0({})
    report = read(framer, 100_000, ACE)
    talk(framer, (500_000, "", ""))
    assert framer.next_deadline_us() is None
    framer.acknowledge(report)
    assert sent_after(framer) == ACK
    due = framer.next_deadline_us()
    assert due is not None
    talk(framer, (due, "", PACKETED))


def test_a_frame_that_had_begun_and_a_resend_that_was_due_end_with_their_line() -> None:
    framer = open_at_0(KEPT)
    framer.receive(bytes.fromhex(BROKEN_ACE), 0)
    framer.receive(bytes.fromhex(ACE[:12]), SECOND)
    framer.opened(SECOND + 1)
    assert drain(framer) == [Garbage(11, BROKEN), ReadFailed(FailedReadCause.CUT_SHORT), DAMAGED]
    framer.receive(b"\xff", 2 * SECOND)
    framer.opened(2 * SECOND + 1)
    assert drain(framer) == [Garbage(1, NO_PACKET)]
    assert sent_after(framer) == "" and framer.next_deadline_us() is None
    framer.receive(bytes.fromhex(POWER_UP + ACE + "09"), 3 * SECOND)
    framer.opened(3 * SECOND + 1)
    assert sent_after(framer) == ""


def test_a_silence_that_passed_before_the_new_open_is_judged_first() -> None:
    framer = open_at_0(KEPT)
    framer.receive(b"1010", 0)
    framer.opened(SECOND)
    assert drain(framer) == [DAMAGED, Garbage(4, RAW_KEPT)]


def test_a_command_on_its_way_ends_with_its_line() -> None:
    framer = open_at_0({})
    talk(framer, (500_000, "", PACKETED), (2_450_000, ACE[:4], ""), (2_500_000, "", ""))
    framer.opened(2_550_000)
    assert sent_after(framer) == ""
    talk(framer, (3_050_000, "", PACKETED), (3_060_000, SCANNER_ACK, BOOT_EVENT))


def test_what_becomes_durable_after_a_new_open_is_acknowledged_when_it_comes_again() -> None:
    framer = open_at_0(KEPT)
    report = read(framer, 0, ACE)
    framer.opened(SECOND)
    framer.acknowledge(report)
    assert sent_after(framer) == ""
    framer.receive(bytes.fromhex(ACE_AGAIN), 2 * SECOND)
    assert drain(framer) == [] and sent_after(framer) == ACK


def test_what_the_scanner_says_of_itself() -> None:
    framer = open_zebra_ssi(KEPT)
    framer.ask_about_itself()
    framer.ask_about_itself()
    talk(framer, (0, "", "04A30400FF55"), (1, "08A4000052312E32FE71", "04D30400FF25"))
    talk(framer, (2, "06D40000000FFF17", ""), (3, "", ""))
    assert (framer.revision, framer.capabilities) == ("R1.2", b"\x00\x0f")


# The interlock.


def test_the_interlock_follows_what_is_expected() -> None:
    framer = open_zebra_ssi({"set_up": "none", "interlock": True, "set_up_delay_ms": 0})
    assert isinstance(framer, Interlock)
    framer.opened(0)
    talk(framer, (0, "", ENABLE), (1, SCANNER_ACK, ""))
    framer.expect(True)
    assert framer.next_deadline_us() is None
    framer.expect(False)
    due = framer.next_deadline_us()
    assert due is not None
    talk(framer, (due + 1, "", DISABLE))
    framer.expect(True)
    framer.expect(False)
    talk(framer, (due + 2, SCANNER_ACK, DISABLE), (due + 3, SCANNER_ACK, ""))
    talk(framer, (SECOND, POWER_UP, ACK + DISABLE))


def test_without_the_setting_nothing_is_disabled() -> None:
    framer = open_zebra_ssi(KEPT)
    framer.expect(False)
    talk(framer, (0, "", ""))
    assert framer.next_deadline_us() is None


def test_a_scanner_that_is_disabled_reads_nothing() -> None:
    dialogue = packeted({"interlock": True})
    dialogue.framer.expect(False)
    dialogue.run(SECOND)
    assert dialogue.scanner.scan("1010", dialogue.now_us) is False
    dialogue.framer.expect(True)
    dialogue.run(SECOND)
    assert dialogue.scanner.scan("1010", dialogue.now_us) is True
    dialogue.settle()
    assert dialogue.codes == ["1010"]


# The whole dialogue with a simulated scanner and its faults.


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("fault", [None, *(fault for fault in Fault if fault is not Fault.DOUBLED)])
@pytest.mark.parametrize("times", [1, 2])
def test_a_card_gets_through_one_or_two_faults_once(fault: Fault | None, times: int, seed: int) -> None:
    dialogue = packeted(seed=seed)
    for code in ("1010", "4130"):
        dialogue.scanner.scan(code, dialogue.now_us, fault, times=times)
        dialogue.settle()
        dialogue.run(10 * SECOND)
    assert dialogue.codes == ["1010", "4130"]
    assert not any(isinstance(report, ReadFailed) for report in dialogue.reports)
    assert dialogue.scanner.lost == []


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("fault", [Fault.CUT, Fault.NOISE, Fault.FLIPPED, Fault.LENGTH])
def test_a_card_that_is_damaged_three_times_is_a_failed_read(fault: Fault, seed: int) -> None:
    dialogue = packeted(seed=seed)
    dialogue.scanner.scan("1010", dialogue.now_us, fault, times=3)
    dialogue.settle()
    dialogue.run(2 * SECOND)
    dialogue.scanner.scan("4130", dialogue.now_us)
    dialogue.settle()
    dialogue.run(10 * SECOND)
    told = [report for report in dialogue.reports if not isinstance(report, Garbage)]
    assert told == [DAMAGED, K]
    assert len(dialogue.scanner.lost) == 1, "the scanner has beeped low four times"


def test_a_card_of_which_nothing_arrives_leaves_nothing_but_the_beeps() -> None:
    dialogue = packeted()
    dialogue.scanner.scan("1010", dialogue.now_us, Fault.LOST, times=3)
    dialogue.run(5 * SECOND)
    assert dialogue.scanner.lost == []
    dialogue.run(2 * SECOND)
    assert len(dialogue.scanner.lost) == 1 and dialogue.reports == []


def test_a_packet_that_the_line_doubles_is_two_cards() -> None:
    """Without the mark nothing tells it from two cards; in a game of one deck the table asks."""
    dialogue = packeted()
    dialogue.scanner.scan("1010", dialogue.now_us, Fault.DOUBLED)
    dialogue.settle()
    assert dialogue.codes == ["1010", "1010"]


@pytest.mark.parametrize("durable_us", [1_000, SECOND, 3 * SECOND, 5 * SECOND, 9 * SECOND])
def test_a_slow_host_has_one_card_and_the_next_one(durable_us: int) -> None:
    dialogue = packeted(durable_us=durable_us)
    for code in ("1010", "4130", "4130"):
        dialogue.scanner.scan(code, dialogue.now_us)
        dialogue.settle()
        dialogue.run(15 * SECOND)
    assert dialogue.codes == ["1010", "4130", "4130"]
    assert len(dialogue.scanner.lost) == (3 if durable_us > 6 * SECOND else 0)


def test_power_cycles_in_mid_game_need_no_hand_work() -> None:
    dialogue = packeted()
    for number in range(3):
        dialogue.scanner.power_cycle(dialogue.now_us)
        dialogue.settle()
        dialogue.run(SECOND)
        # A temporary setting is gone with the power, and with it the event: the first read is raw.
        dialogue.scanner.scan("1010", dialogue.now_us)
        dialogue.settle()
        dialogue.run(SECOND)
        dialogue.scanner.scan("4130", dialogue.now_us)
        dialogue.settle()
        dialogue.run(SECOND)
        assert dialogue.codes == ["4130"] * (number + 1)
        assert dialogue.reports.count(DAMAGED) == number + 1


def test_a_permanent_set_up_survives_the_power_cycle_and_tells_it() -> None:
    dialogue = packeted({"set_up": "permanent"})
    dialogue.scanner.power_cycle(dialogue.now_us)
    dialogue.settle()
    dialogue.scanner.scan("1010", dialogue.now_us)
    dialogue.settle()
    assert dialogue.reports[0] == RESTARTED and dialogue.codes == ["1010"]


@pytest.mark.parametrize(("nak_count", "state"), [(2, DeviceState.CONFIGURED), (3, DeviceState.SILENT)])
def test_a_storm_of_naks_ends(nak_count: int, state: DeviceState) -> None:
    dialogue = Dialogue()
    dialogue.scanner.nak_count = nak_count
    dialogue.run(SECOND)
    assert dialogue.reports == [DeviceReported(state)]
    dialogue.run(11 * SECOND)
    assert dialogue.scanner.is_packeted


def test_a_scanner_without_power_is_set_up_when_it_has_some() -> None:
    dialogue = Dialogue()
    dialogue.scanner.is_deaf = True
    dialogue.run(60 * SECOND)
    assert dialogue.reports == [DeviceReported(DeviceState.SILENT)]
    dialogue.scanner.is_deaf = False
    dialogue.run(20 * SECOND)
    assert dialogue.scanner.is_packeted
    assert dialogue.reports[-1] == DeviceReported(DeviceState.CONFIGURED)


def test_the_simulated_scanner_answers_about_itself_and_reports_no_reads() -> None:
    dialogue = packeted()
    dialogue.framer.ask_about_itself()
    dialogue.run(SECOND)
    assert dialogue.framer.revision == "SIM-1.0 R00" and dialogue.framer.capabilities
    dialogue.scanner.no_read(dialogue.now_us)
    dialogue.settle()
    assert dialogue.reports == [ReadFailed(FailedReadCause.NO_READ)]
    dialogue.scanner.noise(5)
    dialogue.settle()
    dialogue.run(10 * SECOND)
    assert dialogue.reports[1:] == [Garbage(5, NO_PACKET)]


@pytest.mark.parametrize("seed", range(200 if SOAK else 10))
def test_a_deck_through_many_faults_never_gives_a_wrong_card(seed: int) -> None:
    """Each card arrives once, in order, or as a failed read, or the scanner has beeped."""
    rng = random.Random(seed)
    dialogue = packeted(seed=seed, durable_us=rng.choice((0, 50_000, 2_500_000)))
    codes = rng.sample(DIGITS, 52)
    faults = [fault for fault in Fault if fault is not Fault.DOUBLED]
    for code in codes:
        fault = rng.choice(faults) if rng.random() < 0.5 else None
        dialogue.scanner.scan(code, dialogue.now_us, fault, times=rng.randrange(1, 4))
        dialogue.settle()
        dialogue.run(12 * SECOND)
    rest = iter(codes)
    assert all(code in rest for code in dialogue.codes), "a card out of order, twice, or wrong"
    silent = len(codes) - len(dialogue.codes) - dialogue.reports.count(DAMAGED)
    assert silent <= len(dialogue.scanner.lost)
    assert len(dialogue.codes) > 30


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
