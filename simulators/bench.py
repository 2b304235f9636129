"""The devices of a simulated table, and what is on its way between them and the host.

One thing happens at a time: the host's bytes are heard before a device says more, and a device acts by
itself when nothing is on its way. So every link gives a device the same life.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from controller.station.device_config import ScannerConfig
from simulators.actor import Disturb, Scan
from simulators.devices.families import DEVICES

Send = Callable[[str, bytes], Awaitable[None]]


class Bench:
    """Devices by name. Links bring them acts, time and the host's bytes, and take away what they send."""

    def __init__(self, scanners: Mapping[str, ScannerConfig]) -> None:
        self._from_devices: deque[tuple[str, bytes]] = deque()
        self._from_host: deque[tuple[str, bytes]] = deque()
        self._devices = {
            name: DEVICES[scanner.family](partial(self._sent, name), scanner.options)
            for name, scanner in scanners.items()
        }

    def _sent(self, name: str, data: bytes) -> None:
        if data:
            self._from_devices.append((name, data))

    def do(self, act: Scan | Disturb, at_us: int) -> None:
        """Let a card pass a device, or something happen to it."""
        match act:
            case Scan(device=name, code=code, mishap=mishap):
                self._devices[name].scan(code, mishap, at_us)
            case Disturb(device=name, mishap=mishap):
                self._devices[name].disturb(mishap, at_us)

    def hear(self, name: str, data: bytes) -> None:
        """Note what the host has sent; the next `exchange` brings it to the device."""
        if data:
            self._from_host.append((name, data))

    async def exchange(self, send: Send, at_us: int) -> bool:
        """Let one thing happen that is due at `at_us`; False when there is none."""
        if self._from_host:
            name, data = self._from_host.popleft()
            self._devices[name].hear(data, at_us)
        elif self._from_devices:
            await send(*self._from_devices.popleft())
        else:
            due_us, name = min(self._due(), default=(None, ""))
            if due_us is None or due_us > at_us:
                return False
            self._devices[name].tick(at_us)
        return True

    def next_due_us(self) -> int | None:
        """Return when a device wants to act by itself next."""
        return min((at for at, _ in self._due()), default=None)

    def _due(self) -> list[tuple[int, str]]:
        devices = self._devices.items()
        return [(at, name) for name, one in devices if (at := one.next_deadline_us()) is not None]


def earliest(*times_us: int | None) -> int | None:
    """Return the earliest of times of which some may be none."""
    return min((at for at in times_us if at is not None), default=None)
