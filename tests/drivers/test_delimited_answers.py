"""What a delimited scanner is told, and what comes of it when an answer is lost. Goldens by hand."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from driver_scenes import DAMAGED, collected

from drivers.contract import (
    CodeRead,
    Garbage,
    Report,
)
from drivers.delimited import (
    ASKED_AGAIN,
    PROFILES,
    encode,
    open_delimited,
)
from simulators.devices.delimited import DelimitedScanner, Fault

ACK, NAK = b"\x06", b"\x15"
ACE = CodeRead("1010")


def asked(count: int) -> Garbage:
    return Garbage(count, ASKED_AGAIN)


FRAME = "02 31303130 0D0A 03 04"
FLIPPED = "02 31303131 0D0A 03 04"
REPEATS: dict[str, object] = {"repeat_ms": 300}
RESENDS: dict[str, object] = {"profile": "honeywell-ack", "unanswered_ms": 2000}


@pytest.mark.parametrize("profile", ["omron-ack", "honeywell-ack"])
def test_ack_only_once_the_read_is_durable(profile: str) -> None:
    """Hardware notes, 2.2: the frame, and the host's 06."""
    framer = open_delimited({"profile": profile})
    framer.receive(bytes.fromhex(FRAME if profile == "omron-ack" else "313031300D"), 0)
    (report,) = collected(framer)
    assert framer.bytes_to_send() == b""
    framer.acknowledge(report)
    assert framer.bytes_to_send() == ACK
    assert framer.bytes_to_send() == b""


def test_nak_at_once_and_no_ack_for_what_failed() -> None:
    framer = open_delimited({"profile": "omron-ack"})
    framer.receive(bytes.fromhex(FLIPPED), 0)
    assert framer.bytes_to_send() == NAK
    framer.tick(200_000)
    garbage, failed = collected(framer)
    assert (garbage, failed) == (asked(9), DAMAGED)
    framer.acknowledge(failed)
    assert framer.bytes_to_send() == b""


def test_a_no_read_was_received_well() -> None:
    framer = open_delimited({"profile": "omron-ack"})
    framer.receive(bytes.fromhex("02 4E4F52454144 0D0A 03 17"), 0)
    framer.acknowledge(collected(framer)[0])
    assert framer.bytes_to_send() == ACK


def test_answers_keep_the_order_of_the_frames() -> None:
    """A NAK that overtook an ACK would have the frame before it sent again."""
    framer = open_delimited({"profile": "omron-ack"})
    framer.receive(bytes.fromhex(FRAME + FLIPPED), 0)
    assert framer.bytes_to_send() == b""
    read = next(report for report in collected(framer) if isinstance(report, CodeRead))
    framer.acknowledge(read)
    assert framer.bytes_to_send() == ACK + NAK


def test_answers_of_an_old_line_are_not_sent_on_the_new_one() -> None:
    framer = open_delimited({"profile": "omron-ack"})
    framer.receive(bytes.fromhex(FRAME + FLIPPED), 0)
    read, garbage = collected(framer)
    framer.opened(50_000)
    assert (read, garbage) == (ACE, asked(9))
    assert collected(framer) == [DAMAGED]
    framer.acknowledge(read)
    framer.acknowledge(DAMAGED)
    assert framer.bytes_to_send() == b""
    framer.receive(bytes.fromhex(FRAME), 60_000)
    framer.acknowledge(collected(framer)[0])
    assert framer.bytes_to_send() == ACK


def test_reads_that_wait_outlive_a_reopened_line() -> None:
    """Lesson (iii) of the public program: it emptied its queue and threw a drawn card away."""
    framer = open_delimited({})
    framer.receive(b"1010\n", 0)
    framer.opened(50_000)
    assert collected(framer) == [ACE]


@pytest.mark.parametrize("profile", ["generic", "zebra-raw", "omron"])
def test_a_scanner_that_waits_for_nothing_hears_nothing(profile: str) -> None:
    framer = open_delimited({"profile": profile})
    framer.receive(encode("1010", framer.options) + b"\xff\r\n", 0)
    for report in collected(framer):
        framer.acknowledge(report)
    assert framer.bytes_to_send() == b""


# With the simulated scanner at the other end.


