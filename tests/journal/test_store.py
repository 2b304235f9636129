"""The writer: exact bytes back, one writer, and one file a day that follows the day before."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from journal.feed import AUDIENCES, DOCUMENT, Feed, write, written

from controller.journal import (
    ZERO_HASH,
    AudienceHead,
    Heads,
    Journal,
    JournalDamaged,
    JournalError,
    JournalInUse,
    Reader,
    verify,
)
from controller.journal.records import BODY_BYTES_MAX, MESSAGE_BYTES_MAX


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "2026-11-30.journal"


@pytest.fixture
def journal(path: Path) -> Iterator[Journal]:
    with Journal.open(path, audiences=AUDIENCES) as journal:
        yield journal


def side_files(path: Path) -> set[str]:
    return {file.name.removeprefix(path.name) for file in path.parent.iterdir()}


# -- steps ---------------------------------------------------------------------------------------------


def test_what_was_appended_comes_back_to_the_byte(journal: Journal) -> None:
    feed = Feed()
    message = feed.message("public", 'é 👑 \\u00e9 "quoted" \x00')
    spaced = b'{ "seq" : 1,\n "epoch": 1, "prevhash":"%s", "odds": 1e2, "data": 1.50 }' % ZERO_HASH.encode()
    n = journal.append(
        at_us=7,
        input=b'{"z":1, "a" : [1.0,2]}',
        events=b'[ {"b":1} ,\n{"a":1e3}]',
        messages={"public": [message], "audit": [spaced], "betting": []},
        carried=b"\x00 any bytes",
    )
    step = journal.reader.step(n)
    assert (step.n, step.at_us) == (1, 7)
    assert step.input == b'{"z":1, "a" : [1.0,2]}'
    assert step.events == (b'{"b":1}', b'{"a":1e3}')
    assert step.messages == {"public": (message,), "audit": (spaced,)}
    assert step.first_seq == {"public": 1, "betting": 1, "settlement": 1, "audit": 1}
    assert journal.reader.last_carried() == (1, b"\x00 any bytes")
    assert journal.reader.messages("audit", 1, 10) == [(1, spaced)]


def test_a_step_may_have_no_events_and_no_messages(journal: Journal) -> None:
    n = journal.append(at_us=1, input=b"null", events=b"[]", messages={})
    step = journal.reader.step(n)
    assert (step.input, step.events, step.messages, step.carried) == (b"null", (), {}, None)


def test_going_on_after_a_restart_is_going_on(path: Path, tmp_path: Path) -> None:
    ends = written(tmp_path / "in one go.journal", 25)
    feed = Feed()
    for count in (1, 9, 15):
        with Journal.open(path, audiences=AUDIENCES) as journal:
            list(write(journal, feed, count))
    with Reader.open(path) as again, Reader.open(tmp_path / "in one go.journal") as reader:
        assert list(again.steps()) == list(reader.steps())
        assert again.heads() == ends


def test_a_document_is_kept_once_with_the_step_that_uses_it(journal: Journal, path: Path) -> None:
    document_hash = journal.add_document(DOCUMENT)
    with Reader.open(path) as reader:
        with pytest.raises(KeyError):
            reader.document(document_hash)
        feed = Feed()
        journal.append(**feed.step(1))
        assert reader.document(document_hash) == DOCUMENT
        assert journal.add_document(DOCUMENT) == document_hash
        journal.append(**feed.step(2))
        assert [step.documents for step in reader.steps()] == [(document_hash,), ()]


def test_a_kept_document_is_known_after_a_restart(path: Path) -> None:
    written(path, 2)
    with Journal.open(path, audiences=AUDIENCES) as journal:
        journal.add_document(DOCUMENT)
        journal.append(at_us=1 << 40, input=b"1", events=b"[]", messages={})
        assert journal.reader.step(3).documents == ()


# -- bugs of the caller are assertions, and leave the journal as it was ----------------------------------


def wrong(name: str, feed: Feed) -> dict[str, Any]:
    step = feed.step(2)
    match name:
        case "time stands":
            step["at_us"] = 1_001
        case "seq skipped":
            feed.message("audit", "unsent")
            step["messages"]["audit"].append(feed.message("audit", "after it"))
        case "seq repeated":
            step["messages"]["audit"] *= 2
        case "prevhash of another message":
            step["messages"]["audit"][0] = step["messages"]["audit"][0].replace(
                b'"prevhash":"', b'"prevhash":"0'
            )
        case "epoch falls":
            feed.epoch = 0
            step["messages"]["audit"].append(feed.message("audit", "old"))
        case "message too long":
            feed.padding = MESSAGE_BYTES_MAX
            step["messages"]["audit"].append(feed.message("audit", "long"))
        case "step too long":
            step["input"] = b'"%s"' % (b"x" * BODY_BYTES_MAX)
        case "blanks around the input":
            step["input"] = b'{"a":1} '
        case "blanks around a message":
            step["messages"]["audit"][1] += b"\n"
    return step


WRONG = {
    "time stands": "step at 1001 us after one at 1001 us",
    "seq skipped": "audit: seq 6 after 4",
    "seq repeated": "audit: seq 3 after 4",
    "prevhash of another message": "audit/3: prevhash of another message",
    "epoch falls": "audit/5: epoch 0 after 1",
    "message too long": "audit: a message of",
    "step too long": "a step of",
    "blanks around the input": "blanks around",
    "blanks around a message": "audit: blanks around",
}


@pytest.mark.parametrize("name", WRONG)
def test_a_step_that_does_not_follow_is_an_assertion(journal: Journal, name: str) -> None:
    journal.append(**Feed().step(1))
    feed = Feed()
    feed.step(1)
    with pytest.raises(AssertionError, match=WRONG[name]):
        journal.append(**wrong(name, feed))
    feed = Feed()
    feed.step(1)
    assert journal.append(**feed.step(2)) == 2


# -- files -----------------------------------------------------------------------------------------------


def test_all_files_are_private(journal: Journal, path: Path) -> None:
    journal.append(**Feed().step(1))
    assert side_files(path) == {"", "-wal", "-shm", ".lock"}
    for file in path.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


def test_a_file_that_others_could_read_is_made_private(path: Path) -> None:
    path.touch(mode=0o644)
    Journal.open(path, audiences=AUDIENCES).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_checkpoint_says_when_a_reader_holds_it_back(journal: Journal, path: Path) -> None:
    feed = Feed()
    journal.append(**feed.step(1))
    with apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY) as other:
        other.execute("SELECT max(n) FROM steps").fetchall()
        journal.append(**feed.step(2))
        assert not journal.checkpoint()
    other.close()
    assert journal.checkpoint()


def test_a_closed_journal_is_one_file(path: Path) -> None:
    written(path, 3)
    assert side_files(path) == {"", ".lock"}


def test_the_log_starts_over_after_a_checkpoint(journal: Journal, path: Path) -> None:
    """Else it would grow for a day: nothing else copies it into the file."""
    log = path.with_name(path.name + "-wal")
    feed = Feed()
    list(write(journal, feed, 10))
    after_one_round = log.stat().st_size
    list(write(journal, feed, 90))
    assert log.stat().st_size < 2 * after_one_round


def test_a_second_writer_is_told_who_has_the_file(journal: Journal, path: Path) -> None:
    script = f"""
