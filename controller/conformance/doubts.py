"""Cases of doubt: what a table should never say, what is kept no more, and words from another time.

Nothing that moves money is guessed: a wallet stops, or stays as it is.
"""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from controller.bus.wire import PAGE_MESSAGES_MAX
from controller.conformance import rounds
from controller.conformance.case import STALE_S, Differs, WalletTrial
from controller.conformance.rounds import PLAYER_WINS
from controller.table import events


async def a_cancel_after_the_result_gives_nothing_back(trial: WalletTrial) -> None:
    """Nothing is cancelled after a credit, and a result is never followed by `cancelled`."""
    await trial.staked(ann=100, bob=100)
    await trial.confirm(PLAYER_WINS)
    await trial.has(ann=1_100, bob=900)
    await trial.cancel()
    await trial.stands(ann=1_100, bob=900)


async def a_result_after_the_cancel_pays_nothing(trial: WalletTrial) -> None:
    """`cancelled` is a tombstone: no result of the round counts any more."""
    await trial.staked(ann=100)
    await trial.cancel()
    await trial.has(ann=1_000)
    await trial.confirm(PLAYER_WINS)
    await trial.stands(ann=1_000)


async def a_revision_under_another_number_is_paid_once(trial: WalletTrial) -> None:
    """The key is (table, round, rev, bet), not the number of the message: what is booked is booked."""
    await trial.staked(ann=100)
    await trial.confirm(PLAYER_WINS)
    await trial.has(ann=1_100)
    await trial.confirm(PLAYER_WINS)
    await trial.stands(ann=1_100)


async def an_unknown_word_in_a_result_stops_a_wallet(trial: WalletTrial) -> None:
    """A wallet stops at a word inside a result that it doesn't know; it takes it for no loss and no win."""
    await trial.staked(ann=100)
    await trial.caught_up()
    result, closed = rounds.confirmed(PLAYER_WINS)
    outcome: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(result))["outcome"]
    outcome["boxes"][0]["hands"][0]["rows"]["plain"]["PLAYER"]["outcome"] = "HALVED"
    await trial.table.send(*trial.table.store(result, data={"outcome": outcome}))
    await trial.table.say(closed)
    await trial.stops()
    await trial.has_now(ann=900)


async def what_is_kept_no_more_stops_a_wallet(trial: WalletTrial) -> None:
    """Messages that it lacks are beyond the retention time: it never guesses them, and takes no bets."""
    await trial.staked(ann=100)
    await trial.caught_up()
    await trial.subject.kill()
    await trial.confirm(PLAYER_WINS)
    await trial.open_round()
    trial.table.kept.kept_from = len(trial.table.kept.told)
    await trial.begin()
    await trial.stops()
    await trial.has_now(ann=900)
    if await trial.takes_bets():
        raise Differs("new bets are taken over messages that nobody has any more, expected none")


async def more_than_a_page_is_fetched(trial: WalletTrial) -> None:
    """Replay is paged: `next` of the marker says where the following page begins."""
    await trial.staked(ann=100)
    await trial.caught_up()
    for incident in range(1, PAGE_MESSAGES_MAX // 2 + 10):
        trial.table.lose(rounds.halt(incident), rounds.halt(incident, over=True))
    trial.table.lose(*rounds.confirmed(PLAYER_WINS))
    await trial.has(ann=1_100)


async def an_alive_of_elsewhere_is_no_sign_of_life(trial: WalletTrial) -> None:
    """`alive` of another environment does not keep betting open."""
    await trial.open_round()
    await trial.opens()
    trial.table.is_alive = False
    loop = asyncio.get_running_loop()
    end = loop.time() + STALE_S
    while loop.time() < end:
        await trial.table.beat(source=f"tablectl/{trial.table.feed.table}/training")
        await asyncio.sleep(0.25)
    await trial.shuts(within_s=0.5)


async def a_redeal_moves_no_money(trial: WalletTrial) -> None:
    """`round.redealt` leaves the stakes where they are; the end of the round says what comes back."""
    await trial.staked(ann=100)
    await trial.table.say(events.RoundRedealt(deal=2, reason="MISDEAL", incident=1))
    await trial.has(ann=900)
    await trial.cancel()
    await trial.has(ann=1_000)


CASES = (
    a_cancel_after_the_result_gives_nothing_back,
    a_result_after_the_cancel_pays_nothing,
    a_revision_under_another_number_is_paid_once,
    an_unknown_word_in_a_result_stops_a_wallet,
    what_is_kept_no_more_stops_a_wallet,
    more_than_a_page_is_fetched,
    an_alive_of_elsewhere_is_no_sign_of_life,
    a_redeal_moves_no_money,
)
