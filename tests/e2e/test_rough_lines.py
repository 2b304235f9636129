"""Chaos on the line: wallet and overlay hear a table whose messages are lost, doubled, late and out of order.

Partitions, stopped and restarted consumers, joins at any message, with every fault at the table besides. All
money must be where the oracle says, and two seconds after the line has healed everybody must know everything.
TABLECTL_SOAK=1 plays twenty thousand rounds.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from pathlib import Path

import pytest
from e2e.test_simulation import SEED, balances_of, demo_in

from controller.station.config import load
from simulators.faults.catalogue import Amount, Plan
from simulators.links import DirectLink
from simulators.simulate_command import START_US
from simulators.studio import OPENING_BALANCE, Line, Studio, differences
from simulators.world import World

ROUNDS = 20_000 if os.environ.get("TABLECTL_SOAK") else 40
MORE = 1_000_000 * ROUNDS
"""So much that nobody runs dry: the oracle does not judge RPL-81."""
HAPPENS = {
    "lost",
    "doubled",
    "overtaken",
    "late",
    "partitions",
    "stops of the consumer",
    "slow times of the consumer",
    "starts of the consumer",
    "joins at some number",
    "requests for replay",
    "times healed",
}


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Studio:
    """The rounds, played over rough lines in this process."""
    config = load(demo_in(tmp_path_factory.mktemp("rough")))
    studio = Studio(config, seed=SEED, rounds=ROUNDS, plan=Plan(SEED, Amount.MANY), line=Line.ROUGH)
    for player in studio.betting.crowd.players:
        studio.wallet.deposit(player, MORE, f"more/{player}")
    asyncio.run(World(DirectLink(config, START_US), studio.actors, is_done=studio.dealer.is_done).run())
    studio.heal()
    return studio


def test_everything_has_happened_to_both_lines(studio: Studio) -> None:
    for line in studio.lines:
        print(line.name, dict(line.counts))
        assert {name for name, count in line.counts.items() if count} >= HAPPENS
    counts = sum((line.counts for line in studio.lines), Counter[str]())
    assert counts["lost"] > 20 * ROUNDS and counts["times healed"] > ROUNDS // 4


def test_two_seconds_after_healing_everybody_knows_everything(studio: Studio) -> None:
    assert [fault for line in studio.lines for fault in line.unequal] == []
    settlement, public = studio.lines
    assert studio.overlay.snapshot == public.snapshot
    assert studio.wallet.cursor == (settlement.snapshot.seq, settlement.snapshot.hash)


def test_nothing_is_paid_twice_or_lost(studio: Studio) -> None:
    assert differences(studio) == []
    assert studio.wallet.waiting() == () and studio.wallet.trial_balance() == ()
    assert studio.wallet.balances() == balances_of(studio, OPENING_BALANCE + MORE)
    assert min(studio.wallet.balances().values()) > MORE // 10, "whoever runs dry plays by RPL-81"


def test_a_line_that_stays_rough_is_told(tmp_path: Path) -> None:
    """The check can fail: an overlay that missed something is not where the table is."""
    config = load(demo_in(tmp_path))
    studio = Studio(config, seed=1, rounds=1, plan=Plan(1, Amount.NONE), line=Line.ROUGH)
    asyncio.run(World(DirectLink(config, START_US), studio.actors, is_done=studio.dealer.is_done).run())
    _, public = studio.lines
    before = studio.overlay.snapshot
    studio.heal()
    studio.overlay.start_from(type(before)(table=before.table, audience=before.audience))
    public.heal()
    assert public.unequal
