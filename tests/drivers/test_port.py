"""The port on a real pty: reading, settling, unplugging, coming back, and other programs on the line.

The lessons of the public program (hardware notes, 2.3) are here as far as they are the port's.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

import pytest
import serial
from serial.tools.list_ports_common import ListPortInfo

from drivers import port as port_module
from drivers.contract import Clock, CodeRead, SerialSettings
from drivers.delimited import open_delimited
from drivers.holders import find_holders, find_lockers
from drivers.port import RETRY_FIRST_US, RETRY_LAST_US, Port, ask_low_latency, identify
from simulators.devices.delimited import DelimitedScanner
from simulators.devices.pty import PtyDevice

pytestmark = pytest.mark.skipif(os.name != "posix", reason="ptys exist on POSIX alone")

AT_ONCE = SerialSettings(settle_ms=0)


class WallClock:
    """The present of this machine."""

    def now_us(self) -> int:
        return time.monotonic_ns() // 1000

    async def sleep_until(self, at_us: int) -> None:
        await asyncio.sleep(max(0, at_us - self.now_us()) / 1e6)


class JumpingClock:
    """A clock that a simulation owns: every sleep is over at once, and is noted."""

    def __init__(self) -> None:
        self.present_us = 0
        self.sleeps_us: list[int] = []

    def now_us(self) -> int:
        self.present_us += 1
        return self.present_us

    async def sleep_until(self, at_us: int) -> None:
        self.sleeps_us.append(at_us - self.present_us)
        self.present_us = max(self.present_us, at_us)
        await asyncio.sleep(0)


class HeldClock(JumpingClock):
    """A clock that stands still until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.released = asyncio.Event()

    async def sleep_until(self, at_us: int) -> None:
        self.sleeps_us.append(at_us - self.present_us)
        await self.released.wait()


class Notes:
    """A listener that writes everything down, in order."""

    def __init__(self) -> None:
        self.all: list[tuple[str, str | bytes]] = []
        self.identities: list[str | None] = []

    def opened(self, device: str, identity: str | None) -> None:
        self.all.append(("opened", device))
        self.identities.append(identity)

    def chunk(self, data: bytes) -> None:
        self.all.append(("chunk", data))

    def stale(self, data: bytes) -> None:
        self.all.append(("stale", data))

    def lost(self, reason: str) -> None:
        self.all.append(("lost", reason))

    def of(self, kind: str) -> list[str]:
        return [str(what) for name, what in self.all if name == kind]

    def data(self, kind: str) -> bytes:
        return b"".join(what for name, what in self.all if name == kind and isinstance(what, bytes))


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110  # Conditions of every kind, some the kernel's.
            await asyncio.sleep(0.002)


@contextlib.asynccontextmanager
async def running(port: Port) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(port.run())
    try:
        yield task
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


@pytest.fixture
def device(tmp_path: Path) -> Iterator[PtyDevice]:
    device = PtyDevice(tmp_path / "scanner-shoe")
    yield device
    device.unplug()


@pytest.fixture(params=["descriptor", "thread"])
def way(request: pytest.FixtureRequest) -> str:
    """How the port reads; a loop that watches no descriptors, as on Windows, gets the thread."""
    return str(request.param)


def choose(way: str) -> None:
    if way == "thread":

        def add_reader(*_: object) -> None:
            raise NotImplementedError

        asyncio.get_running_loop().add_reader = add_reader  # type: ignore[method-assign, assignment]


def make_port(
    device: PtyDevice, notes: Notes, settings: SerialSettings = AT_ONCE, clock: Clock | None = None
) -> Port:
    return Port("shoe", device.link, settings=settings, listener=notes, clock=clock or WallClock())


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
        assert "cannot open" in missing
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


# Names, other programs, sockets.


HOLDING = """
import sys, time, serial
held = serial.Serial(sys.argv[1], exclusive=True)
print("held", flush=True)
time.sleep(60)
"""


@contextlib.contextmanager
def another_program(node: str, script: Path) -> Iterator[subprocess.Popen[str]]:
    """A program of its own that holds the port, as a daemon that was started twice would."""
    script.write_text(HOLDING)
    command = [sys.executable, str(script), node]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "held\n"
        try:
            yield program
        finally:
            program.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="holders are found in /proc")
def test_another_program_is_named_and_its_kill_needs_no_hand_work(device: PtyDevice, tmp_path: Path) -> None:
    async def scene() -> None:
        notes = Notes()
        with another_program(device.node, tmp_path / "dealer.py") as program:
            async with running(make_port(device, notes)):
                await until(lambda: notes.of("lost"))
                program.kill()
                await until(lambda: notes.of("opened"))
        (message,) = notes.of("lost")
        assert f"expected to be its only user: dealer.py (pid {program.pid}) holds it" in message

    asyncio.run(scene())


@pytest.mark.skipif(sys.platform != "linux", reason="holders are found in /proc")
def test_who_has_it_open_without_a_lock_is_found(device: PtyDevice) -> None:
    with serial.Serial(str(device.link)):
        assert find_lockers(device.node) == ()
        assert os.getpid() in {holder.pid for holder in find_holders(device.node)}
    assert find_holders(str(device.link.with_name("no such port"))) == ()


