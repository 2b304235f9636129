"""Endpoints: what is refused, file modes, and names that a dead or a living process has left."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import zmq

from controller.bus.endpoints import PORTS, Endpoints, bind, check_local, connect
from controller.bus.errors import BusError, EndpointRefused
from controller.table.events import AUDIENCES


def bound(context: zmq.Context[Any], endpoint: str) -> zmq.Socket[bytes]:
    socket: zmq.Socket[bytes] = context.socket(zmq.PUB)
    try:
        bind(socket, endpoint)
    except BusError:
        socket.close(linger=0)
        raise
    return socket


def test_every_socket_of_a_table_has_its_own_name(directory: Path) -> None:
    for endpoints in (Endpoints.ipc(directory, "rp1"), Endpoints.loopback(directory, "rp1", base_port=5600)):
        names = [*endpoints.live.values(), *endpoints.replay.values()]
        names += [endpoints.picture, endpoints.betting, endpoints.operator]
        assert len(set(names)) == 2 * len(AUDIENCES) + 3
        for name in names:
            check_local(name)
    assert {name.rpartition(":")[2] for name in names[:PORTS]} == {str(5600 + i) for i in range(PORTS)}
    assert all(name.startswith("ipc://") for name in names[PORTS:])


@pytest.mark.parametrize(
    ("endpoint", "because"),
    [
        ("tcp://192.168.0.7:5600", "leaves the machine"),
        ("tcp://0.0.0.0:5600", "leaves the machine"),
        ("tcp://*:5600", "leaves the machine"),
        ("tcp://studio:5600", "leaves the machine"),
        ("tcp://127.0.0.1:0", "port '0'"),
        ("tcp://127.0.0.1:*", r"port '\*'"),
        ("ipc://bus", "absolute path"),
        ("ipc://@bus", "absolute path"),
        ("ipc:///" + "x" * 107, "108 bytes"),
        ("inproc://bus", "expected ipc"),
        ("pgm://127.0.0.1:1", "expected ipc"),
    ],
)
def test_an_endpoint_beyond_this_machine_is_refused(
    context: zmq.Context[Any], endpoint: str, because: str
) -> None:
    with pytest.raises(EndpointRefused, match=because):
        bound(context, endpoint)
    with context.socket(zmq.SUB) as socket, pytest.raises(EndpointRefused, match=because):
        connect(socket, endpoint)


def test_loopback_is_allowed(context: zmq.Context[Any]) -> None:
    for endpoint in ("tcp://127.0.0.1:5600", "tcp://[::1]:5600", "ipc:///" + "x" * 106):
        with context.socket(zmq.SUB) as socket:
            socket.setsockopt(zmq.IPV6, 1)
            connect(socket, endpoint)


def test_socket_files_are_private(context: zmq.Context[Any], directory: Path) -> None:
    home = directory / "rp1"
    home.mkdir(mode=0o755)
    socket = bound(context, f"ipc://{home}/live")
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert stat.S_IMODE((home / "live").stat().st_mode) == 0o600
    socket.close(linger=0)


def test_the_file_of_a_dead_process_is_replaced(context: zmq.Context[Any], directory: Path) -> None:
    path = directory / "live"
    dying = (
        "import os, socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); "
        "os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", dying, str(path)], check=False)
    assert stat.S_ISSOCK(path.stat().st_mode)
    socket = bound(context, f"ipc://{path}")
    with context.socket(zmq.SUB) as subscriber:
        subscriber.subscribe(b"")
        connect(subscriber, f"ipc://{path}")
        assert any(socket.send(b"x") or subscriber.poll(20) for _ in range(100))
    socket.close(linger=0)


def test_the_name_of_a_living_process_is_left_to_it(context: zmq.Context[Any], directory: Path) -> None:
    endpoint = f"ipc://{directory}/live"
    first = bound(context, endpoint)
    with pytest.raises(EndpointRefused, match="another process serves"):
        bound(context, endpoint)
    first.close(linger=0)


def test_a_file_that_is_no_socket_is_never_removed(context: zmq.Context[Any], directory: Path) -> None:
    (directory / "live").write_text("journal")
    with pytest.raises(EndpointRefused, match="no socket"):
        bound(context, f"ipc://{directory}/live")
    assert (directory / "live").read_text() == "journal"


def test_a_directory_that_cannot_be_made_is_named(context: zmq.Context[Any], directory: Path) -> None:
    (directory / "rp1").write_text("")
    with pytest.raises(EndpointRefused, match="cannot bind"):
        bound(context, f"ipc://{directory}/rp1/live")
    assert list(directory.iterdir()) == [directory / "rp1"]
