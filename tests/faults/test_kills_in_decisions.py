"""Kills while boxes decide and cards hang on it: the supervisor goes on or cancels, as the table offers.

Row 35: nobody is judged by silence while the table was down. "Go on" is offered once every box has decided.
Where no card was owed meanwhile, all streams are those of the undisturbed run. Where cards had to wait for
it, the same cards and decisions come, later and after one another. A supervisor who does not wait cancels:
that round is refunded, and every other one is as if nothing had happened, at another time of day.

TABLECTL_SOAK=1 kills at every step of every such window, before and after its commit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from faults.disturbed import Disturbance, Run, play
from faults.reference import Reference, assert_same, assert_sound
from faults.streams import Message, by_kind, comparable, first_difference, of_round, outbox

from simulators.faults.points import Point

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
ROUNDS = 2
TABLES = ("grandmaster_russian_poker", "oasis_with_bonus")
DECIDED = ("options", "final_options")
AFTER_CANCEL = ("decision.closed", "round.cancelled", "round.closed")

pytestmark = pytest.mark.timeout(3600 if SOAK else 120)


class Moment(NamedTuple):
    """A kill in a window of decisions. `last` is the last step before it.

    `card_waits`: in the undisturbed run a card was dealt between it and the end of the window.
    `all_decided`: only the decision that is on its way was missing.
    """

    last: int
    point: Point
    roundid: str
    stage: str
    card_waits: bool
    all_decided: bool

    @property
    def death(self) -> tuple[Point, int]:
        """How the daemon is told to die there."""
        return self.point, self.last + (self.point is Point.BEFORE_COMMIT)


class Opened(NamedTuple):
    """A window of the undisturbed run: its first and last steps, those that dealt a card in it, its boxes."""

    stage: str
    roundid: str
    first: int
    last: int
    dealt: tuple[int, ...]
    decided: tuple[int, ...]


def windows(reference: Reference) -> Iterator[Opened]:
    """Yield the windows in which boxes decided."""
    found: dict[str, Any] = {}
    roundid = ""
    for step in reference.steps:
        for event in map(msgspec.json.decode, step.events):
            match event["event"]:
                case "round.opened":
                    roundid = f"{reference.table}-{event['round_no']}"
                case "decision.opened":
                    found = {"stage": event["stage"], "first": step.n, "dealt": (), "decided": ()}
                case "card.dealt" if found:
                    found["dealt"] += (step.n,)
                case "decision.made" if found:
                    found["decided"] += (step.n,)
                case "decision.closed":
                    if found["stage"] in DECIDED:
                        yield Opened(roundid=roundid, last=step.n, **found)
                    found = {}


def moments(reference: Reference) -> list[Moment]:
    """Return every step of such windows at which the process may end, before and after a commit."""
    every = []
    for window in windows(reference):
        for last in range(window.first, window.last):
            waits = any(last < step <= window.last for step in window.dealt)
            for point in (Point.BEFORE_COMMIT, Point.AFTER_COMMIT):
                on_its_way = last + 1 if point is Point.BEFORE_COMMIT else last
                done = on_its_way == window.last and window.last in window.decided
                every.append(Moment(last, point, window.roundid, window.stage, waits, done))
    return every


def chosen(reference: Reference, kind: Callable[[Moment], object]) -> list[Moment]:
    """Return one moment of each kind; with TABLECTL_SOAK all of them."""
    every = moments(reference)
    return every if SOAK else list({kind(moment): moment for moment in every}.values())


@pytest.fixture(scope="module", params=TABLES)
def reference(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Reference:
    """Rounds that nobody disturbs."""
    run = play(tmp_path_factory.mktemp("undisturbed") / "t", ROUNDS, table=request.param)
    assert_sound(run)
    return Reference(run)


def killed(folder: Path, reference: Reference, moment: Moment, *, hasty: bool = False) -> Run:
    """Play the same rounds, killed at a moment. A socket's path must be short, so the folder's name is."""
    name = f"{moment.last}{moment.point[0]}"
    run = play(folder / name, ROUNDS, Disturbance((moment.death,)), table=reference.config, hasty=hasty)
    assert run.links.kills_count == 1, moment
    assert_sound(run)
    return run


def test_the_undisturbed_rounds_have_windows_of_every_kind(reference: Reference) -> None:
    every = moments(reference)
    assert {moment.stage for moment in every} == set(DECIDED)
    assert {moment.card_waits for moment in every} == {True, False}
    assert any(moment.all_decided for moment in every)


def test_a_round_goes_on_when_every_box_has_decided(tmp_path: Path, reference: Reference) -> None:
    for moment in chosen(reference, lambda moment: (moment.stage, moment.card_waits, moment.all_decided)):
        run = killed(tmp_path, reference, moment)
        assert b'"go_on"' in b"".join(outbox(run.days)["audit"]), moment
        if not moment.card_waits:
            assert_same(reference, run)
            continue
        for audience, stream in outbox(run.days).items():
            assert by_kind(comparable(stream)) == by_kind(reference.streams[audience]), (audience, moment)
        assert run.balances == reference.balances_after, moment


def test_a_supervisor_who_does_not_wait_cancels(tmp_path: Path, reference: Reference) -> None:
    for moment in chosen(reference, lambda moment: moment.stage):
        run = killed(tmp_path, reference, moment, hasty=True)
        if moment.all_decided:  # On its way was the last decision: the table offers to go on.
            assert_same(reference, run)
            continue
        for audience, stream in outbox(run.days).items():
            assert_cancelled(reference, audience, comparable(stream), moment)
        assert_refunded(reference, run, moment)


def assert_cancelled(reference: Reference, audience: str, mine: list[Message], moment: Moment) -> None:
    """Fail unless the round ends with the kill, refunded, and the other rounds are as they were."""
    theirs = reference.streams[audience]
    before = reference.told(audience, moment.last)
    assert first_difference(theirs[:before], mine[:before]) is None, (audience, moment)
    after = [message["data"] for message in mine[before:] if message.get("roundid") == moment.roundid]
    told = [data for data in after if data["event"] in AFTER_CANCEL]
    closed = () if audience == "settlement" else ("decision.closed",)
    assert [data["event"] for data in told] == [*closed, "round.cancelled", "round.closed"], moment
    assert not [data for data in after if data["event"].startswith(("card.", "hand."))], moment
    assert told[-2]["reason"] == "TECHNICAL"
    for number in range(1, ROUNDS + 1):
        roundid = f"{reference.table}-{number}"
        if roundid != moment.roundid:
            difference = first_difference(of_round(theirs, roundid), of_round(mine, roundid))
            assert difference is None, (audience, moment, difference)


def assert_refunded(reference: Reference, run: Run, moment: Moment) -> None:
    """Fail unless the cancelled round has moved no money, and every other one what it moved before."""
    number = int(moment.roundid.rpartition("-")[2])
    for round_no in range(1, ROUNDS + 1):
        was, now = reference.balances_after, run.balances
        moved = {player: now[round_no][player] - now[round_no - 1][player] for player in now[0]}
        would = {player: was[round_no][player] - was[round_no - 1][player] for player in was[0]}
        assert any(would.values())
        assert moved == (dict.fromkeys(moved, 0) if round_no == number else would), (round_no, moment)
