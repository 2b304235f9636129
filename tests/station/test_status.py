"""`tablectl status`: one table from its bus while it runs, from its journal when it does not."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from station.recorded import Session, write_config
from station.test_station import run_daemon

from controller.cli import main
from controller.station import status_command
from controller.station.config import load
from controller.station.status import findings_of
from controller.table import inputs as i
from controller.table.events import Audience, IncidentKind
from controller.table.picture import Picture, draw
from drivers.pty import PtyDevice

DOWN = "the daemon is not heard; start it, or look at its log"


def acknowledge(session: Session, roundid: str, who: str = "wallet") -> None:
    session.send(i.Acknowledge(roundid, 1), who)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    made = Session(write_config(tmp_path))
    yield made.open_table()
    made.stop()


def told(capsys: pytest.CaptureFixture[str], path: Path, *flags: str) -> tuple[int, str]:
    """Return the exit code and what was printed."""
    code = main(["status", str(path), *flags])
    return code, capsys.readouterr().out


@pytest.fixture
def deaf(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is waited for: the journal answers."""
    monkeypatch.setattr(status_command, "HEAR_MS", 0)


def test_the_journal_tells_how_a_table_was_left(
    session: Session, deaf: None, capsys: pytest.CaptureFixture[str]
) -> None:
    session.to_dealing().deal(3)
    session.send(i.Observed(IncidentKind.CARD_ON_FLOOR, "box1"))
    code, text = told(capsys, session.config.path)
    lines = text.splitlines()
    assert code == 1
    assert lines[0].startswith("tablectl/rp1/simulated: not running, epoch 1, ")
    assert "phase     dealing, round rp1-1" in lines
    assert "window    betting, closes at " in text and text.count("settled") == 1
    assert "incident  CARD_ON_FLOOR, waits for supervisor" in lines
    assert "scanner   shoe away" in lines and "dealer    anna" in lines
    assert lines[-2:] == [
        f"LOOK      {DOWN}",
        "LOOK      incident CARD_ON_FLOOR is open and waits for supervisor",
    ]
    heads = session.station.kernel.envelopes.heads()
    for audience in Audience:
        assert f"stream    {audience} {heads.of(audience).seq} {heads.of(audience).hash[:12]}" in lines


def test_unacknowledged_rounds_are_told_by_consumer(
    session: Session, deaf: None, capsys: pytest.CaptureFixture[str]
) -> None:
    session.round()
    acknowledge(session, "rp1-1")
    session.to_dealing().to_turns().finish()
    assert not list(findings_of(draw(session.station.kernel.table.state), running=True))
    session.clear()
    acknowledge(session, "rp1-2", "bets")
    code, text = told(capsys, session.config.path)
    behind = "1 end of rounds behind, the oldest rp1-2 rev 1"
    assert code == 1
    assert f"consumer  wallet (wallet, must acknowledge): {behind}" in text
    assert "consumer  bets (betting, must acknowledge): everything acknowledged" in text
    assert text.splitlines()[-1] == f"LOOK      consumer wallet must acknowledge and has not: {behind}"
    code, text = told(capsys, session.config.path, "--json")
    status = json.loads(text)
    assert (code, status["running"], status["table"]) == (1, False, "rp1")
    assert status["picture"]["consumers"][0]["behind"] == 1
    assert status["heads"]["audit"]["seq"] == session.station.kernel.envelopes.heads().audit.seq


def test_a_table_that_never_ran_and_a_config_that_is_none(
    tmp_path: Path, deaf: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["status", str(write_config(tmp_path))]) == 1
    assert "no journal; this table has never run here" in capsys.readouterr().err
    assert main(["status", str(tmp_path / "nothing.toml")]) == 2


def test_a_daemon_of_another_version_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def other(_config: object) -> None:
        msgspec.json.decode(b'{"shape": "round"}', type=Picture)

    monkeypatch.setattr(status_command, "heard", other)
    assert main(["status", str(write_config(tmp_path))]) == 1
    assert "/picture: a daemon of another version speaks there: " in capsys.readouterr().err


def test_a_daemon_that_runs_answers_and_one_that_is_frozen_does_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_config(tmp_path)
    config = load(path)
    port = Path(config.scanners["shoe"].port)
    port.parent.mkdir(mode=0o700, parents=True)
    scanner = PtyDevice(port)
    daemon = run_daemon(path)
    try:
        deadline = time.monotonic() + 20
        code, text = 1, ""
        while code != 0 and time.monotonic() < deadline:
            code, text = told(capsys, path)
        assert "running, epoch 1, " in text and "scanner   shoe there" in text and "LOOK" not in text
        daemon.send_signal(signal.SIGSTOP)
        code, text = told(capsys, path)
        assert code == 1 and "not running, epoch 1" in text and DOWN in text
    finally:
        daemon.kill()
        daemon.wait()
        scanner.unplug()
