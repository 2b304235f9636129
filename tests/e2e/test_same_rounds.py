"""One seed gives one list of rounds, over real ptys and ZeroMQ as inside one process.

TABLECTL_SOAK=1 plays 200 rounds; faults of every kind are among them.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import NamedTuple

import pytest

from controller.station.config import StationConfig, load
from simulators.faults.catalogue import Amount, Plan
from simulators.links import DirectLink, FastLinks, Link
from simulators.simulate_command import START_US
from simulators.studio import Studio
from simulators.world import World

CONFIG = Path(__file__).parents[2] / "config"
ROUNDS = 200 if os.environ.get("TABLECTL_SOAK") else 12


class Ended(NamedTuple):
    """What became of a round."""

    roundid: str
    terminals: tuple[str, ...]
    reason: str | None
    outcome: bytes


def write_config(folder: Path) -> StationConfig:
    """Write the demo's table so that everything it makes lies in `folder`."""
    for kind in ("games", "decks", "profiles", "tables"):
        (folder / kind).mkdir(parents=True)
        for file in (CONFIG / kind).glob("*.toml"):
            (folder / kind / file.name).write_text(file.read_text().replace("../../run", "../run"))
    return load(folder / "tables" / "demo.toml")


def rounds_of(config: StationConfig, link: Link, seed: int, amount: Amount) -> list[Ended]:
    """Play, and list the rounds in the order of their opening."""
    studio = Studio(config, seed=seed, rounds=ROUNDS, plan=Plan(seed, amount))
    asyncio.run(World(link, studio.actors, is_done=studio.dealer.is_done).run())
    return [
        Ended(record.roundid, tuple(record.terminals), record.reason, record.outcome)
        for record in studio.auditor.rounds.values()
        if record.roundid != "between"
    ]


@pytest.mark.parametrize("amount", [Amount.NONE, Amount.MANY])
def test_the_same_rounds_over_real_and_direct_links(tmp_path: Path, amount: Amount) -> None:
    real, direct = write_config(tmp_path / "real"), write_config(tmp_path / "direct")
    over_wires = rounds_of(real, FastLinks(real, START_US), 5, amount)
    inside = rounds_of(direct, DirectLink(direct, START_US), 5, amount)
    assert [ended.roundid for ended in inside] == [f"rp1-{number}" for number in range(1, ROUNDS + 1)]
    assert over_wires == inside


def test_another_seed_gives_other_rounds(tmp_path: Path) -> None:
    lists = []
    for seed in (5, 6):
        config = write_config(tmp_path / str(seed))
        lists.append(rounds_of(config, DirectLink(config, START_US), seed, Amount.NONE))
    assert len({ended.outcome for ended in lists[0]}) > 1
    assert lists[0] != lists[1]
