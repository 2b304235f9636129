"""Pairs: a measure and ours, one after the other, again and again; the median of the ratios counts.

A single run on a shared machine says little, and two runs minutes apart say less. So both sides take
turns, and first of all the measure is held against itself: a machine on which that ratio is not near one
can't tell anything of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from statistics import median

import msgspec

CONTROL_LOW, CONTROL_HIGH = 0.8, 1.25
"""The measure against itself; outside of this the machine is too restless."""

Measure = Callable[[], Mapping[str, float]]
"""Measures one block; returns its figures by name."""


class Aim(msgspec.Struct, frozen=True):
    """What the ratio of ours to the measure should be. `limit` None: told, not judged."""

    figure: str
    unit: str
    limit: float | None = None
    higher_is_better: bool = False


class Verdict(StrEnum):
    """What the pairs say of an aim."""

    MET = "met"
    MISSED = "missed"
    INCONCLUSIVE = "inconclusive"
    NOT_JUDGED = "-"


class Comparison(msgspec.Struct, frozen=True):
    """One figure after all pairs: medians of both sides, every ratio ours / measure, and the A/A ratio."""

    aim: Aim
    measure: float
    ours: float
    control: float
    ratios: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """The median of the ratios."""
        return median(self.ratios)

    @property
    def verdict(self) -> Verdict:
        """Whether the aim is met, as far as this machine can tell."""
        if self.aim.limit is None:
            return Verdict.NOT_JUDGED
        if not CONTROL_LOW <= self.control <= CONTROL_HIGH:
            return Verdict.INCONCLUSIVE
        met = self.ratio >= self.aim.limit if self.aim.higher_is_better else self.ratio <= self.aim.limit
        return Verdict.MET if met else Verdict.MISSED


def compare(measure: Measure, ours: Measure, aims: tuple[Aim, ...], pairs: int) -> tuple[Comparison, ...]:
    """Run the A/A pair, then `pairs` pairs of both, interleaved."""
    first, again = measure(), measure()
    blocks = [(measure(), ours()) for _ in range(pairs)]
    return tuple(
        Comparison(
            aim=aim,
            measure=median(bare[aim.figure] for bare, _ in blocks),
            ours=median(own[aim.figure] for _, own in blocks),
            control=again[aim.figure] / first[aim.figure],
            ratios=tuple(own[aim.figure] / bare[aim.figure] for bare, own in blocks),
        )
        for aim in aims
    )


def percentile(samples: list[int], percent: int) -> int:
    """Return the smallest sample that `percent` of all samples do not exceed (nearest rank)."""
    ordered = sorted(samples)
    rank = -(-len(ordered) * percent // 100)
    return ordered[max(rank, 1) - 1]
