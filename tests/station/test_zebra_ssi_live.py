"""A Zebra scanner on a real pty at a running station: open, set-up, card, acknowledgement, power cycle."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

from station.recorded import Session, write_config

from controller.journal.recording import Kind, read_lines
from controller.station.clock import LiveClock
from controller.station.config import load
from controller.station.replay import replay_recording, verify_recording
from controller.station.station import Station
from controller.table.inputs import (
    CardRead,
    ConfirmShuffle,
    LogIn,
    OpenBetting,
    OpenTable,
    ReadFailed,
    VerifyDeck,
    decode_input,
)
from drivers.pty import PtyDevice
from drivers.ssi.packet import Opcode
from simulators.cast import PINS, ROLES
from simulators.devices.zebra_ssi import Fault, ZebraScanner


def write_zebra_config(folder: Path, options: str = "") -> Path:
    return write_config(
        folder,
        **{
            'family = "delimited"': 'family = "zebra_ssi"',
            'terminator = "lf"\n': options,
            'no_read = "NOREAD"\n': "",
        },
    )


class Playing:
    """A simulated scanner behind a pty, served by the loop of the station."""

    def __init__(self, link: Path) -> None:
        link.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.device = PtyDevice(link)
        self.scanner = ZebraScanner(self.device.write)

    @staticmethod
    def now_us() -> int:
        return time.monotonic_ns() // 1_000

    async def serve(self) -> None:
        while True:
            self.scanner.receive(self.device.read(), self.now_us())
            self.scanner.tick(self.now_us())
            await asyncio.sleep(0.002)

    def scan(self, code: str, fault: Fault | None = None) -> None:
        self.scanner.scan(code, self.now_us(), fault)


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110  # What the scanner has heard comes over a pty.
            await asyncio.sleep(0.005)


async def play(station: Station, playing: Playing) -> None:
    """Wait for the set-up, read two cards, the second damaged; cut the power, read a raw one and another."""
    scanner = playing.scanner
    stopped = asyncio.Event()
    serving = asyncio.create_task(playing.serve())
    running = asyncio.create_task(station.run(stopped))
    await until(lambda: len(scanner.heard) == 2)
    assert scanner.is_packeted
    playing.scan("1010")
    await until(lambda: len(scanner.delivered) == 1)
    playing.scan("4110", Fault.FLIPPED)
    await until(lambda: len(scanner.delivered) == 2)
    scanner.power_cycle(playing.now_us())
    playing.scan("4130")
    await until(lambda: scanner.is_packeted)
    playing.scan("4120")
    await until(lambda: len(scanner.delivered) == 3)
    assert scanner.lost == []
    stopped.set()
    serving.cancel()
    await running


def test_a_station_and_a_zebra_scanner_agree(tmp_path: Path) -> None:
    path = write_zebra_config(tmp_path)
    config = load(path)
    playing = Playing(Path(config.scanners["shoe"].port))
    station = Station(config, LiveClock())
    try:
        asyncio.run(play(station, playing))
    finally:
        playing.device.unplug()
    recording = station.recorder.path
    chunks = [line for line in read_lines(recording) if line.kind in (Kind.CHUNK, Kind.STALE)]
    assert chunks[0].kind is Kind.CHUNK, "the set-up waits until the line has settled"
    reads = [
        read
        for stepped in replay_recording(recording)
        if isinstance(read := decode_input(stepped.input), CardRead | ReadFailed)
    ]
    assert [read.code if isinstance(read, CardRead) else read.cause for read in reads] == [
        "1010",
        "4110",
        "DAMAGED",
        "4120",
    ]
    assert verify_recording(recording).difference is None
    acks = [packet for packet in playing.scanner.heard if packet.opcode == Opcode.CMD_ACK]
    assert len(acks) == 3


# The interlock follows the table.


def test_a_scanner_with_an_interlock_reads_while_cards_are_read(tmp_path: Path) -> None:
    """Disabled while the table is closed and between rounds, enabled for deck, deal and incidents."""
    session = Session(write_zebra_config(tmp_path, "interlock = true\n"))
    said: list[bytes] = []
    scanner = ZebraScanner(said.append)

    def hear(data: bytes) -> bool:
        scanner.receive(data, session.clock.us)
        return True

    session.station.ports["shoe"].write = hear  # type: ignore[method-assign]

    def is_enabled() -> bool:
        for _ in range(8):
            session.wait(100)
            while said:
                session.chunk(said.pop(0))
        return scanner.is_enabled

    session.bring(Kind.OPENED, "/dev/pts/7")
    assert not is_enabled() and scanner.is_packeted
    for person, role in ROLES.items():
        session.send(LogIn(role), person, pin=PINS[person])
    session.send(OpenTable())
    assert is_enabled(), "a deck may be scanned in"
    session.load()
    session.send(VerifyDeck(52))
    session.send(ConfirmShuffle())
    session.send(OpenBetting())
    assert not is_enabled(), "no card is due while people bet"
    session.bring(Kind.LOST, "unplugged")
    assert is_enabled(), "the incident may ask for a card"
    session.bring(Kind.OPENED, "/dev/pts/8")
    session.answer(False)
    assert not is_enabled()
    session.to_dealing()
    assert is_enabled()
    assert scanner.scan("1010", session.clock.us)
    assert is_enabled() and len(session.station.kernel.table.state.in_play.laid) == 1
