"""A tower light under `tablectl doctor`: set to its states one after another, for a person to look at."""

from __future__ import annotations

import asyncio
import contextlib

from controller.station.clock import LiveClock
from controller.station.device_config import LightConfig
from controller.station.doctor import Finding, Say, found, line_settings, port_signs
from controller.station.listening import interrupts
from drivers.port import Port
from drivers.tower_light import Light, Mode, encode

STATES = (
    (Light(green=Mode.ON), "green alone, as while the deal goes on"),
    (Light(yellow=Mode.ON), "yellow alone, as when people are asked for something"),
    (Light(red=Mode.ON), "red alone, as while the table stands still"),
    (Light(red=Mode.BLINK), "red alone and blinking, as at the second call of a supervisor"),
)
DARK = Light()


class LightExamination:
    """One light under examination; a listener of its port. A light says nothing, so that people look."""

    def __init__(self, name: str, light: LightConfig, say: Say) -> None:
        self.name = name
        self.light = light
        self._say = say
        self._port = Port(name, light.port, settings=light.line, listener=self, clock=LiveClock())
        self._known = asyncio.Event()
        """The port is open, or it is known why not."""
        self._refused: str | None = None
        self._heard_count = 0

    async def run(self, seconds: int) -> list[Finding]:
        """Go through the states in `seconds`, and leave the light dark; returns what was found."""
        self._say(f"{self.name}: {self.light.family} at {self.light.port}")
        for text in line_settings(self.light):
            self._say(f"  {text}")
        signs = list(port_signs(self.light.port))
        if not signs:
            await self._examine(seconds)
            signs = list(self._signs())
        return found(self.name, signs, self._say)

    async def _examine(self, seconds: int) -> None:
        running = asyncio.create_task(self._port.run())
        try:
            with interrupts() as interrupted:
                await self._known.wait()
                for light, text in STATES:
                    if self._refused is None and not interrupted.is_set():
                        self._show(light, text)
                        with contextlib.suppress(TimeoutError):
                            await asyncio.wait_for(interrupted.wait(), seconds / len(STATES))
        finally:
            if self._refused is None:
                self._show(DARK, "dark: a table that runs sets it anew")
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running

    def _show(self, light: Light, text: str) -> None:
        sent = encode(light)
        if self._port.write(sent):
            self._say(f"  {sent.hex(' ')}  look: {text}")

    def _signs(self) -> list[str]:
        signs = [] if self._refused is None else [self._refused]
        if self._heard_count:
            signs.append(
                f"{self._heard_count} bytes came in, and a tower light sends none: another device is at "
                f"{self.light.port}, or the adapter echoes; correct the port"
            )
        return signs

    # What the port tells.

    def opened(self, device: str, identity: str | None) -> None:
        """The port is open: the light is set now."""
        self._say(f"  open: {device if identity is None else f'{device} is {identity}'}. Look at it now")
        self._known.set()

    def chunk(self, data: bytes) -> None:
        """Count what no light sends."""
        self._heard_count += len(data)

    def stale(self, data: bytes) -> None:
        """Count what no light sends."""
        self._heard_count += len(data)

    def lost(self, reason: str) -> None:
        """The port does not open, or went away."""
        self._refused = reason
        self._known.set()
