"""A tag reader, a polled and an unpolled badge reader, and a tower light on ptys at a running station."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from station.test_badge_readers import DORA, TAG, enrolled
from station.test_feig_table import TAGS, feig_config

from controller.journal.recording import Kind, read_lines
from controller.station.clock import LiveClock
from controller.station.config import load
from controller.station.people import write_people
from controller.station.replay import replay_recording, verify_recording
from controller.station.station import Station
from controller.table.inputs import CardRead, decode_input
from drivers.pty import PtyDevice
from drivers.tower_light import Light, Mode
from simulators.devices.feig_obid import FeigReader
from simulators.devices.rdm6300 import PERIOD_US, BadgeReader
from simulators.devices.tower_light import TowerLight

pytestmark = pytest.mark.skipif(os.name != "posix", reason="ptys exist on POSIX alone")

BESIDE = """
[badge_readers.desk]
family = "rdm6300"
port = "./desk"

[badge_readers.pit]
family = "feig_obid"
port = "./pit"
role = "supervisor"

[lights.pole]
port = "./pole"
"""


class Devices:
    """All devices of the table, each behind its pty, served by the loop of the station."""

    def __init__(self, folder: Path, shoe: Path) -> None:
        shoe.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.ptys = {"shoe": PtyDevice(shoe)}
        self.ptys |= {name: PtyDevice(folder / name) for name in ("desk", "pit", "pole")}
        self.shoe = FeigReader(self.ptys["shoe"].write)
        self.pit = FeigReader(self.ptys["pit"].write)
        self.desk = BadgeReader(self.ptys["desk"].write)
        self.tower = TowerLight()

    async def serve(self) -> None:
        for number in range(1_000_000):
            self.shoe.hear(self.ptys["shoe"].read())
            self.pit.hear(self.ptys["pit"].read())
            self.tower.feed(self.ptys["pole"].read())
            if number % (PERIOD_US // 2_000) == 0:
                self.desk.repeat()
            await asyncio.sleep(0.002)


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110  # What a device has heard comes over a pty.
            await asyncio.sleep(0.005)


async def play(station: Station, devices: Devices) -> None:
    """A dealer and a supervisor hold out their badges, two cards pass, the light is pulled and comes back."""
    stopped = asyncio.Event()
    serving = asyncio.create_task(devices.serve())
    running = asyncio.create_task(station.run(stopped))
    state = station.kernel.table.state
    devices.desk.badge = DORA
    await until(lambda: state.duty.dealer is not None)
    devices.desk.badge = None
    devices.pit.place(TAG)
    await until(lambda: state.duty.supervisors)
    await until(lambda: state.scanners_up)
    await until(lambda: devices.shoe.questions_count > 3)
    for tag in list(TAGS)[:2]:
        devices.shoe.place(tag)
        enough = devices.shoe.questions_count + 5
        await until(lambda enough=enough: devices.shoe.questions_count > enough)
        devices.shoe.lift(tag)
    devices.ptys["pole"].unplug()
    devices.ptys["pole"].replug()
    devices.tower.shows = Light(green=Mode.BLINK)
    await until(lambda: devices.tower.shows == Light())
    stopped.set()
    serving.cancel()
    await running


def test_everybody_is_heard_and_only_the_cards_are_recorded(tmp_path: Path) -> None:
    path = feig_config(tmp_path)
    path.write_text(path.read_text() + BESIDE)
    config = load(path)
    write_people(config.people, enrolled())
    devices = Devices(path.parent, Path(config.scanners["shoe"].port))
    station = Station(config, LiveClock())
    try:
        asyncio.run(play(station, devices))
    finally:
        for pty in devices.ptys.values():
            pty.unplug()
    recording = station.recorder.path
    reads = [
        value.code
        for stepped in replay_recording(recording)
        if isinstance(value := decode_input(stepped.input), CardRead)
    ]
    assert reads == list(TAGS)[:2]
    assert verify_recording(recording).difference is None
    lines = list(read_lines(recording))
    assert {line.source for line in lines if line.kind is Kind.CHUNK} == {"shoe"}
    assert sum(line.kind is Kind.COMMAND for line in lines) == 2
    assert DORA not in recording.read_text() and TAG.lower() not in recording.read_text()
