"""Fixtures of the bus: a short socket directory, and a table whose bus really runs."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import zmq
from bus.streams import TABLE, MemoryOutbox, Step, envelopes

from controller.bus.client import Feed
from controller.bus.endpoints import Endpoints
from controller.bus.envelope import Environment
from controller.bus.publisher import Publisher, Pulse
from controller.bus.replay_server import ReplayServer
from controller.table.events import Audience


@pytest.fixture
def directory() -> Iterator[Path]:
    """A directory whose name leaves room in a socket's path."""
    path = Path(tempfile.mkdtemp(prefix="bus-", dir="/tmp"))
    yield path
    shutil.rmtree(path)


@pytest.fixture
def context() -> Iterator[zmq.Context[zmq.Socket[bytes]]]:
    """A context of this test alone."""
    made = zmq.Context[zmq.Socket[bytes]]()
    yield made
    made.destroy(linger=0)


@contextmanager
def on_a_loop(service: Callable[[], Coroutine[Any, Any, None]]) -> Iterator[None]:
    """Run a coroutine that never returns on a loop of its own thread; its fault fails the test."""
    ready, faults = threading.Event(), list[BaseException]()
    stop: list[Callable[[], object]] = []

    async def main() -> None:
        loop, task = asyncio.get_running_loop(), asyncio.create_task(service())
        stop.append(lambda: loop.call_soon_threadsafe(task.cancel))
        ready.set()
        try:
            await task
        except asyncio.CancelledError:
            pass
        except BaseException as fault:
            faults.append(fault)

    thread = threading.Thread(target=lambda: asyncio.run(main()))
    thread.start()
    assert ready.wait(5)
    try:
        yield
    finally:
        stop[0]()
        thread.join(5)
    assert not thread.is_alive()
    assert not faults, faults


class RunningBus:
    """One table's bus: what is stepped is stored, then sent, and can be replayed."""

    def __init__(self, endpoints: Endpoints, context: zmq.Context[Any], send_limit: int) -> None:
        self.endpoints = endpoints
        self.context = context
        self.send_limit = send_limit
        self.envelopes = envelopes()
        self.outbox = MemoryOutbox()
        self.epoch = 1
        self.publisher = self._publisher()

    def _publisher(self) -> Publisher:
        return Publisher(
            self.endpoints,
            source=(TABLE, Environment.SIMULATED),
            heads=self.envelopes.heads(),
            send_limit=self.send_limit,
            context=self.context,
        )

    def step(self, step: Step, *, send: bool = True) -> None:
        messages = self.envelopes.build(*step)
        self.outbox.add(messages)
        if send:
            self.publisher.publish(messages)

    def alive(self) -> None:
        self.publisher.alive(Pulse(at_us=1, epoch=self.epoch, phase="dealing"))

    def restart(self) -> None:
        """Go on as a new process would: the same names, the next epoch, nothing old sent again."""
        self.publisher.close()
        self.epoch += 1
        self.publisher = self._publisher()

    def feed(self, audience: Audience, **changes: Any) -> Feed:
        feed = Feed.of(self.endpoints, TABLE, audience=audience, environment=Environment.SIMULATED)
        return Feed(**{**{name: getattr(feed, name) for name in feed.__struct_fields__}, **changes})


@contextmanager
def running_bus(
    endpoints: Endpoints, context: zmq.Context[Any], send_limit: int = 1_000
) -> Iterator[RunningBus]:
    bus = RunningBus(endpoints, context, send_limit)

    async def replay() -> None:
        server = ReplayServer(endpoints, bus.outbox, table=TABLE, context=context)
        try:
            await server.run()
        finally:
            server.close()

    try:
        with on_a_loop(replay):
            yield bus
    finally:
        bus.publisher.close()
