"""The golden sessions of `seeds/sessions`: every driver still makes of its bytes what is kept beside them.

TABLECTL_SOAK=1 splits a session at every offset, however long it is.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from simulators.devices import cuts

FOLDER = Path(__file__).parents[2] / "seeds" / "sessions"
_spec = importlib.util.spec_from_file_location("rebuild_sessions", FOLDER / "rebuild.py")
assert _spec is not None and _spec.loader is not None
sessions = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(sessions)

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
SPLITS = 100
CAPTURES = sorted(FOLDER.glob("*.capture"))


def reports(capture: Path, line: cuts.Line) -> list[str]:
    return [sessions.report_text(report) for report in sessions.decoded(capture, line)]


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.stem)
def test_the_reports_are_those_on_record_however_the_line_is_cut(capture: Path) -> None:
    line = sessions.read_line(capture)
    kept = capture.with_suffix(".reports").read_text().splitlines()
    assert kept
    assert reports(capture, line) == kept
    assert reports(capture, cuts.byte_by_byte(line)) == kept
    assert reports(capture, cuts.recut(line, seed=1)) == kept
    splits = list(cuts.splits(line))
    for split in splits if SOAK else splits[:: 1 + len(splits) // SPLITS]:
        assert reports(capture, split) == kept


def test_what_is_on_record_is_what_one_switch_builds(tmp_path: Path) -> None:
    sessions.rebuild(tmp_path)
    built = {path.name: path.read_text() for path in tmp_path.iterdir()}
    kept = {path.name: path.read_text() for path in FOLDER.glob("*.*") if path.suffix != ".py"}
    assert kept == built
