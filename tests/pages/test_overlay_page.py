"""The overlay in a real browser: what viewers see, when the video does, and nothing of a dead table."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from e2e.family import config_in
from pages.browser import ARTEFACTS, CLIPPED, LANGUAGES, chromium
from pages.house import House
from playwright.sync_api import Browser, Page

from controller.bus.envelope import decode
from controller.bus.snapshot import Snapshot
from controller.journal import Days
from controller.station.config import StationConfig
from controller.station.pages.server import Pages
from controller.station.pages_config import PagesFile
from controller.table import inputs as i
from controller.table.events import Audience, IncidentKind
from controller.table.picture import draw
from simulators.faults.catalogue import Amount, Plan
from simulators.faults.courses import course_of
from simulators.links import DirectLink
from simulators.simulate_command import START_US
from simulators.studio import Studio
from simulators.world import World

from station.recorded import Session  # isort: skip

SIZES = ((1280, 720), (1920, 1080))
FELT = "body { background: linear-gradient(#fff3d6, #b08a5a 30%, #3f7a52 60%, #12351f) }"
DELAY_MS = 700
OUTSIDE = """() => [...document.querySelectorAll(".plate")].filter((node) => {
    const { left, top, right, bottom } = node.getBoundingClientRect();
    const isOut = left < 0 || top < 0 || right > innerWidth + 1 || bottom > innerHeight + 1;
    return node.checkVisibility() && isOut;
}).map((node) => `outside: ${node.className}`)"""


class Served:
    """Pages on a loop of their own, in which `does` has something happen at their table."""

    def __init__(self, pages: Pages) -> None:
        self.pages = pages
        self.url = f"http://127.0.0.1:{pages.port}/overlay"
        self._ready = threading.Event()
        self._thread = threading.Thread(target=asyncio.run, args=(self._serve(),))
        self._thread.start()
        assert self._ready.wait(5)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._serving = asyncio.create_task(self.pages.run())
        self._ready.set()
        await asyncio.wait({self._serving})

    def does(self, what: Callable[[], Any]) -> None:
        async def done() -> None:
            what()

        asyncio.run_coroutine_threadsafe(done(), self._loop).result(10)

    def stands_still(self) -> Callable[[], None]:
        """Stop the loop as SIGSTOP stops a process; returns what lets it go on."""
        go_on = threading.Event()
        self._loop.call_soon_threadsafe(go_on.wait, 20)
        return go_on.set

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._serving.cancel)
        self._thread.join(10)
        self.pages.close()


class Poker(Served):
    """A table of live Russian Poker whose time goes on at the pace of the world."""

    def __init__(self, folder: Path) -> None:
        self.house = House(folder)
        self.session = self.house.session.open_table()
        self._ahead_us = self.session.clock.us - time.monotonic_ns() // 1_000
        self.house.clock = SimpleNamespace(now_us=self._now_us)  # type: ignore[assignment]
        super().__init__(self.house.pages)

    def _now_us(self) -> int:
        return time.monotonic_ns() // 1_000 + self._ahead_us

    def plays(self, what: Callable[[Session], Any]) -> None:
        def now() -> None:
            self.session.wait(max(0, self._now_us() - self.session.clock.us) // 1_000)
            what(self.session)

        self.does(now)

    def close(self) -> None:
        super().close()
        self.house.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Poker]:
    table = Poker(tmp_path)
    yield table
    table.close()


def viewer(browser: Browser, table: Served, asked: str = "") -> Page:
    """Open the overlay over something like a video."""
    page = browser.new_context(bypass_csp=True).new_page()
    page.goto(f"{table.url}?{asked}")
    page.add_style_tag(content=FELT)
    page.wait_for_selector(".overlay:not(.is-gone)")
    return page


def cards(page: Page) -> list[list[str]]:
    """Return what lies at each place."""
    return list(
        page.evaluate(
            "() => [...document.querySelectorAll('.place')].map((place) =>"
            " [...place.querySelectorAll('.card')].map((card) => card.getAttribute('aria-label')))"
        )
    )


def looked_at(pages: list[Page], name: str) -> list[str]:
    """Keep what each shows at each size; returns every text that is cut off or stands out of the picture."""
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    bad = []
    for page, language in zip(pages, LANGUAGES, strict=True):
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_timeout(400)
            bad += [f"{name} {language} {width}: {one}" for one in page.evaluate(CLIPPED)]
            bad += [f"{name} {language} {width}: {one}" for one in page.evaluate(OUTSIDE)]
            page.screenshot(path=ARTEFACTS / f"overlay-{name}-{language}-{width}.png")
    return bad


def to_the_end(session: Session) -> None:
    session.all_decided("options")
    session.deal(5)
    session.all_decided("final_options")
    session.finish()


def test_one_that_joins_in_mid_round_shows_what_lies_there(table: Poker, browser: Browser) -> None:
    """Then the rest of the round, in both languages and sizes, and one that is cancelled."""
    table.plays(lambda session: session.to_dealing().deal(9))
    pages = [viewer(browser, table, f"lang={language}") for language in LANGUAGES]
    assert [len(place) for place in cards(pages[0])] == [3, 2, 2, 2, 0]
    assert "face down" in cards(pages[0])[0]
    clear = "() => getComputedStyle(document.documentElement).backgroundColor"
    assert pages[0].evaluate(clear) == "rgba(0, 0, 0, 0)"
    bad = looked_at(pages, "dealing")
    table.plays(lambda session: session.deal(11))
    for page in pages:
        page.wait_for_selector(".clock:not([hidden])")
    assert pages[0].inner_text(".clock .left") in ("14", "15")
    bad += looked_at(pages, "options")
    table.plays(to_the_end)
    for page in pages:
        page.wait_for_selector(".ribbon.is-result")
    assert "face down" not in cards(pages[0])[0]
    assert pages[0].inner_text(".place-dealer .result").startswith("Ace-King")
    bad += looked_at(pages, "result")
    table.plays(lambda session: session.clear().to_dealing().deal(3))
    table.plays(lambda session: session.send(i.Observed(IncidentKind.CARD_ON_FLOOR, "box1")))
    for page, text in zip(pages, ("Please wait", "Подождите"), strict=True):
        page.wait_for_selector(".ribbon.is-ask")
        assert text in page.inner_text(".ribbon")
        assert "SIMUL" in page.inner_text(".source") or "СИМУЛЯЦИЯ" in page.inner_text(".source")
    bad += looked_at(pages, "wait")
    table.plays(lambda session: session.send(i.ConfirmCancel(), "boris"))
    for page in pages:
        page.wait_for_selector(".ribbon.is-stop")
    bad += looked_at(pages, "cancelled")
    assert not bad


def test_an_event_waits_for_the_video(table: Poker, browser: Browser) -> None:
    table.plays(lambda session: session.to_dealing().deal(5))
    page = viewer(browser, table, f"delay={DELAY_MS}")
    before = sum(map(len, cards(page)))
    told_at = time.monotonic()
    table.plays(lambda session: session.deal(1))
    page.wait_for_timeout(DELAY_MS - 250)
    assert sum(map(len, cards(page))) == before
    page.wait_for_function(f"() => document.querySelectorAll('.place .card').length === {before + 1}")
    assert DELAY_MS - 50 <= (time.monotonic() - told_at) * 1_000 <= DELAY_MS + 600


def test_a_dead_table_is_not_shown_and_comes_back_as_it_is(table: Poker, browser: Browser) -> None:
    table.plays(lambda session: session.to_dealing().deal(5))
    page = viewer(browser, table)
    go_on = table.stands_still()
    try:
        began = time.monotonic()
        gone = "() => getComputedStyle(document.querySelector('.overlay')).opacity === '0'"
        page.wait_for_function(gone, timeout=4_000)
        assert time.monotonic() - began < 3
    finally:
        go_on()
    table.plays(lambda session: session.deal(3))
    page.wait_for_selector(".overlay:not(.is-gone)", timeout=10_000)
    page.wait_for_function("() => document.querySelectorAll('.place .card').length === 8")


def play_coups(config: StationConfig) -> None:
    plan = Plan(3, Amount.NONE, course=course_of(config.game, config.settings.boxes_not_told))
    studio = Studio(config, seed=3, rounds=2, plan=plan)
    link = DirectLink(config, START_US)
    asyncio.run(World(link, studio.actors, is_done=studio.dealer.is_done).run())


def test_baccarat_has_a_layout_of_its_own(tmp_path: Path, table: Poker, browser: Browser) -> None:
    (tmp_path / "coup").mkdir()
    config = config_in(tmp_path / "coup", "baccarat")
    playing = threading.Thread(target=play_coups, args=(config,))
    playing.start()  # The browser has the loop of this thread.
    playing.join()
    messages = [raw for _, raw in Days(config.table_dir).messages("public", 1, 10_000)]
    types = [decode(raw).type.split(".", 1)[1] for raw in messages]
    dealt = types.index("card.dealt.v1") + 3
    end = types.index("round.confirmed.v1") + 1
    told = Snapshot(table=config.settings.table, audience=Audience.PUBLIC)
    house: Any = SimpleNamespace(config=config, clock=SimpleNamespace(now_us=lambda: START_US))
    picture = draw(table.house.table_state)
    coup = Served(Pages(house, PagesFile(port=0), snapshot=told, picture=picture))
    try:
        coup.does(lambda: coup.pages.show(picture, messages[:dealt]))
        pages = [viewer(browser, coup, f"lang={language}") for language in LANGUAGES]
        assert sum(map(len, cards(pages[0]))) == 3
        coup.does(lambda: coup.pages.show(picture, messages[dealt:end]))
        for page in pages:
            page.wait_for_selector(".ribbon.is-result")
        assert {*map(len, cards(pages[0]))} <= {2, 3}
        assert "points" in pages[0].inner_text(".place-banker .result")
        assert not looked_at(pages, "coup")
    finally:
        coup.close()
