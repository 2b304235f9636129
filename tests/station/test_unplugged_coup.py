"""A scanner that is unplugged in the middle of a coup of baccarat: a real line, a running station."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from station.coup_table import replace, write_config
from station.recorded import NoFeeds

from controller.bus.wire import Answer, CommandRequest
from controller.games.baccarat import LAYOUT
from controller.games.procedure import BoxState
from controller.station.clock import LiveClock
from controller.station.config import load
from controller.station.station import Station
from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import IncidentKind, Refusal
from controller.table.picture import draw
from drivers.pty import PtyDevice
from simulators.cast import PINS, ROLES

REPORTED_S = 2.0


class Floor:
    """A station on the wall clock, and what people do at it."""

    def __init__(self, config: Path) -> None:
        self.config = load(config)
        link = Path(self.config.scanners["shoe"].port)
        link.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.device = PtyDevice(link)
        self.station = Station(self.config, LiveClock(), open_feeds=lambda *_: NoFeeds())

    @property
    def prompt(self) -> str:
        return draw(self.station.kernel.table.state).prompt.code

    def lie(self, count: int) -> bool:
        current = self.station.kernel.table.state.round
        return current is not None and len(current.laid) == count

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(20):
            while not condition():  # noqa: ASYNC110  # What is written comes over a pty.
                await asyncio.sleep(0.005)

    async def press(self, command: i.AnyCommand, actor: str = "anna", pin: str | None = None) -> str | None:
        """Send a command; returns why it was refused."""
        answers: list[Answer] = []
        endpoint = "betting" if actor == "bets" else "operator"
        round_no = self.station.kernel.table.state.round_no
        request = CommandRequest(f"r{time.monotonic_ns()}", actor, round_no, command, pin)
        assert self.station.submit(endpoint, request, answers.append)
        await self.until(lambda: answers)
        return answers[0].reason

    async def open_coup(self) -> None:
        """From the log-ins to the first card."""
        await self.until(lambda: self.station.kernel.table.state.scanners_up)
        for person, role in ROLES.items():
            await self.press(i.LogIn(role), person, PINS[person])
        await self.press(i.OpenTable())
        for actor in ("anna", "boris"):
            await self.press(i.LoadDeck("shoe8", "R-1"), actor)
        for command in (i.VerifyDeck(416), i.ConfirmShuffle(), i.OpenBetting(), i.CloseBetting()):
            assert await self.press(command) is None
        await self.press(i.BetsTaken({LAYOUT: BoxState.DARK}), "bets")
        free_us = self.station.kernel.table.state.in_play.free_at
        await self.until(lambda: self.station.clock.now_us() > free_us)


async def play(floor: Floor) -> None:
    stopped = asyncio.Event()
    running = asyncio.create_task(floor.station.run(stopped))
    await floor.open_coup()
    state, device = floor.station.kernel.table.state, floor.device
    for count, code in enumerate((b"4080\n", b"1010\n"), start=1):
        device.write(code)
        await floor.until(partial(floor.lie, count))
    began = time.monotonic()
    device.unplug()
    await floor.until(lambda: state.incident)
    assert time.monotonic() - began < REPORTED_S
    assert state.incident is not None and state.incident.kind is IncidentKind.SCANNER_LOST
    assert floor.prompt == "SCANNER_GONE"
    assert await floor.press(i.CallSurplus()) == Refusal.HELD
    device.replug()
    await floor.until(lambda: floor.prompt == "CARD_DRAWN")
    assert await floor.press(i.AnswerQuestion(state.incident.number, True)) is None
    assert floor.prompt == "SCAN_DRAWN_CARD"
    for count, code in enumerate((b"2010\n", b"3100\n"), start=3):
        device.write(code)
        await floor.until(partial(floor.lie, count))
    assert state.incident is None and state.phase is Phase.RESULT_PROPOSED
    assert await floor.press(i.ConfirmResult()) is None
    stopped.set()
    await running


def test_it_is_reported_the_coup_is_held_and_goes_on_after_a_scan(tmp_path: Path) -> None:
    config = write_config(tmp_path, "baccarat")
    replace(config, "settle_ms = 300", "settle_ms = 0")
    floor = Floor(config)
    try:
        asyncio.run(play(floor))
    finally:
        floor.device.unplug()
    laid = [str(card.card) for card in floor.station.kernel.table.state.in_play.laid]
    assert laid == ["8d", "As", "Ah", "Tc"]
