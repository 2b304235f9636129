"""Random histories of a shoe: the invariants hold, results are right, the same inputs give the same bytes."""

from __future__ import annotations

import os

import pytest
from oracle_baccarat import coup
from table.dealt import RED, Dealt, every
from table.invariants import Watcher
from table.shoe_dealt import SHOE8
from table.shoe_histories import fresh, play

from controller.table import inputs as i
from controller.table.events import (
    BurnReason,
    CardBurned,
    IncidentKind,
    IncidentOpened,
    RoundCancelled,
    RoundConfirmed,
    encode_events,
)
from controller.table.table import Table

SEEDS = 400 if os.environ.get("TABLECTL_SOAK") else 8
STEPS = 400


class ShoeWatcher(Watcher):
    """What holds at a table that is dealt out of a shoe, too."""

    def check(self, d: Dealt) -> None:
        """Check everything since the last call."""
        super().check(d)
        for event in d.last:
            if isinstance(event, RoundConfirmed):
                cards = [str(laid.card) for laid in d.table.state.in_play.laid]
                found = event.outcome.coup
                assert found is not None and found.winner == coup(cards).winner
            if isinstance(event, CardBurned):
                assert event.card is None or event.reason is BurnReason.FIRST_CARD


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_shoe_bears_a_random_history(seed: int) -> None:
    d = fresh(seed)
    play(d, seed, STEPS, ShoeWatcher().check)
    again = Table(d.settings, d.game, SHOE8, (RED,))
    taken = [encode_events(again.step(i.decode_input(i.encode_input(value)))) for value in d.inputs]
    assert taken == [encode_events(events) for events in d.steps]


def test_the_histories_reach_what_can_go_wrong_with_a_shoe() -> None:
    kinds: set[IncidentKind] = set()
    confirmed = cancelled = 0
    for seed in range(8):
        d = fresh(seed)
        play(d, seed, STEPS, lambda _: None)
        kinds |= {opened.kind for opened in every(d.events, IncidentOpened)}
        confirmed += len(every(d.events, RoundConfirmed))
        cancelled += len(every(d.events, RoundCancelled))
    assert kinds >= {
        IncidentKind.CUTTING_CARD,
        IncidentKind.DEVICE_FAILED,
        IncidentKind.EARLY_DRAW,
        IncidentKind.HELD_READ,
        IncidentKind.SAME_CODE_AGAIN,
        IncidentKind.SHOE_DISAGREES,
        IncidentKind.SURPLUS_CARD,
        IncidentKind.TWO_CARDS,
        IncidentKind.WRONG_PLACE,
    }
    assert confirmed >= 100 and cancelled >= 20
