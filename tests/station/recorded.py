"""Recorded sessions: the real station's intake, kernel, recorder and journal, driven by hand without sockets.

Times come from a clock that the test owns, keys from a counter, cards from a stacked shoe.
"""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import zmq
from table.dealt import BLUE, IN_PLAY, PLAYS, stacked

from controller.bus.publisher import Pulse
from controller.bus.wire import Answer, CommandRequest
from controller.cards import Card
from controller.journal.recording import Kind
from controller.station import people as people_files
from controller.station.config import StationConfig, load
from controller.station.feeds import Feeds
from controller.station.kernel import Kernel
from controller.station.people import write_people
from controller.station.station import Station
from controller.table import inputs as i
from controller.table.events import Audience, IncidentKind
from controller.table.picture import draw
from simulators.cast import COST as CHEAP
from simulators.cast import PINS, ROLES, the_cast

CONFIG = Path(__file__).parents[2] / "config"
NOON = 1_800_000_000_000_000
MILLISECOND = 1_000
DAY_US = 86_400_000_000


class OwnClock:
    """A clock that stands until it is moved."""

    def __init__(self, now_us: int) -> None:
        self.us = now_us

    def now_us(self) -> int:
        return self.us

    async def sleep_until(self, at_us: int) -> None:
        self.us = max(self.us, at_us)


class NoFeeds:
    """Nobody listens; `sent` is what would have been published."""

    sockets: Mapping[str, zmq.Socket[Any]] = {}

    def __init__(self) -> None:
        self.sent: dict[Audience, list[bytes]] = {audience: [] for audience in Audience}

    def publish(self, messages: Mapping[Audience, Sequence[bytes]]) -> None:
        for audience, several in messages.items():
            self.sent[audience].extend(several)

    def picture(self, raw: bytes) -> None: ...
    def alive(self, pulse: Pulse) -> None: ...
    def close(self) -> None: ...


def write_config(folder: Path, **changed: str) -> Path:
    """Write a table's config below `folder`; `changed` replaces texts of the demo table."""
    for name in ("games", "decks", "profiles"):
        shutil.copytree(CONFIG / name, folder / name, dirs_exist_ok=True)
    (folder / "tables").mkdir(exist_ok=True)
    text = (CONFIG / "tables" / "demo.toml").read_text().replace("../../run", "../run")
    text = text.replace("port = 8600", "port = 0")
    for old, new in changed.items():
        assert old in text, old
        text = text.replace(old, new)
    path = folder / "tables" / "rp1.toml"
    path.write_text(text)
    people = folder / "run" / "people.json"
    people.parent.mkdir(mode=0o700, exist_ok=True)
    write_people(people, the_cast(people_files.COST if 'environment = "live"' in text else CHEAP))
    return path


