"""The people file, `tablectl people`, and log-ins at a station: no PIN gets further than its check."""

from __future__ import annotations

import io
import json
import logging
import stat
from pathlib import Path

import pytest
from station.recorded import NOON, Session, write_config
from station.test_watch import picture

from controller.bus.snapshot import Snapshot, fold
from controller.bus.wire import Answer, CommandRequest, encode
from controller.cli import main
from controller.journal.recording import Kind, read_lines
from controller.station import people as people_files
from controller.station.config import load
from controller.station.errors import PeopleError
from controller.station.people import Person, hashed, new_salt, read_people, write_people
from controller.station.replay import verify_recording
from controller.station.start import start
from controller.table import inputs as i
from controller.table.events import Audience, HaltReason
from controller.table.inputs import Role
from controller.table.staff import Duty, OnDuty
from simulators.cast import PINS, hire, the_cast

PIN, OTHER_PIN, BADGE = "907856", "563412", "badge/0xC0FFEE"


@pytest.fixture(autouse=True)
def _cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a look at a PIN costs is not what is tested here."""
    monkeypatch.setattr(people_files.hashed, "__defaults__", (16,))


def people(*words: object, typed: str = "", monkeypatch: pytest.MonkeyPatch | None = None) -> int:
    """Run `tablectl people`; `typed` is what comes on standard input."""
    if monkeypatch is not None:
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    return main(["people", *map(str, words)])


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A people file with a dealer and a supervisor, made by the command."""
    path = tmp_path / "house" / "people.json"
    assert people(path, "add", "dora", "--name", "Dora", "--role", "dealer") == 0
    assert people(path, "add", "boris", "--name", "Boris", "--role", "supervisor", "--role", "dealer") == 0
    for actor in ("dora", "boris"):
        assert people(path, "set-pin", actor, typed=f"{PIN}\n", monkeypatch=monkeypatch) == 0
    assert people(path, "set-badge", "dora", typed=f"{BADGE}\n", monkeypatch=monkeypatch) == 0
    return path


# The file and the command.


def test_the_file_is_for_its_owner_alone_and_holds_no_secret(file: Path) -> None:
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    text = file.read_text()
    assert PIN not in text and BADGE not in text
    everybody = read_people(file).people
    assert everybody["dora"].pin != everybody["boris"].pin, "one PIN, two salts"
    assert [path.name for path in file.parent.iterdir()] == ["people.json"]


