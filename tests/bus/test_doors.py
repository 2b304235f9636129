"""Doors: who has no right there never gets a byte, who loses it hears nothing more, and all of it is told."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import zmq
from bus.house import SOCKETS, WALLET, House, Peer, batches, keys_for, open_house, tries
from bus.streams import TABLE, normal_round

from controller.bus import client as bus_client
from controller.bus import doors as bus_doors
from controller.bus import gap_keeper
from controller.bus.allowed import AllowList, KeyRole
from controller.bus.client import AsyncCommandClient, AsyncSubscription, CommandClient, Cursor
from controller.bus.doors import Doors
from controller.bus.endpoints import connect
from controller.bus.envelope import Envelopes, Environment
from controller.bus.errors import EndpointRefused, KeyFileUnusable
from controller.bus.keys import BusKeys, ClientKeys, KeyPair, public_path, write_pair
from controller.bus.refusals import LINES_MAX, Refusal, Refusals
from controller.bus.zap import Reason
from controller.table.events import Audience
from controller.table.inputs import Acknowledge, OpenTable

Scene = Callable[[House], Coroutine[Any, Any, None]]
REVOKED_S = 2.0
"""After that a revoked key hears nothing, by the contract."""


def play(directory: Path, context: zmq.Context[Any], scene: Scene) -> None:
    async def main() -> None:
        async with open_house(directory, context) as house:
            await scene(house)

    asyncio.run(main())


async def let_in(house: House) -> Peer:
    """Return a peer with the wallet's key, once it is in: without one, silence would prove nothing."""
    peer = Peer(house, keys_for(house, house.wallet))
    assert await house.until(peer.is_in)
    return peer


async def taken_over() -> None:
    """Wait until the bus has seen that a file has changed."""
    await asyncio.sleep(1.5 * bus_doors.LOOK_S)


def told(caplog: pytest.LogCaptureFixture) -> list[Mapping[str, Any]]:
    return [
        record.__dict__["facts"] for record in caplog.records if record.getMessage() == "handshake refused"
    ]


# Who never gets in.


def unknown(house: House) -> ClientKeys:
    return keys_for(house)


def wrong_role(house: House) -> ClientKeys:
    return keys_for(house, house.overlay)


def no_curve(_: House) -> None:
    return None


def wrong_server(house: House) -> ClientKeys:
    return ClientKeys(house.wallet, KeyPair.draw().public)


INTRUDERS: tuple[tuple[Callable[[House], ClientKeys | None], str, bool], ...] = (
    (unknown, Reason.UNKNOWN_KEY, True),
    (wrong_role, Reason.WRONG_ROLE, True),
    (no_curve, "PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH", False),
    (wrong_server, "PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC", False),
)


@pytest.mark.parametrize(
    ("keys", "reason", "seen_by_zap"), INTRUDERS, ids=[case[0].__name__ for case in INTRUDERS]
)
def test_who_has_no_right_gets_no_byte(
    directory: Path,
    context: zmq.Context[Any],
    caplog: pytest.LogCaptureFixture,
    keys: Callable[[House], ClientKeys | None],
    reason: str,
    seen_by_zap: bool,
) -> None:
    async def scene(house: House) -> None:
        good = await let_in(house)
        taken, due = len(house.commands), 0
        for size in batches(tries()):
            peers = [Peer(house, keys(house)) for _ in range(size)]
            due += size * SOCKETS
            assert await house.until(lambda due=due: house.doors.refusals.counts[reason] >= due), (
                "each is counted"
            )
            await house.speak(0.05)
            assert not any(any(peer.listen().values()) for peer in peers), "none gets a byte"
            for peer in peers:
                peer.close()
        assert len(house.commands) == taken, "and no command of theirs is taken"
        heard = len(good.listen()["live.settlement"])
        assert await house.until(lambda: len(good.listen()["live.settlement"]) > heard), "who may hears on"
        house.doors.refusals.tell()
        counted = house.doors.refusals.counts[reason]
        # libzmq knocks once where ZAP has answered, again and again where nobody has.
        assert counted == due if seen_by_zap else counted >= due
        lines = [line for line in told(caplog) if line["reason"] == reason]
        assert sum(line["times"] for line in lines) == counted, "each is in the log"
        assert {line["address"] for line in lines} == ({"127.0.0.1"} if seen_by_zap else {None})

    with caplog.at_level(logging.INFO, logger="bus"):
        play(directory, context, scene)


