"""A real nats-server and a real bridge, processes to be stopped and killed, and what a stream holds."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec
import nats
from nats.js import JetStreamContext
from nats.js.errors import NotFoundError

from controller.bus.envelope import decode
from controller.floor.streams import settings, stream_name
from controller.table.events import Audience

T = TypeVar("T")
WAIT_S = 30.0
START_TRIES = 1_000


class Stored(msgspec.Struct, frozen=True):
    """One message of a stream."""

    sequence: int
    subject: str
    id: str
    raw: bytes


class Process:
    """A child that can be ended and begun again."""

    def __init__(self, words: list[str], log: Path) -> None:
        self.words = words
        self.log = log
        self.begin()

    def begin(self) -> None:
        """Begin."""
        with self.log.open("ab") as log:
            self.child = subprocess.Popen(self.words, stdout=log, stderr=log)

    def kill(self) -> None:
        """End it as a power cut would."""
        self.child.kill()
        self.child.wait()

    def end(self) -> int:
        """Ask it to end; returns its exit code."""
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGTERM)
        return self.wait()

    def wait(self) -> int:
        """Wait until it ends by itself; returns its exit code."""
        return self.child.wait(WAIT_S)

    def said(self, text: str) -> int:
        """How often the log has `text`."""
        return self.log.read_text().count(text)


class NatsServer(Process):
    """A server on a free loopback port, with its own store. `lines` are of its config."""

    def __init__(self, folder: Path, lines: str = "jetstream { store_dir: STORE }") -> None:
        folder.mkdir()
        self.program = shutil.which("nats-server", path=os.environ.get("PATH", "") + ":/usr/sbin")
        assert self.program is not None, "nats-server is missing: apt-get install nats-server"
        self.store = folder / "store"
        self.lines = lines
        self.config, self.ports, self.port = folder / "nats.conf", folder / "ports", -1
        self.ports.mkdir()
        super().__init__([self.program, "-c", str(self.config)], folder / "log")

    def begin(self) -> None:
        """Begin, and wait until it listens; from the second time on the same port."""
        for file in self.ports.iterdir():
            file.unlink()
        where = f'listen: "127.0.0.1:{self.port}"\nports_file_dir: "{self.ports}"\n'
        self.config.write_text(where + self.lines.replace("STORE", f'"{self.store}"'))
        super().begin()
        for _ in range(START_TRIES):
            found = [file.read_bytes() for file in self.ports.iterdir()]
            if found and found[0]:
                [self.url] = msgspec.json.decode(found[0])["nats"]
                self.port = int(self.url.rsplit(":", 1)[1])
                return
            time.sleep(0.01)
        raise AssertionError(f"nats-server does not start: {self.log.read_text()}")

    def ask(self, question: Callable[[JetStreamContext], Awaitable[T]]) -> T:
        """Put a question to JetStream."""

        async def asked() -> T:
            client = await nats.connect(self.url, allow_reconnect=False)
            try:
                return await question(client.jetstream())
            finally:
                await client.close()

        return asyncio.run(asked())

    def has(self, name: str) -> bool:
        """Whether a stream is there."""

        async def known(jetstream: JetStreamContext) -> bool:
            return name in [info.config.name for info in await jetstream.streams_info()]

        return self.ask(known)

    def fill(self, table: str, audience: Audience, rows: Iterable[bytes]) -> None:
        """Put messages into a stream, which is made when it is missing."""

        async def filled(jetstream: JetStreamContext) -> None:
            if stream_name(table, audience) not in [
                one.config.name for one in await jetstream.streams_info()
            ]:
                await jetstream.add_stream(settings(table, audience))
            for raw in rows:
                family = decode(raw).type.removeprefix("tablectl.").removesuffix(".v1")
                await jetstream.publish(f"tables.{table}.{audience}.{family}", raw)

        self.ask(filled)

    def count(self, name: str) -> int:
        """How many messages a stream holds; none before it is made."""

        async def counted(jetstream: JetStreamContext) -> int:
            try:
                return (await jetstream.stream_info(name)).state.messages
            except NotFoundError:
                return 0

        return self.ask(counted)

    def stored(self, name: str) -> list[Stored]:
        """Everything that a stream holds, in order."""

        async def read(jetstream: JetStreamContext) -> list[Stored]:
            state = (await jetstream.stream_info(name)).state
            found = [await jetstream.get_msg(name, seq) for seq in range(state.first_seq, state.last_seq + 1)]
            return [
                Stored(one.seq or 0, one.subject or "", (one.headers or {})["Nats-Msg-Id"], one.data or b"")
                for one in found
            ]

        return self.ask(read)


@contextmanager
def started(directory: Path, lines: str) -> Iterator[NatsServer]:
    """Give a server that is set up in another way."""
    server = NatsServer(directory / "other", lines)
    try:
        yield server
    finally:
        server.kill()


class Bridge(Process):
    """`tablectl bridge nats`."""

    def __init__(self, config: Path, url: str, log: Path, *more: str) -> None:
        words = ["-m", "controller.cli", "bridge", "nats", str(config), "--server", url, *more]
        super().__init__([sys.executable, *words], log)


def until(holds: Callable[[], bool], meanwhile: Callable[[], object] = lambda: time.sleep(0.02)) -> None:
    """Wait until something holds, doing something else `meanwhile`."""
    deadline = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < deadline, "waited too long"
        meanwhile()
