"""Inputs that have stopped the process twice are left out (row 35b): the table stays up, people decide."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from table.dealt import ANNA, BLUE, BORIS, ROLES, Dealt, every, only, refusal

from controller.cards import Card
from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import (
    DecisionClosed,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    Refusal,
    RoundCancelled,
    Verdict,
)
from controller.table.picture import draw
from controller.table.quarantine import name_of, suspect
from controller.table.table import Table


def read(card: str, at: int = 1) -> i.CardRead:
    return i.CardRead(
        at=at, scanner="shoe", code=BLUE.code(Card.parse(card)), device_seq=at, key=f"{at:064x}"
    )


def pressed(d: Dealt, command: i.AnyCommand, request: str, actor: str = ANNA) -> i.Commanded:
    return i.Commanded(
        at=d.now + 1,
        request=request,
        actor=actor,
        role=ROLES[actor],
        round_no=d.table.state.round_no,
        command=command,
    )


def back_up(d: Dealt, *names: str) -> Dealt:
    """The process comes back with these inputs left out; picture and scanner are settled."""
    d.start(quarantined=names)
    d.plug()
    d.confirm_picture()
    d.answer(False)
    assert not d.table.state.incidents
    return d


def test_the_same_input_has_the_same_name_when_it_comes_again() -> None:
    t = Dealt().to_dealing().deal(4).table.state
    d = Dealt().to_dealing()
    assert name_of(t, read("2d", 1)) == name_of(t, read("2d", 99))
    assert name_of(t, read("2d")) != name_of(t, read("2h"))
    assert name_of(t, pressed(d, i.GoOn(), "a")) == name_of(t, pressed(d, i.GoOn(), "b"))
    assert name_of(t, pressed(d, i.GoOn(), "a")) != name_of(t, pressed(d, i.ConfirmResult(), "a"))
    entered = [msgspec.structs.replace(pressed(d, i.EnterCard(1, "2c"), "a"), key=key) for key in "ab"]
    assert len({name_of(t, one) for one in entered}) == 1
    supervisors = [pressed(d, i.GoOn(), "a", actor) for actor in ("boris", "clara")]
    assert len({name_of(t, one) for one in supervisors}) == 1


@pytest.mark.parametrize(
    "elsewhere",
    [
        lambda d: d.start(program="1.1"),
        lambda d: d.deal(16),
        lambda d: setattr(d.table.state, "round_no", 2),
    ],
    ids=["program", "phase", "round"],
)
def test_a_name_holds_for_this_program_in_this_phase_of_this_round(
    elsewhere: Callable[[Dealt], object],
) -> None:
    d = Dealt().to_dealing().deal(4)
    before = name_of(d.table.state, read("Ks"))
    elsewhere(d)
    assert name_of(d.table.state, read("Ks")) != before


def test_a_deadline_that_is_due_is_blamed_before_what_comes_after_it() -> None:
    d = Dealt().to_options()
    due = d.table.deadlines["window"]
    timer = name_of(d.table.state, i.TimerExpired(at=0, name="window", number=due.number))
    assert suspect(d.table.state, read("Ks", due.due - 1)) == name_of(d.table.state, read("Ks"))
    assert suspect(d.table.state, read("Ks", due.due)) == timer
    d.start(quarantined=(timer,))
    assert suspect(d.table.state, read("Ks", due.due)) == name_of(d.table.state, read("Ks"))


def test_a_read_that_stopped_the_table_twice_is_left_out_and_the_round_can_be_cancelled() -> None:
    d = Dealt().to_dealing().deal(4)
    back_up(d, name_of(d.table.state, read("2d")))
    assert refusal(d.scan("2d")) is Refusal.QUARANTINED
    opened = only(d.last, IncidentOpened)
    assert (opened.kind, opened.cell, opened.prompt) == (IncidentKind.QUARANTINED, "35b", "INPUT_LEFT_OUT")
    assert draw(d.table.state).buttons == ("confirm_cancel",)
    assert refusal(d.scan("2d")) is Refusal.QUARANTINED and not every(d.last, IncidentOpened)
    assert refusal(d.press(i.GoOn(), BORIS)) is Refusal.NOT_OFFERED
    d.press(i.ConfirmCancel(), BORIS)
    assert only(d.last, RoundCancelled).reason == "TECHNICAL"


def test_other_inputs_are_taken() -> None:
    d = Dealt().to_dealing().deal(4)
    back_up(d, name_of(d.table.state, read("Ks")))
    d.deal(16)


def test_a_press_that_stopped_the_table_twice_is_refused_and_a_supervisor_goes_on_without_it() -> None:
    d = Dealt().to_result()
    back_up(d, name_of(d.table.state, pressed(d, i.Observed(IncidentKind.DEVICE_FAILED), "x")))
    assert refusal(d.press(i.Observed(IncidentKind.DEVICE_FAILED), request="r")) is Refusal.QUARANTINED
    stored = d.answer_of("r")
    assert stored is not None and stored.refusal is Refusal.QUARANTINED
    assert draw(d.table.state).buttons == ("confirm_cancel", "go_on")
    d.press(i.GoOn(), BORIS)
    assert only(d.last, IncidentDecided).verdict is Verdict.WENT_ON
    assert refusal(d.press(i.ConfirmResult())) is None


def test_between_rounds_it_is_put_on_record_and_holds_nothing() -> None:
    d = Dealt().to_ready()
    d.start(quarantined=(name_of(d.table.state, pressed(d, i.CloseTable(), "x")),))
    assert refusal(d.press(i.CloseTable())) is Refusal.QUARANTINED
    assert only(d.last, IncidentDecided).verdict is Verdict.LEFT_OUT
    assert not d.table.state.incidents and d.phase is Phase.READY


def test_a_deadline_that_stopped_the_table_twice_does_not_stop_what_comes_after_it() -> None:
    d = Dealt().to_options()
    due = d.table.deadlines["window"]
    name = name_of(d.table.state, i.TimerExpired(at=0, name="window", number=due.number))
    d.start(quarantined=(name,))
    d.advance(60_000)
    assert [known.kind for known in d.table.state.incidents][-1] is IncidentKind.QUARANTINED
    assert "window" not in d.table.deadlines and not every(d.last, DecisionClosed)
    d.press(i.ConfirmCancel(), BORIS)
    assert only(d.last, RoundCancelled) and only(d.last, DecisionClosed).ended_by == "cancel"


def test_a_scanner_whose_loss_stopped_the_table_twice_is_left_out() -> None:
    d = Dealt().to_dealing().deal(4)
    lost = i.ScannerLost(at=1, scanner="shoe", reason="unplugged")
    back_up(d, name_of(d.table.state, lost))
    d.feed(msgspec.structs.replace(lost, at=d.now + 1))
    assert refusal(d.last) is Refusal.QUARANTINED and only(d.last, IncidentOpened)


def test_what_is_left_out_is_known_after_a_boundary_too() -> None:
    d = Dealt().to_ready()
    name = name_of(d.table.state, pressed(d, i.CloseTable(), "x"))
    d.start(quarantined=(name,))
    record = d.table.carried()
    assert record is not None
    d.table = Table(d.settings, d.game, BLUE)
    d.table.restore(record)
    assert refusal(d.press(i.CloseTable())) is Refusal.QUARANTINED
