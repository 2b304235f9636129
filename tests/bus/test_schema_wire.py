"""What travels beside messages is as its schema says: `alive`, requests of replay, replies and refusals."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zmq
from bus.conftest import RunningBus, running_bus
from bus.streams import TABLE, cancelled_round, normal_round
from contract import check, check_message, strict

from controller.bus.endpoints import Endpoints
from controller.bus.envelope import Environment
from controller.bus.gap_keeper import Cursor, GapKeeper
from controller.table.events import AUDIENCES, Audience

ALIVE_WAIT_MS = 5_000


@pytest.fixture
def bus(directory: Path, context: zmq.Context[zmq.Socket[bytes]]) -> Iterator[RunningBus]:
    with running_bus(Endpoints.ipc(directory, TABLE), context) as bus:
        for step in (*normal_round(1), *cancelled_round(2)):
            bus.step(step)
        yield bus


@pytest.fixture
def dealer(bus: RunningBus) -> Iterator[zmq.Socket[bytes]]:
    with bus.context.socket(zmq.DEALER) as socket:
        socket.setsockopt(zmq.RCVTIMEO, ALIVE_WAIT_MS)
        socket.connect(bus.endpoints.replay[Audience.BETTING])
        yield socket


def asked(dealer: zmq.Socket[bytes], raw: bytes) -> tuple[list[bytes], dict[str, Any]]:
    """Ask; returns what comes before the marker, and the marker, checked."""
    dealer.send(raw)
    *frames, marker = dealer.recv_multipart()
    return frames, check("Marker", marker)


@pytest.mark.parametrize("audience", AUDIENCES)
def test_alive(bus: RunningBus, audience: Audience) -> None:
    with bus.context.socket(zmq.SUB) as socket:
        socket.subscribe(b"")
        socket.connect(bus.endpoints.live[audience])
        while not socket.poll(50):
            bus.alive()
        assert check("Alive", socket.recv())["seq"] == bus.outbox.last_seq(audience)


@pytest.mark.parametrize(("cursor", "name"), [(None, "AskSnapshot"), (Cursor(), "AskFrom")])
def test_what_the_client_asks(dealer: zmq.Socket[bytes], cursor: Cursor | None, name: str) -> None:
    stream = (TABLE, Audience.BETTING)
    keeper = GapKeeper(stream=stream, environment=Environment.SIMULATED, cursor=cursor, now_us=0)
    request = keeper.ask(0)
    assert request is not None
    check(name, request)
    frames, marker = asked(dealer, request)
    if marker.get("snapshot"):
        check("Snapshot", frames.pop(0))
    for raw in frames:
        check_message(raw)
    assert marker.get("count", 0) == len(frames)


def test_a_round_with_its_state(dealer: zmq.Socket[bytes]) -> None:
    request = b'{"ask":"round","request":"1","roundid":"rp1-2"}'
    check("AskRound", request)
    frames, marker = asked(dealer, request)
    assert check("Snapshot", frames[0])["roundid"] == "rp1-2"
    assert {check_message(raw)["roundid"] for raw in frames[1:]} == {"rp1-2"}
    assert marker["count"] == len(frames) - 1


@pytest.mark.parametrize(
    ("request_", "reason", "valid_as"),
    [
        (b'{"ask":"round","request":"1","roundid":"rp1-9"}', "UNKNOWN_ROUND", "AskRound"),
        (b'{"ask":"from","request":"1","seq":0}', "MALFORMED", None),
        (b'{"ask":"from","request":"1","seq":1,"limit":1001}', "MALFORMED", None),
        (b'{"ask":"from","seq":1}', "MALFORMED", None),
    ],
)
def test_a_refusal(dealer: zmq.Socket[bytes], request_: bytes, reason: str, valid_as: str | None) -> None:
    frames, marker = asked(dealer, request_)
    assert frames == [] and marker["reason"] == reason
    if valid_as is None:  # The schema knows beforehand what the server will refuse.
        assert not any(strict(name).is_valid(json.loads(request_)) for name in ("AskFrom", "AskRound"))
    else:
        check(valid_as, request_)
