"""Zebra SSI: the dialogue with the simulated scanner and its faults. TABLECTL_SOAK=1 deals 200 decks."""

from __future__ import annotations

import os
import random

import pytest
from ssi_dialogue import SECOND, Dialogue, packeted
from ssi_golden import DAMAGED, DIGITS, RESTARTED, K

from drivers.contract import (
    DeviceReported,
    DeviceState,
    FailedReadCause,
    Garbage,
    ReadFailed,
)
from drivers.zebra_ssi import NO_PACKET
from simulators.devices.zebra_ssi import Fault

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
pytestmark = pytest.mark.timeout(3600 if SOAK else 120)


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
    told = dialogue.framer.told_about_itself()
    assert told == ("revision SIM-1.0 R00", f"capabilities {dialogue.framer.capabilities.hex()}")
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
