"""The replay server: pages, rounds, snapshots, bad requests, and clients that do not read."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import zmq
from bus.conftest import on_a_loop
from bus.streams import OUTCOME, TABLE, MemoryOutbox, envelopes, filled, normal_round, stamp

from controller.bus import replay_server
from controller.bus.endpoints import Endpoints, connect
from controller.bus.replay_server import ReplayServer
from controller.bus.snapshot import Snapshot, decode_snapshot, fold
from controller.table import events as ev
from controller.table.events import AUDIENCES, Audience


@contextmanager
def serving(directory: Path, outbox: MemoryOutbox, **options: Any) -> Iterator[ReplayServer]:
    """A bound server that nobody runs: `ask` calls it."""
    with zmq.Context() as context:
        server = ReplayServer(
            Endpoints.ipc(directory, TABLE), outbox, table=TABLE, context=context, **options
        )
        try:
            yield server
        finally:
            server.close()


def ask(server: ReplayServer, audience: Audience, **request: Any) -> tuple[list[bytes], dict[str, Any]]:
    raw = json.dumps({"request": "r1", **request}).encode()
    frames = asyncio.run(server.answer(audience, raw))
    return frames[:-1], json.loads(frames[-1])


@pytest.mark.parametrize("audience", AUDIENCES)
def test_the_served_snapshot_is_the_fold_at_every_number(directory: Path, audience: Audience) -> None:
    whole, outbox = filled(2).rows[audience], MemoryOutbox()
    folded = Snapshot(table=TABLE, audience=audience)
    with serving(directory, outbox) as server:
        for seq in range(len(whole) + 1):
            outbox.rows[audience] = whole[:seq]
            folded = fold(folded, whole[max(0, seq - 1) : seq])
            [served], marker = ask(server, audience, ask="snapshot")
            assert decode_snapshot(served) == folded
            assert marker == {
                "request": "r1", "end": True, "snapshot": True, "last_seq": seq
            }  # fmt: skip


def test_a_snapshot_goes_on_from_a_stored_one(directory: Path) -> None:
    outbox = filled(3)
    rows = outbox.rows[Audience.PUBLIC]
    start = fold(Snapshot(table=TABLE, audience=Audience.PUBLIC), rows[:30])
    outbox.kept_from = 31
    with serving(directory, outbox, starts={Audience.PUBLIC: start}) as server:
        [served], _ = ask(server, Audience.PUBLIC, ask="snapshot")
        assert decode_snapshot(served) == fold(start, rows[30:])
        frames, marker = ask(server, Audience.BETTING, ask="snapshot")
        assert (frames, marker["reason"]) == ([], "GONE")


@pytest.mark.parametrize("limit", [1, 7, 64, 65, 1000])
def test_pages_from_a_number_join_to_the_exact_messages(directory: Path, limit: int) -> None:
    outbox = filled(4)
    rows = outbox.rows[Audience.AUDIT]
    assert len(rows) > 65
    with serving(directory, outbox) as server:
        got: list[bytes] = []
        following: int | None = 3
        while following is not None:
            page, marker = ask(server, Audience.AUDIT, ask="from", seq=following, limit=limit)
            assert 0 < len(page) <= limit
            assert (marker["count"], marker["last_seq"], marker["end"]) == (len(page), len(rows), True)
            got += page
            following = marker.get("next")
    assert got == rows[2:]


def test_a_page_ends_with_the_message_that_passes_the_size(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outbox = filled(1)
    rows = outbox.rows[Audience.PUBLIC]
    monkeypatch.setattr(replay_server, "PAGE_BYTES_MAX", len(rows[0]) + 1)
    with serving(directory, outbox) as server:
        page, marker = ask(server, Audience.PUBLIC, ask="from", seq=1)
    assert (page, marker["next"]) == (rows[:2], 3)


def test_nothing_comes_after_the_last_number(directory: Path) -> None:
    outbox = filled(0)
    last = len(outbox.rows[Audience.PUBLIC])
    with serving(directory, outbox) as server:
        for seq in (last + 1, last + 100):
            page, marker = ask(server, Audience.PUBLIC, ask="from", seq=seq)
            assert (page, marker) == ([], {"request": "r1", "end": True, "last_seq": last})


def test_messages_beyond_retention_are_gone_and_said_to_be(directory: Path) -> None:
    outbox = filled(1)
    outbox.kept_from = 9
    with serving(directory, outbox) as server:
        page, marker = ask(server, Audience.PUBLIC, ask="from", seq=8)
        assert (page, marker["reason"]) == ([], "GONE")
        assert "message 8 of public" in marker["text"]
        page, _ = ask(server, Audience.PUBLIC, ask="from", seq=9, limit=1)
        assert page == outbox.rows[Audience.PUBLIC][8:9]


def round_pages(server: ReplayServer, audience: Audience, roundid: str) -> tuple[Snapshot, list[bytes]]:
    [first, *got], marker = ask(server, audience, ask="round", roundid=roundid, limit=5)
    assert marker["snapshot"]
    while "next" in marker:
        page, marker = ask(server, audience, ask="round", roundid=roundid, seq=marker["next"], limit=5)
        got += page
    return decode_snapshot(first), got


@pytest.mark.parametrize("audience", AUDIENCES)
def test_a_round_has_its_state_and_its_messages_and_those_of_its_correction(
    directory: Path, audience: Audience
) -> None:
    builder = envelopes()
    outbox = filled(3, source=builder)
    correction = [ev.RoundConfirmed(rev=2, outcome=OUTCOME), ev.RoundClosed(rev=2)]
    outbox.add(builder.build(correction, stamp(9 * 10**9, "ready", 2, rev=2)))
    expected = [raw for raw in outbox.rows[audience] if json.loads(raw).get("roundid") == "rp1-2"]
    with serving(directory, outbox) as server:
        state, got = round_pages(server, audience, "rp1-2")
    assert got == expected
    assert (state.roundid, state.rev, state.round_no) == ("rp1-2", 2, 2)
    assert state.last is not None
    assert (state.last.roundid, state.last.rev) == ("rp1-2", 2)
    assert json.loads(expected[-1])["seq"] == state.seq


def test_an_unknown_round_is_said_to_be_unknown(directory: Path) -> None:
    with serving(directory, filled(1)) as server:
        frames, marker = ask(server, Audience.PUBLIC, ask="round", roundid="rp1-99")
    assert (frames, marker["reason"]) == ([], "UNKNOWN_ROUND")
    assert "'rp1-99'" in marker["text"]


def test_the_index_of_rounds_is_bounded(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay_server, "ROUNDS_MAX", 2)
    with serving(directory, filled(3)) as server:
        known = {
            n for n in range(1, 5)
            if "reason" not in ask(server, Audience.PUBLIC, ask="round", roundid=f"rp1-{n}")[1]
        }  # fmt: skip
    assert known == {3, 4}


@pytest.mark.parametrize(
    ("raw", "request_id", "text"),
    [
        (b"", "", "truncated"),
        (b"\xff\x00", "", "malformed"),
        (b"[]", "", "Expected `object`"),
        (b'{"request":"r9"}', "r9", "ask"),
        (b'{"request":"r9","ask":"everything"}', "r9", "everything"),
        (b'{"request":"r9","ask":"from","seq":0}', "r9", "$.seq"),
        (b'{"request":"r9","ask":"from","seq":"1"}', "r9", "$.seq"),
        (b'{"request":"r9","ask":"from","seq":1,"limit":1001}', "r9", "$.limit"),
        (b'{"request":"","ask":"snapshot"}', "", "$.request"),
        (b'{"request":"r9","ask":"snapshot"' + b" " * 5_000 + b"}", "", "at most 4096"),
    ],
)
def test_a_bad_request_gets_a_reason(directory: Path, raw: bytes, request_id: str, text: str) -> None:
    with serving(directory, filled(0)) as server:
        [frame] = asyncio.run(server.answer(Audience.PUBLIC, raw))
    marker = json.loads(frame)
    assert (marker["request"], marker["reason"], marker["end"]) == (request_id, "MALFORMED", True)
    assert text in marker["text"]


@contextmanager
def running(directory: Path, context: zmq.Context[Any], outbox: MemoryOutbox) -> Iterator[str]:
    endpoints = Endpoints.ipc(directory, TABLE)

    async def serve() -> None:
        server = ReplayServer(endpoints, outbox, table=TABLE, context=context)
        try:
            await server.run()
        finally:
            server.close()

    with on_a_loop(serve):
        yield endpoints.replay[Audience.PUBLIC]


def test_a_plain_req_socket_is_answered_too(directory: Path, context: zmq.Context[Any]) -> None:
    outbox = filled(1)
    with running(directory, context, outbox) as endpoint, context.socket(zmq.REQ) as client:
        connect(client, endpoint)
        for seq in (1, 2):
            client.send_json({"request": "q", "ask": "from", "seq": seq, "limit": 1})
            assert client.poll(5_000)
            assert client.recv_multipart()[0] == outbox.rows[Audience.PUBLIC][seq - 1]


def test_a_client_that_never_reads_delays_no_other(directory: Path, context: zmq.Context[Any]) -> None:
    outbox, builder = MemoryOutbox(), envelopes()
    long = ev.BetsClosed(window="w", prompt="x" * 20_000, at_us=1, ended_by="time")
    for _ in range(60):
        outbox.add(builder.build([long], next(normal_round(1))[1]))
    with (
        running(directory, context, outbox) as endpoint,
        context.socket(zmq.DEALER) as deaf,
        context.socket(zmq.DEALER) as client,
    ):
        deaf.setsockopt(zmq.RCVHWM, 1)
        connect(deaf, endpoint)
        connect(client, endpoint)
        for _ in range(60):
            deaf.send_json({"request": "d", "ask": "from", "seq": 1})
        slowest = 0.0
        for seq in range(1, 61):
            began = time.perf_counter()
            client.send_json({"request": "c", "ask": "from", "seq": seq, "limit": 1})
            assert client.poll(5_000)
            assert client.recv_multipart()[0] == outbox.rows[Audience.PUBLIC][seq - 1]
            slowest = max(slowest, time.perf_counter() - began)
        assert slowest < 1.0
        held = 0
        while deaf.poll(200):
            held += len(deaf.recv_multipart()) > 0
        assert 0 < held < 10, "a page may have a megabyte, and there may be many such clients"
