"""Corrections and entered cards through the station: old rounds of other days, recall, verify, replay."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import msgspec
import pytest
from station.recorded import DAY_US, Session, write_config
from table.dealt import FAILS

from controller.bus.envelope import SealedRound, decode, event_of
from controller.bus.snapshot import Snapshot, fold
from controller.cli import main
from controller.journal import Days, Reader
from controller.journal.records import chain_after
from controller.station.past_rounds import PastRounds, round_in
from controller.station.recall import recall
from controller.station.replay import verify_recording
from controller.station.verify_command import make_report
from controller.table import inputs as i
from controller.table.events import Audience, Refusal, RoundCorrected
from controller.table.inputs import CorrectionReason

REASON = CorrectionReason.WRONG_RESULT


def correct(session: Session, roundid: str) -> list[str | None]:
    """Both supervisors correct a round; returns what was answered."""
    session.send(i.ProposeCorrection(roundid, REASON, ()), "boris")
    session.send(i.ApproveCorrection(roundid, ()), "clara")
    return [answer.reason for answer in session.answers[-2:]]


def next_day(session: Session) -> None:
    """Play a round that ends on the next day: the file of the next day begins."""
    session.clock.us += DAY_US
    session.round(FAILS)


@pytest.fixture(scope="module")
def three_days(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """Rounds 1 to 6 on three days. On the third, round 2 of the first day is corrected, while 6 lies."""
    session = Session(write_config(tmp_path_factory.mktemp("days"))).open_table()
    session.round().round(FAILS)
    next_day(session)
    session.round()
    next_day(session)
    session.to_dealing().to_turns().finish()
    assert correct(session, "rp1-2") == [None, None]
    session.clear()
    return session


def test_a_round_of_any_day_is_corrected_and_recall_shows_every_revision(
    three_days: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = three_days.journal.parent
    days = [path.name for path in Days(folder).paths()]
    assert len(days) == 3
    told = recall(folder, "2")
    assert told.journal == days[0] and told.result is not None
    (corrected,) = told.corrections
    assert (corrected.rev, corrected.journal, corrected.refund) == (2, days[2], "all")
    assert corrected.by == ("boris", "clara")
    assert set(corrected.sealed.values()) == {1}
    assert recall(folder / days[0], "2") == told
    assert main(["recall", str(folder), "2"]) == 0
    said = capsys.readouterr().out
    assert "CORRECTED, revision 2: every wager refunded; WRONG_RESULT, by boris and clara (RPL-74)" in said
    assert "BET REFUND" in said


def test_the_round_that_lay_there_meanwhile_is_told_without_it(three_days: Session) -> None:
    lay = recall(three_days.journal.parent, "6")
    assert lay.corrections == [] and lay.incidents == []
    assert lay.sealed["settlement"].count > 1
    assert "propose_correction" in [press.what for press in lay.presses]


def test_every_audience_hears_of_it_under_the_old_rounds_id(three_days: Session) -> None:
    for audience in Audience:
        messages = three_days.feeds.sent[audience]
        at = next(n for n, raw in enumerate(messages) if isinstance(event_of(decode(raw)), RoundCorrected))
        told, sealed = decode(messages[at]), decode(messages[at + 1])
        assert (told.roundid, told.rev, sealed.roundid, sealed.rev) == ("rp1-2", 2, "rp1-2", 2)
        closed = event_of(sealed)
        assert isinstance(closed, SealedRound) and (closed.rev, closed.count) == (2, 1)
        snapshot = fold(Snapshot(table="rp1", audience=audience), messages)
        assert snapshot.last is not None and snapshot.last.roundid == "rp1-6" and snapshot.last.rev == 1


def test_a_correction_of_the_last_round_shows_in_the_snapshot(tmp_path: Path) -> None:
    session = Session(write_config(tmp_path)).open_table().round()
    correct(session, "rp1-1")
    snapshot = fold(Snapshot(table="rp1", audience=Audience.PUBLIC), session.feeds.sent[Audience.PUBLIC])
    assert snapshot.last is not None and (snapshot.last.roundid, snapshot.last.rev) == ("rp1-1", 2)


def test_files_streams_and_inputs_verify(three_days: Session) -> None:
    report = make_report(Days(three_days.journal.parent).paths())
    assert report.findings == [] and report.rounds == 6


def test_the_recording_gives_the_same_correction_again(three_days: Session) -> None:
    verdict = verify_recording(three_days.recording)
    assert verdict.difference is None and verdict.beyond == 0


@pytest.mark.parametrize("number", range(1, 7))
def test_a_round_is_found_by_its_number_in_whatever_file_it_lies(three_days: Session, number: int) -> None:
    past = three_days.station._past.find(f"rp1-{number}")
    assert past is not None and past.outcome is not None and past.roundid == f"rp1-{number}"
    assert len(past.cards) == (25 if past.outcome.dealer_after_purchase is None else 26)


@pytest.mark.parametrize("roundid", ["rp1-7", "rp1-0", "rp2-1", "rp1-", "rp1--1", "rp1-02", "rp1-x", ""])
def test_what_is_no_round_of_this_table_is_not_found(three_days: Session, roundid: str) -> None:
    assert three_days.station._past.find(roundid) is None


def test_a_round_in_play_is_not_handed_in(tmp_path: Path) -> None:
    session = Session(write_config(tmp_path)).open_table().round().to_dealing()
    session.deal(7)
    assert session.station._past.find("rp1-2") is None
    assert session.station._past.find("rp1-1") is not None


def test_beyond_what_is_kept_or_in_a_damaged_file_no_round_is_known(tmp_path: Path) -> None:
    session = Session(write_config(tmp_path)).open_table().round()
    next_day(session)
    first = Days(session.journal.parent).paths()[0]
    kept = first.read_bytes()
    first.write_bytes(b"no journal")
    assert correct(session, "rp1-1")[0] == Refusal.UNKNOWN_ROUND
    first.unlink()
    assert correct(session, "rp1-1")[0] == Refusal.UNKNOWN_ROUND
    first.write_bytes(kept)
    assert correct(session, "rp1-1") == [None, None]


def test_a_day_that_begins_with_a_round_in_play_is_searched_rightly(tmp_path: Path) -> None:
    session = Session(write_config(tmp_path)).open_table().round()
    next_day(session)
    session.to_dealing()
    with Reader.open(session.journal) as reader:
        assert round_in(reader, 1) is None and round_in(reader, 2) is None
        opened = round_in(reader, 3)
        assert opened is not None and len(opened) > 1
    assert session.station._past.find("rp1-3") is None and session.station._past.find("rp1-4") is None
    assert session.station._past.find("rp1-2") is not None


def test_corrections_outlive_restarts_and_days(tmp_path: Path) -> None:
    path = write_config(tmp_path)
    session = Session(path).open_table().round()
    assert correct(session, "rp1-1") == [None, None]
    session.send(i.ProposeCorrection("rp1-1", REASON, ()), "boris")
    assert session.answers[-1].reason == Refusal.NO_CHANGE
    next_day(session)
    session.stop()
    again = Session(path, session.clock.us + 1_000_000, first_key=900)
    again.bring_up()
    assert correct(again, "rp1-1")[0] == Refusal.NO_CHANGE
    assert correct(again, "rp1-2") == [None, None]
    again.stop()
    third = Session(path, again.clock.us + 1_000_000, first_key=1800)
    assert correct(third, "rp1-2")[0] == Refusal.NO_CHANGE


def test_a_journal_whose_correction_started_from_another_round_is_found_out(tmp_path: Path) -> None:
    session = Session(write_config(tmp_path)).open_table().round()
    correct(session, "rp1-1")
    session.stop()
    _forge_past(session.journal)
    proofs = {
        (one.proof, getattr(one.finding, "where", "")) for one in make_report((session.journal,)).findings
    }
    assert ("inputs", "past round") in proofs


def _forge_past(journal: Path) -> None:
    """Change a card of the old round in the approval's input, and compute the chain anew from there."""
    with sqlite3.connect(journal) as connection:
        rows = connection.execute("SELECT n, body, chain FROM steps ORDER BY n").fetchall()
        chain, forged = "", False
        for n, body, recorded in rows:
            text = bytes(body)
            if b'"command":"approve_correction"' in text and not forged:
                forged = True
                changed = text.replace(b'"aside":[]', b'"aside":["2s"]', 1)
                assert changed != text
                text = changed
            chain = chain_after(chain, text) if forged else recorded
            connection.execute("UPDATE steps SET body = ?, chain = ? WHERE n = ?", (text, chain, n))
        assert forged


