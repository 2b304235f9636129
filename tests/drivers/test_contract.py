"""The contract's own parts: settings, the registry, the shape of reports."""

from __future__ import annotations

import msgspec
import pytest

from drivers.contract import (
    CardDrawn,
    CodeRead,
    DeviceFault,
    DrawnOutside,
    FailedReadCause,
    Fault,
    Garbage,
    ReadFailed,
    ReadTogether,
    Report,
    SerialSettings,
    ShoeResult,
    ShoeWinner,
)
from drivers.families import FAMILIES, open_framer


def test_open_framer_by_name() -> None:
    framer = open_framer("delimited", {"terminator": "cr"})
    framer.receive(b"1010\r", 0)
    assert framer.next_report() == CodeRead("1010")


def test_unknown_family_names_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"driver 'delimitted' is not one of .*; nearest is 'delimited'"):
        open_framer("delimitted", {})


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_opens_without_options_and_refuses_unknown_ones(family: str) -> None:
    assert open_framer(family, {}).shortest_timeout_us > 0
    with pytest.raises(ValueError, match=f"driver {family}: option 'no_such_option'"):
        open_framer(family, {"no_such_option": 1})


@pytest.mark.parametrize(
    "report",
    [
        CodeRead("1010"),
        CodeRead("1010", 7),
        ReadFailed(FailedReadCause.NO_READ),
        Garbage(3, "noise"),
        CardDrawn("P1", again=True),
        DrawnOutside("P1", None, ended=False),
        ShoeResult(ShoeWinner.BANKER, player_pair=True, banker_pair=False, banker_six=True),
        DeviceFault(Fault.OVERDRAW, cleared=True),
        ReadTogether(2),
    ],
)
def test_reports_survive_a_recording(report: Report) -> None:
    assert msgspec.json.decode(msgspec.json.encode(report), type=Report) == report


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"baud": 960}, "baud: 960 is not one of 1200, 2400"),
        ({"parity": "X"}, "parity"),
        ({"settle_ms": -1}, "settle_ms"),
        ({"bauds": 9600}, "bauds"),
    ],
)
def test_serial_settings_that_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=message):
        msgspec.convert(settings, SerialSettings)
