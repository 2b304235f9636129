"""Cards read wrongly or not at all (RPL-75)."""

from __future__ import annotations

import pytest
from table.dealt import (
    BETS,
    BORIS,
    FAILS,
    Dealt,
    cancelled,
    digest,
    every,
    only,
    refusal,
)

from controller.table import inputs as i
from controller.table.charts import IncidentState
from controller.table.events import (
    CardDealt,
    CardShown,
    CardWithdrawn,
    DecisionClosed,
    HandEvaluated,
    HandsOffered,
    IncidentAsked,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    Refusal,
    ResultProposed,
    Verdict,
)
from controller.table.inputs import CancelReason
from controller.table.picture import draw


def test_rpl_75_one_failed_reading_is_scanned_again() -> None:
    d = Dealt().to_dealing().deal(4)
    d.fail()
    asked = only(d.last, IncidentOpened)
    assert (asked.kind, asked.place, asked.n) == (IncidentKind.FAILED_READ, "box1", 2)
    d.scan()
    assert only(d.last, IncidentDecided).verdict is Verdict.RESCANNED
    assert only(d.last, CardDealt).place == "box1"
    assert draw(d.table.state).rescans_used == 1


def test_rpl_75_a_second_failure_of_the_same_card_cancels_without_a_press() -> None:
    d = Dealt().to_dealing().deal(4)
    d.fail()
    d.fail()
    cancelled(d, CancelReason.WRONG_READING)
    assert every(d.last, IncidentDecided)[0].by is None


def test_rpl_75_one_re_scan_in_the_whole_initial_deal() -> None:
    d = Dealt().to_dealing().deal(4)
    d.fail()
    d.deal(9)
    d.fail()
    cancelled(d, CancelReason.WRONG_READING)


def test_rpl_75_a_disputed_card_is_scanned_again_as_another() -> None:
    d = Dealt().to_dealing().deal(4)
    before = d.table.state.in_play.laid[-1]
    d.press(i.DisputeReading())
    assert only(d.last, CardWithdrawn).place == "dealer"
    d.scan("2s")
    again = only(d.last, CardDealt)
    assert (again.place, again.n, again.reading) == ("dealer", 1, 2)
    d.shoe.insert(15, before.card)  # The code that was read first is in the shoe again.
    d.deal(16)
    assert d.table.state.in_play.laid[-1].card == before.card


def test_rpl_75_a_disputed_card_may_turn_out_to_be_what_was_read() -> None:
    d = Dealt().to_options()
    d.press(i.DisputeReading())
    d.scan("3c")
    assert only(d.last, CardDealt).card == "3c"
    assert only(d.last, HandsOffered).window == "options"


def test_rpl_75_a_dispute_after_the_re_scan_is_used_is_a_report() -> None:
    d = Dealt().to_dealing().deal(4)
    d.press(i.DisputeReading())
    d.scan("2s")
    d.press(i.DisputeReading())
    assert only(d.last, IncidentOpened).kind is IncidentKind.DISPUTED_READ
    d.press(i.ConfirmCancel(), BORIS)
    assert cancelled(d, CancelReason.WRONG_READING).place == "dealer"


def test_rpl_75_a_disputed_card_that_can_not_be_read_cancels() -> None:
    d = Dealt().to_dealing().deal(4)
    d.press(i.DisputeReading())
    d.fail()
    cancelled(d, CancelReason.WRONG_READING)


def test_rpl_75_later_a_supervisor_orders_another_re_scan() -> None:
    d = Dealt().to_switch().deal(2)
    d.fail()
    d.fail()
    assert only(d.last, IncidentAsked).prompt == "CALL_SUPERVISOR"
    assert d.table.state.incident_state is IncidentState.SUPERVISOR
    for _ in range(2):
        d.press(i.OrderRescan(), BORIS)
        d.fail()
    d.press(i.OrderRescan(), BORIS)
    d.scan()
    assert only(d.last, CardDealt).place == "switch"
    assert draw(d.table.state).rescans_used == 0


