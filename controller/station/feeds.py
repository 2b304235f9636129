"""The live feeds of a station: where what is durable leaves the process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import zmq

from controller.bus.publisher import Publisher, Pulse
from controller.station.config import StationConfig
from controller.station.kernel import Kernel
from controller.table.events import Audience


class Feeds(Protocol):
    """Where finished messages and pictures go."""

    @property
    def sockets(self) -> Mapping[str, zmq.Socket[Any]]: ...
    def publish(self, messages: Mapping[Audience, Sequence[bytes]]) -> None: ...
    def picture(self, raw: bytes) -> None: ...
    def alive(self, pulse: Pulse) -> None: ...
    def close(self) -> None: ...


OpenFeeds = Callable[[StationConfig, Kernel], Feeds]


def open_publisher(config: StationConfig, kernel: Kernel) -> Publisher:
    """Bind the live feeds of the table."""
    return Publisher(
        config.endpoints,
        source=(config.settings.table, config.environment),
        heads=kernel.envelopes.heads(),
    )
