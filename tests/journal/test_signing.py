"""Signatures: one line of text, one key, the same bytes each time; and a journal that carries them."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from journal.feed import AUDIENCES, ROUND_STEPS, Feed

from controller.journal import AudienceHead, Finding, Flaw, Journal, Reader, verify
from controller.journal.signing import (
    Closing,
    KeyUnusable,
    Point,
    Signed,
    Signer,
    create_key,
    decode_signatures,
    holds,
    load_key,
    public_pem,
    read_head,
    read_public_key,
)

TABLE = ("rp1", "live")
OWN = Signer(Ed25519PrivateKey.from_private_bytes(bytes(range(32))))
OTHER = Signer(Ed25519PrivateKey.from_private_bytes(bytes(32)))
ROUNDS = 4


def test_the_text_and_its_signature_are_fixed() -> None:
    """RFC 8032 signatures are a function of key and text: recorded once, they must never change."""
    closing = Closing("rp1-17", 1, {"public": AudienceHead(381, "9f" * 32)})
    raw = OWN.heads(*TABLE, closing)(Point("2026-11-30.journal", 57, 1764504000000000, "41" * 32))
    stream, journal = decode_signatures(raw).heads
    begins = "tablectl:head:1|rp1|live|rp1-17|1|1764504000000000"
    assert stream.text == f"{begins}|public|381|{'9f' * 32}"
    assert journal.text == f"{begins}|journal|2026-11-30.journal:57|{'41' * 32}"
    assert raw == OWN.heads(*TABLE, closing)(Point("2026-11-30.journal", 57, 1764504000000000, "41" * 32))
    assert OWN.public_key == "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8"
    head = read_head(journal.text)
    assert (head.table, head.roundid, head.rev, head.stream) == ("rp1", "rp1-17", 1, "journal")
    assert (head.where, head.at_us) == ("2026-11-30.journal:57", 1764504000000000)


@pytest.mark.parametrize(
    "text", ["", "tablectl:head:1", "x" * 99, "|" * 8, "tablectl:head:2|a|b|c|1|1|d|1|e"]
)
def test_another_text_is_no_head(text: str) -> None:
    with pytest.raises(ValueError, match="expected 9 fields"):
        read_head(text)


@pytest.mark.parametrize("rev", ["01", " 1", "+1", "1_0"])
def test_a_number_has_one_spelling(rev: str) -> None:
    with pytest.raises(ValueError, match="written plainly"):
        read_head(f"tablectl:head:1|rp1|live|rp1-17|{rev}|5|public|1|ab")


def test_a_signature_holds_for_its_text_and_key_alone() -> None:
    signed = OWN.sign("a line")
    assert holds(OWN.public_key, signed)
    assert not holds(OTHER.public_key, signed)
    assert not holds(OWN.public_key, Signed("a linE", signed.signature))
    for at in range(128):
        other = "0" if signed.signature[at] != "0" else "1"
        changed = signed.signature[:at] + other + signed.signature[at + 1 :]
        assert not holds(OWN.public_key, Signed("a line", changed))
    for broken in ("", "zz", signed.signature[:-2], signed.signature.upper(), signed.signature + " "):
        assert not holds(OWN.public_key, Signed("a line", broken))
    assert not holds("no key", signed) and not holds(OWN.public_key, Signed("a läne", signed.signature))


def test_a_key_is_kept_with_mode_0600_and_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "run" / "rp1" / "evidence.key"
    made = create_key(path)
    assert path.stat().st_mode & 0o777 == 0o600 and list(path.parent.iterdir()) == [path]
    assert load_key(path).public_key == made.public_key != create_key(tmp_path / "b.key").public_key


def test_an_unusable_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "evidence.key"
    with pytest.raises(KeyUnusable, match="can't be read"):
        load_key(path)
    create_key(path)
    path.chmod(0o640)
    with pytest.raises(KeyUnusable, match="expected mode 0600"):
        load_key(path)
    path.write_text("-----BEGIN PRIVATE KEY-----")
    path.chmod(0o600)
    with pytest.raises(KeyUnusable, match="expected an Ed25519 key"):
        load_key(path)


@pytest.mark.parametrize("written", [public_pem, lambda key: key, lambda key: f"{key}\n"])
def test_a_public_key_is_read_as_pem_and_as_hex(tmp_path: Path, written: Callable[[str], str]) -> None:
    path = tmp_path / "key"
    path.write_text(written(OWN.public_key))
    assert read_public_key(path) == OWN.public_key


@pytest.mark.parametrize("content", [b"", b"ab" * 31, b"\xff", b"-----BEGIN PUBLIC KEY-----\nab\n"])
def test_what_is_no_public_key(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "key"
    path.write_bytes(content)
    with pytest.raises(KeyUnusable, match="expected an Ed25519 public key"):
        read_public_key(path)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl on this machine")
def test_another_tool_checks_a_signature(tmp_path: Path) -> None:
    """An auditor needs openssl and nothing of ours."""
    signed = OWN.sign("tablectl:head:1|rp1|live|rp1-17|1|5|public|1|ab")
    for name, content in (
        ("text", signed.text.encode()),
        ("signature", bytes.fromhex(signed.signature)),
        ("key.pem", public_pem(OWN.public_key).encode()),
    ):
        (tmp_path / name).write_bytes(content)
    words = [
        "openssl",
        "pkeyutl",
        "-verify",
        "-pubin",
        "-inkey",
        "key.pem",
        "-rawin",
        "-in",
        "text",
        "-sigfile",
        "signature",
    ]
    assert subprocess.run(words, cwd=tmp_path, capture_output=True, check=False).returncode == 0
    (tmp_path / "text").write_bytes(b"another")
    assert subprocess.run(words, cwd=tmp_path, capture_output=True, check=False).returncode != 0


# In a journal.


def written(path: Path) -> None:
    """A journal of four rounds, each signed in its last step, whose events close it."""
    feed = Feed()
    with Journal.open(path, audiences=AUDIENCES) as journal:
        for n in range(1, ROUNDS * ROUND_STEPS + 1):
            step: dict[str, Any] = feed.step(n)
            if n % ROUND_STEPS == 0:
                for audience in ("public", "betting"):
                    step["messages"][audience] = [
                        *step["messages"][audience],
                        feed.message(audience, f"closed {n}"),
                    ]
                streams = {audience: AudienceHead(*feed.ends[audience]) for audience in AUDIENCES}
                step["sign"] = OWN.heads(*TABLE, Closing(f"rp1-{n // ROUND_STEPS}", 1, streams))
                step["events"] = b'[{"event":"round.closed","rev":1}]'
            journal.append(**step)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "2026-11-30.journal"
    written(path)
    return path


def changed(path: Path, sql: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(sql)
    connection.close()


def found(path: Path, *keys: str) -> list[Finding]:
    return list(verify(path, public_keys=frozenset(keys)))


def test_signatures_are_in_the_transaction_of_their_step_and_outside_the_chain(
    path: Path, tmp_path: Path
) -> None:
    with Reader.open(path) as reader:
        assert [n for n, _ in reader.signatures()] == [10, 20, 30, 40]
        chain = reader.heads().chain
    assert found(path, OWN.public_key) == found(path) == []
    changed(path, "DROP TABLE signatures")
    with Reader.open(path) as reader:
        assert reader.heads().chain == chain and list(reader.signatures()) == []


def test_a_journal_without_signatures_is_whole_but_for_whoever_has_a_key(path: Path) -> None:
    changed(path, "DROP TABLE signatures")
    assert found(path) == []
    assert [one.n for one in found(path, OWN.public_key)] == [10, 20, 30, 40]


@pytest.mark.parametrize("n", [20, 30, 40])
def test_signatures_taken_away_are_missed_without_a_key_too(path: Path, n: int) -> None:
    changed(path, f"DELETE FROM signatures WHERE n = {n}")
    assert [(one.flaw, one.n) for one in found(path)] == [(Flaw.SIGNATURE, n)]


def test_signatures_of_another_step_are_found(path: Path) -> None:
    changed(path, "UPDATE signatures SET n = 25 WHERE n = 20")
    flaws = {(one.flaw, one.n) for one in found(path)}
    assert flaws == {(Flaw.SIGNATURE, 20), (Flaw.SIGNATURE, 25)}


def test_signatures_of_a_step_that_is_not_there_are_found(path: Path) -> None:
    changed(path, "INSERT INTO signatures SELECT 99, body FROM signatures WHERE n = 20")
    assert [(one.flaw, one.n) for one in found(path)] == [(Flaw.SIGNATURE, 99)]


def test_every_changed_character_of_signatures_is_found(path: Path) -> None:
    connection = apsw.Connection(str(path))
    ((body,),) = connection.execute("SELECT body FROM signatures WHERE n = 20").fetchall()
    text = body.decode()
    for at in range(0, len(text), 7):
        other = "0" if text[at] != "0" else "1"
        forged = (text[:at] + other + text[at + 1 :]).encode()
        connection.execute("UPDATE signatures SET body = ? WHERE n = 20", (forged,))
        assert {one.n for one in found(path)} == {20}, text[at : at + 20]
    connection.close()


def test_a_journal_that_was_signed_anew_is_found_by_its_key(path: Path) -> None:
    connection = apsw.Connection(str(path))
    for n, body in connection.execute("SELECT n, body FROM signatures").fetchall():
        signatures = json.loads(body)
        signatures["public_key"] = OTHER.public_key
        for head in signatures["heads"]:
            head["signature"] = OTHER.sign(head["text"]).signature
        connection.execute("UPDATE signatures SET body = ? WHERE n = ?", (json.dumps(signatures).encode(), n))
    connection.close()
    assert found(path) == [] and found(path, OTHER.public_key) == []
    assert {one.n for one in found(path, OWN.public_key)} == {10, 20, 30, 40}
    assert found(path, OWN.public_key, OTHER.public_key) == []


def test_a_renamed_day_is_found(path: Path) -> None:
    renamed = path.rename(path.with_name("2026-12-01.journal"))
    assert {(one.flaw, one.n) for one in found(renamed)} == {(Flaw.SIGNATURE, n) for n in (10, 20, 30, 40)}


def test_a_journal_of_an_older_program_gets_its_table_and_is_signed_from_then_on(path: Path) -> None:
    changed(path, "DROP TABLE signatures")
    with Journal.open(path, audiences=AUDIENCES) as journal:
        feed = Feed(journal.heads())
        step = feed.step(41)
        streams = {name: AudienceHead(*feed.ends[name]) for name in AUDIENCES}
        journal.append(**step, sign=OWN.heads(*TABLE, Closing("rp1-5", 1, streams)))
        with Reader.open(path) as reader:
            assert [n for n, _ in reader.signatures()] == [41]
