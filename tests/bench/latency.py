"""From a frame's last byte on the serial line to the subscriber: the table, and the bare pipeline.

Both sides are a process of their own behind a pty and an `ipc://` feed; one process, this one, writes the
frame and hears the message, so that one clock measures. A card never leaves before the one before it was
heard: what is measured is the way of a card, not a queue. With a pause between cards, as at a table, both
sides find the processor's caches cold; without one they are warm.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
import zmq

from controller.bus.client import CommandClient
from controller.bus.endpoints import Endpoints
from controller.bus.envelope import decode
from controller.cards import Card, Scheme, code_map
from controller.games.procedure import BoxState
from controller.games.russian_live import BUY_TIME, FINAL_OPTIONS, OPTIONS
from controller.station.config import load
from controller.table import inputs as i
from controller.table.events import AUDIENCES, CardDealt
from drivers.pty import PtyDevice
from simulators.cast import PINS, hire
from simulators.shoe import shuffled

PAUSE_S = 0.004
"""A dealer takes a second. By measure this is nearly as cold, and leaves time for enough cards."""
PROBE_MS = 50
STUCK_MS = 10_000
TABLE = "bench"
BASELINE = Path(__file__).with_name("baseline_pipeline.py")
CONFIG = Path(__file__).parents[2] / "config"
DEAL_COUNT, SWITCH_COUNT = 20, 5
DEALT = b'"type":"tablectl.card.dealt.v1"'

TABLE_TOML = """
table = "bench"
environment = "simulated"
game = "russian_poker_live"
profile = "russian_poker_live"
deck = "blue"
run_dir = "../run"
people = "../run/people.json"
[times]
betting_ms = 60_000
grace_ms = 1_000
guard_ms = 1_000
[times.windows_ms]
options = 60_000
final_options = 60_000
buy_time = 60_000
[boxes_not_told]
box1 = "dark"
box2 = "open"
box3 = "dark"
[scanners.shoe]
family = "delimited"
port = "../shoe"
[scanners.shoe.line]
settle_ms = 0
"""
"""Every window ends by the betting system's word, at once; its time never runs out on a slow machine."""


def write_config(folder: Path) -> Path:
    """Write a table's config into `folder`; returns its path. The house's games and decks are used."""
    (folder / "tables").mkdir(parents=True)
    for name in ("games", "decks", "profiles"):
        (folder / name).symlink_to(CONFIG / name)
    path = folder / "tables" / f"{TABLE}.toml"
    path.write_text(TABLE_TOML)
    hire(load(path))
    return path


def subscriber(endpoint: str) -> zmq.Socket[bytes]:
    """Subscribe to an endpoint at which nobody needs to serve yet."""
    socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.SUB)
    socket.setsockopt(zmq.RECONNECT_IVL, 1)
    socket.setsockopt(zmq.RCVTIMEO, STUCK_MS)
    socket.subscribe(b"")
    socket.connect(endpoint)
    return socket


def time_one(device: PtyDevice, frame: bytes, hear: Callable[[], Any]) -> int:
    """Write a frame and wait for its message; returns nanoseconds from the write to the receipt."""
    began = time.monotonic_ns()
    device.write(frame)
    hear()
    return time.monotonic_ns() - began


