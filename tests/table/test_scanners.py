"""Row 30: other devices than before, devices that start anew, scanners that stay away."""

from __future__ import annotations

import msgspec
import pytest
from profiles import profile
from table.dealt import ANNA, BLUE, BORIS, FAILS, IN_A_ROUND, SETTINGS, Dealt, every, only, refusal

from controller.table import inputs as i
from controller.table.charts import IncidentState, Phase
from controller.table.events import (
    CardDealt,
    IncidentAsked,
    IncidentClosed,
    IncidentEscalated,
    IncidentKind,
    IncidentOpened,
    Refusal,
    RoundCancelled,
    RoundOpened,
    ScannerChanged,
    Verdict,
)
from controller.table.events.incidents import IncidentDecided
from controller.table.picture import draw
from controller.table.table import Table


def with_device(d: Dealt) -> Dealt:
    """The table's scanner is device a."""
    d.start()
    d.plug("a")
    d.press(i.OpenTable())
    d.load()
    d.press(i.VerifyDeck(52))
    d.press(i.ConfirmShuffle())
    return d


def dealing(d: Dealt) -> Dealt:
    with_device(d)
    d.press(i.OpenBetting())
    d.press(i.CloseBetting())
    d.bets()
    return d.deal(4)


def test_row_30_the_same_device_again_goes_on_after_the_question() -> None:
    d = dealing(Dealt())
    d.unplug()
    d.plug("a")
    assert only(d.last, ScannerChanged).device == "a"
    d.answer(False)
    d.deal(1)


def test_rpl_75_the_card_that_came_with_the_scanner_uses_up_no_rescan() -> None:
    d = dealing(Dealt())
    d.unplug()
    d.plug("a")
    d.answer(True)
    d.deal(1)
    d.fail()
    assert d.table.state.incidents[-1].cell == "RPL-75"
    assert d.table.state.incidents[-1].state is IncidentState.RESCAN


@pytest.mark.parametrize("device", ["b", None])
def test_row_30_another_device_waits_for_a_supervisor(device: str | None) -> None:
    """A device that had an identity and has none now is another one as well."""
    d = dealing(Dealt())
    d.unplug()
    d.plug(device)
    assert d.table.state.incident_state is IncidentState.SUPERVISOR
    assert draw(d.table.state).prompt.code == "OTHER_SCANNER"
    assert draw(d.table.state).buttons == ("confirm_cancel", "go_on")
    assert refusal(d.scan("2d")) is Refusal.HELD
    assert refusal(d.press(i.OrderRescan(), BORIS)) is Refusal.NOT_OFFERED
    assert refusal(d.press(i.GoOn(), ANNA)) is Refusal.WRONG_ROLE
    d.press(i.GoOn(), BORIS)
    assert draw(d.table.state).prompt.code == "CARD_DRAWN"
    d.answer(True)
    d.scan("2d")
    assert only(d.last, CardDealt) and not d.table.state.incidents
    d.unplug()
    d.plug(device)  # Accepted once, it is the table's own.
    assert draw(d.table.state).prompt.code == "CARD_DRAWN"


def test_row_30_another_device_may_be_taken_away_again() -> None:
    d = dealing(Dealt())
    d.unplug()
    d.plug("b")
    d.unplug()
    assert d.table.state.incident_state is IncidentState.LOST
    d.plug("a")
    assert draw(d.table.state).prompt.code == "CARD_DRAWN"
    d.answer(False)
    assert not d.table.state.incidents


def test_row_30_another_device_while_the_first_question_is_open() -> None:
    d = dealing(Dealt())
    d.unplug()
    d.plug("a")
    d.answer(True)
    d.plug("b")  # Opened again under the same name.
    assert draw(d.table.state).prompt.code == "OTHER_SCANNER"


def test_row_30_another_device_after_a_restart_is_accepted_after_the_picture() -> None:
    d = dealing(Dealt())
    d.start()
    d.plug("b")
    d.confirm_picture()
    assert draw(d.table.state).prompt.code == "OTHER_SCANNER"
    d.press(i.GoOn(), BORIS)
    d.answer(False)
    assert not d.table.state.incidents


def test_row_30_another_device_between_rounds_is_accepted_by_a_supervisors_start() -> None:
    d = with_device(Dealt())
    d.unplug()
    d.plug("b")
    opened = only(d.last, IncidentOpened)
    assert (opened.kind, opened.cell) == (IncidentKind.OTHER_SCANNER, "30")
    assert only(d.last, IncidentDecided).verdict is Verdict.ACCEPTED_AT_START
    assert draw(d.table.state).prompt.code == "OTHER_SCANNER"
    assert refusal(d.press(i.OpenBetting(), ANNA)) is Refusal.OTHER_SCANNER
    d.press(i.OpenBetting(), BORIS)
    assert only(d.last, RoundOpened)
    d.unplug()
    d.plug("b")
    assert draw(d.table.state).prompt.code == "CARD_DRAWN"


def test_row_30_another_device_is_one_incident_however_often_it_comes_back() -> None:
    d = with_device(Dealt())
    d.unplug()
    d.plug("b")
    d.start()
    d.plug("b")
    assert not every(d.last, IncidentOpened) and draw(d.table.state).prompt.code == "OTHER_SCANNER"
    d.plug("c")
    assert only(d.last, IncidentOpened).kind is IncidentKind.OTHER_SCANNER


def test_row_30_the_device_is_remembered_from_round_to_round() -> None:
    d = with_device(Dealt())
    record = d.table.carried()
    assert record is not None
    d.table = Table(d.settings, d.game, BLUE)
    d.table.restore(record)
    d.plug("b")
    assert only(d.last, IncidentOpened).kind is IncidentKind.OTHER_SCANNER
    d.plug("a")
    assert refusal(d.press(i.OpenBetting(), ANNA)) is None


