"""The bench runs, as `make bench` runs it, on numbers that say nothing; and it judges pairs as it says."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest
from bench.pairs import Aim, Verdict, compare, percentile

BENCH = Path(__file__).with_name("bench.py")
RATIO_OF_TWO = Aim("p50", "us", 2.0)


def test_every_comparison_runs_and_gives_figures():
    done = subprocess.run([sys.executable, BENCH, "--quick", "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert [one["aim"]["figure"] for one in figures] == [
        *("p50", "p99", "p50", "p99", "p50", "p99"),
        *("messages", "table step", "envelopes", "journal", "publish"),
        *("inputs", "ready", "memory"),
        *("main box", "whole round", "main box by numbers", "round", "player"),
    ]
    assert all(one["measure"] > 0 and one["ours"] > 0 and one["control"] > 0 for one in figures)
    assert all(one["ratio"] == one["ratios"][0] for one in figures)


@pytest.mark.parametrize(
    ("measured", "ours", "aim", "verdict"),
    [
        ([10, 10, 10], 20, RATIO_OF_TWO, Verdict.MET),
        ([10, 10, 10], 21, RATIO_OF_TWO, Verdict.MISSED),
        ([10, 13, 10], 10, RATIO_OF_TWO, Verdict.INCONCLUSIVE),
        ([10, 7, 10], 10, RATIO_OF_TWO, Verdict.INCONCLUSIVE),
        ([10, 10, 10], 1, Aim("p50", "1/s", 0.2, higher_is_better=True), Verdict.MISSED),
        ([10, 10, 10], 2, Aim("p50", "1/s", 0.2, higher_is_better=True), Verdict.MET),
        ([10, 10, 10], 99, Aim("p50", "ms"), Verdict.NOT_JUDGED),
    ],
)
def test_a_verdict_follows_from_ratio_and_control(measured, ours, aim, verdict):
    blocks = iter(measured)
    (one,) = compare(lambda: {"p50": next(blocks)}, lambda: {"p50": ours}, (aim,), 1)
    assert one.verdict is verdict


def test_pairs_take_turns_after_the_control_and_their_median_counts():
    order = []
    speeds = itertools.cycle((20, 30, 90))

    def bare():
        order.append("a")
        return {"p50": 10}

    def own():
        order.append("b")
        return {"p50": next(speeds)}

    (one,) = compare(bare, own, (RATIO_OF_TWO,), 3)
    assert "".join(order) == "aa" + "ab" * 3
    assert one.ratios == (2, 3, 9)
    assert one.ratio == 3


def test_a_percentile_is_the_nearest_rank():
    assert percentile(list(range(100, 0, -1)), 99) == 99
    assert percentile([5, 1, 3], 50) == 3
    assert percentile([7], 99) == 7
