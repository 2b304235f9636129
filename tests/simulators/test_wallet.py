"""The wallet: each effect once, in any order in which the betting system and the table may speak."""

from __future__ import annotations

import json
import random
from pathlib import Path

import apsw
import pytest
from games.driver import game
from rules.live_rules import facts_of_deal, live_rules

from controller.bus.envelope import Envelopes, Environment, Stamp
from controller.bus.errors import ChainBroken, ForeignSource, MalformedMessage
from controller.cards import DECK
from controller.games.outcome import outcome
from controller.games.patterns import exchange
from controller.games.published import Outcome, Wager, refund_all, voided_deal
from controller.games.settlement import BoxSlip, Decision, LateBet, VoidedBet, settle
from controller.games.sister_outcome import Course, Play
from controller.table import events as ev
from controller.table.events import Audience, Event
from simulators.ledger import Entry, Kind, Ledger
from simulators.wallet import Bet, Credit, DebitAnswer, Refusal, Wallet, WalletStopped

ROUND = "rp1-1"
ANTE = Bet(ROUND, "ann", "box2", Wager.ANTE)
BET = Bet(ROUND, "ann", "box2", Wager.BET)
SLIP = BoxSlip("box2", ante=100, decision=Decision.BET)
DEALS = [tuple(random.Random(seed).sample(DECK, 26)) for seed in range(20)]
RESULTS: list[Outcome] = [outcome(facts_of_deal(deal), live_rules()) for deal in DEALS]


def returned(result: Outcome) -> int:
    return sum(line.returned for line in settle((SLIP,), result))


RESULT = next(result for result in RESULTS if returned(result) > 300)
LOST = next(result for result in RESULTS if returned(result) == 0)
CONFIRMED = ev.RoundConfirmed(rev=1, outcome=RESULT)
CANCELLED = ev.RoundCancelled(rev=1, reason="TECHNICAL", incident=1)
OPENED = ev.RoundOpened(round_no=1, game="g", boxes=("box1", "box2", "box3"), rules="r", procedures="p")
RETURNED = returned(RESULT)


def messages(*events: Event, roundid: str | None = ROUND, table: str = "rp1") -> list[bytes]:
    """Return the settlement feed of these events, from message 1."""
    stamp = Stamp(at_us=1, epoch=1, phase="dealing", rules="r", roundid=roundid, rev=1)
    built = Envelopes(table=table, environment=Environment.SIMULATED).build(events, stamp)
    return list(built[Audience.SETTLEMENT])


def hear(wallet: Wallet, feed: list[bytes]) -> None:
    for message in feed:
        assert wallet.heard(message, 0) == []


def staked(path: Path | None = None) -> Wallet:
    """Return a wallet in which Ann, with 1,000, has placed Ante and Bet on the main box."""
    wallet = Wallet(path)
    wallet.deposit("ann", 1_000, "opening")
    assert wallet.debit(ANTE, 100).accepted and wallet.debit(BET, 200).accepted
    return wallet


def check_books(wallet: Wallet) -> None:
    assert wallet.total() == 0
    assert wallet.trial_balance() == ()


def test_a_round_is_paid_by_the_reference_settlement() -> None:
    wallet = staked()
    assert wallet.balance("ann") == 700
    wallet.close_slips(ROUND, {"ann": (SLIP,)})
    hear(wallet, messages(OPENED, CONFIRMED, ev.RoundClosed(rev=1)))
    assert wallet.balance("ann") == 700 + RETURNED
    assert wallet.credits(ROUND, 1) == tuple(
        Credit(f"ann/box2/{line.wager}", line.returned, line.outcome) for line in settle((SLIP,), RESULT)
    )
    check_books(wallet)


def test_a_debit_repeated_gets_the_stored_answer() -> None:
    wallet = staked()
    assert wallet.debit(ANTE, 100) == DebitAnswer(None)
    assert wallet.balance("ann") == 700
    poor = Bet(ROUND, "ann", "box1", Wager.ANTE)
    assert wallet.debit(poor, 701).refusal is Refusal.BALANCE
    wallet.deposit("ann", 1_000, "more")
    assert wallet.debit(poor, 701).refusal is Refusal.BALANCE
    assert wallet.debit(ANTE, 150).refusal is Refusal.OTHER_AMOUNT
    assert wallet.balance("ann") == 1_700
    check_books(wallet)


