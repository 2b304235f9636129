"""A shoe that judges by itself: its result against the rules', its places, its complaints."""

from __future__ import annotations

import msgspec
import pytest
from profiles import profile
from table.dealt import ANNA, BORIS, Dealt, every, only, refusal
from table.shoe_dealt import SHOE_SETTINGS, SIX_CARDS, ShoeDealt

from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import (
    BlockReason,
    CardBurned,
    CardDealt,
    DeviceComplained,
    IncidentClosed,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    PositionCorrected,
    Refusal,
    ResultProposed,
    RoundConfirmed,
    ScannerChanged,
    ShoeJudged,
    TableBlocked,
    Verdict,
)
from controller.table.picture import draw

OVERDRAW, PULLED_BACK = i.Complaint.OVERDRAW, i.Complaint.PULLED_BACK


def dealing(count: int = 0) -> ShoeDealt:
    """The first coup: Player nine, Banker seven, nobody draws."""
    d = ShoeDealt()
    d.to_burned()
    for _ in range(count):
        d.scan()
    return d


def test_a_shoe_that_agrees_is_on_record_and_nothing_more() -> None:
    d = dealing(4)
    d.judged("PLAYER")
    assert only(d.last, ShoeJudged).agrees and d.table.state.incident is None
    assert refusal(d.press(i.ConfirmResult())) is None


@pytest.mark.parametrize(
    "said",
    [
        {"winner": "BANKER"},
        {"winner": "TIE"},
        {"winner": "UNKNOWN"},
        {"winner": "PLAYER", "player_pair": True},
        {"winner": "PLAYER", "banker_pair": True},
    ],
)
def test_a_difference_blocks_the_result_and_calls_a_supervisor(said: dict[str, object]) -> None:
    d = dealing(4)
    d.judged(**said)  # type: ignore[arg-type]
    opened = only(d.last, IncidentOpened)
    assert (opened.kind, opened.cell) == (IncidentKind.SHOE_DISAGREES, "19b")
    assert not only(d.last, ShoeJudged).agrees
    assert refusal(d.press(i.ConfirmResult())) is Refusal.HELD
    assert refusal(d.press(i.GoOn(), ANNA)) is Refusal.WRONG_ROLE
    d.press(i.GoOn(), BORIS)
    assert only(d.last, IncidentDecided).verdict is Verdict.WENT_ON
    d.press(i.ConfirmResult())
    coup = only(d.last, RoundConfirmed).outcome.coup
    assert coup is not None and coup.winner == "PLAYER"


def test_a_result_that_comes_before_the_last_card_is_compared_when_the_rules_have_theirs() -> None:
    d = dealing(3)
    d.judged("BANKER")
    assert not every(d.last, ShoeJudged) and d.table.state.incident is None
    d.scan()
    assert only(d.last, IncidentOpened).kind is IncidentKind.SHOE_DISAGREES


def test_all_cards_are_scanned_again_and_a_corrected_reading_may_agree() -> None:
    d = dealing()
    for read in ("9c", "3d", "Th", "4s"):
        d.scan(read)
    d.judged("BANKER")
    d.press(i.OrderRescan(), BORIS)
    for lying in ("Tc", "3d", "6h", "4s"):
        d.scan(lying)
    assert every(d.last, IncidentDecided)[0].verdict is Verdict.RESCANNED
    assert only(d.last, ResultProposed).outcome.coup.winner == "BANKER"  # type: ignore[union-attr]
    assert only(d.last, ShoeJudged).agrees and d.table.state.incident is None
    d.press(i.ConfirmResult())


def test_the_same_cards_again_leave_it_to_the_supervisor_who_has_ordered_it() -> None:
    d = dealing(4)
    cards = [str(card.card) for card in d.table.state.in_play.laid]
    d.judged("TIE")
    d.press(i.OrderRescan(), BORIS)
    for card in cards:
        d.scan(card)
    assert d.table.state.incident is None and not every(d.last, ShoeJudged)
    assert refusal(d.press(i.ConfirmResult())) is None


def test_a_difference_that_is_told_after_result_blocks_the_table() -> None:
    d = dealing(4)
    d.press(i.ConfirmResult())
    d.judged("BANKER")
    assert only(d.last, IncidentClosed).kind is IncidentKind.SHOE_DISAGREES
    d.press(i.ClearTable())
    assert only(d.last, TableBlocked).reason is BlockReason.SHOE_DISAGREES
    assert refusal(d.press(i.OpenBetting())) is Refusal.BLOCKED


