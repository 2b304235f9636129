"""Verify: a whole journal has no finding; each kind of damage is found by the proof that is there for it."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from station.recorded import DAY_US, Session, cancelled_round, write_config
from table.dealt import FAILS

from controller.cli import main
from controller.journal import Days, Reader
from controller.journal.records import chain_after, text_hash
from controller.station.proofs import Breach, Broken, Proofs
from controller.station.retake import Retake
from controller.station.verify_command import make_report
from controller.table import inputs as i
from controller.table.events import Audience, IncidentKind

Body = dict[str, Any]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed journal: a plain round, one with a purchase, one full of incidents that is cancelled."""
    session = Session(write_config(tmp_path_factory.mktemp("played"))).open_table()
    session.round().round(FAILS)
    cancelled_round(session)
    session.stop()
    return session.journal


def rewrite(source: Path, target: Path, change: Callable[[Body], None], *, honest: bool = True) -> Path:
    """Copy a journal with each step's body changed; `honest` makes chain and prevhashes anew.

    The copy is unsigned, as a journal of an older program is: what is left are the proofs without a key.
    """
    shutil.copy(source, target)
    connection = sqlite3.connect(target)
    connection.execute("DROP TABLE signatures")
    rows = connection.execute("SELECT n, chain, body FROM steps ORDER BY n").fetchall()
    chain = rows[0][1]
    heads: dict[str, str] = {}
    for n, recorded, content in rows[1:]:
        body = json.loads(content)
        change(body)
        for audience, sent in body.get("messages", {}).items() if honest else ():
            for message in sent:
                message["prevhash"] = heads.get(audience, message["prevhash"])
                heads[audience] = text_hash(_compact(message))
        raw = _compact(body)
        chain = chain_after(chain, raw) if honest else recorded
        connection.execute("UPDATE steps SET chain = ?, body = ? WHERE n = ?", (chain, raw, n))
    connection.commit()
    connection.close()
    return target