def test_an_accepted_debit_keeps_its_answer_after_the_round() -> None:
    wallet = staked()
    wallet.cancel(ROUND)
    assert wallet.debit(ANTE, 100).accepted
    assert wallet.balance("ann") == 1_000


def test_a_deposit_counts_once_a_reference() -> None:
    wallet = Wallet()
    wallet.deposit("ann", 50, "a")
    wallet.deposit("ann", 50, "a")
    wallet.deposit("bob", 20, "b")
    assert wallet.balances() == {"ann": 50, "bob": 20}
    check_books(wallet)


def test_cancelled_refunds_every_bet_and_refuses_late_debits_for_ever() -> None:
    wallet = staked()
    hear(wallet, messages(OPENED, CANCELLED, ev.RoundClosed(rev=1)))
    assert wallet.balance("ann") == 1_000
    late = Bet(ROUND, "ann", "box3", Wager.ANTE)
    assert wallet.debit(late, 100).refusal is Refusal.ROUND_CANCELLED
    wallet.close_slips(ROUND, {"ann": (SLIP,)})
    assert wallet.debit(late, 100).refusal is Refusal.ROUND_CANCELLED
    assert wallet.balance("ann") == 1_000
    check_books(wallet)


def test_the_tombstone_stands_even_if_no_bet_was_known() -> None:
    wallet = Wallet()
    wallet.deposit("ann", 1_000, "opening")
    hear(wallet, messages(CANCELLED))
    assert wallet.debit(ANTE, 100).refusal is Refusal.ROUND_CANCELLED
    assert wallet.debit(Bet("rp1-2", "ann", "box2", Wager.ANTE), 100).accepted
    assert wallet.balance("ann") == 900


def test_a_result_before_the_slips_waits_for_them() -> None:
    wallet = staked()
    hear(wallet, messages(OPENED, CONFIRMED))
    assert (wallet.waiting(), wallet.balance("ann")) == ((ROUND,), 700)
    wallet.close_slips(ROUND, {"ann": (SLIP,)})
    assert (wallet.waiting(), wallet.balance("ann")) == ((), 700 + RETURNED)
    wallet.close_slips(ROUND, {"ann": (SLIP,)})
    assert wallet.balance("ann") == 700 + RETURNED
    check_books(wallet)


def test_messages_heard_twice_are_booked_once() -> None:
    wallet = staked()
    wallet.close_slips(ROUND, {"ann": (SLIP,)})
    feed = messages(OPENED, CONFIRMED, ev.RoundClosed(rev=1))
    hear(wallet, [*feed, *feed, feed[1]])
    assert wallet.balance("ann") == 700 + RETURNED
    assert wallet.settle(ROUND, 1, RESULT) == wallet.credits(ROUND, 1)
    assert wallet.balance("ann") == 700 + RETURNED
    assert wallet.cursor is not None and wallet.cursor[0] == 3
    check_books(wallet)


def test_cancelled_twice_refunds_once() -> None:
    wallet = staked()
    assert wallet.cancel(ROUND) == wallet.cancel(ROUND)
    assert [credit.amount for credit in wallet.cancel(ROUND)] == [100, 200]
    assert wallet.balance("ann") == 1_000


def test_debits_end_when_the_slips_are_closed() -> None:
    wallet = staked()
    wallet.close_slips(ROUND, {"ann": (SLIP,)})
    assert wallet.debit(Bet(ROUND, "ann", "box2", Wager.BUY_FEE), 100).refusal is Refusal.ROUND_ENDED
    assert not wallet.withdraw(BET)
    with pytest.raises(WalletStopped, match="other slips"):
        wallet.close_slips(ROUND, {})


def test_a_withdrawn_debit_is_back_and_its_key_is_used_up() -> None:
    wallet = staked()
    assert wallet.withdraw(BET) and not wallet.withdraw(BET)
    assert wallet.balance("ann") == 900
    assert wallet.debit(BET, 200).refusal is Refusal.WITHDRAWN
    assert [credit.amount for credit in wallet.cancel(ROUND)] == [100]
    assert wallet.balance("ann") == 1_000
    check_books(wallet)


