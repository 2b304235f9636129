"""What stands in this folder and is made by a program: the contract of the bus, and sample messages.

`python docs/bus/rebuild.py` writes all of it anew. It refuses while a change of the types breaks the schemas
that stand here: raise `VERSION` in `controller/bus/envelope.py`, or make the change one that only adds.

`python docs/bus/rebuild.py --journal FILE` keeps the journal of one of the sample sessions, compressed. Those
in `seeds/journals` are never made anew: they stand for the journals of old versions.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import itertools
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import msgspec

from controller.bus.schema import bus_schemas
from controller.bus.schema_changes import breaking_changes
from controller.journal import Days
from controller.station.config import StationConfig, load
from controller.station.schema_command import documents
from controller.station.station import Station
from controller.table.events import Audience
from simulators.cast import hire
from simulators.faults.catalogue import Amount, Case, Plan
from simulators.faults.courses import course_of
from simulators.link import Deliver, DirectLink, _DirectFeeds, _DirectPort
from simulators.studio import Studio
from simulators.world import World

FOLDER = Path(__file__).parent
TABLES = FOLDER.parents[1] / "config" / "tables"
START_US = 1_767_268_800_000_000
SEED = 30
PLAYERS = 4
ROUNDS = 3
FAULTS = {2: "hidden-shown", 3: "wrong-result"}
"""Round 1 is a normal one, 2 is cancelled, 3 is confirmed and corrected."""
SAMPLES: Mapping[str, tuple[Audience, ...]] = {
    "demo": (Audience.PUBLIC, Audience.BETTING, Audience.SETTLEMENT),
    "oasis_poker": (Audience.SETTLEMENT,),
}
"""Live Russian Poker refunds a wrong result; Oasis corrects it, and the difference is paid."""


class SamplePlan(Plan):
    """The faults of the sample rounds."""

    def of(self, round_no: int) -> Case | None:
        """Return the fault of a round."""
        name = FAULTS.get(round_no)
        fault = None if name is None else self.course.find(name)
        return None if fault is None else Case(fault, self.course.cards[fault.moment][0])


class SampleLink(DirectLink):
    """The station in this process, with keys that are the same in every run."""

    def __init__(self, config: StationConfig) -> None:
        super().__init__(config, START_US)
        numbers = itertools.count(1)
        self._begin = partial(
            Station,
            config,
            self.clock,
            open_port=partial(_DirectPort, self.bench),
            new_key=lambda: hashlib.sha256(f"sample {next(numbers)}".encode()).hexdigest(),
        )

    async def open(self, deliver: Deliver) -> None:
        """Start the station and plug the scanners in."""
        feeds = _DirectFeeds(deliver)
        self.station = self._begin(open_feeds=lambda *_: feeds)
        for name in self._config.scanners:
            await self.replug(name)


def play(
    table: str,
    folder: Path,
    *,
    rounds: int = ROUNDS,
    plan_of: Callable[..., Plan] = SamplePlan,
    link_of: Callable[[StationConfig], DirectLink] = SampleLink,
) -> Days:
    """Play rounds of a shipped table below `folder`, the sample rounds unless told otherwise."""
    shipped = load(TABLES / f"{table}.toml")
    config = msgspec.structs.replace(shipped, run_dir=folder, people=folder / "people.toml")
    hire(config)
    course = course_of(config.game, config.settings.boxes_not_told)
    plan = plan_of(SEED, Amount.MANY, course=course)
    studio = Studio(config, seed=SEED, rounds=rounds, plan=plan, players=PLAYERS)
    asyncio.run(World(link_of(config), studio.actors, is_done=studio.dealer.is_done).run())
    return Days(config.table_dir)


@contextmanager
def played(table: str) -> Iterator[Days]:
    """Play in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        yield play(table, Path(folder))


def rebuild(folder: Path) -> None:
    """Write everything into `folder`, in place of what is there."""
    for name, text in documents().items():
        (folder / name).write_text(text)
    (folder / "samples").mkdir(exist_ok=True)
    for table, audiences in SAMPLES.items():
        with played(table) as days:
            for audience in audiences:
                lines = b"".join(raw + b"\n" for _, raw in days.messages(audience, 1, 1_000_000))
                (folder / "samples" / f"{table}.{audience}.jsonl").write_bytes(lines)


def keep_journal(path: Path) -> None:
    """Keep the journal of the sample rounds of live Russian Poker."""
    with played("demo") as days:
        [journal] = days.paths()
        path.write_bytes(gzip.compress(journal.read_bytes(), mtime=0))


def main(words: list[str]) -> None:
    """Rebuild, or keep a journal. Stops at a change that breaks what is published."""
    if words[:1] == ["--journal"]:
        keep_journal(Path(words[1]))
        return
    kept = FOLDER / "schemas.json"
    broken = breaking_changes(json.loads(kept.read_text()), bus_schemas()) if kept.exists() else []
    if broken:
        sys.exit(
            "\n".join([*broken, f"{kept}: a new major version is needed (VERSION); nothing was written"])
        )
    rebuild(FOLDER)


if __name__ == "__main__":
    main(sys.argv[1:])