class Wire:
    """A scanner and the framer that hears it; the host answers at once."""

    def __init__(self, options: dict[str, object], seed: int = 0) -> None:
        self.framer = open_delimited(options)
        self.now_us = 0
        self.pieces: list[bytes] = []
        self.scanner = DelimitedScanner(self.pieces.append, self.framer.options, seed=seed)
        self.reports: list[Report] = []

    def run(self, until_us: int) -> None:
        """Carry everything back and forth until nobody has more to say, then let the time pass."""
        while self.pieces:
            self.framer.receive(self.pieces.pop(0), self.now_us)
            self._collect()
            self.now_us += 10_000
        while (due_us := self.framer.next_deadline_us()) is not None and due_us < until_us:
            self.now_us = due_us
            self.framer.tick(due_us)
            self._collect()
            if self.pieces:
                self.run(until_us)
        self.now_us = max(self.now_us, until_us)

    def _collect(self) -> None:
        self.scanner.hear(self.framer.bytes_to_send())
        for report in collected(self.framer):
            self.reports.append(report)
            self.framer.acknowledge(report)
        self.scanner.hear(self.framer.bytes_to_send())

    def reads(self) -> list[Report]:
        return [report for report in self.reports if not isinstance(report, Garbage)]


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize(
    "fault", [Fault.FLIPPED_BYTE, Fault.CUT, Fault.NOISE, Fault.LOST_TERMINATOR, Fault.SPLIT]
)
def test_a_damaged_frame_is_healed_and_is_one_card(fault: Fault, seed: int) -> None:
    wire = Wire({"profile": "omron-ack"}, seed)
    wire.scanner.scan("1010", fault)
    wire.run(1_000_000)
    wire.scanner.scan("4130")
    wire.run(2_000_000)
    assert wire.reads() == [ACE, CodeRead("4130")]
    assert (wire.scanner.accepted_count, wire.scanner.given_up_count) == (2, 0)


def test_a_lost_ack_gives_a_read_that_is_asked_about() -> None:
    wire = Wire(RESENDS)
    wire.scanner.scan("1010", Fault.LOST_ANSWER)
    wire.run(2_000_000)
    wire.scanner.unanswered()
    wire.run(3_000_000)
    assert wire.reads() == [ACE, CodeRead("1010", repeat=True)]
    assert wire.scanner.accepted_count == 1


def test_a_lost_ack_of_a_scanner_that_gives_up_is_one_read() -> None:
    wire = Wire({"profile": "honeywell-ack"})
    wire.scanner.scan("1010", Fault.LOST_ANSWER)
    wire.run(2_000_000)
    wire.scanner.unanswered()
    wire.run(3_000_000)
    assert wire.reads() == [ACE]
    assert wire.scanner.given_up_count == 1


def test_a_lost_nak_is_a_failed_read_and_the_late_frame_its_rescan() -> None:
    wire = Wire({**RESENDS, "profile": "omron-ack"}, seed=3)
    wire.scanner.hear(b"")
    wire.scanner.scan("1010", Fault.LOST_ANSWER)
    wire.pieces[0] = wire.pieces[0].replace(b"1010", b"1011")
    wire.run(2_000_000)
    wire.scanner.unanswered()
    wire.run(3_000_000)
    assert wire.reads() == [DAMAGED, ACE]


def test_a_card_read_twice_is_marked() -> None:
    wire = Wire(REPEATS)
    wire.scanner.scan("1010", Fault.REPEATED)
    wire.run(1_000_000)
    wire.scanner.scan("1010")
    wire.run(2_000_000)
    assert wire.reads() == [ACE, CodeRead("1010", repeat=True), ACE]


@pytest.mark.parametrize("profile", PROFILES)
def test_a_shoe_of_eight_decks_marks_every_repeat_and_no_card(profile: str) -> None:
    """Cards 0.3 to 3 s apart, equal ones one after the other among them; some read once more within 0.3 s."""
    rng = random.Random(8)
    framer = open_delimited({"profile": profile, **REPEATS})
    shoe = [f"{suit}{10 * rank:03}" for suit in range(1, 5) for rank in range(1, 14)] * 8
    rng.shuffle(shoe)
    at_us, expected, reports = 0, [], []
    for code in shoe:
        at_us += rng.randint(300_000, 3_000_000)
        times_us = [at_us]
        if rng.random() < 0.2:
            times_us.append(at_us + rng.randint(0, 299_999))
        for number, time_us in enumerate(times_us):
            framer.receive(encode(code, framer.options), time_us)
            reports += collected(framer)
            expected.append(CodeRead(code, repeat=number > 0))
        at_us = times_us[-1]
    assert reports == expected
    assert any(first == second for first, second in pairwise(shoe))
