"""A tag reader and a badge reader behind device servers, at a running station: nothing is a pty here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from station.test_badge_readers import DORA, enrolled
from station.test_feig_table import TAGS, feig_config

from controller.journal.recording import Kind, read_lines
from controller.station.clock import LiveClock
from controller.station.config import load
from controller.station.people import write_people
from controller.station.replay import replay_recording, verify_recording
from controller.station.station import Station
from controller.table.inputs import CardRead, decode_input
from simulators.devices.feig_obid import FeigReader
from simulators.devices.rdm6300 import BadgeReader
from simulators.devices.tcp import TcpDevice

DESK = '\n[badge_readers.desk]\nfamily = "rdm6300"\nport = "{}"\n'


class Servers:
    """Both devices, each behind its server on this machine."""

    def __init__(self) -> None:
        self.lines = {"shoe": TcpDevice(), "desk": TcpDevice()}
        self.shoe = FeigReader(self.lines["shoe"].write)
        self.desk = BadgeReader(self.lines["desk"].write)

    def config(self, folder: Path) -> Path:
        """Write a table that finds them by their names; a server's line is set at the server."""
        path = feig_config(folder)
        text = path.read_text()
        for old, new in (
            ('baud = 38_400\nparity = "E"', ""),
            ('port = "../run/rp1/devices/shoe"', f'port = "{self.lines["shoe"].name}"'),
        ):
            assert old in text
            text = text.replace(old, new)
        path.write_text(text + DESK.format(self.lines["desk"].name))
        return path

    async def serve(self) -> None:
        for _ in range(1_000_000):
            self.shoe.hear(self.lines["shoe"].read())
            self.lines["desk"].read()
            self.desk.repeat()
            await asyncio.sleep(0.002)


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110  # What a device has heard comes over a socket.
            await asyncio.sleep(0.005)


async def play(station: Station, servers: Servers) -> None:
    """The dealer holds out a badge; a card, the server of the tag reader is switched off and on, a card."""
    stopped = asyncio.Event()
    serving = asyncio.create_task(servers.serve())
    running = asyncio.create_task(station.run(stopped))
    state, shoe = station.kernel.table.state, servers.shoe
    servers.desk.badge = DORA
    await until(lambda: state.duty.dealer is not None)
    servers.desk.badge = None
    for number, tag in enumerate(list(TAGS)[:2]):
        if number:
            servers.lines["shoe"].unplug()
            await until(lambda: not state.scanners_up)
            servers.lines["shoe"].replug()
        await until(lambda: state.scanners_up)
        enough = shoe.questions_count + 5
        await until(lambda enough=enough: shoe.questions_count > enough)
        shoe.place(tag)
        enough = shoe.questions_count + 5
        await until(lambda enough=enough: shoe.questions_count > enough)
        shoe.lift(tag)
    stopped.set()
    serving.cancel()
    await running


def test_cards_and_badges_come_over_sockets_as_over_a_cable(tmp_path: Path) -> None:
    servers = Servers()
    config = load(servers.config(tmp_path))
    write_people(config.people, enrolled())
    station = Station(config, LiveClock())
    try:
        asyncio.run(play(station, servers))
    finally:
        for line in servers.lines.values():
            line.unplug()
    recording = station.recorder.path
    reads = [
        value.code
        for stepped in replay_recording(recording)
        if isinstance(value := decode_input(stepped.input), CardRead)
    ]
    assert reads == list(TAGS)[:2]
    assert verify_recording(recording).difference is None
    opened = [line.payload for line in read_lines(recording) if line.kind is Kind.OPENED]
    assert opened == [servers.lines["shoe"].name] * 2
