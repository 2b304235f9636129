"""The plain consumer beside a real daemon: both are killed, and each effect is there once, in order."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from contract import DOCS
from e2e.taped import START_US, write_config

from controller.journal import Days
from controller.station.config import StationConfig
from controller.table.events import Audience
from simulators.faults.catalogue import Amount, Plan
from simulators.links import FastLinks
from simulators.studio import Studio
from simulators.world import World

ROUNDS = 5
AWAY_UNTIL = 4
SEED = 5
WAIT_S = 60
FEED = Audience.SETTLEMENT


class Consumer:
    """The program, started as often as it is killed."""

    def __init__(self, config: StationConfig) -> None:
        self.effects = config.table_dir / "effects"
        known = config.endpoints
        feed = [known.live[FEED], known.replay[FEED], config.settings.table, FEED.value, "simulated"]
        self._command = [
            sys.executable,
            str(DOCS / "plain_consumer.py"),
            *feed,
            str(self.effects),
            "--from-first",
        ]
        self.child = self.start()

    def start(self) -> subprocess.Popen[bytes]:
        """Start it, again."""
        self.child = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        return self.child

    def kill(self) -> None:
        """Kill it in whatever it does."""
        self.child.kill()
        self.child.wait()

    def lines(self) -> list[dict[str, Any]]:
        """Return what it has done."""
        text = self.effects.read_text() if self.effects.exists() else ""
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(WAIT_S):
        while not holds():  # noqa: ASYNC110 - what is waited for happens in other processes
            await asyncio.sleep(0.01)


async def played(config: StationConfig) -> tuple[Consumer, list[bytes]]:
    """Play while both are killed; returns the consumer, and the outbox at the end."""
    studio = Studio(config, seed=SEED, rounds=ROUNDS, plan=Plan(SEED, Amount.NONE))
    link = FastLinks(config, START_US)
    playing = asyncio.create_task(World(link, studio.actors, is_done=studio.dealer.is_done).run())
    consumer = Consumer(config)

    def has_begun(round_no: int) -> bool:
        picture = studio.dealer.picture
        return playing.done() or (picture is not None and picture.round_no >= round_no)

    try:
        await until(lambda: playing.done() or len(consumer.lines()) > 1)
        consumer.kill()
        link.kill()
        await until(lambda: has_begun(AWAY_UNTIL))
        consumer.start()
        await playing
        outbox = [raw for _, raw in Days(config.table_dir).messages(FEED, 1, 1_000_000)]
        await until(lambda: consumer.child.poll() is not None or len(consumer.lines()) == len(outbox))
    finally:
        consumer.kill()
        playing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await playing
    assert link.kills_count == 1
    return consumer, outbox


@pytest.mark.timeout(120)
def test_it_has_each_effect_once_though_it_and_the_daemon_were_killed(tmp_path: Path) -> None:
    consumer, outbox = asyncio.run(played(write_config(tmp_path / "t")))
    kept = [(line["seq"], line["hash"]) for line in consumer.lines()]
    assert kept == [(seq, sha256(raw).hexdigest()) for seq, raw in enumerate(outbox, 1)]
    assert {json.loads(raw)["epoch"] for raw in outbox} == {1, 2}
    assert len([line for line in consumer.lines() if line["effect"]]) == ROUNDS
