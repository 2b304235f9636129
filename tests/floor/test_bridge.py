"""The bridge: whatever is killed, the stream ends as the table's outbox, each message once, in order."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zmq
from bus.conftest import on_a_loop
from bus.house import House, open_house
from bus.streams import check_chain, filled
from floor.conftest import PlayedTable
from floor.nats_side import WAIT_S, Bridge, NatsServer, Process, started, until
from nats.js.api import StorageType

from controller.bus.allowed import KeyRole
from controller.bus.envelope import decode
from controller.bus.keys import BusKeys, KeyPair, write_pair
from controller.bus.zap import Reason
from controller.cli import main
from controller.floor import streams
from controller.floor.bridge import Carrier
from controller.floor.bridge_command import feed_of
from controller.floor.errors import BridgeStopped, FloorError, FloorRefused
from controller.floor.nats_server import address_of
from controller.station.config import StationConfig
from controller.station.terminal import USAGE
from controller.table.events import Audience

KILLS = 50 if os.environ.get("TABLECTL_SOAK") else 3
"""Of each side."""
BURSTS, BURST_STEPS = 7, 5
AWAY_STEPS = 20
CARRIED = (Audience.PUBLIC, Audience.SETTLEMENT)
PUBLIC = "tables-rp1-public"
BEGIN = Callable[..., Bridge]


def stream(audience: Audience) -> str:
    return f"tables-rp1-{audience}"


def is_whole(server: NatsServer, table: PlayedTable, *audiences: Audience) -> bool:
    """Whether the streams have as many messages as the table has sent."""
    table.bus.alive()
    rows = table.bus.outbox.rows
    return all(server.count(stream(audience)) >= len(rows[audience]) for audience in audiences)


def assert_whole(server: NatsServer, table: PlayedTable, audience: Audience) -> None:
    """Fail unless the stream is the outbox."""
    until(lambda: is_whole(server, table, audience))
    stored = server.stored(stream(audience))
    assert [one.raw for one in stored] == table.bus.outbox.rows[audience]
    check_chain([one.raw for one in stored])
    for number, one in enumerate(stored, 1):
        kind = json.loads(one.raw)["type"].removeprefix("tablectl.").removesuffix(".v1")
        assert (one.sequence, one.id) == (number, f"rp1/{audience}/{number}")
        assert one.subject == f"tables.rp1.{audience}.{kind}"


def test_either_side_is_killed_and_nothing_is_missing_or_doubled(
    table: PlayedTable, server: NatsServer, bridged: BEGIN
) -> None:
    bridge = bridged()
    for turn in range(KILLS):
        for side in (bridge, server):
            before = server.count(PUBLIC)
            until(lambda: server.count(PUBLIC) > before, table.play)  # noqa: B023
            kill_at_work(table, side, burst=turn % BURSTS * BURST_STEPS)
        if turn % 2:
            table.bus.restart()
    table.play_rounds(100)
    for audience in CARRIED:
        assert_whole(server, table, audience)
    assert len(table.bus.outbox.rows[Audience.PUBLIC]) > KILLS * 2 * AWAY_STEPS
    assert bridge.end() == 0


def kill_at_work(table: PlayedTable, side: Process, *, burst: int) -> None:
    """Kill with up to so many steps on their way, and play on while it is gone."""
    for _ in range(burst):
        table.step()
    side.kill()
    table.play_rounds(AWAY_STEPS)
    side.begin()


def test_it_carries_what_is_named_and_ends_when_it_is_asked_to(
    table: PlayedTable, server: NatsServer, bridged: BEGIN
) -> None:
    bridge = bridged("--audience", "betting", "--audience", "audit")
    table.play_rounds(60)
    for audience in (Audience.BETTING, Audience.AUDIT):
        assert_whole(server, table, audience)
    assert server.count(stream(Audience.PUBLIC)) == 0
    assert bridge.end() == 0


@contextmanager
def carrying(table: PlayedTable, server: NatsServer, *, from_now: bool = False) -> Iterator[None]:
    """Carry the public feed within this process."""
    feed = feed_of(table.config, Audience.PUBLIC)
    with on_a_loop(Carrier(feed, address_of(server.url), from_now=from_now).run):
        yield


def test_a_stream_is_made_on_disk_without_limits_and_nothing_can_be_taken_out(
    table: PlayedTable, server: NatsServer
) -> None:
    with carrying(table, server):
        until(lambda: server.has(PUBLIC))
    made = server.ask(lambda jetstream: jetstream.stream_info(PUBLIC)).config
    assert (made.storage, made.retention, made.subjects) == ("file", "limits", ["tables.rp1.public.>"])
    assert (made.max_age, made.max_bytes, made.max_msgs) == (0, -1, -1)
    assert made.deny_delete and made.deny_purge


def test_two_bridges_of_a_table_double_nothing(table: PlayedTable, server: NatsServer) -> None:
    table.play_rounds(100)
    with carrying(table, server):
        with carrying(table, server):
            table.play_rounds(200)
            assert_whole(server, table, Audience.PUBLIC)
        table.play_rounds(50)
        assert_whole(server, table, Audience.PUBLIC)


def test_the_id_of_a_last_message_that_the_server_has_forgotten_is_not_asked_for(
    table: PlayedTable, server: NatsServer
) -> None:
    """A server that starts again knows no id that is older than its window for duplicates."""
    settings = streams.settings("rp1", Audience.PUBLIC)
    settings.duplicate_window = 0.1
    server.ask(lambda jetstream: jetstream.add_stream(settings))
    with carrying(table, server):
        table.play_rounds(30)
        assert_whole(server, table, Audience.PUBLIC)
        server.kill()
        time.sleep(0.2)
        server.begin()
        table.play_rounds(30)
        assert_whole(server, table, Audience.PUBLIC)


def test_what_the_server_acknowledged_and_lost_at_a_power_cut_is_carried_again(
    table: PlayedTable, server: NatsServer, directory: Path
) -> None:
    with carrying(table, server):
        table.play_rounds(30)
        assert_whole(server, table, Audience.PUBLIC)
        server.kill()
        shutil.copytree(server.store, directory / "on disk")
        server.begin()
        table.play_rounds(30)
        assert_whole(server, table, Audience.PUBLIC)
        server.kill()
        shutil.rmtree(server.store)
        shutil.copytree(directory / "on disk", server.store)
        server.begin()
        assert_whole(server, table, Audience.PUBLIC)


def test_a_stream_may_begin_at_the_present(table: PlayedTable, server: NatsServer) -> None:
    table.play_rounds(50)
    rows = table.bus.outbox.rows[Audience.PUBLIC]
    before = len(rows)
    with carrying(table, server, from_now=True):
        until(lambda: server.count(PUBLIC) > 0, table.play)
    table.play_rounds(20)
    with carrying(table, server, from_now=True):
        until(lambda: server.stored(PUBLIC)[-1].raw == rows[-1], table.bus.alive)
    stored = [one.raw for one in server.stored(PUBLIC)]
    assert len(rows) - len(stored) >= before and stored == rows[-len(stored) :]


# What it says when it can't.


def test_a_server_that_is_away_is_said_once_and_waited_for(
    table: PlayedTable, server: NatsServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    server.kill()
    with carrying(table, server):
        until(lambda: bool(caplog.messages))
        table.play_rounds(20)
        time.sleep(0.5)
        server.begin()
        assert_whole(server, table, Audience.PUBLIC)
    away, back = caplog.messages
    assert server.url in away and away.endswith("trying again")
    assert back == "carrying"


def test_each_trouble_of_a_server_is_said_once(
    table: PlayedTable, server: NatsServer, caplog: pytest.LogCaptureFixture
) -> None:
    usual = server.lines
    with carrying(table, server):
        table.play_rounds(20)
        assert_whole(server, table, Audience.PUBLIC)
        for lines in ("", usual):
            server.kill()
            server.lines = lines
            server.begin()
            until(lambda: "JetStream does not answer; trying again" in caplog.text)
        table.play_rounds(20)
        assert_whole(server, table, Audience.PUBLIC)
    closed = [text for text in caplog.messages if "the connection is closed" in text]
    silent = [text for text in caplog.messages if "JetStream does not answer" in text]
    assert (len(closed), len(silent)) == (1, 1)


def test_a_table_that_is_silent_is_said_once(
    table: PlayedTable, server: NatsServer, caplog: pytest.LogCaptureFixture
) -> None:
    with carrying(table, server):
        until(lambda: len(caplog.messages) == 1)
        until(lambda: len(caplog.messages) == 2, table.play)
    assert caplog.messages == [
        "the table has not been heard for 3 s; waiting for it",
        "the table has been heard again",
    ]


def stops(
    table: PlayedTable, url: str, error: type[FloorError], words: str, *, live: str | None = None
) -> None:
    """Fail unless the bridge ends by itself, and says this."""
    feed = feed_of(table.config, Audience.PUBLIC)
    changed = msgspec.structs.replace(feed, live=live or feed.live)

    async def run() -> None:
        async with asyncio.timeout(WAIT_S):
            await Carrier(changed, address_of(url), from_now=False).run()

    with pytest.raises(error, match=re.escape(words)):
        asyncio.run(run())


def test_a_stream_of_another_history_stops_it_and_the_message_is_named(
    table: PlayedTable, server: NatsServer, bridged: BEGIN
) -> None:
    other = filled(rounds=1).rows[Audience.PUBLIC][0].replace(b'"time":"', b'"time":"1')
    server.fill("rp1", Audience.PUBLIC, [other])
    table.play_rounds(20)
    bridge = bridged("--audience", "public")
    assert bridge.wait() == 1
    assert bridge.said("ends with rp1/public/1, and the table does not go on from there") == 1
    assert server.count(PUBLIC) == 1


def test_a_stream_of_another_table_stops_it(table: PlayedTable, server: NatsServer) -> None:
    foreign = filled(rounds=1).rows[Audience.PUBLIC][0].replace(b"rp1/", b"rp2/")
    server.fill("rp1", Audience.PUBLIC, [foreign])
    words = "message rp2/public/1 of tablectl/rp2/simulated, expected rp1/public/1 of tablectl/rp1/simulated"
    stops(table, server.url, BridgeStopped, words)


def test_a_stream_whose_end_was_deleted_stops_it(table: PlayedTable, server: NatsServer) -> None:
    settings = streams.settings("rp1", Audience.PUBLIC)
    settings.deny_delete = False
    server.ask(lambda jetstream: jetstream.add_stream(settings))
    server.fill("rp1", Audience.PUBLIC, filled(rounds=1).rows[Audience.PUBLIC][:2])
    server.ask(lambda jetstream: jetstream.delete_msg(PUBLIC, 2))
    stops(table, server.url, BridgeStopped, "its last message, number 2, is gone")


def test_a_type_that_is_no_subject_stops_it() -> None:
    envelope = decode(filled(rounds=1).rows[Audience.PUBLIC][0])
    assert streams.subject_of(envelope, Audience.PUBLIC) == "tables.rp1.public.round.opened"
    for kind in ("tablectl.round.>.v1", "tablectl..v1", "other.round.opened.v1"):
        with pytest.raises(BridgeStopped, match="message rp1/public/1: type"):
            streams.subject_of(msgspec.structs.replace(envelope, type=kind), Audience.PUBLIC)


def test_a_feed_that_may_not_be_reached_is_refused(table: PlayedTable, server: NatsServer) -> None:
    stops(table, server.url, FloorRefused, "leaves the machine", live="tcp://10.0.0.7:5000")


def with_doors(config: StationConfig, keys: BusKeys) -> Path:
    """Return a file of the same table whose bus has doors."""
    path = config.path.with_name("doors.toml")
    doors = "".join(
        f'[bus.{kind}]\nsettlement = "{keys.doors[f"{kind}.settlement"]}"\n' for kind in ("live", "replay")
    )
    path.write_text(f'{config.path.read_text()}\n[bus]\nkey = "{keys.key}"\n{doors}')
    return path


def test_over_a_door_it_has_a_key_of_its_own(
    config: StationConfig, directory: Path, server: NatsServer, context: zmq.Context[Any]
) -> None:
    """It carries once its key is allowed, as any consumer."""
    own, pair = directory / "bridge.key", KeyPair.draw()
    write_pair(own, pair)

    async def scene(house: House) -> None:
        words = ("--audience", "settlement", "--key", str(own))
        bridge = Bridge(with_doors(config, house.keys), server.url, directory / "bridge.log", *words)
        try:
            counts = house.doors.refusals.counts
            assert await house.until(lambda: counts[Reason.UNKNOWN_KEY] > 0, WAIT_S), bridge.log.read_text()
            house.allow("bridge", pair.public, KeyRole.SETTLEMENT)
            rows = house.outbox.rows[Audience.SETTLEMENT]
            stored = 0
            while stored < len(rows):
                await house.speak(0.2)
                stored = await asyncio.to_thread(server.count, stream(Audience.SETTLEMENT))
        finally:
            assert await asyncio.to_thread(bridge.end) == 0
        found = await asyncio.to_thread(server.stored, stream(Audience.SETTLEMENT))
        assert [one.raw for one in found] == rows

    async def run() -> None:
        async with open_house(directory, context) as house, asyncio.timeout(WAIT_S):
            await scene(house)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("words", "because"),
    [
        (("--table-key", "OWN.pub"), "goes with --key"),
        (("--key", "OWN"), "has no [bus] with the addresses"),
        (("--key", "OWN", "--table-key", "OWN.pub"), "bus.live.public: missing"),
        (("--key", "NONE"), "has no [bus]"),
        (("--key", "NONE", "--table-key", "OWN.pub"), "none.key: can't be read"),
    ],
)
def test_keys_without_doors_are_refused(
    config: StationConfig,
    directory: Path,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    because: str,
) -> None:
    own = directory / "bridge.key"
    write_pair(own, KeyPair.draw())
    given = [word.replace("OWN", str(own)).replace("NONE", str(directory / "none.key")) for word in words]
    assert main(["bridge", "nats", str(config.path), *given]) == USAGE
    assert because in capsys.readouterr().err


def test_a_table_that_has_removed_what_the_stream_lacks_stops_it(
    table: PlayedTable, server: NatsServer
) -> None:
    table.play_rounds(40)
    table.bus.outbox.kept_from = 5
    stops(
        table, server.url, BridgeStopped, "message 1 of public is no longer kept, the first is 5; --from-now"
    )


def test_a_message_that_is_too_large_for_the_server_is_named(table: PlayedTable, directory: Path) -> None:
    with started(directory, "jetstream { store_dir: STORE }\nmax_payload: 1200\n") as small:
        table.play_rounds(20)
        stops(table, small.url, BridgeStopped, "raise max_payload there")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"subjects": ["tables.rp1.public.round.*"]}, "subjects ['tables.rp1.public.round.*'], expected"),
        ({"storage": StorageType.MEMORY}, "storage 'memory', expected"),
        ({"max_age": 3600.0}, "limit it by max_bytes or max_msgs"),
        ({"name": "other"}, "can't be made: subjects overlap"),
    ],
)
def test_a_stream_that_does_not_keep_the_promise_is_refused(
    table: PlayedTable, server: NatsServer, change: dict[str, Any], words: str
) -> None:
    settings = streams.settings("rp1", Audience.PUBLIC)
    for key, value in change.items():
        setattr(settings, key, value)
    server.ask(lambda jetstream: jetstream.add_stream(settings))
    stops(table, server.url, FloorRefused, words)


def test_a_server_without_jetstream_is_refused(table: PlayedTable, directory: Path) -> None:
    with started(directory, "") as server:
        bridge = Bridge(table.config.path, server.url, directory / "log")
        assert bridge.wait() == 3
        assert bridge.said(f"{server.url}: the server has no JetStream") == 1


def test_a_server_that_does_not_know_us_is_refused(table: PlayedTable, directory: Path) -> None:
    with started(directory, "authorization { user: ann, password: secret }") as server:
        stops(table, server.url, FloorRefused, "put user and password into the address")


def test_what_answers_and_is_no_nats_server_is_refused(table: PlayedTable) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"nats://127.0.0.1:{listening.getsockname()[1]}"
        answering = threading.Thread(target=lambda: listening.accept()[0].sendall(b"HTTP/1.1 400 Bad\r\n"))
        answering.start()
        stops(table, url, FloorRefused, "whatever answers there is no NATS server")
        answering.join()


@pytest.mark.parametrize("url", ["nats://10.0.0.7:4222", "nats://nats.example:4222"])
def test_nothing_leaves_the_machine_in_the_clear(url: str) -> None:
    with pytest.raises(FloorRefused, match="leaves this machine in the clear; expected tls://"):
        address_of(url)


@pytest.mark.parametrize(
    "url", ["", "http://127.0.0.1", "nats://", "nats://127.0.0.1:70000", "127.0.0.1:4222"]
)
def test_an_address_is_one_of_nats(url: str) -> None:
    with pytest.raises(FloorRefused, match="expected nats://<host>:<port>"):
        address_of(url)


def test_no_text_has_the_password() -> None:
    assert address_of("tls://ann:secret@nats.example").text == "tls://nats.example:4222"


def test_a_server_without_tls_is_refused_where_it_is_wanted(table: PlayedTable, server: NatsServer) -> None:
    stops(table, server.url.replace("nats://", "tls://"), FloorRefused, "the server offers no TLS")