def test_a_late_bet_comes_back_with_the_result() -> None:
    wallet = staked()
    assert wallet.debit(Bet(ROUND, "bob", "box1", Wager.ANTE, late=True), 70).refusal is Refusal.BALANCE
    wallet.deposit("bob", 70, "bob")
    late = Bet(ROUND, "bob", "box3", Wager.ANTE, late=True)
    assert wallet.debit(late, 70).accepted
    void = BoxSlip("box3", late=(LateBet(Wager.ANTE, 70),))
    wallet.close_slips(ROUND, {"ann": (SLIP,), "bob": (void,)})
    hear(wallet, messages(CONFIRMED))
    assert wallet.balance("bob") == 70
    assert Credit(late.key, 70, "REFUND") in wallet.credits(ROUND, 1)


def test_a_later_revision_pays_the_difference_and_books_a_claim_on_an_empty_purse() -> None:
    wallet = staked()
    wallet.close_slips(ROUND, {"ann": (SLIP,)})
    wallet.settle(ROUND, 1, refund_all(LOST))
    assert wallet.balance("ann") == 1_000
    assert wallet.debit(Bet("rp1-2", "ann", "box2", Wager.ANTE), 880).accepted
    wallet.settle(ROUND, 2, LOST)
    assert wallet.credits(ROUND, 2) == (
        Credit("ann/box2/ANTE", -100, "LOSE"),
        Credit("ann/box2/BET", -200, "LOSE"),
    )
    assert (wallet.balance("ann"), wallet.claim("ann")) == (0, 180)
    check_books(wallet)
    wallet.settle(ROUND, 3, RESULT)
    assert wallet.balance("ann") == RETURNED
    assert [credit.amount for credit in wallet.settle(ROUND, 2, LOST) or ()] == [-100, -200]
    assert wallet.balance("ann") == RETURNED
    check_books(wallet)


def correction(rev: int, outcome: Outcome) -> ev.RoundCorrected:
    return ev.RoundCorrected(
        roundid=ROUND, rev=rev, reason="WRONG_RESULT", cell="36", incident=1, outcome=outcome
    )


def test_corrections_on_the_feed_pay_each_difference_once() -> None:
    wallet = staked()
    wallet.close_slips(ROUND, {"ann": (SLIP,)})
    third = correction(3, refund_all(LOST))
    feed = messages(
        OPENED, CONFIRMED, ev.RoundClosed(rev=1), correction(2, LOST), ev.RoundClosed(rev=2), third
    )
    hear(wallet, feed[:3])
    assert wallet.balance("ann") == 700 + RETURNED
    hear(wallet, feed[3:5])
    assert wallet.balance("ann") == 700
    hear(wallet, feed)
    assert wallet.balance("ann") == 1_000
    assert sum(credit.amount for credit in wallet.credits(ROUND, 3)) == 300
    check_books(wallet)


def test_slips_that_come_after_a_correction_are_booked_by_it() -> None:
    wallet = staked()
    hear(wallet, messages(OPENED, CONFIRMED, ev.RoundClosed(rev=1), correction(2, refund_all(RESULT))))
    assert wallet.waiting() == (ROUND,)
    wallet.close_slips(ROUND, {"ann": (SLIP,)})
    assert wallet.balance("ann") == 1_000 and wallet.credits(ROUND, 1) == ()
    check_books(wallet)


def test_a_correction_of_a_cancelled_round_stops_the_wallet() -> None:
    wallet = staked()
    feed = messages(OPENED, CANCELLED, ev.RoundClosed(rev=1), correction(2, RESULT))
    hear(wallet, feed[:3])
    with pytest.raises(WalletStopped, match="after it was cancelled"):
        wallet.heard(feed[3], 0)
    assert wallet.balance("ann") == 1_000


FEE_AGAIN = Bet(ROUND, "ann", "box1", Wager.EXCHANGE_FEE, deal=2)
VOIDED = (voided_deal(1, ["box1"]),)