def test_an_opinion_of_no_coup_means_nothing() -> None:
    d = ShoeDealt()
    d.to_ready()
    assert refusal(d.judged("PLAYER")) is Refusal.NOT_OWED and d.phase is Phase.READY
    d.coup()
    assert not every(d.events, ShoeJudged)
    poker = Dealt().to_result()
    poker.feed(
        i.ShoeResulted(at=poker.now + 1, scanner="shoe", winner="TIE", player_pair=False, banker_pair=False)
    )
    assert not every(poker.events, ShoeJudged)


# The shoe's own place of each card (rows 11 and 20c).


def test_a_card_whose_place_is_the_one_that_is_owed_lies() -> None:
    d = dealing()
    for place in ("P1", "B1", "P2", "B2"):
        d.scan_for(place)
        assert only(d.last, CardDealt)
    assert d.phase is Phase.RESULT_PROPOSED


def test_row_20c_a_card_that_the_shoe_gives_another_place_is_row_11() -> None:
    d = dealing(2)
    d.scan_for("B2", "5s")
    opened = only(d.last, IncidentOpened)
    assert (opened.kind, opened.cell, opened.place, opened.n) == (
        IncidentKind.WRONG_PLACE,
        "11 moved",
        "player",
        2,
    )
    d.answer(True)
    assert only(d.last, IncidentDecided).verdict is Verdict.RESTORED
    assert only(d.last, PositionCorrected).place == "player"
    laid = only(d.last, CardDealt)
    assert (laid.place, laid.n, laid.card) == ("player", 2, "5s")


def test_row_11_a_card_that_cannot_be_moved_cancels_by_a_supervisor() -> None:
    d = dealing(2)
    d.scan_for("B2", "5s")
    d.answer(False)
    d.supervisor_cancels()
    assert d.phase is Phase.CANCELLED and only(d.last, CardBurned).reason == "WRONG_PLACE"


def test_a_burned_card_has_no_place_that_could_be_wrong() -> None:
    d = ShoeDealt()
    d.to_dealing()
    d.scan_for("P1")
    d.scan_for("P1")
    assert len(every(d.events, CardBurned)) == 2 and not every(d.events, IncidentOpened)


# Complaints.


@pytest.mark.parametrize("when", ["result_proposed", "confirmed"])
def test_an_overdraw_is_a_card_that_nobody_is_owed(when: str) -> None:
    d = dealing(4)
    if when == "confirmed":
        d.press(i.ConfirmResult())
    d.complain(OVERDRAW)
    assert only(d.last, DeviceComplained).complaint == "OVERDRAW"
    assert only(d.last, IncidentOpened).kind is IncidentKind.SURPLUS_CARD
    d.complain(OVERDRAW)  # It is being asked about.
    assert not every(d.last, IncidentOpened)
    d.answer(False)
    if when == "result_proposed":
        d.press(i.ConfirmResult())
    d.press(i.ClearTable())
    d.open_round().scan()  # It lies there until it is due, and is scanned then.
    assert only(d.last, CardDealt).place == "player"


def test_an_overdraw_in_a_hold_is_asked_about_after_it() -> None:
    d = dealing(2)
    d.press(i.Observed(IncidentKind.VIDEO_LOST))
    d.complain(OVERDRAW)
    assert not every(d.last, IncidentOpened)
    d.press(i.GoOn(), BORIS)
    assert only(d.last, IncidentOpened).kind is IncidentKind.SURPLUS_CARD
    d.answer(False)
    d.coup()


def test_a_coup_that_is_cancelled_after_an_overdraw_is_over() -> None:
    d = dealing(2)
    d.press(i.Observed(IncidentKind.DEVICE_FAILED))
    d.complain(OVERDRAW)
    d.supervisor_cancels()
    assert d.table.state.incident is None and d.phase is Phase.CANCELLED


@pytest.mark.parametrize("count", [0, 2])
def test_a_card_outside_the_coup_in_a_hold_is_asked_about_after_it(count: int) -> None:
    d = dealing(count)
    d.press(i.Observed(IncidentKind.VIDEO_LOST))
    d.scan_for(i.OUTSIDE)
    d.press(i.GoOn(), BORIS)
    assert only(d.last, IncidentOpened).kind is IncidentKind.HELD_READ


