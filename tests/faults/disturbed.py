"""A simulated studio whose daemon is killed, or whose power fails, while rounds are played."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import zmq
import zmq.asyncio

from controller.bus.wire import Answer, decode_alive
from controller.journal import Days
from controller.station.config import StationConfig, load
from controller.table.events import AUDIENCES
from simulators.actor import Actor, Feed, Press
from simulators.cast import hire
from simulators.faults.catalogue import Amount, Plan
from simulators.faults.points import Point, PowerCut
from simulators.links import Deliver, FastLinks
from simulators.simulate_command import START_US
from simulators.studio import Studio
from simulators.world import World

CONFIG = Path(__file__).parents[2] / "config"
SEED = 11

Death: TypeAlias = tuple[Point, int] | PowerCut | None
"""How a life of the daemon ends; None is one that does not end by itself."""


def write_config(folder: Path, table: str = "demo") -> StationConfig:
    """Write a shipped table so that everything it makes lies in `folder`, and an open takes no time."""
    for kind in ("games", "decks", "profiles", "tables"):
        (folder / kind).mkdir(parents=True)
        for file in (CONFIG / kind).glob("*.toml"):
            text = file.read_text().replace("../../run", "../run")
            text = text.replace("settle_ms = 300", "settle_ms = 0")
            (folder / kind / file.name).write_text(text)
    config = load(folder / "tables" / f"{table}.toml")
    hire(config)
    assert all(scanner.line.settle_ms == 0 for scanner in config.scanners.values())
    return config


class WatchedLinks(FastLinks):
    """Real links that keep all they hear, and give each life of the daemon the end that is due."""

    def __init__(self, config: StationConfig, deaths: Iterable[Death] = ()) -> None:
        super().__init__(config, START_US)
        self._deaths = deque(deaths)
        self.delivered: dict[str, list[bytes]] = {audience.value: [] for audience in AUDIENCES}
        self.live: set[bytes] = set()
        """Every message that came over the live feeds, as it came."""
        self.accepted: set[str] = set()
        """Request ids that were answered: accepted."""

    async def open(self, deliver: Deliver) -> None:
        """Open, with an ear of its own on the live feeds."""
        self._tasks.append(asyncio.create_task(self._tap()))
        await super().open(deliver)

    async def start_daemon(self) -> None:
        """Start a life."""
        match self._deaths.popleft() if self._deaths else None:
            case PowerCut() as cut:
                self.cut_next_at = cut
            case death:
                self.kill_next_at = death
        await super().start_daemon()

    async def _tap(self) -> None:
        socket = zmq.asyncio.Context.instance().socket(zmq.SUB)
        socket.set_hwm(0)
        socket.subscribe(b"")
        for audience in AUDIENCES:
            socket.connect(self.config.endpoints.live[audience])
        try:
            while True:
                raw = await socket.recv()
                if decode_alive(raw) is None:
                    self.live.add(raw)
        finally:
            socket.close(linger=0)

    def heard(self, feed: Feed, raw: bytes) -> None:
        """Keep what a subscriber is given."""
        if feed is not Feed.STATION:
            self.delivered[feed.value].append(raw)
        super().heard(feed, raw)

    async def press(self, press: Press) -> Answer:
        """Press, and keep the answer."""
        answer = await super().press(press)
        if answer.accepted:
            self.accepted.add(answer.request)
        return answer


@dataclass
class Disturbance:
    """What is done to a run: ends of lives, and SIGKILL a real delay (s) after the acts of these numbers."""

    deaths: tuple[Death, ...] = ()
    kills: Mapping[int, float] = field(default_factory=dict)


@dataclass
class Run:
    """What is left of a run."""

    days: Days
    links: WatchedLinks
    studio: Studio
    acts_count: int


def play(
    folder: Path,
    rounds: int,
    disturbance: Disturbance | None = None,
    *,
    table: str = "demo",
    plan: Plan | None = None,
) -> Run:
    """Play the rounds over real links, by default without faults of people.

    Raises what ends a listener, such as ChainBroken.
    """
    disturbance = disturbance or Disturbance()
    config = write_config(folder, table)
    studio = Studio(config, seed=SEED, rounds=rounds, plan=plan or Plan(SEED, Amount.NONE))
    links = WatchedLinks(config, disturbance.deaths)
    killer = _Killer(links, disturbance.kills)
    world = World(links, _in_order(studio), is_done=studio.dealer.is_done, after_act=killer.acted)
    asyncio.run(_run(world, killer))
    return Run(Days(config.table_dir), links, studio, world.acts_count)


async def _run(world: World, killer: _Killer) -> None:
    try:
        await world.run()
    finally:
        killer.stop()


def _in_order(studio: Studio) -> tuple[Actor, ...]:
    """Return the actors, those first who settle a restart: at its instant players bet when it is over."""
    staff = (studio.dealer, studio.supervisor)
    return (*staff, *(actor for actor in studio.actors if actor not in staff))


class _Killer:
    """Kills the daemon while the world goes on with its next act."""

    def __init__(self, links: WatchedLinks, kills: Mapping[int, float]) -> None:
        self._links = links
        self._kills = kills
        self._acts_count = 0
        self._timers: list[asyncio.TimerHandle] = []

    def acted(self) -> None:
        """An act is done."""
        self._acts_count += 1
        delay_s = self._kills.get(self._acts_count)
        if delay_s is not None:
            self._timers.append(asyncio.get_running_loop().call_later(delay_s, self._links.kill))

    def stop(self) -> None:
        """Kill nobody any more."""
        for timer in self._timers:
            timer.cancel()
