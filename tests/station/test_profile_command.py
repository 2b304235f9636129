"""`tablectl profile`: all of a profile is told, with what a table can't notice, and a supervisor signs."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import msgspec
import pytest
from profiles import PROFILES, profile
from station.recorded import write_config

from controller.station.config import load
from controller.station.profile_command import add_profile
from controller.station.profile_sheet import EXTRA, make_sheet
from controller.station.profile_text import (
    LIMITS,
    OF_KIND,
    PHASES,
    PRESSES,
    SENSORS,
    VALUES,
    VERDICTS,
    value_text,
)
from controller.table.cells import PRESSES as ALL_PRESSES
from controller.table.cells import CellVerdict
from controller.table.charts import Phase
from controller.table.limits import Limits
from controller.table.profile import NOTICING, ROWS
from controller.table.situations import SITUATIONS, Axis, Known, Sensor

NAMES = sorted(path.stem for path in PROFILES.glob("*.toml"))
TABLES = Path(__file__).parents[2] / "config" / "tables"
LIVE_POKER = "russian_poker_live"


def tell(*words: str) -> int:
    parser = argparse.ArgumentParser()
    add_profile(parser.add_subparsers())
    arguments = parser.parse_args(["profile", *words])
    result: int = arguments.run(arguments)
    return result


def blind(name: str, *more: Sensor, **limits: int) -> dict[str, str]:
    sheet = make_sheet(profile(name, **limits), NOTICING | set(more))
    return {spot.number: spot.what for spot in sheet.blind_spots}


# The words.


def test_everything_has_words() -> None:
    assert set(PHASES) == set(Phase) and set(VERDICTS) == set(CellVerdict) and set(SENSORS) == set(Sensor)
    assert set(PRESSES) == ALL_PRESSES and set(VALUES) == set(Axis)
    assert {field.name for field in msgspec.structs.fields(Limits)} <= set(LIMITS)
    for kind, axis in OF_KIND:
        assert axis in SITUATIONS[kind].axes, "words for what is never judged"


def test_a_value_means_another_thing_in_each_of_its_rows() -> None:
    for kind, situation in SITUATIONS.items():
        for axis, values in situation.axes.items():
            told = [value_text(kind, axis, value) for value in values]
            assert len(set(told)) == len(told)
            assert (Known.UNKNOWN in values) == any(text.startswith("not known whether ") for text in told)


# The sheet.


@pytest.mark.parametrize("name", NAMES)
def test_every_row_and_every_cell_is_told(name: str) -> None:
    made, sheet = profile(name), make_sheet(profile(name))
    assert [row.number for row in sheet.rows] == list(ROWS)
    for row in sheet.rows:
        source = made.rows[row.number]
        assert row.title == source.title
        assert [cell.id for cell in row.cells] == [cell.id for cell in source.cells]
        assert (row.built_in, row.not_applicable) == (source.built_in, source.not_applicable)
        assert bool(row.cells) == bool(row.phases) == bool(row.found_by)
        conditions = [cell.when for cell in row.cells]
        assert len(set(conditions)) == len(conditions), "two cells that read alike"
    assert sheet.digest == made.digest


def cell(name: str, number: str, called: str) -> tuple[tuple[str, ...], str]:
    row = next(row for row in make_sheet(profile(name)).rows if row.number == number)
    found = next(cell for cell in row.cells if cell.id == called)
    return found.when, found.then


def test_cells_are_told_in_words() -> None:
    assert cell("default", "4", "4") == (
        ("not known whether the same card",),
        "the dealer is asked: This code has been read at PLACE, card N. Is it the same card?",
    )
    assert cell("default", "4", "5") == (
        ("another card",),
        "the round is cancelled, every stake goes back; the deck is changed and verified in view",
    )
    assert cell("default", "7", "7c")[0] == (
        "while bets are open or in the deal",
        "it was scanned",
        "its face was seen",
    )
    assert cell("oasis_with_bonus", "24", "OAB-24") == (
        (),
        "a supervisor decides: have the round dealt anew or cancel and refund",
    )
    assert "on a person's report when a supervisor presses" in cell(LIVE_POKER, "3", "RPL-75 initial")[1]
    assert "person" not in cell(LIVE_POKER, "1", "RPL-75 initial")[1]


def test_numbers_are_told_in_words() -> None:
    limits = make_sheet(profile(LIVE_POKER, disk_free_mb=2_000)).limits
    assert limits["re-scans of one card after the initial deal"] == "1"
    assert limits["megabytes that must be free before a round opens"] == "2,000"
    assert limits["a new dealer burns the first card"] == "no"


# Blind spots.


def test_a_table_with_a_scanner_alone_depends_on_people() -> None:
    spots = blind("default")
    seen = ("2", "3", "8", "9", "11", "14", "15", "16", "17", "18", "19", "23b", "24")
    people = (*seen, "28", "29", "33", "34")
    assert {
        number for number, what in spots.items() if what.startswith("only a person can report it")
    } == set(people)
    for number in ("7", "10"):
        assert spots[number].startswith(
            "the scanner finds a card that it reads; one that passes unread only a"
        )
    assert set(spots) == {*people, "7", "10", "25"}
    assert spots["9"].endswith("; a beam in the slot of the shoe would notice it")
    assert spots["11"].endswith("; a position reader at every place or a camera would notice it")


def test_more_sensors_leave_fewer_blind_spots() -> None:
    beam = set(blind("default")) - set(blind("default", Sensor.BEAM))
    assert beam == {"2", "7", "9"}
    camera = set(blind("default")) - set(blind("default", Sensor.CAMERA))
    assert camera == {"3", "11", "14", "15", "16", "17", "19", "23b", "24"}
    second = set(blind("default")) - set(blind("default", Sensor.SECOND))
    assert second == {"2", "3", "7", "10"}
    position = set(blind("default")) - set(blind("default", Sensor.POSITION))
    assert position == {"2", "3", "10", "11"}
    assert set(blind("default", *EXTRA)) == {"8", "18", "25", "28", "29", "33", "34"}


@pytest.mark.parametrize(
    ("rounds", "step"),
    [
        (5, "the next count of the stub, after every 5 rounds"),
        (1, "the count of the stub before the settlement of the round"),
        (0, "no count of the stub, since the profile asks for none"),
    ],
)
def test_what_only_a_count_finds_names_the_step(rounds: int, step: str) -> None:
    spots = blind("default", count_every_rounds=rounds)
    assert spots["25"] == f"nobody can see it; it is found by {step}"
    assert {number for number, what in spots.items() if what.endswith(step)} == {"10", "16", "24", "25"}


def test_a_row_that_is_not_applicable_is_no_blind_spot() -> None:
    rows = profile("default").rows
    assert not {number for number in blind("default") if rows[number].not_applicable is not None}


# The command.


@pytest.mark.parametrize("path", sorted(TABLES.glob("*.toml")), ids=lambda path: path.stem)
def test_a_table_is_told_with_the_digest_of_its_rounds(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = load(path)
    assert tell(str(path)) == 0
    with_table = capsys.readouterr().out
    assert tell(config.settings.profile.name) == 0
    alone = capsys.readouterr().out
    digest = f"Procedures digest {config.settings.profile.digest}"
    assert digest in with_table and digest in alone
    assert f"Blind spots of table {config.settings.table} without a beam" in with_table
    assert "Blind spots of a table without" in alone and "NOT APPROVED" not in alone
    for number in ROWS:
        assert re.search(rf"^{number}\. ", alone, re.MULTILINE), number


def test_the_whole_sheet_for_machines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_config(tmp_path)
    assert tell(str(path), "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["sheet"]["digest"] == load(path).settings.profile.digest and said["approvals"] == []
    assert (said["table"], said["environment"]) == ("rp1", "simulated")
    assert len(said["sheet"]["rows"]) == len(ROWS)
    assert tell("default", "--json") == 0
    alone = json.loads(capsys.readouterr().out)
    assert (alone["table"], alone["approvals"], alone["sheet"]["name"]) == (None, None, "default")


def test_a_supervisor_approves_the_procedures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_config(tmp_path, **{'environment = "simulated"': 'environment = "live"'})
    assert tell(str(path)) == 0
    assert "The table refuses to start" in capsys.readouterr().out
    assert tell(str(path), "--approve", "boris") == 0
    said = capsys.readouterr().out
    assert re.search(r"Approved by boris, 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC, at table rp1", said)
    assert "NOT APPROVED" not in said
    assert tell(str(path), "--json") == 0
    (approval,) = json.loads(capsys.readouterr().out)["approvals"]
    profile_ = load(path).settings.profile
    assert (approval["who"], approval["kind"]) == ("boris", "procedures")
    assert (approval["name"], approval["digest"]) == (profile_.name, profile_.digest)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("bridge",),
            "no profile 'bridge': expected baccarat, default, many_readers, oasis_with_bonus or russian",
        ),
        (("default", "--approve", "boris"), "--approve needs a table's config"),
        (("TABLE", "--approve", "anna"), "anna is no supervisor of table rp1: boris or clara"),
        (("TABLE", "--approve", "mallory"), "mallory is no supervisor"),
        (("nothing.toml",), "nothing.toml: can't be read"),
    ],
)
def test_misuse_is_named_and_approves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    path = write_config(tmp_path)
    assert tell(*(str(path) if word == "TABLE" else word for word in words)) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "run" / "approvals.jsonl").exists()


def test_damaged_approvals_are_a_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_config(tmp_path)
    assert tell(str(path), "--approve", "boris") == 0
    approvals = tmp_path / "run" / "approvals.jsonl"
    approvals.write_text(approvals.read_text().replace("boris", "clara"))
    assert tell(str(path)) == 1
    assert "line 1 is not what was written there" in capsys.readouterr().err
