"""The tower light: golden bytes typed from the hardware notes, 1.4, and the simulated tower."""

from __future__ import annotations

import itertools

import pytest

from drivers.tower_light import Lamp, Light, Mode, command, encode
from simulators.devices.tower_light import TowerLight


@pytest.mark.parametrize(
    ("lamp", "on", "off", "blink"),
    [(Lamp.RED, 0x11, 0x21, 0x41), (Lamp.YELLOW, 0x12, 0x22, 0x42), (Lamp.GREEN, 0x14, 0x24, 0x44)],
)
def test_golden_bytes(lamp: Lamp, on: int, off: int, blink: int) -> None:
    assert [command(lamp, mode) for mode in (Mode.ON, Mode.OFF, Mode.BLINK)] == [on, off, blink]


@pytest.mark.parametrize(
    ("light", "golden"),
    [
        (Light(), "21 22 24"),
        (Light(green=Mode.ON), "21 22 24 14"),
        (Light(yellow=Mode.ON), "21 22 24 12"),
        (Light(red=Mode.BLINK), "21 22 24 41"),
        (Light(red=Mode.ON, yellow=Mode.BLINK), "21 22 24 11 42"),
    ],
)
def test_golden_commands(light: Light, golden: str) -> None:
    assert encode(light) == bytes.fromhex(golden)


def test_whatever_it_showed_before_it_shows_what_it_is_told() -> None:
    lights = [Light(*modes) for modes in itertools.product(Mode, repeat=3)]
    for before, after in itertools.product(lights, repeat=2):
        tower = TowerLight()
        tower.feed(encode(before))
        for byte in encode(after):
            tower.feed(bytes((byte,)))
        assert tower.shows == after and tower.unknown_count == 0


def test_the_simulated_tower_counts_what_is_no_command() -> None:
    tower = TowerLight()
    tower.feed(bytes.fromhex("00 14 18 FF"))
    assert (tower.unknown_count, tower.history) == (3, [Light(green=Mode.ON)])