def test_a_card_outside_the_coup_is_burned_where_one_is_due() -> None:
    d = ShoeDealt()
    d.to_ready()
    d.scan_for(i.OUTSIDE)
    assert only(d.last, IncidentOpened).kind is IncidentKind.EARLY_DRAW  # Nothing is due before START.
    d.answer(False)
    d.open_round()
    d.scan_for(i.OUTSIDE, "As")
    assert only(d.last, CardBurned).card == "As"
    d.scan_for(i.OUTSIDE, "5s")
    assert only(d.last, CardBurned).card is None
    d.scan_for(i.OUTSIDE, "6s")
    assert only(d.last, IncidentOpened).kind is IncidentKind.SURPLUS_CARD and "6s" not in str(d.last)
    d.answer(True)
    assert d.table.state.incident is not None and d.table.state.incident.burns
    d.scan_for(i.OUTSIDE, "6s")
    assert only(d.last, CardBurned).reason == "SURPLUS_CARD" and d.table.state.incident is None
    d.scan_for("P1", "7s")
    assert only(d.last, CardDealt).place == "player"


def test_a_card_that_is_pulled_back_is_a_failed_device() -> None:
    d = dealing(2)
    d.complain(PULLED_BACK)
    assert only(d.last, IncidentOpened).kind is IncidentKind.DEVICE_FAILED
    d.press(i.GoOn(), BORIS)
    d.coup()


@pytest.mark.parametrize("complaint", [i.Complaint.DRAW_TIME_OUT, i.Complaint.OTHER])
def test_what_changes_nothing_is_on_record_alone(complaint: i.Complaint) -> None:
    d = dealing(2)
    d.complain(complaint)
    d.complain(OVERDRAW, cleared=True)
    assert len(every(d.events, DeviceComplained)) == 2 and not every(d.events, IncidentOpened)


def test_a_shoe_that_restarts_in_mid_deal_holds_the_table() -> None:
    """Two cards are known to be out: no coup begins over them."""
    d = dealing(2)
    d.feed(i.ScannerRestarted(at=d.now + 1, scanner="shoe"))
    opened = only(d.last, IncidentOpened)
    assert (opened.kind, opened.cell) == (IncidentKind.SCANNER_LOST, "30")
    assert refusal(d.scan()) is Refusal.HELD
    d.answer(True)
    d.scan()
    assert (only(d.last, CardDealt).place, only(d.last, CardDealt).n) == ("player", 2)


@pytest.mark.parametrize("anew", ["restarted", "stands by"])
def test_a_shoe_that_counts_anew_in_mid_coup_says_nothing_of_it(anew: str) -> None:
    d = dealing(2)
    if anew == "restarted":
        d.feed(i.ScannerRestarted(at=d.now + 1, scanner="shoe"))
        d.answer(False)
    stand_by(d)
    for place in ("P1", "B1"):  # To the shoe a coup has begun.
        d.scan_for(place)
    assert [(laid.place, laid.n) for laid in d.table.state.in_play.laid[2:]] == [("player", 2), ("banker", 2)]
    d.judged("TIE")
    assert d.table.state.incident is None and not every(d.last, ShoeJudged)
    d.finish()
    d.open_round().scan_for("P1")
    assert only(d.last, CardDealt).place == "player"
    d.scan_for("P2")
    assert only(d.last, IncidentOpened).kind is IncidentKind.WRONG_PLACE  # It counts again.


def test_a_shoe_that_stands_by_before_the_first_card_is_believed() -> None:
    d = dealing()
    stand_by(d)
    d.scan_for("B1")
    assert only(d.last, IncidentOpened).kind is IncidentKind.WRONG_PLACE


def test_an_overdraw_by_the_count_of_a_shoe_that_has_lost_it_is_a_card_to_be_read_again() -> None:
    d = dealing(3)
    stand_by(d)
    d.complain(OVERDRAW)
    assert only(d.last, IncidentOpened).kind is IncidentKind.FAILED_READ
    d.scan_for("P1")
    assert only(d.last, CardDealt).place == "banker" and d.phase is Phase.RESULT_PROPOSED
    d.complain(OVERDRAW)
    assert only(d.last, IncidentOpened).kind is IncidentKind.SURPLUS_CARD


