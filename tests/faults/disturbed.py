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

from controller.bus.envelope import SealedRound, decode, event_of
from controller.bus.wire import Answer, decode_alive
from controller.journal import Days
from controller.station.config import StationConfig, load
from controller.table import inputs as i
from controller.table.events import AUDIENCES
from controller.table.picture import Picture
from simulators.actor import Actor, Feed, Listener, Planned, Press
from simulators.cast import hire
from simulators.faults.catalogue import Amount, Plan
from simulators.faults.points import Point, PowerCut
from simulators.links import Deliver, FastLinks
from simulators.simulate_command import START_US
from simulators.studio import Studio
from simulators.supervisor import Supervisor
from simulators.wallet import Wallet
from simulators.world import World

CONFIG = Path(__file__).parents[2] / "config"
SEEDS = {"demo": 11, "grandmaster_russian_poker": 6, "oasis_with_bonus": 48}
"""Days of these tables whose first rounds have windows of every kind: ended by all, by time, with draws."""

Death: TypeAlias = tuple[Point, int] | PowerCut | None
"""How a life of the daemon ends; None is one that does not end by itself."""


def write_config(folder: Path, table: str = "demo") -> StationConfig:
    """Write a shipped table so that everything it makes lies in `folder`, and an open takes no time."""
    for kind in ("games", "decks", "profiles", "tables"):
        (folder / kind).mkdir(parents=True)
        for file in (CONFIG / kind).glob("*.toml"):
            text = file.read_text().replace("../../run", "../run")
            text = text.replace("settle_ms = 300", "settle_ms = 0").replace("port = 8600", "port = 0")
            (folder / kind / file.name).write_text(text)
    config = load(folder / "tables" / f"{table}.toml")
    hire(config)
    assert all(scanner.line.settle_ms == 0 for scanner in config.scanners.values())
    return config


class Bookkeeper(Listener):
    """Notes all balances at the end of each round. It comes after the wallet among the actors."""

    feed = Feed.SETTLEMENT

    def __init__(self, wallet: Wallet) -> None:
        self.name = "bookkeeper"
        self.balances = [wallet.balances()]
        """After each round, from 1; first what the players brought."""
        self._wallet = wallet

    def heard(self, message: bytes, now_us: int) -> list[Planned]:
        """Note the balances after the last message of a round."""
        if isinstance(event_of(decode(message)), SealedRound):
            self.balances.append(self._wallet.balances())
        return []


class HastySupervisor(Supervisor):
    """Does not wait for players: cancels a round that was interrupted unless the table offers to go on."""

    def _decision(self, picture: Picture) -> i.AnyCommand | None:
        if "go_on" in picture.buttons:
            return i.GoOn()
        return i.ConfirmCancel() if "confirm_cancel" in picture.buttons else None


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
    balances: list[dict[str, int]]
    """After each round, from 1; first what the players brought."""


def play(
    folder: Path,
    rounds: int,
    disturbance: Disturbance | None = None,
    *,
    table: str = "demo",
    plan: Plan | None = None,
    hasty: bool = False,
    seed: int | None = None,
) -> Run:
    """Play the rounds over real links, by default without faults of people.

    Raises what ends a listener, such as ChainBroken.
    """
    disturbance = disturbance or Disturbance()
    config = write_config(folder, table)
    seed = SEEDS[table] if seed is None else seed
    studio = Studio(config, seed=seed, rounds=rounds, plan=plan or Plan(seed, Amount.NONE))
    if hasty:
        calm = studio.supervisor
        studio.supervisor = HastySupervisor(
            calm.name, deck=calm.deck, sees=calm.sees, counts=calm.counts, whole=calm.whole
        )
    links = WatchedLinks(config, disturbance.deaths)
    killer = _Killer(links, disturbance.kills)
    books = Bookkeeper(studio.wallet)
    actors = (*_in_order(studio), books)
    world = World(links, actors, is_done=studio.dealer.is_done, after_act=killer.acted)
    asyncio.run(_run(world, killer))
    return Run(Days(config.table_dir), links, studio, world.acts_count, books.balances)


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