class Session:
    """One life of a station, from start to stop, with rounds played into it."""

    def __init__(self, config: Path, now_us: int = NOON, *, first_key: int = 1) -> None:
        self.clock = OwnClock(now_us)
        self.feeds = NoFeeds()
        keys = itertools.count(first_key)
        self.config: StationConfig = load(config)
        self.station = Station(
            self.config,
            self.clock,
            new_key=lambda: sha256(f"key {next(keys)}".encode()).hexdigest(),
            open_feeds=self._open_feeds,
        )
        self.requests = itertools.count(now_us)
        self.answers: list[Answer] = []
        self.shoe: list[Card] = []

    def _open_feeds(self, _config: StationConfig, _kernel: Kernel) -> Feeds:
        return self.feeds

    @property
    def recording(self) -> Path:
        return self.station.recorder.path

    @property
    def journal(self) -> Path:
        return self.station.journal.path

    def stop(self) -> None:
        """The process ends."""
        self.station.close()

    def wait(self, ms: int) -> None:
        """Let time pass; what falls due fires in order, each at its time."""
        until = self.clock.us + ms * MILLISECOND
        while (due := self.station.next_due_us()) is not None and due <= until:
            self.clock.us = max(due, self.clock.us)
            self.station._fire_due()
            self._consume()
        self.clock.us = until

    def _consume(self) -> None:
        while not self.station._queue.empty():
            self.station._step(self.station._queue.get_nowait())

    def bring(self, kind: Kind, payload: str = "") -> None:
        """Something happens at the scanner."""
        self.wait(1)
        self.station.bring(kind, "shoe", payload)
        self._consume()

    def chunk(self, data: bytes) -> None:
        """Bytes come in."""
        self.bring(Kind.CHUNK, data.hex())

    def scan(self, card: str | None = None) -> None:
        """Scan the next card of the shoe, or the one named, in two chunks."""
        frame = BLUE.code(Card.parse(card) if card is not None else self.shoe.pop(0)).encode() + b"\n"
        self.chunk(frame[:2])
        self.chunk(frame[2:])

    def deal(self, count: int) -> None:
        for _ in range(count):
            self.scan()

    def send(
        self,
        command: i.AnyCommand,
        actor: str = "anna",
        request: str | None = None,
        pin: str | None = None,
    ) -> None:
        """Send a command; the betting system's come over its own endpoint, acknowledgements over theirs."""
        self.wait(10)
        endpoint = "betting" if actor == "bets" else "operator"
        endpoint = "consumer" if isinstance(command, i.Acknowledge) else endpoint
        name = request or f"r{next(self.requests)}"
        asked = CommandRequest(name, actor, self.station.kernel.table.state.round_no, command, pin)
        assert self.station.submit(endpoint, asked, self.answers.append)
        self._consume()

    def confirm_picture(self) -> None:
        """The dealer finds the table as the picture of now shows it."""
        self.send(i.ConfirmPicture(draw(self.station.kernel.table.state).lies or "none"))

    def answer(self, yes: bool) -> None:
        incident = self.station.kernel.table.state.incident
        assert incident is not None
        self.send(i.AnswerQuestion(incident.number, yes))

    def all_decided(self, window: str, **told: bool) -> None:
        self.send(i.WindowFacts(window, undecided=False), "bets")
        self.send(i.WindowFacts(window, acknowledges=True, **told), "bets")

    # Whole phases.

    def open_table(self) -> Session:
        self.bring(Kind.OPENED, "/dev/pts/7")
        for person, role in ROLES.items():
            self.send(i.LogIn(role), person, pin=PINS[person])
        self.send(i.OpenTable())
        self.load()
        self.send(i.VerifyDeck(52))
        return self

    def load(self) -> None:
        """Two people accept a deck by its receipt."""
        for actor in ("anna", "boris"):
            self.send(i.LoadDeck("blue", "R-1"), actor)

    def bring_up(self, *, drawn: bool = False, picture_only: bool = False) -> Session:
        """After a restart: the scanner opens; in a round the dealer says what lies there, what was drawn."""
        self.bring(Kind.OPENED, "/dev/pts/8")
        if self.station.kernel.table.state.incident is not None:
            self.confirm_picture()
            if not picture_only:
                self.answer(drawn)
        return self

    def to_dealing(self, hands: Mapping[str, str] = PLAYS) -> Session:
        """A round is open, bets are closed, card 1 is owed."""
        self.shoe = stacked(hands)
        if self.station.kernel.table.state.phase == "shuffling":
            self.send(i.ConfirmShuffle())
        self.send(i.OpenBetting())
        self.send(i.CloseBetting())
        self.send(i.BetsTaken(IN_PLAY), "bets")
        return self

    def to_turns(self) -> Session:
        self.deal(20)
        self.all_decided("options")
        self.deal(5)
        self.all_decided("final_options")
        return self

    def finish(self) -> Session:
        """Turn everything and confirm; with a purchase when the dealer does not qualify."""
        for place in ("switch", "box1", "box3", "dealer"):
            self.send(i.TurnCards(place))
        if self.station.kernel.table.state.phase == "deciding":
            self.all_decided("buy_time")
            self.send(i.LayCardAside())
            self.deal(1)
        self.send(i.ConfirmResult())
        return self

    def clear(self) -> Session:
        state = self.station.kernel.table.state
        if draw(state).prompt.code == "COUNT_STUB":
            self.send(i.CountStub(state.register.left_count))
        self.send(i.ClearTable())
        return self

    def round(self, hands: Mapping[str, str] = PLAYS) -> Session:
        """Play one whole round."""
        return self.to_dealing(hands).to_turns().finish().clear()


def cancelled_round(session: Session) -> None:
    """Play a round with a failed and a disputed reading, a surplus card, and a cancel."""
    session.to_dealing()
    session.deal(3)
    session.chunk(b"NOREAD\n")
    session.scan()
    session.deal(16)
    session.all_decided("options")
    session.deal(2)
    session.send(i.DisputeReading())
    session.deal(2)
    session.send(i.CallSurplus())
    session.answer(False)
    session.send(i.OpenBetting())  # Refused: a round is open.
    session.send(i.Observed(IncidentKind.CARD_ON_FLOOR, "box1"))
    session.send(i.ConfirmCancel(), "boris")
    session.clear()


def edit_lines(source: Path, target: Path, edit: dict[int, str | None]) -> Path:
    """Copy a recording with lines replaced by number, from 1; None drops a line."""
    lines: Iterator[tuple[int, str]] = enumerate(source.read_text().splitlines(), 1)
    kept = [edit.get(number, text) for number, text in lines]
    target.write_text("".join(f"{text}\n" for text in kept if text is not None))
    return target
