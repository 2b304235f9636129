"""The devices of a table as its config names them: scanners, badge readers, tower lights."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import msgspec

from controller.station.errors import ConfigError
from drivers import tower_light
from drivers.contract import SerialSettings, unknown_name
from drivers.families import open_framer
from drivers.port_names import check_name, is_socket

SET_BY_SERVER = ("baud", "bytesize", "parity", "stopbits")
USUAL_LINE = SerialSettings()
NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")
"""A device's name is a word of every line that a recording has of it."""


class ScannerConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One scanner. `port` is named as in `drivers.port_names`; a path with a dot first begins at the file.

    `reads`: the shoe, whose cards it deals; every card once more; or what lies at `place`.
    """

    family: str
    port: str
    line: SerialSettings = SerialSettings()
    options: dict[str, Any] = {}
    reads: Literal["shoe", "second", "place"] = "shoe"
    place: str | None = None


class BadgeReaderConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One badge reader: family, port, line and options as of a scanner.

    `role` is whose place it stands at: who may work in both logs in as this.
    """

    family: str
    port: str
    line: SerialSettings = SerialSettings()
    options: dict[str, Any] = {}
    role: Literal["dealer", "supervisor"] = "dealer"


Reader: TypeAlias = ScannerConfig | BadgeReaderConfig
"""A device that reads: cards, or badges."""


class LightConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One tower light. It only listens, so that its line needs no time to settle."""

    port: str
    family: str = tower_light.FAMILY
    line: SerialSettings = SerialSettings(settle_ms=0)


Device = TypeVar("Device", ScannerConfig, BadgeReaderConfig, LightConfig)


def at_home(home: Path, device: Device) -> Device:
    """Return the device with its port as a whole path, where it began with a dot: at the table's file."""
    return msgspec.structs.replace(device, port=_whole(home, device.port))


def _whole(home: Path, port: str) -> str:
    return os.path.normpath(home / port) if port.startswith(".") else port


def check_devices(
    path: Path,
    scanners: Mapping[str, ScannerConfig],
    readers: Mapping[str, BadgeReaderConfig],
    lights: Mapping[str, LightConfig],
) -> None:
    """Refuse a port, family or option that nobody knows, and a name that can stand in no recording.

    Raises ConfigError, which names file and key.
    """
    _check_apart(path, {"scanners": scanners, "badge_readers": readers, "lights": lights})
    for section, devices in (("scanners", scanners), ("badge_readers", readers)):
        for name, device in devices.items():
            where = f"{path}: {section}.{name}"
            _check_port(where, device.port, device.line)
            try:
                open_framer(device.family, device.options)
            except ValueError as error:
                raise ConfigError(f"{where}: {error}") from None
    for name, light in lights.items():
        _check_port(f"{path}: lights.{name}", light.port, light.line)
        if light.family != tower_light.FAMILY:
            wrong = unknown_name(light.family, (tower_light.FAMILY,))
            raise ConfigError(f"{path}: lights.{name}.family: {wrong}")


def _check_apart(path: Path, sections: Mapping[str, Mapping[str, Reader | LightConfig]]) -> None:
    """Refuse a bad name, and two devices at one port: only one of them would ever have it."""
    taken: dict[str, str] = {}
    for section, devices in sections.items():
        for name, device in devices.items():
            where = f"{section}.{name}"
            if NAME.fullmatch(name) is None:
                raise ConfigError(
                    f"{path}: {section}.{name!r}: expected a name of 1 to 32 letters, digits, '-' or '_'"
                )
            port = _whole(path.parent, device.port)
            if port in taken:
                raise ConfigError(
                    f"{path}: {where}.port: {device.port} is the port of {taken[port]} already; "
                    "give each device its own"
                )
            taken[port] = where


def _check_port(where: str, port: str, line: SerialSettings) -> None:
    """Refuse a name that no port has, and what nobody would set: a device server sets its line itself."""
    try:
        check_name(port)
    except ValueError as error:
        raise ConfigError(f"{where}.port: {error}") from None
    for name in SET_BY_SERVER if is_socket(port) else ():
        got, usual = getattr(line, name), getattr(USUAL_LINE, name)
        if got != usual:
            raise ConfigError(
                f"{where}.line.{name}: got {got!r}, which has no effect on {port}: set it at the "
                "device server and leave it out here"
            )
