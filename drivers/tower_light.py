"""A tower light with three lamps on a serial line (CH340, 9600 8N1): one byte a command, and no answer.

Hardware notes, section 1.4. The low bits name the lamp, the high ones what it does.
"""

from __future__ import annotations

from enum import IntEnum

import msgspec

FAMILY = "tower_light"


class Mode(IntEnum):
    """What a lamp does: the high bits of its command."""

    ON = 0x10
    OFF = 0x20
    BLINK = 0x40


class Lamp(IntEnum):
    """A lamp: the low bits of its command."""

    RED = 0x01
    YELLOW = 0x02
    GREEN = 0x04


class Light(msgspec.Struct, frozen=True):
    """All three lamps."""

    red: Mode = Mode.OFF
    yellow: Mode = Mode.OFF
    green: Mode = Mode.OFF


def command(lamp: Lamp, mode: Mode) -> int:
    """Return the byte that makes a lamp do something."""
    return lamp | mode


def encode(light: Light) -> bytes:
    """Return what makes a tower show `light`, whatever it showed before: all off, then what is lit."""
    wanted = {Lamp.RED: light.red, Lamp.YELLOW: light.yellow, Lamp.GREEN: light.green}
    lit = [command(lamp, mode) for lamp, mode in wanted.items() if mode is not Mode.OFF]
    return bytes([*(command(lamp, Mode.OFF) for lamp in wanted), *lit])
