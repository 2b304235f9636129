"""Which key is wrong: by the files of a table, or by knocking at one of its doors from anywhere.

At the table everything can be told. A door tells a stranger only that it has refused the key, so a consumer's
check ends with what to ask the table for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import zmq
from zmq.utils.monitor import parse_monitor_message

from controller.bus.allowed import AllowList, KeyRole, read_allowed, role_of
from controller.bus.endpoints import connect
from controller.bus.errors import KeyFileUnusable
from controller.bus.keys import (
    PUBLIC_SUFFIX,
    BusKeys,
    ClientKeys,
    public_path,
    read_pair,
    read_public,
)

Value = TypeVar("Value")

KNOCK_S = 3.0
POLL_MS = 50
DECIDED = {zmq.Event.HANDSHAKE_SUCCEEDED, zmq.Event.HANDSHAKE_FAILED_AUTH}
"""What the table has said of the key, whatever else happens."""


class Asked(NamedTuple):
    """What a consumer has: its own key, what it takes for the table's, and what it wants to do."""

    key: Path | None
    server: Path | None
    role: KeyRole | None


def findings(where: BusKeys | str, asked: Asked) -> list[str]:
    """Return what is wrong, the nearest cause first; empty when nothing is.

    `where` are a table's keys, or the endpoint of a door to knock at.
    """
    found: list[str] = []
    own = _read(_public_of, asked.key, found)
    server = _read(read_public, asked.server, found)
    if own is not None and server == own:
        found.append(f"{asked.server}: is the consumer's own public key, expected the table's")
    if isinstance(where, BusKeys):
        table, allowed = _read(_public_of, where.key, found), _read(read_allowed, where.allowed, found)
        if None not in (server, table) and server != table:
            found.append(_not_the_tables(where, asked, f"{server!s:.8}", f"{table!s:.8}"))
        if own is not None and allowed is not None:
            found += _role_findings(where, allowed, own, asked)
    elif not found:
        # With a file that is wrong by itself the door would only say so less exactly.
        found += _door_findings(where, asked)
    return found


def _read(reader: Callable[[Path], Value], path: Path | None, found: list[str]) -> Value | None:
    """Read a file that is there to be checked; what is wrong with it is a finding."""
    try:
        return reader(path) if path is not None else None
    except KeyFileUnusable as error:
        found.append(str(error))
        return None


def _public_of(path: Path) -> str:
    """Return the public key of a pair that fits, or the one in a file without its secret."""
    if path.suffix == PUBLIC_SUFFIX:
        return read_public(path)
    public, beside = read_pair(path).public, public_path(path)
    if beside.exists() and read_public(beside) != public:
        raise KeyFileUnusable(f"{path}: does not match {beside}: the two files are not of one pair")
    return public


def _not_the_tables(keys: BusKeys, asked: Asked, got: str, expected: str) -> str:
    right = public_path(keys.key)
    return f"{asked.server}: is not this table's public key: {got}..., expected {expected}...; take {right}"


def _role_findings(keys: BusKeys, allowed: AllowList, own: str, asked: Asked) -> Iterator[str]:
    name = allowed.holder_of(own)
    if name is None:
        yield f"{asked.key}: is not in {keys.allowed}; tablectl keys allow CONFIG NAME FILE --role ROLE"
        return
    roles = allowed.keys[name].roles
    if asked.role is not None and asked.role not in roles:
        has = ", ".join(roles)
        yield f"{asked.key}: is {name}'s, with the role {has}, expected {asked.role}; allow it that as well"
    if asked.role is not None and asked.role not in map(role_of, keys.doors):
        yield f"[bus]: no endpoint of {asked.role} leaves the machine; add its address to the table's file"


# At the door.


def _door_findings(endpoint: str, asked: Asked) -> list[str]:
    assert asked.key is not None and asked.server is not None, "knocking takes both"
    seen = _knock(endpoint, ClientKeys.read(asked.key, asked.server))
    if zmq.Event.HANDSHAKE_SUCCEEDED in seen:
        return []
    if zmq.Event.HANDSHAKE_FAILED_AUTH in seen:
        return [
            f"{endpoint}: the table refuses {asked.key}: not in its allow-list, or there in another role; "
            f"there: tablectl keys check CONFIG --key {public_path(asked.key).name} --role ROLE"
        ]
    if zmq.Event.HANDSHAKE_FAILED_PROTOCOL in seen:
        return [f"{endpoint}: speaks, but without keys: it is no table's endpoint for other machines"]
    if zmq.Event.HANDSHAKE_FAILED_NO_DETAIL in seen:
        return [
            f"{endpoint}: {asked.server} is not the public key of the table that serves there; "
            "take the NAME.key.pub that it has now"
        ]
    if zmq.Event.CONNECTED in seen:
        return [f"{endpoint}: somebody listens and does not answer in {KNOCK_S:.0f} s; is it this table?"]
    return [f"{endpoint}: nobody listens there; does the table run, and is the address right?"]


def _knock(endpoint: str, keys: ClientKeys) -> set[int]:
    """Try as a listener and as one who asks: a door takes only one kind. Return the events of both."""
    context: zmq.Context[Any] = zmq.Context()
    seen: set[int] = set()
    try:
        sockets = [context.socket(kind) for kind in (zmq.SUB, zmq.DEALER)]
        monitors = [socket.get_monitor_socket() for socket in sockets]
        for socket in sockets:
            connect(socket, endpoint, keys)
        deadline = time.monotonic() + KNOCK_S
        while not seen & DECIDED and time.monotonic() < deadline:
            for monitor in monitors:
                if monitor.poll(POLL_MS):
                    seen.add(parse_monitor_message(monitor.recv_multipart())["event"])
    finally:
        context.destroy(linger=0)
    return seen
