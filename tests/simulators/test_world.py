"""The world: it ends when all is done, and says so when nobody does anything any more."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from e2e.family import START_US
from e2e.test_simulation import demo_in

from controller.station.config import load
from controller.station.errors import StationError
from simulators.cast import hire
from simulators.links import DirectLink
from simulators.world import World


def test_a_table_that_nobody_serves_ends_the_simulation(tmp_path: Path) -> None:
    config = load(demo_in(tmp_path))
    hire(config)
    world = World(DirectLink(config, START_US), (), is_done=lambda: False)
    with pytest.raises(StationError, match="stands still"):
        asyncio.run(world.run())
