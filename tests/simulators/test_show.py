"""`make run` as a sandbox: what it prints to copy really listens to the table."""

from __future__ import annotations

import shlex
from pathlib import Path

from controller.station.config import load
from simulators.show import how_to_listen

CONFIG = Path(__file__).parents[2] / "config" / "tables" / "demo.toml"


def test_it_prints_every_endpoint_and_a_line_that_runs_the_plain_consumer() -> None:
    config = load(CONFIG)
    text = how_to_listen(config)
    known = config.endpoints
    for endpoint in (
        *known.live.values(),
        *known.replay.values(),
        known.betting,
        known.operator,
        known.consumer,
    ):
        assert endpoint in text
    _, program, live, replay, *rest = shlex.split(text.splitlines()[-1])
    assert Path(program).name == "plain_consumer.py" and Path(program).exists()
    assert (live, replay) == (known.live["settlement"], known.replay["settlement"])
    assert rest[:3] == ["rp1", "settlement", "simulated"] and len(rest) == 5


def test_it_prints_the_pages_and_who_logs_in_there() -> None:
    text = how_to_listen(load(CONFIG))
    assert "http://127.0.0.1:8600/dealer" in text and "anna 271828" in text
