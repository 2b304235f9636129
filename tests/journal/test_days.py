"""Files of days read as one: replay crosses midnight, verify sees that no end is cut off."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import apsw
import pytest
from journal.feed import AUDIENCES, Feed, write

from controller.journal import Days, Flaw, Journal, JournalDamaged, Reader

DAYS = [date(2026, 11, 29), date(2026, 11, 30), date(2026, 12, 1), date(2026, 12, 2)]
STEP_COUNTS = [25, 0, 7, 33]


@pytest.fixture
def days(tmp_path: Path) -> Days:
    """Four days, the second without a step."""
    days, feed, heads = Days(tmp_path), Feed(), None
    for day, count in zip(DAYS, STEP_COUNTS, strict=True):
        with Journal.open(days.path(day), audiences=AUDIENCES, heads=heads) as journal:
            list(write(journal, feed, count))
            heads = journal.heads()
    (tmp_path / "notes.journal").touch()
    return days


def test_the_files_in_order(days: Days) -> None:
    assert [path.name for path in days.paths()] == [f"{day}.journal" for day in DAYS]


@pytest.mark.parametrize("audience", AUDIENCES)
@pytest.mark.parametrize("limit", [1, 5, 1000])
def test_messages_cross_the_days(days: Days, audience: str, limit: int) -> None:
    everything = []
    for path in days.paths():
        with Reader.open(path) as reader:
            everything += reader.messages(audience, reader.first_seq(audience), 1000)
    assert [seq for seq, _ in everything] == list(range(1, len(everything) + 1))
    for first_seq in range(1, len(everything) + 2):
        expected = everything[first_seq - 1 : first_seq - 1 + limit]
        assert days.messages(audience, first_seq, limit) == expected


def test_what_is_no_longer_kept_is_said_so(days: Days) -> None:
    days.path(DAYS[0]).unlink()
    with pytest.raises(KeyError, match="audit/50"):
        days.messages("audit", 50, 10)
    assert days.messages("audit", 51, 1)[0][0] == 51


def test_a_day_missing_between_is_no_silent_gap(days: Days) -> None:
    days.path(DAYS[2]).unlink()
    assert len(days.messages("audit", 41, 10)) == 10
    with pytest.raises(JournalDamaged, match="audit/65, expected 51 or less: a day's file is missing"):
        days.messages("audit", 41, 11)


def test_an_empty_folder_keeps_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        Days(tmp_path).messages("audit", 1, 10)
    assert list(Days(tmp_path).verify()) == []


def test_whole_days_have_no_findings(days: Days) -> None:
    assert list(days.verify()) == []


def test_a_day_whose_end_was_cut_off_is_found(days: Days) -> None:
    with apsw.Connection(str(days.path(DAYS[0]))) as other:
        other.execute("DELETE FROM steps WHERE n = 25")
    other.close()
    found = {(path.name, finding.flaw) for path, finding in days.verify()}
    assert found == {("2026-11-29.journal", Flaw.END)}


def test_a_missing_day_is_found_by_verify(days: Days) -> None:
    days.path(DAYS[2]).unlink()
    assert {(path.name, finding.flaw) for path, finding in days.verify()} == {
        ("2026-11-30.journal", Flaw.END)
    }


def test_a_day_that_can_not_be_read_is_found_once(days: Days) -> None:
    days.path(DAYS[1]).write_bytes(b"no journal")
    assert [(path.name, finding.flaw) for path, finding in days.verify()] == [
        ("2026-11-30.journal", Flaw.UNREADABLE)
    ]