@pytest.mark.parametrize("where", IN_A_ROUND)
@pytest.mark.parametrize("how", ["restarted", "reopened"])
def test_row_30_a_scanner_that_starts_anew_in_a_round_holds_the_table(where: str, how: str) -> None:
    d = IN_A_ROUND[where](Dealt(FAILS))
    if how == "reopened":
        d.plug()
    else:
        d.feed(i.ScannerRestarted(at=d.now + 1, scanner="shoe"))
        assert only(d.last, ScannerChanged).reason == "restarted"
    assert only(d.last, IncidentOpened).kind is IncidentKind.SCANNER_LOST
    assert draw(d.table.state).prompt.code == "CARD_DRAWN"
    d.answer(False)
    assert not d.table.state.incidents


def test_row_30_a_scanner_that_starts_anew_while_it_is_asked_about_asks_nothing_more() -> None:
    d = Dealt().to_dealing().deal(4)
    d.unplug()
    d.plug()
    for _ in range(2):
        d.feed(i.ScannerRestarted(at=d.now + 1, scanner="shoe"))
        assert not every(d.last, IncidentOpened) and not every(d.last, IncidentAsked)


def test_row_30_a_restart_of_the_table_while_it_is_asked_about_puts_the_same_case_again() -> None:
    d = dealing(Dealt())
    d.unplug()
    d.plug("a")
    d.start()
    d.plug("a")
    d.confirm_picture()
    assert draw(d.table.state).prompt.code == "CARD_DRAWN"
    d.answer(False)
    assert not d.table.state.incidents
    assert [opened.kind for opened in every(d.events, IncidentOpened)] == [
        IncidentKind.SCANNER_LOST,
        IncidentKind.RESTARTED,
    ]


@pytest.mark.parametrize("what", ["device", "table"])
def test_row_30_a_restart_behind_the_answer_is_a_case_of_its_own(what: str) -> None:
    """Between the answer and the restart the deal went on, and a card may have passed a scanner unseen."""
    d = dealing(Dealt())
    d.unplug()
    d.plug("a")
    d.answer(False)
    if what == "device":
        d.feed(i.ScannerRestarted(at=d.now + 1, scanner="shoe"))
    else:
        d.start()
        d.plug("a")
        d.confirm_picture()
    assert refusal(d.scan("2d")) is Refusal.HELD
    assert draw(d.table.state).prompt.code == "CARD_DRAWN"
    lost = [opened for opened in every(d.events, IncidentOpened) if opened.kind is IncidentKind.SCANNER_LOST]
    assert len(lost) == 2


def test_row_30_another_device_that_starts_anew_does_not_call_the_supervisor_later() -> None:
    """Row 40: his time runs from the first call, however often the device restarts meanwhile."""
    d = dealing(Dealt())
    d.unplug()
    d.plug("b")
    asked = only(d.last, IncidentAsked)
    for _ in range(3):
        d.advance(d.settings.limits.escalate_after_s * 1_000 // 3 - 100)
        d.feed(i.ScannerRestarted(at=d.now + 1, scanner="shoe"))
        assert not every(d.last, IncidentAsked)
    d.advance(400)
    (escalated,) = every(d.events, IncidentEscalated)
    assert escalated.incident == asked.incident


def test_row_30_a_scanner_that_starts_anew_between_rounds_is_put_on_record() -> None:
    d = Dealt().to_ready()
    d.feed(i.ScannerRestarted(at=d.now + 1, scanner="shoe"))
    assert [type(event) for event in d.last] == [ScannerChanged]


def test_row_30_a_scanner_that_stays_away_is_a_supervisors_matter_after_two_minutes() -> None:
    d = Dealt().to_dealing().deal(4)
    d.unplug()
    d.advance(119_900)
    assert d.table.state.incident_state is IncidentState.LOST
    assert "confirm_cancel" not in draw(d.table.state).buttons
    d.advance(200)
    assert draw(d.table.state).prompt.code == "GONE_TOO_LONG"
    assert draw(d.table.state).buttons == ("confirm_cancel",)
    assert refusal(d.press(i.GoOn(), BORIS)) is Refusal.NOT_OFFERED
    d.press(i.ConfirmCancel(), BORIS)
    assert only(d.last, RoundCancelled).reason == "TECHNICAL"


def test_row_30_the_time_is_the_tables_setting_and_runs_from_the_first_loss() -> None:
    short = msgspec.structs.replace(SETTINGS, profile=profile("russian_poker_live", scanner_gone_s=10))
    d = Dealt(settings=short).to_switch()
    d.unplug()
    d.advance(6_000)
    d.feed(i.ScannerLost(at=d.now + 1, scanner="shoe", reason="cannot open"))
    d.start()
    d.advance(4_100)
    assert IncidentState.SUPERVISOR in [incident.state for incident in d.table.state.incidents]


def test_row_30_a_scanner_that_comes_back_late_is_asked_about_all_the_same() -> None:
    d = Dealt().to_switch()
    d.unplug()
    d.advance(121_000)
    d.plug()
    assert draw(d.table.state).prompt.code == "CARD_DRAWN"
    d.answer(False)
    assert only(d.last, IncidentClosed) and not d.table.deadlines
    d.deal(1)


def test_row_30_windows_end_at_their_time_while_the_scanner_is_away() -> None:
    d = Dealt().to_options()
    d.unplug()
    d.advance(130_000)
    assert d.phase is Phase.DEALING and draw(d.table.state).prompt.code == "GONE_TOO_LONG"
