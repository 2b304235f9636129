"""From a driver's reports to inputs."""

from __future__ import annotations

from controller.journal.recording import Kind, Line
from controller.station.intake import Intake
from controller.table.inputs import CardRead
from drivers.families import open_framer


def test_a_read_that_may_be_one_card_twice_keeps_its_mark() -> None:
    """Row 4: the driver marks it by its guard time, the table asks."""
    framers = {"shoe": open_framer("delimited", {"repeat_ms": 300})}
    intake = Intake(framers, lambda *_: "00" * 32, lambda *_: None)
    frames = b"1010\n1010\n4130\n".hex()
    taken = [one.value for one in intake.take(Line(1_000_000, Kind.CHUNK, "shoe", frames))]
    assert all(isinstance(value, CardRead) for value in taken)
    marks = [(value.code, value.repeat) for value in taken if isinstance(value, CardRead)]
    assert marks == [("1010", False), ("1010", True), ("4130", False)]
