"""Replay: the same bytes again, the same card inputs from chunks cut anyhow, and what a bad file says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from station.recorded import DAY_US, MILLISECOND, NOON, Session, cancelled_round, edit_lines, write_config
from table.dealt import FAILS

from controller.cli import main
from controller.journal import JournalDamaged, Reader
from controller.journal.recording import Kind, read_header, read_lines
from controller.station.config import load, load_texts
from controller.station.errors import ConfigError, StationError
from controller.station.replay import (
    replay_recording,
    verify_recording,
)
from controller.station.replay_command import OPEN_ROUND, Pace, difference_lines
from controller.table import inputs as i
from controller.table.events import Event
from controller.table.table import Table


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """A stopped session: a plain round, one with a purchase, one full of incidents that is cancelled."""
    session = Session(write_config(tmp_path_factory.mktemp("played"))).open_table()
    session.round().round(FAILS)
    cancelled_round(session)
    session.load()
    session.send(i.VerifyDeck(52))
    session.send(i.CloseTable())
    session.send(i.CloseTable(), request="again")
    session.send(i.CloseTable(), request="again")
    session.send(i.OpenTable())
    session.stop()
    return session


def test_a_recording_gives_the_bytes_of_the_journal(played: Session) -> None:
    with Reader.open(played.journal) as reader:
        recorded = [
            (step.input, b"[" + b",".join(step.events) + b"]", step.messages) for step in reader.steps()
        ]
    again = [
        (
            stepped.input,
            stepped.events_raw,
            {audience.value: sent for audience, sent in stepped.messages.items() if sent},
        )
        for stepped in replay_recording(played.recording)
    ]
    assert len(again) > 120
    assert again == recorded


def test_a_request_that_came_twice_is_recorded_twice_and_stepped_once(played: Session) -> None:
    lines = [line for line in read_lines(played.recording) if '"request":"again"' in line.payload]
    steps = [
        stepped for stepped in replay_recording(played.recording) if b'"request":"again"' in stepped.input
    ]
    assert (len(lines), len(steps)) == (2, 1)


def test_verify_of_a_recording_finds_no_difference(
    played: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(played.recording), "--verify"]) == 0
    assert "no difference" in capsys.readouterr().out
    assert main(["replay", str(played.journal), "--verify", "--json"]) == 0
    verdict = json.loads(capsys.readouterr().out)
    assert verdict["difference"] is None
    assert verdict["steps"] == verify_recording(played.recording).steps > 120


def test_json_lists_one_event_a_line(played: Session, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(played.recording), "--json"]) == 0
    listed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert main(["replay", str(played.journal), "--json"]) == 0
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == listed
    assert [event["event"] for event in listed].count("round.closed") == 3
    assert listed[0]["step"] == 1 and listed[0]["at_us"] == NOON


def test_people_read_events_with_their_time(played: Session, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(played.recording)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any("card.dealt" in line and "place=box2 n=1 face=up" in line and "As" in line for line in lines)
    assert lines[0].startswith("08:00:00.000  controller.started")


# The open round.


def test_nothing_of_an_open_round_comes_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = Session(write_config(tmp_path)).open_table().round()
    session.to_dealing().deal(20)  # Still running, and the file still being written.
    for words in (["replay", str(session.recording)], ["replay", str(session.journal)]):
        for flags in ([], ["--json"], ["--verify"], ["--verify", "--json"]):
            assert main([*words, *flags]) == 0
            told = capsys.readouterr()
            assert "rp1-2" not in told.out and '"round_no":2' not in told.out and "round_no=2" not in told.out
            assert told.out.count("round.opened") == (0 if "--verify" in flags else 1)
            assert OPEN_ROUND in told.out + told.err or '"open_round":true' in told.out
    session.all_decided("options")
    session.deal(5)
    session.all_decided("final_options")
    session.finish()
    assert not verify_recording(session.recording).open_round
    session.stop()


def test_a_difference_inside_an_open_round_stays_hidden(tmp_path: Path) -> None:
    session = Session(write_config(tmp_path)).open_table().to_dealing()
    session.deal(3)
    session.stop()
    numbered = list(enumerate(session.recording.read_text().splitlines(), 1))
    number, text = next(pair for pair in reversed(numbered) if " key " in pair[1])
    sessions = session.recording.parent
    changed = edit_lines(session.recording, sessions / "changed.capture", {number: text[:-2] + "00"})
    verdict = verify_recording(changed)
    assert verdict.difference is None and verdict.open_round


# Restarts and days.


def test_a_recording_begun_in_an_open_round_goes_on_from_the_journals_inputs(tmp_path: Path) -> None:
    config = write_config(tmp_path)
    first = Session(config).open_table().round().to_dealing()
    first.deal(7)
    first.stop()
    second = Session(config, NOON + 60_000_000, first_key=100)
    second.shoe = first.shoe
    second.chunk(b"x")  # A stale piece of a frame.
    second.wait(500)
    second.bring(Kind.OPENED, "/dev/pts/8")
    second.confirm_picture()
    second.answer(False)
    second.deal(13)
    second.all_decided("options")
    second.deal(5)
    second.all_decided("final_options")
    second.finish().clear()
    second.stop()
    kinds = [line.kind for line in read_lines(second.recording)]
    assert kinds.count(Kind.INPUT) > 10
    verdict = verify_recording(second.recording)
    assert (verdict.difference, verdict.open_round, verdict.beyond) == (None, False, 0)
    assert verify_recording(first.recording).open_round


def test_a_recording_begun_in_a_new_day_before_its_first_boundary(tmp_path: Path) -> None:
    config = write_config(tmp_path)
    first = Session(config).open_table().round()
    first.clock.us += DAY_US
    first.round()
    first.send(i.ConfirmShuffle())
    first.stop()
    assert len(list(first.journal.parent.glob("*.journal"))) == 2
    assert verify_recording(first.recording).difference is None
    second = Session(config, first.clock.us + MILLISECOND, first_key=100)
    second.bring(Kind.OPENED)
    second.send(i.RepeatShuffle())
    second.round().stop()
    assert read_header(second.recording).one("carried") is not None
    verdict = verify_recording(second.recording)
    assert verdict.difference is None and verdict.steps > 40


def test_the_config_comes_from_the_recording_alone(played: Session, tmp_path: Path) -> None:
    moved = tmp_path / "moved.capture"
    moved.write_bytes(played.recording.read_bytes())
    count = sum(1 for _ in replay_recording(played.recording))
    assert sum(1 for _ in replay_recording(moved)) == count
    with pytest.raises(StationError, match="lies neither beside it nor in the folder above"):
        verify_recording(moved)


def test_a_table_and_a_deck_may_have_files_of_one_name(tmp_path: Path) -> None:
    path = write_config(tmp_path)
    path = path.rename(path.with_name("blue.toml"))
    config = load(path)
    assert next(iter(config.documents)) == "tables/blue.toml" and "decks/blue.toml" in config.documents
    again = load_texts(config.documents.values())
    assert (again.settings, again.rules, again.deck) == (config.settings, config.rules, config.deck)
    with pytest.raises(ConfigError, match="not among the documents"):
        load_texts(list(config.documents.values())[:2])


# Damaged and hostile recordings.


def find(recording: Path, text: str) -> tuple[int, str]:
    """Return number and text of the first line that holds `text`."""
    return next(pair for pair in enumerate(recording.read_text().splitlines(), 1) if text in pair[1])


def test_an_edited_line_is_shown_where_it_stands(played: Session, capsys: pytest.CaptureFixture[str]) -> None:
    number, text = find(played.recording, '"place":"box1"}')
    sessions = played.recording.parent
    edited = edit_lines(
        played.recording, sessions / "edited.capture", {number: text.replace('"box1"}', '"box3"}')}
    )
    assert main(["replay", str(edited), "--verify"]) == 1
    told = capsys.readouterr().out
    assert ", input:" in told and "turn_cards" in told
    assert main(["replay", str(edited), "--verify", "--json"]) == 1
    difference = json.loads(capsys.readouterr().out)["difference"]
    assert '"box1"' in difference["expected"] and '"box3"' in difference["got"]
    with Reader.open(played.journal) as reader:
        assert reader.step(difference["step"]).input.decode() == difference["expected"]


def test_an_edited_key_shows_in_the_commitment(played: Session) -> None:
    number, text = find(played.recording, " key shoe ")
    edited = edit_lines(
        played.recording, played.recording.parent / "key.capture", {number: text[:-4] + "0000"}
    )
    difference = verify_recording(edited).difference
    assert difference is not None and difference.where == "input"
    assert '"input":"card_read"' in difference.expected


def test_a_dropped_line_is_a_difference(played: Session) -> None:
    number, _ = find(played.recording, '"command":"confirm_shuffle"')
    edited = edit_lines(played.recording, played.recording.parent / "drop.capture", {number: None})
    difference = verify_recording(edited).difference
    assert difference is not None and "confirm_shuffle" in difference.expected


def test_inputs_beyond_the_journal_are_counted(played: Session, capsys: pytest.CaptureFixture[str]) -> None:
    longer = played.recording.parent / "longer.capture"
    last = list(read_lines(played.recording))[-1]
    longer.write_text(played.recording.read_text() + f"{last.at_us + 5} lost shoe gone\n")
    assert main(["replay", str(longer), "--verify"]) == 0
    assert "1 inputs beyond the end of the journal" in capsys.readouterr().out


@pytest.mark.parametrize("cut", [1, 30, 200])
def test_a_truncated_last_line_is_left_out(played: Session, cut: int) -> None:
    whole = played.recording.read_bytes()
    short = played.recording.parent / "short.capture"
    short.write_bytes(whole[:-cut])
    count = sum(1 for _ in replay_recording(short))
    assert 0 < sum(1 for _ in replay_recording(played.recording)) - count <= 2
    assert verify_recording(short).difference is None


def test_a_recording_that_ends_between_a_chunk_and_its_key(played: Session) -> None:
    lines = played.recording.read_text().splitlines(keepends=True)
    key = max(index for index, text in enumerate(lines) if " key " in text)
    short = played.recording.parent / "no-key.capture"
    short.write_text("".join(lines[:key]))
    verdict = verify_recording(short)
    assert verdict.difference is None and verdict.open_round


HOSTILE = {
    "no utf-8": (b"chunk shoe 31\n", b"command operator \xff\xfe{\n", "not understood"),
    "no hex": (b"", b"chunk shoe xyz\n", "not understood"),
    "no scanner": (b"", b"chunk other 31\n", "not understood"),
    "no json": (b"", b"command operator {]\n", "not understood"),
    "no command": (b"", b'command operator {"input":"scanner_opened","at":1,"scanner":"x"}\n', "a command"),
    "no number": (b"", b"timer window one\n", "not understood"),
    "no asked key": (b"", b"key shoe 00\n", "no card read asked for"),
    "no kind": (b"", b"bribe dealer 100\n", "expected: at kind source payload"),
    "key too short": (b"chunk shoe 313031300a\n", b"key shoe 00\n", "64 hex digits"),
    "key of another": (b"chunk shoe 313031300a\n", b"key hoe " + b"0" * 64 + b"\n", "key is of hoe"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_line_is_named(played: Session, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    first, second, expected = HOSTILE[name]
    at = list(read_lines(played.recording))[-1].at_us + 10
    stamp = b"%d " % at
    hostile = played.recording.parent / "hostile.capture"
    tail = b"".join(stamp + line for line in (first, second) if line)
    hostile.write_bytes(played.recording.read_bytes() + tail)
    with pytest.raises((StationError, JournalDamaged), match=expected):
        list(replay_recording(hostile))
    assert main(["replay", str(hostile), "--verify"]) == 1
    named = str(at) if name != "no asked key" else "a key that no card read asked for"
    assert named in capsys.readouterr().err


def test_lines_out_of_order_are_refused(played: Session) -> None:
    lines = played.recording.read_text().splitlines(keepends=True)
    body = [index for index, text in enumerate(lines) if not text.startswith("#")]
    swapped = played.recording.parent / "swapped.capture"
    a, b = body[3], body[4]
    swapped.write_text("".join([*lines[:a], lines[b], lines[a], *lines[b + 1 :]]))
    with pytest.raises(JournalDamaged, match="time falls"):
        list(replay_recording(swapped))


def test_two_inputs_at_one_time_are_refused(played: Session) -> None:
    number, text = find(played.recording, " opened shoe ")
    twice = edit_lines(
        played.recording, played.recording.parent / "twice.capture", {number: f"{text}\n{text}"}
    )
    with pytest.raises(StationError, match="time does not rise"):
        list(replay_recording(twice))


@pytest.mark.parametrize("cut", [40, 400, 2_000])
def test_a_header_that_is_cut_short_is_refused(played: Session, tmp_path: Path, cut: int) -> None:
    broken = tmp_path / "broken.capture"
    broken.write_bytes(played.recording.read_bytes()[:cut])
    with pytest.raises(StationError, match="the config in its header can't be used"):
        list(replay_recording(broken))


def test_other_files_are_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.txt"
    other.write_bytes(b"\x80\x81 anything")
    assert main(["replay", str(other)]) == 2
    assert main(["replay", str(tmp_path / "absent")]) == 2
    assert main(["replay", str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert "expected a journal" in told and "No such file" in told


def test_a_changed_program_is_shown_with_the_part_that_differs(
    played: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controller.table.state.commit", lambda _key, _text: "0" * 64)
    difference = verify_recording(played.recording).difference
    assert difference is not None and difference.where == "event 0"
    *_, expected, got = difference_lines(difference)
    assert "0" * 64 in got and "0" * 64 not in expected


def test_an_input_on_which_the_table_stops_is_named_without_its_card(
    played: Session, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    step = Table.step

    def stops(table: Table, value: i.AnyInput) -> tuple[Event, ...]:
        assert not isinstance(value, i.CardRead), f"code {value.code}"
        return step(table, value)

    monkeypatch.setattr(Table, "step", stops)
    assert main(["replay", str(played.recording), "--verify"]) == 1
    told = capsys.readouterr().err
    assert "the table stops on it: AssertionError" in told and "code" not in told


# Pace.


def test_pace_follows_recorded_time() -> None:
    slept: list[float] = []
    pace = Pace("10", sleep=slept.append)
    for at_us in (5_000_000, 5_000_000, 15_000_000, 25_000_000):
        pace.wait_for(at_us)
    assert [round(seconds, 1) for seconds in slept] == [1.0, 2.0]
    quick = Pace("max", sleep=slept.append)
    quick.wait_for(1)
    quick.wait_for(10**15)
    assert len(slept) == 2
