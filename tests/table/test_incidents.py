"""Every exceptional procedure of the round, by rule: reports, cancels, surplus cards, re-scans."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable

import pytest
from table.dealt import (
    ANNA,
    BETS,
    BORIS,
    CLARA,
    FAILS,
    Dealt,
    digest,
    every,
    only,
    refusal,
)

from controller.cards import Card
from controller.table import inputs as i
from controller.table.charts import IncidentState, Phase
from controller.table.events import (
    BetsClosed,
    CardBurned,
    CardDealt,
    CardShown,
    CardWithdrawn,
    DecisionClosed,
    HandEvaluated,
    HandsOffered,
    IncidentClosed,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    OpenedCard,
    Refusal,
    ResultProposed,
    RoundCancelled,
    RoundClosed,
    RoundConfirmed,
    Verdict,
)
from controller.table.inputs import CancelReason
from controller.table.picture import draw

SIX = [reason for reason in CancelReason if reason is not CancelReason.DECK_INTEGRITY]
IN_A_ROUND: dict[str, Callable[[Dealt], Dealt]] = {
    "betting": Dealt.to_betting,
    "dealing": lambda d: d.to_dealing().deal(7),
    "options": Dealt.to_options,
    "switch": lambda d: d.to_switch().deal(2),
    "final_options": Dealt.to_final_options,
    "turns": lambda d: d.to_turns().turn("switch"),
    "buy_time": Dealt.to_buy_time,
    "result": Dealt.to_result,
}


def cancelled(d: Dealt, reason: CancelReason) -> RoundCancelled:
    """Check that the last input has cancelled the round, for this reason and completely."""
    found = only(d.last, RoundCancelled)
    assert (found.reason, found.refund, found.rev) == (reason, "all", 1)
    assert only(d.last, RoundClosed).rev == 1
    assert d.phase is Phase.CANCELLED and not d.table.deadlines and not d.table.state.incidents
    return found


# RPL-70: reports.


@pytest.mark.parametrize("reason", SIX)
def test_rpl_70_reported_by_the_dealer_and_confirmed_by_a_supervisor(reason: CancelReason) -> None:
    d = Dealt().to_dealing().deal(6)
    d.press(i.ReportCancel(reason, "box1"))
    assert only(d.last, IncidentOpened).kind is IncidentKind.CANCEL_REPORTED
    assert not every(d.last, RoundCancelled)
    assert draw(d.table.state).prompt.place == "box1" and draw(d.table.state).reported_by == ANNA
    assert refusal(d.scan("2c")) is Refusal.HELD  # The table is frozen.
    d.press(i.ConfirmCancel(), BORIS)
    assert cancelled(d, reason).place == "box1"
    decided = only(d.last, IncidentDecided)
    assert (decided.verdict, decided.by, decided.reason) == (Verdict.CANCELLED, BORIS, reason)


@pytest.mark.parametrize("where", IN_A_ROUND)
def test_rpl_70_from_every_stage_of_the_round(where: str) -> None:
    d = IN_A_ROUND[where](Dealt(FAILS))
    d.press(i.ReportCancel(CancelReason.TECHNICAL))
    assert only(d.last, IncidentOpened).stops_betting is (where == "betting")
    d.press(i.ConfirmCancel(), BORIS)
    cancelled(d, CancelReason.TECHNICAL)
    if where == "betting":
        assert only(d.last, BetsClosed).ended_by == "cancel"
    elif where in ("options", "final_options", "buy_time"):
        assert only(d.last, DecisionClosed).ended_by == "cancel"
    d.press(i.ClearTable())
    assert d.phase is Phase.SHUFFLING


def test_rpl_70_a_supervisors_own_report_needs_another_supervisor() -> None:
    d = Dealt().to_dealing()
    d.press(i.ReportCancel(CancelReason.TECHNICAL), BORIS)
    before = digest(d.table)
    assert refusal(d.press(i.ConfirmCancel(), BORIS)) is Refusal.SAME_PERSON
    assert refusal(d.press(i.ConfirmCancel(), ANNA)) is Refusal.WRONG_ROLE
    assert digest(d.table) == before
    d.press(i.ConfirmCancel(), CLARA)
    cancelled(d, CancelReason.TECHNICAL)


def test_rpl_70_a_report_may_be_withdrawn_and_the_round_goes_on() -> None:
    d = Dealt().to_dealing().deal(6)
    d.press(i.ReportCancel(CancelReason.CARD_ON_FLOOR))
    d.press(i.WithdrawReport())
    assert only(d.last, IncidentDecided).verdict is Verdict.WITHDRAWN
    d.deal(14)
    assert d.phase is Phase.DECIDING


@pytest.mark.parametrize("reason", [CancelReason.CARD_ON_FLOOR, CancelReason.TECHNICAL])
def test_rpl_76_after_a_card_on_the_floor_the_deck_is_verified(reason: CancelReason) -> None:
    d = Dealt().to_cancelled(reason)
    d.press(i.ClearTable())
    assert d.phase is (Phase.DECK_CHECK if reason is CancelReason.CARD_ON_FLOOR else Phase.SHUFFLING)


# Rows 5 and 6: the deck.


@pytest.mark.parametrize("code", ["A01", "nonsense", ""], ids=["foreign", "unknown", "empty"])
@pytest.mark.parametrize("where", IN_A_ROUND)
def test_row_6_a_code_of_no_card_of_this_deck_cancels(where: str, code: str) -> None:
    d = IN_A_ROUND[where](Dealt(FAILS))
    d.scan(code=code)
    assert only(d.last, IncidentOpened).kind is IncidentKind.FOREIGN_CARD
    cancelled(d, CancelReason.DECK_INTEGRITY)
    d.press(i.ClearTable())
    assert d.phase is Phase.DECK_CHECK


def test_row_6_also_while_a_card_is_scanned_again() -> None:
    d = Dealt().to_dealing().deal(3)
    d.fail()
    d.scan(code="A01")
    cancelled(d, CancelReason.DECK_INTEGRITY)
    closed = [event.incident for event in every(d.last, IncidentClosed)]
    assert sorted(closed) == [1, 2]


def test_row_4_the_same_card_again_is_dropped() -> None:
    d = Dealt().to_dealing().deal(6)
    d.scan("2d")  # Card 5 of the deal: the second of box 1.
    asked = only(d.last, IncidentOpened)
    assert (asked.kind, asked.place, asked.n) == (IncidentKind.SAME_CODE_AGAIN, "box1", 2)
    d.answer(True)
    assert only(d.last, IncidentDecided).verdict is Verdict.DUPLICATE_READ
    d.deal(14)


def test_row_5_a_doubled_card_cancels_and_the_deck_leaves() -> None:
    d = Dealt().to_dealing().deal(6)
    d.scan("2d")
    d.answer(False)
    cancelled(d, CancelReason.DECK_INTEGRITY)
    d.press(i.ClearTable())
    assert d.phase is Phase.DECK_CHECK


def test_row_4_a_burned_card_read_again_is_known() -> None:
    d = Dealt().to_options()
    d.scan("2s")
    d.answer(False)
    d.scan("2s")
    asked = only(d.last, IncidentOpened)
    assert (asked.kind, asked.place, asked.n) == (IncidentKind.SAME_CODE_AGAIN, "burn", 1)


def test_an_answer_to_another_incident_is_refused() -> None:
    d = Dealt().to_options()
    d.scan()
    before = digest(d.table)
    assert refusal(d.press(i.AnswerQuestion(99, True))) is Refusal.WRONG_INCIDENT
    assert digest(d.table) == before


# RPL-71, RPL-72: surplus cards.

NOT_DUE: dict[str, tuple[Callable[[Dealt], object], IncidentKind]] = {
    "betting": (Dealt.to_betting, IncidentKind.EARLY_DRAW),
    "before the guard": (lambda d: (d.to_betting(), d.press(i.CloseBetting())), IncidentKind.EARLY_DRAW),
    "options": (Dealt.to_options, IncidentKind.EARLY_DRAW),
    "final options": (Dealt.to_final_options, IncidentKind.SURPLUS_CARD),
    "turns": (Dealt.to_turns, IncidentKind.SURPLUS_CARD),
    "buy time": (Dealt.to_buy_time, IncidentKind.EARLY_DRAW),
}


@pytest.mark.parametrize("where", NOT_DUE)
def test_rpl_71_a_card_that_is_not_due_and_not_seen_is_burned(where: str) -> None:
    d = Dealt(FAILS)
    reach, kind = NOT_DUE[where]
    reach(d)
    phase = d.phase
    d.scan("2s")
    assert only(d.last, IncidentOpened).kind is kind
    assert refusal(d.scan("2h")) is Refusal.HELD
    d.answer(False)
    burned = only(d.last, CardBurned)
    assert (burned.n, burned.reason) == (1, kind)
    assert only(d.last, IncidentDecided).verdict is Verdict.BURNED
    assert d.phase is phase and d.table.state.incident is None


@pytest.mark.parametrize("where", NOT_DUE)
def test_rpl_71_seen_with_a_decision_to_come_it_cancels(where: str) -> None:
    d = Dealt(FAILS)
    NOT_DUE[where][0](d)
    d.scan("2s")
    d.answer(True)
    cancelled(d, CancelReason.EXTRA_CARD)


@pytest.mark.parametrize("seen", [True, False])
def test_rpl_71_after_the_last_decision_it_is_burned_seen_or_not(seen: bool) -> None:
    d = Dealt(FAILS).to_buy_time()
    d.all_decided("buy_time", anyone_bought=True)
    d.scan("2s")
    d.answer(seen)
    assert only(d.last, CardBurned)
    d.press(i.LayCardAside())
    d.deal(1)
    d.scan("2h")  # RPL-34: two cards slide out, the second is burned.
    d.answer(seen)
    assert only(d.last, CardBurned).n == 2
    assert d.phase is Phase.RESULT_PROPOSED


def test_rpl_71_the_proposed_result_stands_and_waits_for_the_answer() -> None:
    d = Dealt().to_result()
    d.scan("2s")
    assert refusal(d.press(i.ConfirmResult())) is Refusal.HELD
    d.answer(True)
    assert only(d.last, CardBurned) and not every(d.last, ResultProposed)
    d.press(i.ConfirmResult())
    opened = only(d.last, RoundConfirmed).opened
    assert [(card.place, card.card) for card in opened] == [("burn", "2s")]


@pytest.mark.parametrize(("dealt", "place"), [(1, "box1"), (4, "dealer"), (19, "box3")])
def test_rpl_71_the_last_card_face_down_may_be_called_surplus(dealt: int, place: str) -> None:
    d = Dealt().to_dealing().deal(dealt)
    card = d.table.state.in_play.laid[-1].card
    d.press(i.CallSurplus())
    d.answer(False)
    withdrawn = only(d.last, CardWithdrawn)
    assert (withdrawn.place, withdrawn.reason) == (place, IncidentKind.SURPLUS_CARD)
    assert only(d.last, CardBurned).n == 1
    d.shoe.append(card)
    d.deal(1)  # The next card goes to the place that is free again, as its second reading.
    again = only(d.last, CardDealt)
    assert (again.place, again.reading) == (place, 2)
    d.scan(str(card))
    assert only(d.last, IncidentOpened).kind is IncidentKind.SAME_CODE_AGAIN


def test_rpl_71_a_called_surplus_card_that_was_seen_is_a_report() -> None:
    d = Dealt().to_dealing().deal(3)
    d.press(i.CallSurplus(), BORIS)
    d.answer(True, BORIS)
    assert d.phase is Phase.DEALING
    assert refusal(d.press(i.ConfirmCancel(), BORIS)) is Refusal.SAME_PERSON
    d.press(i.ConfirmCancel(), CLARA)
    cancelled(d, CancelReason.EXTRA_CARD)


def test_rpl_72_a_surplus_card_that_lies_open_is_a_report() -> None:
    d = Dealt().to_dealing().deal(2)  # The main box lies open: everybody has seen it.
    d.press(i.CallSurplus())
    assert only(d.last, IncidentOpened).kind is IncidentKind.CANCEL_REPORTED
    d.press(i.ConfirmCancel(), BORIS)
    cancelled(d, CancelReason.EXTRA_CARD)


@pytest.mark.parametrize("where", ["dealing", "switch"])
def test_rpl_72_extra_cards_on_a_place_are_reported_and_cancel(where: str) -> None:
    d = IN_A_ROUND[where](Dealt())
    d.press(i.ReportCancel(CancelReason.EXTRA_CARD, "switch" if where == "switch" else "box1"))
    d.press(i.ConfirmCancel(), BORIS)
    cancelled(d, CancelReason.EXTRA_CARD)


def test_rpl_71_no_card_before_the_first_and_none_after_a_press_may_be_called_surplus() -> None:
    first = Dealt().to_dealing()
    assert refusal(first.press(i.CallSurplus())) is Refusal.TOO_LATE
    turned = Dealt().to_turns()
    assert refusal(turned.press(i.CallSurplus())) is Refusal.TOO_LATE


# RPL-73: what a cancel opens.


def test_rpl_73_every_commitment_of_a_cancelled_round_can_be_verified() -> None:
    d = Dealt().to_options()
    d.scan("2s")
    d.answer(False)
    d.all_decided("options")
    d.deal(4)
    d.press(i.CallSurplus())
    d.answer(False)
    d.scan("3d")
    d.press(i.DisputeReading())
    d.scan("3s")
    d.press(i.ReportCancel(CancelReason.TECHNICAL))
    d.press(i.ConfirmCancel(), BORIS)
    committed = {
        (card.place, card.n, card.reading): card.commitment for card in every(d.events, CardDealt)
    } | {("burn", card.n, 1): card.commitment for card in every(d.events, CardBurned)}
    opened = cancelled(d, CancelReason.TECHNICAL).opened
    assert len(opened) == 5 + 5 + 4 + 6 + 2  # Boxes 1 and 3, dealer, switch cards with two readings, burned.
    for card in opened:
        assert _signed(card) == committed.pop((card.place, card.n, card.reading))
    assert not any(committed.values()), "a commitment stays closed"


def _signed(card: OpenedCard) -> str:
    assert card.key is not None
    text = f"tablectl:1|rp1|rp1-1|{card.deal}|{card.place}|{card.n}|{card.reading}|{card.card}"
    return hmac.new(bytes.fromhex(card.key), text.encode(), hashlib.sha256).hexdigest()


# RPL-75: re-scans.


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
    assert only(d.last, IncidentOpened).kind is IncidentKind.CANCEL_REPORTED
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
    assert refusal(d.press(i.GoOn(), BORIS)) is Refusal.TOO_EARLY
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


def test_rpl_75_no_dispute_after_a_window_or_a_press() -> None:
    d = Dealt().to_switch()
    assert refusal(d.press(i.DisputeReading())) is Refusal.TOO_LATE
    turned = Dealt().to_turns()
    turned.turn("switch")
    assert refusal(turned.press(i.DisputeReading())) is Refusal.TOO_LATE


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
    d.press(i.ReportCancel(CancelReason.TECHNICAL))
    assert refusal(d.press(i.CloseBetting())) is None
    assert refusal(d.bets()) is None
    assert refusal(d.scan()) is Refusal.HELD
    d.press(i.WithdrawReport())
    d.deal(1)


def test_no_answer_of_the_betting_system_decides_an_incident() -> None:
    d = Dealt().to_options()
    d.scan()
    assert refusal(d.answer(True, BETS)) is Refusal.WRONG_ROLE