def dealt_anew() -> tuple[Wallet, dict[str, tuple[BoxSlip, ...]], ev.RoundConfirmed]:
    """Ann has paid for an exchange in two deals of a round; return the slips of deal 2 and its result."""
    wallet = Wallet()
    wallet.deposit("ann", 1_000, "opening")
    assert wallet.debit(Bet(ROUND, "ann", "box1", Wager.ANTE), 100).accepted
    assert wallet.debit(Bet(ROUND, "ann", "box1", Wager.EXCHANGE_FEE), 150).accepted
    wallet.close_slips(ROUND, {"ann": (BoxSlip("box1", ante=100, pattern="exchange:1,2"),)})
    paid = (VoidedBet(1, Wager.EXCHANGE_FEE, 150),)
    slip = BoxSlip("box1", ante=100, pattern="exchange:1", decision=Decision.FOLD, deal=2, voided=paid)
    folded = Play(DEALS[0][:5], dark=False, pattern=exchange(1), drawn=DEALS[0][5:6], folded=True)
    judged = game("oasis_with_bonus").result(Course({"box1": folded}, DEALS[0][10:15]))
    return wallet, {"ann": (slip,)}, ev.RoundConfirmed(rev=1, outcome=judged, voided=VOIDED)


def test_oab_24_the_next_deal_is_debited_anew_and_the_abandoned_one_comes_back_with_the_result() -> None:
    wallet, slips, confirmed = dealt_anew()
    late = Bet(ROUND, "ann", "box1", Wager.BET)
    assert wallet.debit(late, 200).refusal is Refusal.ROUND_ENDED
    assert wallet.debit(FEE_AGAIN, 100).accepted
    assert wallet.balance("ann") == 650
    wallet.close_slips(ROUND, slips, deal=2)
    assert wallet.debit(Bet(ROUND, "ann", "box1", Wager.BET, deal=2), 200).refusal is Refusal.ROUND_ENDED
    hear(wallet, messages(OPENED, confirmed))
    assert wallet.balance("ann") == 800
    assert wallet.credits(ROUND, 1) == (
        Credit("ann/box1/ANTE", 0, "LOSE"),
        Credit("ann/box1/EXCHANGE_FEE/deal2", 0, "FEE"),
        Credit("ann/box1/EXCHANGE_FEE", 150, "REFUND"),
    )
    check_books(wallet)


def test_oab_24_slips_of_an_abandoned_deal_are_never_booked() -> None:
    """The result of deal 2 may be heard before its slips are handed over."""
    wallet, slips, confirmed = dealt_anew()
    assert wallet.debit(FEE_AGAIN, 100).accepted
    hear(wallet, messages(OPENED, confirmed))
    assert wallet.waiting() == (ROUND,) and wallet.balance("ann") == 650
    wallet.close_slips(ROUND, slips, deal=2)
    assert wallet.waiting() == () and wallet.balance("ann") == 800
    wallet.close_slips(ROUND, slips, deal=2)
    with pytest.raises(WalletStopped, match="other slips"):
        wallet.close_slips(ROUND, slips, deal=1)
    check_books(wallet)


def test_oab_24_a_cancel_returns_what_both_deals_have_cost() -> None:
    wallet, _, _ = dealt_anew()
    assert wallet.debit(FEE_AGAIN, 100).accepted
    hear(wallet, messages(OPENED, CANCELLED))
    assert wallet.balance("ann") == 1_000
    check_books(wallet)


def test_the_table_may_not_contradict_itself() -> None:
    wallet = staked()
    wallet.cancel(ROUND)
    with pytest.raises(WalletStopped, match="confirmed after it was cancelled"):
        wallet.settle(ROUND, 1, RESULT)
    wallet.settle("rp1-2", 1, RESULT)
    with pytest.raises(WalletStopped, match="cancelled after it was confirmed"):
        wallet.cancel("rp1-2")
    with pytest.raises(WalletStopped, match="revision 3 after revision 1"):
        wallet.settle("rp1-2", 3, RESULT)


@pytest.mark.parametrize(
    ("slips", "fault"),
    [
        ({}, "debits without a slip: ann"),
        ({"ann": (BoxSlip("box2", ante=90, decision=Decision.BET),)}, "differ for ann/box2/ANTE"),
        ({"ann": (BoxSlip("box2", ante=100, decision=Decision.FOLD),)}, "differ for ann/box2/BET"),
        ({"ann": (SLIP, BoxSlip("box1", ante=5))}, "differ for ann/box1/ANTE"),
        ({"ann": (BoxSlip("box4", ante=5),)}, "no box 'box4'"),
    ],
)
def test_slips_that_the_debits_contradict_stop_the_wallet(
    slips: dict[str, tuple[BoxSlip, ...]], fault: str
) -> None:
    wallet = staked()
    feed = messages(CONFIRMED)
    with pytest.raises(WalletStopped, match=fault):
        wallet.close_slips(ROUND, slips)
        wallet.heard(feed[0], 0)
    assert wallet.balance("ann") == 700
    assert wallet.cursor is None
    check_books(wallet)


