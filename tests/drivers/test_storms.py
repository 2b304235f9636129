"""Storms: a device that says far too much. Nothing is dealt twice, nothing is lost without a word."""

from __future__ import annotations

from collections.abc import Callable

from drivers.contract import CodeRead, Framer, Garbage, Report
from drivers.families import open_framer
from simulators.devices.delimited import DelimitedScanner
from simulators.devices.feig_obid import FeigReader
from simulators.devices.rdm6300 import PERIOD_US, BadgeReader

COUNT = 500
TAG = "E00401001234ABCD"
BADGE = "100086F444"


class Heard:
    """A framer that hears a device byte for byte, at the speed of its line."""

    def __init__(self, framer: Framer, byte_us: int) -> None:
        self.framer = framer
        self.now_us = 0
        self._byte_us = byte_us
        self.reports: list[Report] = []
        framer.opened(0)

    def send(self, data: bytes) -> None:
        self.now_us += len(data) * self._byte_us
        self.framer.receive(data, self.now_us)
        self.collect()

    def wait(self, us: int) -> None:
        self.now_us += us
        self.framer.tick(self.now_us)
        self.collect()

    def collect(self) -> None:
        while (report := self.framer.next_report()) is not None:
            self.reports.append(report)
            self.framer.acknowledge(report)

    def codes(self) -> list[str]:
        return [report.code for report in self.reports if isinstance(report, CodeRead)]


def storm(family: str, options: dict[str, object], device: Callable[[Heard], None], byte_us: int) -> Heard:
    heard = Heard(open_framer(family, options), byte_us)
    device(heard)
    heard.wait(10_000_000)
    return heard


def test_one_card_read_without_end_is_one_card_and_its_repeats() -> None:
    heard = storm(
        "delimited",
        {"repeat_ms": 300},
        lambda heard: DelimitedScanner(heard.send).storm("1010", COUNT),
        1_042,
    )
    assert heard.reports == [CodeRead("1010"), *[CodeRead("1010", repeat=True)] * (COUNT - 1)]


def test_with_a_handshake_every_read_of_a_storm_is_answered() -> None:
    heard = storm(
        "delimited",
        {"profile": "honeywell-ack"},
        lambda heard: DelimitedScanner(heard.send, heard.framer.options).storm("1010", COUNT),
        1_042,
    )
    assert heard.codes() == ["1010"] * COUNT
    assert heard.framer.bytes_to_send() == b"\x06" * COUNT


def test_a_tag_reader_that_chatters_reads_its_tag_once() -> None:
    def chatter(heard: Heard) -> None:
        reader = FeigReader(heard.send)
        reader.storm(COUNT)
        reader.place(TAG)
        reader.storm(COUNT)

    assert storm("feig_obid", {}, chatter, 287).codes() == [TAG]


def test_badges_that_change_with_every_frame_log_nobody_in() -> None:
    def invent(heard: Heard) -> None:
        reader = BadgeReader(heard.send)
        reader.storm(COUNT)
        reader.badge = BADGE
        for _ in range(3):
            heard.wait(PERIOD_US)
            reader.repeat()

    heard = storm("rdm6300", {}, invent, 1_042)
    assert heard.codes() == [BADGE]
    assert sum(isinstance(report, Garbage) for report in heard.reports) == COUNT
