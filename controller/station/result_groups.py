"""A confirmed result on less paper: the 33 hands of a box in groups that come to the same."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from controller.games.published import (
    BoxOutcome,
    Comparison,
    Coup,
    DealerHand,
    Exclusion,
    HandOutcome,
    Outcome,
    Row,
    RowName,
    Wager,
)


class PatternCards(msgspec.Struct, frozen=True):
    """A way of playing and the hand that it leads to."""

    pattern: str
    cards: tuple[str, ...]


class HandGroup(msgspec.Struct, omit_defaults=True):
    """Ways of playing a box that come to the same: combinations, odds, comparison and wagers."""

    combinations: tuple[str, ...]
    odds: str
    comparison: Comparison | None
    bought_comparison: Comparison | None
    excluded: Exclusion | None
    rows: dict[RowName, dict[Wager, str]]
    patterns: list[PatternCards]


class RecalledBox(msgspec.Struct, omit_defaults=True):
    """A box: its ways of playing in groups, as dealt first."""

    box: str
    groups: list[HandGroup]
    fold: dict[Wager, str] | None = None
    bonus: dict[Wager, str] | None = None


class Result(msgspec.Struct, frozen=True, omit_defaults=True):
    """The confirmed result."""

    dealer: DealerHand | None
    dealer_after_purchase: DealerHand | None
    prices: dict[Wager, str]
    boxes: tuple[RecalledBox, ...]
    coup: Coup | None = None


def in_groups(outcome: Outcome) -> Result:
    """Return the result with the hands of each box that come to the same put together."""
    boxes = tuple(
        RecalledBox(box.box, list(_groups(box)), _row(box.fold), _row(box.bonus)) for box in outcome.boxes
    )
    return Result(outcome.dealer, outcome.dealer_after_purchase, outcome.prices, boxes, outcome.coup)


def _row(row: Row | None) -> dict[Wager, str] | None:
    """Spell a row, its wagers in the order of settlement lines, which the journal's JSON has not."""
    if row is None:
        return None
    return {wager: _wager(row[wager].outcome, row[wager].odds) for wager in Wager if wager in row}


def _wager(outcome: str, odds: str | None) -> str:
    return outcome if odds is None else f"{outcome} {odds}"


def _groups(box: BoxOutcome) -> Iterator[HandGroup]:
    """Put hands that come to the same together, in the order of their first pattern."""
    groups: dict[bytes, HandGroup] = {}
    for hand in box.hands:
        group = _group(hand)
        same = groups.setdefault(msgspec.json.encode(group, order="deterministic"), group)
        same.patterns.append(PatternCards(hand.pattern, hand.cards))
    yield from groups.values()


def _group(hand: HandOutcome) -> HandGroup:
    rows = {name: _row(hand.rows[name]) or {} for name in RowName if name in hand.rows}
    kinds = tuple(str(combination.kind) for combination in hand.combinations)
    if hand.excluded is not None:
        # Whatever was in the hand, nobody can have played it.
        kinds, rows = (), {RowName.PLAIN: rows.get(RowName.PLAIN, {})}
        return HandGroup(kinds, "0", None, None, hand.excluded, rows, [])
    return HandGroup(kinds, hand.odds, hand.comparison, hand.bought_comparison, None, rows, [])
