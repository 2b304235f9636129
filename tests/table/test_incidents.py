"""Reports and cancels: RPL-70, RPL-76, and a deck that is not what it should be."""

from __future__ import annotations

import msgspec
import pytest
from table.dealt import (
    ANNA,
    BETS,
    BORIS,
    CLARA,
    FAILS,
    IN_A_ROUND,
    IN_PLAY,
    Dealt,
    cancelled,
    digest,
    every,
    only,
    refusal,
)

from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import (
    BetsClosed,
    DecisionClosed,
    IncidentClosed,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    Refusal,
    RoundCancelled,
    Verdict,
)
from controller.table.inputs import CancelReason
from controller.table.picture import draw

REPORTED = {
    IncidentKind.HIDDEN_CARD_SHOWN: CancelReason.HIDDEN_CARD_SHOWN,
    IncidentKind.WRONG_NUMBER_OF_CARDS: CancelReason.WRONG_NUMBER_OF_CARDS,
    IncidentKind.WRONG_EXCHANGE: CancelReason.WRONG_NUMBER_OF_CARDS,
    IncidentKind.TABLE_CLEARED: CancelReason.TABLE_CLEARED,
    IncidentKind.CARD_ON_FLOOR: CancelReason.CARD_ON_FLOOR,
    IncidentKind.DEVICE_FAILED: CancelReason.TECHNICAL,
}


@pytest.mark.parametrize(("kind", "reason"), REPORTED.items())
def test_rpl_70_reported_by_the_dealer_and_confirmed_by_a_supervisor(
    kind: IncidentKind, reason: CancelReason
) -> None:
    d = Dealt().to_dealing().deal(6)
    d.press(i.Observed(kind, "box1"))
    assert only(d.last, IncidentOpened).kind is kind
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
    d.press(i.Observed(IncidentKind.DEVICE_FAILED))
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
    d.press(i.Observed(IncidentKind.DEVICE_FAILED), BORIS)
    before = digest(d.table)
    assert refusal(d.press(i.ConfirmCancel(), BORIS)) is Refusal.SAME_PERSON
    assert refusal(d.press(i.ConfirmCancel(), ANNA)) is Refusal.WRONG_ROLE
    assert digest(d.table) == before
    d.press(i.ConfirmCancel(), CLARA)
    cancelled(d, CancelReason.TECHNICAL)


def test_rpl_70_a_report_may_be_withdrawn_and_the_round_goes_on() -> None:
    d = Dealt().to_dealing().deal(6)
    d.press(i.Observed(IncidentKind.CARD_ON_FLOOR))
    d.press(i.WithdrawReport())
    assert only(d.last, IncidentDecided).verdict is Verdict.WITHDRAWN
    d.deal(14)
    assert d.phase is Phase.DECIDING


@pytest.mark.parametrize("kind", [IncidentKind.CARD_ON_FLOOR, IncidentKind.DEVICE_FAILED])
def test_rpl_76_after_a_card_on_the_floor_the_deck_is_verified(kind: IncidentKind) -> None:
    d = Dealt().to_cancelled(kind)
    d.press(i.ClearTable())
    assert d.phase is (Phase.DECK_CHECK if kind is IncidentKind.CARD_ON_FLOOR else Phase.SHUFFLING)


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


def test_a_report_names_reason_and_place_when_it_is_opened() -> None:
    d = Dealt().to_dealing().deal(3)
    d.press(i.Observed(IncidentKind.HIDDEN_CARD_SHOWN, "box1"))
    opened = only(d.last, IncidentOpened)
    assert (opened.reason, opened.place) == (CancelReason.HIDDEN_CARD_SHOWN, "box1")


def test_a_request_that_was_answered_changes_nothing_again() -> None:
    d = Dealt().to_ready()
    value = i.Commanded(
        at=d.table.state.now + 1,
        request="once",
        actor="anna",
        role=i.Role.DEALER,
        round_no=d.table.state.round_no,
        command=i.OpenBetting(),
    )
    assert d.feed(value)
    answered = d.answer_of("once")
    assert d.feed(msgspec.structs.replace(value, at=value.at + 1)) == ()
    assert d.answer_of("once") == answered


def test_a_request_id_belongs_to_its_sender_and_its_command() -> None:
    d = Dealt().to_betting()
    assert refusal(d.press(i.TurnCards("box1"), request="x")) is Refusal.WRONG_PHASE
    d.press(i.CloseBetting())
    assert refusal(d.press(i.BetsTaken(IN_PLAY), BETS, request="x")) is None, "another sender's id"
    assert refusal(d.press(i.TurnCards("box3"), request="x")) is Refusal.OTHER_REQUEST
    assert d.press(i.TurnCards("box1"), request="x") == ()
    assert d.press(i.TurnCards("box3"), request="x") == ()


def test_whoever_has_reported_a_case_does_not_cancel_through_another_one() -> None:
    """Found by an attack: the report lay below an incident that the same supervisor could decide."""
    d = Dealt().to_dealing().deal(20)
    d.all_decided("options")
    d.press(i.Observed(IncidentKind.DEVICE_FAILED), BORIS)
    d.unplug()
    d.plug()
    d.answer(True)
    d.fail()
    assert d.table.state.incident_state == "supervisor"
    assert refusal(d.press(i.ConfirmCancel(), BORIS)) is Refusal.SAME_PERSON
    assert refusal(d.press(i.ConfirmCancel(), CLARA)) is None


def test_a_report_names_a_place_of_the_table_or_none() -> None:
    d = Dealt().to_dealing()
    assert refusal(d.press(i.Observed(IncidentKind.DEVICE_FAILED, "\x1b[2J As"))) is Refusal.UNKNOWN_PLACE
    assert d.table.state.incident is None
