"""A subscriber that joins late, is stopped or is cut off ends with every byte of the outbox, in order.

The daemon runs in a process of its own with real ptys and sockets while a simulated studio plays; the
subscribers are processes too. In each case messages were really lost on the live feed.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest
from e2e.subscriber import AT_SNAPSHOT, FROM_ONE, Report
from e2e.taped import START_US, write_config

from controller.bus.client import CommandClient
from controller.bus.snapshot import Snapshot, fold
from controller.journal import Days
from controller.station.config import StationConfig
from controller.table import inputs as i
from controller.table.events import Audience
from simulators.actor import Feed
from simulators.faults.catalogue import Amount, Plan
from simulators.links import FastLinks, LiveLinks
from simulators.studio import Studio
from simulators.world import World

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
STOPPED_S = 30.0 if SOAK else 2.0
BURST = 10_000 if SOAK else 3_000
"""Messages that are published, at least, while a subscriber is stopped or cut off. SNDHWM and the buffers of
the system keep up to 2,500 of them for one that is stopped."""
WAIT_S = 120.0
SEED = 5
WITHOUT_END = 1_000_000_000
GENESIS = "0" * 64
AUDIT = Audience.AUDIT
SUBSCRIBER = Path(__file__).with_name("subscriber.py")
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(str(Path(__file__).parents[up]) for up in (1, 2))}


class Consumer:
    """A subscriber process."""

    def __init__(self, config: StationConfig, out: Path, *, join: str = FROM_ONE, limit: int = 10) -> None:
        self.out = out
        words = [str(config.path), AUDIT.value, str(out), join, str(limit)]
        self.child = subprocess.Popen([sys.executable, str(SUBSCRIBER), *words], env=ENVIRONMENT)

    def is_ready(self) -> bool:
        """Whether it has heard a message live."""
        assert self.child.poll() is None, "the subscriber has ended"
        return self.out.with_suffix(".ready").exists()

    def tell_last(self, seq: int) -> None:
        """Let it end when it has this message."""
        self.out.with_suffix(".until").write_text(str(seq))

    def is_over(self) -> bool:
        """Whether it has ended well."""
        if self.child.poll() is None:
            return False
        assert self.child.returncode == 0
        return True

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self.child.send_signal(number)

    @property
    def report(self) -> Report:
        """What it says of itself."""
        return msgspec.json.decode(self.out.with_suffix(".report").read_bytes(), type=Report)

    @property
    def messages(self) -> list[bytes]:
        """What it has got, in order."""
        return self.out.read_bytes().splitlines()

    def end(self) -> None:
        """Make sure that it is gone."""
        if self.child.poll() is None:
            self.child.kill()
            self.child.wait()


async def until(holds: Callable[[], bool], *, wait_s: float = WAIT_S) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(wait_s):
        while not holds():  # noqa: ASYNC110 - what is waited for happens in other processes
            await asyncio.sleep(0.02)


def outbox(config: StationConfig) -> list[bytes]:
    """Return every audit message of the journal."""
    return [raw for _, raw in Days(config.table_dir).messages(AUDIT, 1, 1_000_000)]


def assert_chain(messages: list[bytes]) -> None:
    """Fail unless numbers and hashes run from 1 without a gap."""
    before = GENESIS
    for seq, raw in enumerate(messages, 1):
        message = json.loads(raw)
        assert (message["seq"], message["prevhash"]) == (seq, before)
        before = sha256(raw).hexdigest()


# A studio that plays fast, and four subscribers.


class CountingLinks(FastLinks):
    """Fast links that count what is published to the audit feed."""

    published = 0

    def heard(self, feed: Feed, raw: bytes) -> None:
        """Count, and deliver."""
        self.published += feed is Feed.AUDIT
        super().heard(feed, raw)


class Session:
    """What is left of the play: who has listened how, and the outbox."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config = write_config(folder / "t")
        self.consumers: dict[str, Consumer] = {}
        self.studio = Studio(self.config, seed=SEED, rounds=WITHOUT_END, plan=Plan(SEED, Amount.SOME))
        self.link = CountingLinks(self.config, START_US)
        self.joined_in = ""
        self.outbox: list[bytes] = []

    def join(self, name: str, *, how: str = FROM_ONE, limit: int = 10) -> Consumer:
        """Let a subscriber begin."""
        consumer = Consumer(self.config, self.folder / f"{name}.messages", join=how, limit=limit)
        self.consumers[name] = consumer
        return consumer

    def published(self) -> int:
        """The number of the last audit message."""
        return self.link.published

    def all(self, holds: Callable[[Consumer], bool]) -> bool:
        """Whether something holds for every subscriber."""
        return all(holds(consumer) for consumer in self.consumers.values())

    async def play(self) -> None:
        """Play until every subscriber has everything."""
        finished = asyncio.Event()
        world = World(self.link, self.studio.actors, is_done=finished.is_set)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(world.run())
            try:
                await self.disturb()
                await self.come_to_rest()
            finally:
                finished.set()
                for consumer in self.consumers.values():
                    consumer.end()
        self.outbox = outbox(self.config)

    async def disturb(self) -> None:
        """Stop one, cut off another, and let two join when a round is under way."""
        stopped, cut_off = self.join("stopped"), self.join("cut off")
        await until(lambda: self.all(Consumer.is_ready))
        stopped.signal(signal.SIGSTOP)
        cut_off.signal(signal.SIGUSR1)
        before, began = self.published(), time.monotonic()
        await until(lambda: self.published() > before + BURST and time.monotonic() > began + STOPPED_S)
        await until(self._in_the_middle_of_a_round)
        self.join("late")
        self.join("late, at the snapshot", how=AT_SNAPSHOT, limit=10_000)
        stopped.signal(signal.SIGCONT)
        cut_off.signal(signal.SIGUSR2)
        await until(lambda: self.all(Consumer.is_ready))
        after = self.published()
        await until(lambda: self.published() > after + 200)

    def _in_the_middle_of_a_round(self) -> bool:
        picture = self.studio.dealer.picture
        return picture is not None and picture.phase == "dealing"

    async def come_to_rest(self) -> None:
        """Let the last round end, and everybody take what there is."""
        dealer = self.studio.dealer
        assert dealer.picture is not None
        dealer.rounds = dealer.picture.round_no + 1  # The one that may be opening at this very moment.
        await until(dealer.is_done)
        for consumer in self.consumers.values():
            consumer.tell_last(self.published())
        await until(lambda: self.all(Consumer.is_over))


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """The play, once for all tests."""
    session = Session(tmp_path_factory.mktemp("subscribers"))
    asyncio.run(session.play())
    return session


