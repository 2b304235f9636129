"""Cases of delivery: what is doubled, lost, out of order, and what the consumer was not there to hear."""

from __future__ import annotations

import asyncio

import msgspec

from controller.conformance import rounds
from controller.conformance.case import QUIET_S, WalletTrial
from controller.conformance.feed import forged
from controller.conformance.rounds import BANKER_WINS


async def a_result_twice_is_paid_once(trial: WalletTrial) -> None:
    """`confirmed` arrives twice on the live feed."""
    await trial.staked(ann=100)
    await trial.table.send(*await trial.confirm())
    await trial.table.send(*trial.table.kept.told[-2:])
    await trial.confirm_next_round()
    await trial.has(ann=1_100)


async def a_cancel_twice_refunds_once(trial: WalletTrial) -> None:
    """`cancelled` arrives twice on the live feed."""
    await trial.staked(ann=100)
    await trial.table.send(*await trial.cancel())
    await trial.confirm_next_round()
    await trial.has(ann=1_000)


async def a_correction_twice_pays_once(trial: WalletTrial) -> None:
    """`corrected` arrives twice on the live feed."""
    await trial.staked(ann=100)
    await trial.confirm(BANKER_WINS)
    await trial.table.send(*await trial.correct(rounds.PLAYER_WINS))
    await trial.confirm_next_round()
    await trial.has(ann=1_100)


async def every_message_twice_changes_nothing(trial: WalletTrial) -> None:
    """Every message of two rounds arrives twice in a row."""
    for end in (trial.confirm, trial.cancel):
        await trial.staked(ann=100)
        await trial.caught_up()
        await trial.table.send(*await end())
    await trial.confirm_next_round()
    await trial.has(ann=1_100)


async def the_whole_stream_again_changes_nothing(trial: WalletTrial) -> None:
    """Two rounds arrive once more from message 1, long after."""
    await trial.staked(ann=100)
    await trial.confirm()
    await trial.staked(ann=100)
    await trial.cancel()
    await trial.caught_up()
    await trial.table.send(*trial.table.kept.told)
    await trial.confirm_next_round()
    await trial.has(ann=1_100)


async def a_lost_result_is_fetched(trial: WalletTrial) -> None:
    """`confirmed` is lost on the live feed; the next message shows the gap."""
    await trial.staked(ann=100)
    trial.table.lose(*rounds.confirmed(rounds.PLAYER_WINS))
    await trial.confirm_next_round()
    await trial.has(ann=1_100)


async def a_lost_result_is_missed_without_another_message(trial: WalletTrial) -> None:
    """`confirmed` is lost and nothing follows: `alive` has the last number."""
    await trial.staked(ann=100)
    await trial.caught_up()
    trial.table.lose(*rounds.confirmed(rounds.PLAYER_WINS))
    await trial.has(ann=1_100)


async def a_lost_cancel_is_fetched(trial: WalletTrial) -> None:
    """`cancelled` is lost on the live feed; its debits come back and no other is taken."""
    await trial.staked(ann=100)
    dead = trial.roundid
    trial.table.lose(*rounds.cancelled())
    await trial.confirm_next_round()
    await trial.caught_up()
    await trial.refused("bob", 100, roundid=dead)
    await trial.has(ann=1_000)


async def a_lost_opening_is_fetched(trial: WalletTrial) -> None:
    """The first messages of a round are lost."""
    trial.next_round()
    trial.table.lose(*trial.opened(), rounds.betting(trial.round_no))
    await trial.caught_up()
    await trial.taken("ann", 100)
    await trial.close()
    await trial.confirm()
    await trial.has(ann=1_100)


async def twenty_lost_rounds_are_fetched(trial: WalletTrial) -> None:
    """The line is cut for twenty rounds."""
    await trial.staked(ann=100)
    trial.table.lose(*rounds.confirmed(rounds.PLAYER_WINS))
    for _ in range(20):
        trial.next_round()
        closed = rounds.no_more_bets(trial.round_no)
        trial.table.lose(*trial.opened(), rounds.betting(trial.round_no), closed)
        trial.table.lose(*rounds.confirmed(BANKER_WINS))
    await trial.has(ann=1_100)


async def two_messages_change_places(trial: WalletTrial) -> None:
    """The end of a round arrives before its result."""
    await trial.staked(ann=100)
    result, closed = trial.table.lose(*rounds.confirmed(rounds.PLAYER_WINS))
    await trial.table.send(closed, result)
    await trial.has(ann=1_100)


