"""Readers: a live file, messages by number, pages, carried records."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from journal.feed import AUDIENCES, Feed, write, written

from controller.journal import Journal, JournalDamaged, JournalError, Reader

STEP_COUNT = 150


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reader") / "day.journal"
    written(path, STEP_COUNT)
    return path


@pytest.fixture
def reader(path: Path) -> Iterator[Reader]:
    with Reader.open(path) as reader:
        yield reader


def sent(audience: str) -> list[tuple[int, bytes]]:
    feed = Feed()
    steps = [feed.step(n) for n in range(1, STEP_COUNT + 1)]
    messages = [message for step in steps for message in step["messages"].get(audience, [])]
    return list(enumerate(messages, 1))


@pytest.mark.parametrize("audience", AUDIENCES)
@pytest.mark.parametrize("limit", [1, 7, 1000])
def test_messages_from_every_number_on(reader: Reader, audience: str, limit: int) -> None:
    """Each audience has its own gaps between steps: none, one or two messages, one in ten steps."""
    everything = sent(audience)
    for first_seq in range(1, len(everything) + 3):
        assert (
            reader.messages(audience, first_seq, limit) == everything[first_seq - 1 : first_seq - 1 + limit]
        )


def test_an_empty_journal_has_no_messages(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "day.journal", audiences=AUDIENCES) as journal:
        assert journal.reader.messages("public", 1, 10) == []
        assert list(journal.reader.steps()) == []
        assert journal.reader.last_carried() is None
        assert journal.reader.last_n == 0


def test_steps_after_a_step(reader: Reader) -> None:
    assert [step.n for step in reader.steps()] == list(range(1, STEP_COUNT + 1))
    assert [step.n for step in reader.steps(after=60)] == list(range(61, STEP_COUNT + 1))
    assert list(reader.steps(after=STEP_COUNT)) == []
    assert reader.step(60) == next(reader.steps(after=59))


@pytest.mark.parametrize("n", [-1, 0, STEP_COUNT + 1])
def test_there_is_no_such_step(reader: Reader, n: int) -> None:
    with pytest.raises(KeyError):
        reader.step(n)


def test_the_last_carried_record_and_the_one_before(reader: Reader) -> None:
    assert reader.last_carried() == (150, b"carried 150")
    assert reader.last_carried(before=150) == (140, b"carried 140")
    assert reader.last_carried(before=10) is None


def test_a_reader_sees_each_step_of_a_live_writer_and_holds_nothing_up(tmp_path: Path) -> None:
    path = tmp_path / "day.journal"
    with Journal.open(path, audiences=AUDIENCES) as journal, Reader.open(path) as reader:
        walk = reader.steps()
        for n in write(journal, Feed(), 30):
            assert reader.last_n == n
            assert reader.messages("audit", 2 * n, 1)[0][0] == 2 * n
            assert next(walk).n == n
            assert journal.checkpoint()


def test_a_reader_can_write_nothing(reader: Reader) -> None:
    with pytest.raises(apsw.ReadOnlyError):
        reader._connection.execute("DELETE FROM steps")


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="no such journal"):
        Reader.open(tmp_path / "day.journal")
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_row_is_named(tmp_path: Path) -> None:
    path = tmp_path / "day.journal"
    written(path, 5)
    with apsw.Connection(str(path)) as other:
        other.execute("UPDATE steps SET body = CAST('{\"n\":' AS BLOB) WHERE n = 3")
    other.close()
    with Reader.open(path) as reader, pytest.raises(JournalDamaged, match="row 3 can't be read"):
        list(reader.steps())


def test_a_late_message_is_found_without_reading_the_file(reader: Reader) -> None:
    queries: list[str] = []

    def note(_: object, query: str, __: object) -> bool:
        queries.append(query)
        return True

    reader._connection.exec_trace = note
    assert reader.messages("audit", 2 * STEP_COUNT, 1)[0][0] == 2 * STEP_COUNT
    assert len(queries) <= 2 + STEP_COUNT.bit_length()
