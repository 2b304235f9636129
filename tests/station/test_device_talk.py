"""What devices say in the log: at once, then summed; a flood fills no disk, and no count is lost."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from station.recorded import Session, write_config

from controller.journal.recording import Kind
from controller.station.device_talk import OTHERS, PAUSE_US, SAYINGS_MAX, DeviceTalk, Saying

READER = '\n[badge_readers.desk]\nfamily = "rdm6300"\nport = "./badges"\n'


class Talk:
    """A talk under a clock of its own."""

    def __init__(self) -> None:
        self.now_us = 0
        self.talk = DeviceTalk(lambda: self.now_us)

    def noise(self, count: int, *, device: str = "shoe", hint: str = "noise") -> None:
        self.talk.say(("scanner", device), Saying("bytes", logging.WARNING, ("hint", hint)), count)

    def wait(self, us: int) -> None:
        self.now_us += us
        self.talk.tell_due()


def facts(caplog: pytest.LogCaptureFixture) -> list[dict[str, object]]:
    return [record.facts for record in caplog.records if hasattr(record, "facts")]


def test_the_first_is_told_at_once_and_the_rest_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    talk = Talk()
    for _ in range(1_000):
        talk.noise(3)
    talk.noise(5, hint="a probe")
    talk.noise(7, device="second")
    assert facts(caplog) == [
        {"scanner": "shoe", "count": 3, "hint": "noise"},
        {"scanner": "shoe", "count": 5, "hint": "a probe"},
        {"scanner": "second", "count": 7, "hint": "noise"},
    ]
    caplog.clear()
    talk.wait(PAUSE_US - 1)
    assert facts(caplog) == []
    talk.wait(1)
    assert facts(caplog) == [{"scanner": "shoe", "count": 2_997, "hint": "noise", "times": 999}]
    caplog.clear()
    talk.noise(2)
    talk.wait(PAUSE_US)
    assert facts(caplog) == [{"scanner": "shoe", "count": 2, "hint": "noise"}]
    talk.wait(PAUSE_US)
    talk.noise(4)
    assert facts(caplog)[1:] == [{"scanner": "shoe", "count": 4, "hint": "noise"}]


def test_a_device_with_ever_new_hints_is_held_to_so_many_lines(caplog: pytest.LogCaptureFixture) -> None:
    talk = Talk()
    for number in range(10_000):
        talk.noise(1, hint=f"{number} bytes without a frame")
    assert len(facts(caplog)) == SAYINGS_MAX
    talk.talk.close()
    told = facts(caplog)
    assert told[SAYINGS_MAX:] == [
        {"scanner": "shoe", "count": 10_000 - SAYINGS_MAX, "hint": OTHERS, "times": 10_000 - SAYINGS_MAX}
    ]


@pytest.mark.parametrize(("byte", "is_damage"), [(b"\x02", True), (b"\xff", False)])
def test_a_flood_at_a_badge_reader_is_a_few_lines(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, byte: bytes, is_damage: bool
) -> None:
    path = write_config(tmp_path)
    path.write_text(path.read_text() + READER)
    session = Session(path)
    caplog.set_level(logging.INFO, "station")
    caplog.clear()
    for _ in range(25):
        session.station.badges.readers["desk"].chunk(byte * 4096)
        session.wait(1_000)
        session.station.beat()
    session.stop()
    told = [one for one in facts(caplog) if "badge_reader" in one]
    assert len(told) < 60
    if is_damage:
        assert sum(int(str(one.get("times", 1))) for one in told if "cause" in one) == 25 * 4096
    else:
        assert sum(int(str(one.get("count", 0))) for one in told) == 25 * 4096


def test_a_flood_of_noise_at_a_scanner_is_a_few_lines(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    session = Session(write_config(tmp_path))
    caplog.clear()
    for _ in range(500):
        session.station.bring(Kind.CHUNK, "shoe", (b"\xff\n" * 10).hex())
        session.wait(20)
        session.station.beat()
    session.stop()
    told = [one for one in facts(caplog) if one.get("scanner") == "shoe"]
    assert len(told) < 30
    assert sum(int(str(one.get("count", 0))) for one in told) == 500 * 20
