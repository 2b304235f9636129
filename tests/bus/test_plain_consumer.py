"""The documented consumer in plain pyzmq: killed, cut off, started anew, it has each effect once."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import zmq
from bus.conftest import RunningBus, running_bus
from bus.streams import TABLE, cancelled_round, normal_round
from contract import DOCS

from controller.bus.endpoints import Endpoints
from controller.bus.envelope import travelling_events, type_of
from controller.bus.schema import audiences_of
from controller.table.events import Audience

PROGRAM = DOCS / "plain_consumer.py"
SETTLEMENT = Audience.SETTLEMENT
WAIT_S = 20


class Consumer:
    """The consumer in a process of its own, and what it has written."""

    def __init__(self, bus: RunningBus, folder: Path, *more: str) -> None:
        self.effects = folder / "effects"
        self.said = folder / "said"
        feed = bus.feed(SETTLEMENT)
        words = [feed.live, feed.replay, TABLE, SETTLEMENT.value, "simulated", str(self.effects), *more]
        with self.said.open("ab") as said:
            command = [sys.executable, str(PROGRAM), *words]
            self.child = subprocess.Popen(command, stdout=said, stderr=said)

    def lines(self) -> list[dict[str, Any]]:
        text = self.effects.read_text() if self.effects.exists() else ""
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def has(self, word: str) -> bool:
        return word in self.said.read_text()

    def may_bet(self) -> bool:
        said = [line for line in self.said.read_text().splitlines() if "bets" in line.split()]
        return said[-1:] == ["bets may open"]

    def kill(self) -> None:
        self.child.kill()
        self.child.wait()


def until(holds: Callable[[], bool], meanwhile: Callable[[], None] = lambda: None) -> None:
    deadline = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < deadline, "it never came"
        meanwhile()
        time.sleep(0.05)


@pytest.fixture
def bus(directory: Path, context: zmq.Context[zmq.Socket[bytes]]) -> Iterator[RunningBus]:
    with running_bus(Endpoints.ipc(directory, TABLE), context) as bus:
        yield bus


@pytest.fixture
def start(bus: RunningBus, tmp_path: Path) -> Iterator[Callable[..., Consumer]]:
    started: list[Consumer] = []

    def begin(*more: str) -> Consumer:
        started.append(Consumer(bus, tmp_path, *more))
        return started[-1]

    yield begin
    for consumer in started:
        consumer.kill()


def play(bus: RunningBus, round_no: int, *, send: bool = True) -> None:
    for step in normal_round(round_no):
        bus.step(step, send=send)


def last(bus: RunningBus) -> int:
    return bus.outbox.last_seq(SETTLEMENT)


def assert_each_once(consumer: Consumer, bus: RunningBus, first: int = 1) -> None:
    kept = [(line["seq"], line["hash"]) for line in consumer.lines()]
    rows = list(enumerate(bus.outbox.rows[SETTLEMENT], 1))[first - 1 :]
    assert kept == [(seq, sha256(raw).hexdigest()) for seq, raw in rows]


def test_it_is_killed_and_goes_on_after_its_last_effect(
    bus: RunningBus, start: Callable[..., Consumer]
) -> None:
    play(bus, 1)
    consumer = start("--from-first")
    until(lambda: len(consumer.lines()) == last(bus), bus.alive)
    play(bus, 2)
    consumer.kill()
    with consumer.effects.open("ab") as file:
        file.write(b'{"seq": 9')  # The power failed in the middle of a line.
    play(bus, 3)
    for step in cancelled_round(4):
        bus.step(step)
    bus.restart()
    consumer = start("--from-first")
    until(lambda: consumer.lines()[-1]["seq"] == last(bus), bus.alive)
    assert_each_once(consumer, bus)
    effects = [line["effect"] for line in consumer.lines() if line["effect"]]
    assert effects == [
        *(f"rp1-{number} revision 1: confirmed" for number in (1, 2, 3)),
        "rp1-4 revision 1: cancelled",
    ]


def test_a_gap_is_found_and_filled(bus: RunningBus, start: Callable[..., Consumer]) -> None:
    play(bus, 1)
    consumer = start("--from-first")
    until(lambda: consumer.has("bets may open"), bus.alive)
    play(bus, 2, send=False)
    play(bus, 3)
    until(lambda: len(consumer.lines()) == last(bus), bus.alive)
    assert_each_once(consumer, bus)
    until(lambda: consumer.may_bet(), bus.alive)
    assert consumer.said.read_text().count("no new bets, a gap") > 1  # The first one is from the start.


def test_without_a_cursor_it_joins_at_the_snapshot(bus: RunningBus, start: Callable[..., Consumer]) -> None:
    play(bus, 1)
    joined = last(bus)
    consumer = start()
    until(lambda: consumer.has(f"joined at {joined}\n"), bus.alive)
    play(bus, 2)
    until(lambda: len(consumer.lines()) == last(bus) - joined, bus.alive)
    assert_each_once(consumer, bus, first=joined + 1)


def test_a_table_that_is_not_heard_opens_no_bets(bus: RunningBus, start: Callable[..., Consumer]) -> None:
    play(bus, 1)
    consumer = start("--from-first")
    until(lambda: consumer.has("bets may open"), bus.alive)
    until(lambda: consumer.has("no new bets, the table is not heard"))
    until(lambda: consumer.may_bet(), bus.alive)


def test_another_history_stops_it(bus: RunningBus, start: Callable[..., Consumer], tmp_path: Path) -> None:
    play(bus, 1)
    (tmp_path / "effects").write_text(json.dumps({"seq": 2, "hash": "f" * 64, "effect": None}) + "\n")
    consumer = start()
    until(lambda: consumer.child.poll() is not None, bus.alive)
    assert consumer.child.returncode == 1
    assert re.search(r"rp1/settlement/3: does not follow 2 with hash ffffffffffff", consumer.said.read_text())
    assert len(consumer.lines()) == 1


def test_a_dead_process_is_not_believed(bus: RunningBus, start: Callable[..., Consumer]) -> None:
    bus.epoch = 2
    play(bus, 1, send=False)
    consumer = start("--from-first")
    until(lambda: consumer.has("bets may open"), bus.alive)
    forged = bus.outbox.rows[SETTLEMENT][0].replace(b'"seq":1,', b'"seq":99,').replace(b'/1"', b'/99"')
    socket = bus.publisher._sockets[SETTLEMENT]
    socket.send(forged)
    socket.send(b'{"alive":"rp1","source":"tablectl/rp1/simulated","at_us":1,"epoch":1,"seq":99}')
    bus.step(next(normal_round(2, epoch=2)))
    until(lambda: len(consumer.lines()) == last(bus))
    assert consumer.said.read_text().count("no new bets") == 1  # When it began, and never again.
    assert_each_once(consumer, bus)


def test_a_journal_that_has_lost_what_it_sent_stops_it(
    bus: RunningBus, start: Callable[..., Consumer]
) -> None:
    play(bus, 1)
    consumer = start("--from-first")
    until(lambda: consumer.has("bets may open"), bus.alive)
    alive = {"alive": "rp1", "source": "tablectl/rp1/simulated", "at_us": 2, "epoch": 0, "seq": 1}
    bus.publisher._sockets[SETTLEMENT].send(json.dumps(alive).encode())
    until(lambda: consumer.child.poll() is not None)
    assert consumer.child.returncode == 1 and consumer.has("the table's journal has lost what it sent")


def test_it_knows_every_type_of_the_feed_and_needs_nothing_of_the_project() -> None:
    text = PROGRAM.read_text()
    known = {type_of(tag) for tag, kind in travelling_events().items() if SETTLEMENT in audiences_of(kind)}
    listed = {f"tablectl.{word}.v1" for word in re.findall(r'"([a-z]+\.[a-z]+)"', text)}
    assert listed == known
    assert "controller" not in re.findall(r"^(?:from|import) ([a-z]+)", text, re.MULTILINE)
