"""Endpoints: where the sockets of one table are, and the rules for binding and reaching them.

Without keys nothing leaves the machine: `ipc://` files of one user, or loopback TCP for feeds and replay.
What leaves it has keys (`doors.py`).
"""

from __future__ import annotations

import ipaddress
import re
import socket as unix
import stat
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import zmq

from controller.bus.errors import EndpointRefused
from controller.bus.keys import ClientKeys
from controller.table.events import AUDIENCES, Audience

IPC_PATH_BYTES_MAX = 107
"""Length of sun_path, unix(7), without its closing zero."""
PORTS = 2 * len(AUDIENCES)
"""Loopback ports that one table takes: a live feed and a replay server for each audience."""
RELEASE_TRIES = 50
RELEASE_WAIT_S = 0.01
NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")


class Endpoints(msgspec.Struct, frozen=True):
    """All sockets of one table. `picture` and the command sockets are always `ipc://`."""

    live: Mapping[Audience, str]
    replay: Mapping[Audience, str]
    picture: str
    betting: str
    operator: str
    consumer: str

    @classmethod
    def ipc(cls, directory: Path, table: str) -> Endpoints:
        """Name everything under `directory/table/`. Raises EndpointRefused for an unusable name."""
        check_name(table)
        home = directory.absolute() / table
        return cls(
            live={audience: f"ipc://{home}/live.{audience}" for audience in AUDIENCES},
            replay={audience: f"ipc://{home}/replay.{audience}" for audience in AUDIENCES},
            picture=f"ipc://{home}/picture",
            betting=f"ipc://{home}/commands.betting",
            operator=f"ipc://{home}/commands.operator",
            consumer=f"ipc://{home}/commands.consumer",
        )

    @classmethod
    def loopback(cls, directory: Path, table: str, *, base_port: int) -> Endpoints:
        """Put feeds and replay on `PORTS` ports of 127.0.0.1 from `base_port`, the rest under `directory`."""
        address = {
            audience: f"tcp://127.0.0.1:{base_port + 2 * index}" for index, audience in enumerate(AUDIENCES)
        }
        replay = {
            audience: f"tcp://127.0.0.1:{base_port + 2 * index + 1}"
            for index, audience in enumerate(AUDIENCES)
        }
        return msgspec.structs.replace(cls.ipc(directory, table), live=address, replay=replay)


def check_name(table: str) -> None:
    """Raise EndpointRefused unless `table` can stand in ids, paths and sources."""
    if not NAME.fullmatch(table):
        raise EndpointRefused(f"table {table!r}: expected 1 to 32 letters, digits, '-' or '_'")


def check_local(endpoint: str) -> None:
    """Raise EndpointRefused for an address that leaves the machine or has no file modes."""
    scheme, _, address = endpoint.partition("://")
    match scheme:
        case "ipc":
            _check_path(endpoint, address)
        case "tcp":
            _check_loopback(endpoint, address)
        case _:
            raise EndpointRefused(f"{endpoint}: expected ipc://<absolute path> or tcp://127.0.0.1:<port>")


def bind(socket: zmq.Socket[Any], endpoint: str) -> None:
    """Bind to a local endpoint; an ipc file gets mode 0600 in a directory of mode 0700.

    The file of a dead process is replaced. Raises EndpointRefused when a living one serves there:
    libzmq would silently take the name away from it.
    """
    check_local(endpoint)
    path = Path(endpoint.removeprefix("ipc://")) if endpoint.startswith("ipc://") else None
    try:
        if path is not None:
            _make_private(path.parent)
            _check_free(path)
        socket.bind(endpoint)
        if path is not None:
            path.chmod(0o600)
    except (OSError, zmq.ZMQError) as error:
        raise EndpointRefused(f"{endpoint}: cannot bind: {error}") from error


def check_address(endpoint: str) -> None:
    """Raise EndpointRefused unless `endpoint` is a TCP address, which with keys may be any one."""
    scheme, _, address = endpoint.partition("://")
    host, _, port = address.rpartition(":")
    if scheme != "tcp" or not host:
        raise EndpointRefused(f"{endpoint}: expected tcp://<address>:<port>; local sockets take no keys")
    _check_port(endpoint, port)


def check_served(endpoint: str) -> None:
    """Raise EndpointRefused unless a table can serve there: at an address of this machine, or at 0.0.0.0.

    Not at `*`, which libzmq binds and can't unbind under that name.
    """
    check_address(endpoint)
    host = endpoint.removeprefix("tcp://").rpartition(":")[0]
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        raise EndpointRefused(
            f"{endpoint}: expected an address of this machine, such as tcp://10.0.0.5:5600, or tcp://0.0.0.0:5600"
        ) from None


def connect(socket: zmq.Socket[Any], endpoint: str, keys: ClientKeys | None = None) -> None:
    """Connect; nobody needs to serve there yet. Without keys only to a local endpoint.

    Raises EndpointRefused.
    """
    if keys is None:
        check_local(endpoint)
    else:
        check_address(endpoint)
        keys.secure(socket)
        socket.setsockopt(zmq.IPV6, "[" in endpoint)
    try:
        socket.connect(endpoint)
    except zmq.ZMQError as error:
        raise EndpointRefused(f"{endpoint}: cannot connect: {error}") from error


def reconnect(socket: zmq.Socket[Any], endpoint: str, keys: ClientKeys) -> None:
    """Give up the connection that `connect` made, and what waits in it; begin another one."""
    socket.setsockopt(zmq.LINGER, 0)
    socket.disconnect(endpoint)
    connect(socket, endpoint, keys)


def _check_path(endpoint: str, path: str) -> None:
    if not path.startswith("/"):
        raise EndpointRefused(f"{endpoint}: expected an absolute path, whose file modes keep others out")
    length = len(path.encode())
    if length > IPC_PATH_BYTES_MAX:
        raise EndpointRefused(
            f"{endpoint}: path of {length} bytes, at most {IPC_PATH_BYTES_MAX} fit a socket; "
            "choose a shorter directory"
        )


def _check_loopback(endpoint: str, address: str) -> None:
    host, _, port = address.rpartition(":")
    try:
        local = ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        local = False
    if not local:
        raise EndpointRefused(
            f"{endpoint}: leaves the machine, and there are no keys; expected tcp://127.0.0.1:<port>, or keys"
        )
    _check_port(endpoint, port)


def _check_port(endpoint: str, port: str) -> None:
    if not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise EndpointRefused(f"{endpoint}: port {port!r}, expected 1 to 65535")


def _make_private(directory: Path) -> None:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    if stat.S_IMODE(directory.stat().st_mode) != 0o700:
        directory.chmod(0o700)


def _check_free(path: Path) -> None:
    """Refuse a name that a living process serves.

    libzmq lets go of a name in the background, 2 to 3 ms after a close, so a served one gets a moment.
    """
    for _ in range(RELEASE_TRIES):
        if not _is_served(path):
            return
        time.sleep(RELEASE_WAIT_S)
    raise EndpointRefused(f"{path}: another process serves this table's bus; stop it first")


def _is_served(path: Path) -> bool:
    """Whether somebody listens there. Raises EndpointRefused for a file that libzmq would unlink."""
    try:
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise EndpointRefused(f"{path}: is there and is no socket; move it away")
        with unix.socket(unix.AF_UNIX, unix.SOCK_STREAM) as probe:
            probe.connect(str(path))
    except (FileNotFoundError, ConnectionRefusedError):
        return False
    return True
