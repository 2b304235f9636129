"""Several scanners a table, codes that are presses, devices that fall silent: from bytes to the journal."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest
from station.recorded import Session, write_config
from station.test_zebra_ssi_live import write_zebra_config
from table.dealt import BLUE

from controller.cards import Card
from controller.journal.recording import Kind
from controller.station.config import load
from controller.station.errors import ConfigError
from controller.station.intake import open_framers
from controller.station.profile_command import add_profile
from controller.station.readers import dealing_framers
from controller.station.replay import verify_recording
from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.picture import draw
from simulators.devices.zebra_ssi import ZebraScanner

READER = """
[scanners.{name}]
family = "delimited"
port = "../../run/rp1/devices/{name}"
{reads}

[scanners.{name}.options]
terminator = "lf"
"""
SECOND = READER.format(name="second", reads='reads = "second"')
PADS = tuple(
    READER.format(name=f"pad_{place}", reads=f'reads = "place"\nplace = "{place}"')
    for place in ("box1", "box2", "box3", "dealer")
)
COMMANDS = """
[station_commands]
C1 = "open_betting"
C2 = "close_betting"
C3 = "confirm_result"
"""


def write(folder: Path, *more: str, **changed: str) -> Path:
    path = write_config(folder, **{"min_length = 3": "min_length = 2", **changed})
    path.write_text(path.read_text() + "".join(more))
    return path


def agreeing(folder: Path) -> Path:
    """The profile of the table waits for its second capture."""
    path = write(folder, SECOND, COMMANDS)
    profile = folder / "profiles" / "russian_poker_live.toml"
    text = profile.read_text()
    limits = "[limits]\nsecond_capture_agrees = true\n"
    profile.write_text(text.replace("[limits]\n", limits) if "[limits]" in text else f"{text}\n{limits}")
    return path


def sees(session: Session, code: str, scanner: str = "second") -> None:
    session.wait(1)
    session.station.bring(Kind.CHUNK, scanner, f"{code}\n".encode().hex())
    session.station.work()


def opened(path: Path) -> Session:
    session = Session(path)
    for name in session.config.scanners:
        session.station.bring(Kind.OPENED, name, "/dev/pts/7")
    session.station.work()
    return session.open_table()


# The config.


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (READER.format(name="pad", reads='reads = "place"'), "scanners.pad: place goes with reads = 'place'"),
        (READER.format(name="pad", reads='place = "box1"'), "scanners.pad: place goes with reads = 'place'"),
        (
            READER.format(name="pad", reads='reads = "place"\nplace = "box9"'),
            "scanners.pad.place: 'box9' is not one of",
        ),
        (READER.format(name="pad", reads='reads = "again"'), "Invalid enum value 'again'"),
        ('\n[station_commands]\nC1 = "start"\n', "station_commands.C1: 'start' is not one of"),
        ('\n[station_commands]\nC1 = "confirm_cancel"\n', "'confirm_cancel' is not one of"),
        (
            '\n[station_commands]\n"1010" = "open_betting"\n',
            "station_commands.1010: a card of deck 'blue' has this code",
        ),
        ('\n[station_commands]\nA01 = "open_betting"\n', "a card of deck 'red' has this code"),
    ],
)
def test_a_reader_or_a_code_that_means_nothing_is_refused(tmp_path: Path, more: str, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load(write(tmp_path, more))
    assert said in str(refused.value)


def test_one_scanner_deals(tmp_path: Path) -> None:
    changed = {"[scanners.shoe]\n": '[scanners.shoe]\nreads = "second"\n'}
    with pytest.raises(ConfigError, match="none reads the shoe"):
        load(write(tmp_path, **changed))


def test_presses_that_an_interlock_would_keep_from_being_scanned_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, COMMANDS)
    text, begin = path.read_text(), "[scanners.shoe]\n"
    before, _, behind = text.partition(begin)
    others = behind[behind.index("\n[", behind.index("[scanners.shoe.options]") + 1) :]
    shoe = 'family = "zebra_ssi"\nport = "/dev/x"\noptions = { interlock = true }\n'
    path.write_text(f"{before}{begin}{shoe}{others}")
    with pytest.raises(ConfigError, match=r"station_commands: got interlock = true at shoe"):
        load(path)
    path.write_text(path.read_text().replace(COMMANDS, ""))
    assert load(path).scanners["shoe"].options == {"interlock": True}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "scanners.shoe expects 3 to 4 characters (min_length, max_length), got 2"),
        (
            {"min_length = 3": "min_length = 2", "NOREAD": "C1"},
            "scanners.shoe takes it for a failed read (no_read)",
        ),
    ],
)
def test_presses_that_the_driver_would_never_let_through_are_refused(
    tmp_path: Path, options: dict[str, str], said: str
) -> None:
    path = write_config(tmp_path, **options)
    path.write_text(path.read_text() + '\n[station_commands]\nC1 = "open_betting"\n')
    with pytest.raises(ConfigError, match=r"rp1\.toml: station_commands\.C1: no scanner") as refused:
        load(path)
    assert said in str(refused.value)
    assert "give the press a code that it takes" in str(refused.value)


@pytest.mark.parametrize(
    ("code", "said"),
    [("]C0A", "drops ']C0' as the AIM id of a code (aim_id)"), ("é99", "of the form [ -~]+")],
)
def test_presses_of_codes_that_no_delimited_scanner_gives_out_are_refused(
    tmp_path: Path, code: str, said: str
) -> None:
    with pytest.raises(ConfigError, match="no scanner that deals would let it through") as refused:
        load(write(tmp_path, f'\n[station_commands]\n"{code}" = "open_betting"\n'))
    assert said in str(refused.value)


def test_a_press_needs_one_scanner_that_deals_and_lets_it_through(tmp_path: Path) -> None:
    long = '\n[station_commands]\nE00401001234ABCD = "open_betting"\n'
    with pytest.raises(ConfigError, match=r"got 16; give the press"):
        load(write(tmp_path, long))
    with pytest.raises(ConfigError, match=r"got 16; give the press"):
        load(write(tmp_path, SECOND, long))  # It reads so many, but deals nothing.
    feig = '\n[scanners.pad]\nfamily = "feig_obid"\nport = "/dev/x"\n'
    assert load(write(tmp_path, feig, long)).station_commands
    with pytest.raises(ConfigError, match=r"scanners.pad reads codes of the form \[0-9A-F\]\{16\}"):
        load(write(tmp_path, feig, long.replace("ABCD", "abcd")))


def test_a_reader_that_must_agree_must_be_there(tmp_path: Path) -> None:
    path = agreeing(tmp_path)
    path.write_text(path.read_text().replace(SECOND, ""))
    with pytest.raises(ConfigError, match="second_capture_agrees, but no scanner has reads = 'second'"):
        load(path)


def test_a_row_that_a_reader_notices_is_decided_in_the_profile(tmp_path: Path) -> None:
    path = write(tmp_path, PADS[0])
    profile = tmp_path / "profiles" / "russian_poker_live.toml"
    row = '\n[rows.11]\ntitle = "A card in a wrong place"\nnot_applicable = "nobody here looks"\n'
    profile.write_text(profile.read_text() + row)
    with pytest.raises(ConfigError, match="notices row 11, but profile 'russian_poker_live'"):
        load(path)


def test_readers_take_blind_spots_away(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def heading(*more: str) -> str:
        return heading_of(write(tmp_path, *more))

    def heading_of(path: Path) -> str:
        parser = argparse.ArgumentParser()
        add_profile(parser.add_subparsers())
        arguments = parser.parse_args(["profile", str(path)])
        arguments.run(arguments)
        told = capsys.readouterr().out
        return " ".join(told[told.index("Blind spots of") :].split()).split(" row ")[0]

    beam, camera, second = "a beam in the slot of the shoe", "a camera", "a second capture"
    pads, shoe = "a position reader at every place", "a shoe that judges by itself"
    assert heading() == f"Blind spots of table rp1 without {beam}, {camera}, {second}, {pads} or {shoe}"
    assert heading(PADS[0]) == heading()
    assert heading(SECOND, *PADS) == f"Blind spots of table rp1 without {beam}, {camera} or {shoe}"
    angel_eye = heading_of(Path(__file__).parents[2] / "config" / "tables" / "baccarat_angel_eye.toml")
    assert angel_eye == f"Blind spots of table ba2 without {beam}, {camera}, {second} or {pads}"


def test_a_reader_that_deals_nothing_has_no_interlock(tmp_path: Path) -> None:
    """It looks at cards while none is due, too."""
    config = load(write(tmp_path, SECOND))
    framers = open_framers(config)
    assert list(dealing_framers(config, framers)) == [framers["shoe"]]


# The station.


def test_a_round_with_a_second_capture_and_scanned_presses(tmp_path: Path) -> None:
    """From START to RESULT by codes; a difference is asked about, the result waits; all of it is replayed."""
    session = opened(agreeing(tmp_path))
    state = session.station.kernel.table.state
    session.send(i.ConfirmShuffle())
    sees(session, "C1", "shoe")
    assert state.phase is Phase.BETTING and state.register.out_count == 0
    sees(session, "C2", "second")
    assert state.phase is Phase.BETTING, "a reader that deals nothing presses nothing"
    session.shoe = [Card.parse("2c"), Card.parse("As")]
    sees(session, "C2", "shoe")
    session.send(i.BetsTaken({}), "bets")
    session.scan("2d")
    sees(session, BLUE.code(Card.parse("2c")))
    assert draw(state).prompt.code == "SCAN_AGAIN"
    session.scan()
    assert not state.incidents and [str(card.card) for card in state.in_play.laid] == ["2c"]
    session.scan()
    sees(session, BLUE.code(Card.parse("As")))
    session.stop()

    again = Session(session.config.path, session.clock.us + 1_000)
    assert again.station.kernel.table.state.in_play.looks.keys() == {"second"}
    looks = again.station.kernel.table.state.in_play.looks["second"]
    assert [look.code for look in looks] == [BLUE.code(Card.parse(card)) for card in ("2c", "As")]
    again.stop()
    for one in (session, again):
        assert verify_recording(one.recording).difference is None


def test_the_result_waits_at_the_station(tmp_path: Path) -> None:
    session = opened(agreeing(tmp_path))
    state = session.station.kernel.table.state
    session.to_dealing().to_turns()
    for place in ("switch", "box1", "box3", "dealer"):
        session.send(i.TurnCards(place))
    sees(session, "C3", "shoe")
    assert state.phase is Phase.RESULT_PROPOSED and draw(state).prompt.code == "SHOW_CARD"
    for card in list(state.in_play.laid):
        sees(session, card.code)
    sees(session, "C3", "shoe")
    assert state.phase is Phase.CONFIRMED
    session.stop()
    assert verify_recording(session.recording).difference is None


def test_a_press_that_is_scanned_is_refused_as_on_a_page(tmp_path: Path) -> None:
    session = Session(write(tmp_path, COMMANDS))
    session.bring(Kind.OPENED, "/dev/pts/7")
    session.chunk(b"C1\n")
    step = list(session.station.journal.reader.steps(0))[-1]
    assert b'"reason":"NO_DEALER"' in step.events[0]
    session.open_table()
    session.chunk(b"C1\n")
    step = list(session.station.journal.reader.steps(0))[-1]
    assert b'"reason":"WRONG_PHASE"' in step.events[0] and b'"actor":"anna"' in step.events[0]
    assert b'"input":"open_betting"' in step.events[0]


def test_a_code_that_was_never_taken_is_no_card(tmp_path: Path) -> None:
    session = Session(write(tmp_path, COMMANDS)).open_table()
    session.to_dealing().deal(2)
    session.wait(1)
    session.station.bring(Kind.CHUNK, "shoe", b"C3\n".hex())
    session.stop()
    again = Session(session.config.path, session.clock.us + 1_000)
    assert not again.station.kernel.table.state.in_play.unplaced_reads.count


# Devices that answer no command.


def test_row_30_a_scanner_that_answers_no_command_holds_the_round(tmp_path: Path) -> None:
    """It has no power: a card would pass it unseen. Its answer ends the hold, and the question comes."""
    session = Session(write_zebra_config(tmp_path))
    heard: list[bytes] = []

    def hear(data: bytes) -> bool:
        heard.append(data)
        return True

    session.station.ports["shoe"].write = hear  # type: ignore[method-assign]
    said: list[bytes] = []
    scanner = ZebraScanner(said.append)

    def talk() -> None:
        for _ in range(8):
            session.wait(100)
            while heard:
                scanner.receive(heard.pop(0), session.clock.us)
            while said:
                session.chunk(said.pop(0))

    session.open_table().to_dealing()
    talk()
    scanner.scan("1010", session.clock.us)
    talk()
    state = session.station.kernel.table.state
    assert len(state.in_play.laid) == 1 and not state.incidents
    session.bring(Kind.LOST, "unplugged")
    session.bring(Kind.OPENED, "/dev/pts/8")
    session.answer(False)
    session.wait(9_000)
    assert draw(state).prompt.code == "SCANNER_GONE" and draw(state).scanners_down == ("shoe",)
    heard.clear()
    session.wait(11_000)
    talk()
    assert draw(state).prompt.code == "CARD_DRAWN" and not draw(state).scanners_down
    session.answer(False)
    assert not state.incidents
    session.stop()
    assert verify_recording(session.recording).difference is None
