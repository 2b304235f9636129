"""Retention: what is older goes, the log says so first, and everything that is left still proves itself."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import zmq
from station.recorded import DAY_US, NOON, Session, write_config

from controller.bus.endpoints import Endpoints
from controller.bus.replay_server import ReplayServer
from controller.bus.snapshot import Snapshot, decode_snapshot
from controller.cli import main
from controller.journal import Days, Reader
from controller.station import retention
from controller.station.evidence_log import DayRemoved, EvidenceLog
from controller.station.outbox import JournalOutbox
from controller.table.events import AUDIENCES, Audience

Starts = Mapping[Audience, Snapshot]


def kept(folder: Path, days: int | None) -> Path:
    section = "" if days is None else f"\n[evidence]\nretention_days = {days}\n"
    path = write_config(folder)
    path.write_text(path.read_text() + section)
    return path


def play_days(config: Path, count: int, *, restarts: bool = False) -> Session:
    """Play a round a day; the table goes on over the night, or is started anew each day."""
    session = Session(config).open_table().round()
    for day in range(1, count):
        if restarts:
            session.stop()
            session = Session(config, NOON + day * DAY_US, first_key=day * 1000).bring_up()
        else:
            session.wait(DAY_US // 1_000)
        session.round()
    return session


def names(session: Session) -> list[str]:
    return [path.stem[-2:] for path in Days(session.config.table_dir).paths()]


def removed(session: Session) -> list[DayRemoved]:
    entries = EvidenceLog(session.config.table_dir).read()
    return [entry for entry in entries if isinstance(entry, DayRemoved)]


def test_nothing_is_removed_when_nothing_is_said(tmp_path: Path) -> None:
    session = play_days(kept(tmp_path, None), 5)
    assert len(names(session)) == 5 and removed(session) == []
    session.stop()


@pytest.mark.parametrize("restarts", [False, True])
def test_days_beyond_retention_go_at_the_change_of_day_or_at_a_start(
    tmp_path: Path, restarts: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    session = play_days(kept(tmp_path, 2), 6, restarts=restarts)
    days = names(session)
    assert len(days) == 3
    gone = removed(session)
    assert [entry.file[8:10] for entry in gone] == [f"{15 + day}" for day in range(len(gone))]
    assert all(entry.rounds > 0 and entry.retention_days == 2 for entry in gone)
    left = {path.name[:10] for path in session.config.table_dir.iterdir() if path.name[:2] == "20"}
    assert left == {path.stem for path in Days(session.config.table_dir).paths()}
    session.stop()
    assert main(["verify", str(session.config.table_dir), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["findings"] == [] and report["rounds"] + sum(entry.rounds for entry in gone) == 6
    again = Session(session.config.path, NOON + 6 * DAY_US, first_key=9_000).bring_up().round()
    again.stop()


def test_the_open_day_and_the_one_before_stay_always(tmp_path: Path) -> None:
    config = kept(tmp_path, 1)
    session = play_days(config, 2)
    session.wait(30 * DAY_US // 1_000)
    session.round()
    assert len(names(session)) == 2 and [entry.file[8:10] for entry in removed(session)] == ["15"]
    session.stop()


def test_recordings_go_with_the_days_that_they_are_of(tmp_path: Path) -> None:
    session = play_days(kept(tmp_path, 2), 6, restarts=True)
    begun = [int(path.name[:6]) for path in sorted((session.config.table_dir / "sessions").iterdir())]
    with Reader.open(Days(session.config.table_dir).paths()[0]) as reader:
        kept_from = reader.opening.at_us
    starts = [int(path.stem[7:]) for path in sorted((session.config.table_dir / "sessions").iterdir())]
    assert begun[-1] == 6 and begun == list(range(begun[0], 7)) and begun[0] > 1
    assert starts[0] <= kept_from < starts[1], "the recording that reaches into what is kept stays"
    session.stop()


def test_a_day_that_was_noted_and_not_yet_removed_goes_without_a_second_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = play_days(kept(tmp_path, 2), 3)

    def dies(self: Path, missing_ok: bool = False) -> None:
        raise OSError(5, "the process died here")

    monkeypatch.setattr(retention.Path, "unlink", dies)
    session.wait(DAY_US // 1_000)
    session.round()  # The table goes on.
    assert len(names(session)) == 4 and len(removed(session)) == 1
    monkeypatch.undo()
    session.wait(DAY_US // 1_000)
    session.round()
    assert len(names(session)) == 3
    assert [entry.file[8:10] for entry in removed(session)] == ["15", "16"]
    session.stop()


def test_days_taken_away_by_somebody_else_are_a_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = play_days(kept(tmp_path, None), 4)
    session.stop()
    assert main(["verify", str(session.config.table_dir)]) == 0
    Days(session.config.table_dir).paths()[0].unlink()
    capsys.readouterr()
    assert main(["verify", str(session.config.table_dir)]) == 1
    assert "no entry says that they were removed" in capsys.readouterr().out


def outbox_of(session: Session) -> JournalOutbox:
    return JournalOutbox(session.config.table_dir, lambda: session.station.journal)


@contextmanager
def serving(session: Session, starts: Starts | None) -> Iterator[ReplayServer]:
    """A replay server over the session's journals, in a folder whose name leaves room for sockets."""
    with TemporaryDirectory(prefix="tablectl-", dir="/tmp") as folder, zmq.Context() as context:
        outbox = outbox_of(session)
        endpoints = Endpoints.ipc(Path(folder), "rp1")
        server = ReplayServer(endpoints, outbox, table="rp1", starts=starts, context=context)
        try:
            yield server
        finally:
            server.close()


def ask(server: ReplayServer, audience: Audience, **request: object) -> tuple[list[bytes], dict[str, object]]:
    raw = json.dumps({"request": "r1", **request}).encode()
    *frames, marker = asyncio.run(server.answer(audience, raw))
    return frames, json.loads(marker)


@pytest.mark.parametrize("audience", AUDIENCES)
def test_the_replay_server_says_where_it_begins(tmp_path: Path, audience: Audience) -> None:
    session = play_days(kept(tmp_path, 2), 5)
    starts = outbox_of(session).starts("rp1")
    first = starts[audience].seq + 1
    assert first > 1
    with serving(session, starts) as server:
        frames, marker = ask(server, audience, ask="from", seq=first - 1)
        assert (frames, marker["reason"]) == ([], "GONE")
        assert f"the first is {first}" in str(marker["text"])
        frames, _ = ask(server, audience, ask="from", seq=first, limit=1)
        assert f'"seq":{first},'.encode() in frames[0]
        [snapshot], marker = ask(server, audience, ask="snapshot")
        assert decode_snapshot(snapshot).seq == marker["last_seq"]
        assert decode_snapshot(snapshot).hash == session.station.journal.heads().audiences[audience].hash
    session.stop()


def test_a_replay_server_that_runs_while_days_are_removed_goes_on(tmp_path: Path) -> None:
    session = play_days(kept(tmp_path, 2), 5)
    with serving(session, None) as server:
        frames, marker = ask(server, Audience.PUBLIC, ask="snapshot")
        assert (frames, marker["reason"]) == ([], "GONE")
        server.forget_before(outbox_of(session).starts("rp1"))
        [snapshot], marker = ask(server, Audience.PUBLIC, ask="snapshot")
        assert decode_snapshot(snapshot).seq == marker["last_seq"]
        server.forget_before(outbox_of(session).starts("rp1"))
        assert ask(server, Audience.PUBLIC, ask="round", roundid="rp1-5")[1]["end"]
    session.stop()