from pathlib import Path
from controller.journal import Journal
Journal.open(Path({str(path)!r}), audiences={AUDIENCES!r})
"""
    second = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert second.returncode == 1
    message = second.stderr.splitlines()[-1]
    assert message.startswith("controller.journal.errors.JournalInUse: ")
    assert str(path) in message
    assert f"process {os.getpid()} writes this journal" in message
    journal.append(**Feed().step(1))


def test_a_second_writer_in_the_same_process_is_refused_too(journal: Journal, path: Path) -> None:
    with pytest.raises(JournalInUse):
        Journal.open(path, audiences=AUDIENCES)
    journal.append(**Feed().step(1))


def test_the_lock_goes_with_the_writer(path: Path) -> None:
    for _ in range(2):
        Journal.open(path, audiences=AUDIENCES).close()


def test_a_refused_open_gives_the_lock_back(path: Path) -> None:
    path.write_bytes(b"not a journal at all" * 100)
    for _ in range(2):
        with pytest.raises(JournalDamaged, match="file is not a database"):
            Journal.open(path, audiences=AUDIENCES)


def test_another_programs_database_is_left_alone(path: Path) -> None:
    with apsw.Connection(str(path)) as other:
        other.execute("CREATE TABLE steps (n)")
    other.close()
    with pytest.raises(JournalDamaged, match="not a journal"):
        Journal.open(path, audiences=AUDIENCES)


def test_a_journal_of_another_schema_version_is_refused(path: Path) -> None:
    written(path, 1)
    with apsw.Connection(str(path)) as other:
        other.pragma("user_version", 99)
    other.close()
    with pytest.raises(JournalDamaged, match="journal schema 99"):
        Reader.open(path)


def test_a_file_created_but_never_begun_is_begun(path: Path) -> None:
    path.touch()
    with pytest.raises(JournalDamaged, match="never begun"):
        Reader.open(path)
    with Journal.open(path, audiences=AUDIENCES) as journal:
        assert journal.heads().audiences == Heads.of_nothing(AUDIENCES).audiences


def test_a_missing_folder_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=r"No such file or directory.*check folder and disk"):
        Journal.open(tmp_path / "nowhere" / "day.journal", audiences=AUDIENCES)


# -- days ------------------------------------------------------------------------------------------------


def test_a_day_begins_where_the_day_before_ended(tmp_path: Path) -> None:
    first, second = tmp_path / "1.journal", tmp_path / "2.journal"
    ends = written(first, 23)
    with Journal.open(second, audiences=AUDIENCES, heads=ends) as journal:
        assert journal.last_n == 0
        assert journal.reader.opening == ends
        feed = Feed(ends, epoch=2)
        list(write(journal, feed, 12))
        assert journal.heads().epoch == 2
        assert journal.heads() == journal.reader.heads()
        with pytest.raises(AssertionError, match="earlier file"):
            journal.reader.messages("audit", ends.audiences["audit"].seq, 1)
    assert list(verify(first, ends=ends)) == []
    assert list(verify(second)) == []


def test_a_day_without_a_step_passes_the_numbers_on(tmp_path: Path) -> None:
    ends = written(tmp_path / "1.journal", 5)
    with Journal.open(tmp_path / "2.journal", audiences=AUDIENCES, heads=ends) as journal:
        passed_on = journal.heads()
        assert passed_on == journal.reader.heads()
    assert passed_on.audiences == ends.audiences
    assert passed_on.chain != ends.chain, "the first record is in the chain"


def test_time_rises_from_one_day_to_the_next(tmp_path: Path) -> None:
    ends = written(tmp_path / "1.journal", 5)
    with (
        Journal.open(tmp_path / "2.journal", audiences=AUDIENCES, heads=ends) as journal,
        pytest.raises(AssertionError),
    ):
        journal.append(at_us=ends.at_us, input=b"1", events=b"[]", messages={})


def test_a_file_that_follows_another_day_is_refused(tmp_path: Path) -> None:
    ends = written(tmp_path / "1.journal", 5)
    Journal.open(tmp_path / "2.journal", audiences=AUDIENCES, heads=ends).close()
    other = Heads(ends.chain[::-1], ends.epoch, ends.at_us, ends.audiences)
    with pytest.raises(JournalDamaged, match="another day or table"):
        Journal.open(tmp_path / "2.journal", audiences=AUDIENCES, heads=other)


def test_a_file_with_other_audiences_is_refused(path: Path) -> None:
    written(path, 1)
    with pytest.raises(JournalDamaged, match="begin a new file"):
        Journal.open(path, audiences=("public", "audit"))


def test_the_head_of_an_audience_is_its_last_message(journal: Journal) -> None:
    feed = Feed()
    list(write(journal, feed, 12))
    assert journal.heads().audiences == {name: AudienceHead(*end) for name, end in feed.ends.items()}
    assert journal.reader.heads() == journal.heads()