def test_a_holder_that_nobody_may_see(device: PtyDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene() -> None:
        notes = Notes()
        monkeypatch.setattr(port_module, "find_lockers", partial(find_lockers, proc=Path("/no proc")))
        monkeypatch.setattr(port_module, "find_holders", partial(find_holders, proc=Path("/no proc")))
        with serial.Serial(str(device.link), exclusive=True):
            async with running(make_port(device, notes)):
                await until(lambda: notes.of("lost"))
        assert "another program holds the lock, which this user may not see" in notes.of("lost")[0]
        assert f"`sudo fuser -v {device.link}` names it" in notes.of("lost")[0]

    asyncio.run(scene())


def test_unplugged_in_mid_frame_is_reported_within_two_seconds(device: PtyDevice, way: str) -> None:
    async def scene() -> None:
        choose(way)
        notes = Notes()
        async with running(make_port(device, notes)):
            await until(lambda: notes.of("opened"))
            device.write(b"10")
            await until(lambda: notes.data("chunk"))
            device.unplug()
            async with asyncio.timeout(2):
                await until(lambda: notes.of("lost"))

    asyncio.run(scene())


def test_a_usb_name_is_found_again_under_another_node(
    device: PtyDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene() -> None:
        notes = Notes()

        def comports() -> list[ListPortInfo]:
            if not device.plugged:
                return []
            found = ListPortInfo(device.node)
            found.vid, found.pid, found.serial_number = 0x0C2E, 0x0B61, "A1"
            return [found]

        monkeypatch.setattr(port_module, "comports", comports)
        port = Port("shoe", "usb:0C2E:0b61:A1", settings=AT_ONCE, listener=notes, clock=WallClock())
        async with running(port):
            await until(lambda: notes.of("opened"))
            device.unplug()
            await until(lambda: len(notes.of("lost")) == 2)
            device.replug()
            await until(lambda: len(notes.of("opened")) == 2)
            device.write(b"1010\n")
            await until(lambda: notes.data("chunk") == b"1010\n")
        assert notes.of("opened")[1] == device.node
        assert (
            "usb:0C2E:0b61:A1: cannot open: got [Errno 2] no such device is plugged in" in notes.of("lost")[1]
        )

    asyncio.run(scene())


class Adapter:
    """A USB adapter, as far as its latency goes."""

    def __init__(self, fault: Exception | None) -> None:
        self.asked: list[bool] = []
        self._fault = fault

    def set_low_latency_mode(self, is_low: bool) -> None:
        self.asked.append(is_low)
        if self._fault is not None:
            raise self._fault


@pytest.mark.parametrize("fault", [None, ValueError("a pty"), OSError(25, "no such ioctl")])
def test_low_latency_is_asked_for_and_may_be_refused(fault: Exception | None) -> None:
    adapter = Adapter(fault)
    ask_low_latency(adapter)
    assert adapter.asked == [True]


class Server:
    """A device server: one TCP client gets what the device sends."""

    def __init__(self) -> None:
        self.clients: list[asyncio.StreamWriter] = []
        self.heard = b""

    async def __aenter__(self) -> Server:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.clients.append(writer)
        while data := await reader.read(100):
            self.heard += data
        writer.close()


def test_a_socket_is_a_port_like_any_other(way: str) -> None:
    async def scene() -> None:
        choose(way)
        notes = Notes()
        async with Server() as server:
            name = f"socket://127.0.0.1:{server.port}"
            port = Port("shoe", name, settings=AT_ONCE, listener=notes, clock=WallClock())
            async with running(port):
                await until(lambda: notes.of("opened") and server.clients)
                server.clients[0].write(b"1010\n")
                await until(lambda: notes.data("chunk") == b"1010\n")
                assert port.write(b"\x06")
                await until(lambda: server.heard == b"\x06")
                server.clients[0].close()
                await until(lambda: len(notes.of("opened")) == 2)
        assert notes.of("opened") == [name, name]
        assert notes.identities == [None, None]
        assert notes.of("lost")[0].startswith(f"shoe: {name}: ")
        if way == "descriptor":
            assert "the other end closed the connection" in notes.of("lost")[0]

    asyncio.run(scene())


def test_a_device_server_that_is_not_there() -> None:
    async def scene() -> None:
        notes = Notes()
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            name = f"socket://127.0.0.1:{unused.getsockname()[1]}"
            async with running(Port("shoe", name, settings=AT_ONCE, listener=notes, clock=WallClock())):
                await until(lambda: notes.of("lost"))
        assert "check its power, the network and the name" in notes.of("lost")[0]

    asyncio.run(scene())


def test_a_connection_that_comes_after_the_end_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene() -> None:
        connecting, going = threading.Event(), threading.Event()
        late: list[serial.Serial] = []
        connect = serial.serial_for_url

        def slow(*words: object, **settings: object) -> serial.Serial:
            connecting.set()
            going.wait(10)
            late.append(connect(*words, **settings))
            return late[0]

        monkeypatch.setattr(serial, "serial_for_url", slow)
        async with Server() as server:
            name = f"socket://127.0.0.1:{server.port}"
            async with running(Port("shoe", name, settings=AT_ONCE, listener=Notes(), clock=WallClock())):
                await until(connecting.is_set)
            going.set()
            await until(lambda: late and not late[0].is_open)

    asyncio.run(scene())