def _compact(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def proofs_of(path: Path) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {"file": [], "stream": [], "inputs": []}
    for one in make_report((path,)).findings:
        found[one.proof].append(one.finding)
    return found


def test_a_whole_journal_has_no_finding(played: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(played)]) == 0
    assert "no difference" in capsys.readouterr().out
    assert main(["verify", str(played), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["findings"] == [] and report["not_taken"] == 0
    assert report["rounds"] == 3 and report["steps"] > 120
    # Per round 14 or 15 cards of boxes and dealer and five switch cards lie face down.
    assert report["commitments"] > 50


def test_a_rewritten_journal_without_a_change_is_the_same(played: Path, tmp_path: Path) -> None:
    same = rewrite(played, tmp_path / played.name, lambda _body: None)
    assert proofs_of(same) == {"file": [], "stream": [], "inputs": []}


def test_a_live_table_is_verified_before_its_open_round(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = Session(write_config(tmp_path)).open_table().round().to_dealing()
    session.deal(4)
    assert main(["verify", str(session.journal), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["open_round"] and report["rounds"] == 1
    session.deal(16)
    assert main(["verify", str(session.journal.parent)]) == 0
    assert "still open" in capsys.readouterr().out
    session.stop()


def test_an_open_round_shows_no_difference_before_it_has_ended(tmp_path: Path) -> None:
    session = Session(write_config(tmp_path)).open_table().to_dealing()
    session.deal(4)
    session.stop()

    def other_code(body: Body) -> None:
        if body["input"]["input"] == "card_read":
            body["input"]["code"] = "113"

    changed = rewrite(session.journal, tmp_path / session.journal.name, other_code)
    assert proofs_of(changed) == {"file": [], "stream": [], "inputs": []}


def test_one_changed_byte_breaks_the_chain(played: Path, tmp_path: Path) -> None:
    def later(body: Body) -> None:
        if body["input"].get("actor") == "anna":
            body["input"]["actor"] = "clara"

    found = proofs_of(rewrite(played, tmp_path / played.name, later, honest=False))
    assert any(finding.flaw == "CHAIN" for finding in found["file"])


def test_a_press_of_another_person_comes_out_when_inputs_are_taken_again(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def forged(body: Body) -> None:
        if body["input"].get("command") == {"command": "confirm_cancel"}:
            body["input"]["actor"] = "clara"

    path = rewrite(played, tmp_path / played.name, forged)
    found = proofs_of(path)
    assert found["file"] == [] and len(found["inputs"]) == 1
    difference = found["inputs"][0]
    assert "boris" in difference.expected and "clara" in difference.got
    assert main(["verify", str(path)]) == 1
    told = capsys.readouterr().out
    assert "the inputs make something else of" in told and "clara" in told


def test_another_card_in_an_opening_breaks_its_commitment(played: Path, tmp_path: Path) -> None:
    def swapped(body: Body) -> None:
        told = [message["data"] for sent in body["messages"].values() for message in sent]
        for event in [*body["events"], *told]:
            for card in event.get("cards", []) if event["event"] == "card.revealed" else []:
                card["card"] = "As" if card["place"] == "box1" and card["n"] == 1 else card["card"]

    found = proofs_of(rewrite(played, tmp_path / played.name, swapped))
    assert found["file"] == []
    breaches = [one for one in found["stream"] if one.breach is Breach.COMMITMENT]
    assert {one.where for one in breaches} == {"box1 card 1 (deal 1, reading 1)"}
    assert {one.message.split("/")[1] for one in breaches} == {"public", "betting", "audit"}
    assert {one.breach for one in found["stream"]} == {Breach.COMMITMENT, Breach.DIGEST}
    first, *later = found["inputs"]
    assert first.where == "event 1" and '"As"' in first.expected and '"2c"' in first.got
    # The carried records still hold the heads of the true streams, so each later round shows it once.
    assert len(later) == 2 and all("prevhash" in one.expected for one in later)


def test_a_commitment_that_is_never_opened(played: Path, tmp_path: Path) -> None:
    def kept(body: Body) -> None:
        told = [message["data"] for sent in body["messages"].values() for message in sent]
        for event in [*body["events"], *told]:
            if event["event"] == "round.cancelled" and event.get("opened"):
                event["opened"] = event["opened"][1:]

    found = proofs_of(rewrite(played, tmp_path / played.name, kept))
    assert [one.breach for one in found["stream"]].count(Breach.UNOPENED) == 3


def test_a_wrong_count_and_digest_are_found(played: Path, tmp_path: Path) -> None:
    def wrong(body: Body) -> None:
        for message in body["messages"].get("settlement", []):
            if message["data"]["event"] == "round.closed":
                message["data"]["count"] += 1
                message["data"]["digest"] = "0" * 64

    found = proofs_of(rewrite(played, tmp_path / played.name, wrong))
    assert sorted(one.breach for one in found["stream"]) == ["COUNT"] * 3 + ["DIGEST"] * 3
    # What differs is in the messages alone, once in a round.
    assert {one.where.split("/")[0] for one in found["inputs"]} == {"settlement"}


def test_an_input_that_no_table_takes_is_a_finding(played: Path, tmp_path: Path) -> None:
    def nonsense(body: Body) -> None:
        if body["input"]["input"] == "card_read":
            body["input"]["key"] = "no key"

    found = proofs_of(rewrite(played, tmp_path / played.name, nonsense))
    assert found["file"] == [] and len(found["inputs"]) >= 1
    assert found["inputs"][0].expected == "an input that a table takes"


@pytest.mark.parametrize("content", [b"", b"no journal at all", b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_file_that_is_no_journal(
    tmp_path: Path, content: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "2027-01-15.journal"
    path.write_bytes(content)
    assert main(["verify", str(path)]) == 1
    assert "UNREADABLE" in capsys.readouterr().out


def test_a_truncated_journal_is_a_finding(played: Path, tmp_path: Path) -> None:
    cut = tmp_path / played.name
    cut.write_bytes(played.read_bytes()[:-40_000])
    assert main(["verify", str(cut)]) == 1


def test_a_damaged_journal_in_its_folder_is_a_finding(played: Path, tmp_path: Path) -> None:
    for name in (played.name, "evidence.jsonl"):
        shutil.copy(played.parent / name, tmp_path / name)
    (tmp_path / played.name).write_bytes(b"no journal")
    assert main(["verify", str(tmp_path)]) == 1


def test_nothing_to_verify_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(tmp_path)]) == 2
    assert main(["verify", str(tmp_path / "absent.journal")]) == 2
    assert "no journal there" in capsys.readouterr().err


# Days and epochs.


@pytest.fixture(scope="module")
def days(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table's folder with three days, two restarts, and a config that was changed between rounds."""
    folder = tmp_path_factory.mktemp("days")
    first = Session(write_config(folder)).open_table().round()
    first.clock.us += DAY_US
    first.round().round()
    first.send(i.ConfirmShuffle())
    first.stop()
    changed = write_config(folder, **{"betting_ms = 15_000": "betting_ms = 25_000"})
    second = Session(changed, first.clock.us + 1_000, first_key=500)
    second.bring_up().round()
    second.clock.us += DAY_US
    second.round().round()
    second.to_dealing()
    second.stop()
    third = Session(changed, second.clock.us + 1_000, first_key=900)
    third.bring_up()
    third.send(i.Observed(IncidentKind.DEVICE_FAILED))
    third.send(i.ConfirmCancel(), "boris")
    third.clear().round().stop()
    return third.journal.parent


def test_days_follow_one_another(days: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(days), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["files"], report["not_taken"], report["rounds"]) == (3, 0, 8)


def test_one_day_is_taken_again_from_the_day_before(days: Path) -> None:
    for path in Days(days).paths():
        report = make_report((path,))
        assert (report.findings, report.not_taken) == ([], 0), path


def test_a_day_without_its_forerunner_begins_at_a_boundary(days: Path, tmp_path: Path) -> None:
    middle = Days(days).paths()[1]
    alone = tmp_path / middle.name
    shutil.copy(middle, alone)
    report = make_report((alone,))
    assert report.findings == []
    assert 0 < report.not_taken < report.steps
    taken = [one for _, steps in Retake([alone]).files() for one in steps if one.stepped is not None]
    assert len(taken) == report.steps - report.not_taken


def test_a_missing_day_is_found(days: Path, tmp_path: Path) -> None:
    first, _, last = Days(days).paths()
    for path in (first, last):
        shutil.copy(path, tmp_path / path.name)
    report = make_report(Days(tmp_path).paths())
    assert [str(one.finding).split()[0] for one in report.findings if one.proof == "file"][:1] == ["END"]


# The proofs on their own.


def test_a_stream_joined_inside_a_round_says_nothing_of_it(played: Path) -> None:
    with Reader.open(played) as reader:
        stream = [raw for _, raw in reader.messages("public", 1, 10_000)]
    whole = Proofs(Audience.PUBLIC)
    assert list(whole.take(stream)) == [] and whole.rounds == 3
    late = Proofs(Audience.PUBLIC)
    assert list(late.take(stream[20:])) == [] and late.rounds == 2
    twice = Proofs(Audience.PUBLIC)
    broken: list[Broken] = list(twice.take([*stream[:40], stream[39], *stream[40:]]))
    assert {one.breach for one in broken} <= {Breach.COUNT, Breach.DIGEST, Breach.TERMINAL} and broken
    assert next(iter(late.take([b"{"]))).breach is Breach.MALFORMED
    assert msgspec.json.encode(broken[0])