def test_all_cards_once_more_from_the_first_are_a_coup_that_the_shoe_knows() -> None:
    d = dealing(3)
    d.press(i.Observed(IncidentKind.MISREAD_LATE))
    d.answer(True)
    laid = [str(card.card) for card in d.table.state.in_play.laid]
    stand_by(d)
    for place, card in zip(("P1", "B1", "P2"), laid, strict=True):
        d.scan_for(place, card)
    assert d.table.state.incident is None
    d.scan_for("B2")
    d.judged("BANKER")
    assert only(d.last, IncidentOpened).kind is IncidentKind.SHOE_DISAGREES


def test_what_a_shoe_said_before_all_cards_once_more_is_forgotten() -> None:
    """To a shoe that began anew behind the first card a natural lay, with the sixth card still to come."""
    d = ShoeDealt(SIX_CARDS)
    d.to_burned()
    d.scan()
    stand_by(d)
    for _ in range(4):
        d.scan()
    d.judged("BANKER")
    assert refusal(d.last) is Refusal.NOT_OWED
    d.press(i.Observed(IncidentKind.MISREAD_LATE))
    d.answer(True)
    stand_by(d)
    for place, card in zip(("P1", "B1", "P2", "B2", "P3"), SIX_CARDS.split(), strict=False):
        d.scan_for(place, card)
    d.scan_for("B3")
    assert d.phase is Phase.RESULT_PROPOSED and d.table.state.incident is None
    d.judged("PLAYER")
    assert only(d.last, ShoeJudged).agrees


def test_what_a_shoe_said_before_it_began_anew_is_forgotten() -> None:
    d = dealing(3)
    d.judged("TIE")
    d.press(i.Observed(IncidentKind.MISREAD_LATE))
    d.answer(True)
    stand_by(d)
    for place, card in zip(("P1", "B1", "P2"), ("9c", "3d", "Th"), strict=True):
        d.scan_for(place, card)
    d.scan_for("B2")
    assert d.phase is Phase.RESULT_PROPOSED and d.table.state.incident is None


def test_a_result_that_comes_before_a_card_lies_is_the_last_coups() -> None:
    d = dealing(4)
    d.finish()
    d.open_round()
    d.judged("BANKER")
    assert refusal(d.last) is Refusal.NOT_OWED
    for place in ("P1", "B1", "P2", "B2"):
        d.scan_for(place)
    assert not every(d.events, ShoeJudged)


def test_a_cancel_while_a_second_look_is_asked_about_has_the_shoe_counted() -> None:
    d = dealing(1)
    d.scan_at_once(str(d.table.state.in_play.laid[0].card))
    d.press(i.Observed(IncidentKind.DEVICE_FAILED))
    d.supervisor_cancels()
    d.press(i.ClearTable())
    assert d.phase is Phase.DECK_CHECK and draw(d.table.state).prompt.code == "VERIFY_DECK"


# Stand-by.


def stand_by(d: ShoeDealt) -> None:
    d.feed(i.ShoeStandsBy(at=d.now + 1, scanner="shoe"))
    assert only(d.last, ScannerChanged).reason == "stands by"


def test_a_coup_without_stand_by_is_tolerated() -> None:
    d = dealing(4)
    d.finish()
    assert refusal(d.press(i.OpenBetting())) is None


def test_by_setting_no_coup_begins_before_the_shoe_stands_by() -> None:
    wants = msgspec.structs.replace(SHOE_SETTINGS, profile=profile("baccarat", stand_by_needed=True))
    d = ShoeDealt(settings=wants)
    d.to_ready()
    assert draw(d.table.state).prompt.code == "WAIT_FOR_SHOE"
    assert "open_betting" not in draw(d.table.state).buttons
    assert refusal(d.press(i.OpenBetting())) is Refusal.SHOE_NOT_READY
    stand_by(d)
    d.coup()
    d.finish()
    assert refusal(d.press(i.OpenBetting())) is Refusal.SHOE_NOT_READY
    stand_by(d)
    record = d.table.carried()
    assert record is not None and b'"stands_by":true' in record
    assert refusal(d.press(i.OpenBetting())) is None
