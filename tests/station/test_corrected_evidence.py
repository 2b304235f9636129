"""A round that was corrected on a later day, as evidence: every revision in one bundle, with signed heads."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from station.forging import taken_out
from station.recorded import DAY_US, Session, write_config
from station.test_evidence import public_key
from station.test_two_people import correct, next_day

from controller.cli import main
from controller.station.bundle_check import check_bundle


@pytest.fixture(scope="module")
def corrected(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """Round 1 is corrected on the next day, after a round under the same rules."""
    session = Session(write_config(tmp_path_factory.mktemp("days"))).open_table().round()
    next_day(session)
    assert correct(session, "rp1-1") == [None, None]
    session.round()
    return session


@pytest.mark.parametrize("audience", ["audit", "public"])
def test_a_bundle_has_every_revision_and_verifies(
    corrected: Session, tmp_path: Path, audience: str, capsys: pytest.CaptureFixture[str]
) -> None:
    config = corrected.config.path
    (tmp_path / "key.pem").write_text(public_key(config))
    words = ("--format", "bundle", "--rounds", "1", "--for", audience)
    [bundle] = taken_out(config, tmp_path / "out", *words)
    keys = frozenset({public_key(config, "--hex").strip()})
    report = check_bundle(bundle.path, keys)
    assert report.findings == [] and report.revisions == 2
    told = [json.loads(line) for line in bundle.path.read_text().splitlines()]
    messages = [json.loads(one["text"]) for one in told if one["record"] == "message" and one["rev"] == 2]
    assert {one["type"].split(".")[2] for one in messages} == {"corrected", "closed"}
    [row] = [one["row"] for one in told if one["record"] == "told" and one["sheet"] == "rounds"]
    assert (row["ending"], row["revisions"]) == ("confirmed", 2)
    assert ("REFUND" in json.dumps(row["result"])) == (audience == "audit")
    assert main(["verify", str(bundle.path), "--public-key", str(tmp_path / "key.pem")]) == 0
    capsys.readouterr()


def test_rows_tell_the_result_of_the_last_revision(corrected: Session, tmp_path: Path) -> None:
    [piece] = taken_out(corrected.config.path, tmp_path / "out", "--format", "jsonl", "--for", "audit")
    rows = [json.loads(line) for line in (piece.path / "rounds.jsonl").read_text().splitlines()]
    assert [row["revisions"] for row in rows] == [2, 1, 1]
    assert ["LOSE" in json.dumps(row["result"]) for row in rows] == [False, True, True]


def test_a_bundle_finds_the_rules_of_its_round_when_the_table_has_others_since(tmp_path: Path) -> None:
    path = write_config(tmp_path)
    session = Session(path).open_table().round()
    session.stop()
    rules = tmp_path / "games" / "russian_poker_live.toml"
    changed, count = re.subn(r"\btable_max = [\d_]+", "table_max = 4_000", rules.read_text())
    assert count == 1
    rules.write_text(changed)
    later = Session(path, now_us=session.clock.us + DAY_US, first_key=1_000).bring_up()
    later.round()  # The file of the next day begins with the end of a round.
    assert later.config.rules != session.config.rules
    assert correct(later, "rp1-1") == [None, None]
    [bundle] = taken_out(path, tmp_path / "out", "--format", "bundle", "--rounds", "1", "--for", "audit")
    assert check_bundle(bundle.path, frozenset({public_key(path, "--hex").strip()})).findings == []
