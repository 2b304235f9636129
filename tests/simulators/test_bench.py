"""The bench of a simulated table: who is heard first, what is due, and which devices there are."""

from __future__ import annotations

import argparse
import asyncio
import shutil
from pathlib import Path

import pytest

from controller.station.device_config import ScannerConfig
from drivers.families import FAMILIES
from simulators.actor import Disturb, Scan
from simulators.bench import Bench
from simulators.devices.families import DEVICES, Handling, Mishap
from simulators.faults.line_faults import LINE_FAULTS
from simulators.faults.misdeeds import DEEDS
from simulators.simulate_command import REFUSED, add_simulate

CONFIG = Path(__file__).parents[2] / "config"
SECOND = 1_000_000
ACK = b"\x06"


class Line:
    """A bench with one device, and what it has sent."""

    def __init__(self, family: str, **options: object) -> None:
        self.bench = Bench({"shoe": ScannerConfig(family, "/dev/null", options=options)})
        self.sent: list[bytes] = []

    async def _send(self, name: str, data: bytes) -> None:
        assert name == "shoe"
        self.sent.append(data)

    def scan(self, code: str | None, mishap: Mishap | None = None, at_us: int = 0) -> list[bytes]:
        self.bench.do(Scan("shoe", code, mishap), at_us)
        return self.rest(at_us)

    def rest(self, at_us: int) -> list[bytes]:
        """Let all happen that is due; returns what was sent."""

        async def exchange() -> None:
            while await self.bench.exchange(self._send, at_us):
                pass

        asyncio.run(exchange())
        sent, self.sent = self.sent, []
        return sent


def test_a_table_whose_scanner_has_no_model_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for kind in ("games", "decks", "profiles", "tables"):
        shutil.copytree(CONFIG / kind, tmp_path / kind)
    table = tmp_path / "tables" / "feig.toml"
    head = table.read_text().replace('"feig_obid"', '"rdm6300"').partition("[scanners.shoe.options]")[0]
    table.write_text(head.replace("../../run", "../run"))
    parser = argparse.ArgumentParser()
    add_simulate(parser.add_subparsers())
    arguments = parser.parse_args(["simulate", str(table)])
    assert arguments.run(arguments) == REFUSED
    assert "scanners.shoe.family: got rdm6300, expected one that has a simulated" in capsys.readouterr().err


def test_each_device_of_a_simulated_table_has_a_driver_and_faults_that_can_be_committed() -> None:
    assert set(DEVICES) == set(LINE_FAULTS) <= set(FAMILIES)
    assert all(fault.id in DEEDS for faults in LINE_FAULTS.values() for fault in faults)


def test_a_scanner_without_a_handshake_has_no_time_of_its_own() -> None:
    line = Line("delimited")
    assert line.scan("4130") == [b"4130\n"]
    assert line.bench.next_due_us() is None


def test_pieces_go_out_one_at_a_time_and_the_host_is_heard_in_between() -> None:
    line = Line("delimited", handshake=True)
    line.bench.do(Scan("shoe", "4130", Mishap.SPLIT), 0)
    asyncio.run(line.bench.exchange(line._send, 0))
    assert line.sent == [b"41"]
    line.bench.hear("shoe", ACK)
    asyncio.run(line.bench.exchange(line._send, 0))
    assert line.sent == [b"41"]
    assert line.rest(0) == [b"41", b"30\n"]


def test_a_frame_that_nobody_answers_is_sent_again_at_the_scanners_time() -> None:
    line = Line("delimited", handshake=True, unanswered_ms=500)
    assert line.scan("4130", at_us=SECOND) == [b"4130\n"]
    assert line.bench.next_due_us() == SECOND + SECOND // 2
    assert line.rest(SECOND + SECOND // 2) == [b"4130\n"]
    line.bench.hear("shoe", ACK)
    assert line.rest(2 * SECOND) == []
    assert line.bench.next_due_us() is None


def test_a_packet_scanner_repeats_until_it_gives_up() -> None:
    line = Line("zebra_ssi")
    line.bench.do(Disturb("shoe", Mishap.NOISE), 0)
    assert len(line.rest(0)[0]) == 3
    assert line.scan("4130") == [b"4130"]
    assert line.bench.next_due_us() is None  # Raw, until the host has set it up.


def test_an_angel_eye_sends_each_frame_thrice_at_its_own_time() -> None:
    line = Line("angel_eye")
    line.bench.do(Disturb("shoe", Handling.STAND_BY), 0)
    [stand_by] = line.rest(0)
    assert stand_by[2:3] == b"P"
    assert line.bench.next_due_us() == 40_000
    assert [line.rest(40_000), line.rest(80_000)] == [[stand_by], [stand_by]]
    assert line.bench.next_due_us() is None


def test_an_angel_eye_knows_where_a_card_goes_and_what_nobody_is_owed() -> None:
    line = Line("angel_eye")

    def said(act: Scan | Disturb) -> str:
        """Do it, and return the letter and the position of each frame that follows."""
        line.bench.do(act, 0)
        frames = line.rest(0)
        while (due_us := line.bench.next_due_us()) is not None:
            frames += line.rest(due_us)
        return " ".join(f"{frame[2]:c}{frame[3:4].hex()}" for frame in frames[::3])

    assert said(Scan("shoe", "C5")) == "d81"  # No coup is on.
    assert said(Disturb("shoe", Handling.STAND_BY)) == "P03 R81 I81"
    assert said(Scan("shoe", None)) == "D91 Ec1"
    assert said(Scan("shoe", "98")) == "ec1 I91"
    assert said(Disturb("shoe", Handling.PUSHED_BACK)) == "E85 e85"
    assert said(Scan("shoe", "91")) == "D91 I91"
    assert said(Scan("shoe", "94")) == "D82 I82"
    assert said(Scan("shoe", "98")) == "D92 I92 Ga0"
    assert said(Scan("shoe", "A1")) == "E82"  # An overdraw.
    assert said(Disturb("shoe", Handling.COLLECTED)) == ""
    assert said(Disturb("shoe", Handling.SHOWN)) == "i81"
    assert said(Disturb("shoe", Mishap.POWER_CYCLE)) == "S03"


def test_a_card_lies_on_an_antenna_for_a_moment_and_the_next_one_waits_for_it() -> None:
    line = Line("feig_obid")
    assert line.scan("E004010012000001") == []  # It says nothing that nobody has asked.
    line.scan("E004010012000002")
    assert line.bench.next_due_us() == 450_000
    line.rest(450_000)
    assert line.bench.next_due_us() == 900_000


def test_an_answer_that_is_lost_has_the_frame_sent_again() -> None:
    line = Line("delimited", handshake=True, unanswered_ms=500)
    assert line.scan("4130", Mishap.LOST_ACK, SECOND) == [b"4130\n"]
    line.bench.hear("shoe", ACK)
    assert line.rest(SECOND) == []
    assert line.rest(SECOND + SECOND // 2) == [b"4130\n"]
    line.bench.hear("shoe", ACK)
    assert line.rest(2 * SECOND) == []
    assert line.bench.next_due_us() is None


def test_a_scanner_without_power_forgets_what_was_not_answered() -> None:
    line = Line("delimited", handshake=True, unanswered_ms=500)
    assert line.scan("4130", at_us=SECOND) == [b"4130\n"]
    line.bench.do(Disturb("shoe", Mishap.POWER_CYCLE), SECOND)
    assert len(line.rest(SECOND)) == 1  # The noise of its plug.
    assert line.bench.next_due_us() is None
