"""The slips of a round: what a corrected card and an empty purse do to them."""

from __future__ import annotations

import pytest
from rules.live_rules import live_rules

from controller.games.combinations import Kind
from controller.games.offers import HandOffer, InsuranceRange
from controller.games.published import ShownCombination, Wager
from controller.games.requests import Action, Refusal, Request, Stage
from controller.games.rules import MAIN
from controller.games.settlement import BoxSlip, Decision, LateBet
from simulators.live_bets import LiveSlips
from simulators.slips import folds, may_buy
from simulators.wallet import Bet, Wallet

TRIPS = (ShownCombination(Kind.TRIPS, ("2c", "2d", "2h")),)
OFFER = HandOffer("sixth", "3", True, TRIPS, InsuranceRange("1", "3"))
SMALLER = HandOffer("sixth", "3", True, TRIPS, InsuranceRange("1", "2"))
PAIR = HandOffer("sixth", "1", True, (ShownCombination(Kind.PAIR, ("2c", "2d")),))
NOTHING = HandOffer("sixth", "0", False)


def ask(stage: Stage, action: Action, amount: int = 0, box: str = MAIN) -> Request:
    return Request(stage, action, box, amount)


def drawn(wallet: Wallet) -> LiveSlips:
    """Return the slips of a round in which Ann has paid 100 for a sixth card on an Ante of 100."""
    slips = LiveSlips("rp1-1", live_rules(), wallet)
    assert slips.stake("ann", ask(Stage.BETTING, Action.ANTE, 100), late=False) is None
    assert slips.choose("ann", ask(Stage.OPTIONS, Action.SIXTH_CARD), None) is None
    return slips


def purse_of(amount: int) -> Wallet:
    wallet = Wallet()
    wallet.deposit("ann", amount, "1")
    return wallet


@pytest.mark.parametrize(("corrected", "stands"), [(OFFER, True), (SMALLER, False), (PAIR, False)])
def test_insurance_that_a_corrected_card_has_closed_goes_back(corrected: HandOffer, stands: bool) -> None:
    wallet = purse_of(10_000)
    slips = drawn(wallet)
    assert slips.choose("ann", ask(Stage.FINAL_OPTIONS, Action.INSURANCE, 300), OFFER) is None
    assert wallet.balance("ann") == 10_000 - 100 - 100 - 200 - 300
    slips.check_insurance({"sixth": corrected})
    kept = (Decision.INSURANCE, 300) if stands else (Decision.BET, 0)
    slip = slips.of("ann", MAIN)
    assert (slip.decision, slip.insurance) == kept
    assert wallet.balance("ann") == 10_000 - 100 - 100 - 200 - slip.insurance


def test_a_silent_player_with_a_combination_bets_and_one_without_folds() -> None:
    wallet = purse_of(10_000)
    slips = drawn(wallet)
    slips.bet_for_the_silent({"sixth": NOTHING})
    assert wallet.balance("ann") == 9_800 and "bet_in_silence" not in slips.plain()["ann"][MAIN]
    assert folds(slips.of("ann", MAIN), NOTHING)
    slips.bet_for_the_silent({"sixth": PAIR})
    assert wallet.balance("ann") == 9_600 and slips.plain()["ann"][MAIN]["bet_in_silence"] is True
    assert not folds(slips.of("ann", MAIN), PAIR)


def test_a_silent_player_without_the_money_for_his_bet_folds() -> None:
    """RPL-81."""
    wallet = purse_of(500)
    slips = drawn(wallet)
    assert wallet.debit(Bet("rp1-0", "ann", MAIN, Wager.ANTE), 200).accepted
    slips.bet_for_the_silent({"sixth": PAIR})
    slip = slips.of("ann", MAIN)
    assert not slip.can_place_bet and folds(slip, PAIR) and not may_buy(slip, PAIR)
    assert slips.choose("ann", ask(Stage.BUY_TIME, Action.BUY), PAIR) is Refusal.FOLDED
    assert wallet.balance("ann") == 100


def test_who_cannot_carry_a_box_to_its_end_may_not_open_it() -> None:
    slips = LiveSlips("rp1-1", live_rules(), purse_of(499))
    assert slips.stake("ann", ask(Stage.BETTING, Action.ANTE, 100), late=False) is Refusal.BALANCE
    assert slips.final() == {} and slips.staked_boxes() == frozenset()


def test_a_late_bet_is_paid_and_is_no_part_of_the_round() -> None:
    wallet = purse_of(10_000)
    slips = LiveSlips("rp1-1", live_rules(), wallet)
    assert slips.stake("ann", ask(Stage.BETTING, Action.BONUS_B, 60, "box1"), late=True) is Refusal.NO_ANTE
    assert slips.stake("ann", ask(Stage.BETTING, Action.ANTE, 100, "box1"), late=True) is None
    assert slips.stake("ann", ask(Stage.BETTING, Action.BONUS_B, 60, "box1"), late=True) is None
    late = (LateBet(Wager.ANTE, 100), LateBet(Wager.BET, 200), LateBet(Wager.BONUS_B, 60))
    assert slips.final() == {"ann": (BoxSlip("box1", late=late),)}
    assert slips.staked_boxes() == frozenset()
    assert wallet.balance("ann") == 10_000 - 360
    assert slips.plain()["ann"]["late"] is True
    assert slips.plain()["ann"]["box1"] == {"ante": 100, "bonus_b": 60, "bonus_d": 0, "bought": False}
