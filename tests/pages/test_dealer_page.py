"""The dealer's page in a real browser: a round played through it alone, and a table that stands still."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pages.browser import LANGUAGES, Person, Table, chromium, looked_at
from playwright.sync_api import Browser

from controller.journal import Days

STEPS = ("DEAL_CARD", "WAIT_FOR_PLAYERS", "SCAN_TO_BURN", "TURN", "LAY_ASIDE", "CONFIRM_RESULT")


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    table = Table(tmp_path)
    yield table
    table.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


def audit(table: Table) -> str:
    """Return all that the table has told its auditors."""
    messages = Days(table.folder).messages("audit", 1, 100_000)
    return "\n".join(raw.decode() for _, raw in messages)


def open_table(dealer: Person) -> None:
    """From a closed table to START."""
    dealer.awaits("OPEN_TABLE")
    dealer.does()
    dealer.awaits("LOAD_DECK")
    dealer.key("D")  # One draw; the simulated hand goes on until all are in.
    dealer.awaits("VERIFY_DECK")
    dealer.key("Space")
    dealer.page.locator("dialog .digit.primary").click()
    dealer.awaits("SHUFFLE")
    dealer.does()
    dealer.awaits("START")


def test_a_whole_round_is_played_through_the_page_alone(table: Table, browser: Browser) -> None:
    """With a re-scan, a burned card and a cancel; no text is cut off, nothing bars the way."""
    people = [Person(browser, table.home, language) for language in LANGUAGES]
    dealer = people[0]
    found = looked_at(people, "who")
    for person in people:
        person.log_in()
    found += looked_at(people, "closed")
    open_table(dealer)
    found += looked_at(people, "start")
    dealer.does()
    dealer.awaits("PLACE_BETS")
    dealer.page.wait_for_timeout(4_000)  # Until somebody has bet.
    found += looked_at(people, "bets")
    dealer.does()

    for _ in range(7):
        dealer.awaits("DEAL_CARD")
        dealer.does()
    assert "Card taken" in dealer.page.inner_text(".taken")
    found += looked_at(people, "dealing")
    dealer.does("R")
    assert dealer.code == "SCAN_AGAIN"
    found += looked_at(people, "rescan")
    dealer.does()

    burned = False
    while (code := dealer.awaits(*STEPS)) != ("CONFIRM_RESULT"):
        if code != "WAIT_FOR_PLAYERS":
            dealer.does()
        elif burned:
            dealer.page.wait_for_timeout(100)
        else:
            found += looked_at(people, "players")
            dealer.does("D")  # A card too early.
            assert dealer.code == "FACE_SEEN"
            found += looked_at(people, "question")
            dealer.does("N")
            burned = True
    assert burned and dealer.page.inner_text('[data-place="burn"] .count') == "1"
    found += looked_at(people, "result")
    dealer.key("Space")
    dealer.page.locator(".undo button").click()
    dealer.page.wait_for_timeout(2_000)
    assert dealer.code == "CONFIRM_RESULT", "it was taken back"
    dealer.does()
    assert dealer.awaits("CLEAR_TABLE")
    found += looked_at(people, "confirmed")
    dealer.does()
    dealer.awaits("SHUFFLE")
    told = audit(table)
    for event in ("incident.opened", "card.burned", "round.confirmed", "round.closed"):
        assert f'"type":"tablectl.{event}.v1"' in told, event
    cancel_a_round(dealer, people, found)
    assert not found, "\n".join(found)
    assert not [fault for person in people for fault in person.faults]


def cancel_a_round(dealer: Person, people: list[Person], found: list[str]) -> None:
    """The dealer asks for a cancel, a supervisor confirms it."""
    dealer.does()
    dealer.awaits("START")
    dealer.does()
    dealer.does()
    dealer.awaits("DEAL_CARD")
    dealer.does()
    dealer.key("H")
    found += looked_at(people[:1], "report")
    dealer.page.locator("dialog header button").click()
    dealer.key("C")
    dealer.page.get_by_role("button", name="Cards were collected too early").click()
    found += looked_at(people[:1], "cancel")
    dealer.page.get_by_role("button", name="Table", exact=True).click()
    dealer.page.wait_for_selector(".now.is-stop")
    found += looked_at(people, "supervisor")
    dealer.awaits("CLEAR_TABLE")
    found += looked_at(people, "cancelled")


def test_a_table_that_stands_still_covers_the_page_and_no_press_fires_late(
    table: Table, browser: Browser
) -> None:
    dealer = Person(browser, table.home, "en")
    dealer.log_in()
    open_table(dealer)
    os.kill(table.daemon(), signal.SIGSTOP)
    began = time.monotonic()
    try:
        dealer.page.keyboard.press("Space")  # START, on a page that does not know yet.
        dealer.page.wait_for_selector(".cover:not([hidden])", timeout=3_000)
        assert time.monotonic() - began < 3
        assert dealer.page.evaluate("document.querySelector('.page').inert")
        assert not looked_at([dealer], "covered")
        dealer.page.keyboard.press("Space")
        dealer.page.wait_for_timeout(4_000)
    finally:
        os.kill(table.daemon(), signal.SIGCONT)
    dealer.page.wait_for_selector(".cover", state="hidden", timeout=10_000)
    dealer.page.wait_for_timeout(500)
    assert dealer.code == "START" and "round.opened" not in audit(table)
    assert "Lost" in dealer.page.inner_text(".toasts")
    dealer.does()
    assert dealer.code == "PLACE_BETS"
