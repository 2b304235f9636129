"""A simulated table at whose page a person deals, and real browsers that look at it."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path

from e2e.test_simulation import demo_in
from playwright.sync_api import Browser, Page, TimeoutError, sync_playwright

from controller.station.config import load
from simulators.cast import PINS

ROOT = Path(__file__).parents[2]
ARTEFACTS = ROOT / "artefacts" / "pages"
SIZES = ((1280, 800), (1920, 1080))
LANGUAGES = ("en", "ru")
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
CLIPPED = """() => [...document.querySelectorAll("body *")]
    .filter((node) => node.clientWidth > 0 && node.checkVisibility() && node.scrollWidth > node.clientWidth)
    .map((node) => `${node.className} ${node.scrollWidth}>${node.clientWidth}: ${node.textContent}`)
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Table:
    """`tablectl simulate --dealer me` in a process of its own."""

    def __init__(self, folder: Path) -> None:
        path = demo_in(folder)
        self.port = free_port()
        text = path.read_text().replace("port = 0", f"port = {self.port}")
        path.write_text(text.replace("betting_ms = 15_000", "betting_ms = 30_000"))
        self.folder = load(path).table_dir
        self.home = f"http://127.0.0.1:{self.port}"
        words = [sys.executable, "-m", "controller.cli", "simulate", str(path), "--dealer", "me"]
        self.log = (folder / "simulation.log").open("wb")
        self.process = subprocess.Popen(words, stdout=self.log, stderr=self.log, start_new_session=True)
        deadline = time.monotonic() + 60
        while True:
            with suppress(OSError), urllib.request.urlopen(f"{self.home}/house", timeout=1):
                return
            assert self.process.poll() is None and time.monotonic() < deadline, self.log.name
            time.sleep(0.1)

    def daemon(self) -> int:
        """Return the process id of the daemon, the simulation's only child."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        [child] = children
        return int(child)

    def close(self) -> None:
        self.process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.log.close()


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start Debian's browser; playwright brings none of its own."""
    path = shutil.which("chromium")
    assert path is not None, "chromium is missing: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


class Person:
    """A person at a page: sees what stands there and presses what is offered."""

    def __init__(self, browser: Browser, home: str, language: str) -> None:
        width, height = SIZES[0]
        context = browser.new_context(
            viewport={"width": width, "height": height}, locale=language, reduced_motion="reduce"
        )
        self.page: Page = context.new_page()
        self.language = language
        self.faults: list[str] = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on(
            "console", lambda said: self.faults.append(said.text) if "ecurity" in said.text else None
        )
        self.page.goto(f"{home}/dealer")
        self.page.wait_for_selector(".person")

    def log_in(self, name: str = "Anna", pin: str = PINS["anna"]) -> None:
        self.page.get_by_role("button", name=name).click()
        for digit in pin:
            self.page.locator(".pad .digit", has_text=digit).click()
        self.page.locator(".doorstep .primary").click()
        self.page.wait_for_selector(".felt .place")

    @property
    def code(self) -> str:
        """The prompt."""
        return self.page.get_attribute(".now", "data-code") or ""

    def awaits(self, *codes: str) -> str:
        """Wait until one of these is to be done."""
        deadline = time.monotonic() + 40
        while self.code not in codes:
            assert time.monotonic() < deadline, f"{self.what()}, expected {', '.join(codes)}"
            self.page.wait_for_timeout(50)
        return self.code

    def key(self, name: str) -> None:
        """Press a key that is written on a button."""
        self.page.wait_for_selector(f'button[data-key="{name}"]')
        self.page.keyboard.press(name if name == "Space" else name.lower())

    def does(self, key: str = "Space") -> None:
        """Do what the page asks for until it asks for something else; a dropped press is made again."""
        before = self.what()
        for _ in range(4):
            self.key(key)
            with suppress(TimeoutError):
                self.page.wait_for_function(f"before => ({WHAT})() !== before", arg=before, timeout=8_000)
                return
        raise AssertionError(f"{before}: pressed, and nothing happened: {self.page.inner_text('.toasts')}")

    def what(self) -> str:
        return str(self.page.evaluate(f"({WHAT})()"))


WHAT = (
    "() => [document.querySelector('.now')?.dataset.code, document.querySelector('.now-prompt')?.textContent,"
    " document.querySelectorAll('.felt .card:not(.slot)').length].join('|')"
)


def barriers(person: Person) -> list[str]:
    """Return what axe finds serious on the page as it stands, or critical."""
    if not person.page.evaluate("() => Boolean(window.axe)"):
        person.page.evaluate(AXE)
    found = person.page.evaluate("() => axe.run({ resultTypes: ['violations'] })")
    return [
        f"{violation['id']}: {node['target']} {node['failureSummary']}"
        for violation in found["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]


def looked_at(people: list[Person], name: str) -> list[str]:
    """Keep a screenshot of what each sees at each size; returns texts that are cut off, and barriers."""
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    clipped = [f"{name}: {barrier}" for barrier in barriers(people[0])]
    for person in people:
        for width, height in SIZES:
            person.page.set_viewport_size({"width": width, "height": height})
            person.page.wait_for_timeout(60)
            found = person.page.evaluate(CLIPPED)
            clipped += [f"{name} {person.language} {width}: {one}" for one in found]
            person.page.screenshot(path=ARTEFACTS / f"dealer-{name}-{person.language}-{width}.png")
        width, height = SIZES[0]
        person.page.set_viewport_size({"width": width, "height": height})
    return clipped
