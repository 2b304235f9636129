"""The page for integrators: its links lead somewhere, its Python names exist, no break of it is written."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from contract import DOCS, published, rebuild

PAGE = (DOCS / "README.md").read_text()


def test_every_link_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)]+)\)", PAGE)
    assert len(links) == 7
    assert all((DOCS / link).exists() for link in links)


def test_what_the_example_imports_exists() -> None:
    example = re.findall(r"^    (from [a-z.]+ import [^\n]+)$", PAGE, re.MULTILINE)
    assert len(example) == 4
    for line in example:
        exec(line, {})


def test_a_break_of_what_is_published_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    older = json.loads(json.dumps(published()))
    older["$defs"]["Alive"]["properties"]["pulse"] = {"type": "integer"}
    (tmp_path / "schemas.json").write_text(json.dumps(older))
    monkeypatch.setattr(rebuild, "FOLDER", tmp_path)
    with pytest.raises(SystemExit, match=r"(?s)Alive\.pulse: is gone.*a new major version is needed"):
        rebuild.main([])
    assert [path.name for path in tmp_path.iterdir()] == ["schemas.json"]
    assert json.loads((tmp_path / "schemas.json").read_text()) == older
