"""The report of a shift counts what lay on the table, to the last re-scan, and stops before an open round."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from station.recorded import DAY_US, Session, cancelled_round, write_config
from table.dealt import FAILS

from controller.cli import main
from controller.journal import Step
from controller.station.shift import Shift, shift_of
from controller.table import inputs as i


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Session:
    session = Session(write_config(tmp_path_factory.mktemp("played"))).open_table()
    session.round().round(FAILS)
    cancelled_round(session)
    session.load()
    session.send(i.VerifyDeck(52))
    session.to_dealing()
    session.deal(3)
    return session


def report(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["shift", *words, "--json"]) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


def test_the_report_of_a_day(played: Session, capsys: pytest.CaptureFixture[str]) -> None:
    told = report(capsys, str(played.config.path))
    assert told["range"] == f"day {played.journal.stem}"
    assert [told[name] for name in ("opened", "confirmed", "cancelled", "starts")] == [3, 2, 1, 1]
    assert told["cancels"] == [{"reason": "CARD_ON_FLOOR", "dealer": "anna", "by": "boris", "count": 1}]
    (shoe,) = told["scanners"]
    # 25 cards a round, one of them read twice after a failed and one after a disputed reading, a surplus one.
    assert (shoe["failed"], shoe["rescans"]) == (1, 2)
    assert shoe["rescans_per_10_000"] == 20_000 // shoe["reads"]
    assert sum(place["rescans"] for place in told["places"]) == 2
    kinds = {one["kind"]: one for one in told["incidents"]}
    assert kinds["FAILED_READ"]["cell"] == "RPL-75" and kinds["FAILED_READ"]["verdicts"] == {"RESCANNED": 1}
    assert kinds["FAILED_READ"]["mean_close_ms"] == 2  # Two chunks, a millisecond each.
    assert kinds["SURPLUS_CARD"]["verdicts"] == {"BURNED": 1}
    assert told["presses"]["boris"]["taken"] == {"confirm_cancel": 1, "load_deck": 2, "log_in": 1}
    assert told["presses"]["anna"]["refused"]["WRONG_PHASE"] >= 1
    assert told["decks"]["deck.verified"] == 2


def test_the_open_round_is_not_told(played: Session, capsys: pytest.CaptureFixture[str]) -> None:
    told = report(capsys, str(played.config.table_dir))
    with_fourth = played.station.kernel.table.state.round_no
    assert (told["opened"], with_fourth) == (3, 4)


def test_a_span_of_rounds_and_of_time(played: Session, capsys: pytest.CaptureFixture[str]) -> None:
    where = str(played.journal)
    assert report(capsys, where, "--rounds", "1-2")["confirmed"] == 2
    assert "cancelled" not in {
        name for name, count in report(capsys, where, "--rounds", "1").items() if count
    }
    assert report(capsys, where, "--to", "2027-01-15T07:00").get("opened", 0) == 0
    assert report(capsys, where, "--from", "2027-01-15T07:00")["opened"] == 3


def test_the_newest_day_is_told_when_nothing_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = Session(write_config(tmp_path)).open_table().round().round()
    session.wait(DAY_US // 1_000)
    session.round().round()
    session.stop()
    # The round in which the day changes is still in the file of the day before.
    assert report(capsys, str(session.config.path))["opened"] == 1
    assert report(capsys, str(session.config.path), "--rounds", "1-9")["opened"] == 4


def test_people_read_the_same_numbers(played: Session, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shift", str(played.config.path)]) == 0
    told = capsys.readouterr().out
    assert "3 rounds, 2 confirmed, 1 cancelled, 0 corrected" in told
    assert "CARD_ON_FLOOR, dealer anna, confirmed by boris" in told
    assert (
        "boris: 1 log_in, 2 load_deck, 1 confirm_cancel" in told
        and "FAILED_READ, cell RPL-75: 1 RESCANNED" in told
    )


def test_a_journal_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shift", str(tmp_path)]) == 1
    assert "no journal there" in capsys.readouterr().err


def steps_of(*several: dict[str, Any]) -> list[Step]:
    """Hand-written events, a second apart."""
    return [
        Step(
            n=n,
            at_us=n * 1_000_000,
            input=b'{"input":"timer_expired"}',
            events=(msgspec.json.encode(event),),
            messages={},
            first_seq={},
            chain="",
            carried=None,
            documents=(),
        )
        for n, event in enumerate(several, 1)
    ]


def opened(number: int, cell: str = "1") -> dict[str, Any]:
    return {
        "event": "incident.opened",
        "incident": number,
        "kind": "FAILED_READ",
        "cell": cell,
        "prompt": "x",
    }


def closed(number: int) -> dict[str, Any]:
    return {"event": "incident.closed", "incident": number, "kind": "FAILED_READ"}


def told(*several: dict[str, Any]) -> Shift:
    return shift_of(steps_of(*several), "all")


def test_the_mean_time_to_close_is_over_closed_incidents_of_a_cell() -> None:
    (first, second) = told(opened(1), opened(2), closed(2), opened(3, "2"), closed(1)).incidents
    assert (first.cell, first.count, first.closed, first.mean_close_ms) == ("1", 2, 2, 2_500)
    assert (second.cell, second.count, second.closed, second.mean_close_ms) == ("2", 1, 0, None)


def test_an_incident_from_before_the_range_is_not_counted() -> None:
    assert told(closed(9)).incidents == []


def test_events_of_other_families_are_counted_by_name() -> None:
    suspect = {"event": "rounds.suspect", "from": 3, "to": 5, "reason": "count"}
    shift = told({"event": "stub.counted", "count": 27}, {"event": "shoe.closed"}, suspect)
    assert shift.decks == {"shoe.closed": 1, "stub.counted": 1}
    assert shift.suspect == [{"from": 3, "to": 5, "reason": "count"}]


def test_a_cancel_is_the_matter_of_the_dealer_on_duty() -> None:
    cancelled = {"event": "round.cancelled", "incident": 1, "reason": "SECOND_FAILED_READING"}
    changed = {"event": "dealer.changed", "dealer": "eva"}
    (before, after) = told(cancelled, changed, cancelled).cancels
    assert (before.dealer, before.by) == ("nobody on record", None) and after.dealer == "eva"
