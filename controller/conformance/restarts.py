"""Cases of restarts: the consumer is killed, the table is, and both go on where they were."""

from __future__ import annotations

from controller.conformance import rounds
from controller.conformance.case import WalletTrial
from controller.conformance.rounds import BANKER_WINS


async def killed_between_debit_and_result(trial: WalletTrial) -> None:
    """A kill after the debit: the bet is in the books and is paid."""
    await trial.staked(ann=100)
    await trial.caught_up()
    await trial.restart_subject()
    await trial.confirm()
    await trial.has(ann=1_100)


async def killed_after_the_result(trial: WalletTrial) -> None:
    """A kill after the credit: nothing is paid again."""
    await trial.staked(ann=100)
    await trial.confirm()
    await trial.has(ann=1_100)
    await trial.restart_subject()
    await trial.has(ann=1_100)


async def killed_while_it_books(trial: WalletTrial) -> None:
    """Kills at any moment of the booking: effect and cursor are stored together."""
    for _ in range(4):
        await trial.staked(ann=100)
        await trial.confirm()
        await trial.restart_subject()
    await trial.has(ann=1_400)


async def killed_after_a_cancel(trial: WalletTrial) -> None:
    """A tombstone outlives the process."""
    await trial.staked(ann=100)
    await trial.cancel()
    await trial.caught_up()
    await trial.restart_subject()
    await trial.refused("bob", 100)
    await trial.has(ann=1_000)


async def killed_after_a_refusal(trial: WalletTrial) -> None:
    """The answer to a debit outlives the process, taken or refused."""
    await trial.open_round()
    await trial.caught_up()
    await trial.taken("ann", 100)
    await trial.refused("bob", 2_000)
    await trial.restart_subject()
    await trial.taken("ann", 100)
    await trial.refused("bob", 2_000)
    await trial.has(ann=900)


async def away_for_three_rounds(trial: WalletTrial) -> None:
    """A round is confirmed, one cancelled and one corrected while the consumer is away."""
    await trial.staked(ann=100)
    await trial.caught_up()
    await trial.subject.kill()
    await trial.confirm(BANKER_WINS)
    trial.next_round()
    await trial.table.say(*trial.opened(), rounds.betting(trial.round_no))
    await trial.cancel()
    dead, trial.round_no = trial.roundid, 1
    trial.table.roundid = f"{trial.table.feed.table}-1"
    await trial.correct(rounds.PLAYER_WINS)
    await trial.begin()
    await trial.caught_up()
    await trial.refused("bob", 100, roundid=dead)
    await trial.has(ann=1_100)


async def a_result_again_after_a_restart(trial: WalletTrial) -> None:
    """The live feed repeats a result that was booked before the kill."""
    await trial.staked(ann=100)
    messages = await trial.confirm()
    await trial.has(ann=1_100)
    await trial.restart_subject()
    await trial.table.send(*messages)
    await trial.confirm_next_round()
    await trial.has(ann=1_100)


async def the_table_is_killed_before_it_sends(trial: WalletTrial) -> None:
    """A result is durable and was never sent; the table's next process serves it by replay."""
    await trial.staked(ann=100)
    await trial.caught_up()
    trial.table.lose(*rounds.confirmed(rounds.PLAYER_WINS))
    await trial.table.restart()
    await trial.has(ann=1_100)


async def both_are_killed(trial: WalletTrial) -> None:
    """Table and consumer are killed together."""
    await trial.staked(ann=100)
    await trial.caught_up()
    await trial.subject.kill()
    trial.table.lose(*rounds.cancelled())
    await trial.table.restart()
    await trial.begin()
    await trial.has(ann=1_000)


CASES = (
    killed_between_debit_and_result,
    killed_after_the_result,
    killed_while_it_books,
    killed_after_a_cancel,
    killed_after_a_refusal,
    away_for_three_rounds,
    a_result_again_after_a_restart,
    the_table_is_killed_before_it_sends,
    both_are_killed,
)
