"""Subscriptions over real sockets: whatever is lost, the consumer ends with the outbox, byte for byte."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zmq
from bus.conftest import RunningBus, running_bus
from bus.streams import TABLE, cancelled_round, check_chain, normal_round

from controller.bus import gap_keeper
from controller.bus.client import AsyncSubscription, Cursor, Feed, Subscription
from controller.bus.endpoints import Endpoints
from controller.bus.envelope import Environment, message_hash
from controller.bus.errors import EndpointRefused, ForeignSource
from controller.bus.snapshot import Snapshot, fold
from controller.table.events import AUDIENCES, Audience


@pytest.fixture
def bus(directory: Path, context: zmq.Context[Any]) -> Iterator[RunningBus]:
    with running_bus(Endpoints.ipc(directory, TABLE), context) as made:
        yield made


def take(table: Subscription, bus: RunningBus, audience: Audience) -> list[bytes]:
    """Take everything up to the table's last message, with `alive` as a running table sends it."""
    got: list[bytes] = []
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        bus.alive()
        while (delivery := table.next(20)) is not None:
            assert delivery.cursor == Cursor(delivery.envelope.seq, message_hash(delivery.raw))
            got.append(delivery.raw)
        if not table.behind() and table.keeper.cursor is not None:
            cursor = table.keeper.cursor
            if cursor.seq == bus.outbox.last_seq(audience) and not table.stale():
                return got
    raise AssertionError(f"never caught up, {len(got)} messages")


@pytest.mark.parametrize("audience", AUDIENCES)
def test_a_subscriber_from_the_beginning_gets_the_outbox(bus: RunningBus, audience: Audience) -> None:
    with Subscription(bus.feed(audience), cursor=Cursor(), context=bus.context) as table:
        got: list[bytes] = []
        for step in [*normal_round(1), *cancelled_round(2)]:
            bus.step(step)
            got += [delivery.raw for delivery in iter(lambda: table.next(1), None)]
        got += take(table, bus, audience)
    assert got == bus.outbox.rows[audience]
    check_chain(got)


def test_a_late_joiner_in_the_middle_of_a_round_joins_at_the_snapshot(bus: RunningBus) -> None:
    steps = list(normal_round(1))
    for step in steps[:6]:
        bus.step(step)
    with Subscription(bus.feed(Audience.PUBLIC), context=bus.context) as table:
        for step in steps[6:9]:
            bus.step(step)
        got = take(table, bus, Audience.PUBLIC)
        for step in steps[9:]:
            bus.step(step)
        got += take(table, bus, Audience.PUBLIC)
        joined = table.snapshot
    rows = bus.outbox.rows[Audience.PUBLIC]
    assert joined is not None
    assert joined == fold(Snapshot(table=TABLE, audience=Audience.PUBLIC), rows[: joined.seq])
    assert 0 < joined.seq < len(rows)
    assert got == rows[joined.seq :]
    check_chain([*rows[: joined.seq], *got])


def test_a_restarted_consumer_goes_on_after_its_stored_cursor(bus: RunningBus) -> None:
    for step in normal_round(1):
        bus.step(step)
    rows = bus.outbox.rows[Audience.SETTLEMENT]
    stored = Cursor(2, message_hash(rows[1]))
    with Subscription(bus.feed(Audience.SETTLEMENT), cursor=stored, context=bus.context) as table:
        assert take(table, bus, Audience.SETTLEMENT) == rows[2:]


def burst(bus: RunningBus, rounds: range) -> None:
    for round_no in rounds:
        for step in normal_round(round_no):
            bus.step(step)


def test_a_stopped_subscriber_loses_messages_and_gets_every_one(
    directory: Path, context: zmq.Context[Any]
) -> None:
    """The gap is made: sockets that hold almost nothing, a burst, and a reader that stands still."""
    with running_bus(Endpoints.ipc(directory, TABLE), context, send_limit=5) as bus:
        feed = bus.feed(Audience.BETTING, receive_limit=5)
        with Subscription(feed, cursor=Cursor(), context=context) as table:
            bus.step(next(normal_round(1)))
            got = take(table, bus, Audience.BETTING)
            burst(bus, range(2, 80))
            got += take(table, bus, Audience.BETTING)
            assert table.keeper.gaps > 0
    assert len(got) > 1_500
    assert got == bus.outbox.rows[Audience.BETTING]
    check_chain(got)


def test_a_cut_off_subscriber_fetches_what_it_missed(bus: RunningBus) -> None:
    feed = bus.feed(Audience.AUDIT)
    with Subscription(feed, cursor=Cursor(), context=bus.context) as table:
        burst(bus, range(1, 3))
        got = take(table, bus, Audience.AUDIT)
        table._live.disconnect(feed.live)
        burst(bus, range(3, 6))
        assert table.next(50) is None
        table._live.connect(feed.live)
        got += take(table, bus, Audience.AUDIT)
        assert table.keeper.gaps == 1
    assert got == bus.outbox.rows[Audience.AUDIT]
    check_chain(got)