async def a_round_arrives_backwards(trial: WalletTrial) -> None:
    """All messages of a round arrive in the opposite order."""
    trial.next_round()
    closed = rounds.no_more_bets(trial.round_no)
    sent = trial.table.lose(*trial.opened(), rounds.betting(trial.round_no), closed)
    await trial.taken("ann", 100)
    sent += trial.table.lose(*rounds.confirmed(rounds.PLAYER_WINS))
    await trial.table.send(*reversed(sent))
    await trial.has(ann=1_100)


async def a_correction_before_its_result(trial: WalletTrial) -> None:
    """`corrected` arrives first; revision 1 is booked before revision 2 all the same."""
    await trial.staked(ann=100)
    first = trial.table.lose(*rounds.confirmed(rounds.TIE))
    trial.table.rev = 2
    second = trial.table.lose(*rounds.corrected(trial.roundid, rounds.PLAYER_WINS))
    await trial.table.send(*second, *first)
    await trial.has(ann=1_100)


async def a_cancel_before_the_debit(trial: WalletTrial) -> None:
    """`cancelled` is heard before the round's first debit arrives."""
    await trial.open_round()
    await trial.cancel()
    await trial.caught_up()
    await trial.refused("ann", 100)
    await trial.has(ann=1_000)


async def nothing_is_guessed_over_a_gap(trial: WalletTrial) -> None:
    """A message is missing and nobody answers for replay: what follows waits, and no new bet is taken."""
    await trial.staked(ann=100)
    await trial.caught_up()
    await trial.table.replay_away()
    trial.table.lose(*rounds.confirmed(BANKER_WINS))
    trial.table.rev = 2
    await trial.correct(rounds.PLAYER_WINS)
    await trial.open_round()
    await asyncio.sleep(QUIET_S)
    await trial.has_now(ann=900)
    await trial.stays_shut()
    await trial.table.replay_back()
    await trial.has(ann=1_100)
    await trial.opens()


async def a_forged_chain_is_not_booked(trial: WalletTrial) -> None:
    """The next number comes with another `prevhash`: what replay says counts."""
    await trial.staked(ann=100)
    await trial.caught_up()
    [false, _] = trial.table.lose(*rounds.confirmed(rounds.PLAYER_WINS))
    await trial.table.send(forged(false, prevhash="f" * 64))
    await trial.has(ann=1_100)


async def another_text_under_a_known_number_changes_nothing(trial: WalletTrial) -> None:
    """A number that was acted on comes again with another text."""
    await trial.staked(ann=100)
    [result, _] = await trial.confirm(BANKER_WINS)
    await trial.caught_up()
    won = msgspec.to_builtins(rounds.confirmed(rounds.PLAYER_WINS)[0])
    await trial.table.send(forged(result, data=won))
    await trial.confirm_next_round()
    await trial.has(ann=900)


async def a_number_from_nowhere_is_not_booked(trial: WalletTrial) -> None:
    """A message with a number far ahead is not acted on."""
    await trial.staked(ann=100)
    await trial.caught_up()
    [result, _] = trial.table.lose(*rounds.confirmed(BANKER_WINS))
    won = msgspec.to_builtins(rounds.confirmed(rounds.PLAYER_WINS)[0])
    ahead = f"{trial.table.feed.table}/settlement/1000000"
    await trial.table.send(forged(result, seq=1_000_000, id=ahead, data=won))
    await trial.confirm_next_round()
    await trial.has(ann=900)


CASES = (
    a_result_twice_is_paid_once,
    a_cancel_twice_refunds_once,
    a_correction_twice_pays_once,
    every_message_twice_changes_nothing,
    the_whole_stream_again_changes_nothing,
    a_lost_result_is_fetched,
    a_lost_result_is_missed_without_another_message,
    a_lost_cancel_is_fetched,
    a_lost_opening_is_fetched,
    twenty_lost_rounds_are_fetched,
    two_messages_change_places,
    a_round_arrives_backwards,
    a_correction_before_its_result,
    a_cancel_before_the_debit,
    nothing_is_guessed_over_a_gap,
    a_forged_chain_is_not_booked,
    another_text_under_a_known_number_changes_nothing,
    a_number_from_nowhere_is_not_booked,
)
