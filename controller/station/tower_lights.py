"""Tower lights: green, go on; yellow, people are asked for something unusual; red, the table stands still.

An output and nothing else: what a light does not take is gone, and no light ever holds up the table.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from controller.station.device_config import LightConfig
from controller.table.charts import IncidentState, Phase
from controller.table.picture import Picture
from drivers.contract import Clock
from drivers.port import Port
from drivers.tower_light import Light, Mode, encode

STANDS = frozenset({IncidentState.SUPERVISOR, IncidentState.ENTRY, IncidentState.LOST})
STANDING_PROMPTS = frozenset({"UNBLOCK", "OTHER_SCANNER", "FREE_DISK", "SUPERVISOR_VERIFIES"})
UNUSUAL_PROMPTS = frozenset({"LOG_IN", "PAUSED", "WAIT_FOR_CONSUMERS"})

log = logging.getLogger("station")


def light_of(picture: Picture) -> Light:
    """Return what a light shows over this picture; dark over a closed table. Red blinks for a second call."""
    state, code = picture.incident_state, picture.prompt.code
    if picture.phase is Phase.CLOSED:
        return Light()
    if state in STANDS or code in STANDING_PROMPTS or picture.scanners_down:
        return Light(red=Mode.BLINK if picture.escalated else Mode.ON)
    if state is not None or code in UNUSUAL_PROMPTS:
        return Light(yellow=Mode.ON)
    return Light(green=Mode.ON)


class TowerLight:
    """One light and its port."""

    def __init__(self, name: str, config: LightConfig, clock: Clock) -> None:
        self._name = name
        self._shows: Light | None = None
        self.port = Port(name, config.port, settings=config.line, listener=self, clock=clock)

    def show(self, light: Light) -> None:
        """Show `light`, or remember it until the light is there."""
        if light != self._shows:
            self._shows = light
            self.port.write(encode(light))

    def opened(self, device: str, identity: str | None) -> None:
        """The light is there (again), and knows nothing."""
        facts = {"light": self._name, "device": device, "identity": identity}
        log.info("light open", extra={"facts": facts})
        if self._shows is not None:
            self.port.write(encode(self._shows))

    def chunk(self, data: bytes) -> None:
        """A light has nothing to say."""

    def stale(self, data: bytes) -> None:
        """A light has nothing to say."""

    def lost(self, reason: str) -> None:
        """The light is gone; the table goes on."""
        log.warning("light lost", extra={"facts": {"light": self._name, "reason": reason}})


class TowerLights:
    """All lights of a table; they show the same."""

    def __init__(self, lights: Mapping[str, LightConfig], clock: Clock) -> None:
        self._lights = {name: TowerLight(name, config, clock) for name, config in lights.items()}

    @property
    def ports(self) -> Mapping[str, Port]:
        """The ports to keep open."""
        return {name: light.port for name, light in self._lights.items()}

    def show(self, picture: Picture) -> None:
        """Show what this picture means."""
        for light in self._lights.values():
            light.show(light_of(picture))
