"""Log-in at a page: who gets in, how often one may try, and when it is over."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from pages.house import House, heard, live, log_in, press
from starlette.websockets import WebSocketDisconnect

from controller.station.pages.links import SESSION_OVER
from controller.station.pages.login import LogInForm
from controller.station.pages.sessions import Ended, Sessions
from controller.station.pages.throttle import Throttle
from controller.station.people import hashed, read_people, write_people
from controller.table import inputs as i
from controller.table.inputs import Role
from simulators.cast import PINS


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path)
    yield house
    house.close()


def test_a_pin_brings_a_dealer_on_duty_and_the_page_opens(house: House) -> None:
    with house.client() as client:
        answer = log_in(client)
        assert answer.status_code == 200
        assert house.table_state.duty.dealer is not None
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie and "samesite=strict" in cookie
        assert PINS["anna"] not in answer.text
        with live(client) as socket:
            welcome = heard(socket, "welcome")
            assert (welcome["actor"], welcome["role"]) == ("anna", "dealer")
            assert heard(socket, "view")["view"]["picture"]["dealer"] == "anna"


def test_a_badge_says_by_itself_whose_it_is(house: House) -> None:
    people = read_people(house.config.people)
    badge = hashed("0123456789", people.badge_salt, 16)
    write_people(house.config.people, people.with_person("anna", replace(people.people["anna"], badge=badge)))
    with house.client() as client:
        assert log_in(client, badge="9876543210").json()["reason"] == "WRONG_SECRET"
        assert log_in(client, badge="0123456789").json() == {"actor": "anna"}


def test_who_is_on_duty_comes_back_without_a_second_log_in_of_the_table(house: House) -> None:
    with house.client() as first, house.client() as second:
        assert log_in(first).status_code == 200
        assert log_in(second).status_code == 200
        assert [type(one.command) for one in house.taken] == [i.LogIn]
        assert log_in(second, pin="000000").json()["reason"] == "WRONG_SECRET"


def test_nobody_gets_in_at_another_roles_page_or_with_another_ones_pin(house: House) -> None:
    with house.client() as client:
        assert log_in(client, "boris").json()["reason"] == "WRONG_ROLE"
        assert log_in(client, pin=PINS["boris"]).json()["reason"] == "WRONG_SECRET"
        assert log_in(client, "mallory", pin="123123").json()["reason"] == "WRONG_SECRET"
        assert client.post("/login/nowhere", json={}).status_code == 404
        assert client.post("/login/dealer", content=b"x" * 10_000).status_code == 400
        with live(client) as socket, pytest.raises(WebSocketDisconnect) as ended:
            socket.receive_text()
        assert (ended.value.code, ended.value.reason) == (SESSION_OVER, Ended.UNKNOWN)


def test_five_wrong_pins_at_once_and_no_more(house: House) -> None:
    with house.client() as client:
        reasons = [log_in(client, "nobody", pin="999999") for _ in range(6)]
        assert [one.status_code for one in reasons] == [403] * 5 + [429]
        assert int(reasons[-1].headers["retry-after"]) <= 13


def test_the_table_itself_locks_out_who_is_wrong_too_often(house: House) -> None:
    """A wrong PIN at a page is a failed log-in of the table, as on the bus."""
    with house.client() as client:
        for _ in range(2):
            assert log_in(client, pin="999999").json()["reason"] == "WRONG_SECRET"
    assert house.table_state.duty.failures["anna"].count == 2


def test_a_log_out_ends_the_session_and_going_off_duty_too(house: House) -> None:
    with house.client() as client:
        log_in(client)
        assert client.post("/logout/dealer").status_code == 204
        with live(client) as socket, pytest.raises(WebSocketDisconnect):
            socket.receive_text()
        log_in(client)
        with live(client) as socket:
            shown = heard(socket, "view")
            socket.send_text(press(house, shown, {"command": "log_out"}))
            assert heard(socket, "answer")["accepted"]
            assert heard(socket, "over")["reason"] == Ended.OFF_DUTY


def test_a_restart_forgets_every_session(tmp_path: Path) -> None:
    before = House(tmp_path)
    with before.client() as client:
        log_in(client)
        cookies = dict(client.cookies)
    before.close()
    after = House(tmp_path)
    with after.client() as client:
        for name, value in cookies.items():
            client.cookies.set(name, value)
        with live(client) as socket, pytest.raises(WebSocketDisconnect):
            socket.receive_text()
    after.close()


def test_a_session_ends_by_idleness_and_by_age_but_never_inside_a_round() -> None:
    now = [0.0]
    sessions = Sessions(idle_s=60, life_s=200, now_s=lambda: now[0])
    token = sessions.begin("anna", "Anna", Role.DEALER).token
    now[0] = 61
    assert not isinstance(sessions.find(token, busy=True), Ended)
    session = sessions.find(token, busy=True)
    assert not isinstance(session, Ended)
    sessions.seen(session)
    now[0] = 120
    assert not isinstance(sessions.find(token), Ended)
    now[0] = 122
    assert sessions.find(token) is Ended.IDLE
    assert sessions.find(token) is Ended.UNKNOWN
    token = sessions.begin("anna", "Anna", Role.DEALER).token
    now[0] += 201
    assert sessions.find(token) is Ended.TOO_OLD


def test_tries_come_back_one_by_one() -> None:
    now = [100.0]
    throttle = Throttle(tries=2, each_s=10, now_s=lambda: now[0])
    for _ in range(2):
        assert throttle.wait_s("a") == 0
        throttle.count("a")
    assert throttle.wait_s("a") == 10
    assert throttle.wait_s("b") == 0
    now[0] += 10
    assert throttle.wait_s("a") == 0
    throttle.count("a")
    throttle.forgive("a")
    assert throttle.wait_s("a") == 0


def test_no_secret_is_in_the_text_of_a_form() -> None:
    assert "271828" not in repr(LogInForm("anna", pin="271828"))
