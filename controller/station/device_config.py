"""What stands at a table beside the scanners, as its config names it: badge readers and tower lights."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from controller.station.errors import ConfigError
from drivers import tower_light
from drivers.contract import SerialSettings, unknown_name
from drivers.families import open_framer
from drivers.port_names import check_name


class BadgeReaderConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One badge reader: family, port, line and options as of a scanner.

    `role` is whose place it stands at: who may work in both logs in as this.
    """

    family: str
    port: str
    line: SerialSettings = SerialSettings()
    options: dict[str, Any] = {}
    role: Literal["dealer", "supervisor"] = "dealer"


class LightConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One tower light. It only listens, so that its line needs no time to settle."""

    port: str
    family: str = tower_light.FAMILY
    line: SerialSettings = SerialSettings(settle_ms=0)


def check_devices(
    path: Path, readers: Mapping[str, BadgeReaderConfig], lights: Mapping[str, LightConfig]
) -> None:
    """Refuse a port, a family or an option that can't be. Raises ConfigError, which names file and key."""
    for key, devices in (("badge_readers", readers), ("lights", lights)):
        for name, device in devices.items():
            check_port(path, f"{key}.{name}", device.port)
    for name, reader in readers.items():
        try:
            open_framer(reader.family, reader.options)
        except ValueError as error:
            raise ConfigError(f"{path}: badge_readers.{name}: {error}") from None
    for name, light in lights.items():
        if light.family != tower_light.FAMILY:
            wrong = unknown_name(light.family, (tower_light.FAMILY,))
            raise ConfigError(f"{path}: lights.{name}.family: {wrong}")


def check_port(path: Path, where: str, port: str) -> None:
    """Refuse a name that no port can have. Raises ConfigError."""
    try:
        check_name(port)
    except ValueError as error:
        raise ConfigError(f"{path}: {where}.port: {error}") from None
