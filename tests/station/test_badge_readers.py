"""Badge readers: who holds a badge to one is on duty, and nothing that it sends is written down."""

from __future__ import annotations

import csv
import logging
import os
from pathlib import Path

import pytest
from station.recorded import Session, write_config

from controller.cli import main
from controller.journal.recording import Kind, read_lines
from controller.station import people as people_files
from controller.station.badge_readers import DEAF_US
from controller.station.config import load
from controller.station.errors import ConfigError
from controller.station.people import People, Person, hashed, read_people, write_people
from controller.station.replay import verify_recording
from controller.table.inputs import Proof, Role
from drivers.rdm6300 import STRAY, encode
from simulators.cast import COST, the_cast
from simulators.devices.feig_obid import FeigReader

BESIDE = Path(__file__).parents[2].parent / "shared" / "data"
FRAMES = Path(os.environ.get("TABLECTL_DATA") or BESIDE) / "rdm6300_frames.csv"

# Badges as in the hardware notes, section 6, and in public logs.
DORA, BOTH, NOBODY = "100086F444", "000414CD7E", "0D00319CD0"
DORAS_FRAME = bytes.fromhex("02 31 30 30 30 38 36 46 34 34 34 32 36 03")
TAG = "E00401001234ABCD"
READERS = """
[badge_readers.desk]
family = "rdm6300"
port = "./badges"

[badge_readers.pit]
family = "feig_obid"
port = "/dev/serial/by-id/pit"
role = "supervisor"
line = { baud = 38400, parity = "E" }
"""


def config_with(folder: Path, text: str = READERS) -> Path:
    path = write_config(folder)
    path.write_text(path.read_text() + text)
    return path


def enrolled() -> People:
    """The cast of a simulation and two people with badges."""
    people = the_cast()
    for actor, roles, code in (
        ("dora", (Role.DEALER,), DORA),
        ("eve", (Role.DEALER, Role.SUPERVISOR), BOTH),
        ("tom", (Role.DEALER, Role.SUPERVISOR), TAG),
    ):
        badge = hashed(code, people.badge_salt, COST)
        people = people.with_person(actor, Person(actor.title(), roles, None, badge))
    return people


@pytest.fixture
def session(tmp_path: Path) -> Session:
    path = config_with(tmp_path)
    write_people(load(path).people, enrolled())
    return Session(path)


def hold(session: Session, frame: bytes, count: int = 2) -> None:
    """Hold a badge to the reader at the desk: its frame comes `count` times; then it is gone."""
    desk = session.station.badges.readers["desk"]
    for _ in range(count):
        session.wait(50)
        desk.chunk(frame)
        session._consume()
    session.wait(1_000)


def dealer(session: Session) -> str | None:
    on_duty = session.station.kernel.table.state.duty.dealer
    return on_duty.actor if on_duty is not None else None


def test_a_badge_logs_its_holder_in(session: Session) -> None:
    hold(session, DORAS_FRAME)
    on_duty = session.station.kernel.table.state.duty.dealer
    assert on_duty is not None
    assert (on_duty.actor, on_duty.name, on_duty.proof) == ("dora", "Dora", Proof.BADGE)


def test_one_frame_alone_is_nobody(session: Session) -> None:
    hold(session, DORAS_FRAME, 1)
    assert dealer(session) is None


def test_the_place_of_the_reader_says_in_which_role(session: Session) -> None:
    hold(session, encode(BOTH))
    assert dealer(session) == "eve"


def test_who_has_one_role_logs_in_as_that_everywhere(session: Session) -> None:
    people = read_people(session.config.people)
    boris = people.people["boris"]
    badge = hashed(NOBODY, people.badge_salt, COST)
    write_people(session.config.people, people.with_person("boris", Person("B", boris.roles, None, badge)))
    hold(session, encode(NOBODY))
    duty = session.station.kernel.table.state.duty
    assert [one.actor for one in duty.supervisors] == ["boris"] and duty.dealer is None


