"""Presses of a page: the table's own commands, taken at once or dropped, and never later."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pages.house import House, heard, live, log_in, press
from starlette.websockets import WebSocketDisconnect

from controller.station.pages.links import FRAMES_A_SECOND_MAX, NOT_UNDERSTOOD, TOO_FAST, Link
from controller.station.pages.sessions import Session
from controller.station.pages.views import VIEWS, hall
from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import Refusal
from controller.table.inputs import Role

OPEN = {"command": "open_table"}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path)
    yield house
    house.close()


def test_a_press_is_the_command_of_the_bus_and_is_answered(house: House) -> None:
    with house.client() as client:
        log_in(client)
        with live(client) as socket:
            socket.send_text(press(house, heard(socket, "view"), OPEN))
            shown = heard(socket, "view")
            assert shown["view"]["picture"]["phase"] == Phase.DECK_CHECK
            assert heard(socket, "answer") == {"frame": "answer", "request": "p1", "accepted": True}
            socket.send_text(press(house, shown, {"command": "confirm_shuffle"}, "p2"))
            assert heard(socket, "answer")["reason"] == Refusal.WRONG_PHASE
    assert [(one.actor, type(one.command)) for one in house.taken[1:]] == [
        ("anna", i.OpenTable),
        ("anna", i.ConfirmShuffle),
    ]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"until_us": 1}, "PRESSED_LATE"),
        ({"until_us": 1 << 62}, "PRESSED_LATE"),
        ({"moment": 0}, "TABLE_MOVED_ON"),
        ({"command": {"command": "log_in", "role": "supervisor"}}, "NOT_FROM_HERE"),
        ({"command": {"command": "bets_taken", "boxes": {}}}, "NOT_FROM_HERE"),
        ({"command": {"command": "go_on"}}, "WRONG_ROLE"),
        ({"round_no": 7}, "EXPIRED_REQUEST"),
    ],
)
def test_what_is_late_stale_or_not_for_a_page_is_dropped(
    house: House, changed: dict[str, Any], reason: str
) -> None:
    with house.client() as client:
        log_in(client)
        with live(client) as socket:
            socket.send_text(press(house, heard(socket, "view"), **{"command": OPEN, **changed}))
            answer = heard(socket, "answer")
            assert (answer["accepted"], answer["reason"]) == (False, reason)
    assert house.table_state.phase is Phase.CLOSED


def test_a_report_is_not_lost_to_a_table_that_has_moved_on(house: House) -> None:
    with house.client() as client:
        log_in(client)
        with live(client) as socket:
            stale = press(
                house, heard(socket, "view"), {"command": "pause_table", "reason": "BREAK"}, moment=0
            )
            socket.send_text(stale)
            assert heard(socket, "answer").get("reason") != "TABLE_MOVED_ON"


@pytest.mark.parametrize("raw", ["", "{}", '{"frame":"press"}', "[1]", '{"frame":"welcome"}'])
def test_what_is_no_press_ends_the_connection(house: House, raw: str) -> None:
    with house.client() as client:
        log_in(client)
        with live(client) as socket:
            socket.send_text(raw)
            with pytest.raises(WebSocketDisconnect) as ended:
                heard(socket, "answer")
            assert ended.value.code == NOT_UNDERSTOOD


def test_a_page_that_presses_without_end_is_cut(house: House) -> None:
    with house.client() as client:
        log_in(client)
        with live(client) as socket:
            shown = heard(socket, "view")
            for number in range(FRAMES_A_SECOND_MAX + 5):
                socket.send_text(press(house, shown, OPEN, f"p{number}", moment=0))
            with pytest.raises(WebSocketDisconnect) as ended:
                while True:
                    heard(socket, "answer")
            assert ended.value.code == TOO_FAST


class Stuck:
    """A socket whose other end reads as slowly as it likes."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.open = asyncio.Event()
        self.application_state = None

    async def send_text(self, text: str) -> None:
        await self.open.wait()
        self.sent.append(text)

    async def receive_text(self) -> str:
        await asyncio.Event().wait()
        raise AssertionError

    async def close(self, code: int) -> None: ...


def test_a_page_that_does_not_read_gets_the_newest_picture_alone(house: House) -> None:
    """Five hundred pictures while it sleeps; it hears of the last one, and nothing was kept."""

    async def play() -> list[str]:
        socket = Stuck()
        session = Session("t", "anna", "Anna", Role.DEALER, 0.0, 0.0)
        link = Link(socket, session, VIEWS["dealer"], house=house, board=house.pages._board)  # type: ignore[arg-type]
        running = asyncio.create_task(
            link.run(
                hall(house.config, draws=False), why_over=lambda: None, seen=lambda: None, draw_card=None
            )
        )
        await asyncio.sleep(0)
        for _ in range(500):
            house.pages.show(house.pages._board.picture, ())
            link.wake()
        socket.open.set()
        await asyncio.sleep(0.2)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return socket.sent

    assert [frame.split('"')[3] for frame in asyncio.run(play())][:1] == ["welcome"]
    assert len(asyncio.run(play())) == 2


def test_a_page_that_never_reads_is_cut_and_the_table_goes_on(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controller.station.pages.links.SEND_S", 0.05)

    async def play() -> None:
        session = Session("t", "anna", "Anna", Role.DEALER, 0.0, 0.0)
        link = Link(Stuck(), session, VIEWS["dealer"], house=house, board=house.pages._board)  # type: ignore[arg-type]
        async with asyncio.timeout(2):
            await link.run(
                hall(house.config, draws=False), why_over=lambda: None, seen=lambda: None, draw_card=None
            )

    asyncio.run(play())
