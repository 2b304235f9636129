"""Answers to commands: after durability, with a reason and its text, and the same ones again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from station.recorded import Session, write_config

from controller.bus.reasons import OF_THE_TABLE
from controller.bus.wire import Answer
from controller.journal import JournalFailed
from controller.station.config import load
from controller.station.errors import ConfigError
from controller.station.replay import verify_recording
from controller.table import inputs as i
from controller.table.events import Audience, Refusal


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    made = Session(write_config(tmp_path))
    yield made.open_table()
    made.stop()


def test_first_the_journal_then_the_feeds_then_the_answer(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    append, publish = session.station.journal.append, session.feeds.publish

    def note(name: str, then: Any) -> Any:
        return lambda *args, **named: (order.append(name), then(*args, **named))[1]

    monkeypatch.setattr(session.station.journal, "append", note("journal", append))
    monkeypatch.setattr(session.feeds, "publish", note("feeds", publish))
    monkeypatch.setattr(
        session, "answers", type("Answers", (list,), {"append": note("answer", list.append)})()
    )
    session.send(i.ConfirmShuffle())
    assert order == ["journal", "feeds", "answer"]


def test_what_is_not_durable_is_neither_published_nor_answered(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: object) -> None:
        raise JournalFailed("the disk is gone")

    answers, sent = len(session.answers), len(session.feeds.sent[Audience.AUDIT])
    with monkeypatch.context() as broken:
        broken.setattr(session.station.journal, "append", fail)
        with pytest.raises(JournalFailed):
            session.send(i.ConfirmShuffle())
    assert (len(session.answers), len(session.feeds.sent[Audience.AUDIT])) == (answers, sent)


def test_a_refusal_says_why_in_a_word_and_in_a_sentence_and_the_same_again(session: Session) -> None:
    for _ in range(2):
        session.send(i.OpenBetting(), request="early")
        refusal = Refusal.WRONG_PHASE
        assert session.answers[-1] == Answer("early", False, refusal, OF_THE_TABLE[refusal])


def test_a_consumer_is_known_by_the_name_in_the_tables_file(session: Session) -> None:
    session.round()
    session.send(i.Acknowledge("rp1-1", 1), "wallet")
    assert session.answers[-1].accepted
    session.send(i.Acknowledge("rp1-1", 1), "anna")
    assert session.answers[-1].reason == "UNKNOWN_CONSUMER"
    session.stop()
    assert verify_recording(session.recording).difference is None


def test_a_restart_knows_what_was_acknowledged_in_the_open_round(session: Session) -> None:
    session.round()
    session.to_dealing()
    session.send(i.Acknowledge("rp1-1", 1), "wallet")
    session.stop()
    again = Session(session.config.path, session.clock.us + 1_000_000, first_key=500)
    state = again.station.kernel.table.state
    assert (state.acknowledgements.behind("wallet"), state.acknowledgements.behind("bets")) == (0, 1)
    again.stop()


BETS = """[[consumers]]
name = "bets"
role = "betting"
audience = "betting"
must_acknowledge = true
"""


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('name = "bets"', 'name = "wallet"', "consumers: 'wallet': named twice"),
        ('audience = "betting"', 'audience = "bettors"', "Invalid enum value 'bettors'"),
        ('name = "bets"', 'name = "b/ts"', "consumers"),
        ('role = "betting"', 'rolle = "betting"', "rolle"),
    ],
)
def test_a_list_of_consumers_that_can_not_be_is_refused(
    tmp_path: Path, old: str, new: str, fault: str
) -> None:
    with pytest.raises(ConfigError, match=fault):
        load(write_config(tmp_path, **{BETS: BETS.replace(old, new)}))


def test_a_profile_that_waits_for_nobody_is_refused(tmp_path: Path) -> None:
    path = write_config(tmp_path, **{"must_acknowledge = true": "must_acknowledge = false"})
    assert [one.must_acknowledge for one in load(path).settings.consumers] == [False, False]
    profile = tmp_path / "profiles" / "russian_poker_live.toml"
    profile.write_text(profile.read_text().replace("[limits]", "[limits]\nacknowledged_before_start = true"))
    with pytest.raises(ConfigError, match="no consumer must acknowledge"):
        load(path)
