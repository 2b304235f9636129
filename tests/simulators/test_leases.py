"""When the shipped betting system takes bets: inside the lease, and from a table that it hears."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from mini_table import SETTINGS, MiniTable
from rules.live_rules import live_rules
from station.recorded import write_config

from controller.station.config import load
from controller.table.events import Audience
from simulators.actor import Wake
from simulators.betting import BettingSystem
from simulators.faults.catalogue import Amount, Plan
from simulators.links import LiveLinks
from simulators.simulate_command import watched
from simulators.studio import Studio
from simulators.wallet import Wallet

MS = 1_000
BETTING_US = SETTINGS.betting_ms * MS


class Lease(NamedTuple):
    """A betting time, heard by a betting system; `wakes` are those of its players."""

    betting: BettingSystem
    wakes: list[str]
    opened_us: int

    def bet(self, at_us: int) -> set[bool]:
        """Let everybody bet; return which bets were late, and which were not."""
        for note in self.wakes:
            self.betting.woken(note, at_us)
        return {bool(bets.get("late")) for bets in self.betting.bets_of("rp1-1").values()}


def leased(heard_after_ms: int) -> Lease:
    """Open betting time, and tell of it so long after its opening by the clock of the betting system."""
    wallet = Wallet()
    betting = BettingSystem(wallet, live_rules(), seed=1)
    for player in betting.crowd.players:
        wallet.deposit(player, 5_000_000, player)
    table = MiniTable([], seed=1)
    table.until("betting")
    opened_us = table.table.state.in_play.window.closes_at - BETTING_US  # type: ignore[union-attr]
    told = table.messages[Audience.BETTING]
    plans = [plan for raw in told for plan in betting.heard(raw, opened_us + heard_after_ms * MS)]
    return Lease(betting, [plan.act.note for plan in plans if isinstance(plan.act, Wake)], opened_us)


@pytest.mark.parametrize(
    ("heard_after_ms", "open_ms"),
    [
        (0, SETTINGS.betting_ms),
        (2_000, SETTINGS.betting_ms),  # Told late, or a clock that is fast: the published end counts.
        (-500, SETTINGS.betting_ms - 500),  # A clock that is slow: the duration since it was told counts.
    ],
)
def test_without_a_close_bets_are_taken_until_the_earlier_end(heard_after_ms: int, open_ms: int) -> None:
    lease = leased(heard_after_ms)
    assert lease.bet(lease.opened_us + open_ms * MS - 1) == {False}
    lease = leased(heard_after_ms)
    assert lease.bet(lease.opened_us + open_ms * MS) == {True}


def test_no_new_bets_are_taken_while_the_table_is_not_heard() -> None:
    lease = leased(0)
    lease.betting.is_stale = lambda: True
    assert lease.bet(lease.opened_us + MS) == set()
    lease.betting.is_stale = lambda: False
    assert lease.bet(lease.opened_us + MS) == {False}


class Told(NamedTuple):
    """What a subscription says of itself."""

    is_stale: bool
    is_behind: bool

    def stale(self) -> bool:
        return self.is_stale

    def behind(self) -> bool:
        return self.is_behind


@pytest.mark.parametrize("stale", [False, True])
@pytest.mark.parametrize("behind", [False, True])
def test_over_real_links_the_subscription_says_whether_the_table_is_heard(
    tmp_path: Path, stale: bool, behind: bool
) -> None:
    config = load(write_config(tmp_path))
    studio = Studio(config, seed=1, rounds=1, plan=Plan(1, Amount.NONE))
    link = watched(LiveLinks(config), studio)
    link._subscriptions[Audience.BETTING] = Told(stale, behind)  # type: ignore[assignment]
    assert studio.betting.is_stale() == (stale or behind)
