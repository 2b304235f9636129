"""Cases of money: what is paid, given back, refused, and paid by difference."""

from __future__ import annotations

from controller.conformance.case import Differs, WalletTrial
from controller.conformance.rounds import BANKER_WINS, PLAYER_WINS, TIE, returned
from controller.games.published import Wager


async def a_win_is_paid(trial: WalletTrial) -> None:
    """`confirmed`: the stake and the win come back (COM-12)."""
    await trial.staked(ann=100)
    await trial.confirm()
    await trial.has(ann=1_000 - 100 + returned(PLAYER_WINS, {Wager.PLAYER: 100}))


async def a_loss_pays_nothing(trial: WalletTrial) -> None:
    """`confirmed`: a lost stake is gone."""
    await trial.staked(ann=100)
    await trial.confirm(BANKER_WINS)
    await trial.has(ann=900)


async def a_push_gives_the_stake_back(trial: WalletTrial) -> None:
    """`confirmed`: PUSH returns the stake and nothing else."""
    await trial.staked(ann=100)
    await trial.confirm(TIE)
    await trial.has(ann=1_000)


async def a_part_of_a_unit_is_rounded_down(trial: WalletTrial) -> None:
    """`confirmed`: 19/20 of 33 is 31 (D-54)."""
    await trial.staked(ann=0, bob=33)
    await trial.confirm(BANKER_WINS)
    await trial.has(ann=1_000, bob=1_031)


async def each_wager_is_paid_by_itself(trial: WalletTrial) -> None:
    """`confirmed`: two wagers of one player, one won and one lost."""
    await trial.open_round()
    await trial.caught_up()
    await trial.taken("ann", 100)
    await trial.taken("ann", 10, wager=Wager.TIE)
    await trial.close()
    await trial.confirm(TIE)
    await trial.has(ann=1_000 - 110 + 100 + 90)


async def each_player_is_paid_his_own(trial: WalletTrial) -> None:
    """`confirmed`: one player wins what has nothing to do with another's loss."""
    await trial.staked(ann=100, bob=200)
    await trial.confirm()
    await trial.has(ann=1_100, bob=800)


async def a_round_without_bets_pays_nobody(trial: WalletTrial) -> None:
    """`confirmed` of a round in which nobody has bet."""
    await trial.staked(ann=0)
    await trial.confirm()
    await trial.has(ann=1_000)


async def three_rounds_are_paid_one_by_one(trial: WalletTrial) -> None:
    """Rounds have books of their own."""
    for outcome in (PLAYER_WINS, BANKER_WINS, TIE):
        await trial.staked(ann=100)
        await trial.confirm(outcome)
    await trial.has(ann=1_000 + 100 - 100)


async def a_proposal_or_a_close_moves_no_money(trial: WalletTrial) -> None:
    """Act on `confirmed`, `cancelled`, `corrected` only."""
    await trial.staked(ann=100)
    await trial.has(ann=900)


async def a_cancelled_round_is_refunded(trial: WalletTrial) -> None:
    """`cancelled` refunds every bet."""
    await trial.staked(ann=100, bob=200)
    await trial.cancel()
    await trial.has(ann=1_000, bob=1_000)


async def a_round_cancelled_in_betting_time_is_refunded(trial: WalletTrial) -> None:
    """`cancelled` may come while bets are open."""
    await trial.open_round()
    await trial.caught_up()
    await trial.taken("ann", 100)
    await trial.cancel()
    await trial.has(ann=1_000)


async def a_late_debit_of_a_cancelled_round_is_refused(trial: WalletTrial) -> None:
    """`cancelled` is a tombstone: late debits are refused for ever."""
    await trial.staked(ann=100)
    await trial.cancel()
    await trial.caught_up()
    await trial.refused("bob", 100)
    await trial.has(ann=1_000)


async def a_tombstone_needs_no_bet(trial: WalletTrial) -> None:
    """`cancelled` before any debit of the round was known refuses them all the same."""
    await trial.staked(ann=0)
    await trial.cancel()
    await trial.caught_up()
    await trial.refused("ann", 100)
    await trial.has(ann=1_000)


async def a_tombstone_stands_when_rounds_go_on(trial: WalletTrial) -> None:
    """A tombstone is on the round id, and for ever."""
    await trial.staked(ann=100)
    dead = trial.roundid
    await trial.cancel()
    for _ in range(3):
        await trial.staked(ann=0)
        await trial.confirm()
    await trial.caught_up()
    await trial.refused("ann", 50, roundid=dead)
    await trial.has(ann=1_000)


