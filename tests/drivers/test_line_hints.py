"""What every family says of a line that another program probes, or that is set to another speed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from drivers.contract import CodeRead, Framer, Garbage, Report
from drivers.families import open_framer
from drivers.line_hints import COMMAND_MAX, FIRST_COUNT, PROBE, Strays, is_probe
from drivers.template import open_template
from simulators.devices.cuts import Line, byte_by_byte, decode, splits

SECOND = 1_000_000


class Spoken(NamedTuple):
    """One family: its options, the hex of a read as the device sends it, and the read."""

    family: str
    options: Mapping[str, Any]
    frames: tuple[str, ...]
    read: Report

    def open(self) -> Framer:
        """Return a framer whose line is open; nobody answers it."""
        framer = open_template({}) if self.family == "template" else open_framer(self.family, self.options)
        framer.opened(0)
        return framer


TAG = "11 00 B0 00 01 03 00 E0 04 01 00 12 34 AB CD 8E 1B"
BADGE = "02 31 30 30 30 38 36 46 34 34 34 32 36 03"
FAMILIES = [
    Spoken("delimited", {}, ("31 30 31 30 0A",), CodeRead("1010")),
    Spoken(
        "delimited",
        {"profile": "omron-ack"},
        ("02 31 30 31 30 0D 0A 03 04",),
        CodeRead("1010"),
    ),
    Spoken("angel_eye", {}, ("05 36 49 81 b2 03 34 46",), CodeRead("B2", 6, "P1")),
    Spoken("zebra_ssi", {"set_up": "none"}, ("09 F3 00 00 03 31 30 31 30 FE 3F",), CodeRead("1010")),
    # Nobody answers its questions here; what comes is overheard.
    Spoken("feig_obid", {"silent_after": 100}, (TAG,), CodeRead("E00401001234ABCD")),
    Spoken("rdm6300", {}, (BADGE, BADGE), CodeRead("100086F444")),
    Spoken("template", {}, ("02 31 313031 03 02",), CodeRead("101", 1)),
]
EVERY_FAMILY = pytest.mark.parametrize("spoken", FAMILIES, ids=lambda one: f"{one.family} {one.options}")
PROBES = ["AT\r", "ATE0\r", "ATI1\r\n", "AT+GCAP\r", "AT\rAT\rAT\r", "AT+CGMI\r\nAT+CGMM\r\n", "ATQ0 V1 E1\r"]


def frames_of(spoken: Spoken, at_us: int) -> Line:
    return [(at_us + 100_000 * number, bytes.fromhex(frame)) for number, frame in enumerate(spoken.frames)]


def bursts(data: bytes, count: int) -> Line:
    """The same bytes again and again, each time behind a silence that ends whatever has begun."""
    return [(2 * SECOND * number, data) for number in range(1, count + 1)]


def said(spoken: Spoken, line: Line) -> list[Report]:
    """What the family says while nobody answers it."""
    return decode(spoken.open(), line, line[-1][0] + 2 * SECOND)


@EVERY_FAMILY
@pytest.mark.parametrize("probe", PROBES)
def test_a_probe_is_garbage_with_its_hint_however_it_is_cut(spoken: Spoken, probe: str) -> None:
    data = probe.encode()
    line = [(2 * SECOND, data), *frames_of(spoken, 4 * SECOND)]
    for cut in (line, byte_by_byte(line), *splits(line)):
        reports = said(spoken, cut)
        assert reports[-1] == spoken.read
        garbage = reports[:-1]
        assert all(isinstance(one, Garbage) for one in garbage)
        hints = {one.hint for one in garbage if isinstance(one, Garbage)}
        assert PROBE in hints
        if spoken.family != "delimited":
            assert garbage == [Garbage(len(data), PROBE)]


@EVERY_FAMILY
def test_probes_never_look_like_another_baud_rate(spoken: Spoken) -> None:
    reports = said(spoken, bursts(b"AT+GCAP\r", 2 * FIRST_COUNT // 8))
    assert [one for one in reports if isinstance(one, Garbage)] == [Garbage(8, PROBE)] * (
        2 * FIRST_COUNT // 8
    )


@EVERY_FAMILY
def test_bytes_without_a_frame_are_counted_until_a_frame_comes(spoken: Spoken) -> None:
    """Garbage as from another baud rate: said at the first so many bytes, and at each doubling."""
    noise = b"\xf8\xfc\x80\xe0"
    count = 3 * FIRST_COUNT // len(noise)
    line = bursts(noise, count)
    for cut in (line, byte_by_byte(line)):
        reports = said(spoken, cut)
        warnings = [one.hint for one in reports if isinstance(one, Garbage) and not one.count]
        assert warnings == [
            f"{bytes_count} bytes without a frame: check baud, parity and family" for bytes_count in (64, 128)
        ]
        assert sum(one.count for one in reports if isinstance(one, Garbage)) == count * len(noise)
    begun = bursts(noise, FIRST_COUNT // len(noise) - 1)
    line = [*begun, *frames_of(spoken, begun[-1][0] + 2 * SECOND)]
    line += [(line[-1][0] + at_us, data) for at_us, data in begun]
    reports = said(spoken, line)
    assert spoken.read in reports
    assert not any(isinstance(one, Garbage) and not one.count for one in reports)


def test_a_probe_leaves_an_ssi_scanner_alone() -> None:
    """It is asked for nothing again and set up no second time; what it says next is its next card."""
    framer = open_framer("zebra_ssi", {"set_up_delay_ms": 0})
    framer.opened(0)
    for packet in ("", "04 D0 00 00 FF 2C", "04 D0 00 00 FF 2C"):
        framer.receive(bytes.fromhex(packet), 0)
        framer.tick(0)
        assert framer.bytes_to_send() or packet
    while framer.next_report() is not None:
        pass
    framer.receive(b"AT\r", SECOND)
    framer.tick(2 * SECOND)
    assert framer.next_report() == Garbage(3, PROBE)
    assert framer.bytes_to_send() == b""
    assert (framer.next_report(), framer.next_deadline_us()) == (None, None)


def test_a_probe_behind_a_damaged_packet_does_not_take_its_place() -> None:
    """The scanner still owes its repetition, and the read fails when that does not come."""
    framer = open_framer("zebra_ssi", {"set_up": "none"})
    damaged = bytes.fromhex("09 F3 00 00 03 31 30 31 31 FE 3F")
    [broken, probe, failed] = decode(framer, [(SECOND, damaged), (2 * SECOND, b"AT\r")])
    assert (probe, type(failed).__name__) == (Garbage(3, PROBE), "ReadFailed")
    assert isinstance(broken, Garbage)


@pytest.mark.parametrize("text", ["ATC", "AT?", "A", "TA\r", "1010", "ATE0\r1010\r", "\r\n", "", "ATE0\xff"])
def test_what_is_more_than_commands_is_no_probe(text: str) -> None:
    assert not is_probe(text.encode("latin-1"))


def test_a_run_is_looked_at_once_and_not_kept() -> None:
    """A hostile device can't make this slow: patterns that go back take longer than anybody lives."""
    strays, begun = Strays(), time.monotonic()
    for _ in range(1_000):
        strays.add(b"AT+" * 20 + b"\xff\r")
        assert len(strays._line) <= COMMAND_MAX
    strays = Strays()
    strays.add(b"AT" * 100_000)
    assert (strays.is_probe, strays.count, len(strays._line)) == (False, 200_000, 0)
    strays = Strays()
    strays.add(b"AT\r" * 10_000)
    assert strays.garbage("noise") == Garbage(30_000, PROBE)
    assert time.monotonic() - begun < 10
