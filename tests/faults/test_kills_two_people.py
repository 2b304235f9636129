"""Killed while two people enter a card or correct a result: every stream equals the undisturbed run's.

TABLECTL_SOAK=1: each of these steps at each named point, in a round whose cards lie and between two rounds.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from faults.disturbed import SEEDS, Disturbance, Run, play
from faults.streams import Message, comparable, first_difference, outbox

from controller.journal import Reader
from controller.station.verify_command import make_report
from controller.table.inputs import Commanded, decode_input
from simulators.faults.catalogue import Amount, Plan
from simulators.faults.points import Point

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
POINTS = (Point.BEFORE_COMMIT, Point.AFTER_COMMIT) if SOAK else (Point.BEFORE_COMMIT,)
ROUNDS = {"wrong-result": 2, "unreadable": 1, "gone-for-long": 1}
"""Round 1 is corrected between two rounds, round 2 while its cards lie."""
STEPS = {
    "wrong-result": ("propose_correction", "approve_correction"),
    "unreadable": ("order_entry", "enter_card"),
    "gone-for-long": ("order_entry", "enter_card"),
}
NO_TIMES = {"gone-for-long"}
"""How soon a scanner that is plugged in again is read hangs on how long the process has looked for it."""
SAID = ("event", "place", "n", "reading", "manual", "card", "command", "by", "outcome")


def steps_of(run: Run, names: tuple[str, ...]) -> list[int]:
    """Return the numbers of the steps in which these commands were taken or refused."""
    [path] = run.days.paths()
    with Reader.open(path) as reader:
        values: list[tuple[int, Any]] = [(step.n, decode_input(step.input)) for step in reader.steps()]
    return [
        n
        for n, value in values
        if isinstance(value, Commanded) and value.command.__struct_config__.tag in names
    ]


def told(stream: list[bytes]) -> list[Message]:
    """Leave out what was refused: a press that is sent again meets a table that is held after its restart."""
    return [message for message in comparable(stream) if "input.refused" not in message["type"]]


def without_times(stream: list[Message]) -> list[Message]:
    """Leave of each message what was said of cards, presses and the result."""
    return [{"data": {key: message["data"].get(key) for key in SAID}} for message in stream]


@pytest.mark.parametrize("fault", STEPS)
def test_two_people(tmp_path: Path, fault: str) -> None:
    plan = Plan(SEEDS["demo"], Amount.MANY, fault)
    whole = play(tmp_path / "t", ROUNDS[fault], plan=plan)
    assert whole.links.kills_count == 0 and whole.studio.dealer.committed
    look = without_times if fault in NO_TIMES else list
    streams = {audience: look(told(stream)) for audience, stream in outbox(whole.days).items()}
    steps = steps_of(whole, STEPS[fault])
    assert len(steps) >= len(STEPS[fault])
    for n in steps if SOAK else steps[-2:]:
        for point in POINTS:
            run = play(tmp_path / f"{n}{point[0]}", ROUNDS[fault], Disturbance(((point, n),)), plan=plan)
            assert run.links.kills_count == 1
            for audience, stream in outbox(run.days).items():
                difference = first_difference(streams[audience], look(told(stream)))
                assert difference is None, f"{point} {n}, {audience}: {difference}"
            assert run.studio.wallet.balances() == whole.studio.wallet.balances()
            assert make_report(run.days.paths()).findings == []