class BareLine:
    """The bare pipeline, running."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        endpoint = f"ipc://{folder}/feed"
        with ExitStack() as undo:
            self._device = PtyDevice(folder / "line")
            undo.callback(self._device.unplug)
            words = [sys.executable, str(BASELINE), str(self._device.link), str(folder / "lines"), endpoint]
            child = subprocess.Popen(words)
            undo.callback(end, child)
            self._feed = subscriber(endpoint)
            undo.callback(self._feed.close, linger=0)
            self._find()
            self._undo = undo.pop_all()
        self._frames = itertools.cycle(frames())

    def deal(self, pause_s: float) -> int:
        """Send the next code after a pause; returns its time in nanoseconds."""
        frame = next(self._frames)
        time.sleep(pause_s)
        return time_one(self._device, frame, self._feed.recv)

    def _find(self) -> None:
        """Send probes until one comes through, then let the others come."""
        for _ in range(STUCK_MS // PROBE_MS):
            self._device.write(b"0\n")
            if self._feed.poll(PROBE_MS):
                break
        while self._feed.poll(2 * PROBE_MS):
            self._feed.recv()

    def close(self) -> None:
        """End the process and its line."""
        self._undo.close()


class LiveTable:
    """`tablectl run`, dealing live Russian Poker round after round."""

    def __init__(self, folder: Path) -> None:
        config = write_config(folder)
        endpoints = Endpoints.ipc(folder / "run", TABLE)
        with ExitStack() as undo:
            self._device = PtyDevice(folder / "shoe")
            undo.callback(self._device.unplug)
            undo.callback(end, run_table(config))
            self._feed = subscriber(endpoints.live[AUDIENCES[0]])
            undo.callback(self._feed.close, linger=0)
            self._operator = CommandClient(endpoints.operator, "anna", timeout_ms=STUCK_MS)
            undo.callback(self._operator.close)
            self._supervisor = CommandClient(endpoints.operator, "boris", timeout_ms=STUCK_MS)
            undo.callback(self._supervisor.close)
            self._betting = CommandClient(endpoints.betting, "bets", timeout_ms=STUCK_MS)
            undo.callback(self._betting.close)
            hear_first(self._feed, config)
            self._undo = undo.pop_all()
        self.feed_endpoint = endpoints.live[AUDIENCES[0]]
        self.seq = 0
        """The number of the last card's message on that feed."""
        self._cards = self._play()

    def deal(self, pause_s: float) -> int:
        """Play on to the next card and deal it after a pause; returns its time in nanoseconds."""
        card = next(self._cards)
        heard: list[bytes] = []
        time.sleep(pause_s)
        took_ns = time_one(self._device, frame_of(card), lambda: heard.append(self._hear_dealt()))
        envelope = decode(heard[0])
        self.seq = envelope.seq
        dealt = msgspec.json.decode(envelope.data, type=CardDealt)
        assert dealt.card in (None, str(card)), f"dealt {card}, heard {dealt}"
        return took_ns

    def _hear_dealt(self) -> bytes:
        while DEALT not in (raw := self._feed.recv()):
            pass
        return raw

    def _play(self) -> Iterator[Card]:
        """Play for ever; yields each card when the table waits for it."""
        answer = self._operator.send(i.LogIn(i.Role.DEALER), round_no=0, pin=PINS["anna"])
        assert answer.accepted, answer
        answer = self._supervisor.send(i.LogIn(i.Role.SUPERVISOR), round_no=0, pin=PINS["boris"])
        assert answer.accepted, answer
        self._press(0, i.OpenTable(), i.LoadDeck("blue", "R-1"))
        assert self._supervisor.send(i.LoadDeck("blue", "R-1"), round_no=0).accepted
        self._press(0, i.VerifyDeck(52))
        for number in itertools.count(1):
            shoe = iter(shuffled(1, number))
            self._press(number - 1, i.ConfirmShuffle())
            self._open_round(number)
            yield from itertools.islice(shoe, DEAL_COUNT)
            self._end_window(number, i.WindowFacts(OPTIONS, in_play=True, anyone_drew=True))
            yield from itertools.islice(shoe, SWITCH_COUNT)
            self._end_window(number, i.WindowFacts(FINAL_OPTIONS, in_play=True))
            self._press(number, *map(i.TurnCards, ("switch", "box1", "box3", "dealer")))
            # There is no buy time for a dealer who qualifies: then both are refused, and change nothing.
            self._end_window(number, i.WindowFacts(BUY_TIME, anyone_bought=False))
            count = len(DECK.cards) - DEAL_COUNT - SWITCH_COUNT
            self._press(number, i.ConfirmResult(), i.CountStub(count), i.ClearTable())

    def _open_round(self, number: int) -> None:
        """Open and close betting time; START is refused until the scanner's port is open."""
        while not self._operator.send(i.OpenBetting(), round_no=number - 1).accepted:
            time.sleep(PROBE_MS / 1_000)
        self._press(number, i.CloseBetting())
        boxes = {"box1": BoxState.DARK, "box2": BoxState.OPEN, "box3": BoxState.DARK}
        answer = self._betting.send(i.BetsTaken(boxes), round_no=number)
        assert answer.accepted, answer

    def _end_window(self, number: int, facts: i.WindowFacts) -> None:
        """Nobody is undecided, so the window ends; then acknowledge its end."""
        for told in ({"undecided": False}, {"acknowledges": True}):
            answer = self._betting.send(msgspec.structs.replace(facts, **told), round_no=number)
            assert answer.accepted or facts.window == BUY_TIME, answer

    def _press(self, number: int, *commands: i.AnyCommand) -> None:
        for command in commands:
            answer = self._operator.send(command, round_no=number)
            assert answer.accepted, f"{command}: {answer}"

    def close(self) -> None:
        """End the daemon and its line."""
        self._undo.close()


def frames() -> list[bytes]:
    """Return the frames of one round's cards, for a line on which their order means nothing."""
    return [frame_of(card) for card in shuffled(1, 1)[: DEAL_COUNT + SWITCH_COUNT]]


def frame_of(card: Card) -> bytes:
    """Return what the scanner sends for a card of the blue deck."""
    return f"{DECK.code(card)}\n".encode()


DECK = code_map("blue", Scheme.SUIT_DIGIT_RANK)


def run_table(config: Path) -> subprocess.Popen[bytes]:
    """Start the daemon; its log goes beside its config."""
    with config.with_suffix(".log").open("ab") as errors:
        return subprocess.Popen([sys.executable, "-m", "controller.cli", "run", str(config)], stderr=errors)


def hear_first(feed: zmq.Socket[bytes], config: Path) -> None:
    """Wait for the first frame of a daemon; without one its log says why."""
    if not feed.poll(STUCK_MS):
        raise RuntimeError(f"the daemon was not heard: {config.with_suffix('.log').read_text()}")
    feed.recv()


def end(child: subprocess.Popen[bytes]) -> None:
    """End a process that was started here."""
    child.terminate()
    child.wait(STUCK_MS / 1_000)