@pytest.mark.parametrize("change", [{"type": "tablectl.round.confirmed.v2"}, {"type": "tablectl.news.v1"}])
def test_an_unknown_type_or_major_version_stops_the_wallet(change: dict[str, str]) -> None:
    (raw,) = messages(CONFIRMED)
    unknown = json.dumps(json.loads(raw) | change).encode()
    wallet = staked()
    for _ in range(2):
        with pytest.raises(WalletStopped, match="no wallet here knows"):
            wallet.heard(unknown, 0)
    assert wallet.cursor is None


def test_a_gap_another_chain_and_a_foreign_table_are_never_booked() -> None:
    feed, foreign = messages(OPENED, CONFIRMED), messages(OPENED, table="rp2")
    other = messages(ev.RoundOpened(round_no=2, game="g", boxes=(), rules="r", procedures="p"), CONFIRMED)
    wallet = staked()
    with pytest.raises(ChainBroken, match="does not follow number 0"):
        wallet.heard(feed[1], 0)
    with pytest.raises(ForeignSource):
        wallet.heard(foreign[0], 0)
    with pytest.raises(MalformedMessage):
        wallet.heard(b"{}", 0)
    hear(wallet, feed[:1])
    with pytest.raises(ChainBroken, match="does not follow number 1"):
        wallet.heard(other[1], 0)
    with pytest.raises(WalletStopped, match="names no round"):
        Wallet().heard(messages(CONFIRMED, roundid=None)[0], 0)
    assert wallet.balance("ann") == 700


def test_effect_and_cursor_are_kept_together_across_restarts(tmp_path: Path) -> None:
    path = tmp_path / "wallet.db"
    feed = messages(OPENED, CONFIRMED)
    first = staked(path)
    first.close_slips(ROUND, {"ann": (SLIP,)})
    hear(first, feed)
    again = Wallet(path)
    assert again.cursor == first.cursor
    hear(again, feed)
    assert again.balance("ann") == 700 + RETURNED
    assert again.debit(ANTE, 100).accepted
    assert again.balance("ann") == 700 + RETURNED
    check_books(again)


def test_a_failure_in_the_middle_leaves_neither_effect_nor_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    wallet = staked()
    wallet.close_slips(ROUND, {"ann": (SLIP,)})
    post, calls = Ledger.post, []

    def post_once(self: Ledger, entry: Entry, postings: dict[str, int]) -> None:
        calls.append(entry)
        if len(calls) > 1:
            raise apsw.IOError("disk gone")
        post(self, entry, postings)

    with monkeypatch.context() as broken:
        broken.setattr(Ledger, "post", post_once)
        with pytest.raises(apsw.IOError):
            wallet.heard(messages(CONFIRMED)[0], 0)
    assert len(calls) == 2
    assert (wallet.balance("ann"), wallet.cursor, wallet.credits(ROUND, 1)) == (700, None, ())
    check_books(wallet)
    hear(wallet, messages(CONFIRMED))
    assert wallet.balance("ann") == 700 + RETURNED


def test_the_trial_balance_finds_what_was_tampered_with(tmp_path: Path) -> None:
    path = tmp_path / "wallet.db"
    wallet = staked(path)
    check_books(wallet)
    apsw.Connection(str(path)).execute("UPDATE account SET balance = balance + 1 WHERE name = 'player/ann'")
    assert wallet.trial_balance() == ("player/ann: balance 701, postings 700",)
    assert wallet.total() == 1
    apsw.Connection(str(path)).execute("UPDATE posting SET amount = 101 WHERE amount = 100")
    assert any("postings add up to" in fault for fault in wallet.trial_balance())


def test_postings_that_do_not_balance_are_a_bug() -> None:
    with pytest.raises(AssertionError, match="postings add up to 5"):
        Ledger(None, "rp1").post(Entry("", 0, "x", Kind.DEPOSIT, 5), {"a": 10, "b": -5})
