"""The bridge: whatever is killed, the stream ends as the table's outbox, each message once, in order."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bus.streams import check_chain, filled
from floor.conftest import PlayedTable
from floor.nats_side import Bridge, NatsServer, Process, until
from nats.js.api import StorageType

from controller.floor import streams
from controller.floor.errors import FloorRefused
from controller.floor.nats_server import address_of
from controller.table.events import Audience

KILLS = 50 if os.environ.get("TABLECTL_SOAK") else 3
"""Of each side."""
CARRIED = (Audience.PUBLIC, Audience.SETTLEMENT)
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
            before = server.count(stream(Audience.PUBLIC))
            until(lambda: server.count(stream(Audience.PUBLIC)) > before, table.play)  # noqa: B023
            kill_while_playing(table, side)
        if turn % 2:
            table.bus.restart()
    table.play_rounds(100)
    for audience in CARRIED:
        assert_whole(server, table, audience)
    assert bridge.end() == 0


def kill_while_playing(table: PlayedTable, side: Process) -> None:
    table.play()
    side.kill()
    table.play_rounds(20)
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


def test_a_stream_is_made_on_disk_without_limits_and_nothing_can_be_taken_out(
    table: PlayedTable, server: NatsServer, bridged: BEGIN
) -> None:
    bridged("--audience", "settlement")
    name = stream(Audience.SETTLEMENT)
    until(lambda: server.has(name))
    made = server.ask(lambda jetstream: jetstream.stream_info(name)).config
    assert (made.storage, made.retention, made.subjects) == ("file", "limits", ["tables.rp1.settlement.>"])
    assert (made.max_age, made.max_bytes, made.max_msgs) == (0, -1, -1)
    assert made.deny_delete and made.deny_purge


def test_two_bridges_of_a_table_double_nothing(
    table: PlayedTable, server: NatsServer, bridged: BEGIN
) -> None:
    pair = [bridged("--audience", "public"), bridged("--audience", "public")]
    until(lambda: all(bridge.said("carrying") for bridge in pair), table.play)
    table.play_rounds(300)
    assert_whole(server, table, Audience.PUBLIC)
    pair[0].kill()
    table.play_rounds(50)
    assert_whole(server, table, Audience.PUBLIC)


def test_the_id_of_a_last_message_that_the_server_has_forgotten_is_not_asked_for(
    table: PlayedTable, server: NatsServer, bridged: BEGIN
) -> None:
    """A server that starts again knows no id that is older than its window for duplicates."""
    settings = streams.settings("rp1", Audience.PUBLIC)
    settings.duplicate_window = 0.1
    server.ask(lambda jetstream: jetstream.add_stream(settings))
    bridged("--audience", "public")
    table.play_rounds(30)
    assert_whole(server, table, Audience.PUBLIC)
    server.kill()
    time.sleep(0.2)
    server.begin()
    table.play_rounds(30)
    assert_whole(server, table, Audience.PUBLIC)


def test_a_stream_may_begin_at_the_present(table: PlayedTable, server: NatsServer, bridged: BEGIN) -> None:
    table.play_rounds(50)
    before = len(table.bus.outbox.rows[Audience.PUBLIC])
    bridge = bridged("--audience", "public", "--from-now")
    until(lambda: bridge.said("carrying") > 0)
    until(lambda: server.count(stream(Audience.PUBLIC)) > 0, table.play)
    bridge.kill()
    table.play_rounds(20)
    bridge.begin()
    rows = table.bus.outbox.rows[Audience.PUBLIC]
    until(lambda: server.stored(stream(Audience.PUBLIC))[-1].raw == rows[-1], table.bus.alive)
    stored = [one.raw for one in server.stored(stream(Audience.PUBLIC))]
    assert before <= len(rows) - len(stored) and stored == rows[-len(stored) :]


# What it says when it can't.


def test_a_server_that_is_away_is_said_once_and_waited_for(
    table: PlayedTable, server: NatsServer, bridged: BEGIN
) -> None:
    server.kill()
    bridge = bridged("--audience", "public")
    until(lambda: bridge.said("trying again") > 0)
    table.play_rounds(20)
    time.sleep(0.5)
    server.begin()
    assert_whole(server, table, Audience.PUBLIC)
    assert (bridge.said("trying again"), bridge.said("carrying")) == (1, 1)


def test_a_table_that_is_silent_is_said_once(table: PlayedTable, bridged: BEGIN) -> None:
    bridge = bridged("--audience", "public")
    until(lambda: bridge.said("not been heard") > 0)
    until(lambda: bridge.said("been heard again") > 0, table.play)
    assert bridge.said("not been heard") == 1


def test_a_stream_of_another_history_stops_it_and_the_message_is_named(
    table: PlayedTable, server: NatsServer, bridged: BEGIN
) -> None:
    other = filled(rounds=1).rows[Audience.PUBLIC][0].replace(b'"time":"', b'"time":"1')
    server.fill("rp1", Audience.PUBLIC, other)
    table.play_rounds(20)
    bridge = bridged("--audience", "public")
    assert bridge.wait() == 1
    assert bridge.said("ends with rp1/public/1, and the table does not go on from there") == 1
    assert server.count(stream(Audience.PUBLIC)) == 1


def test_a_stream_of_another_table_stops_it(table: PlayedTable, server: NatsServer, bridged: BEGIN) -> None:
    foreign = filled(rounds=1).rows[Audience.PUBLIC][0].replace(b"rp1/", b"rp2/")
    server.fill("rp1", Audience.PUBLIC, foreign)
    bridge = bridged("--audience", "public")
    assert bridge.wait() == 1
    assert bridge.said("message rp2/public/1 of tablectl/rp2/simulated, expected rp1/public/1") == 1


def test_a_table_that_has_removed_what_the_stream_lacks_stops_it(
    table: PlayedTable, server: NatsServer, bridged: BEGIN
) -> None:
    table.play_rounds(40)
    table.bus.outbox.kept_from = 5
    bridge = bridged("--audience", "public")
    assert bridge.wait() == 1
    assert bridge.said("message 1 of public is no longer kept, the first is 5") == 1
    assert bridge.said("--from-now begins the stream at the table's present") == 1


def test_a_message_that_is_too_large_for_the_server_is_named(
    table: PlayedTable, directory: Path, bridged: BEGIN
) -> None:
    small = NatsServer(
        directory / "small", f'jetstream {{ store_dir: "{directory}/s" }}\nmax_payload: 1200\n'
    )
    try:
        table.play_rounds(20)
        bridge = bridged("--audience", "public", "--server", small.url)
        assert bridge.wait() == 1
        assert bridge.said("raise max_payload there") == 1
    finally:
        small.kill()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"subjects": ["tables.rp1.public.round.*"]}, "subjects ["),
        ({"storage": StorageType.MEMORY}, "storage 'memory', expected"),
        ({"max_age": 3600.0}, "limit it by max_bytes or max_msgs"),
    ],
)
def test_a_stream_that_does_not_keep_the_promise_is_refused(
    server: NatsServer, bridged: BEGIN, change: dict[str, Any], words: str
) -> None:
    settings = streams.settings("rp1", Audience.PUBLIC)
    for key, value in change.items():
        setattr(settings, key, value)
    server.ask(lambda jetstream: jetstream.add_stream(settings))
    bridge = bridged("--audience", "public")
    assert bridge.wait() == 3
    assert bridge.said(words) == 1


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("", "the server has no JetStream"),
        ("authorization { user: a, password: b }", "put user and password into the address"),
    ],
)
def test_a_server_that_is_set_up_otherwise_is_refused(
    directory: Path, bridged: BEGIN, settings: str, words: str
) -> None:
    server = NatsServer(directory / "other", settings)
    try:
        bridge = bridged("--server", server.url)
        assert bridge.wait() == 3
        assert bridge.said(words) >= 1
    finally:
        server.kill()


def test_what_answers_and_is_no_nats_server_is_refused(bridged: BEGIN) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        bridge = bridged("--audience", "public", "--server", f"nats://127.0.0.1:{listening.getsockname()[1]}")
        peer, _ = listening.accept()
        peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        assert bridge.wait() == 3
        peer.close()
    assert bridge.said("whatever answers there is no NATS server") == 1


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
