"""Watch: the picture says what the public feed says, and when it has fallen silent."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zmq
from bus.conftest import context, directory, running_bus
from bus.streams import normal_round
from rich.console import Console
from station.recorded import Session, cancelled_round, write_config
from table.dealt import FAILS

from controller.bus.endpoints import Endpoints
from controller.bus.snapshot import IncidentState, Snapshot, fold
from controller.cli import main
from controller.station.watch import card_text, render
from controller.station.watch_command import follow
from controller.table.events import Audience

__all__ = ["context", "directory"]


def picture(snapshot: Snapshot, now_us: int = 0, *, stale: bool = False) -> str:
    """Return what a plain terminal of 120 columns shows."""
    console = Console(width=120, color_system=None)
    with console.capture() as shown:
        console.print(render(snapshot, now_us, stale=stale))
    return shown.get()


class Watched(Session):
    """A session that somebody watches."""

    @property
    def snapshot(self) -> Snapshot:
        empty = Snapshot(table="rp1", audience=Audience.PUBLIC)
        return fold(empty, self.feeds.sent[Audience.PUBLIC])

    def seen(self, **how: bool) -> str:
        return picture(self.snapshot, self.clock.us, **how)


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    session = Watched(write_config(tmp_path))
    session.open_table()
    yield session
    session.stop()


def test_a_table_without_a_round(watched: Watched) -> None:
    assert "the deck is shuffled" in watched.seen()
    assert "no card" in watched.seen()
    assert "rp1" in picture(Snapshot(table="rp1", audience=Audience.PUBLIC))


def test_backs_for_hidden_cards_and_faces_for_open_ones(watched: Watched) -> None:
    watched.to_dealing()
    watched.deal(20)
    shown = watched.seen()
    assert shown.count("▒▒") == 14
    for card in ("A♠", "K♦", "8♣", "5♦", "3♥", "3♣"):
        assert card in shown
    assert "round rp1-1" in shown and "players choose" in shown


def test_a_window_counts_down_and_ends(watched: Watched) -> None:
    watched.to_dealing()
    watched.deal(20)
    assert "options: 15 s left" in watched.seen()
    assert "options: 1 s left" in picture(watched.snapshot, watched.clock.us + 14_000_001)
    assert "options: time is over" in picture(watched.snapshot, watched.clock.us + 15_000_001)
    watched.wait(15_100)
    assert "options: closed (time)" in watched.seen()


def test_an_incident_says_what_is_waited_for(watched: Watched) -> None:
    watched.to_dealing()
    watched.deal(2)
    watched.chunk(b"NOREAD\n")
    assert "HELD: Scan card 1 of box 3 again (FAILED_READ, cell RPL-75)" in watched.seen()
    watched.scan()
    assert "HELD" not in watched.seen()


def test_an_incident_of_another_version_shows_its_code() -> None:
    incident = IncidentState(incident=1, kind="ODD", cell="99", prompt="STAND_ON_ONE_LEG")
    assert "HELD: STAND_ON_ONE_LEG" in picture(
        Snapshot(table="rp1", audience=Audience.PUBLIC, incidents=(incident,))
    )


def test_a_round_that_is_dealt_anew_says_so() -> None:
    """OAB-24."""
    shuffling = Snapshot(table="ob1", audience=Audience.PUBLIC, roundid="ob1-4", deal=2, phase="shuffling")
    shown = picture(shuffling)
    assert "round ob1-4, deal 2  the deck is shuffled" in shown
    assert "the round is dealt anew, bets stand" in shown
    assert "dealt anew" not in picture(msgspec.structs.replace(shuffling, phase="dealing"))


def test_results_stay_until_the_next_one(watched: Watched) -> None:
    watched.round()
    assert "last result (rp1-1): dealer AK; box 1 wins; box 2 loses as dealt" in watched.seen()
    watched.to_dealing(FAILS)
    assert "last result (rp1-1)" in watched.seen()
    watched.to_turns().finish()
    shown = watched.seen()
    assert "last result (rp1-2): dealer does not qualify; bought: dealer does not qualify" in shown
    assert "K♥ (aside)" in shown and "▒▒" not in shown
    watched.clear()
    cancelled_round(watched)
    shown = watched.seen()
    assert "cancelled, CARD_ON_FLOOR; everything is refunded" in shown and "burned: 1" in shown


def test_silence_is_shown(watched: Watched) -> None:
    assert "STALE" not in watched.seen()
    assert "STALE: nothing heard for 3 s" in watched.seen(stale=True)


def test_cards_have_the_colour_of_their_suit() -> None:
    assert (card_text("Td").plain, card_text("As").plain) == (" 10♦ ", " A♠ ")
    assert "red" in str(card_text("Td").style) and "red" not in str(card_text("As").style)
    assert card_text("??").plain == "??"


# Over the bus.


def test_watch_follows_a_running_table(
    directory: Path, context: zmq.Context[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controller.bus.gap_keeper.STALE_US", 400_000)
    seen: list[tuple[Snapshot, bool]] = []
    with running_bus(Endpoints.ipc(directory, "rp1"), context) as bus:

        async def watch() -> None:
            following = asyncio.create_task(
                follow(bus.feed(Audience.PUBLIC), lambda snapshot, stale: seen.append((snapshot, stale)))
            )
            await until(lambda: bool(seen))
            for step in normal_round(1):
                bus.step(step)
                bus.alive()
                await asyncio.sleep(0.01)
            await until(lambda: seen[-1][0].last is not None)
            bus.alive()
            await until(lambda: seen[-1][1] is False)
            await until(lambda: seen[-1][1] is True)
            following.cancel()

        asyncio.run(watch())
    assert [snapshot.seq for snapshot, _ in seen] == sorted(snapshot.seq for snapshot, _ in seen)


async def until(happened: Any) -> None:
    deadline = time.monotonic() + 10
    while not happened():
        assert time.monotonic() < deadline, "nothing happened for 10 s"
        await asyncio.sleep(0.02)


def test_without_a_terminal_one_picture_is_printed(
    directory: Path, context: zmq.Context[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    config = write_config(directory)
    with running_bus(Endpoints.ipc(directory / "run", "rp1"), context) as bus:
        for step in normal_round(1):
            bus.step(step)
        assert main(["watch", str(config)]) == 0
    assert "rp1" in capsys.readouterr().out


def test_a_table_that_does_not_run(
    directory: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controller.station.watch_command.ANSWER_S", 0.3)
    assert main(["watch", str(write_config(directory))]) == 1
    assert "does not answer" in capsys.readouterr().err
    assert main(["watch", str(directory / "absent.toml")]) == 2
