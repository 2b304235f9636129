"""Evidence proves itself to whoever has the public key; whatever a forger does to it is found.

TABLECTL_SOAK=1: 10,000 forgeries of each kind.
"""

from __future__ import annotations

import csv
import io
import json
import os
import random
import shutil
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from station.forging import FORGER, FORGERIES, Piece, bundle_signed, faults, line_of, taken_out
from station.recorded import Session, cancelled_round, write_config
from table.dealt import FAILS

from controller.bus.envelope import rfc3339
from controller.cli import main
from controller.journal import Days, Reader
from controller.journal.signing import load_key
from controller.station.evidence_log import EvidenceLog, Exported
from controller.station.sealing import Flawed
from controller.station.selection import round_opened
from controller.table import inputs as i

COUNT = 10_000 if os.environ.get("TABLECTL_SOAK") else 100


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """A plain round, one with a purchase, one that is cancelled, and one that is still open."""
    session = Session(write_config(tmp_path_factory.mktemp("played"))).open_table()
    session.round().round(FAILS)
    cancelled_round(session)
    session.load()
    session.send(i.VerifyDeck(52))
    session.to_dealing()
    session.deal(3)
    return session


@pytest.fixture(scope="module")
def config(played: Session) -> Path:
    return played.config.path


@pytest.fixture(scope="module")
def key(config: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("auditor") / "rp1.pem"
    path.write_text(public_key(config))
    return path


def public_key(config: Path, *words: str) -> str:
    """Return what `tablectl key` says."""
    told = io.StringIO()
    with redirect_stdout(told):
        assert main(["key", str(config), *words]) == 0
    return told.getvalue()


@pytest.fixture(scope="module")
def keys(config: Path) -> frozenset[str]:
    return frozenset({public_key(config, "--hex").strip()})


@pytest.fixture(scope="module")
def pieces(config: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Piece]:
    """The same past in every form, for both audiences."""
    out = tmp_path_factory.mktemp("out")
    made = []
    for audience in ("audit", "public"):
        for form in ("csv", "jsonl"):
            made += taken_out(config, out / f"{form}.{audience}", "--format", form, "--for", audience)
        bundle = ("--format", "bundle", "--rounds", "3", "--for", audience)
        made += taken_out(config, out / f"bundle.{audience}", *bundle)
    return made


def test_every_form_verifies_elsewhere_with_the_public_key_alone(
    pieces: list[Piece], key: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, piece in enumerate(pieces):
        elsewhere = tmp_path / str(number)
        copy = shutil.copy if piece.is_bundle else shutil.copytree
        copy(piece.path, elsewhere)
        assert main(["verify", str(elsewhere), "--public-key", str(key), "--json"]) == 0
        report = json.loads(capsys.readouterr().out)
        assert report["findings"] == [] and report["by"] == "boris" and report["heads"] > 0
        assert main(["verify", str(elsewhere), "--public-key", str(key)]) == 0
        assert "no difference" in capsys.readouterr().out


def test_evidence_without_a_key_is_not_judged(
    pieces: list[Piece], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", str(pieces[0].path)]) == 2
    assert "--public-key" in capsys.readouterr().err
    no_key = tmp_path / "no.key"
    no_key.write_text("abc")
    assert main(["verify", str(pieces[0].path), "--public-key", str(no_key)]) == 2
    assert "expected an Ed25519 public key" in capsys.readouterr().err


@pytest.mark.parametrize("kind", FORGERIES)
def test_every_forgery_is_found(pieces: list[Piece], keys: frozenset[str], kind: str) -> None:
    for number in range(COUNT):
        piece = pieces[number % len(pieces)]
        forged = FORGERIES[kind](piece.files, random.Random(number))
        assert forged != piece.files, (kind, number)
        assert faults(piece, forged, keys), (kind, number, piece.path)


def test_a_whole_piece_has_no_fault_between_forgeries(pieces: list[Piece], keys: frozenset[str]) -> None:
    assert [list(faults(piece, piece.files, keys)) for piece in pieces] == [[]] * len(pieces)


def test_a_forger_who_signs_everything_anew_is_believed_only_by_who_trusts_his_key(
    pieces: list[Piece],
) -> None:
    """Shows that the forgery is good: with the forger's key there is nothing to find but the edit."""
    for piece in pieces:
        if piece.is_bundle:
            ((name, content),) = piece.files.items()
            forged = {name: bundle_signed(content, FORGER, heads=True)}
            assert list(faults(piece, forged, frozenset({FORGER.public_key}))) == []
        else:
            forged = FORGERIES["signed anew"](piece.files, random.Random(1))
            found = {fault.flaw for fault in faults(piece, forged, frozenset({FORGER.public_key}))}
            assert not found & {Flawed.SIGNATURE, Flawed.HASH}


@pytest.mark.parametrize(
    ("kind", "member", "flaws"),
    [
        ("message", "text", {Flawed.CHAIN, Flawed.SEAL, Flawed.HEAD, Flawed.TOLD}),
        ("head", "signature", {Flawed.SIGNATURE}),
        ("told", "row", {Flawed.TOLD}),
        ("document", "text", {Flawed.DOCUMENT}),
    ],
)
def test_who_holds_the_key_but_signs_no_new_heads_is_found(
    pieces: list[Piece], keys: frozenset[str], played: Session, kind: str, member: str, flaws: set[Flawed]
) -> None:
    own = load_key(played.config.evidence.key)
    for piece in (piece for piece in pieces if piece.is_bundle):
        ((name, content),) = piece.files.items()
        records = [json.loads(line) for line in content.splitlines()]
        numbers = [number for number, record in enumerate(records) if record["record"] == kind]
        for number in random.Random(1).sample(numbers, min(12, len(numbers))):
            forged = json.loads(json.dumps(records))
            if member == "row":
                forged[number]["row"]["roundid"] = "rp1-9"
            else:
                text = forged[number][member]
                forged[number][member] = text[:20] + ("1" if text[20] != "1" else "2") + text[21:]
            resealed = bundle_signed(b"".join(map(line_of, forged)), own, heads=False)
            found = {fault.flaw for fault in faults(piece, {name: resealed}, keys)}
            assert found & (flaws | {Flawed.UNREADABLE}) and Flawed.HASH not in found


@pytest.mark.parametrize("kind", ["message", "head", "told", "document"])
def test_a_record_left_out_by_who_holds_the_key_is_found(
    pieces: list[Piece], keys: frozenset[str], played: Session, kind: str
) -> None:
    own = load_key(played.config.evidence.key)
    for piece in (piece for piece in pieces if piece.is_bundle):
        ((name, content),) = piece.files.items()
        records = [json.loads(line) for line in content.splitlines()]
        numbers = [number for number, record in enumerate(records) if record["record"] == kind]
        for number in random.Random(2).sample(numbers, min(12, len(numbers))):
            left = records[:number] + records[number + 1 :]
            resealed = bundle_signed(b"".join(map(line_of, left)), own, heads=False)
            assert faults(piece, {name: resealed}, keys), (kind, number)


# What is in it, and for whom.


def records_of(piece: Piece) -> list[dict[str, object]]:
    return [json.loads(line) for line in next(iter(piece.files.values())).splitlines()]


def test_a_bundle_holds_what_its_audience_may_know(pieces: list[Piece]) -> None:
    audit, public = (piece for piece in pieces if piece.is_bundle)
    assert {record["stream"] for record in records_of(public) if record["record"] == "message"} == {"public"}
    streams = {record["stream"] for record in records_of(audit) if record["record"] == "message"}
    assert streams == {"public", "betting", "settlement", "audit"}
    heads = [str(record["text"]) for record in records_of(public) if record["record"] == "head"]
    assert len(heads) == 1 and "|public|" in heads[0]
    sheets = {record["sheet"] for record in records_of(public) if record["record"] == "told"}
    assert sheets == {"rounds", "cards", "windows", "incidents"}  # Nobody's presses.
    people = b"".join(next(iter(public.files.values())).splitlines()[1:])
    assert b"anna" not in people and b"clara" not in people


def test_a_bundle_names_presses_by_person_and_the_config_by_hash(
    pieces: list[Piece], played: Session
) -> None:
    audit = next(piece for piece in pieces if piece.is_bundle)
    told = [record for record in records_of(audit) if record["record"] == "told"]
    presses = [record["row"] for record in told if record["sheet"] == "presses"]
    assert any(row["actor"] == "boris" and row["what"] == "confirm_cancel" for row in presses)  # type: ignore[index]
    (config,) = (record for record in records_of(audit) if record["record"] == "config")
    assert len(config["documents"]) == len(played.config.documents)  # type: ignore[arg-type]
    documents = {
        record["hash"]: record["text"] for record in records_of(audit) if record["record"] == "document"
    }
    profile = played.config.settings.profile
    (game,) = (text for name, text in played.config.documents.items() if name.startswith("games/"))
    assert documents == {played.config.rules: game, profile.digest: profile.content}


def test_an_open_round_is_in_no_export(played: Session, pieces: list[Piece], tmp_path: Path) -> None:
    assert played.station.kernel.table.roundid == "rp1-4"
    for piece in pieces:
        for content in piece.files.values():
            assert b"rp1-4" not in content
    words = ["export", str(played.config.path), "--by", "boris", "--out", str(tmp_path / "x")]
    assert main([*words, "--rounds", "4", "--format", "bundle"]) == 2


def test_csv_and_json_lines_say_the_same(pieces: list[Piece]) -> None:
    folders = {piece.path.name: piece for piece in pieces if not piece.is_bundle}
    for audience in ("audit", "public"):
        for sheet in ("rounds", "cards", "windows", "incidents", "presses", "heads"):
            lines = folders[f"jsonl.{audience}"].files[f"{sheet}.jsonl"].splitlines()
            text = folders[f"csv.{audience}"].files[f"{sheet}.csv"].decode()
            rows = list(csv.DictReader(text.splitlines()))
            assert len(rows) == len(lines)
            for row, line in zip(rows, map(json.loads, lines), strict=True):
                plain = {name: str(value) for name, value in line.items() if isinstance(value, str | int)}
                yes_no = {"True": "yes", "False": "no"}
                assert {n: yes_no.get(v, v) for n, v in plain.items()} == {n: row[n] for n in plain}


def test_ranges_by_round_time_and_day(played: Session, tmp_path: Path) -> None:
    def rounds(*words: str) -> list[int]:
        out = tmp_path / str(random.random())
        (piece,) = taken_out(played.config.path, out, *words)
        return [json.loads(line)["round_no"] for line in piece.files["rounds.jsonl"].splitlines()]

    assert rounds() == [1, 2, 3]
    assert rounds("--rounds", "2") == [2]
    assert rounds("--rounds", "2-9") == [2, 3]
    assert rounds("--day", played.journal.stem) == [1, 2, 3]
    with Reader.open(played.journal) as reader:
        _, second, *_ = (step.at_us for step in reader.steps() if round_opened(step) is not None)
    assert rounds("--from", rfc3339(second)) == [2, 3]
    assert rounds("--to", rfc3339(second)) == [1]


def test_who_took_what_out_is_on_record(played: Session, tmp_path: Path) -> None:
    log = EvidenceLog(played.config.table_dir)
    before = len(log.read())
    (piece,) = taken_out(played.config.path, tmp_path / "out", "--rounds", "1-2", "--for", "public")
    *_, entry = log.read()
    assert isinstance(entry, Exported) and len(log.read()) == before + 1
    assert (entry.by, entry.audience, entry.form, entry.rounds) == ("boris", "public", "jsonl", 2)
    assert entry.range == "rounds 1-2" and set(entry.files) == set(piece.files) and entry.login
    assert log.path.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o700


def test_nothing_is_taken_out_when_it_can_not_be_put_on_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = Session(write_config(tmp_path)).open_table().round()
    log = EvidenceLog(session.config.table_dir)
    log.path.write_bytes(log.path.read_bytes()[:-2])
    out = tmp_path / "out"
    assert main(["export", str(session.config.path), "--by", "boris", "--out", str(out)]) == 1
    assert "cut off" in capsys.readouterr().err and not out.exists()
    assert main(["verify", str(session.config.table_dir)]) == 1
    assert "cut off" in capsys.readouterr().out
    session.stop()


def test_an_export_needs_a_round_and_a_new_folder(
    played: Session, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["export", str(played.config.path), "--by", "boris", "--out", str(tmp_path)]
    assert main(words) == 2
    assert "name a new folder" in capsys.readouterr().err
    words[-1] = str(tmp_path / "new")
    assert main([*words, "--rounds", "77"]) == 2
    assert "no ended round in rounds 77-77" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*words, "--rounds", "3-1"])
    assert "such as 12-40" in capsys.readouterr().err


def test_a_journal_and_its_folder_are_exported_like_the_table(played: Session, tmp_path: Path) -> None:
    for number, where in enumerate((played.config.path, played.journal, played.config.table_dir)):
        (piece,) = taken_out(where, tmp_path / str(number))
        assert piece.files["cards.jsonl"] == (tmp_path / "0" / "cards.jsonl").read_bytes()


# The journal itself.


def test_a_journal_is_verified_with_the_public_key(
    played: Session, key: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(played.config.table_dir)
    assert main(["verify", folder, "--public-key", str(key), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["signed"], report["rounds"], report["findings"]) == (3, 3, [])
    other = tmp_path / "other.hex"
    other.write_text(FORGER.public_key)
    assert main(["verify", folder, "--public-key", str(other)]) == 1
    assert "SIGNATURE" in capsys.readouterr().out
    assert main(["verify", folder, "--public-key", str(other), "--public-key", str(key)]) == 0
    assert len(Days(played.config.table_dir).paths()) == 1
