"""A profile that is not whole, or says what no table can do, is refused: what, where, and what to do."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from controller.station.config import load_profile
from controller.station.errors import ConfigError
from controller.table.profile import ROWS, Profile

CONFIG = Path(__file__).parents[2] / "config"

QUESTION = '{ id = "q", certain = "unknown", verdict = "ask", asks = "certain" }'
SAME = '{ id = "same", certain = "yes", verdict = "drop" }'
OTHER = '{ id = "other", certain = "no", verdict = "cancel", deck = "out" }'

UNCERTAIN = '{ id = "b", certain = "no", verdict = "go_on" }'


def read(folder: Path, text: str, name: str = "house") -> Profile:
    """Read a profile of this text, which lies beside the shipped ones."""
    shutil.copytree(CONFIG / "profiles", folder / "profiles", dirs_exist_ok=True)
    (folder / "profiles" / f"{name}.toml").write_text(text)
    return load_profile(folder / "tables", name)


def house(text: str) -> str:
    return f'name = "house"\nbase = "default"\n{text}\n'


def row(number: str, *cells: str) -> str:
    return house(f'[rows.{number}]\ntitle = "T"\ncells = [{", ".join(cells)}]')


def refused(folder: Path, text: str) -> str:
    with pytest.raises(ConfigError) as error:
        read(folder, text)
    return str(error.value).removeprefix(f"{folder}/profiles/")


def test_a_house_replaces_a_row_and_keeps_the_rest(tmp_path: Path) -> None:
    made = read(tmp_path, row("4", QUESTION, SAME, OTHER).replace("[rows", "[limits]\nread_tries = 2\n[rows"))
    base = load_profile(tmp_path / "tables", "default")
    assert [cell.id for cell in made.rows["4"].cells] == ["q", "same", "other"]
    assert made.limits.read_tries == 2 and made.limits.order_run == base.limits.order_run
    assert {number for number in ROWS if made.rows[number] != base.rows[number]} == {"4"}
    assert made.digest != base.digest and len(made.digest) == 64


def test_the_digest_names_what_is_decided_and_nothing_else(tmp_path: Path) -> None:
    first = read(tmp_path, row("4", QUESTION, SAME, OTHER))
    assert read(tmp_path, "# A remark.\n" + row("4", QUESTION, SAME, OTHER)).digest == first.digest
    changed = OTHER.replace(', deck = "out"', "")
    assert read(tmp_path, row("4", QUESTION, SAME, changed)).digest != first.digest


PROOFS = {
    "missing case": (
        row("4", QUESTION, SAME),
        "house.toml: rows.4: SAME_CODE_AGAIN in betting, certain no: no cell decides it; add one, or drop a "
        "condition of one of 'q', 'same'",
    ),
    "two cells for a case": (
        row("4", QUESTION, SAME, OTHER, '{ id = "too", certain = "no", verdict = "cancel" }'),
        "house.toml: rows.4: SAME_CODE_AGAIN in betting, certain no: cells 'other' and 'too' both decide it "
        "and are equally specific; give one of them another condition",
    ),
    "idle cell": (
        row("4", QUESTION, SAME, OTHER, '{ id = "any", verdict = "cancel" }'),
        "house.toml: rows.4: cell 'any' never decides anything: in every case that it fits another one is "
        "more specific; remove it",
    ),
    "two cells of one name": (
        row("4", QUESTION, SAME, OTHER.replace("other", "same")),
        "house.toml: rows.4: two cells are called 'same'; give each its own id",
    ),
    "unknown row": (
        row("43", QUESTION),
        "house.toml: rows.43: no row of the procedures; they are 1, 2, 2b, 3, ",
    ),
    "axis of another row": (
        row("4", QUESTION, SAME, OTHER.replace("certain", "revealed")),
        "house.toml: rows.4: cell 'other': revealed = 'no' can't occur in this row; "
        "its axes: certain unknown|yes|no",
    ),
    "value that can't occur": (
        row("8", '{ id = "a", later = "unknown", verdict = "go_on" }'),
        "rows.8: cell 'a': later = 'unknown' can't occur in this row; its axes: later yes|no",
    ),
    "phase that can't occur": (
        row("19", '{ id = "a", phases = ["betting"], verdict = "go_on" }'),
        "rows.19: cell 'a': phase 'betting' can't occur in this row; its phases: result_proposed",
    ),
    "nothing said": (
        house('[rows.4]\ntitle = "T"'),
        "rows.4: expected one of cells, not_applicable, built_in; got none of them",
    ),
    "two things said": (
        house('[rows.12]\ntitle = "T"\nnot_applicable = "a"\nbuilt_in = "b"'),
        "rows.12: expected one of cells, not_applicable, built_in; got not_applicable and built_in",
    ),
    "cells that nothing comes to": (
        row("36", '{ id = "a", verdict = "go_on" }'),
        "rows.36: has cells, but the table meets no case of this row; say as built_in or not_applicable",
    ),
    "a row that the table asks about": (
        house('[rows.4]\ntitle = "T"\nbuilt_in = "b"'),
        "rows.4: the table asks the profile here; give cells, not built_in",
    ),
    "a case that comes whether the profile wants it or not": (
        house('[rows.35]\ntitle = "T"\nnot_applicable = "our controller never goes down"'),
        "rows.35: the table notices this by itself (table); give cells",
    ),
    "question without an axis": (
        row("4", '{ id = "a", verdict = "ask" }'),
        "rows.4: cell 'a': asks goes with the verdict 'ask', and only with it; asks is missing",
    ),
    "axis with another verdict": (
        row("4", QUESTION.replace('"ask"', '"drop"')),
        "rows.4: cell 'q': asks goes with the verdict 'ask', and only with it; the verdict is 'drop'",
    ),
    "question that nobody can answer": (
        row("8", '{ id = "a", later = "yes", verdict = "ask", asks = "later" }'),
        "rows.8: cell 'a': nobody can be asked for later here; what can be asked: nothing",
    ),
    "question whose answer is known": (
        row("4", '{ id = "a", verdict = "ask", asks = "certain" }'),
        "rows.4: cell 'a': asks for certain, which may be known there; say certain = 'unknown'",
    ),
    "supervisor without a press": (
        row("19", '{ id = "a", verdict = "supervisor" }'),
        "rows.19: cell 'a': presses go with the verdict 'supervisor', and only with it; has none",
    ),
    "press with another verdict": (
        row("19", '{ id = "a", verdict = "go_on", presses = ["go_on"] }'),
        "rows.19: cell 'a': presses go with the verdict 'supervisor', and only with it; the verdict "
        "is 'go_on'",
    ),
    "press that nobody has": (
        row("19", '{ id = "a", verdict = "supervisor", presses = ["shrug"] }'),
        "rows.19: cell 'a': 'shrug' is no press of a supervisor: confirm_cancel, go_on, ",
    ),
    "press that the phase does not take": (
        row("29", '{ id = "a", verdict = "supervisor", presses = ["void_box"] }'),
        "rows.29: DEVICE_FAILED in betting: cell 'a': none of its presses is taken in betting; add one, or",
    ),
    "deck out while it is in use": (
        row("19", '{ id = "a", verdict = "go_on", deck = "out" }'),
        "rows.19: cell 'a': deck = 'out' goes with a cancel or check_deck; the deck is in use here",
    ),
    "no card to drop": (
        row("19", '{ id = "a", verdict = "drop" }'),
        "rows.19: WRONG_ANNOUNCEMENT in result_proposed: cell 'a': 'drop' can't be done here, only for "
        "SAME_CODE_AGAIN",
    ),
    "no round to cancel": (
        row("16", '{ id = "a", verdict = "cancel" }'),
        "rows.16: CARD_ON_FLOOR in ready, scanned unknown, revealed unknown: cell 'a': 'cancel' needs an "
        "open round; in ready expected one of 'check_deck', 'go_on', 'restore', 'shuffle'",
    ),
    "shuffle with cards on the table": (
        row("19", '{ id = "a", verdict = "shuffle" }'),
        "cell 'a': 'shuffle' can't be done in result_proposed, only in ready",
    ),
    "no card to scan again": (
        row("29", '{ id = "a", verdict = "supervisor", presses = ["go_on", "order_rescan"] }'),
        "cell 'a': 'order_rescan' can't be done here; take it out of the presses",
    ),
    "entry by hand while the scanner is there": (
        row("30", '{ id = "a", verdict = "supervisor", presses = ["order_entry", "confirm_cancel"] }'),
        "rows.30: SCANNER_LOST in betting, gone yes, other yes, initial yes, later unknown: "
        "cell 'a': 'order_entry' can't be done here; take it out of the presses",
    ),
    "going on as if nothing had been interrupted": (
        row("35", QUESTION, '{ id = "a", certain = "yes", verdict = "go_on" }', UNCERTAIN),
        "rows.35: RESTARTED in betting, certain no: cell 'b': what is not certain after a restart takes "
        "'supervisor' or 'cancel', got 'go_on'",
    ),
    "a card that would be lost": (
        row("23a", '{ id = "a", verdict = "go_on" }'),
        "cell 'a': going on would lose the card; say 'burn', or 'next_due' where it may wait",
    ),
}


@pytest.mark.parametrize("what", PROOFS)
def test_what_cannot_be_proven_is_refused(tmp_path: Path, what: str) -> None:
    text, message = PROOFS[what]
    assert message in refused(tmp_path, text)


FILES = {
    "unknown key": (
        house("lmits = 1"),
        "house.toml: 'lmits' is not one of base, limits, name, rows, shoe; nearest is",
    ),
    "unknown limit": (house("[limits]\nread_trys = 1"), "limits: 'read_trys' is not one of "),
    "limit that is no number": (
        house('[limits]\nread_tries = "3"'),
        "limits: Expected `int`, got `str`, at `read_tr",
    ),
    "limit below nothing": (
        house("[limits]\nread_tries = -1"),
        "limits.read_tries: expected 0 or more, got -1",
    ),
    "unknown key of a row": (
        house('[rows.4]\ntitel = "T"'),
        "rows.4: 'titel' is not one of built_in, cells, ",
    ),
    "row without a title": (house("[rows.4]\ncells = []"), "rows.4: Object missing required field `title`"),
    "unknown key of a cell": (
        row("4", QUESTION.replace("asks", "ask")),
        "house.toml: rows.4: cell 'q': 'ask' is not one of asks, certain, ",
    ),
    "unknown word": (
        row("4", SAME.replace("drop", "droop")),
        "rows.4: cell 'same': verdict: 'droop' is not one of ask, burn, cancel, ",
    ),
    "unknown phase": (
        row("19", '{ id = "a", phases = ["payout"], verdict = "go_on" }'),
        "rows.19: cell 'a': phases: 'payout' is not one of betting, ",
    ),
    "cell without a name": (
        row("19", '{ verdict = "go_on" }'),
        "rows.19: cell 1: Object missing required field",
    ),
    "cell without a verdict": (
        row("19", '{ id = "a" }'),
        "rows.19: cell 'a': Object missing required field `ver",
    ),
    "no press at all": (
        row("19", '{ id = "a", verdict = "supervisor", presses = [] }'),
        "rows.19: cell 'a': Expected `array` of length >= 1, at `presses`",
    ),
    "cells that are no list": (
        house('[rows.4]\ntitle = "T"\ncells = 4'),
        "rows.4.cells: expected a list of cells",
    ),
    "row that is no table": (house("[rows]\n4 = 4"), "house.toml: rows.4: expected keys with values, got 4"),
    "no name": ('base = "default"', "house.toml: Object missing required field `name`"),
    "name of another file": (
        house("").replace("house", "hause"),
        "house.toml: name: expected 'house' as the file is named, got 'hause'",
    ),
    "no TOML": ("name =", "house.toml: is no TOML: "),
    "base that is not there": (
        house("").replace("default", "defualt"),
        "defualt.toml: can't be read: No such",
    ),
    "base of itself": (
        house("").replace("default", "house"),
        "house.toml: base: a profile can't stand on itself (house -> house); end the chain",
    ),
}


@pytest.mark.parametrize("what", FILES)
def test_a_file_that_is_not_a_profile_is_refused(tmp_path: Path, what: str) -> None:
    text, message = FILES[what]
    assert message in refused(tmp_path, text)


def test_a_chain_of_bases_that_comes_back_is_refused(tmp_path: Path) -> None:
    read(tmp_path, house(""))
    (tmp_path / "profiles" / "default.toml").write_text('name = "default"\nbase = "house"\n')
    with pytest.raises(ConfigError, match=r"house.toml: base: .*\(house -> default -> house\)"):
        load_profile(tmp_path / "tables", "house")


def test_a_profile_without_a_base_has_every_row(tmp_path: Path) -> None:
    said = refused(tmp_path, 'name = "house"\n')
    assert said.startswith("house.toml: rows.1: missing; give it its cells, or the reason as built_in or ")
    assert f"(all missing: {', '.join(ROWS)})" in said


def test_an_error_in_a_row_of_the_base_says_so(tmp_path: Path) -> None:
    read(tmp_path, house(""))
    base = tmp_path / "profiles" / "default.toml"
    base.write_text(
        base.read_text().replace('{ id = "4 same", certain = "yes"', '{ id = "4 same", certain = "no"')
    )
    with pytest.raises(ConfigError, match=r"house.toml: rows.4: .* \(the row is that of 'default'\)"):
        load_profile(tmp_path / "tables", "house")