def test_an_entered_card_goes_through_station_journal_and_recording(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = Session(write_config(tmp_path)).open_table().to_dealing()
    session.deal(20)
    session.all_decided("options")
    session.deal(4)
    card = str(session.shoe.pop(0))
    session.chunk(b"NOREAD\n")
    session.chunk(b"NOREAD\n")
    session.send(i.OrderEntry(), "boris")
    incident = session.station.kernel.table.state.incident
    assert incident is not None
    session.send(i.EnterCard(incident.number, card))
    session.send(i.EnterCard(incident.number, card), "clara")
    assert [answer.reason for answer in session.answers[-3:]] == [None] * 3
    session.all_decided("final_options")
    session.finish().clear()
    folder = session.journal.parent
    told = recall(folder, "1")
    entered = [one for one in told.cards if one.entered_by]
    assert [(one.place, one.n, one.card, one.checked) for one in entered] == [("switch", 5, card, True)]
    assert entered[0].entered_by == ("anna", "clara")
    assert main(["recall", str(folder), "1"]) == 0
    assert "MANUAL, by anna and clara" in capsys.readouterr().out
    assert make_report((session.journal,)).findings == []
    assert verify_recording(session.recording).difference is None
    keys = [
        value.key
        for step in session.station.journal.reader.steps()
        if isinstance(value := i.decode_input(step.input), i.Commanded)
    ]
    assert [key is not None for key in keys].count(True) == 2 and len(set(keys)) == 3


def test_no_sender_chooses_key_or_past(tmp_path: Path) -> None:
    """Both are fields of the input, none of the request."""
    session = Session(write_config(tmp_path)).open_table().round()
    raw = msgspec.json.encode(
        {"command": "propose_correction", "roundid": "rp1-9", "reason": REASON, "cards": [], "past": {}}
    )
    session.send(msgspec.json.decode(raw, type=i.AnyCommand), "boris")
    assert session.answers[-1].reason == Refusal.UNKNOWN_ROUND


def test_an_archive_is_looked_at_for_corrections_alone(three_days: Session) -> None:
    past = PastRounds("rp1", three_days.journal.parent, lambda: three_days.station.journal)
    assert past.of(i.GoOn()) is None
    assert past.of(i.ApproveCorrection("rp1-2", ())) == past.find("rp1-2")
