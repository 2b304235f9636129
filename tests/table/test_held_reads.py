"""Cards that are read while the table takes none (row 2b): remembered, told nobody, asked about later."""

from __future__ import annotations

import msgspec
import pytest
from profiles import profile
from table.dealt import BORIS, FAILS, SETTINGS, Dealt, every, only, refusal
from table.played import loaded, prompt_of

from controller.table import inputs as i
from controller.table.charts import IncidentState, Phase
from controller.table.events import (
    AUDIENCES,
    Audience,
    CardBurned,
    CardDealt,
    IncidentClosed,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    ReadHeld,
    ReadsUntaken,
    Refusal,
    RoundCancelled,
    Verdict,
    encode_events,
)
from controller.table.picture import draw


def held(d: Dealt) -> Dealt:
    """Four cards lie and somebody has reported a case."""
    d.to_dealing().deal(4)
    d.press(i.Observed(IncidentKind.DEVICE_FAILED))
    return d


def test_row_2b_a_card_read_in_a_hold_is_asked_about_and_is_the_next_one() -> None:
    d = held(Dealt())
    events = d.scan("2d")
    assert refusal(events) is Refusal.HELD
    noted = only(events, ReadHeld)
    assert (noted.drawn, noted.count) == (4, 1)
    assert draw(d.table.state).read_meanwhile == 1
    d.press(i.WithdrawReport())
    asked = only(d.last, IncidentOpened)
    assert (asked.kind, asked.cell, asked.prompt) == (IncidentKind.HELD_READ, "2b", "CARD_READ_MEANWHILE")
    assert refusal(d.scan("2d")) is Refusal.HELD
    d.answer(True)
    d.scan()
    assert only(d.last, CardDealt).place == "box1"
    assert not d.table.state.incidents and draw(d.table.state).read_meanwhile == 0
    d.deal(1)


def test_row_2b_two_cards_in_a_hold_are_laid_in_the_order_in_which_they_were_drawn() -> None:
    d = held(Dealt())
    first, second = d.shoe[0], d.shoe[1]
    d.scan(str(first))
    d.scan(str(second))
    d.press(i.WithdrawReport())
    for card in (first, second):
        assert draw(d.table.state).prompt.code == "CARD_READ_MEANWHILE"
        d.answer(True)
        d.scan(str(card))
    laid = d.table.state.in_play.laid
    assert [lies.card for lies in laid[-2:]] == [first, second] and not d.table.state.incidents


def test_row_2b_another_card_than_the_one_drawn_first_leaves_the_order_to_a_supervisor() -> None:
    d = held(Dealt())
    d.scan("2d")
    d.press(i.WithdrawReport())
    d.answer(True)
    d.scan("7c")
    assert not every(d.last, CardDealt)
    assert d.table.state.incident_state is IncidentState.SUPERVISOR
    assert draw(d.table.state).buttons == ("confirm_cancel", "order_rescan")
    d.press(i.OrderRescan(), BORIS)
    assert draw(d.table.state).prompt.code == "SCAN_DRAWN_CARD"
    d.scan("2d")
    assert only(d.last, CardDealt).place == "box1"
    assert draw(d.table.state).prompt.code == "CARD_READ_MEANWHILE"  # Now the other one.
    d.answer(True)
    d.press(i.Observed(IncidentKind.DEVICE_FAILED))
    d.press(i.ConfirmCancel(), BORIS)
    assert only(d.last, RoundCancelled)


def test_row_2b_a_card_that_nobody_finds_is_a_supervisors_matter_and_the_deck_is_checked() -> None:
    d = held(Dealt())
    d.scan("2d")
    d.press(i.WithdrawReport())
    d.answer(False)
    assert d.table.state.incident_state is IncidentState.SUPERVISOR
    d.press(i.GoOn(), BORIS)
    decided = only(d.last, IncidentDecided)
    assert (decided.verdict, decided.by) == (Verdict.WENT_ON, BORIS)
    d.press(i.Observed(IncidentKind.DEVICE_FAILED))
    d.press(i.ConfirmCancel(), BORIS)
    d.press(i.ClearTable())
    assert d.phase is Phase.DECK_CHECK


def test_row_2b_a_second_look_at_a_card_that_lies_there_is_no_card_that_left_the_shoe() -> None:
    d = held(Dealt())
    for _ in range(3):
        d.scan("2c")
    assert only(d.last, ReadHeld).count == 3
    d.press(i.WithdrawReport())
    assert not d.table.state.incidents
    d.deal(1)


def test_row_6_a_foreign_card_in_a_hold_voids_the_round_when_it_would_go_on() -> None:
    d = held(Dealt())
    d.scan(code="A01")
    d.press(i.WithdrawReport())
    assert only(d.last, RoundCancelled).reason == "DECK_INTEGRITY"


def test_row_2b_a_card_in_a_hold_that_ends_with_nothing_due_is_surplus() -> None:
    d = Dealt(FAILS).to_result()
    d.press(i.Observed(IncidentKind.DEVICE_FAILED))
    d.scan("2s")
    d.press(i.WithdrawReport())
    d.answer(True)
    d.scan("2s")
    assert draw(d.table.state).prompt.code == "FACE_SEEN"
    d.answer(False)
    assert only(d.last, CardBurned) and not d.table.state.incidents


def test_row_30_no_card_was_drawn_says_the_dealer_and_the_record_says_otherwise() -> None:
    d = Dealt().to_dealing().deal(4)
    d.unplug()
    d.plug()
    d.scan("2d")
    d.answer(False)
    assert only(d.last, IncidentClosed).kind is IncidentKind.SCANNER_LOST
    assert draw(d.table.state).prompt.code == "CARD_READ_MEANWHILE"


