"""The shipped wallet and betting system acknowledge what they have acted on, where a table lists them."""

from __future__ import annotations

import asyncio
from pathlib import Path

from station.recorded import write_config

from controller.bus.envelope import Envelopes, Environment, Stamp
from controller.station.config import load
from controller.table import events as ev
from controller.table.events import Audience
from controller.table.inputs import Acknowledge
from controller.table.picture import draw
from simulators.actor import Planned, Press
from simulators.faults.catalogue import Amount, Plan
from simulators.link import DirectLink
from simulators.simulate_command import START_US
from simulators.studio import Studio
from simulators.wallet import Wallet
from simulators.world import World

ROUNDS = 3
NOW = 5
ROUND = "rp1-1"


def opened_and_cancelled() -> tuple[bytes, ...]:
    """Return a settlement feed of one round."""
    events = (
        ev.RoundOpened(round_no=1, game="g", boxes=("box2",), rules="r", procedures="p"),
        ev.RoundCancelled(rev=1, reason="TECHNICAL", incident=1),
    )
    stamp = Stamp(at_us=1, epoch=1, phase="cancelled", rules="r", roundid=ROUND, rev=1)
    envelopes = Envelopes(table="rp1", environment=Environment.SIMULATED)
    return envelopes.build(events, stamp)[Audience.SETTLEMENT]


def test_a_table_that_waits_for_both_is_played_on_by_their_acknowledgements(tmp_path: Path) -> None:
    path = write_config(tmp_path)
    profile = tmp_path / "profiles" / "russian_poker_live.toml"
    profile.write_text(profile.read_text().replace("[limits]", "[limits]\nacknowledged_before_start = true"))
    config = load(path)
    assert config.settings.limits.acknowledged_before_start
    studio = Studio(config, seed=7, rounds=ROUNDS, plan=Plan(7, Amount.SOME))
    link = DirectLink(config, START_US)
    asyncio.run(World(link, studio.actors, is_done=studio.dealer.is_done).run())
    assert link.station is not None
    state = link.station.kernel.table.state
    assert state.round_no == ROUNDS
    assert [(one.name, one.behind) for one in draw(state).consumers] == [("wallet", 0), ("bets", 0)]


def due(roundid: str, rev: int) -> list[Planned]:
    press = Press("consumer", "wallet", 0, Acknowledge(roundid, rev), f"{roundid}/{rev}")
    return [Planned(NOW, press)]


def test_the_wallet_acknowledges_what_it_has_booked_and_after_a_start_once_more(tmp_path: Path) -> None:
    path = tmp_path / "wallet.db"
    opened, cancelled = opened_and_cancelled()
    wallet = Wallet(path, acknowledges=True)
    assert wallet.repeat(NOW) == []
    assert wallet.heard(opened, NOW) == []
    assert wallet.heard(cancelled, NOW) == due(ROUND, 1)
    assert wallet.heard(cancelled, NOW) == []
    wallet.close()
    assert Wallet(path, acknowledges=True).repeat(NOW) == due(ROUND, 1)


def test_nobody_acknowledges_at_a_table_that_has_not_listed_them() -> None:
    wallet = Wallet()
    for message in opened_and_cancelled():
        assert wallet.heard(message, NOW) == []
    assert wallet.repeat(NOW) == []
