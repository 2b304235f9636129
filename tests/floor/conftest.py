"""A table whose bus really runs, a nats-server, and bridges between them."""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zmq
from bus.conftest import RunningBus, context, directory, running_bus
from bus.streams import cancelled_round, normal_round
from e2e.taped import write_config
from floor.nats_side import Bridge, NatsServer

from controller.station.config import StationConfig

__all__ = ["context", "directory"]

ALIVE_EVERY = 20


class PlayedTable:
    """The table `rp1` of a config: its rounds are published and kept, step by step."""

    def __init__(self, bus: RunningBus, config: StationConfig) -> None:
        self.bus = bus
        self.config = config
        self._count = 0
        self._steps = (
            step
            for number in itertools.count(1)
            for step in (cancelled_round(number) if number % 5 == 0 else normal_round(number))
        )

    def play(self) -> None:
        """One step at a fast pace."""
        self.step()
        time.sleep(0.001)

    def step(self) -> None:
        """One step, and now and then a sign of life."""
        events, stamp = next(self._steps)
        self.bus.step((events, type(stamp)(**{**_fields(stamp), "epoch": self.bus.epoch})))
        self._count += 1
        if self._count % ALIVE_EVERY == 0:
            self.bus.alive()

    def play_rounds(self, steps: int) -> None:
        """Several steps."""
        for _ in range(steps):
            self.play()
        self.bus.alive()


def _fields(stamp: Any) -> dict[str, Any]:
    return {name: getattr(stamp, name) for name in stamp.__struct_fields__}


@pytest.fixture(scope="session")
def config() -> Iterator[StationConfig]:
    """The config of the table, whose name leaves room in a socket's path."""
    with tempfile.TemporaryDirectory(prefix="floor-", dir="/tmp") as folder:
        yield write_config(Path(folder) / "t")


@pytest.fixture
def table(config: StationConfig, context: zmq.Context[Any]) -> Iterator[PlayedTable]:
    with running_bus(config.endpoints, context) as bus:
        yield PlayedTable(bus, config)


@pytest.fixture
def server(directory: Path) -> Iterator[NatsServer]:
    made = NatsServer(directory / "nats")
    yield made
    made.kill()


@pytest.fixture
def bridged(directory: Path, server: NatsServer, table: PlayedTable) -> Iterator[Callable[..., Bridge]]:
    """Return a way to begin bridges, which end with the test."""
    begun: list[Bridge] = []

    def begin(*more: str) -> Bridge:
        log = directory / f"bridge{len(begun)}.log"
        begun.append(Bridge(table.config.path, server.url, log, *more))
        return begun[-1]

    yield begin
    for bridge in begun:
        bridge.kill()
