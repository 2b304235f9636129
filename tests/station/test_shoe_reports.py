"""What an Angel Eye shoe reports beside cards comes to the table as inputs."""

from __future__ import annotations

import pytest

from controller.journal.recording import Kind, Line
from controller.station.intake import Intake
from controller.table.inputs import (
    OUTSIDE,
    CardRead,
    Complaint,
    ReadFailed,
    ShoeComplained,
    ShoeResulted,
    ShoeStandsBy,
)
from drivers.contract import (
    CodeRead,
    DeviceFault,
    DeviceReported,
    DeviceState,
    DrawnOutside,
    Fault,
    Garbage,
    Report,
    ShoeResult,
    ShoeWinner,
)


class Said:
    """A framer that has these reports."""

    def __init__(self, *reports: Report) -> None:
        self.reports = list(reports)

    def receive(self, chunk: bytes, at_us: int) -> None:
        pass

    def next_report(self) -> Report | None:
        return self.reports.pop(0) if self.reports else None


def taken(*reports: Report) -> list[object]:
    heard: list[Report] = []
    intake = Intake({"shoe": Said(*reports)}, lambda *_: "00" * 32, lambda _, report: heard.append(report))  # type: ignore[dict-item]
    inputs = [taken.value for taken in intake.take(Line(1_000, Kind.CHUNK, "shoe", "00"))]
    assert heard == [report for report in reports if not isinstance(report, CodeRead)]
    return list(inputs)


def test_a_card_carries_the_place_that_the_shoe_gives_it() -> None:
    (read,) = taken(CodeRead("A1", None, "B2"))
    assert isinstance(read, CardRead) and (read.code, read.place) == ("A1", "B2")


def test_a_result_comes_a_microsecond_after_the_card_before_it() -> None:
    _, said = taken(CodeRead("A1"), ShoeResult(ShoeWinner.TIE, player_pair=True, banker_pair=False))
    assert said == ShoeResulted(at=1_001, scanner="shoe", winner="TIE", player_pair=True, banker_pair=False)


@pytest.mark.parametrize("fault", [Fault.NOT_READ, Fault.CODE_ERROR])
def test_a_card_that_the_shoe_could_not_read_is_a_failed_read(fault: Fault) -> None:
    assert taken(DeviceFault(fault, False)) == [ReadFailed(at=1_000, scanner="shoe", cause=fault)]


@pytest.mark.parametrize(
    ("fault", "complaint"),
    [
        (Fault.OVERDRAW, Complaint.OVERDRAW),
        (Fault.PULLED_BACK_AT_EXIT, Complaint.PULLED_BACK),
        (Fault.PULLED_BACK_ON_WAY, Complaint.PULLED_BACK),
        (Fault.DRAW_TIME_OUT, Complaint.DRAW_TIME_OUT),
        (Fault.INDICATOR_BUTTON, Complaint.OTHER),
        (Fault.UNKNOWN, Complaint.OTHER),
    ],
)
@pytest.mark.parametrize("cleared", [True, False])
def test_every_other_fault_is_a_complaint(fault: Fault, complaint: Complaint, cleared: bool) -> None:
    said = ShoeComplained(at=1_000, scanner="shoe", complaint=complaint, cleared=cleared)
    assert taken(DeviceFault(fault, cleared)) == [said]


def test_a_shoe_that_stands_by_says_so() -> None:
    assert taken(DeviceReported(DeviceState.STAND_BY)) == [ShoeStandsBy(at=1_000, scanner="shoe")]


def test_a_card_outside_a_coup_is_a_read_where_its_face_was_seen() -> None:
    intake = Intake({"shoe": Said(DrawnOutside("P1", "C5", False))}, lambda *_: "00" * 32, lambda *_: None)  # type: ignore[dict-item]
    (one,) = intake.take(Line(1_000, Kind.CHUNK, "shoe", "00"))
    assert isinstance(one.value, CardRead) and (one.value.code, one.value.place) == ("C5", OUTSIDE)


@pytest.mark.parametrize(("code", "ended"), [(None, False), (None, True), ("C5", True)])
def test_any_other_card_outside_is_an_overdraw_or_the_end_of_one(code: str | None, ended: bool) -> None:
    said = ShoeComplained(at=1_000, scanner="shoe", complaint=Complaint.OVERDRAW, cleared=ended)
    assert taken(DrawnOutside("P1", code, ended)) == [said]


def test_garbage_is_no_input() -> None:
    assert taken(Garbage(3, "bytes without a read")) == []
