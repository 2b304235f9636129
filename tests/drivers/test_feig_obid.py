"""FEIG readers: golden bytes typed from the hardware notes, conversations in time, and hostile answers."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence

import pytest

from drivers.contract import (
    CodeRead,
    DeviceReported,
    DeviceState,
    FailedReadCause,
    Garbage,
    ReadFailed,
    ReadTogether,
    Report,
)
from drivers.feig_obid.framer import (
    CUT_SHORT,
    DAMAGED,
    ECHO,
    ENDLESS,
    GARBAGE_RUN_MAX,
    NOT_ASKED,
    OTHER_QUESTION,
    OTHER_READER,
    OTHER_TAGS,
    REFUSED,
    FeigFramer,
    open_feig,
)
from drivers.feig_obid.frames import (
    MORE_INVENTORY,
    NEW_INVENTORY,
    NO_DATA,
    Command,
    Reply,
    Status,
    crc16,
    encode,
    length_of,
    read_reply,
    read_tags,
    request,
    write_tags,
)
from drivers.feig_obid.presence import TAGS_MAX, Judgement, Presence
from simulators.devices.cuts import Line, byte_by_byte, decode, merged, recut, splits
from simulators.devices.feig_obid import Fault, FeigReader

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
MS = 1_000
POLL_US = 100 * MS
A, B, C = "E00401001234ABCD", "E004010056789ABC", "E004010000000C0C"
GONE, BACK = DeviceReported(DeviceState.GONE), DeviceReported(DeviceState.BACK)

# Hardware notes, 4.3, typed.
LINK = "06 00 52 00 FC A8"
LINK_ANY = "06 FF 52 00 0F 6E"
INVENTORY = "07 00 B0 01 00 CE 93"
MORE = "07 00 B0 01 80 C6 17"
NO_TAG = "06 00 B0 01 5C 63"
ONE_TAG = "11 00 B0 00 01 03 00 E0 04 01 00 12 34 AB CD 8E 1B"
TWO_TAGS = "1B 00 B0 00 02 03 00 E0 04 01 00 12 34 AB CD 03 00 E0 04 01 00 56 78 9A BC 45 43"
TWO_AND_MORE = "1B 00 B0 94 02 03 00 E0 04 01 00 12 34 AB CD 03 00 E0 04 01 00 56 78 9A BC DF 28"
RF_RESET = "05 00 69 49 FE"
VERSION = "05 00 65 25 34"
READ_CFG0 = "06 FF 80 00 84 02"


def of(text: str) -> bytes:
    return bytes.fromhex(text)


# Frames.


@pytest.mark.parametrize(
    ("made", "golden"),
    [
        (request(0, Command.LINK_TEST, NO_DATA), LINK),
        (request(255, Command.LINK_TEST, NO_DATA), LINK_ANY),
        (request(0, Command.INVENTORY, NEW_INVENTORY), INVENTORY),
        (request(0, Command.INVENTORY, MORE_INVENTORY), MORE),
        (request(0, Command.RF_RESET), RF_RESET),
        (request(0, Command.SOFTWARE_VERSION), VERSION),
        (request(255, Command.READ_CONFIG, b"\x00"), READ_CFG0),
        (encode(Reply(0, Command.INVENTORY, Status.NO_TAG, b"")), NO_TAG),
        (encode(Reply(0, Command.INVENTORY, Status.OK, write_tags([A]))), ONE_TAG),
        (encode(Reply(0, Command.INVENTORY, Status.OK, write_tags([A, B]))), TWO_TAGS),
        (encode(Reply(0, Command.INVENTORY, Status.MORE_DATA, write_tags([A, B]))), TWO_AND_MORE),
    ],
)
def test_golden_frames(made: bytes, golden: str) -> None:
    assert made == of(golden)
    assert crc16(made) == 0


def test_the_checksum_is_the_one_that_is_named_in_the_notes() -> None:
    assert crc16(b"123456789") == 0x6F91


@pytest.mark.parametrize(
    ("frame", "reply", "uids"),
    [
        (NO_TAG, Reply(0, 0xB0, 1, b""), ()),
        (ONE_TAG, Reply(0, 0xB0, 0, of("01 03 00 E0 04 01 00 12 34 AB CD")), (A,)),
        (TWO_TAGS, Reply(0, 0xB0, 0, of("02 0300E00401001234ABCD 0300E004010056789ABC")), (A, B)),
        (TWO_AND_MORE, Reply(0, 0xB0, 0x94, of("02 0300E00401001234ABCD 0300E004010056789ABC")), (A, B)),
        (LINK, Reply(0, 0x52, 0, b""), ()),
    ],
)
def test_golden_replies_are_read(frame: str, reply: Reply, uids: Sequence[str]) -> None:
    assert read_reply(of(frame)) == reply
    assert read_tags(reply.data).uids == tuple(uids)


def test_advanced_frames_are_used_where_asked_and_where_a_reply_is_too_long() -> None:
    reply = Reply(7, Command.INVENTORY, Status.OK, write_tags([A] * 30))
    for frame in (encode(reply), encode(reply._replace(data=write_tags([A])), advanced=True)):
        assert frame[0] == 2 and length_of(frame) == len(frame) == int.from_bytes(frame[1:3], "big")
        again = read_reply(frame)
        assert again is not None and (again.address, again.command, again.status) == (7, 0xB0, 0)
    assert length_of(b"\x02\x00") is None and length_of(b"") is None
    assert [length_of(bytes((first,))) for first in (0, 1, 3, 4, 5)] == [0] * 5
    assert length_of(b"\x02\x00\x07") == 0


@pytest.mark.parametrize(
    ("data", "uids", "whole"),
    [
        ("", (), False),
        ("00", (), True),
        ("01 0300E00401001234ABCD 00", (), False),
        ("02 0300E00401001234ABCD", (), False),
        ("00 0300E00401001234ABCD", (), False),
        ("01 0300E00401001234AB", (), False),
        ("02 0300E00401001234ABCD 0400112233445566", (A,), False),
        ("02 0400112233445566 0300E00401001234ABCD", (), False),
        ("01 8400112233445566778899", (), False),
    ],
)
def test_records_that_do_not_fit_give_nothing_that_was_not_there(
    data: str, uids: tuple[str, ...], whole: bool
) -> None:
    assert read_tags(of(data)) == (uids, whole)


# Sessions: a link test at 0 is answered, inventories begin at 6 ms and come every 100 ms.


def talk(*replies: str | tuple[str, ...]) -> Line:
    """Answers to the link test and then to one inventory after the other; a tuple where more is asked for."""
    chunks = [(1 * MS, of(LINK))]
    for number, reply in enumerate(replies):
        for part, text in enumerate((reply,) if isinstance(reply, str) else reply):
            chunks.append((10 * MS + number * POLL_US + part * 10 * MS, of(text)))
    return chunks


def tags(*uids: str, status: int = Status.OK, address: int = 0) -> str:
    return encode(Reply(address, Command.INVENTORY, status, write_tags(uids))).hex()


def bare(status: int) -> str:
    return encode(Reply(0, Command.INVENTORY, status, b"")).hex()


SESSIONS: dict[str, tuple[dict[str, object], Line, list[Report]]] = {
    "no tag": ({}, talk(NO_TAG), []),
    "one tag": ({}, talk(ONE_TAG), [CodeRead(A)]),
    "a tag that stays is one card": ({}, talk(ONE_TAG, ONE_TAG, ONE_TAG, ONE_TAG), [CodeRead(A)]),
    "two at once": ({}, talk(TWO_TAGS), [ReadTogether(2), CodeRead(A), CodeRead(B)]),
    "more data": (
        {},
        talk((TWO_AND_MORE, tags(C))),
        [ReadTogether(3), CodeRead(A), CodeRead(B), CodeRead(C)],
    ),
    "the more that was promised is lost": (
        {"reply_ms": 50},
        talk((TWO_AND_MORE,)),
        [ReadTogether(2), CodeRead(A), CodeRead(B)],
    ),
    "one after the other": (
        {"apart_ms": 0},
        talk(ONE_TAG, TWO_TAGS),
        [CodeRead(A), CodeRead(B)],
    ),
    "too close one after the other": (
        {},
        talk(ONE_TAG, TWO_TAGS),
        [CodeRead(A), ReadTogether(1), CodeRead(B)],
    ),
    "far enough one after the other": (
        {},
        talk(ONE_TAG, ONE_TAG, ONE_TAG, TWO_TAGS),
        [CodeRead(A), CodeRead(B)],
    ),
    "flicker": ({}, talk(ONE_TAG, NO_TAG, NO_TAG, ONE_TAG, NO_TAG, ONE_TAG), [CodeRead(A)]),
    "gone and back": ({}, talk(ONE_TAG, NO_TAG, NO_TAG, NO_TAG, ONE_TAG), [CodeRead(A), CodeRead(A)]),
    "what is not listed in full does not go": (
        {},
        talk(ONE_TAG, *(bare(Status.RF_ERROR),) * 4, ONE_TAG),
        [CodeRead(A)],
    ),
    "a neighbour's tag": ({"real_after": 2}, talk(ONE_TAG, NO_TAG, ONE_TAG, NO_TAG), []),
    "real at its second sighting": ({"real_after": 2}, talk(ONE_TAG, ONE_TAG), [CodeRead(A)]),
    "RF warning: valid": ({}, talk(tags(A, status=Status.RF_WARNING)), [CodeRead(A)]),
    "RF error: what is there is there": ({}, talk(tags(A, status=Status.RF_ERROR)), [CodeRead(A)]),
    "buffer overflow: what is there is there": ({}, talk(tags(A, status=Status.OVERFLOW)), [CodeRead(A)]),
    "a tag that can't be read": (
        {},
        talk(*(bare(Status.RF_ERROR),) * 7),
        [ReadFailed(FailedReadCause.NO_READ)],
    ),
    "a tag that is read after all": ({}, talk(*(bare(Status.BAD_DATA),) * 4, ONE_TAG), [CodeRead(A)]),
    "tag error": ({"no_read_after": 1}, talk(bare(Status.TAG_ERROR)), [ReadFailed(FailedReadCause.NO_READ)]),
    "wrong checksum": ({}, talk(ONE_TAG[:-1] + "C", ONE_TAG), [Garbage(17, DAMAGED), CodeRead(A)]),
    "no length": ({}, talk("05 01 02 03", ONE_TAG), [Garbage(4, DAMAGED), CodeRead(A)]),
    "cut short": ({}, talk(ONE_TAG[:23], ONE_TAG), [Garbage(8, CUT_SHORT), CodeRead(A)]),
    "bytes behind a reply": ({}, talk(ONE_TAG + "FF FF", ONE_TAG), [CodeRead(A), Garbage(2, NOT_ASKED)]),
    "noise in front of a reply": (
        {},
        talk("FF" + ONE_TAG, ONE_TAG),
        [Garbage(18, CUT_SHORT), CodeRead(A)],
    ),
    "two replies at once": ({}, talk(ONE_TAG + TWO_TAGS), [CodeRead(A), ReadTogether(1), CodeRead(B)]),
    "another reader, then the right one": (
        {},
        talk((tags(B, address=1), ONE_TAG)),
        [Garbage(17, OTHER_READER), CodeRead(A)],
    ),
    "another question": ({}, talk((LINK, ONE_TAG)), [Garbage(6, OTHER_QUESTION), CodeRead(A)]),
    "echo": ({}, talk((INVENTORY, ONE_TAG)), [Garbage(7, ECHO), CodeRead(A)]),
    "scan mode": (
        {"silent_after": 5},
        talk(*(bare(0x82),) * 3, ONE_TAG),
        [Garbage(6, REFUSED), CodeRead(A)],
    ),
    "a tag of another kind": (
        {},
        talk(*(encode(Reply(0, 0xB0, 0, of("02 0300E00401001234ABCD 0400112233"))).hex(),) * 2),
        [Garbage(22, OTHER_TAGS), CodeRead(A)],
    ),
}
BY_NAME = pytest.mark.parametrize(("options", "chunks", "expected"), SESSIONS.values(), ids=SESSIONS.keys())


def heard(options: dict[str, object], chunks: Line, until_us: int = 1_000 * MS) -> list[Report]:
    framer = open_feig(options)
    framer.opened(0)
    return decode(framer, chunks, until_us=min(until_us, chunks[-1][0] + 60 * MS) if chunks else until_us)


@BY_NAME
def test_golden_whole(options: dict[str, object], chunks: Line, expected: list[Report]) -> None:
    assert without_silence(heard(options, chunks)) == expected


@BY_NAME
def test_golden_byte_by_byte_merged_and_split_at_every_offset(
    options: dict[str, object], chunks: Line, expected: list[Report]
) -> None:
    for line in (byte_by_byte(chunks), recut(chunks, 1), merged(chunks, 5 * MS), *splits(chunks)):
        assert without_silence(heard(options, line)) == expected


def without_silence(reports: list[Report]) -> list[Report]:
    """Sessions end in the middle of a conversation; that nobody answers then is not their subject."""
    return [report for report in reports if report not in (GONE, BACK)]


# In time, with the simulated reader at the other end.


class Bench:
    """A framer and a reader that answers after `latency_us`; `asked` are the questions with their times."""

    def __init__(self, seed: int = 0, latency_us: int = 4 * MS, **options: object) -> None:
        self.framer: FeigFramer = open_feig(options)
        ont = options.get("ont", 0)
        assert isinstance(ont, int)
        self.reader = FeigReader(self._sent, ont=ont, seed=seed)
        self.reports: list[tuple[int, Report]] = []
        self.asked: list[tuple[int, bytes]] = []
        self.now_us = 0
        self._latency_us = latency_us
        self._coming: list[tuple[int, bytes]] = []
        self.is_deaf = False
        self.reopen()

    def reopen(self) -> None:
        """The line is opened, for the first time or again."""
        self.framer.opened(self.now_us)
        self._collect()

    def _sent(self, data: bytes) -> None:
        if not self.is_deaf:
            self._coming.append((self.now_us + self._latency_us, data))

    def run(self, ms: int) -> list[Report]:
        """Let time pass; return what was reported meanwhile."""
        until_us, before = self.now_us + ms * MS, len(self.reports)
        while True:
            due_us = self.framer.next_deadline_us()
            assert due_us is not None
            times = [due_us, *(at_us for at_us, _ in self._coming)]
            if min(times) > until_us:
                break
            self.now_us = max(self.now_us, min(times))
            if due_us <= self.now_us:
                self.framer.tick(self.now_us)
            else:
                at_us, data = self._coming.pop(0)
                self.framer.receive(data, at_us)
            self._collect()
        self.now_us = until_us
        return [report for _, report in self.reports[before:]]

    def _collect(self) -> None:
        while (report := self.framer.next_report()) is not None:
            self.framer.acknowledge(report)
            self.reports.append((self.now_us, report))
        question = self.framer.bytes_to_send()
        if question:
            self.asked.append((self.now_us, question))
            self.reader.hear(question)


def test_questions_in_their_order_and_time() -> None:
    bench = Bench()
    bench.run(220)
    assert bench.asked == [
        (0, of(LINK_ANY)),
        (9 * MS, of(INVENTORY)),
        (109 * MS, of(INVENTORY)),
        (209 * MS, of(INVENTORY)),
    ]


def test_more_is_asked_for_until_all_is_there() -> None:
    bench = Bench()
    bench.reader.place(A, B, C)
    bench.reader.disturb(Fault.MORE_DATA)
    assert bench.run(60) == [ReadTogether(3), CodeRead(A), CodeRead(B), CodeRead(C)]
    assert [question for _, question in bench.asked] == [of(LINK_ANY), of(INVENTORY), of(MORE)]


def test_a_reader_that_always_has_more_is_asked_anew() -> None:
    framer = open_feig({})
    framer.opened(0)
    line: list[tuple[int, bytes]] = [(1 * MS, of(LINK))]
    line += [(10 * MS + part * 10 * MS, of(TWO_AND_MORE)) for part in range(64)]
    reports = decode(framer, line, until_us=line[-1][0] + 60 * MS)
    assert reports == [Garbage(27, ENDLESS), ReadTogether(2), CodeRead(A), CodeRead(B)]
    assert framer._question == of(INVENTORY)


def test_each_question_of_a_reader_whose_tags_are_listed_once() -> None:
    bench = Bench(ont=1)
    bench.reader.place(A)
    assert bench.run(60) == [CodeRead(A)]
    assert [question for _, question in bench.asked] == [of(LINK_ANY), of(RF_RESET), of(INVENTORY)]


def test_advanced_frames_both_ways() -> None:
    bench = Bench(advanced=True)
    bench.reader.place(A)
    assert bench.run(60) == [CodeRead(A)]
    assert all(question[0] == 2 and crc16(question) == 0 for _, question in bench.asked)


@pytest.mark.parametrize("ont", [0, 1])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("fault", list(Fault))
def test_no_fault_of_one_inventory_loses_or_doubles_a_card(fault: Fault, seed: int, ont: int) -> None:
    """Three cards a second apart, one fault at each of the inventories around them, all of one kind."""
    bench = Bench(seed, ont=ont, reply_ms=200, real_after=1 if ont else 2)
    for uid in (A, B, C):
        bench.reader.place(uid)
        bench.reader.disturb(fault)
        bench.run(1_000)
        bench.reader.release()
    codes = [report.code for _, report in bench.reports if isinstance(report, CodeRead)]
    if fault is Fault.BLEED and ont:
        codes = [code for code in codes if code != bench.reader.neighbours]  # Nothing tells it from a card.
    assert codes == [A, B, C]
    assert not any(isinstance(report, ReadFailed | DeviceReported) for _, report in bench.reports)


@pytest.mark.parametrize("seed", range(6))
def test_a_table_of_cards_under_every_fault(seed: int) -> None:
    """Thirty cards come, lie there and stay; every second inventory is disturbed."""
    rng = random.Random(seed)
    bench = Bench(seed, reply_ms=200, real_after=2, gone_after=10)
    faults = [fault for fault in Fault if fault is not Fault.BLEED]
    cards = [f"E0040100{number:08X}" for number in range(30)]
    for card in cards:
        bench.reader.place(card)
        for _ in range(20):
            bench.reader.disturb(rng.choice(faults))
            bench.run(100)
            bench.reader.release()
            bench.run(100)
    assert [report.code for _, report in bench.reports if isinstance(report, CodeRead)] == cards
    assert len(bench.framer._presence) <= 30


def test_gone_and_back_is_a_new_read() -> None:
    for ont in (0, 1):
        bench = Bench(ont=ont)
        bench.reader.place(A)
        assert bench.run(1_000) == [CodeRead(A)]
        bench.reader.lift(A)
        bench.run(1_000)
        bench.reader.place(A)
        assert bench.run(1_000) == [CodeRead(A)]


def test_a_mute_tag_is_never_read_and_hides_no_other() -> None:
    bench = Bench()
    bench.reader.muted.add(B)
    bench.reader.place(A, B)
    assert bench.run(1_000) == [CodeRead(A)]


def test_a_lost_reply_loses_no_tag_that_is_listed_only_once() -> None:
    bench = Bench(ont=1, reply_ms=200)
    bench.run(500)
    bench.reader.place(A)
    bench.reader.disturb(Fault.LOST_REPLY)
    assert bench.run(1_000) == [CodeRead(A)]
    assert of(RF_RESET) in [question for at_us, question in bench.asked if at_us > 500 * MS]
    bench.reader.disturb(Fault.LOST_REPLY)
    assert bench.run(1_000) == [], "the card that lay there speaks again, and is no news"


def test_a_silent_reader_is_told_once_and_so_is_its_return() -> None:
    bench = Bench()
    bench.run(500)
    bench.is_deaf = True
    reports = bench.run(10_000)
    assert reports == [GONE]
    at_us = bench.reports[-1][0]
    assert at_us < 500 * MS + 3_500 * MS + 2 * 305 * MS + POLL_US + 10 * MS
    bench.is_deaf = False
    assert bench.run(1_000) == [BACK]
    bench.reopen()
    assert bench.run(1_000) == []


def test_another_reader_in_its_place_is_found() -> None:
    bench = Bench(reply_ms=200)
    bench.run(500)
    bench.reader.address = 9
    bench.reader.place(A)
    assert bench.run(2_000) == [CodeRead(A)]
    assert bench.asked[-1][1][1] == 9


def test_an_address_that_was_set_is_kept() -> None:
    bench = Bench(address=4)
    assert bench.run(3_000) == [GONE]
    assert {question[1] for _, question in bench.asked} == {4}


# Command 0x65 of the readers' system manual, typed, with the checksum of `independent_crc`.
FACTS = "03 00 00 00 21 00 08"
FACTS_TOLD = "firmware 0300, development 00, hardware 00, reader type 21, kinds of tags 0008"


def test_a_reader_says_what_it_is_and_no_inventory_is_lost_to_it() -> None:
    bench = Bench()
    bench.reader.place(A)
    assert bench.run(50) == [CodeRead(A)]
    assert bench.framer.told_about_itself() == ("address 0",)
    bench.framer.ask_about_itself()
    bench.run(200)
    assert bench.asked[2:4] == [(109 * MS, of(VERSION)), (118 * MS, of(INVENTORY))]
    assert bench.framer.told_about_itself() == ("address 0", FACTS_TOLD)
    bench.reader.place(B)
    assert bench.run(200) == [CodeRead(B)]


@pytest.mark.parametrize(
    ("status", "data", "told"),
    [
        (0x00, FACTS, FACTS_TOLD),
        (0x00, "03 00", "software version 0300"),
        (0x80, "", "it does not tell its software version: status 80"),
    ],
)
def test_what_a_reader_answers_to_the_question_what_it_is(status: int, data: str, told: str) -> None:
    framer = open_feig({})
    framer.ask_about_itself()
    framer.opened(0)
    assert framer.told_about_itself() == ()
    framer.receive(of(LINK), 10)
    framer.tick(6 * MS)
    assert framer.bytes_to_send() == of(VERSION)
    body = bytes((6 + len(of(data)), 0, 0x65, status)) + of(data)
    framer.receive(body + independent_crc(body).to_bytes(2, "little"), 7 * MS)
    assert framer.told_about_itself() == ("address 0", told)
    framer.opened(20 * MS)
    assert framer.told_about_itself() == ()


def test_a_reader_that_does_not_know_the_question_is_asked_once() -> None:
    bench = Bench()
    bench.run(50)
    bench.framer.ask_about_itself()
    bench.is_deaf = True
    bench.run(1_000)
    bench.is_deaf = False
    bench.reader.place(A)
    assert CodeRead(A) in bench.run(1_000)
    assert [question for _, question in bench.asked].count(of(VERSION)) == 1
    assert bench.framer.told_about_itself() == ("address 0",)


def test_a_slow_reader_is_asked_when_it_has_answered() -> None:
    bench = Bench(latency_us=700 * MS, link_ms=1_000)
    bench.reader.place(A)
    assert bench.run(3_000) == [CodeRead(A)]
    times = [at_us for at_us, _ in bench.asked]
    assert times == [0, 705 * MS, 1_410 * MS, 2_115 * MS, 2_820 * MS]


@pytest.mark.parametrize(("ms", "hint"), [(503, NOT_ASKED), (511, CUT_SHORT)])
def test_who_lay_there_when_the_line_went_is_no_news(ms: int, hint: str) -> None:
    bench = Bench()
    bench.reader.place(A)
    assert bench.run(ms) == [CodeRead(A)]
    bench.framer.receive(b"\x11\x00", bench.now_us)
    bench.reopen()
    bench.reader.place(B)
    reports = bench.run(1_000)
    assert [report for report in reports if isinstance(report, CodeRead)] == [CodeRead(B)]
    assert Garbage(2, hint) in [report for _, report in bench.reports]


def test_the_order_of_a_late_card_is_uncertain_when_it_was_seen_before_the_other() -> None:
    """The first sighting of A was lost in between; B became real before it."""
    bench = Bench(real_after=2, apart_ms=0, gone_after=3)
    bench.run(100)
    bench.reader.place(A)
    bench.run(100)
    bench.reader.lift(A)
    bench.reader.place(B)
    bench.run(100)
    bench.reader.place(A)
    assert bench.run(500) == [CodeRead(B), ReadTogether(1), CodeRead(A)]


def test_memory_is_bounded_and_forgets_the_one_longest_unseen() -> None:
    presence = Presence(Judgement(3, 1, 0))
    uids = [f"{number:016X}" for number in range(TAGS_MAX + 10)]
    for at_us, uid in enumerate(uids):
        presence.listed([uid], at_us, complete=False)
    assert len(presence) == TAGS_MAX
    assert presence.listed([uids[-1]], 10**9, complete=False) == []
    assert len(presence.listed([uids[0]], 10**9 + 1, complete=False)) == 1


def test_late_ticks_send_later_and_judge_the_same() -> None:
    framer = open_feig({"reply_ms": 100})
    framer.opened(0)
    framer.receive(of(LINK), 1 * MS)
    framer.tick(50 * MS)
    assert framer.bytes_to_send() == of(INVENTORY)
    framer.receive(of(ONE_TAG), 149 * MS)
    assert framer.next_report() == CodeRead(A)
    framer.receive(of(TWO_TAGS), 900 * MS)
    assert framer.next_report() == CodeRead(B), "nobody has asked, and the card is there all the same"


def test_the_deadline_is_none_until_the_line_is_open() -> None:
    assert open_feig({}).next_deadline_us() is None


# Hostile answers.


def independent_crc(data: bytes) -> int:
    """The CRC bit by bit, sharing nothing with the driver."""
    crc = 0xFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ 0x8408 if crc & 1 else crc >> 1
    return crc


def spelled(data: bytes) -> set[str]:
    """Every tag of every inventory reply, standard or advanced, that stands anywhere in the bytes."""
    uids: set[str] = set()
    for start in range(len(data) - 5):
        for head, length in ((1, data[start]), (3, data[start + 1] << 8 | data[start + 2])):
            frame = data[start : start + length]
            if (head == 3 and data[start] != 2) or length < head + 5 or len(frame) != length:
                continue
            if frame[head + 1] != 0xB0 or independent_crc(frame) != 0:
                continue
            records = frame[head + 4 : -2]
            for at in range(0, len(records), 10):
                if records[at] == 3:
                    uids.add(records[at + 2 : at + 10].hex().upper())
    return uids


@pytest.mark.parametrize("kind", ["random", "mutated"])
@pytest.mark.parametrize("ont", [0, 1])
def test_hostile_bytes(kind: str, ont: int) -> None:
    """No exception, a bounded buffer, and no card that the bytes do not spell."""
    total = 2_500_000 if SOAK else 20_000
    rng = random.Random(f"{kind} {ont}")
    framer = open_feig({"ont": ont, "reply_ms": 50, "link_ms": 50})
    framer.opened(0)
    heard_bytes, codes, now_us = bytearray(), set[str](), 0
    while len(heard_bytes) < total:
        due_us = framer.next_deadline_us()
        assert due_us is not None
        now_us = max(now_us, due_us)
        framer.tick(now_us)
        question = framer.bytes_to_send()
        if question or rng.random() < 0.05:
            answer = rng.randbytes(rng.randrange(1, 60)) if kind == "random" else mutated(question, rng)
            heard_bytes += answer
            now_us += rng.randrange(1, 5) * MS
            framer.receive(answer, now_us)
        assert len(framer._held) <= 65_535 and len(framer._presence) <= TAGS_MAX
        while (report := framer.next_report()) is not None:
            if isinstance(report, CodeRead):
                codes.add(report.code)
    assert codes <= spelled(bytes(heard_bytes))
    assert kind == "random" or len(codes) > 100


def mutated(question: bytes, rng: random.Random) -> bytes:
    """An answer with fresh tags, often broken somewhere."""
    command = question[2] if question else 0xB0
    data = write_tags(rng.randbytes(8).hex() for _ in range(rng.randrange(4))) if command == 0xB0 else b""
    status = rng.choice((0, 0, 0, 1, 2, 0x82, 0x83, 0x84, 0x93, 0x94, 0x95)) if command == 0xB0 else 0
    frame = bytearray(encode(Reply(0, command, status, data), advanced=rng.random() < 0.2))
    for _ in range(rng.choice((0, 0, 0, 1, 1, 2, 5))):
        match rng.randrange(3):
            case 0:
                frame[rng.randrange(len(frame))] = rng.randrange(256)
            case 1:
                frame.insert(rng.randrange(len(frame)), rng.randrange(256))
            case _ if len(frame) > 1:
                del frame[rng.randrange(len(frame))]
            case _:
                pass
    return bytes(frame)


@pytest.mark.parametrize("frame", [ONE_TAG, TWO_TAGS])
def test_no_single_changed_byte_gives_another_card(frame: str) -> None:
    """Every byte of the reply, every other value, as answers in one long conversation."""
    good, framer, now_us = of(frame), open_feig({}), 1 * MS
    framer.opened(0)
    framer.receive(of(LINK), now_us)
    for offset in range(len(good)):
        for value in {*range(256)} - {good[offset]}:
            now_us += 200 * MS
            framer.tick(now_us)
            assert framer.bytes_to_send() == of(INVENTORY), "the answer before is dealt with"
            framer.receive(good[:offset] + bytes((value,)) + good[offset + 1 :], now_us)
            framer.tick(now_us + 60 * MS)
            while (report := framer.next_report()) is not None:
                assert not isinstance(report, CodeRead), (offset, value)


def test_a_flood_is_counted_and_not_kept() -> None:
    framer = open_feig({})
    framer.opened(0)
    framer.receive(of(LINK), 1)
    for at_us in range(2, 66):
        framer.receive(b"\xff" * 4096, at_us)
        assert len(framer._held) == 0
    reports = []
    while (report := framer.next_report()) is not None:
        reports.append(report)
    warnings = [one for one in reports if isinstance(one, Garbage) and one.count == 0]
    assert set(reports) - set(warnings) == {Garbage(GARBAGE_RUN_MAX, NOT_ASKED), GONE}
    assert len(reports) - len(warnings) == 64 and len(warnings) == 6


def test_noise_without_an_end_is_a_reader_that_is_gone() -> None:
    """Nothing can be asked meanwhile, so that cards pass unseen; once it ends the reader is asked again."""
    framer = open_feig({})
    framer.opened(0)
    now_us, reports = 0, []
    for _ in range(1_000):
        now_us += 10_000
        framer.receive(b"\x55" * 10, now_us)
        framer.tick(now_us)
        while (report := framer.next_report()) is not None:
            reports.append(report)
    assert reports.count(GONE) == 1 and BACK not in reports
    due_us = framer.next_deadline_us()
    assert due_us is not None
    framer.tick(due_us + 1_000_000)
    framer.tick(due_us + 2_000_000)
    assert framer.bytes_to_send()


def test_a_long_reply_that_never_ends_is_held_up_to_its_length() -> None:
    framer = open_feig({})
    framer.opened(0)
    framer.receive(b"\x02\xff\xff" + b"\x00" * 65_000, 1)
    assert len(framer._held) == 65_003
    framer.receive(b"\x00" * 10_000, 2)
    assert len(framer._held) == 0
    framer.tick(100 * MS)
    assert framer.next_report() == Garbage(65_535, DAMAGED)


# Options.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"poll": 5}, "driver feig_obid: option 'poll' is not .*; nearest is 'poll_ms'"),
        ({"address": 256}, "driver feig_obid: .*address"),
        ({"ont": 2}, "driver feig_obid: .*ont"),
        ({"ont": 1, "real_after": 2}, "real_after above 1 needs ont = 0"),
        ({"gone_after": 0}, "driver feig_obid: .*gone_after"),
    ],
)
def test_options_that_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        open_feig(options)


def test_same_seed_same_bytes() -> None:
    def everything(seed: int) -> list[bytes]:
        pieces: list[bytes] = []
        reader = FeigReader(pieces.append, seed=seed)
        reader.place(A, B, C)
        for fault in Fault:
            reader.disturb(fault)
            reader.hear(of(INVENTORY))
        return pieces

    assert everything(7) == everything(7) != everything(8)


def test_the_reader_answers_no_broken_question() -> None:
    pieces: list[bytes] = []
    reader = FeigReader(pieces.append)
    for question in ("07 00 B0 01 00 CE 94", "03 00", "06 01 52 00 00 00"):
        reader.hear(of(question))
    assert pieces == []
    reader.hear(of(READ_CFG0))
    assert [piece[3] for piece in pieces] == [0x80]