async def a_debit_after_the_result_is_refused(trial: WalletTrial) -> None:
    """A bet that comes when the result is known is no bet."""
    await trial.staked(ann=100)
    await trial.confirm(BANKER_WINS)
    await trial.caught_up()
    await trial.refused("bob", 100)
    await trial.has(ann=900)


async def a_repeated_debit_counts_once(trial: WalletTrial) -> None:
    """A duplicate returns the stored answer; the money is taken once."""
    await trial.open_round()
    await trial.caught_up()
    for _ in range(3):
        await trial.taken("ann", 100)
    await trial.has(ann=900)
    await trial.close()
    await trial.confirm()
    await trial.has(ann=1_100)


async def a_debit_repeated_with_another_amount_changes_nothing(trial: WalletTrial) -> None:
    """A key has one amount."""
    await trial.open_round()
    await trial.caught_up()
    await trial.taken("ann", 100)
    await trial.refused("ann", 150)
    await trial.has(ann=900)


async def a_debit_repeated_after_the_round_keeps_its_answer(trial: WalletTrial) -> None:
    """A retry after a time-out gets the stored answer, and takes nothing again."""
    await trial.staked(ann=100)
    await trial.confirm()
    await trial.caught_up()
    await trial.taken("ann", 100)
    await trial.has(ann=1_100)


async def a_bet_beyond_the_purse_is_refused(trial: WalletTrial) -> None:
    """A debit that the purse can't bear takes nothing."""
    await trial.open_round()
    await trial.caught_up()
    await trial.refused("ann", 1_001)
    await trial.has(ann=1_000)


async def a_refused_debit_stays_refused(trial: WalletTrial) -> None:
    """The stored answer of a refused debit does not change with the purse."""
    await trial.open_round()
    await trial.caught_up()
    await trial.refused("ann", 1_001)
    await trial.subject.ask("deposit", player="ann", amount=500, reference="more")
    await trial.refused("ann", 1_001)
    await trial.has(ann=1_500)


async def a_withdrawn_bet_comes_back_once(trial: WalletTrial) -> None:
    """A debit may be cancelled; a second cancelling gives nothing."""
    await trial.open_round()
    await trial.caught_up()
    await trial.taken("ann", 100)
    if not await trial.withdraw("ann"):
        raise Differs("a debit of an open round could not be cancelled")
    await trial.withdraw("ann")
    await trial.close()
    await trial.confirm()
    await trial.has(ann=1_000)


async def a_withdrawn_bet_is_not_refunded_again(trial: WalletTrial) -> None:
    """`cancelled` refunds what is still debited."""
    await trial.open_round()
    await trial.caught_up()
    await trial.taken("ann", 100)
    await trial.taken("bob", 50)
    await trial.withdraw("ann")
    await trial.cancel()
    await trial.has(ann=1_000)


async def a_withdrawn_bet_is_not_taken_again(trial: WalletTrial) -> None:
    """A key that was withdrawn is used up: a late copy of its debit takes nothing."""
    await trial.open_round()
    await trial.caught_up()
    await trial.taken("ann", 100)
    await trial.withdraw("ann")
    await trial.bet("ann", 100)
    await trial.has(ann=1_000)


async def nothing_is_withdrawn_after_the_result(trial: WalletTrial) -> None:
    """Nothing is cancelled after a credit."""
    await trial.staked(ann=100)
    await trial.confirm(BANKER_WINS)
    await trial.caught_up()
    await trial.withdraw("ann")
    await trial.has(ann=900)


async def nothing_is_withdrawn_after_a_cancel(trial: WalletTrial) -> None:
    """The stake of a cancelled round has come back already."""
    await trial.staked(ann=100)
    await trial.cancel()
    await trial.caught_up()
    await trial.withdraw("ann")
    await trial.has(ann=1_000)


async def a_deposit_counts_once_a_reference(trial: WalletTrial) -> None:
    """A deposit that is sent again, too, is one deposit."""
    for _ in range(2):
        await trial.subject.ask("deposit", player="ann", amount=10, reference="again")
    await trial.has(ann=1_010)


