"""What a scrape of the metrics finds at a station."""

from __future__ import annotations

from typing import Protocol

from controller.bus.publisher import Publisher
from controller.station.badge_readers import BadgeReaders
from controller.station.config import StationConfig
from controller.station.kernel import Kernel
from controller.station.metrics import Reading
from controller.station.tower_lights import TowerLights
from controller.table.picture import draw


class Scraped(Protocol):
    """What a scrape needs of the station."""

    config: StationConfig
    kernel: Kernel
    badges: BadgeReaders
    lights: TowerLights
    alive_at_us: int

    @property
    def waiting_count(self) -> int: ...
    @property
    def feeds(self) -> object: ...


def reading_of(station: Scraped) -> Reading:
    """Read the station as it stands."""
    state = station.kernel.table.state
    scanners = {name: name in state.scanners_up for name in station.config.scanners}
    badges = {f"badge reader {name}": one.port.is_ready for name, one in station.badges.readers.items()}
    lights = {f"light {name}": port.is_ready for name, port in station.lights.ports.items()}
    feeds = station.feeds
    return Reading(
        picture=draw(state),
        queue_depth=station.waiting_count,
        links=scanners | badges | lights,
        full_counts=feeds.full_counts if isinstance(feeds, Publisher) else {},
        alive_at_us=station.alive_at_us,
    )