@pytest.mark.parametrize("kind", ["hangs", "gone"])
def test_with_a_dead_handler_nobody_gets_in(
    directory: Path, context: zmq.Context[Any], monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Not even who is allowed; libzmq says why, and it is counted."""
    monkeypatch.setattr(bus_doors, "HANDSHAKE_MS", 150)

    async def scene(house: House) -> None:
        good = await let_in(house)
        [handler] = [task for task in asyncio.all_tasks() if task.get_name() == "zap"]
        handler.cancel()
        await asyncio.gather(handler, return_exceptions=True)
        if kind == "gone":
            house.doors._zap.close()
        counts, taken = house.doors.refusals.counts, len(house.commands)
        for size in batches(tries()):
            due = counts.total() + size * SOCKETS
            peers = [Peer(house, keys_for(house, house.wallet)) for _ in range(size)]
            assert await house.until(lambda due=due: counts.total() >= due), "each is counted"
            assert not any(any(peer.listen().values()) for peer in peers)
            for peer in peers:
                peer.close()
        assert len(house.commands) == taken
        assert {reason.split()[0] for reason in counts} == {"NO_DETAIL"}
        assert await house.until(lambda: len(good.listen()["live.settlement"]) > 1), "who is in stays"

    play(directory, context, scene)


def test_an_older_epoch_is_heard_by_nobody(directory: Path, context: zmq.Context[Any]) -> None:
    """A daemon of an earlier epoch that has the right key and speaks at the right door."""

    async def scene(house: House) -> None:
        head = house.envelopes.heads().of(Audience.SETTLEMENT)
        older = Envelopes(table=TABLE, environment=Environment.SIMULATED, heads=house.envelopes.heads())
        stale = [
            raw
            for number in range(2, 2 + tries())
            for events, at in normal_round(number, epoch=1)
            for raw in older.build(events, at)[Audience.SETTLEMENT]
        ][: tries()]
        assert len(stale) == tries()
        house.epoch = 2
        async with AsyncSubscription(house.feed(keys_for(house, house.wallet)), context=context) as table:

            async def listen() -> list[object]:
                return [found for _ in range(200) if (found := await table.next(10)) is not None]

            heard = asyncio.create_task(listen())
            assert await house.until(lambda: table.keeper.epoch == 2 and not table.behind())
            for raw in stale:
                house.publisher.sockets["live.settlement"].send(raw)
                await asyncio.sleep(0)
            assert await house.until(lambda: table.keeper.refused == tries()), "each is counted"
            heard.cancel()
            assert table.keeper.cursor == Cursor(head.seq, head.hash), "none is delivered"

    play(directory, context, scene)


# Who is thrown out.


def test_who_is_revoked_while_connected_hears_nothing_after_two_seconds(
    directory: Path, context: zmq.Context[Any]
) -> None:
    async def scene(house: House) -> None:
        good = await let_in(house)
        local = context.socket(zmq.SUB)
        local.subscribe(b"")
        connect(local, house.endpoints.live[Audience.SETTLEMENT])
        for size in batches(tries()):
            pairs = {f"w{number}": KeyPair.draw() for number in range(size)}
            for name, pair in pairs.items():
                house.allow(name, pair.public, *WALLET)
            await taken_over()
            peers = [Peer(house, keys_for(house, pair)) for pair in pairs.values()]
            assert await house.until(lambda peers=peers: all(peer.is_in() for peer in peers))
            at = time.monotonic()
            kept = {name: key for name, key in house.allowed.keys.items() if name not in pairs}
            house.write(AllowList(kept))
            await house.speak(REVOKED_S - (time.monotonic() - at))
            heard = [sum(map(len, peer.listen().values())) for peer in peers]
            before, taken = len(good.listen()["live.settlement"]), len(house.commands)
            for peer in peers:
                for socket in (peer.replay, peer.commands):
                    with suppress(zmq.Again):
                        socket.send(b"{}", zmq.NOBLOCK)
            await house.speak(0.1)
            assert [sum(map(len, peer.listen().values())) for peer in peers] == heard, "not a byte more"
            assert len(house.commands) == taken
            assert len(good.listen()["live.settlement"]) > before, "who may is in again"
            for peer in peers:
                peer.close()
        assert house.doors.refusals.counts[Reason.UNKNOWN_KEY] >= tries() * SOCKETS, "they have knocked again"
        again = Peer(house, keys_for(house, house.wallet))
        assert await house.until(again.is_in), "and the doors are open, all three"
        assert local.poll(0), "local endpoints go on"
        local.close(linger=0)

    play(directory, context, scene)


def test_what_waits_for_a_revoked_peer_is_not_delivered(directory: Path, context: zmq.Context[Any]) -> None:
    """One that has stopped reading: what lies in the kernel's buffers was sent, the queue behind was not."""

    async def scene(house: House) -> None:
        stopped = context.socket(zmq.SUB)
        stopped.setsockopt(zmq.RCVHWM, 1)
        stopped.setsockopt(zmq.RCVBUF, 65_536)
        stopped.subscribe(b"")
        connect(stopped, house.keys.doors["live.settlement"], keys_for(house, house.wallet))
        assert await house.until(lambda: stopped.poll(0) > 0)
        sent, feed = 500, house.publisher.sockets["live.settlement"]
        for _ in range(sent):
            feed.send(bytes(100_000))
        house.write(house.allowed.without("wallet"))
        await house.speak(REVOKED_S)
        heard = 0
        while stopped.poll(200):
            heard += stopped.recv() == bytes(100_000)
        assert 0 < heard < sent // 2
        stopped.close(linger=0)

    play(directory, context, scene)


def test_only_the_doors_of_a_lost_role_are_bound_anew_and_alive_comes_first(
    directory: Path, context: zmq.Context[Any], caplog: pytest.LogCaptureFixture
) -> None:
    async def scene(house: House) -> None:
        sent: list[str] = []
        house.doors._on_rebound = lambda: sent.append("alive")
        house.allow("wallet", house.wallet.public, KeyRole.PUBLIC, KeyRole.COMMANDS_BETTING)
        await taken_over()
        [rebound] = [r.__dict__["facts"] for r in caplog.records if r.getMessage() == "doors bound anew"]
        assert rebound == {"doors": ["live.settlement", "replay.settlement"]}
        assert sent == ["alive"]

    with caplog.at_level(logging.INFO, logger="bus"):
        play(directory, context, scene)


def test_a_door_that_another_process_has_taken_keeps_no_revoked_key_in_at_the_others(
    directory: Path,
    context: zmq.Context[Any],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scene(house: House) -> None:
        good, taken = await let_in(house), {"live.public", "replay.public"}
        bind = Doors._is_bound_again
        monkeypatch.setattr(
            Doors, "_is_bound_again", lambda doors, name: name not in taken and bind(doors, name)
        )
        house.write(house.allowed.without("overlay"))
        assert await house.until(lambda: caplog.messages.count("another process has a door") >= 2)
        house.write(house.allowed.without("wallet"))
        await house.speak(REVOKED_S)
        heard = sum(map(len, good.listen().values()))
        await house.speak(0.2)
        assert sum(map(len, good.listen().values())) == heard, "who is revoked meanwhile is out"
        house.allow("overlay", house.overlay.public, KeyRole.PUBLIC)
        await house.speak(1.0)
        taken.clear()
        overlay = context.socket(zmq.SUB)
        overlay.subscribe(b"")
        connect(overlay, house.keys.doors["live.public"], keys_for(house, house.overlay))
        assert await house.until(lambda: overlay.poll(0) > 0), "and the doors open once they are free"
        overlay.close(linger=0)
        good.close()

    play(directory, context, scene)


def test_the_tables_own_key_is_changed_while_it_runs(directory: Path, context: zmq.Context[Any]) -> None:
    async def scene(house: House) -> None:
        peer, old = await let_in(house), keys_for(house, house.wallet)
        house.keys.key.unlink()
        public_path(house.keys.key).unlink()
        await taken_over()
        heard = len(peer.listen()["live.settlement"])
        assert await house.until(lambda: len(peer.listen()["live.settlement"]) > heard), "it goes on without"
        house.pair = KeyPair.draw()
        write_pair(house.keys.key, house.pair)
        await taken_over()
        late, fresh = Peer(house, old), Peer(house, keys_for(house, house.wallet))
        assert await house.until(fresh.is_in)
        assert not any(late.listen().values())
        for one in (peer, late, fresh):
            one.close()

    play(directory, context, scene)


def test_a_list_that_nobody_understands_allows_nobody(
    directory: Path, context: zmq.Context[Any], caplog: pytest.LogCaptureFixture
) -> None:
    async def scene(house: House) -> None:
        peer = await let_in(house)
        house.keys.allowed.write_text("{")
        await house.speak(1.5 * bus_doors.LOOK_S)
        heard = sum(map(len, peer.listen().values()))
        await house.speak(0.2)
        assert sum(map(len, peer.listen().values())) == heard
        peer.close()
        assert "nobody is allowed any more" in caplog.messages

    play(directory, context, scene)


# Who comes in.


def test_a_consumer_and_a_sender_come_in_once_they_are_allowed(
    directory: Path, context: zmq.Context[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """libzmq never knocks again after a refusal; the client does."""
    for module in (gap_keeper, bus_client):
        monkeypatch.setattr(module, "STALE_US", 300_000)

    async def scene(house: House) -> None:
        pair = KeyPair.draw()
        keys = keys_for(house, pair)
        bets = AsyncCommandClient(
            house.keys.doors["commands.betting"], "bets", timeout_ms=1_000, keys=keys, context=context
        )
        counts = house.doors.refusals.counts
        async with AsyncSubscription(house.feed(keys), cursor=Cursor(), context=context) as table:
            answered = asyncio.create_task(bets.send(OpenTable(), round_no=1))
            first = asyncio.create_task(table.next(5_000))
            assert await house.until(lambda: counts[Reason.UNKNOWN_KEY] >= SOCKETS)
            house.allow("late", pair.public, *WALLET)
            assert await house.until(lambda: answered.done() and first.done())
            delivery = first.result()
            assert answered.result().accepted and delivery is not None and delivery.envelope.seq == 1
        bets.close()

    play(directory, context, scene)


def test_a_consumer_acknowledges_under_the_name_of_its_own_key(
    directory: Path, context: zmq.Context[Any]
) -> None:
    """Over a door the key says who speaks; a local socket keeps others out by its mode."""

    async def scene(house: House) -> None:
        door, local = house.keys.doors["commands.consumer"], house.endpoints.consumer
        pairs = {name: KeyPair.draw() for name in ("Wallet_B", "wallet-a", "wallet-a.2")}
        for name, pair in pairs.items():
            house.allow(name, pair.public, KeyRole.COMMANDS_CONSUMER)
        await taken_over()
        for name, actor, endpoint, reason in (
            ("wallet-a", "wallet-a", door, None),
            ("wallet-a.2", "wallet-a", door, None),
            ("Wallet_B", "wallet-a", door, "FOREIGN_ACTOR"),
            ("wallet-a", "wallet-a.2", door, "FOREIGN_ACTOR"),
            (None, "wallet-a", local, None),
        ):
            keys = None if name is None else keys_for(house, pairs[name])
            client = AsyncCommandClient(endpoint, actor, keys=keys, context=context)
            taken = len(house.commands)
            answer = await client.send(Acknowledge("rp1-1", 1), round_no=0)
            client.close()
            assert (answer.accepted, answer.reason) == (reason is None, reason)
            assert len(house.commands) - taken == (reason is None), "what is refused never gets to the table"

    play(directory, context, scene)


def test_what_cannot_be_a_door_is_refused_and_nothing_stays_open(directory: Path) -> None:
    key, allowed = directory / "bus.key", directory / "bus.allowed.json"

    def refused(doors: dict[str, str], because: str) -> None:
        async def main() -> None:
            context = zmq.Context[Any]()
            live, keys = context.socket(zmq.PUB), BusKeys(key, allowed, doors)
            with live, pytest.raises((EndpointRefused, KeyFileUnusable), match=because):
                Doors(keys, {"live.public": live}, on_rebound=lambda: None, context=context)
            context.term()  # It waits for ever for a socket that was left open.

        asyncio.run(main())

    refused({"live.public": "tcp://127.0.0.1:5600"}, "tablectl keys create")
    write_pair(key, KeyPair.draw())
    refused({"live.public": "ipc:///tmp/x"}, "local sockets take no keys")
    refused({"live.public": "tcp://studio:5600"}, "an address of this machine")
    refused({"live.public": "tcp://192.0.2.1:5600"}, "cannot bind live.public")
    refused({"commands.nobody": "tcp://127.0.0.1:5600"}, "no socket of a table; there are live.public")


def test_two_tables_with_keys_share_no_process(directory: Path, context: zmq.Context[Any]) -> None:
    async def scene(house: House) -> None:
        with pytest.raises(EndpointRefused, match="another table in this process"):
            Doors(house.keys, {}, on_rebound=lambda: None, context=context)

    play(directory, context, scene)


def test_keys_of_a_client_need_an_address_and_an_address_needs_keys(
    directory: Path, context: zmq.Context[Any]
) -> None:
    keys = ClientKeys(KeyPair.draw(), KeyPair.draw().public)
    for endpoint, because in (("ipc:///tmp/x", "take no keys"), ("tcp://studio:0", "port")):
        with pytest.raises(EndpointRefused, match=because):
            CommandClient(endpoint, "bets", keys=keys, context=context)
    with pytest.raises(EndpointRefused, match="there are no keys"):
        CommandClient("tcp://192.0.2.1:5600", "bets", context=context)
    CommandClient("tcp://192.0.2.1:5600", "bets", keys=keys, context=context).close()


# What the handler answers, and what the log tells.


def test_what_is_no_request_is_answered_as_broken_and_counted(
    directory: Path, context: zmq.Context[Any]
) -> None:
    async def scene(house: House) -> None:
        handler, key = house.doors._zap, b"\0" * 32
        for frames in ([], [b"1.0"], [b"2.0", b"7", b"public", b"192.0.2.1", b"", b"CURVE", key]):
            assert handler.answer(frames)[2] == b"500"
        for mechanism in (b"NULL", b"PLAIN", b"GSSAPI"):
            asked = [b"1.0", b"7", b"public", b"192.0.2.1", b"", mechanism, key]
            assert handler.answer(asked)[:4] == [b"1.0", b"7", b"400", b"NO_CURVE"]
        house.allow("all", KeyPair.draw().public, *KeyRole)
        await taken_over()
        shown = zmq.utils.z85.decode(house.allowed.keys["all"].public)
        for domain, answer in ((b"public", b"200"), (b"", b"400"), (b"\xff", b"400"), (b"picture", b"400")):
            asked = [b"1.0", b"7", domain, b"192.0.2.1", b"", b"CURVE", shown]
            assert handler.answer(asked)[2] == answer

    play(directory, context, scene)


def test_a_flood_of_strangers_is_few_lines_and_every_one_is_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    refusals = Refusals()
    for number in range(10_000):
        refusals.add(Refusal("public", Reason.UNKNOWN_KEY, f"192.0.2.{number % 250}"), "k")
    refusals.tell()
    refusals.tell()
    lines = told(caplog)
    assert len(lines) == LINES_MAX + 1 and lines[-1]["door"] == "many"
    assert sum(line["times"] for line in lines) == refusals.counts[Reason.UNKNOWN_KEY] == 10_000
