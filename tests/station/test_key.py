"""A table's signing key: drawn once, shown to anybody, and never another one in silence."""

from __future__ import annotations

from pathlib import Path

import pytest
from station.recorded import DAY_US, NOON, Session, write_config

from controller.cli import main
from controller.journal import Reader
from controller.journal.signing import create_key, load_key, read_public_key
from controller.station.config import load
from controller.station.errors import ConfigError, StartRefused
from controller.station.evidence_log import EvidenceDamaged, EvidenceLog, KeyBegun


@pytest.fixture
def played(tmp_path: Path) -> Session:
    session = Session(write_config(tmp_path)).open_table().round()
    session.stop()
    return session


def log_of(session: Session) -> EvidenceLog:
    return EvidenceLog(session.config.table_dir)


def test_the_first_start_draws_the_key_and_the_next_ones_keep_it(played: Session) -> None:
    path = played.config.evidence.key
    assert path == played.config.table_dir / "evidence.key"
    assert path.stat().st_mode & 0o777 == 0o600
    first = load_key(path).public_key
    assert log_of(played).read() == (KeyBegun(at_us=NOON, public_key=first),)
    again = Session(played.config.path, NOON + DAY_US, first_key=500).bring_up().round()
    again.stop()
    assert load_key(path).public_key == first and len(log_of(played).read()) == 1
    with Reader.open(played.journal) as reader:
        assert {signatures.public_key for _, signatures in reader.signatures()} == {first}


def test_the_public_key_is_shown_as_pem_and_as_hex(
    played: Session, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in ((), ("--hex",)):
        assert main(["key", str(played.config.path), *words]) == 0
        path = tmp_path / "public"
        path.write_text(capsys.readouterr().out)
        assert read_public_key(path) == load_key(played.config.evidence.key).public_key
    assert "PRIVATE" not in path.read_text()


def test_a_table_that_never_started_has_no_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["key", str(write_config(tmp_path))]) == 1
    assert "first start draws one" in capsys.readouterr().err


def test_a_key_of_the_table_file(tmp_path: Path) -> None:
    path = write_config(tmp_path)
    path.write_text(path.read_text() + '\n[evidence]\nkey = "../keys/rp1.key"\n')
    session = Session(path).open_table().round()
    session.stop()
    assert session.config.evidence.key == tmp_path / "keys" / "rp1.key"
    assert (tmp_path / "keys" / "rp1.key").is_file() and (tmp_path / "keys").stat().st_mode & 0o777 == 0o700
    assert not (session.config.table_dir / "evidence.key").exists()


@pytest.mark.parametrize("line", ["retention_days = 0", 'retention_day = "x"', "key = 5"])
def test_a_wrong_section_is_refused(tmp_path: Path, line: str) -> None:
    path = write_config(tmp_path)
    path.write_text(f"{path.read_text()}\n[evidence]\n{line}\n")
    with pytest.raises(ConfigError, match="evidence"):
        load(path)


def test_a_start_without_the_key_or_with_another_one_is_refused(played: Session) -> None:
    path = played.config.evidence.key
    own = path.read_bytes()
    path.unlink()
    with pytest.raises(StartRefused, match=r"can't be read.*put its safe copy back"):
        Session(played.config.path, NOON + DAY_US)
    assert not path.exists(), "no key is drawn in silence"
    create_key(path)
    with pytest.raises(StartRefused, match=r"which .*evidence\.jsonl names"):
        Session(played.config.path, NOON + DAY_US)
    path.write_bytes(own)
    Session(played.config.path, NOON + DAY_US).bring_up().stop()


def test_a_key_without_an_entry_is_taken_and_noted(played: Session) -> None:
    """The process may die between the two."""
    log_of(played).path.unlink()
    Session(played.config.path, NOON + DAY_US).bring_up().stop()
    assert log_of(played).public_key() == load_key(played.config.evidence.key).public_key


def test_a_damaged_log_refuses_the_start_and_says_what_to_do(played: Session) -> None:
    path = log_of(played).path
    path.write_bytes(path.read_bytes().replace(b'"key"', b'"kex"'))
    with pytest.raises(EvidenceDamaged, match=r"line 1 is no evidence.*keep .* aside"):
        Session(played.config.path, NOON + DAY_US)


def test_a_person_begins_a_new_key_and_both_prove_the_past(
    played: Session, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = str(played.config.path)
    keys = [tmp_path / "old.pem", tmp_path / "new.pem"]
    for path, words in zip(keys, ([], ["--new", "--by", "boris", "--reason", "lent out"]), strict=True):
        assert main(["key", config, *words]) == 0
        path.write_text(capsys.readouterr().out)
    *_, entry = log_of(played).read()
    assert isinstance(entry, KeyBegun) and (entry.by, entry.reason) == ("boris", "lent out")
    kept = {load_key(path).public_key for path in played.config.table_dir.glob("evidence*.key")}
    assert kept == {read_public_key(path) for path in keys}
    session = Session(played.config.path, NOON + DAY_US, first_key=500).bring_up().round()
    session.stop()
    folder = str(played.config.table_dir)
    old, new = (["--public-key", str(path)] for path in keys)
    assert main(["verify", folder, *old]) == main(["verify", folder, *new]) == 1
    assert main(["verify", folder, *old, *new]) == 0
    capsys.readouterr()


def test_a_new_key_needs_a_name_and_a_reason_and_a_table_at_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = Session(write_config(tmp_path)).open_table()
    config = str(session.config.path)
    for words in (["--new"], ["--new", "--by", "boris"], ["--by", "boris", "--reason", "why"]):
        assert main(["key", config, *words]) == 2
    before = session.config.evidence.key.read_bytes()
    assert main(["key", config, "--new", "--by", "boris", "--reason", "why"]) == 1
    assert "writes this journal" in capsys.readouterr().err
    assert session.config.evidence.key.read_bytes() == before
    session.stop()
