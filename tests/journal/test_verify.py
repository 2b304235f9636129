"""Verify finds every single change of a file, and says where the first one is."""

from __future__ import annotations

import random
from pathlib import Path

import apsw
import pytest
from journal.feed import AUDIENCES, Feed, write, written

from controller.journal import Flaw, Heads, Journal, JournalError, verify
from controller.journal.records import chain_after

STEP_COUNT = 40


def replaced(old: str, new: str, n: int) -> str:
    """SQL that puts other bytes into the body of step `n`."""
    return (
        f"UPDATE steps SET body = CAST(replace(CAST(body AS TEXT), '{old}', '{new}') AS BLOB) WHERE n = {n}"
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "day.journal"


@pytest.fixture
def ends(path: Path) -> Heads:
    return written(path, STEP_COUNT)


def test_a_whole_file_has_no_findings(path: Path, ends: Heads) -> None:
    seen: list[tuple[int, int]] = []
    assert list(verify(path, ends=ends, progress=lambda n, total: seen.append((n, total)))) == []
    assert seen == [(n, STEP_COUNT) for n in range(1, STEP_COUNT + 1)]


EDITS = {
    "a card in an input": (
        replaced("1007", "1008", 7),
        [(Flaw.CHAIN, 7)],
    ),
    "a message": (
        replaced("card 7x", "card 8x", 7),
        [(Flaw.CHAIN, 7), (Flaw.PREVHASH, 8)],
    ),
    "the last message": (
        replaced("event 40", "event 41", 40),
        [(Flaw.CHAIN, 40)],
    ),
    "a row deleted": ("DELETE FROM steps WHERE n = 7", [(Flaw.STEP, 8), (Flaw.CHAIN, 8)]),
    "two rows swapped": (
        "UPDATE steps SET n = -n WHERE n IN (7, 8); UPDATE steps SET n = 15 + n WHERE n IN (-7, -8)",
        [(Flaw.CHAIN, 7)],
    ),
    "a row deleted and the others moved up": (
        "DELETE FROM steps WHERE n = 7; UPDATE steps SET n = -n WHERE n > 7;"
        "UPDATE steps SET n = -n - 1 WHERE n < 0",
        [(Flaw.CHAIN, 7), (Flaw.COLUMN, 7)],
    ),
    "a row put in before all": (
        "INSERT INTO steps SELECT -5, 0, 1, 1, 1, 1, '', x'7b7d'",
        [(Flaw.FIRST_RECORD, None)],
    ),
    "a row put in behind all": (
        "INSERT INTO steps SELECT 41, at_us, 1, 1, 1, 1, chain, body FROM steps WHERE n = 40",
        [(Flaw.CHAIN, 41)],
    ),
    "the first record deleted": ("DELETE FROM steps WHERE n = 0", [(Flaw.FIRST_RECORD, None)]),
    "the first record": (
        replaced('"epoch":0', '"epoch":1', 0),
        [(Flaw.CHAIN, 0)],
    ),
    "a time": ("UPDATE steps SET at_us = at_us + 1 WHERE n = 7", [(Flaw.COLUMN, 7)]),
    "the first record's time": ("UPDATE steps SET at_us = 1 WHERE n = 0", [(Flaw.COLUMN, 0)]),
    "a first number": ("UPDATE steps SET first_audit = first_audit + 1 WHERE n = 7", [(Flaw.COLUMN, 7)]),
    "a chain hash": ("UPDATE steps SET chain = upper(chain) WHERE n = 7", [(Flaw.CHAIN, 7), (Flaw.CHAIN, 8)]),
    "a body that is none": (
        "UPDATE steps SET body = x'00' WHERE n = 7",
        [(Flaw.CHAIN, 7), (Flaw.UNREADABLE, 7)],
    ),
    "a carried record": ("UPDATE carried SET body = x'00' WHERE n = 20", [(Flaw.CARRIED, 20)]),
    "a carried record deleted": ("DELETE FROM carried WHERE n = 20", [(Flaw.CARRIED, 20)]),
    "a carried record put in": ("INSERT INTO carried VALUES (21, x'00')", [(Flaw.CARRIED, 21)]),
    "a document": ("UPDATE documents SET text = text || '#'", [(Flaw.DOCUMENT, 1)]),
    "a document deleted": ("DELETE FROM documents", [(Flaw.DOCUMENT, 1)]),
    "a document put in": ("INSERT INTO documents VALUES ('aa', 'b')", [(Flaw.DOCUMENT, None)]),
    "the last row deleted": (
        "DELETE FROM steps WHERE n = 40; DELETE FROM carried WHERE n = 40",
        [(Flaw.END, 39), (Flaw.END, 39)],
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_found_where_it_stands(path: Path, ends: Heads, name: str) -> None:
    edit, expected = EDITS[name]
    with apsw.Connection(str(path)) as other:
        other.execute(edit)
        assert other.total_changes() > 0
    other.close()
    found = [(finding.flaw, finding.n) for finding in verify(path, ends=ends)]
    assert found[: len(expected)] == expected


def test_only_who_knows_the_end_can_tell_that_it_was_cut_off(path: Path, ends: Heads) -> None:
    with apsw.Connection(str(path)) as other:
        other.execute("DELETE FROM steps WHERE n > 38; DELETE FROM carried WHERE n > 38")
    other.close()
    assert list(verify(path)) == []
    assert {finding.where for finding in verify(path, ends=ends)} == {"chain", "at_us", *AUDIENCES}


def test_a_rewritten_chain_is_found_by_the_messages_and_by_the_end(path: Path, ends: Heads) -> None:
    """Whoever edits a row and computes all chain hashes anew still has the consumers against him."""
    with apsw.Connection(str(path)) as other:
        other.execute(replaced("card 7x", "card 8x", 7))
        rows = other.execute("SELECT n, body, chain FROM steps ORDER BY n").fetchall()
        chain = rows[0][2]
        for n, body, _ in rows[1:]:
            chain = chain_after(chain, body)
            other.execute("UPDATE steps SET chain = ? WHERE n = ?", (chain, n))
    other.close()
    findings = [(finding.flaw, finding.where) for finding in verify(path, ends=ends)]
    assert findings == [(Flaw.PREVHASH, "public/6"), (Flaw.END, "chain")]


@pytest.mark.parametrize("seed", range(30))
def test_a_changed_byte_of_a_row_is_found(path: Path, ends: Heads, seed: int) -> None:
    """Any byte of any step's body, changed in the file itself."""
    chance = random.Random(seed)
    content = bytearray(path.read_bytes())
    # Where a page was split, dead copies of its rows stay behind; a row found once is the living one.
    heads = [b'{"n":%d,' % n for n in range(1, STEP_COUNT + 1)]
    starts = [content.index(head) for head in heads if content.count(head) == 1]
    assert len(starts) > STEP_COUNT // 2
    at = chance.choice(starts) + chance.randrange(150)
    content[at] ^= 1 << chance.randrange(8)
    path.write_bytes(content)
    assert list(verify(path, ends=ends)) != []


@pytest.mark.parametrize("part", [0, 50, 4096, 0.3, 0.7, 0.99])
def test_a_truncated_file_is_found(path: Path, ends: Heads, part: float) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * part) if 0 < part < 1 else int(part)])
    assert list(verify(path, ends=ends)) != []


def test_a_live_file_is_verified_up_to_the_step_it_had(path: Path) -> None:
    with Journal.open(path, audiences=AUDIENCES) as journal:
        feed = Feed()
        list(write(journal, feed, 20))
        seen = []

        def go_on(n: int, total: int) -> None:
            seen.append((n, total))
            list(write(journal, feed, 1))

        assert list(verify(path, progress=go_on)) == []
        assert seen == [(n, 20) for n in range(1, 21)]
        assert journal.last_n == 40


def test_no_such_file(path: Path) -> None:
    with pytest.raises(JournalError, match="no such journal"):
        list(verify(path))


def test_a_finding_says_where_and_what(path: Path, ends: Heads) -> None:
    with apsw.Connection(str(path)) as other:
        other.execute("UPDATE steps SET first_audit = 99 WHERE n = 7")
    other.close()
    assert [str(finding) for finding in verify(path)] == ["COLUMN step 7 first_audit: expected 13, got 99"]
