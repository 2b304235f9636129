"""`make bench`: how fast the table is, against measures that stay as they are.

Comparisons, each of pairs that take turns (see `pairs`): a card's way from the serial line to a subscriber
against the bare pipeline, and beside a stopped subscriber against the same without, messages a second
against a bare publisher with group commit, replay against a straw man that decodes, encodes and hashes, a
start and the memory it takes against bare imports, the outcome of a main box against ranking its 33 hands
with another evaluator, settlement against bare sums. Each prints the medians of both sides, the median of
the ratios with its spread, the A/A ratio, and whether the aim is met; a restless machine gives
"inconclusive". An aim that is missed is a figure, not a failure. `--json` is for machines, `--quick` for
the test that keeps this running.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
from judging import Outcomes, Settlements
from latency import PAUSE_S, BareLine, LiveTable
from pairs import Aim, Comparison, Measure, compare, percentile
from publishing import PARTS, Rates
from replaying import Replay, record
from starting import Starts
from stopping import Neighbours

RUN = Path(__file__).parents[2] / "run"
LATENCY = (Aim("p50", "us", 1.5), Aim("p99", "us", 2.0))
BESIDE = (Aim("p50", "us", 1.3), Aim("p99", "us", 1.3))
RATE = (Aim("messages", "1/s", 0.4, higher_is_better=True), *(Aim(part, "us/message") for part in PARTS))
REPLAY = (Aim("inputs", "1/s", 0.2, higher_is_better=True),)
START = (Aim("ready", "ms"), Aim("memory", "MB"))
OUTCOME = (Aim("main box", "us", 3.0), Aim("whole round", "us"), Aim("main box by numbers", "us"))
SETTLEMENT = (Aim("round", "ms"), Aim("player", "ns"))


class Size(msgspec.Struct, frozen=True):
    """How much is measured: pairs, cards a block, rounds in the recording; rounds judged, players settled."""

    pairs: int
    cards: int
    rounds: int
    outcomes: int
    players: int


FULL = Size(pairs=9, cards=500, rounds=100, outcomes=400, players=10_000)
QUICK = Size(pairs=1, cards=30, rounds=1, outcomes=3, players=200)


class Report(msgspec.Struct, frozen=True):
    """One comparison, with the load of the machine (1 minute) before it."""

    name: str
    load: float
    figures: tuple[Comparison, ...]


def calm(folder: Path, size: Size) -> tuple[Comparison, ...]:
    """Compare the way of a card that comes after a pause."""
    return latency(folder / "calm", size, pause_s=PAUSE_S)


def hurried(folder: Path, size: Size) -> tuple[Comparison, ...]:
    """Compare the way of a card that comes upon the one before."""
    return latency(folder / "hurried", size, pause_s=0)


def latency(folder: Path, size: Size, *, pause_s: float) -> tuple[Comparison, ...]:
    """Compare the way of a card."""
    folder.mkdir()
    with closing(BareLine(folder / "bare")) as bare, closing(LiveTable(folder / "live")) as live:
        measure, ours = _block(bare, size.cards, pause_s), _block(live, size.cards, pause_s)
        return compare(measure, ours, LATENCY, size.pairs)


def _block(line: BareLine | LiveTable, cards: int, pause_s: float) -> Measure:
    def measure() -> Mapping[str, float]:
        samples = [line.deal(pause_s) for _ in range(cards)]
        return {name: percentile(samples, percent) / 1_000 for name, percent in (("p50", 50), ("p99", 99))}

    measure()  # The first block finds everything cold, on both sides.
    return measure


def beside(folder: Path, size: Size) -> tuple[Comparison, ...]:
    """Compare the way of a card beside a stopped subscriber with that of a table without one."""
    with closing(Neighbours(folder / "beside")) as tables:
        measure, ours = _block(tables.alone, size.cards, 0), _block(tables.beside, size.cards, 0)
        compared = compare(measure, ours, BESIDE, size.pairs)
        tables.check()
        return compared


def rate(folder: Path, size: Size) -> tuple[Comparison, ...]:
    """Compare messages a second, and tell where the time goes."""
    rates = Rates(folder / "rate", record(folder / "recorded", size.rounds))
    return compare(rates.bare, rates.ours, RATE, size.pairs)


def replay(folder: Path, size: Size) -> tuple[Comparison, ...]:
    """Compare replay."""
    recorded = Replay(folder / "replay", size.rounds)
    return compare(recorded.straw_man, recorded.ours, REPLAY, size.pairs)


def start(folder: Path, size: Size) -> tuple[Comparison, ...]:
    """Compare starts."""
    starts = Starts(folder / "starts")
    return compare(starts.imports, starts.ours, START, size.pairs)


def judge(_folder: Path, size: Size) -> tuple[Comparison, ...]:
    """Compare the outcome of a main box, and of a round."""
    outcomes = Outcomes(size.outcomes)
    return compare(outcomes.ranking, outcomes.ours, OUTCOME, size.pairs)


def settle(_folder: Path, size: Size) -> tuple[Comparison, ...]:
    """Compare the settlement of a round."""
    settlements = Settlements(size.players)
    return compare(settlements.bare_sums, settlements.ours, SETTLEMENT, size.pairs)


COMPARISONS = {
    "card to subscriber / bare pipeline, after a pause": calm,
    "card to subscriber / bare pipeline, card upon card": hurried,
    "card to subscriber beside a stopped one / without, card upon card": beside,
    "messages through a whole table / bare PUB with group commit": rate,
    "replay / straw man": replay,
    "start / bare imports": start,
    "outcome / ranking the 33 hands of the main box": judge,
    "settlement of 10,000 players / bare sums": settle,
}


def table_of(reports: list[Report]) -> str:
    """Return the reports as text, a line a figure."""
    heads = ("figure", "measure", "ours", "ratio", "spread", "A/A", "aim", "verdict")
    rows: list[tuple[str, ...]] = [heads]
    for report in reports:
        rows.append((f"{report.name} (load {report.load:.1f})", *[""] * 7))
        rows += [_row(one) for one in report.figures]
    widths = [max(len(row[column]) for row in rows if row[1]) for column in range(len(heads))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def _row(one: Comparison) -> tuple[str, ...]:
    aim = one.aim
    sign = ">=" if aim.higher_is_better else "<="
    return (
        f"  {aim.figure} {aim.unit}",
        f"{one.measure:,.0f}",
        f"{one.ours:,.0f}",
        f"{one.ratio:.3g}",
        f"{min(one.ratios):.3g}-{max(one.ratios):.3g}",
        f"{one.control:.2f}",
        "-" if aim.limit is None else f"{sign} {aim.limit:g}",
        one.verdict,
    )


def as_data(reports: list[Report]) -> list[dict[str, Any]]:
    """Return the reports as plain data, with what is computed of them."""
    return [
        {"name": report.name, "load": report.load, "ratio": one.ratio, "verdict": one.verdict}
        | msgspec.to_builtins(one)
        for report in reports
        for one in report.figures
    ]


def main() -> int:
    """Measure everything and print it. Returns 0 also when an aim is missed."""
    parser = argparse.ArgumentParser(description="measure the table against fixed measures")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--quick", action="store_true", help="tiny numbers, to see that it runs")
    arguments = parser.parse_args()
    size = QUICK if arguments.quick else FULL
    RUN.mkdir(mode=0o700, exist_ok=True)
    reports = []
    # On the disk of the checkout: a memory file system syncs nothing.
    with tempfile.TemporaryDirectory(prefix="bench.", dir=RUN) as folder:
        for name, comparison in COMPARISONS.items():
            print(f"{name} ...", file=sys.stderr, flush=True)
            reports.append(Report(name, os.getloadavg()[0], comparison(Path(folder), size)))
    if arguments.json:
        print(msgspec.json.encode(as_data(reports)).decode())
    else:
        machine = f"{platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}"
        print(f"{size.pairs} pairs; {machine}")
        print(table_of(reports))
    return 0


if __name__ == "__main__":
    sys.exit(main())
