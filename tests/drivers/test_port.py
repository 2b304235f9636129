"""The port on a real pty: reading, settling, unplugging, coming back, and other programs on the line.

The lessons of the public program (hardware notes, 2.3) are here as far as they are the port's.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

import pytest
import serial
from port_scenes import (
    AT_ONCE,
    HeldClock,
    JumpingClock,
    Notes,
    WallClock,
    choose,
    make_port,
    running,
    until,
)

from drivers import port as port_module
from drivers.contract import CodeRead, SerialSettings
from drivers.delimited import open_delimited
from drivers.port import RETRY_FIRST_US, RETRY_LAST_US, Port, identify
from drivers.pty import PtyDevice
from simulators.devices.delimited import DelimitedScanner

pytestmark = pytest.mark.skipif(os.name != "posix", reason="ptys exist on POSIX alone")


def test_reads_what_the_device_sends(device: PtyDevice, way: str) -> None:
    async def scene() -> None:
        choose(way)
        notes = Notes()
        port = make_port(device, notes)
        async with running(port):
            await until(lambda: notes.of("opened"))
            assert notes.of("opened") == [device.node]
            scanner = DelimitedScanner(device.write)
            scanner.scan("1010")
            await until(lambda: port.received_count == 5)
            scanner.scan("4130")
            await until(lambda: port.received_count == device.written_count)
        assert notes.data("chunk") == b"1010\n4130\n"
        assert notes.of("lost") == notes.of("stale") == []

    asyncio.run(scene())


def test_all_bytes_arrive_as_they_are(device: PtyDevice, way: str) -> None:
    """Neither end translates, echoes or takes control characters for its own."""

    async def scene() -> None:
        choose(way)
        notes = Notes()
        port = make_port(device, notes)
        async with running(port):
            await until(lambda: notes.of("opened"))
            device.write(bytes(range(256)))
            await until(lambda: port.received_count == 256)
            assert device.read() == b""
            assert port.write(bytes(range(256)))
            await until(lambda: device.read() == bytes(range(256)))
        assert notes.data("chunk") == bytes(range(256))

    asyncio.run(scene())


def test_flood_is_read_in_full(device: PtyDevice, way: str) -> None:
    async def scene() -> None:
        choose(way)
        notes = Notes()
        port = make_port(device, notes)
        sent = b"".join(b"%04d\n" % number for number in range(8000))
        async with running(port):
            await until(lambda: notes.of("opened"))
            left = sent
            while left:
                left = left[device.write(left) :]
                await asyncio.sleep(0)
            await until(lambda: port.received_count == len(sent))
        assert notes.data("chunk") == sent

    asyncio.run(scene())


def test_what_comes_in_while_settling_is_stale(device: PtyDevice, way: str) -> None:
    async def scene() -> None:
        choose(way)
        notes, clock = Notes(), HeldClock()
        port = make_port(device, notes, SerialSettings(), clock)
        async with running(port):
            await until(lambda: clock.sleeps_us)
            assert 300_000 - 5 <= clock.sleeps_us[0] <= 300_000
            device.write(b"1010\n")
            await until(lambda: port.received_count == 5)
            clock.released.set()
            await until(lambda: port._settled)
            device.write(b"4130\n")
            await until(lambda: port.received_count == 10)
        assert notes.data("stale") == b"1010\n"
        assert notes.data("chunk") == b"4130\n"

    asyncio.run(scene())


def test_stale_bytes_stay_stale_when_the_loop_is_late(device: PtyDevice, way: str) -> None:
    """Sent while settling, read after it: a loop that was blocked must not make a card of them."""

    async def scene() -> None:
        choose(way)
        notes, clock = Notes(), HeldClock()
        port = make_port(device, notes, SerialSettings(), clock)
        async with running(port):
            await until(lambda: clock.sleeps_us)
            device.write(b"1010\n")
            time.sleep(0.05)  # noqa: ASYNC251  # The blocked loop is the case.
            clock.released.set()
            await until(lambda: port.received_count == 5)
        assert notes.data("stale") == b"1010\n"
        assert notes.data("chunk") == b""

    asyncio.run(scene())


def test_sent_before_the_open_is_never_a_chunk(device: PtyDevice, way: str) -> None:
    async def scene() -> None:
        choose(way)
        notes = Notes()
        device.write(b"1010\n")
        async with running(make_port(device, notes)):
            await until(lambda: notes.of("opened"))
            device.write(b"4130\n")
            await until(lambda: notes.data("chunk"))
        assert notes.data("chunk") == b"4130\n"

    asyncio.run(scene())


def test_unplug_and_replug_under_another_node(device: PtyDevice, way: str) -> None:
    """Lesson (i): a dead port raises OSError, not SerialException, and must be left all the same."""

    async def scene() -> None:
        choose(way)
        notes = Notes()
        port = make_port(device, notes)
        async with running(port):
            await until(lambda: notes.of("opened"))
            first = device.node
            device.write(b"10")
            await until(lambda: port.received_count == 2)
            device.unplug()
            await until(lambda: len(notes.of("lost")) == 2)
            assert not port.write(b"x")
            device.replug()
            await until(lambda: len(notes.of("opened")) == 2)
            device.write(b"4130\n")
            await until(lambda: port.received_count == 7)
        assert notes.of("opened")[1] == device.node != first
        died, missing = notes.of("lost")
        assert died.startswith(f"shoe: {device.link}: re")
        assert "unplugged" in died
        assert "cannot open: got [Errno 2] No such file or directory; expected" in missing
        assert "plug it in" in missing

    asyncio.run(scene())


def test_unplugged_in_mid_frame_half_a_code_is_never_a_card(device: PtyDevice) -> None:
    """Lesson (ii): what a time-out leaves is not a code; the next frame is whole."""

    async def scene() -> None:
        framer, reports, clock = open_delimited({}), [], WallClock()

        class Station(Notes):
            def chunk(self, data: bytes) -> None:
                framer.receive(data, clock.now_us())
                super().chunk(data)

        notes = Station()
        async with running(make_port(device, notes)):
            await until(lambda: notes.of("opened"))
            device.write(b"10")
            await until(lambda: notes.data("chunk") == b"10")
            device.unplug()
            await until(lambda: notes.of("lost"))
            device.replug()
            await until(lambda: len(notes.of("opened")) == 2)
            device.write(b"4130\n")
            await until(lambda: notes.data("chunk") == b"104130\n")
        while (report := framer.next_report()) is not None:
            reports.append(report)
        assert [report.code for report in reports if isinstance(report, CodeRead)] == ["4130"]
        assert len(reports) == 2

    asyncio.run(scene())


def test_never_gives_up_and_never_hurries(tmp_path: Path) -> None:
    """Lesson (v): the program stopped for good after ten attempts."""

    async def scene() -> None:
        notes, clock, link = Notes(), JumpingClock(), tmp_path / "later"
        port = Port("shoe", link, settings=AT_ONCE, listener=notes, clock=clock)
        async with running(port):
            await until(lambda: len(clock.sleeps_us) >= 50)
            device = PtyDevice(link)
            await until(lambda: notes.of("opened"))
            waits_us = list(clock.sleeps_us)
            device.unplug()
            await until(lambda: len(clock.sleeps_us) > len(waits_us))
        assert waits_us[:6] == [200_000, 400_000, 800_000, 1_600_000, 3_200_000, 5_000_000]
        assert set(waits_us[5:]) == {RETRY_LAST_US}
        assert len(notes.of("lost")) <= 3, "told once, not at every attempt"
        assert clock.sleeps_us[len(waits_us)] == RETRY_FIRST_US, "a line that was up is retried soon"

    asyncio.run(scene())


def test_line_that_dies_while_settling_is_left_at_once(device: PtyDevice, way: str) -> None:
    async def scene() -> None:
        choose(way)
        notes, clock = Notes(), HeldClock()
        async with running(make_port(device, notes, SerialSettings(), clock)):
            await until(lambda: clock.sleeps_us)
            device.unplug()
            await until(lambda: notes.of("lost"))

    asyncio.run(scene())


def test_locked_by_another_program(device: PtyDevice) -> None:
    async def scene() -> None:
        notes = Notes()
        other = serial.Serial(str(device.link), exclusive=True)
        async with running(make_port(device, notes)):
            await until(lambda: notes.of("lost"))
            other.close()
            await until(lambda: notes.of("opened"))
        (message,) = notes.of("lost")
        for part in (
            f"shoe: {device.link}: cannot open",
            "got [Errno 11]",
            "expected to be its only user",
            f"(pid {os.getpid()}, this program itself) holds it",
            "stop that program",
        ):
            assert part in message

    asyncio.run(scene())


def test_second_port_on_the_same_line_is_refused(device: PtyDevice) -> None:
    async def scene() -> None:
        notes = Notes()
        async with running(make_port(device, notes)):
            await until(lambda: notes.of("opened"))
            with pytest.raises(serial.SerialException, match="exclusively lock"):
                serial.Serial(str(device.link), exclusive=True)
            device.write(b"1010\n")
            await until(lambda: notes.data("chunk") == b"1010\n")

    asyncio.run(scene())


def test_foreign_reader_that_ignores_the_lock_is_survived(device: PtyDevice, way: str) -> None:
    """The lock binds only who asks for it; stolen bytes are lost, the port is not."""

    async def scene() -> None:
        choose(way)
        notes = Notes()
        port = make_port(device, notes)
        async with running(port) as task:
            await until(lambda: notes.of("opened"))
            with serial.Serial(str(device.link), timeout=0) as thief:
                for _ in range(50):
                    device.write(b"1010\n")
                    with contextlib.suppress(serial.SerialException):
                        thief.read(64)
                    await asyncio.sleep(0.001)
            notes.all.clear()
            async with asyncio.timeout(5):
                while b"4130\n" not in notes.data("chunk"):
                    device.write(b"4130\n")
                    await asyncio.sleep(0.01)
            assert not task.done()

    asyncio.run(scene())


@pytest.mark.parametrize("parity", ["E", "O"])
def test_parity_on_a_pty_survives_a_reconnect(device: PtyDevice, parity: Literal["E", "O"]) -> None:
    """A pty refuses to be opened a second time with parity; the port leaves parity off there."""

    async def scene() -> None:
        for _ in range(3):
            notes = Notes()
            settings = SerialSettings(baud=115200, parity=parity, settle_ms=0)
            async with running(make_port(device, notes, settings)):
                await until(partial(len, notes.all))
            assert notes.of("opened") == [device.node]

    asyncio.run(scene())


def test_bug_in_the_listener_ends_the_port(device: PtyDevice, way: str) -> None:
    """A callback that dies in silence would leave a table that reads nothing and looks alive."""

    async def scene() -> None:
        choose(way)

        class Broken(Notes):
            def chunk(self, data: bytes) -> None:
                raise ZeroDivisionError

        notes = Broken()
        task = asyncio.create_task(make_port(device, notes).run())
        await until(lambda: notes.of("opened"))
        device.write(b"1010\n")
        with pytest.raises(ZeroDivisionError):
            await asyncio.wait_for(task, 5)
        serial.Serial(str(device.link), exclusive=True).close()

    asyncio.run(scene())


def test_cancelling_closes_the_port(device: PtyDevice, way: str) -> None:
    async def scene() -> None:
        choose(way)
        notes = Notes()
        async with running(make_port(device, notes)):
            await until(lambda: notes.of("opened"))
        serial.Serial(str(device.link), exclusive=True).close()
        assert notes.of("lost") == []

    asyncio.run(scene())


def test_device_that_does_not_listen_is_a_lost_line(device: PtyDevice) -> None:
    async def scene() -> None:
        notes = Notes()
        port = make_port(device, notes)
        async with running(port):
            await until(lambda: notes.of("opened"))
            assert not port.write(bytes(200_000))
            await until(lambda: notes.of("lost"))
        assert "the device does not listen" in notes.of("lost")[0]

    asyncio.run(scene())


def test_waiting_costs_no_processor_time(device: PtyDevice, way: str) -> None:
    """pyserial sets VMIN 0: a blocking read on its descriptor would spin."""

    async def scene() -> None:
        choose(way)
        notes = Notes()
        async with running(make_port(device, notes)):
            await until(lambda: notes.of("opened"))
            before = time.process_time()
            await asyncio.sleep(0.2)
            assert time.process_time() - before < 0.1

    asyncio.run(scene())


# Which device it is.


class Found(NamedTuple):
    device: str
    vid: int | None = None
    pid: int | None = None
    serial_number: str | None = None
    location: str | None = None


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (Found("/dev/ttyUSB0", 0x0C2E, 0x0B61, "A 1\n", "1-2"), "0c2e:0b61 A 1"),
        (Found("/dev/ttyUSB0", 0x0C2E, 0x0B61, None, "1-2"), "0c2e:0b61 at 1-2"),
        (Found("/dev/ttyUSB0"), None),
        (Found("/dev/ttyUSB1", 0x0C2E, 0x0B61, "B", "1-3"), None),
    ],
)
def test_a_device_is_known_by_its_serial_number_or_its_place(
    monkeypatch: pytest.MonkeyPatch, found: Found, expected: str | None
) -> None:
    monkeypatch.setattr(port_module, "comports", lambda: [found])
    assert identify("/dev/ttyUSB0") == expected


def test_a_pty_has_no_identity_and_a_usb_device_tells_its_own(
    device: PtyDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene() -> None:
        notes = Notes()
        async with running(make_port(device, notes)):
            await until(lambda: notes.of("opened"))
        monkeypatch.setattr(port_module, "comports", lambda: [Found(device.node, 1, 2, "C")])
        async with running(make_port(device, notes)):
            await until(lambda: len(notes.of("opened")) == 2)
        assert notes.identities == [None, "0001:0002 C"]

    asyncio.run(scene())
