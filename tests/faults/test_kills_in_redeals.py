"""Killed while a round is dealt anew (OAB-24): the streams and the balances are those of the undisturbed run.

TABLECTL_SOAK=1: at every step from the report to the end of the round.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from faults.disturbed import Disturbance, Run, play, write_config
from faults.streams import outbox
from faults.test_kills import Reference, assert_same, assert_sound

from controller.journal.records import Step
from simulators.faults.catalogue import Amount, Plan
from simulators.faults.courses import course_of
from simulators.faults.points import Point

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
TABLE = "oasis_with_bonus"
ROUNDS = 2
POINTS = (Point.BEFORE_COMMIT, Point.AFTER_COMMIT) if SOAK else (Point.BEFORE_COMMIT,)
SEED = 11
"""With it every box has decided when the deal is abandoned."""
FAULT = "miscount-draw"
"""The exchange has been paid for when the deal is abandoned."""


def played(folder: Path, *deaths: tuple[Point, int]) -> Run:
    config = write_config(folder / "plan", TABLE)
    course = course_of(config.game, config.settings.boxes_not_told)
    plan = Plan(SEED, Amount.MANY, FAULT, course=course)
    return play(folder / "t", ROUNDS, Disturbance(deaths), table=TABLE, plan=plan, seed=SEED)


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Reference:
    """Rounds that nobody disturbs."""
    run = played(tmp_path_factory.mktemp("undisturbed"))
    assert_sound(run)
    assert b"round.redealt" in b"".join(outbox(run.days)["settlement"])
    return Reference(run)


def moments(reference: Reference) -> dict[str, Step]:
    """Return the steps of the first redeal: what opens it, and what follows up to the next window."""
    steps = iter(reference.steps)
    found = {}
    for name, sign in (
        ("report", b'"WRONG_NUMBER_OF_CARDS"'),
        ("redeal", b"round.redealt"),
        ("shuffle", b"deck.shuffled"),
        ("card", b"card.dealt"),
        ("window", b"decision.opened"),
        ("end", b"round.closed"),
    ):
        found[name] = next(step for step in steps if sign in b",".join(step.events))
    return found


@pytest.mark.parametrize("moment", ["report", "redeal", "shuffle", "card", "window"])
@pytest.mark.parametrize("point", POINTS)
def test_killed_in_a_redeal(tmp_path: Path, reference: Reference, moment: str, point: Point) -> None:
    run = played(tmp_path, (point, moments(reference)[moment].n))
    assert run.links.kills_count == 1
    assert_same(reference, run)


@pytest.mark.skipif(not SOAK, reason="a run a step: make soak")
def test_killed_at_every_step_of_a_redeal(tmp_path: Path, reference: Reference) -> None:
    steps = moments(reference)
    for number in range(steps["report"].n, steps["end"].n + 1):
        run = played(tmp_path / str(number), (Point.BEFORE_COMMIT, number))
        assert run.links.kills_count == 1
        assert_same(reference, run)


def test_killed_again_while_the_redeal_is_taken_again(tmp_path: Path, reference: Reference) -> None:
    steps = moments(reference)
    after = steps["shuffle"].n
    boundary = max((step.n for step in reference.steps if step.carried and step.n < after), default=0)
    taken_again = steps["redeal"].n - boundary
    run = played(tmp_path, (Point.BEFORE_COMMIT, after + 1), (Point.IN_RECOVERY, taken_again))
    assert run.links.kills_count == 2
    assert_same(reference, run)
