"""`tablectl schema`: what it prints, what it writes, and what it says of an older contract."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from contract import DOCS, published

from controller.cli import main
from controller.station.terminal import FINDING, FINE, USAGE


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(["schema", *words])
    return code, capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "name"),
    [((), "schemas.json"), (("--asyncapi",), "asyncapi.json"), (("--events",), "events.md")],
)
def test_it_prints_what_stands_in_the_docs(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], name: str
) -> None:
    assert said(capsys, *words) == (FINE, (DOCS / name).read_text())


def test_it_prints_the_schema_of_one_event(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = said(capsys, "--event", "card.dealt")
    assert code == FINE and json.loads(out)["$id"] == "urn:tablectl:schema:card.dealt:v1"


def test_an_unknown_event_is_a_wrong_word(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "--event", "card.eaten"]) == USAGE
    assert "card.eaten: no such event" in capsys.readouterr().err


def test_it_writes_all_of_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out = said(capsys, "--out", str(tmp_path / "bus"))
    written = {path.name: path.read_text() for path in (tmp_path / "bus").iterdir()}
    assert code == FINE and len(out.splitlines()) == 3
    assert written == {name: (DOCS / name).read_text() for name in written}


def test_it_says_what_is_broken_since_an_older_contract(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    older = copy.deepcopy(published())
    path = tmp_path / "older.json"
    path.write_text(json.dumps(older))
    assert said(capsys, "--against", str(path)) == (FINE, f"0 breaking changes since {path}\n")
    older["$defs"]["CardDealt"]["properties"]["colour"] = {"type": "string"}
    path.write_text(json.dumps(older))
    code, out = said(capsys, "--against", str(path))
    assert code == FINDING and out.splitlines()[0] == "tablectl.card.dealt.v1.data.colour: is gone"


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{}", '{"a":' * 100_000),
        '{"$id": "urn:tablectl:schema:bus:v1", "$defs": [], "anyOf": [3]}',
        '{"$id": "urn:somebody:else", "$defs": {}, "anyOf": []}',
        '{"$id": null, "$defs": null, "anyOf": null}',
    ],
)
def test_a_file_that_is_no_contract_is_a_wrong_word(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str
) -> None:
    path = tmp_path / "older.json"
    path.write_text(text)
    assert main(["schema", "--against", str(path)]) == USAGE
    assert "no schemas.json of `tablectl schema`" in capsys.readouterr().err