def test_a_table_that_restarts_sends_nothing_old_and_its_consumers_miss_nothing(bus: RunningBus) -> None:
    with Subscription(bus.feed(Audience.PUBLIC), cursor=Cursor(), context=bus.context) as table:
        burst(bus, range(1, 3))
        got = take(table, bus, Audience.PUBLIC)
        for step in normal_round(3):
            bus.step(step, send=False)
        bus.restart()
        for step in normal_round(4, epoch=2):
            bus.step(step)
        got += take(table, bus, Audience.PUBLIC)
        assert table.keeper.epoch == 2
    assert got == bus.outbox.rows[Audience.PUBLIC]
    check_chain(got)


def test_subscriptions_over_loopback_tcp(directory: Path, context: zmq.Context[Any]) -> None:
    with running_bus(Endpoints.loopback(directory, TABLE, base_port=free_ports()), context) as bus:
        burst(bus, range(1, 2))
        with Subscription(bus.feed(Audience.PUBLIC), cursor=Cursor(), context=context) as table:
            assert take(table, bus, Audience.PUBLIC) == bus.outbox.rows[Audience.PUBLIC]


def free_ports() -> int:
    """Return the first of eight ports that are free now."""
    for base in range(23_000, 30_000, 8):
        with zmq.Context() as probing:
            sockets = [probing.socket(zmq.PUB) for _ in range(8)]
            try:
                for offset, socket in enumerate(sockets):
                    socket.bind(f"tcp://127.0.0.1:{base + offset}")
                return base
            except zmq.ZMQError:
                continue
            finally:
                for socket in sockets:
                    socket.close(linger=0)
    raise AssertionError("no eight free ports")


def test_it_is_stale_without_alive_and_not_before(bus: RunningBus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gap_keeper, "STALE_US", 500_000)
    with Subscription(bus.feed(Audience.PUBLIC), cursor=Cursor(), context=bus.context) as table:
        take(table, bus, Audience.PUBLIC)
        heard = time.monotonic()
        burst(bus, range(1, 2))
        while not table.stale():
            assert time.monotonic() - heard < 2
            table.next(50)
        assert time.monotonic() - heard > 0.4
        take(table, bus, Audience.PUBLIC)


def test_a_consumer_of_another_environment_stops(bus: RunningBus) -> None:
    burst(bus, range(1, 2))
    feed = bus.feed(Audience.PUBLIC, environment=Environment.LIVE)
    with (
        Subscription(feed, cursor=Cursor(), context=bus.context) as table,
        pytest.raises(ForeignSource, match=r"expected .* of tablectl/rp1/live"),
    ):
        table.next(5_000)


def test_on_a_loop_loss_and_live_messages_alike(directory: Path, context: zmq.Context[Any]) -> None:
    async def consume(bus: RunningBus) -> tuple[list[bytes], int]:
        feed, got = bus.feed(Audience.PUBLIC, receive_limit=5), list[bytes]()
        async with AsyncSubscription(feed, cursor=Cursor(), context=context) as table:
            burst(bus, range(1, 3))
            while table.behind() or table.keeper.last_alive is None:
                bus.alive()
                delivery = await table.next(20)
                got += [delivery.raw] if delivery else []
            burst(bus, range(3, 60))
            bus.alive()
            async with asyncio.timeout(20):
                while len(got) < bus.outbox.last_seq(Audience.PUBLIC) - 1:
                    bus.alive()
                    delivery = await table.next(20)
                    got += [delivery.raw] if delivery else []
                async for delivery in table:
                    got.append(delivery.raw)
                    break
            return got, table.keeper.gaps

    with running_bus(Endpoints.ipc(directory, TABLE), context, send_limit=5) as bus:
        got, gaps = asyncio.run(consume(bus))
        assert gaps > 0
        assert got == bus.outbox.rows[Audience.PUBLIC]
        check_chain(got)


def test_a_waiting_subscription_on_a_loop_wakes_for_a_message_and_lets_others_run(bus: RunningBus) -> None:
    async def consume() -> tuple[float, int]:
        turns = 0

        async def others() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0.01)

        async with AsyncSubscription(
            bus.feed(Audience.PUBLIC), cursor=Cursor(), context=bus.context
        ) as table:
            while table.behind() or table.keeper.last_alive is None:
                bus.alive()
                await table.next(20)
            busy = asyncio.create_task(others())
            asyncio.get_running_loop().call_later(0.15, bus.step, next(normal_round(1)))
            began = time.perf_counter()
            assert await table.next(5_000) is not None
            busy.cancel()
            return time.perf_counter() - began, turns

    waited, turns = asyncio.run(consume())
    assert 0.14 < waited < 1.0
    assert turns > 5


def test_a_feed_that_leaves_the_machine_is_refused(directory: Path, context: zmq.Context[Any]) -> None:
    feed = Feed(
        live="tcp://192.168.0.7:1", replay=f"ipc://{directory}/replay", table=TABLE,
        audience=Audience.PUBLIC, environment=Environment.LIVE,
    )  # fmt: skip
    with pytest.raises(EndpointRefused, match="no keys"):
        Subscription(feed, context=context)


def test_the_client_needs_no_part_of_the_station() -> None:
    code = "import sys, controller.bus.client; print('\\n'.join(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()  # fmt: skip
    assert "controller.bus.client" in loaded
    kept_out = ("apsw", "serial", "statemachine", "rich", "drivers", "simulators", "controller.journal",
                "controller.station", "controller.bus.publisher", "controller.bus.replay_server",
                "controller.bus.commands")  # fmt: skip
    assert [name for name in loaded if name.startswith(kept_out)] == []