def test_rpl_75_later_a_supervisor_may_cancel_instead() -> None:
    d = Dealt().to_switch().deal(2)
    d.fail()
    d.fail()
    assert refusal(d.press(i.WithdrawReport())) is Refusal.NO_INCIDENT
    assert refusal(d.press(i.GoOn(), BORIS)) is Refusal.NOT_OFFERED
    d.press(i.ConfirmCancel(), BORIS)
    cancelled(d, CancelReason.WRONG_READING)


def test_rpl_75_a_corrected_switch_card_offers_the_hands_anew() -> None:
    d = Dealt().to_final_options()
    first = only(d.last, HandsOffered)
    d.press(i.DisputeReading())
    d.scan("Js")
    assert only(d.last, CardShown).card == "Js"
    second = only(d.last, HandsOffered)
    assert second.window == "final_options" and second.hands != first.hands
    assert not every(d.last, DecisionClosed)


@pytest.mark.parametrize(("card", "stands"), [("3c", True), ("2s", False)])
def test_p5_a_window_that_ends_while_the_open_card_is_scanned_again(card: str, stands: bool) -> None:
    d = Dealt().to_options()
    d.press(i.DisputeReading())
    d.advance(15_001)
    assert only(every(d.events, DecisionClosed), DecisionClosed)
    d.scan(card)
    if stands:
        assert only(d.last, CardDealt).card == card
    else:
        cancelled(d, CancelReason.WRONG_READING)


def test_row_3_after_a_window_or_a_press_all_cards_are_scanned_again() -> None:
    turned = Dealt().to_turns()
    turned.turn("switch")
    for d in (Dealt().to_switch(), turned):
        d.press(i.DisputeReading())
        assert only(d.last, IncidentOpened).prompt == "SCAN_FROM_FIRST"


def test_rpl_75_a_corrected_replacement_changes_the_proposed_result() -> None:
    d = Dealt(FAILS).to_result()
    d.press(i.DisputeReading())
    assert refusal(d.press(i.ConfirmResult())) is Refusal.HELD
    d.scan("Qs")
    evaluated = [hand for hand in every(d.last, HandEvaluated) if hand.place == "dealer"]
    assert "Qs" in evaluated[-1].hand.cards
    proposed = only(d.last, ResultProposed).outcome.dealer_after_purchase
    assert proposed is not None and "Qs" in str(proposed)


def test_rpl_75_a_failed_reading_when_no_card_is_due_is_refused() -> None:
    d = Dealt().to_turns()
    before = digest(d.table)
    assert refusal(d.fail()) is Refusal.NOT_OWED
    assert digest(d.table) == before


def test_a_withdrawn_reading_goes_back_before_the_new_one_is_checked() -> None:
    d = Dealt().to_dealing().deal(4)
    d.press(i.DisputeReading())
    d.scan("2c")  # Box 1 holds it.
    assert only(d.last, IncidentOpened).kind is IncidentKind.SAME_CODE_AGAIN
    d.answer(True)
    assert d.table.state.incident_state is IncidentState.RESCAN
    d.scan("Ah")
    assert only(d.last, CardDealt).reading == 2
    assert d.table.state.register.out_count == 4


def test_facts_and_time_pass_through_an_open_incident() -> None:
    d = Dealt().to_betting()
    d.press(i.Observed(IncidentKind.DEVICE_FAILED))
    assert refusal(d.press(i.CloseBetting())) is None
    assert refusal(d.bets()) is None
    assert refusal(d.scan("2c")) is Refusal.HELD
    d.press(i.WithdrawReport())
    d.answer(True)
    d.deal(1)  # The same card, scanned again.


def test_no_answer_of_the_betting_system_decides_an_incident() -> None:
    d = Dealt().to_options()
    d.scan()
    assert refusal(d.answer(True, BETS)) is Refusal.WRONG_ROLE
