"""How the consumers of the simulated studio acknowledge: by a press on the table's `consumer` endpoint."""

from __future__ import annotations

from controller.bus.acknowledging import request_of
from controller.station.config import StationConfig
from controller.table.inputs import Acknowledge
from simulators.actor import Planned, Press


def acknowledged(actor: str, ending: Acknowledge | None, now_us: int) -> list[Planned]:
    """Plan the acknowledgement of an end of a round; nothing where there is none."""
    if ending is None:
        return []
    return [Planned(now_us, Press("consumer", actor, 0, ending, request_of(ending)))]


def is_registered(config: StationConfig, name: str) -> bool:
    """Return whether the table waits for acknowledgements of that name."""
    return any(one.name == name for one in config.settings.consumers)
