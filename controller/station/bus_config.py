"""`[bus]` of a table's file: the addresses by which its bus leaves the machine, and where its keys lie."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import msgspec

from controller.bus.allowed import read_allowed
from controller.bus.endpoints import check_served
from controller.bus.errors import EndpointRefused
from controller.bus.keys import BusKeys, read_pair
from controller.station.errors import ConfigError

KEY_NAME, ALLOWED_NAME = "bus.key", "bus.allowed.json"


class Audiences(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Addresses, `tcp://10.0.0.5:5600`, of the audiences that leave the machine."""

    public: str | None = None
    betting: str | None = None
    settlement: str | None = None
    audit: str | None = None


class Commands(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Addresses of the command sockets that leave the machine, by role."""

    betting: str | None = None
    operator: str | None = None
    consumer: str | None = None


class BusFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The section as it is written. Without one nothing leaves the machine. `key` and `allowed` lie relative
    to the table's file."""

    key: str | None = None
    allowed: str | None = None
    live: Audiences = Audiences()
    replay: Audiences = Audiences()
    commands: Commands = Commands()


def bus_keys(path: Path, bus: BusFile, table_dir: Path) -> BusKeys | None:
    """Return what the bus of the table file `path` needs for its doors, None without. Raises ConfigError."""
    if bus == BusFile():
        return None
    home = path.resolve().parent
    doors = {
        f"{kind}.{name}": address
        for kind, addresses in (("live", bus.live), ("replay", bus.replay), ("commands", bus.commands))
        for name, address in msgspec.structs.asdict(addresses).items()
        if address is not None
    }
    _check(path, doors)
    return BusKeys(
        key=_at(home, bus.key, table_dir / KEY_NAME),
        allowed=_at(home, bus.allowed, table_dir / ALLOWED_NAME),
        doors=doors,
    )


def check_keys(bus: BusKeys | None) -> None:
    """Refuse to start with a key or an allow-list that can't be used. Raises KeyFileUnusable."""
    if bus is not None:
        read_pair(bus.key)
        read_allowed(bus.allowed)


def _at(home: Path, written: str | None, default: Path) -> Path:
    return default if written is None else Path(os.path.normpath(home / written))


def _check(path: Path, doors: dict[str, str]) -> None:
    if not doors:
        raise ConfigError(f"{path}: bus: names no address; write one, or leave [bus] out")
    for name, address in doors.items():
        try:
            check_served(address)
        except EndpointRefused as error:
            raise ConfigError(f"{path}: bus.{name}: {error}") from None
    twice = [address for address, count in Counter(doors.values()).items() if count > 1]
    if twice:
        raise ConfigError(f"{path}: bus: {twice[0]} stands twice; each endpoint has an address of its own")
    for name in doors:
        kind, _, audience = name.partition(".")
        other = {"live": "replay", "replay": "live"}.get(kind)
        if other is not None and f"{other}.{audience}" not in doors:
            raise ConfigError(
                f"{path}: bus.{other}.{audience}: missing; bus.{name} has an address, and a consumer needs "
                "both: the feed to listen, replay to fetch what it has missed"
            )
