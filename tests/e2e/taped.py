"""Sessions on tape: a simulated studio plays a whole station, and everything it does to it is kept.

A tape can be driven into another station, card by card the same or with one card exchanged for another.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import shutil
from collections.abc import Callable, Coroutine
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from controller.bus.wire import Answer
from controller.cards import DECK, Card
from controller.station.config import StationConfig, load
from controller.station.feeds import OpenFeeds
from controller.station.station import Station
from controller.table.inputs import ConfirmShuffle
from simulators.actor import Press
from simulators.cast import hire
from simulators.faults.catalogue import BY_ID, Amount, Case, Plan
from simulators.link import Deliver, DirectLink
from simulators.studio import Studio
from simulators.world import World

T = TypeVar("T")

CONFIG = Path(__file__).parents[2] / "config"
START_US = 1_700_000_000_000_000
SCANNER = "shoe"
FRAME_END = b"\n"


class Deed(StrEnum):
    """What the world can do to a table."""

    SEND = "send"
    PRESS = "press"
    UNPLUG = "unplug"
    REPLUG = "replug"
    RESTART = "restart"


class Taped(NamedTuple):
    """One deed, with the time at which the world did it."""

    at_us: int
    deed: Deed
    data: bytes = b""
    press: Press | None = None


Tape = list[Taped]


def spell(card: Card) -> str:
    """Return the code of a card in the deck of `write_config`: two characters or three."""
    return f"{int(card.rank)}{card.suit}"


def frame(card: Card) -> bytes:
    """Return what the scanner sends for a card."""
    return spell(card).encode() + FRAME_END


def write_config(folder: Path, **changed: str) -> StationConfig:
    """Write the demo table's config below `folder`, with a deck whose codes differ in length.

    `changed` replaces the values of keys that stand once in the table's file.
    """
    for name in ("games", "decks", "profiles", "tables"):
        shutil.copytree(CONFIG / name, folder / name)
    codes = "".join(f'"{spell(card)}" = "{card}"\n' for card in DECK)
    (folder / "decks" / "blue.toml").write_text(f'scheme = "table"\n[codes]\n{codes}')
    path = folder / "tables" / "demo.toml"
    text = path.read_text().replace("../../run", "../run").replace("port = 8600", "port = 0")
    lines = (
        text.replace("min_length = 3", "min_length = 1")
        .replace("max_length = 4", "max_length = 64")
        .splitlines()
    )
    for key, value in changed.items():
        [index] = [number for number, line in enumerate(lines) if line.startswith(f"{key} =")]
        lines[index] = f"{key} = {value}"
    path.write_text("\n".join(lines) + "\n")
    config = load(path)
    hire(config)
    return config


def is_shuffle(press: Press | None) -> bool:
    """Whether this press says that the deck lies in the shoe."""
    return press is not None and isinstance(press.command, ConfirmShuffle)


class Keys:
    """Keys that are the same in every run."""

    def __init__(self) -> None:
        self._count = itertools.count(1)

    def __call__(self) -> str:
        return hashlib.sha256(f"key {next(self._count)}".encode()).hexdigest()


class TapingLink(DirectLink):
    """Keeps what is done to the table; the process ends and starts again after `restart_after` cards."""

    def __init__(self, config: StationConfig, restart_after: int | None = None) -> None:
        super().__init__(config, START_US)
        self.tape: Tape = []
        self._restart_after = restart_after
        self._sends = 0
        self._in_the_shoe = False
        self._hear: Deliver = lambda *_: None

    async def open(self, deliver: Deliver) -> None:
        """Start the station."""
        self._hear = deliver
        await super().open(deliver)

    async def press(self, press: Press) -> Answer:
        """Press, and keep it."""
        self.tape.append(Taped(self.now_us(), Deed.PRESS, press=press))
        self._in_the_shoe = self._in_the_shoe or is_shuffle(press)
        return await super().press(press)

    async def send(self, device: str, data: bytes) -> None:
        """Send, and keep it."""
        self.tape.append(Taped(self.now_us(), Deed.SEND, data))
        await super().send(device, data)
        self._sends += self._in_the_shoe
        if self._sends == self._restart_after:
            self.tape.append(Taped(self.now_us(), Deed.RESTART))
            await self.close()
            await super().open(self._hear)

    async def unplug(self, device: str) -> None:
        """Unplug, and keep it."""
        self.tape.append(Taped(self.now_us(), Deed.UNPLUG))
        await super().unplug(device)

    async def replug(self, device: str) -> None:
        """Plug in, and keep it."""
        self.tape.append(Taped(self.now_us(), Deed.REPLUG))
        await super().replug(device)


class KeyedLink(DirectLink):
    """The station in this process with the keys of `Keys`. Its scanner is plugged in by the tape."""

    def __init__(self, config: StationConfig, open_feeds: OpenFeeds) -> None:
        super().__init__(config, START_US)
        self._begin = partial(Station, config, self.clock, new_key=Keys(), open_feeds=open_feeds)

    def begin(self) -> None:
        """Start the station."""
        self.station = self._begin()

    def end(self) -> None:
        """The process ends."""
        assert self.station is not None
        self.station.close()


class OneFault(Plan):
    """The same fault in every round, at a card that the test chooses; no fault for None."""

    def __init__(self, fault: str | None, card: int = 0, *, seed: int) -> None:
        super().__init__(seed, Amount.NONE)
        self._case = None if fault is None else Case(BY_ID[fault], card)

    def of(self, round_no: int) -> Case | None:
        """Return the case."""
        return self._case


def play(config: StationConfig, plan: Plan, *, rounds: int, restart_after: int | None = None) -> TapingLink:
    """Let a studio play; returns the link with its tape, the station closed."""
    studio = Studio(config, seed=plan.seed, rounds=rounds, plan=plan)
    link = TapingLink(config, restart_after)
    asyncio.run(World(link, studio.actors, is_done=studio.dealer.is_done).run())
    return link


class Driver:
    """Drives a tape into a station. `moment` is called when the table has come to rest after each thing."""

    def __init__(self, link: KeyedLink, moment: Callable[[Answer | None], None]) -> None:
        self._link = link
        self._moment = moment

    def run(self, tape: Tape) -> None:
        """Play the tape to its end and close the station."""
        self._link.begin()
        self._moment(None)
        for taped in tape:
            self._wait_until(taped.at_us)
            self._moment(run_now(self._do(taped)))
        self._link.end()

    def _wait_until(self, at_us: int) -> None:
        """Move the clock to what falls due, one deadline at a time."""
        while (due := run_now(self._link.settled())) is not None and due <= at_us:
            run_now(self._link.advance(max(due, self._link.now_us())))
            self._moment(None)
        self._link.clock.advance(at_us)

    async def _do(self, taped: Taped) -> Answer | None:
        link = self._link
        match taped.deed:
            case Deed.SEND:
                await link.send(SCANNER, taped.data)
            case Deed.PRESS:
                assert taped.press is not None
                return await link.press(taped.press)
            case Deed.UNPLUG:
                await link.unplug(SCANNER)
            case Deed.REPLUG:
                await link.replug(SCANNER)
            case Deed.RESTART:
                link.end()
                link.begin()
        return None


def run_now(work: Coroutine[Any, Any, T]) -> T:
    """Run what never really waits."""
    while True:
        try:
            work.send(None)
        except StopIteration as stop:
            value: T = stop.value
            return value
