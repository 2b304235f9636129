"""Acknowledgements through the client library: which messages are due one, and that it repeats itself."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import zmq
from bus.streams import OUTCOME, TABLE, envelopes, stamp
from bus.test_commands import Station, intake

from controller.bus.allowed import KeyRole
from controller.bus.client import AsyncCommandClient, CommandClient, Cursor, Delivery
from controller.bus.commands import ROLES
from controller.bus.envelope import decode, message_hash
from controller.bus.wire import Answer, CommandRequest
from controller.table import events as ev
from controller.table.events import Audience, Event
from controller.table.inputs import Acknowledge, CorrectionReason

CONFIRMED = ev.RoundConfirmed(rev=1, outcome=OUTCOME)
CANCELLED = ev.RoundCancelled(rev=1, reason="TECHNICAL", incident=1)
CORRECTED = ev.RoundCorrected(
    roundid=f"{TABLE}-7", rev=2, reason=CorrectionReason.WRONG_RESULT, cell="36", incident=2, outcome=OUTCOME,
    by=("boris", "clara"), digest="d",
)  # fmt: skip


def delivery(event: Event, *, rev: int = 1) -> Delivery:
    (raw,) = envelopes().build([event], stamp(1, "confirmed", 7, rev=rev))[Audience.SETTLEMENT]
    return Delivery(Cursor(1, message_hash(raw)), decode(raw), raw)


@pytest.mark.parametrize(("event", "rev"), [(CONFIRMED, 1), (CANCELLED, 1), (CORRECTED, 2)])
def test_the_end_of_a_round_is_acknowledged_on_the_endpoint_of_consumers(
    event: Event, rev: int, directory: Path, context: zmq.Context[Any]
) -> None:
    station = Station()
    with intake(directory, context, station) as endpoints:
        client = CommandClient(endpoints.consumer, "wallet", context=context)
        assert client.acknowledge(delivery(event, rev=rev)) == Answer(f"rp1-7/{rev}", True)
        client.close()
    request = CommandRequest(f"rp1-7/{rev}", "wallet", 0, Acknowledge("rp1-7", rev))
    assert station.taken == [("consumer", request)]


@pytest.mark.parametrize(
    "event",
    [
        ev.BettingOpened(window="betting", prompt="p", duration_ms=1, closes_at_us=1, guard_ms=1, grace_ms=1),
        ev.RoundClosed(rev=1),
    ],
)
def test_what_ends_no_round_is_never_sent(event: Event, directory: Path, context: zmq.Context[Any]) -> None:
    station = Station()
    with intake(directory, context, station) as endpoints:
        client = CommandClient(endpoints.consumer, "wallet", context=context)
        assert client.acknowledge(delivery(event)) is None
        client.close()
    assert station.taken == []


def test_a_lost_answer_sends_the_same_request_again(directory: Path, context: zmq.Context[Any]) -> None:
    station = Station(at_once=False)

    async def main(endpoint: str) -> Answer | None:
        client = AsyncCommandClient(endpoint, "wallet", timeout_ms=100, context=context)
        acknowledging = asyncio.create_task(client.acknowledge(delivery(CONFIRMED)))
        for _ in range(2):
            assert await asyncio.to_thread(station.arrived.acquire, timeout=5)
        station.make_durable(1, Answer("rp1-7/1", True))
        try:
            return await acknowledging
        finally:
            client.close()

    with intake(directory, context, station) as endpoints:
        assert asyncio.run(main(endpoints.consumer)) == Answer("rp1-7/1", True)
    assert station.taken[0] == station.taken[1]


def test_a_key_may_have_each_right_to_command() -> None:
    rights = {role for role in KeyRole if role.startswith("commands.")}
    assert rights == {f"commands.{role}" for role in ROLES}