def test_a_reader_that_is_polled_is_asked(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    pit = session.station.badges.readers["pit"]
    answers: list[bytes] = []
    antenna = FeigReader(answers.append)
    monkeypatch.setattr(pit.port, "write", antenna.hear)
    antenna.place(TAG)
    pit.opened("/dev/pts/9", None)
    for _ in range(4):
        session.wait(20)
        for answer in answers:
            pit.chunk(answer)
        answers.clear()
    session._consume()
    duty = session.station.kernel.table.state.duty
    assert [one.actor for one in duty.supervisors] == ["tom"]


def test_an_unknown_badge_is_counted_and_refused_and_guessing_is_slow(
    session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    steps = session.station.journal.last_n
    hold(session, encode(NOBODY))
    assert session.station.badges.unknown_counts == {"desk": 1}
    hold(session, DORAS_FRAME)
    assert dealer(session) is None, "the reader is deaf for a while"
    assert session.station.journal.last_n == steps
    refused = [record for record in caplog.records if "nobody has" in record.getMessage()]
    assert [getattr(record, "facts", None) for record in refused] == [{"badge_reader": "desk", "count": 1}]
    session.wait(DEAF_US // 1_000)
    hold(session, DORAS_FRAME)
    assert dealer(session) == "dora"


def test_a_second_touch_is_refused_as_any_second_log_in(session: Session) -> None:
    hold(session, DORAS_FRAME)
    steps = session.station.journal.last_n
    hold(session, DORAS_FRAME)
    assert session.station.journal.last_n == steps + 1 and dealer(session) == "dora"


def test_without_a_people_file_nobody_is_known(session: Session, caplog: pytest.LogCaptureFixture) -> None:
    session.config.people.unlink()
    hold(session, DORAS_FRAME)
    assert dealer(session) is None
    assert any("there is no people file" in record.getMessage() for record in caplog.records)


def test_nothing_of_a_badge_is_written_down(session: Session, caplog: pytest.LogCaptureFixture) -> None:
    """Known and unknown ones, whole, damaged and stale: not in recording, journal, messages, log or repr."""
    caplog.set_level(logging.DEBUG)
    desk = session.station.badges.readers["desk"]
    desk.opened("/dev/pts/3", "1a86:7523 at 1-1")
    hold(session, encode(NOBODY))
    session.wait(3_000)
    hold(session, DORAS_FRAME)
    for odd in (DORAS_FRAME[:9], DORAS_FRAME[:-1] + b"\xff", DORAS_FRAME[3:]):
        hold(session, odd)
    desk.stale(DORAS_FRAME)
    desk.lost("unplugged")
    assert dealer(session) == "dora" and "a badge could not be read" in caplog.text
    said = [caplog.text, *(repr(getattr(record, "facts", "")) for record in caplog.records)]
    said += [repr(session.answers), *map(repr, session.feeds.sent.values())]
    session.stop()
    written = [path.read_bytes() for path in session.config.table_dir.rglob("*") if path.is_file()]
    assert len(written) >= 2 and any("badge reader lost" in text for text in said)
    for code in (DORA, NOBODY):
        for trace in (code, code.lower(), encode(code).hex(), str(int(code[2:], 16)), code[4:]):
            assert not any(trace in text for text in said), trace
            assert not any(trace.encode() in raw for raw in written), trace


def test_what_is_recorded_is_the_log_in_and_it_replays(session: Session) -> None:
    hold(session, DORAS_FRAME)
    session.stop()
    assert verify_recording(session.recording).difference is None
    lines = [line for line in read_lines(session.recording) if line.kind is not Kind.START]
    assert [line.kind for line in lines] == [Kind.COMMAND]
    assert '"proof":"badge"' in lines[0].payload and '"actor":"dora"' in lines[0].payload


def test_a_full_queue_is_told_to_the_log_alone(
    session: Session, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(session.station, "is_flooded", lambda: True)
    hold(session, DORAS_FRAME)
    assert dealer(session) is None
    assert any(getattr(record, "facts", {}).get("reason") == "BUSY" for record in caplog.records)


# Ghosts.


@pytest.mark.skipif(not FRAMES.exists(), reason=f"no data at {FRAMES}; TABLECTL_DATA names another folder")
def test_ghosts_with_their_numbers_enrolled_log_nobody_in(tmp_path: Path) -> None:
    with FRAMES.open(newline="") as file:
        ghosts = [row for row in csv.DictReader(file) if row["kind"] == "GHOST read"]
    assert len(ghosts) == 8
    path = config_with(tmp_path)
    people = the_cast()
    for number, row in enumerate(ghosts):
        assert people_files.what_is_wrong_with_badge(row["tag_hex"]) is not None
        badge = hashed(row["tag_hex"], people.badge_salt, COST)
        people = people.with_person(f"g{number}", Person("G", (Role.DEALER,), None, badge))
    write_people(load(path).people, people)
    session = Session(path)
    for row in ghosts * 2:
        hold(session, bytes.fromhex(row["frame_hex"]), 1)
    assert dealer(session) is None
    hold(session, bytes.fromhex(ghosts[0]["frame_hex"]), 2)
    assert dealer(session) == "g0", "so it is two equal frames that tell a badge, and enrolling that refuses"


@pytest.mark.parametrize("code", ["0000000000", "b59a99e5a9"])
def test_a_ghost_is_not_enrolled(
    session: Session, code: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = session.config.people.read_bytes()
    monkeypatch.setattr("sys.stdin.readline", lambda: f"{code}\n", raising=False)
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    assert main(["people", str(session.config.people), "set-badge", "dora"]) == 1
    told = capsys.readouterr().err
    assert "readers invent this one" in told and code not in told
    assert session.config.people.read_bytes() == before


# The config.


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"rdm6300"', '"rdm6301"', r"badge_readers\.desk: driver 'rdm6301' is not .*; nearest is 'rdm6300'"),
        ("[badge_readers.pit]", "options = { confirm = 5 }\n[badge_readers.pit]", "nearest is 'confirm_ms'"),
        ('"./badges"', '"usb:c2e:0b61:1"', r"badge_readers\.desk\.port: 'usb:c2e:0b61:1': expected usb:"),
        ('role = "supervisor"', 'role = "cook"', "cook"),
        ('"./badges"', '"usb:1:2"', r"badge_readers\.desk\.port: 'usb:1:2': expected usb:VID:PID"),
        ('role = "supervisor"', 'rolle = "supervisor"', r"badge_readers\.pit\.'rolle' .*nearest is 'role'"),
    ],
)
def test_what_is_no_badge_reader_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load(config_with(tmp_path, READERS.replace(old, new)))


def test_a_port_with_a_dot_begins_at_the_file(tmp_path: Path) -> None:
    config = load(config_with(tmp_path))
    assert config.badge_readers["desk"].port == str(tmp_path / "tables" / "badges")
    assert config.badge_readers["pit"].port == "/dev/serial/by-id/pit"
    assert load(write_config(tmp_path)).badge_readers == {}


def test_noise_is_told_to_the_log_without_its_bytes(
    session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    session.station.badges.readers["desk"].chunk(b"\xff" * 10)
    session.wait(1_000)
    assert [getattr(record, "facts", None) for record in caplog.records] == [
        {"badge_reader": "desk", "count": 10, "hint": STRAY}
    ]