async def a_correction_pays_the_difference(trial: WalletTrial) -> None:
    """`corrected` pays the difference: lost first, won now."""
    await trial.staked(ann=100)
    await trial.confirm(BANKER_WINS)
    await trial.has(ann=900)
    await trial.correct(PLAYER_WINS)
    await trial.has(ann=1_100)


async def a_correction_takes_the_difference(trial: WalletTrial) -> None:
    """`corrected` pays the difference: won first, lost now."""
    await trial.staked(ann=100)
    await trial.confirm()
    await trial.has(ann=1_100)
    await trial.correct(BANKER_WINS)
    await trial.has(ann=900)


async def a_difference_that_the_purse_can_not_bear_is_a_claim(trial: WalletTrial) -> None:
    """A negative difference on an empty purse is booked as a claim; no purse is below 0."""
    await trial.staked(ann=100)
    await trial.confirm()
    await trial.staked(ann=1_050)
    await trial.confirm(BANKER_WINS)
    await trial.has(ann=50)
    trial.round_no, trial.table.roundid = 1, f"{trial.table.feed.table}-1"
    await trial.correct(BANKER_WINS)
    await trial.has(ann=0, owed=150)


async def a_correction_to_a_push_leaves_the_stake(trial: WalletTrial) -> None:
    """`corrected`: won first, a tie now."""
    await trial.staked(ann=100)
    await trial.confirm()
    await trial.correct(TIE)
    await trial.has(ann=1_000)


async def a_correction_may_refund_all(trial: WalletTrial) -> None:
    """`corrected` in which every wager is REFUND (RPL-74)."""
    await trial.staked(ann=100, bob=200)
    await trial.confirm()
    await trial.correct(None)
    await trial.has(ann=1_000, bob=1_000)


async def a_second_correction_is_paid_on_the_first(trial: WalletTrial) -> None:
    """Revision 3 pays the difference to revision 2, not to revision 1."""
    await trial.staked(ann=100)
    await trial.confirm()
    await trial.correct(BANKER_WINS)
    await trial.correct(TIE, rev=3)
    await trial.has(ann=1_000)


async def a_correction_to_the_same_pays_nothing(trial: WalletTrial) -> None:
    """A correction that changes no wager moves no money."""
    await trial.staked(ann=100)
    await trial.confirm()
    await trial.correct(PLAYER_WINS)
    await trial.has(ann=1_100)


async def an_old_round_is_corrected(trial: WalletTrial) -> None:
    """`corrected` may name a round long past; the rounds after it are as they were."""
    await trial.staked(ann=100)
    await trial.confirm(BANKER_WINS)
    await trial.staked(ann=100)
    await trial.confirm()
    trial.round_no, trial.table.roundid = 1, f"{trial.table.feed.table}-1"
    await trial.correct(PLAYER_WINS)
    await trial.has(ann=1_200)


CASES = (
    a_win_is_paid,
    a_loss_pays_nothing,
    a_push_gives_the_stake_back,
    a_part_of_a_unit_is_rounded_down,
    each_wager_is_paid_by_itself,
    each_player_is_paid_his_own,
    a_round_without_bets_pays_nobody,
    three_rounds_are_paid_one_by_one,
    a_proposal_or_a_close_moves_no_money,
    a_cancelled_round_is_refunded,
    a_round_cancelled_in_betting_time_is_refunded,
    a_late_debit_of_a_cancelled_round_is_refused,
    a_tombstone_needs_no_bet,
    a_tombstone_stands_when_rounds_go_on,
    a_debit_after_the_result_is_refused,
    a_repeated_debit_counts_once,
    a_debit_repeated_with_another_amount_changes_nothing,
    a_debit_repeated_after_the_round_keeps_its_answer,
    a_bet_beyond_the_purse_is_refused,
    a_refused_debit_stays_refused,
    a_withdrawn_bet_comes_back_once,
    a_withdrawn_bet_is_not_refunded_again,
    a_withdrawn_bet_is_not_taken_again,
    nothing_is_withdrawn_after_the_result,
    nothing_is_withdrawn_after_a_cancel,
    a_deposit_counts_once_a_reference,
    a_correction_pays_the_difference,
    a_correction_takes_the_difference,
    a_difference_that_the_purse_can_not_bear_is_a_claim,
    a_correction_to_a_push_leaves_the_stake,
    a_correction_may_refund_all,
    a_second_correction_is_paid_on_the_first,
    a_correction_to_the_same_pays_nothing,
    an_old_round_is_corrected,
)