def test_row_30_the_card_that_was_drawn_meanwhile_is_asked_about_once() -> None:
    d = Dealt().to_dealing().deal(4)
    d.unplug()
    d.plug()
    d.scan("2d")
    d.answer(True)
    d.scan("2d")
    assert only(d.last, CardDealt) and not d.table.state.incidents


def test_row_30_a_scan_for_the_lost_scanner_is_the_card_that_was_read_before_it_was_lost() -> None:
    d = held(Dealt())
    d.scan("2d")
    d.press(i.WithdrawReport())
    d.unplug()
    d.plug()
    d.answer(True)
    d.scan("2d")
    assert only(d.last, CardDealt) and not d.table.state.incidents


def test_row_2b_a_card_that_comes_to_lie_there_under_another_case_is_asked_about_no_more() -> None:
    d = held(Dealt(settings=msgspec.structs.replace(SETTINGS, profile=profile("default"))))
    d.scan("2d")
    d.press(i.WithdrawReport())
    d.press(i.Observed(IncidentKind.CARD_ON_FLOOR))
    d.answer(False)  # It was not dealt,
    d.answer(False)  # and nobody has seen it.
    assert draw(d.table.state).prompt.code == "SCAN_TO_BURN"
    d.scan("2d")
    assert only(d.last, CardBurned)
    assert every(d.last, IncidentDecided)[-1].verdict is Verdict.DUPLICATE_READ
    assert not d.table.state.incidents


def test_row_1_a_card_read_in_a_hold_that_fails_when_it_is_scanned_again() -> None:
    d = held(Dealt())
    d.scan("2d")
    d.press(i.WithdrawReport())
    d.answer(True)
    d.fail()
    assert only(d.last, IncidentOpened).kind is IncidentKind.FAILED_READ
    d.scan("2d")
    assert only(d.last, CardDealt) and not d.table.state.incidents


def test_row_10_a_card_read_while_the_stub_is_counted_again_means_a_deck_check() -> None:
    d = loaded(count_every=1_000).until(lambda prompt: prompt == "CLEAR_TABLE")
    d.press(i.CountStub(1))
    assert prompt_of(d) == "COUNT_AGAIN"
    d.scan(code=code(d))
    assert only(d.last, ReadHeld)
    d.press(i.CountStub(d.table.state.register.left_count), BORIS)
    assert only(d.last, IncidentOpened).kind is IncidentKind.SURPLUS_CARD
    d.press(i.ClearTable())
    assert d.phase is Phase.DECK_CHECK


def test_a_failed_read_in_a_hold_is_counted() -> None:
    d = held(Dealt())
    assert only(d.fail(), ReadHeld).count == 1


@pytest.mark.parametrize("card", ["2d", "2c", "Ks"])
def test_no_message_tells_which_card_was_read_in_a_hold(card: str) -> None:
    told = []
    for other in (card, "7c"):
        d = held(Dealt())
        told.append(encode_events(d.scan(other)))
    assert told[0] == told[1]


def test_only_the_back_office_hears_that_a_card_was_read_in_a_hold() -> None:
    d = held(Dealt())
    noted = only(d.scan("2d"), ReadHeld)
    assert [audience for audience in AUDIENCES if noted.seen_by(audience)] == [Audience.AUDIT]


# Reads of a run that went down before they were durable (row 35).


def untaken(*codes: str | None) -> tuple[i.UntakenRead, ...]:
    return tuple(i.UntakenRead("shoe", code) for code in codes)


def code(d: Dealt, n: int = 0) -> str:
    return d.table.state.register.deck.code(d.shoe[n])


def test_row_35_a_read_that_was_never_taken_is_part_of_the_picture_question() -> None:
    d = Dealt().to_dealing().deal(4)
    events = d.start(untaken=untaken(code(d), None))
    assert only(events, ReadsUntaken).reads == {"shoe": 2}
    assert draw(d.table.state).read_meanwhile == 1
    d.plug()
    d.confirm_picture()
    d.answer(False)
    assert draw(d.table.state).prompt.code == "CARD_READ_MEANWHILE"
    d.answer(True)
    d.deal(1)
    assert not d.table.state.incidents


def test_row_35_a_read_that_was_never_taken_before_start_means_shuffle_again() -> None:
    d = Dealt().to_ready()
    d.start(untaken=untaken("1010"))
    assert only(d.last, IncidentOpened).kind is IncidentKind.EARLY_DRAW
    assert d.phase is Phase.SHUFFLING


def test_row_35_a_read_that_was_never_taken_after_the_result_means_a_deck_check() -> None:
    d = Dealt().to_confirmed()
    d.start(untaken=untaken(code(d)))
    assert only(d.last, IncidentOpened).kind is IncidentKind.SURPLUS_CARD
    d.press(i.ClearTable())
    assert d.phase is Phase.DECK_CHECK


@pytest.mark.parametrize("phase", [Phase.CLOSED, Phase.SHUFFLING, Phase.CANCELLED])
def test_row_35_in_other_phases_it_is_only_put_on_record(phase: Phase) -> None:
    d = Dealt()
    match phase:
        case Phase.SHUFFLING:
            d.to_ready()
            d.press(i.RepeatShuffle())
        case Phase.CANCELLED:
            d.to_cancelled()
    events = d.start(untaken=untaken("1010"))
    assert only(events, ReadsUntaken) and not every(events, IncidentOpened) and d.phase is phase
