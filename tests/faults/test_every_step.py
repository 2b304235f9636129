"""Killed at every durable step of scripted rounds, and at every step of the recovery.

Each audience's stream is that of the undisturbed run, but for what `streams` and `cuts.Trial` name; so are
the answers to everybody who has pressed. In this process, with the real journal: a thousand starts of a real
one would take half an hour.

TABLECTL_SOAK=1: all scripts, and all steps of each; else one script for each kind of incident, killed before
its newest step is durable.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest
from faults.cuts import Trial
from faults.lives import write_config
from faults.scripts import OF_A_START, Script, all_scripts, each_kind
from faults.shoe_scripts import all_of_shoes, of_each_kind_of_shoes

from controller.station.config import StationConfig
from controller.table.events import IncidentKind
from simulators.faults.points import Point

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
PARTS = 8 if SOAK else 1
MEMORY = Path("/dev/shm")
"""A SIGKILL, other than a power cut, leaves the same on any disk; commits in memory need not wait for one."""
ELSEWHERE = {
    *OF_A_START,
    IncidentKind.DISK_LOW,  # Every start measures the disk anew: station/test_guards.
    IncidentKind.NOT_SEEN_AGAIN,  # Of tables with a second reader: station/test_readers.
}

pytestmark = pytest.mark.timeout(3600 if SOAK else 120)


@lru_cache(maxsize=1)
def scripts() -> tuple[Script, ...]:
    return (*all_scripts(), *all_of_shoes()) if SOAK else (*each_kind(), *of_each_kind_of_shoes())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder in memory, where the system has one."""
    if not MEMORY.is_dir():
        yield tmp_path_factory.mktemp("steps")
        return
    with tempfile.TemporaryDirectory(dir=MEMORY) as made:
        yield Path(made)


@pytest.fixture(scope="module")
def configs(folder: Path) -> dict[object, StationConfig]:
    """The config of each house and its limits."""
    return {}


def config_of(script: Script, folder: Path, configs: dict[object, StationConfig]) -> StationConfig:
    kind = script.house, script.limits
    if kind not in configs:
        made = folder / f"config{len(configs)}"
        made.mkdir()
        configs[kind] = write_config(made, script)
    return configs[kind]


def test_every_kind_of_incident_is_in_a_script() -> None:
    kinds = {kind for script in scripts() for kind, _ in script.decided}
    assert kinds == set(IncidentKind) - ELSEWHERE
    assert not SOAK or len(scripts()) >= 50
    assert len({script.name for script in scripts()}) == len(scripts())


@pytest.mark.parametrize("part", range(PARTS))
def test_killed_at_every_step(folder: Path, configs: dict[object, StationConfig], part: int) -> None:
    for script in scripts()[part::PARTS]:
        config = config_of(script, folder, configs)
        trial = Trial(Path(tempfile.mkdtemp(dir=folder)), config, script)
        assert script.decided <= trial.decided, script.name
        trial.kill(
            is_chosen=lambda place, newest=trial.newest: SOAK or place == (newest, Point.BEFORE_COMMIT),
            is_deep=lambda place, newest=trial.newest: SOAK and place[0] == newest,
        )
        assert trial.differences == []
        shutil.rmtree(trial.folder)
        if SOAK:
            died = trial.deaths[Point.AFTER_COMMIT] + trial.deaths["lost-for-good"]
            assert died >= len(script.acts) - script.begins
            assert trial.deaths[Point.IN_RECOVERY] >= 1
