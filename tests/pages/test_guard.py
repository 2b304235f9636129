"""What is in front of the pages: hosts, origins, headers, and what is served at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from pages.house import House, live, log_in
from starlette.websockets import WebSocketDisconnect

from controller.station.config import load
from controller.station.errors import ConfigError, PagesRefused
from controller.station.pages.server import Pages

from station.recorded import write_config  # isort: skip

STATIC = files("controller.station.pages").joinpath("static")


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path)
    yield house
    house.close()


def test_a_name_that_was_pointed_at_us_is_refused(house: House) -> None:
    with house.client(host="evil.example") as client:
        assert client.get("/dealer").status_code == 403
        assert client.get("/house").status_code == 403


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "", "http://localhost:1"])
def test_nothing_is_changed_from_another_origin(house: House, origin: str) -> None:
    with house.client() as client:
        assert log_in(client).status_code == 200
        client.headers["origin"] = origin
        assert log_in(client).status_code == 403
        assert client.post("/logout/dealer").status_code == 403
        with pytest.raises(WebSocketDisconnect), live(client):
            pass


def test_every_answer_has_the_policy_and_no_page_has_anything_inline(house: House) -> None:
    with house.client() as client:
        for path in ("/dealer", "/static/base.css", "/static/nothing", "/house", "/texts/ru", "/nowhere"):
            headers = client.get(path).headers
            policy = headers["content-security-policy"]
            assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy
            assert headers["x-content-type-options"] == "nosniff"
    for item in STATIC.iterdir():
        text = item.read_text(encoding="utf-8")
        if item.name.endswith(".html"):
            assert not re.search(r"<script(?![^>]*src=)|<style|\son\w+=|style=", text), item.name
        outside = set(re.findall(r"https?://[^\s\"')]+", text)) - {"http://www.w3.org/2000/svg"}
        assert not outside, f"{item.name} asks an outside host"
        assert "innerHTML" not in text, item.name


def test_files_are_asked_for_once(house: House) -> None:
    with house.client() as client:
        first = client.get("/static/base.css")
        again = client.get("/static/base.css", headers={"if-none-match": first.headers["etag"]})
        assert (first.status_code, again.status_code) == (200, 304)
        assert client.get("/static/../server.py").status_code == 404
        assert client.get("/texts/xx").status_code == 404


def test_the_pages_stay_on_this_machine(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"pages\.address.*reverse proxy"):
        load(write_config(tmp_path, **{"port = 0": 'port = 0\naddress = "0.0.0.0"'}))


def test_an_address_that_is_taken_says_so(house: House, tmp_path: Path) -> None:
    assert house.config.pages is not None
    house.pages._socket.listen()
    taken = type(house.config.pages)(port=house.pages.port)
    with pytest.raises(PagesRefused, match="each needs a port of its own"):
        Pages(house, taken, snapshot=house.pages._board.snapshot, picture=house.pages._board.picture)
