"""A station in this process that is killed between any two of its operations, and the people who go on.

What a SIGKILL leaves is what the process has handed to the system: the journal with its log, the
recording, the file of stops. So a kill is a copy of the table's folder, made in the middle of a step; the
next life begins in it. (Real processes are killed by `test_kills`.)
"""

from __future__ import annotations

import itertools
import re
import shutil
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from faults.scripts import Script
from station.recorded import NoFeeds, OwnClock
from table.cells import LIVE
from table.dealt import DORA, SHOE

from controller.bus.wire import Answer, CommandRequest
from controller.journal import Heads, Journal
from controller.journal.recording import Kind, Line
from controller.station.config import StationConfig, load
from controller.station.intake import opened_text
from controller.station.people import Person, hashed, new_salt, write_people
from controller.station.start import open_journal
from controller.station.station import Station
from controller.table import inputs as i
from controller.table.state import TableState
from simulators.cast import COST, PINS, the_cast
from simulators.faults.points import Point

CONFIG = Path(__file__).parents[2] / "config"
TABLE = "rp1"
DORAS_PIN = "161803"


def write_config(folder: Path, script: Script) -> StationConfig:
    """Write the config of a script's table below `folder`: windows and limits are those of the script."""
    for kind in ("games", "decks", "tables", "profiles"):
        shutil.copytree(CONFIG / kind, folder / kind)
    for kind in ("games", "profiles"):
        for path in (folder / kind).glob("*.toml"):
            path.write_text(_with_limits(path.read_text(), dict(script.limits)))
    game = script.house.game
    source = folder / "tables" / ("demo.toml" if game == LIVE else f"{game}.toml")
    config = load(source)
    text = source.read_text().replace(f'table = "{config.settings.table}"', f'table = "{TABLE}"')
    text = text.replace("../../run", "../run").replace("buy_time = 8_000", "buy_time = 10_000")
    if game != LIVE:
        text = re.sub(r'^(box\d) = "dark"', r'\1 = "open"', text, flags=re.MULTILINE)
    path = folder / "tables" / "scripted.toml"
    path.write_text(text)
    people = the_cast()
    dora = Person("Dora", (i.Role.DEALER,), hashed(DORAS_PIN, new_salt(), COST))
    (folder / "run").mkdir(mode=0o700)
    write_people(
        folder / "run" / "people.json", msgspec.structs.replace(people, people={**people.people, DORA: dora})
    )
    return load(path)


def _with_limits(text: str, limits: Mapping[str, int]) -> str:
    """Return the text of a profile or of a game's rules with other limits, where it has them."""
    lines = []
    for line in text.splitlines():
        name = line.partition(" = ")[0]
        lines.append(f"{name} = {limits[name]}".lower() if name in limits else line)
    return "\n".join(lines) + "\n"


Passed = Callable[[Point], None]


class Watched:
    """The journal, with a place to die before and after each commit."""

    def __init__(self, journal: Journal, passed: Passed) -> None:
        self._journal = journal
        self._passed = passed

    def append(self, **step: Any) -> int:
        """Append a step."""
        self._passed(Point.BEFORE_COMMIT)
        number = self._journal.append(**step)
        self._passed(Point.AFTER_COMMIT)
        return number

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)


class Life:
    """One life of the daemon, and what people do in it. `passed` hears of every place to die."""

    def __init__(
        self,
        config: StationConfig,
        now_us: int,
        *,
        passed: Passed = lambda point: None,
        before: Life | None = None,
    ) -> None:
        self.config, self.clock, self.feeds = config, OwnClock(now_us), NoFeeds()
        self.passed = passed
        if before is not None:
            self.feeds.sent = {audience: list(sent) for audience, sent in before.feeds.sent.items()}
        self.opened: i.ScannerOpened | None = before.opened if before is not None else None
        """The device that is plugged in."""
        self.sent: dict[str, CommandRequest] = dict(before.sent) if before is not None else {}
        self.answers: dict[str, Answer] = dict(before.answers) if before is not None else {}
        self.doing: i.AnyInput | None = None
        """What is being brought right now; None where a deadline or the start itself is taken."""
        keys = itertools.count()

        def new_key() -> str:
            return sha256(f"key {now_us} {next(keys)}".encode()).hexdigest()

        def open_watched(path: Path, heads: Heads | None) -> Journal:
            watched: Any = Watched(open_journal(path, heads), lambda point: self.passed(point))
            return watched  # type: ignore[no-any-return]

        self.station = Station(
            config,
            self.clock,
            new_key=new_key,
            open_file=open_watched,
            open_feeds=lambda _config, _kernel: self.feeds,
            on_recovery_step=lambda: self.passed(Point.IN_RECOVERY),
        )

    @property
    def state(self) -> TableState:
        return self.station.kernel.table.state

    def close(self) -> None:
        self.station.close()

    # What comes from outside.

    def play(self, act: i.AnyInput) -> None:
        """Let time pass up to an act, then do it."""
        self.wait_until(act.at)
        self.doing = act
        self._bring(act)
        self.station.work()
        self.doing = None

    def wait_until(self, at_us: int) -> None:
        """Let time pass; what falls due fires in order, each at its time."""
        while (due := self.station.next_due_us()) is not None and due <= at_us:
            self.clock.us = max(due, self.clock.us)
            self.station.work()
        self.clock.us = max(at_us, self.clock.us)

    def _bring(self, act: i.AnyInput) -> None:
        match act:
            case i.CardRead(code=code):
                self.station.bring(Kind.CHUNK, SHOE, f"{code}\n".encode().hex())
            case i.ReadFailed():
                self.station.bring(Kind.CHUNK, SHOE, b"NOREAD\n".hex())
            case i.ScannerOpened(device=device):
                self.opened = act
                self.station.bring(Kind.OPENED, SHOE, opened_text("/dev/pts/7", device))
            case i.ScannerLost(reason=reason):
                self.opened = None
                self.station.bring(Kind.LOST, SHOE, reason)
            case i.Commanded():
                self._press(act)
            case _:
                at = self.station._stamp()
                text = i.encode_input(msgspec.structs.replace(act, at=at)).decode()
                self.station._bring(Line(at, Kind.INPUT, "station", text))

    def _press(self, act: i.Commanded) -> None:
        """Send a command; who has heard no answer sends the very same one again."""
        request = self.sent.setdefault(act.request, self._request(act))
        endpoint = "betting" if act.role is i.Role.BETTING else "operator"
        assert self.station.submit(endpoint, request, self._answered)

    def _request(self, act: i.Commanded) -> CommandRequest:
        """Return what is sent; what hangs on numbers of this life is read off its page."""
        incident, command, pin = self.state.incident, act.command, None
        number = incident.number if incident is not None else 0
        match command:
            case i.AnswerQuestion(yes=yes):
                command = i.AnswerQuestion(number, yes)
            case i.EnterCard(card=card):
                command = i.EnterCard(number, card)
            case i.LogIn(proof=proof):
                pin = {**PINS, DORA: DORAS_PIN}[act.actor] if proof is not None else "000000"
        return CommandRequest(act.request, act.actor, act.round_no, command, pin)

    def _answered(self, answer: Answer) -> None:
        self.answers[answer.request] = answer
