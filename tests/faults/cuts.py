"""Kills at every durable step of a script, and what each of them has to leave unchanged."""

from __future__ import annotations

import itertools
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from faults.lives import Life
from faults.scripts import Script
from faults.streams import Message, by_kind, comparable, first_difference, outbox
from faults.survivors import Left, Standing, Survivors, Unanswered, standing_of
from msgspec.structs import replace
from table.dealt import NOON
from table.shoe_dealt import CUTTING_CARD

from controller.journal import Days
from controller.station.config import StationConfig
from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import Audience, IncidentKind
from simulators.faults.points import Point

READS = (i.CardRead, i.ReadFailed)
COMES_BACK = (i.ScannerOpened, i.ScannerLost)
"""What a new life sees for itself: whether the scanner is there."""


Place = tuple[int, Point]
"""A step of the journal, before or after its commit."""
Chosen = Callable[[Place], bool]


class Killed(BaseException):
    """The process ends here: no Exception, so nothing in it can catch it."""


class Trial:
    """One script: played to its end without a kill, then with one kill after the other."""

    def __init__(self, folder: Path, config: StationConfig, script: Script) -> None:
        """`config` is that of the script (`lives.write_config`)."""
        self.folder, self.script, self._config = folder, script, config
        self.deaths: Counter[str] = Counter()
        self.differences: list[str] = []
        self._folders = itertools.count()
        self.newest = 0
        """The last step after which an incident was open; without any, the last one in a round."""
        life = Life(self._fresh(), NOON)
        stood: list[tuple[bool, bool, int]] = []
        life.passed = lambda _: stood.append(
            (life.state.incident is not None, life.state.is_round_open, life.station.journal.last_n)
        )
        early = []
        for act in script.acts:
            count = life.state.incidents_count
            life.play(act)
            new = [one.kind for one in life.state.incidents if one.number > count]
            if IncidentKind.EARLY_EXCHANGE in new:
                early.append(act)
        life.close()
        self.early = tuple(early)
        self.newest = max(stood)[2]
        self.answers = life.answers
        self.steps_count = life.station.journal.last_n
        whole = outbox(Days(life.config.table_dir))
        self.decided = frozenset(decided(whole["audit"]))
        """Which kinds of incidents were decided, and how."""
        self.streams = {audience: comparable(stream) for audience, stream in whole.items()}

    def _fresh(self) -> StationConfig:
        return replace(self._config, run_dir=self.folder / f"r{next(self._folders)}")

    def _copy(self, config: StationConfig) -> StationConfig:
        """Return the config of what a kill leaves now."""
        copied = self._fresh()
        # The index of the log is memory that processes share: it ends with the last of them.
        shutil.copytree(config.table_dir, copied.table_dir, ignore=shutil.ignore_patterns("*-shm"))
        return copied

    # Kills in the script.

    def kill(self, is_chosen: Chosen, is_deep: Chosen = lambda place: False) -> None:
        """Play the script once more; at each chosen place a copy dies and goes on.

        At a deep one its recovery dies, too, at each of its steps.
        """
        life: Life | None = None
        done, standing = 0, Standing()

        def passed(point: Point) -> None:
            nonlocal standing
            if life is None:
                return
            if point is Point.AFTER_COMMIT:
                standing = standing_of(life.state)
            step = life.station.journal.last_n + (point is Point.BEFORE_COMMIT)
            if done < self.script.begins or not is_chosen((step, point)):
                return
            if point is Point.BEFORE_COMMIT and self._is_lost_for_good(life, standing):
                self.deaths["lost-for-good"] += 1
                return
            acts, lost = to_come(life.doing, point, self.script.acts[done:])
            if any(map(is_second_look, (lost, *acts[:1]))):
                self.deaths["lost-for-good"] += 1
                return
            self.deaths[point] += 1
            where = f"{self.script.name}: {point} {step}, {life.doing or 'a deadline'}"
            self._survive(life, Left(acts, lost, standing, where), deep=is_deep((step, point)))

        life = Life(self._fresh(), NOON, passed=passed)
        for number, act in enumerate(self.script.acts):
            done = number
            life.play(act)
        life.close()
        shutil.rmtree(life.config.run_dir)

    def _is_lost_for_good(self, life: Life, standing: Standing) -> bool:
        """Whether nothing after a kill can make the same again of what was being taken.

        A card that comes out too early for an open window: when it may be scanned again all have decided,
        and it is the next card (order of drawing, not of reading). A card that is read in a hold: the restart
        asks for it, not the end of the hold. A clock that was set: the next start compares it with nothing. A
        card out of a shoe before START: it lies there unread until it is due (row 7a), and is no held card.
        """
        if isinstance(life.doing, i.ClockStepped) or life.doing in self.early:
            return True
        if isinstance(life.doing, i.CardRead) and life.state.game.shoe and standing.phase is Phase.READY:
            return True
        return standing_of(life.state).held_count > standing.held_count

    def _survive(self, before: Life, left: Left, *, deep: bool) -> None:
        config = self._copy(before.config)
        life = self._start_dying(config, before) if deep else Life(config, before.clock.us, before=before)
        survivors = Survivors(life, left, early=self.early)
        if deep:
            self._settle_dying(survivors, left)
        self._finish(survivors, left.where)

    # Kills in the recovery.

    def _start_dying(self, config: StationConfig, before: Life) -> Life:
        """Start again and again: the first start dies at its first step, the next at its second."""
        for number in itertools.count(1):
            started = self._started(config, before, number)
            if isinstance(started, Life):
                return started
            shutil.rmtree(config.run_dir)
            config = started
        raise AssertionError

    def _started(self, config: StationConfig, before: Life, number: int) -> Life | StationConfig:
        """Start, and die at this step: one that is taken again, or the commit of the start."""
        count, left = 0, config

        def passed(point: Point) -> None:
            nonlocal count, left
            count += 1
            if count == number and point is not Point.AFTER_COMMIT:
                left = self._copy(config)
                raise Killed

        try:
            life = Life(config, before.clock.us, passed=passed, before=before)
        except Killed:
            self.deaths[Point.IN_RECOVERY] += 1
            return left
        life.passed = lambda point: None
        return life

    def _settle_dying(self, survivors: Survivors, left: Left) -> None:
        """Settle the restart; at each durable step of that a copy dies and goes on."""
        life = survivors.life

        def passed(point: Point) -> None:
            lies = isinstance(life.doing, READS) and point is Point.BEFORE_COMMIT
            lost = life.doing if lies else survivors.lost
            self.deaths["in-settlement"] += 1
            where = f"{left.where}; then {point} {life.doing or 'a deadline'}"
            self._survive(life, left._replace(lost=lost, where=where), deep=False)

        life.passed = passed
        survivors.settle()
        life.passed = lambda point: None

    def _finish(self, survivors: Survivors, where: str) -> None:
        life = survivors.life
        try:
            survivors.to_the_end()
            self._compare(survivors)
        except Unanswered:
            self.deaths["unanswered"] += 1
        except AssertionError as error:
            self.differences.append(f"{where}\n  {error!s:.1500}")
        finally:
            life.close()
            shutil.rmtree(life.config.run_dir)

    def _compare(self, survivors: Survivors) -> None:
        """Fail unless everybody is told what the undisturbed run told."""
        life = survivors.life
        days = Days(life.config.table_dir)
        for audience, stream in outbox(days).items():
            theirs, mine = self.streams[audience], comparable(stream)
            if survivors.has_postponed:
                differing = _differing(by_sender(theirs), by_sender(mine))
                assert not differing, differing
            else:
                difference = first_difference(theirs, mine)
                assert difference is None, f"{audience}: {difference}"
            sent = life.feeds.sent[Audience(audience)]
            assert set(sent) <= set(stream), f"{audience}: what was sent is not on record"
        answers = {request: life.answers.get(request) for request in self.answers}
        wrong = [
            (answer, answers[request])
            for request, answer in self.answers.items()
            if answer != answers[request]
        ]
        assert not wrong, f"answers: {wrong[:3]}"
        assert list(days.verify()) == []


