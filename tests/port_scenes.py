"""What the tests of a port share: clocks, a listener that notes everything, a port that runs."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable

from drivers.contract import Clock, SerialSettings
from drivers.port import Port
from drivers.pty import PtyDevice

AT_ONCE = SerialSettings(settle_ms=0)


class WallClock:
    """The present of this machine."""

    def now_us(self) -> int:
        return time.monotonic_ns() // 1000

    async def sleep_until(self, at_us: int) -> None:
        await asyncio.sleep(max(0, at_us - self.now_us()) / 1e6)


class JumpingClock:
    """A clock that a simulation owns: every sleep is over at once, and is noted."""

    def __init__(self) -> None:
        self.present_us = 0
        self.sleeps_us: list[int] = []

    def now_us(self) -> int:
        self.present_us += 1
        return self.present_us

    async def sleep_until(self, at_us: int) -> None:
        self.sleeps_us.append(at_us - self.present_us)
        self.present_us = max(self.present_us, at_us)
        await asyncio.sleep(0)


class HeldClock(JumpingClock):
    """A clock that stands still until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.released = asyncio.Event()

    async def sleep_until(self, at_us: int) -> None:
        self.sleeps_us.append(at_us - self.present_us)
        await self.released.wait()


class Notes:
    """A listener that writes everything down, in order."""

    def __init__(self) -> None:
        self.all: list[tuple[str, str | bytes]] = []
        self.identities: list[str | None] = []

    def opened(self, device: str, identity: str | None) -> None:
        self.all.append(("opened", device))
        self.identities.append(identity)

    def chunk(self, data: bytes) -> None:
        self.all.append(("chunk", data))

    def stale(self, data: bytes) -> None:
        self.all.append(("stale", data))

    def lost(self, reason: str) -> None:
        self.all.append(("lost", reason))

    def of(self, kind: str) -> list[str]:
        return [str(what) for name, what in self.all if name == kind]

    def data(self, kind: str) -> bytes:
        return b"".join(what for name, what in self.all if name == kind and isinstance(what, bytes))


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110  # Conditions of every kind, some the kernel's.
            await asyncio.sleep(0.002)


@contextlib.asynccontextmanager
async def running(port: Port) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(port.run())
    try:
        yield task
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def choose(way: str) -> None:
    if way == "thread":

        def add_reader(*_: object) -> None:
            raise NotImplementedError

        asyncio.get_running_loop().add_reader = add_reader  # type: ignore[method-assign, assignment]


def make_port(
    device: PtyDevice, notes: Notes, settings: SerialSettings = AT_ONCE, clock: Clock | None = None
) -> Port:
    return Port("shoe", device.link, settings=settings, listener=notes, clock=clock or WallClock())
