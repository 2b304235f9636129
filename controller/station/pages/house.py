"""What the pages need of the station they belong to; the station is one such house."""

from __future__ import annotations

from typing import Protocol

from controller.bus.commands import Reply
from controller.bus.wire import CommandRequest
from controller.station.config import StationConfig
from controller.table.state import TableState
from drivers.contract import Clock


class House(Protocol):
    """The table behind the pages. `submit` is the one way in, that of the commands on the bus."""

    config: StationConfig
    clock: Clock

    @property
    def table_state(self) -> TableState: ...
    def submit(self, endpoint: str, request: CommandRequest, reply: Reply) -> bool: ...
