"""Cases of origin: older epochs, foreign sources, types and fields from another time."""

from __future__ import annotations

import asyncio

from controller.conformance import rounds
from controller.conformance.case import QUIET_S, STALE_S, Differs, WalletTrial
from controller.conformance.feed import forged
from controller.conformance.rounds import BANKER_WINS


async def an_older_epoch_is_refused_live(trial: WalletTrial) -> None:
    """A live message with a lower epoch than the last accepted is refused; replay has the truth."""
    trial.table.epoch = 3
    await trial.staked(ann=100)
    await trial.caught_up()
    await trial.table.replay_away()
    [result, _] = trial.table.lose(*rounds.confirmed(rounds.PLAYER_WINS))
    await trial.table.send(forged(result, epoch=2))
    await asyncio.sleep(QUIET_S)
    await trial.has_now(ann=900)
    await trial.table.replay_back()
    await trial.has(ann=1_100)


async def an_older_epoch_is_no_sign_of_life(trial: WalletTrial) -> None:
    """`alive` of a process that was replaced does not keep betting open."""
    trial.table.epoch = 3
    await trial.open_round()
    await trial.opens()
    trial.table.is_alive = False
    end = asyncio.get_running_loop().time() + STALE_S
    while asyncio.get_running_loop().time() < end:
        await trial.table.beat(epoch=2)
        await asyncio.sleep(0.25)
    await trial.shuts(within_s=0.5)


async def a_new_epoch_goes_on(trial: WalletTrial) -> None:
    """The table has been restarted: the next epoch goes on under the next number."""
    await trial.staked(ann=100)
    await trial.caught_up()
    await trial.table.restart()
    await trial.confirm()
    await trial.has(ann=1_100)


async def replay_has_older_epochs(trial: WalletTrial) -> None:
    """Replay is judged by number and chain alone: what an older process said is as true as ever."""
    await trial.staked(ann=100)
    await trial.caught_up()
    trial.table.lose(*rounds.confirmed(rounds.PLAYER_WINS))
    await trial.table.restart()
    await trial.confirm_next_round()
    await trial.has(ann=1_100)


async def another_environment_is_not_booked(trial: WalletTrial) -> None:
    """A message whose `source` ends in another environment is never acted on."""
    await _foreign(trial, source=f"tablectl/{trial.table.feed.table}/training")


async def another_table_is_not_booked(trial: WalletTrial) -> None:
    """A message of another table is never acted on."""
    await _foreign(trial, source="tablectl/other/simulated", id="other/settlement/4", tableid="other")


async def another_audience_is_not_booked(trial: WalletTrial) -> None:
    """A message of another audience's stream is never acted on."""
    await _foreign(trial, id=f"{trial.table.feed.table}/audit/4")


async def an_unknown_type_stops_a_wallet(trial: WalletTrial) -> None:
    """A wallet stops on an unknown type: it books nothing more and takes no bets."""
    await _unknown(trial, "tablectl.round.divided.v1")


async def a_later_major_version_stops_a_wallet(trial: WalletTrial) -> None:
    """A type's next major version is another type."""
    await _unknown(trial, "tablectl.round.confirmed.v2")


async def unknown_fields_are_ignored(trial: WalletTrial) -> None:
    """Unknown fields are ignored, in the envelope and in `data`."""
    await trial.staked(ann=100)
    await trial.caught_up()
    for event in rounds.confirmed(rounds.PLAYER_WINS):
        await trial.table.send(*trial.table.store(event, data={"colour": "red"}, mood="calm"))
    await trial.has(ann=1_100)


async def noise_is_not_booked(trial: WalletTrial) -> None:
    """Bytes that are no message are never acted on, and nothing is lost over them."""
    await trial.staked(ann=100)
    await trial.caught_up()
    await trial.table.send(b"", b"\xff\xfe", b"{}", b'{"seq":5}', b"[" * 10_000)
    await trial.confirm()
    await asyncio.sleep(QUIET_S)
    await trial.restart_subject()
    await trial.has(ann=1_100)


async def an_alive_of_another_chain_is_not_trusted(trial: WalletTrial) -> None:
    """`alive` has another hash for the number that was acted on: no new bet is taken."""
    await trial.open_round()
    await trial.caught_up()
    await trial.opens()
    trial.table.is_alive = False
    await trial.table.beat(hash="f" * 64)
    await trial.shuts(within_s=1.0)


async def _foreign(trial: WalletTrial, **changes: str) -> None:
    """Send a result of elsewhere, then none: it is not booked, and after a restart all goes on."""
    await trial.staked(ann=100)
    await trial.caught_up()
    [result, *_] = trial.table.lose(*rounds.confirmed(BANKER_WINS))
    await trial.table.send(forged(result, **changes))
    trial.table.rev = 2
    trial.table.lose(*rounds.corrected(trial.roundid, rounds.PLAYER_WINS))
    await asyncio.sleep(QUIET_S)
    await trial.restart_subject()
    await trial.has(ann=1_100)


async def _unknown(trial: WalletTrial, name: str) -> None:
    await trial.staked(ann=100)
    await trial.caught_up()
    result, closed = rounds.confirmed(rounds.PLAYER_WINS)
    await trial.table.send(*trial.table.store(result, type=name))
    await trial.table.say(closed)
    await trial.open_round()
    await trial.stops()
    await trial.has_now(ann=900)
    if await trial.takes_bets():
        raise Differs("new bets are taken after an unknown type, expected none")


CASES = (
    an_older_epoch_is_refused_live,
    an_older_epoch_is_no_sign_of_life,
    a_new_epoch_goes_on,
    replay_has_older_epochs,
    another_environment_is_not_booked,
    another_table_is_not_booked,
    another_audience_is_not_booked,
    an_unknown_type_stops_a_wallet,
    a_later_major_version_stops_a_wallet,
    unknown_fields_are_ignored,
    noise_is_not_booked,
    an_alive_of_another_chain_is_not_trusted,
)
