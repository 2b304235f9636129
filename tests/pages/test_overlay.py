"""The overlay's connection: the public feed alone, whole and newest, for anybody on this machine."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pages.house import House, heard
from pages.test_presses import Stuck
from starlette.testclient import TestClient, WebSocketTestSession
from starlette.websockets import WebSocketDisconnect
from table.dealt import HANDS, PLAYS

from controller.station.pages import links
from controller.station.pages.links import NOT_UNDERSTOOD, TOO_FAST
from controller.station.pages.overlay import ECHOES_A_SECOND_MAX, FULL, OVERLAYS_MAX, OverlayLink
from controller.station.pages.overlay_view import BACK, overlay_hall, overlay_view
from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import IncidentKind


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path)
    house.session.open_table()
    yield house
    house.close()


def overlay(client: TestClient) -> WebSocketTestSession:
    return client.websocket_connect(f"ws://{client.base_url.netloc.decode()}/live/overlay")


def now_shown(house: House) -> Any:
    """Return what an overlay gets that joins now, as its page reads it."""
    with house.client() as client, overlay(client) as socket:
        first = json.loads(socket.receive_text())
        assert first["frame"] == "welcome"
        shown = json.loads(socket.receive_text())  # The whole table at once, before anything else.
        assert shown["frame"] == "view"
        return shown["view"]


def test_one_who_joins_in_mid_round_is_told_what_lies_there(house: House) -> None:
    house.session.to_dealing()
    house.session.deal(10)
    view = now_shown(house)
    assert (view["phase"], view["round_no"], view["dealer_name"]) == (Phase.DEALING, 1, "Anna")
    assert {place: len(cards) for place, cards in view["places"].items()} == {
        "box1": 3, "box2": 3, "box3": 2, "dealer": 2
    }  # fmt: skip
    house.session.deal(10)
    window = now_shown(house)["window"]
    assert (window["stage"], window["duration_ms"]) == ("options", 15_000)
    assert window["closes_at_us"] > house.clock.us


def test_no_frame_names_a_card_before_it_is_turned(house: House) -> None:
    """After every step of a round: what is named lies open to the camera, and nothing else is told of it."""
    session, seen = house.session, []
    show = house.pages.show

    def spied(picture: Any, messages: Any) -> None:
        show(picture, messages)
        seen.append(overlay_view(house.pages._board.snapshot))

    house.pages.show = spied  # type: ignore[method-assign]
    session.round()
    turned: set[str] = set()
    for view in seen:
        named = {card for cards in view.places.values() for card in cards if card != BACK}
        spoken = json.dumps([[*hand.cards] for hand in view.hands.values()])
        assert all(card in named for cards in json.loads(spoken) for card in cards)
        turned |= named
    first = next(view for view in seen if any(BACK not in cards for cards in view.places.values()))
    backs = [cards for view in seen[: seen.index(first)] for cards in view.places.values()]
    assert backs and turned >= set(HANDS["box1"].split()) | set(PLAYS["dealer"].split())


def test_a_result_stands_once_it_is_confirmed_until_the_next_round(house: House) -> None:
    session = house.session.to_dealing().to_turns()
    for place in ("switch", "box1", "box3", "dealer"):
        session.send(i.TurnCards(place))
    proposed = now_shown(house)
    assert proposed["phase"] == Phase.RESULT_PROPOSED and "result" not in proposed
    assert BACK not in proposed["places"]["dealer"]
    session.send(i.ConfirmResult())
    confirmed = now_shown(house)
    assert confirmed["result"]["dealer"]["qualified"] is True
    session.clear().to_dealing()
    assert not {"places", "hands", "result", "window"} & now_shown(house).keys()


def test_viewers_are_asked_to_wait_and_told_of_a_cancel(house: House) -> None:
    session = house.session.to_dealing()
    session.deal(3)
    session.send(i.Observed(IncidentKind.CARD_ON_FLOOR, "box1"))
    waiting = now_shown(house)
    assert waiting["held"] is True and "CARD_ON_FLOOR" not in json.dumps(waiting)
    session.send(i.ConfirmCancel(), "boris")
    assert now_shown(house)["cancelled"] == "CARD_ON_FLOOR"


def test_nothing_goes_out_when_the_public_hears_nothing(house: House) -> None:
    """A refused press is a step that only the house hears of; the overlay is sent its beat."""
    house.session.to_dealing()
    with house.client() as client, overlay(client) as socket:
        shown = heard(socket, "view")
        house.session.send(i.OpenBetting())
        house.session.send(i.OpenTable())
        assert json.loads(socket.receive_text())["frame"] == "beat"
        assert shown["moment"] == house.pages._board.snapshot.seq


def test_it_needs_no_log_in_but_our_name_and_our_page(house: House) -> None:
    with house.client() as client:
        assert client.get("/overlay").status_code == 200
        client.headers["origin"] = "https://evil.example"
        with pytest.raises(WebSocketDisconnect), overlay(client):
            pass
    with (
        house.client(host="evil.example") as client,
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect("ws://evil.example/live/overlay"),
    ):
        pass


@pytest.mark.parametrize(
    "raw",
    ["", "{}", '{"frame":"echo","rules":"X"}', '{"frame":"press","request":"p1","command":{}}'],
)
def test_it_presses_nothing(house: House, raw: str) -> None:
    with house.client() as client, overlay(client) as socket:
        socket.send_text(raw)
        with pytest.raises(WebSocketDisconnect) as ended:
            heard(socket, "answer")
        assert ended.value.code == NOT_UNDERSTOOD
    assert not house.taken


def test_the_log_says_which_rules_an_overlay_shows(house: House, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "station")
    with house.client() as client, overlay(client) as socket:
        rules = heard(socket, "view")["view"]["rules"]
        for told in (rules, rules, "0" * 64):
            socket.send_text(json.dumps({"frame": "echo", "rules": told}))
        for _ in range(ECHOES_A_SECOND_MAX):
            socket.send_text(json.dumps({"frame": "echo", "rules": rules}))
        with pytest.raises(WebSocketDisconnect) as ended:
            heard(socket, "answer")
        assert ended.value.code == TOO_FAST
    said = [record.levelname for record in caplog.records if "overlay" in record.getMessage()]
    assert said[:2] == ["INFO", "WARNING"]


def test_there_is_room_for_so_many(house: House) -> None:
    for _ in range(OVERLAYS_MAX):
        link = OverlayLink(Stuck(), house=house, board=house.pages._board)  # type: ignore[arg-type]
        house.pages._overlays._links.add(link)
    with (
        house.client() as client,
        overlay(client) as socket,
        pytest.raises(WebSocketDisconnect) as ended,
    ):
        socket.receive_text()
    assert ended.value.code == FULL


def test_one_that_stops_reading_gets_the_newest_alone_and_slows_nothing(house: House) -> None:
    """Whole rounds go by while it sleeps; after the gap it is told of the table as it then lies, once."""

    async def play() -> list[Any]:
        socket = Stuck()
        link = OverlayLink(socket, house=house, board=house.pages._board)  # type: ignore[arg-type]
        house.pages._overlays._links.add(link)
        running = asyncio.create_task(link.run(overlay_hall(house.config, 0)))
        await asyncio.sleep(0)
        house.session.round().round().to_dealing().deal(4)
        socket.open.set()
        await asyncio.sleep(0.2)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return [json.loads(text) for text in socket.sent]

    welcome, shown = asyncio.run(play())
    assert (welcome["frame"], shown["frame"]) == ("welcome", "view")
    assert shown["view"]["round_no"] == 3 and shown["moment"] == house.pages._board.snapshot.seq
    assert sum(map(len, shown["view"]["places"].values())) == 4


def test_one_that_never_reads_is_cut(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "SEND_S", 0.05)

    async def play() -> None:
        link = OverlayLink(Stuck(), house=house, board=house.pages._board)  # type: ignore[arg-type]
        async with asyncio.timeout(2):
            await link.run(overlay_hall(house.config, 0))

    asyncio.run(play())
