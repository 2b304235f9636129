"""Command intake and its clients: rights, answers after durability, malformed, busy, time-outs."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import zmq
from bus.conftest import on_a_loop
from bus.streams import TABLE

from controller.bus.client import AsyncCommandClient, CommandClient
from controller.bus.commands import REQUEST_BYTES_MAX, CommandIntake, Reply, read_command
from controller.bus.endpoints import Endpoints, connect
from controller.bus.errors import NoAnswer
from controller.bus.wire import Answer, CommandRequest
from controller.games.procedure import BoxState
from controller.table.events import Refusal
from controller.table.inputs import BetsTaken, CloseBetting, OpenBetting

GOOD = b'{"request":"q1","actor":"ann","roundno":7,"command":{"command":"open_betting"}}'


class Station:
    """Takes what it has room for, and answers when told: the test says when an input is durable."""

    def __init__(self, room: int = 1_000, *, at_once: bool = True) -> None:
        self.room, self.at_once = room, at_once
        self.taken: list[tuple[str, CommandRequest]] = []
        self.replies: list[Reply] = []
        self.arrived = threading.Semaphore(0)
        self.loop: asyncio.AbstractEventLoop | None = None

    def submit(self, role: str, request: CommandRequest, reply: Reply) -> bool:
        self.loop = asyncio.get_running_loop()
        if len(self.taken) >= self.room:
            return False
        self.taken.append((role, request))
        self.replies.append(reply)
        self.arrived.release()
        if self.at_once:
            reply(Answer(request.request, True))
        return True

    def make_durable(self, index: int, answer: Answer) -> None:
        assert self.loop is not None
        self.loop.call_soon_threadsafe(self.replies[index], answer)


@contextmanager
def intake(directory: Path, context: zmq.Context[Any], station: Station) -> Iterator[Endpoints]:
    endpoints = Endpoints.ipc(directory, TABLE)

    async def take() -> None:
        taking = CommandIntake(endpoints, station.submit, context=context)
        try:
            await taking.run()
        finally:
            taking.close()

    with on_a_loop(take):
        yield endpoints


def test_the_right_comes_from_the_endpoint(directory: Path, context: zmq.Context[Any]) -> None:
    station = Station()
    with intake(directory, context, station) as endpoints:
        for endpoint, actor in ((endpoints.operator, "ann"), (endpoints.betting, "bets")):
            client = CommandClient(endpoint, actor, context=context)
            assert client.send(CloseBetting(), round_no=7, request=f"by {actor}").accepted
            client.close()
    assert station.taken == [
        ("operator", CommandRequest("by ann", "ann", 7, CloseBetting())),
        ("betting", CommandRequest("by bets", "bets", 7, CloseBetting())),
    ]


def test_nothing_is_answered_before_the_input_is_durable(directory: Path, context: zmq.Context[Any]) -> None:
    station = Station(at_once=False)
    with intake(directory, context, station) as endpoints, context.socket(zmq.DEALER) as client:
        connect(client, endpoints.operator)
        client.send(GOOD)
        client.send(GOOD.replace(b"q1", b"q2"))
        assert station.arrived.acquire(timeout=5) and station.arrived.acquire(timeout=5)
        assert client.poll(200) == 0
        station.make_durable(1, Answer("q2", False, Refusal.WRONG_PHASE, "bets are open"))
        assert client.poll(5_000)
        assert client.recv_json() == {
            "request": "q2", "accepted": False, "reason": "WRONG_PHASE", "text": "bets are open"
        }  # fmt: skip
        assert client.poll(100) == 0
        station.make_durable(0, Answer("q1", True))
        assert client.poll(5_000)
        assert client.recv() == b'{"request":"q1","accepted":true}'


def test_a_full_queue_is_busy_and_the_same_request_may_come_again(
    directory: Path, context: zmq.Context[Any]
) -> None:
    station = Station(room=0)
    with intake(directory, context, station) as endpoints:
        client = CommandClient(endpoints.operator, "ann", context=context)
        busy = client.send(OpenBetting(), round_no=7, request="q1")
        assert (busy.accepted, busy.reason, busy.request) == (False, "BUSY", "q1")
        station.room = 1
        assert client.send(OpenBetting(), round_no=7, request="q1").accepted
        client.close()


@pytest.mark.parametrize(
    ("raw", "request_id", "text"),
    [
        (b"", "", "truncated"),
        (b"nonsense", "", "malformed"),
        (b"\xff", "", "malformed"),
        (b"[1]", "", "Expected `object`, got `array`"),
        (GOOD.replace(b'"actor":"ann",', b""), "q1", "missing required field `actor`"),
        (GOOD.replace(b'"ann"', b"7"), "q1", "Expected `str`, got `int` - at `$.actor`"),
        (GOOD.replace(b":7", b":-1"), "q1", "$.roundno"),
        (GOOD.replace(b"open_betting", b"open_bar"), "q1", "'open_bar' - at `$.command.command`"),
        (GOOD.replace(b'"q1"', b'""'), "", "$.request"),
        (GOOD.replace(b'"q1"', b'"' + b"q" * 65 + b'"'), "q" * 64, "$.request"),
        (GOOD.replace(b"ann", b"a" * REQUEST_BYTES_MAX), "", "expected at most 65536"),
    ],
)
def test_malformed_says_where_what_came_and_what_was_expected(raw: bytes, request_id: str, text: str) -> None:
    answer = read_command("operator", raw)
    assert isinstance(answer, Answer)
    assert (answer.request, answer.accepted, answer.reason) == (request_id, False, "MALFORMED")
    assert answer.text is not None
    assert answer.text.startswith("command on operator: ") and text in answer.text


def test_malformed_is_answered_at_once_and_the_table_never_sees_it(
    directory: Path, context: zmq.Context[Any]
) -> None:
    station = Station(at_once=False)
    with intake(directory, context, station) as endpoints, context.socket(zmq.DEALER) as client:
        connect(client, endpoints.betting)
        for raw in (b"", b"{}", GOOD.replace(b":7", b":[]")):
            client.send(raw)
            assert client.poll(5_000)
            assert json.loads(client.recv())["reason"] == "MALFORMED"
    assert station.taken == []


def test_a_long_command_is_taken_at_a_local_socket_as_at_a_door(
    directory: Path, context: zmq.Context[Any]
) -> None:
    """libzmq cuts off who sends a longer frame than a socket reads, and answers nothing."""
    station = Station()
    padding = b"later" * ((REQUEST_BYTES_MAX - len(GOOD) - 16) // 5)
    with intake(directory, context, station) as endpoints, context.socket(zmq.DEALER) as client:
        connect(client, endpoints.betting)
        client.send(GOOD[:-1] + b',"more":"' + padding + b'"}')
        assert client.poll(2_000) and client.recv_json() == {"request": "q1", "accepted": True}


def test_a_command_keeps_its_fields() -> None:
    raw = json.dumps(
        {"request": "q", "actor": "b", "roundno": 1, "later": True,
         "command": {"command": "bets_taken", "boxes": {"main": "open", "box1": "dark"}}}
    ).encode()  # fmt: skip
    request = read_command("betting", raw)
    assert isinstance(request, CommandRequest)
    assert request.command == BetsTaken({"main": BoxState.OPEN, "box1": BoxState.DARK})


def test_a_time_out_sends_the_same_request_again(directory: Path, context: zmq.Context[Any]) -> None:
    station = Station(at_once=False)
    with intake(directory, context, station) as endpoints:
        client = CommandClient(endpoints.operator, "ann", timeout_ms=100, context=context)

        def answer_the_second() -> None:
            assert station.arrived.acquire(timeout=5) and station.arrived.acquire(timeout=5)
            station.make_durable(1, Answer(station.taken[1][1].request, True))

        durable = threading.Thread(target=answer_the_second)
        durable.start()
        assert client.send(OpenBetting(), round_no=7).accepted
        durable.join()
        client.close()
    first, second = (request for _, request in station.taken[:2])
    assert first == second
    assert len(first.request) == 32


def test_an_answer_to_an_older_request_is_not_taken_for_this_one(
    directory: Path, context: zmq.Context[Any]
) -> None:
    station = Station(at_once=False)
    with intake(directory, context, station) as endpoints:
        client = CommandClient(endpoints.operator, "ann", timeout_ms=100, context=context)
        with pytest.raises(NoAnswer, match="no answer to q1 in 3 x 100 ms"):
            client.send(OpenBetting(), round_no=7, request="q1")
        assert station.arrived.acquire(timeout=5)
        station.make_durable(0, Answer("q1", True))
        with pytest.raises(NoAnswer, match="no answer to q2"):
            client.send(OpenBetting(), round_no=7, request="q2")
        client.close()


def test_answers_to_clients_that_have_gone_or_after_the_close_harm_nobody(
    directory: Path, context: zmq.Context[Any]
) -> None:
    station = Station(at_once=False)
    with intake(directory, context, station) as endpoints:
        with context.socket(zmq.DEALER) as leaving:
            connect(leaving, endpoints.operator)
            leaving.send(GOOD)
            assert station.arrived.acquire(timeout=5)
            leaving.close(linger=0)
        time.sleep(0.05)
        station.make_durable(0, Answer("q1", True))
        station.at_once = True
        client = CommandClient(endpoints.operator, "ann", context=context)
        assert client.send(OpenBetting(), round_no=7).accepted
        client.close()
    station.replies[0](Answer("q1", True))


def test_a_client_on_a_loop_sends_overlapping_commands_one_after_another(
    directory: Path, context: zmq.Context[Any]
) -> None:
    station = Station()

    async def main(endpoints: Endpoints) -> list[Answer]:
        client = AsyncCommandClient(endpoints.betting, "bets", context=context)
        try:
            sends = [client.send(CloseBetting(), round_no=n, request=f"q{n}") for n in range(20)]
            return await asyncio.gather(*sends)
        finally:
            client.close()

    with intake(directory, context, station) as endpoints:
        answers = asyncio.run(main(endpoints))
    assert [answer.request for answer in answers] == [f"q{n}" for n in range(20)]
    assert all(answer.accepted for answer in answers)


def test_a_client_on_a_loop_gives_up_with_the_request_id(directory: Path, context: zmq.Context[Any]) -> None:
    async def main() -> None:
        endpoint = Endpoints.ipc(directory, TABLE).betting
        client = AsyncCommandClient(endpoint, "bets", timeout_ms=20, context=context)
        try:
            await client.send(CloseBetting(), round_no=1, request="q1")
        finally:
            client.close()

    with pytest.raises(NoAnswer, match="q1 in 3 x 20 ms"):
        asyncio.run(main())