def decided(audit: list[bytes]) -> Iterator[tuple[str, str]]:
    """Yield the kind of each incident, and how it was decided."""
    kinds: dict[int, str] = {}
    for message in map(json.loads, audit):
        match message["data"]:
            case {"event": "incident.opened", "incident": number, "kind": kind}:
                kinds[number] = kind
            case {"event": "incident.decided", "incident": number, "verdict": verdict}:
                yield kinds[number], verdict


def to_come(
    doing: i.AnyInput | None, point: Point, acts: tuple[i.AnyInput, ...]
) -> tuple[tuple[i.AnyInput, ...], i.AnyInput | None]:
    """Return what is to come after a kill, and the read that was lost with it.

    `acts` begins with the act that was being done, or before which a deadline was taken. Who has pressed
    and has heard no answer presses again.
    """
    if doing is None:
        return acts, None
    if isinstance(doing, READS):
        is_known = isinstance(doing, i.CardRead) and doing.code == CUTTING_CARD  # The start has taken it.
        return acts[1:], doing if point is Point.BEFORE_COMMIT and not is_known else None
    if isinstance(doing, COMES_BACK) or (
        point is not Point.BEFORE_COMMIT and not isinstance(doing, i.Commanded)
    ):
        return acts[1:], None
    return acts, None


def is_second_look(act: i.AnyInput | None) -> bool:
    """Whether a scanner says that this may be the card it read just before.

    It says so within a part of a second: no process starts so quickly.
    """
    return isinstance(act, i.CardRead) and act.repeat


def by_sender(messages: list[Message]) -> dict[str, list[Message]]:
    """Return the messages of each kind, presses of each sender apart: players answer before others go on."""
    groups = by_kind(messages)
    for press in groups.pop("press.accepted", []):
        groups.setdefault(f"press of {press['data']['actor']}", []).append(press)
    return groups


def _differing(theirs: dict[str, list[Message]], mine: dict[str, list[Message]]) -> str:
    kinds = [kind for kind in {*theirs, *mine} if theirs.get(kind) != mine.get(kind)]
    return "; ".join(
        f"{kind}: {first_difference(theirs.get(kind, []), mine.get(kind, []))}" for kind in kinds
    )