FROM_THE_FIRST = ("stopped", "cut off", "late")


@pytest.mark.parametrize("name", FROM_THE_FIRST)
def test_every_subscriber_ends_with_the_bytes_of_the_outbox(session: Session, name: str) -> None:
    got = session.consumers[name].messages
    assert got == session.outbox
    assert_chain(got)


@pytest.mark.parametrize("name", ["stopped", "cut off"])
def test_the_gap_was_real(session: Session, name: str) -> None:
    report = session.consumers[name].report
    assert len(report.lost) > BURST // 10, "the live feed has brought it all"
    assert report.refused == 0


def test_the_late_ones_joined_after_thousands_of_messages_in_the_middle_of_a_round(session: Session) -> None:
    for name in ("late", "late, at the snapshot"):
        report = session.consumers[name].report
        assert report.first_live > BURST
    first = json.loads(session.outbox[session.consumers["late"].report.first_live - 1])
    assert first["epoch"] == 1
    snapshot = session.consumers["late, at the snapshot"].report.snapshot
    assert snapshot is not None and snapshot.seq > BURST


def test_a_snapshot_and_what_follows_it_are_the_outbox(session: Session) -> None:
    consumer = session.consumers["late, at the snapshot"]
    joined = consumer.report.snapshot
    assert joined is not None
    assert consumer.messages == session.outbox[joined.seq :]
    start = Snapshot(table=session.config.settings.table, audience=AUDIT)
    assert fold(start, session.outbox[: joined.seq]) == joined


# `tablectl run` with a live clock: a subscriber that is stopped does not hold up the end.

FLOOD = 1_500
END_S = 2.0


def flood(config: StationConfig) -> None:
    """Send presses that the table refuses, and so publishes, as fast as it takes them."""
    client = CommandClient(config.endpoints.operator, "boris")
    try:
        for _ in range(FLOOD):
            assert not client.send(i.GoOn(), round_no=0).accepted
    finally:
        client.close()


async def live_until_sigterm(config: StationConfig, then: Callable[[], None]) -> float:
    """Play with a live clock while `then` runs, then SIGTERM; returns how long the daemon took to end."""
    studio = Studio(config, seed=SEED, rounds=WITHOUT_END, plan=Plan(SEED, Amount.NONE))
    link = LiveLinks(config)
    playing = asyncio.create_task(World(link, studio.actors, is_done=lambda: False).run())
    try:
        await until(lambda: studio.dealer.picture is not None or playing.done())
        assert not playing.done(), playing.exception()
        await asyncio.to_thread(then)
        assert link.child is not None
        began = time.monotonic()
        link.child.send_signal(signal.SIGTERM)
        assert await link.child.wait() == 0
        return time.monotonic() - began
    finally:
        playing.cancel()
        with contextlib.suppress(asyncio.CancelledError, RuntimeError):
            await playing


def test_sigterm_ends_the_daemon_while_a_subscriber_is_stopped_and_its_next_life_serves_it(
    tmp_path: Path,
) -> None:
    config = write_config(tmp_path / "t")
    consumer = Consumer(config, tmp_path / "stopped.messages")

    def stop_it_and_go_on() -> None:
        while not consumer.is_ready():
            time.sleep(0.02)
        consumer.signal(signal.SIGSTOP)
        flood(config)

    def let_it_go_on() -> None:
        consumer.signal(signal.SIGCONT)
        consumer.tell_last(len(outbox(config)))
        consumer.child.wait(WAIT_S)

    try:
        took_s = asyncio.run(live_until_sigterm(config, stop_it_and_go_on))
        assert took_s < END_S
        assert len(outbox(config)) > FLOOD
        took_s = asyncio.run(live_until_sigterm(config, let_it_go_on))
        assert took_s < END_S
    finally:
        consumer.end()
    assert consumer.is_over()
    got, kept = consumer.messages, outbox(config)
    assert len(got) > FLOOD and got == kept[: len(got)]
    assert_chain(got)
    assert {json.loads(raw)["epoch"] for raw in got} == {1, 2}
    assert consumer.report.lost
