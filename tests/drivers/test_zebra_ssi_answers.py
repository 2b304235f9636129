"""Zebra SSI: what the host says and when: acknowledgements, set-up, interlock."""

from __future__ import annotations

import pytest
from ssi_dialogue import SECOND
from ssi_golden import (
    ACE,
    ACE_AGAIN,
    ACK,
    BOOT_EVENT,
    BOOT_EVENT_FOR_GOOD,
    BROKEN_ACE,
    DAMAGED,
    DISABLE,
    ENABLE,
    GAP_US,
    KEPT,
    KING,
    NAK_DENIED,
    NAK_RESEND,
    PACKETED,
    PACKETED_AGAIN,
    PACKETED_FOR_GOOD,
    POWER_UP,
    POWER_UP_AGAIN,
    RESTARTED,
    SCANNER_ACK,
    A,
    drain,
)

from drivers.contract import (
    DeviceReported,
    DeviceState,
    FailedReadCause,
    Framer,
    Garbage,
    Interlock,
    ReadFailed,
    Report,
)
from drivers.zebra_ssi import BROKEN, NO_PACKET, RAW, RAW_KEPT, open_zebra_ssi

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


def test_a_scanner_that_is_silent_is_told_again_when_the_line_was_opened_again() -> None:
    """Whoever owns the line takes an open line for a scanner that is there."""
    framer = open_at_0({"set_up_delay_ms": 0})
    talk(framer, (0, "", PACKETED), (2 * SECOND, "", PACKETED_AGAIN), (4 * SECOND, "", PACKETED_AGAIN))
    talk(framer, (6 * SECOND, "", ""))
    framer.opened(7 * SECOND)
    talk(framer, (7 * SECOND, "", PACKETED), (9 * SECOND, "", PACKETED_AGAIN))
    talk(framer, (11 * SECOND, "", PACKETED_AGAIN), (13 * SECOND, "", ""))
    assert drain(framer) == [DeviceReported(DeviceState.SILENT)] * 2


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
