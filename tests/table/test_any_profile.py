"""Whatever a house writes: a profile that is proven when it is read never stops a table."""

from __future__ import annotations

import os
from random import Random

import msgspec
import pytest
from profiles import profile
from table.dealt import FAILS, PLAYS, SETTINGS, Dealt
from table.histories import fresh_redealing, play
from table.invariants import Watcher

from controller.table.cells import PRESSES, Cell, CellVerdict, Deck
from controller.table.profile import Profile, ProfileFile, RowFile, read_profile

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
TRIES = 6
"""So often another verdict is drawn for a cell before it stays as it is."""


def any_profile(base: str, random: Random) -> Profile:
    """Return a profile whose cells have been given other verdicts, as far as it can be proven."""
    rows = dict(profile(base).rows)
    for number, row in profile(base).rows.items():
        for index in range(len(row.cells)):
            for _ in range(TRIES):
                changed = {**rows, number: _with_other_verdict(rows[number], index, random)}
                try:
                    read_profile([ProfileFile(name="any", rows=changed)])
                except ValueError:
                    continue
                rows = changed
                break
    return read_profile([ProfileFile(name="any", rows=rows)])


def _with_other_verdict(row: RowFile, index: int, random: Random) -> RowFile:
    cell = row.cells[index]
    verdict = cell.verdict if cell.verdict is CellVerdict.ASK else random.choice(tuple(CellVerdict))
    several = tuple(random.sample(sorted(PRESSES - {"order_redeal"}), random.randint(1, 3)))
    other: Cell = msgspec.structs.replace(
        cell,
        verdict=verdict,
        asks=cell.asks if verdict is CellVerdict.ASK else None,
        presses=several if verdict is CellVerdict.SUPERVISOR else None,
        deck=random.choice(tuple(Deck)),
    )
    cells = (*row.cells[:index], other, *row.cells[index + 1 :])
    return msgspec.structs.replace(row, cells=cells)


@pytest.mark.parametrize("seed", range(200 if SOAK else 10))
def test_a_proven_profile_never_stops_a_table(seed: int) -> None:
    random = Random(seed)
    settings = msgspec.structs.replace(SETTINGS, profile=any_profile("russian_poker_live", random))
    watcher = Watcher()
    play(Dealt(FAILS if seed % 3 else PLAYS, settings=settings), seed, 600, watcher.check)


@pytest.mark.parametrize("seed", range(100 if SOAK else 5))
def test_nor_one_where_boxes_decide(seed: int) -> None:
    random = Random(seed)
    shipped = fresh_redealing(seed)
    settings = msgspec.structs.replace(shipped.settings, profile=any_profile("oasis_with_bonus", random))
    d = Dealt(game=shipped.game, settings=settings)
    d.shoe = shipped.shoe
    play(d, seed, 600, Watcher().check)


def test_other_verdicts_are_really_tried() -> None:
    changed = any_profile("russian_poker_live", Random(1))
    shipped = profile("russian_poker_live")
    verdicts = {
        (cell.verdict, other.verdict)
        for number, row in shipped.rows.items()
        for cell, other in zip(row.cells, changed.rows[number].cells, strict=True)
        if cell.verdict is not other.verdict
    }
    assert len(verdicts) > 10
