"""A port by its stable name, other programs on it, and a line behind a device server."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import serial
from port_scenes import (
    AT_ONCE,
    Notes,
    WallClock,
    choose,
    make_port,
    running,
    until,
)
from serial.tools.list_ports_common import ListPortInfo

from drivers import port as port_module
from drivers.holders import find_holders, find_lockers
from drivers.port import Port, ask_low_latency
from drivers.pty import PtyDevice
from simulators.devices.delimited import DelimitedScanner
from simulators.devices.tcp import TcpDevice

pytestmark = pytest.mark.skipif(os.name != "posix", reason="ptys exist on POSIX alone")


HOLDING = """
import sys, time, serial
held = serial.Serial(sys.argv[1], exclusive=sys.argv[2] == "True")
print("held", flush=True)
time.sleep(60)
"""


@contextlib.contextmanager
def another_program(node: str, script: Path, *, exclusive: bool = True) -> Iterator[subprocess.Popen[str]]:
    """A program of its own that holds the port, as a daemon that was started twice would."""
    script.write_text(HOLDING)
    command = [sys.executable, str(script), node, str(exclusive)]
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
def test_who_takes_the_bytes_away_is_named(
    device: PtyDevice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that asks for no lock opens the port beside us; a read that finds nothing tells of it."""

    async def scene() -> None:
        notes = Notes()
        with another_program(device.node, tmp_path / "modems.py", exclusive=False) as thief:
            async with running(make_port(device, notes)):
                await until(lambda: notes.of("opened"))
                with monkeypatch.context() as stolen:
                    stolen.setattr(os, "read", lambda _descriptor, _count: b"")
                    device.write(b"1010\n")
                    await until(lambda: notes.of("lost"))
        assert f"stop the other program: modems.py (pid {thief.pid}) has it open too" in notes.of("lost")[0]

    asyncio.run(scene())


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


@pytest.fixture
def server() -> Iterator[TcpDevice]:
    server = TcpDevice()
    yield server
    server.unplug()


def test_a_socket_is_a_port_like_any_other(server: TcpDevice, way: str) -> None:
    async def scene() -> None:
        choose(way)
        notes = Notes()
        port = Port("shoe", server.name, settings=AT_ONCE, listener=notes, clock=WallClock())
        async with running(port):
            await until(lambda: notes.of("opened") and server.attached)
            scanner = DelimitedScanner(server.write)
            scanner.scan("1010")
            await until(lambda: notes.data("chunk") == b"1010\n")
            assert port.write(bytes(range(256)))
            await until(lambda: server.read() == bytes(range(256)))
            server.unplug()
            await until(lambda: len(notes.of("lost")) == 2)
            server.replug()
            await until(lambda: len(notes.of("opened")) == 2 and server.attached)
            scanner.scan("4130")
            await until(lambda: notes.data("chunk") == b"1010\n4130\n")
        assert notes.of("opened") == [server.name, server.name]
        assert notes.identities == [None, None]
        died, missing = notes.of("lost")
        assert died.startswith(f"shoe: {server.name}: ")
        assert way == "thread" or "the other end closed the connection" in died
        assert "check its power, the network and the name" in missing

    asyncio.run(scene())


def test_a_connection_that_comes_after_the_end_is_closed(
    server: TcpDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
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
        async with running(Port("shoe", server.name, settings=AT_ONCE, listener=Notes(), clock=WallClock())):
            await until(connecting.is_set)
        going.set()
        await until(lambda: late and not late[0].is_open)

    asyncio.run(scene())


def test_a_host_that_goes_away_leaves_the_device_server_for_the_next(server: TcpDevice) -> None:
    address = ("127.0.0.1", int(server.name.rpartition(":")[2]))
    with socket.create_connection(address) as first:
        assert server.write(b"1") == 1
        assert first.recv(10) == b"1"
    while server.attached:
        server.read()
    assert server.write(b"2") == 0
    with socket.create_connection(address) as second:
        assert server.write(b"3") == 1
        assert second.recv(10) == b"3"
