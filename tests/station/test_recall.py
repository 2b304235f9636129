"""Recall: an ended round told in full, an open one not at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from station.recorded import DAY_US, MILLISECOND, Session, cancelled_round, write_config
from table.dealt import FAILS, HANDS, PLAYS

from controller.cli import main
from controller.games.published import RowName
from controller.journal import JournalError
from controller.station.errors import StationError
from controller.station.recall import Recalled, RoundStillOpen, recall
from controller.table import inputs as i


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """Two days: a plain round, one with a purchase, a cancelled one; then one more, and one that is open."""
    session = Session(write_config(tmp_path_factory.mktemp("played"))).open_table()
    session.round().round(FAILS)
    cancelled_round(session)
    session.load()
    session.send(i.VerifyDeck(52))
    session.clock.us += DAY_US
    session.round()
    session.round().to_dealing()
    session.deal(6)
    return session


@pytest.fixture(scope="module")
def first_day(played: Session) -> Path:
    """The journal of the first day."""
    return sorted(played.journal.parent.glob("*.journal"))[0]


def at(told: Recalled, place: str) -> list[str | None]:
    return [card.card for card in told.cards if card.place == place and card.fate == "played"]


@pytest.mark.parametrize("name", ["1", "rp1-1"])
def test_a_confirmed_round_is_told_in_full(first_day: Path, name: str) -> None:
    told = recall(first_day, name)
    assert (told.roundid, told.round_no, told.cancelled) == ("rp1-1", 1, None)
    assert told.opened_at_us < told.ended_at_us
    for place, cards in PLAYS.items():
        assert at(told, place) == cards.split()
    assert [window.window for window in told.windows] == ["betting", "options", "final_options"]
    assert told.windows[0].ended_by == "dealer" and told.windows[1].ended_by == "all_decided"
    assert told.windows[1].facts == {"in play": "not told", "drew": "not told", "bought": "not told"}
    assert told.bets == {"box1": "dark", "box2": "open", "box3": "dark"}
    assert told.commitments == (19, 19)
    assert told.incidents == []
    assert told.sealed["public"].count < told.sealed["audit"].count
    assert [place for _, place in told.turned] == ["switch", "box1", "box3", "dealer"]


def test_the_hands_of_a_box_come_in_groups_that_lose_nothing(first_day: Path) -> None:
    told = recall(first_day, "2")
    assert told.result is not None and told.result.dealer_after_purchase is not None
    box1, main_box, _ = told.result.boxes
    assert [one.pattern for group in box1.groups for one in group.patterns] == ["stay"]
    assert box1.groups[0].combinations == ("PAIR",)
    patterns = [one.pattern for group in main_box.groups for one in group.patterns]
    assert len(patterns) == len(set(patterns)) == 33
    assert 2 <= len(main_box.groups) <= 8
    dealt = main_box.groups[0]
    assert dealt.patterns[0].cards == tuple(HANDS["box2"].split())
    assert (dealt.combinations, dealt.odds) == (("AK",), "1")
    assert list(dealt.rows) == [RowName.PLAIN, RowName.BOUGHT]
    assert dealt.rows[RowName.PLAIN] == {"ANTE": "WIN 1", "BET": "PUSH"}
    assert told.laid_aside and told.windows[-1].window == "buy_time"


def test_a_cancelled_round_tells_why_and_who(first_day: Path) -> None:
    told = recall(first_day, "rp1-3")
    assert told.result is None and told.cancelled is not None
    assert (told.cancelled.reason, told.cancelled.refund, told.cancelled.place) == (
        "CARD_ON_FLOOR", "all", "box1",
    )  # fmt: skip
    kinds = [(one.kind, one.verdict, one.decided_by) for one in told.incidents]
    assert kinds == [
        ("FAILED_READ", "RESCANNED", None),
        ("DISPUTED_READ", "RESCANNED", None),
        ("SURPLUS_CARD", "BURNED", "anna"),
        ("CARD_ON_FLOOR", "CANCELLED", "boris"),
    ]
    assert [(card.place, card.fate) for card in told.cards if card.fate != "played"] == [
        ("switch", "withdrawn"), ("switch", "withdrawn"), ("burn", "burned"),
    ]  # fmt: skip
    bound, held = told.commitments
    assert bound == held == 19
    refused = [press for press in told.presses if press.refused is not None]
    assert [(press.what, press.refused) for press in refused] == [("open_betting", "WRONG_PHASE")]


def test_people_read_the_round(first_day: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recall", str(first_day), "2"]) == 0
    told = capsys.readouterr().out
    for text in (
        "Round rp1-2",
        "CONFIRMED",
        "A♠",
        "10♥",
        "buy_time",
        "laid aside",
        "dealer does not qualify",
    ):
        assert text in told, text
    assert "all opened, and each card is the one it was bound to" in told
    assert main(["recall", str(first_day), "3"]) == 0
    told = capsys.readouterr().out
    assert "dealt by anna" in told
    assert "CANCELLED: CARD_ON_FLOOR at box 1" in told and "boris" in told and "Refunded: all" in told
    assert "burned: SURPLUS_CARD" in told and "refused: WRONG_PHASE" in told


def test_json_tells_the_same(first_day: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recall", str(first_day), "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["roundid"] == "rp1-1" and len(told["cards"]) == 25
    assert told["result"]["boxes"][1]["groups"][0]["patterns"][0]["pattern"] == "stay"


def test_an_open_round_is_refused_and_nothing_of_it_told(
    played: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(RoundStillOpen):
        recall(played.journal, "rp1-6")
    for flags in ([], ["--json"]):
        assert main(["recall", str(played.journal), "6", *flags]) == 1
        told = capsys.readouterr()
        assert told.out == "" and "has not ended" in told.err


def test_a_folder_is_searched_from_the_newest_day_on(played: Session, first_day: Path) -> None:
    folder = first_day.parent
    assert recall(folder, "2").journal == first_day.name
    assert recall(folder, "5").journal == played.journal.name != first_day.name
    with pytest.raises(StationError, match="no round 77; it holds rp1-"):
        recall(folder, "77")


@pytest.mark.parametrize("name", ["0", "rp2-1", "", "one", "１"])
def test_a_round_that_is_not_there(first_day: Path, name: str) -> None:
    with pytest.raises(StationError, match="no round"):
        recall(first_day, name)


def test_a_round_that_went_through_a_restart(tmp_path: Path) -> None:
    config = write_config(tmp_path)
    first = Session(config).open_table().to_dealing()
    first.deal(9)
    first.stop()
    second = Session(config, first.clock.us + 60_000 * MILLISECOND, first_key=200)
    second.shoe = first.shoe
    second.bring_up()
    second.deal(11)
    second.all_decided("options")
    second.deal(5)
    second.all_decided("final_options")
    second.finish().clear().stop()
    told = recall(second.journal, "1")
    assert len(told.restarts) == 1
    assert {one.kind for one in told.incidents} == {"SCANNER_LOST", "RESTARTED"}
    assert told.commitments[0] == told.commitments[1] == 19


def test_facts_that_exclude_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = Session(write_config(tmp_path)).open_table().to_dealing()
    session.deal(20)
    session.all_decided("options", anyone_drew=False, in_play=False)
    while session.station.kernel.table.state.phase == "dealing" and "deal" in _owed(session):
        session.scan()
    if session.station.kernel.table.state.phase == "deciding":
        session.all_decided("final_options", in_play=False)
    for place in ("switch", "box1", "box3", "dealer"):
        session.send(i.TurnCards(place))
    session.send(i.ConfirmResult())
    session.clear().stop()
    told = recall(session.journal, "1")
    assert told.result is not None
    excluded = {group.excluded for group in told.result.boxes[1].groups}
    assert "NOBODY_DREW" in excluded
    assert main(["recall", str(session.journal), "1"]) == 0
    assert "not played: nobody had drawn" in capsys.readouterr().out


def _owed(session: Session) -> str:
    return type(session.station.kernel.table.state.in_play.run.owed).__name__.lower()


def test_no_journal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recall", str(tmp_path / "absent"), "1"]) == 2
    other = tmp_path / "x.journal"
    other.write_text("nothing")
    with pytest.raises(JournalError):
        recall(other, "1")
    assert main(["recall", str(other), "1"]) == 1
    assert "can't be read as a journal" in capsys.readouterr().err
