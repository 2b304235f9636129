"""The bridge: whatever is killed, the stream ends as the table's outbox, each message once, in order."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

import pytest
from bus.streams import check_chain
from floor.conftest import PlayedTable
from floor.nats_side import Bridge, NatsServer, Process, until

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