def test_everybody_is_listed_without_hashes(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert people(file, "list") == 0
    told = capsys.readouterr().out
    assert "dora" in told and "pin and badge" in told and "dealer, supervisor" in told
    assert people(file, "list", "--json") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert rows[0] == {
        "id": "boris", "name": "Boris", "roles": ["dealer", "supervisor"], "logs_in_with": ["pin"],
    }  # fmt: skip


def test_a_person_is_changed_and_taken_out(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = read_people(file).people["dora"]
    assert people(file, "add", "dora", "--name", "Dodo", "--role", "supervisor") == 0
    after = read_people(file).people["dora"]
    assert (after.name, after.roles, after.pin) == ("Dodo", (Role.SUPERVISOR,), before.pin)
    assert people(file, "set-badge", "dora", typed="\n", monkeypatch=monkeypatch) == 0
    assert read_people(file).people["dora"].badge is None
    assert people(file, "remove", "dora") == 0
    assert list(read_people(file).people) == ["boris"]


@pytest.mark.parametrize(
    ("words", "typed", "said"),
    [
        (("set-pin", "dora"), "12345", "6 to 12 digits"),
        (("set-pin", "dora"), "90785x", "6 to 12 digits"),
        (("set-pin", "dora"), "٣٤٥٦٧٩", "6 to 12 digits"),
        (("set-pin", "dora"), "456789", "no run"),
        (("set-pin", "dora"), "987654", "no run"),
        (("set-pin", "dora"), "777777", "not all the same"),
        (("set-badge", "boris"), "short", "8 to 64"),
        (("set-badge", "boris"), "code\twith a tab", "8 to 64"),
        (("set-badge", "boris"), BADGE, "this badge is dora's"),
        (("set-pin", "mallory"), PIN, "mallory: is not in the people file; there is boris, dora"),
        (("remove", "mallory"), "", "there is boris, dora"),
        (("add", "Not An Id", "--name", "X", "--role", "dealer"), "", "Not An Id"),
        (("add", "eve", "--name", "", "--role", "dealer"), "", "eve"),
        (("add", "eve", "--name", "E\tve", "--role", "dealer"), "", "eve"),
    ],
)
def test_what_makes_no_sense_changes_nothing_and_is_not_repeated(
    file: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    typed: str,
    said: str,
) -> None:
    before = file.read_bytes()
    capsys.readouterr()
    assert people(file, *words, typed=f"{typed}\n", monkeypatch=monkeypatch) == 1
    told = capsys.readouterr()
    assert said in told.err and (not typed or typed not in told.err + told.out)
    assert file.read_bytes() == before


def test_a_pin_on_the_command_line_is_no_word_of_it(file: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        people(file, "set-pin", "dora", PIN)
    assert ended.value.code == 2


def test_the_file_of_a_table_is_found_by_its_config(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_config(tmp_path)
    assert people(path, "list") == 0
    assert "anna" in capsys.readouterr().out


def test_a_crash_while_it_is_written_leaves_the_old_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = file.read_bytes()

    def fail(*_: object) -> None:
        raise OSError("no power")

    monkeypatch.setattr("os.fsync", fail)
    assert people(file, "remove", "dora") == 1
    assert file.read_bytes() == before and [path.name for path in file.parent.iterdir()] == ["people.json"]


# A start.


def test_a_file_that_others_can_read_refuses_a_start(tmp_path: Path) -> None:
    config = load(write_config(tmp_path))
    config.people.chmod(0o640)
    with pytest.raises(PeopleError, match=r"people\.json: mode 0640, expected 0600"):
        start(config, NOON)


def test_a_missing_or_broken_file_refuses_a_start(tmp_path: Path) -> None:
    config = load(write_config(tmp_path))
    config.people.write_text('{"badge_salt": 7}')
    with pytest.raises(PeopleError, match="is no people file"):
        start(config, NOON)
    config.people.unlink()
    with pytest.raises(PeopleError, match="begin one: tablectl people"):
        start(config, NOON)


@pytest.mark.parametrize("gone", [("anna",), ("boris", "clara")])
def test_a_table_that_nobody_could_run_refuses_a_start(tmp_path: Path, gone: tuple[str, ...]) -> None:
    config = load(write_config(tmp_path))
    left = the_cast()
    for actor in gone:
        left = left.without(actor)
    write_people(config.people, left)
    with pytest.raises(PeopleError, match="needs a dealer and a supervisor, who are two people"):
        start(config, NOON)


def test_one_person_in_both_roles_is_not_two_people(tmp_path: Path) -> None:
    config = load(write_config(tmp_path))
    alone = the_cast().without("boris").without("clara").without("anna")
    both = Person("Eve", (Role.DEALER, Role.SUPERVISOR), hashed(PIN, new_salt()))
    write_people(config.people, alone.with_person("eve", both))
    with pytest.raises(PeopleError, match="who are two people"):
        start(config, NOON)


def test_a_role_of_the_betting_system_is_refused(tmp_path: Path) -> None:
    config = load(write_config(tmp_path))
    write_people(config.people, the_cast().with_person("eve", Person("Eve", (Role.BETTING,))))
    with pytest.raises(PeopleError, match=r"people\.eve\.roles: got betting"):
        start(config, NOON)


def test_a_live_table_refuses_the_people_of_a_simulation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = load(write_config(tmp_path, **{'environment = "simulated"': 'environment = "live"'}))
    write_people(config.people, the_cast())
    monkeypatch.setattr("controller.station.start.check_approved", lambda _: None)
    with pytest.raises(PeopleError, match="people of a simulation"):
        start(config, NOON)


def test_a_simulation_leaves_a_file_of_real_people_alone(tmp_path: Path) -> None:
    config = load(write_config(tmp_path))
    other = the_cast().with_person("anna", Person("Anna", (Role.DEALER,), hashed(PIN, new_salt())))
    write_people(config.people, other)
    with pytest.raises(PeopleError, match="anna is not the simulated dealer"):
        hire(config)
    assert read_people(config.people) == other


# Log-ins.


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """A table that has started; nobody is on duty yet. Dora may deal, with PIN or badge."""
    path = write_config(tmp_path)
    file = load(path).people
    cast = the_cast()
    dora = Person("Dora [/x]", (Role.DEALER,), hashed(PIN, new_salt()), hashed(BADGE, cast.badge_salt))
    write_people(file, cast.with_person("dora", dora))
    return Session(path)


def log_in(session: Session, actor: str, role: Role = Role.DEALER, **secret: str) -> Answer:
    """Send a log-in and return the answer."""
    session.wait(10)
    name = f"in{next(session.requests)}"
    state = session.station.kernel.table.state
    asked = CommandRequest(name, actor, state.round_no, i.LogIn(role), **secret)
    assert session.station.submit("operator", asked, session.answers.append)
    session._consume()
    return session.answers[-1]


@pytest.mark.parametrize("secret", [{"pin": PIN}, {"badge": BADGE}])
def test_a_person_logs_in_with_a_pin_or_a_badge(session: Session, secret: dict[str, str]) -> None:
    assert log_in(session, "dora", **secret).accepted
    duty = session.station.kernel.table.state.duty
    assert duty.dealer is not None and (duty.dealer.name, duty.dealer.proof) == (
        "Dora [/x]",
        next(iter(secret)),
    )


@pytest.mark.parametrize(
    "secret", [{}, {"pin": OTHER_PIN}, {"pin": BADGE}, {"badge": PIN}, {"badge": "x" * 9}]
)
def test_nothing_else_opens(session: Session, secret: dict[str, str]) -> None:
    assert log_in(session, "dora", **secret).reason == "WRONG_SECRET"
    assert session.station.kernel.table.state.duty.dealer is None


def test_what_a_message_says_of_its_proof_is_not_believed(session: Session) -> None:
    asked = CommandRequest("x", "dora", 0, i.LogIn(Role.DEALER, "Queen", i.Proof.BADGE))
    for endpoint in ("operator", "betting"):
        session.wait(1)
        assert session.station.submit(endpoint, asked, session.answers.append)
        session._consume()
        assert not session.answers[-1].accepted
    assert session.station.kernel.table.state.duty.dealer is None


def test_a_person_in_a_role_of_somebody_else_is_refused(session: Session) -> None:
    assert log_in(session, "dora", Role.SUPERVISOR, pin=PIN).reason == "WRONG_ROLE"
    assert log_in(session, "mallory", pin=PIN).reason == "UNKNOWN_PERSON"


def test_guessing_is_locked_out_and_then_costs_no_look_at_the_pin(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = session.config.settings.limits.login_tries
    reasons = [log_in(session, "dora", pin=f"90785{digit}").reason for digit in range(tries)]
    assert reasons == ["WRONG_SECRET"] * (tries - 1) + ["LOCKED_OUT"]

    def look(*_: object, **__: object) -> None:
        raise AssertionError("looked")

    monkeypatch.setattr(Person, "proof", look)
    assert log_in(session, "dora", pin=PIN).reason == "LOCKED_OUT"
    session.station.kernel.table.state.duty = Duty(dealer=OnDuty("dora", "Dora", i.Proof.PIN))
    assert log_in(session, "dora", pin=PIN).reason == "DUAL_LOGIN"


def test_a_lock_out_survives_a_restart(session: Session) -> None:
    for _ in range(session.config.settings.limits.login_tries):
        log_in(session, "dora", pin=OTHER_PIN)
    session.stop()
    again = Session(session.config.path, session.clock.us + 1_000_000)
    assert log_in(again, "dora", pin=PIN).reason == "LOCKED_OUT"
    again.stop()


def test_a_log_in_whose_answer_was_lost_is_answered_again(session: Session) -> None:
    asked = CommandRequest("once", "dora", 0, i.LogIn(Role.DEALER), pin=PIN)
    answers: list[Answer] = []
    for _ in range(2):
        assert session.station.submit("operator", asked, answers.append)
        session.station.work()
    assert [answer.accepted for answer in answers] == [True, True]


def test_a_person_who_is_taken_out_can_log_in_no_more(session: Session) -> None:
    write_people(session.config.people, read_people(session.config.people).without("dora"))
    assert log_in(session, "dora", pin=PIN).reason == "UNKNOWN_PERSON"


def test_a_people_file_that_breaks_at_run_time_stops_log_ins_and_nothing_else(session: Session) -> None:
    assert log_in(session, "dora", pin=PIN).accepted
    session.config.people.write_text("?")
    assert log_in(session, "boris", Role.SUPERVISOR, pin=PINS["boris"]).reason == "NO_PEOPLE_FILE"
    session.send(i.OpenTable(), "dora")
    assert session.answers[-1].accepted


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"badge_salt": "', '"badge_salt": "salt'),
        ('"cost": 16', '"cost": 17'),
        ('"hash": "', '"hash": "\u00e9'),
        ('"salt": "', '"salt": "f'),
    ],
)
def test_hashes_that_are_none_stop_log_ins_and_nothing_else(session: Session, old: str, new: str) -> None:
    text = session.config.people.read_text()
    assert old in text and log_in(session, "dora", pin=PIN).accepted
    session.config.people.write_text(text.replace(old, new))
    assert log_in(session, "boris", Role.SUPERVISOR, pin=PINS["boris"]).reason == "NO_PEOPLE_FILE"
    session.send(i.OpenTable(), "dora")
    assert session.answers[-1].accepted


def test_no_secret_is_written_down_anywhere(session: Session, caplog: pytest.LogCaptureFixture) -> None:
    """Right and wrong ones, PINs and badges: not in journal, recording, feeds, pictures, answers or log."""
    caplog.set_level(logging.DEBUG)
    wrong_badge = "badge/0xDECAFBAD"
    log_in(session, "dora", pin="8070605040")
    log_in(session, "dora", badge=wrong_badge)
    log_in(session, "mallory", badge=wrong_badge)
    assert log_in(session, "dora", badge=BADGE).accepted
    asked = CommandRequest("r", "dora", 0, i.LogIn(Role.DEALER), "8070605040", BADGE)
    said = [caplog.text, repr(asked), repr(session.answers), *map(repr, session.feeds.sent.values())]
    session.stop()
    folder = session.config.table_dir
    written = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    assert len(written) >= 2
    for secret in ("8070605040", wrong_badge, BADGE):
        assert secret.encode() in encode(asked) or secret == wrong_badge
        assert not any(secret in text for text in said), secret
        assert not any(secret.encode() in raw for raw in written), secret


def test_the_recording_of_log_ins_replays_to_the_same_bytes(session: Session) -> None:
    log_in(session, "dora", pin=OTHER_PIN)
    log_in(session, "dora", pin=PIN)
    session.stop()
    assert verify_recording(session.recording).difference is None
    commands = [line for line in read_lines(session.recording) if line.kind is Kind.COMMAND]
    assert ['"proof":"pin"' in line.payload for line in commands] == [False, True]


def test_watch_shows_who_deals_and_why_nobody_does(session: Session) -> None:
    def seen() -> str:
        empty = Snapshot(table="rp1", audience=Audience.PUBLIC)
        return picture(fold(empty, session.feeds.sent[Audience.PUBLIC]), session.clock.us)

    assert "dealer Dora" not in seen()
    log_in(session, "dora", pin=PIN)
    session.send(i.OpenTable(), "dora")
    assert "dealer Dora [/x]" in seen() and "dora" not in seen()
    session.send(i.PauseTable(HaltReason.BREAK), "dora")
    assert "pause" in seen()
    session.send(i.ResumeTable(), "dora")
    assert "pause" not in seen()
    session.send(i.LogOut(), "dora")
    assert "dealer Dora" not in seen()
