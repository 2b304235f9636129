"""What `tablectl simulate` shows: the table and the players' balances, or a progress bar."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.table import Table as Grid

from controller.station.config import StationConfig
from controller.station.pages.views import VIEWS
from controller.station.watch import render
from controller.table.events import AUDIENCES, Audience
from simulators.cast import PINS, ROLES
from simulators.studio import OPENING_BALANCE, Studio

PLAIN_CONSUMER = Path(__file__).parents[1] / "docs" / "bus" / "plain_consumer.py"
LISTENS_TO = Audience.SETTLEMENT


def how_to_listen(config: StationConfig) -> str:
    """Return the table's endpoints and lines to copy: what a sandbox has for whoever writes a consumer."""
    known, table = config.endpoints, config.settings.table
    feeds = [f"  {audience:<12}{known.live[audience]}  {known.replay[audience]}" for audience in AUDIENCES]
    lines = [
        "the bus of this table: live feed and replay of each audience",
        *feeds,
        f"  {'commands':<12}{known.betting}  {known.operator}  {known.consumer}",
        "in another terminal",
        f"  {sys.argv[0]} watch {config.path}",
    ]
    if config.pages is not None:
        lines += pages_of(config)
    if PLAIN_CONSUMER.exists():  # Not where the package is installed from a wheel.
        program = f"{sys.executable} {os.path.relpath(PLAIN_CONSUMER)}"
        feed = f"{known.live[LISTENS_TO]} {known.replay[LISTENS_TO]}"
        what = f"{table} {LISTENS_TO} {config.environment} {config.table_dir}/effects --from-first"
        lines.append(f"  {program} {feed} {what}")
    return "\n".join(lines)


def pages_of(config: StationConfig) -> list[str]:
    """Return the addresses of the pages, and who logs in there with which PIN; these PINs are no secrets."""
    assert config.pages is not None
    home = f"http://{config.pages.address}:{config.pages.port}"
    by_role = {role: [name for name in PINS if ROLES[name] is role] for role in ROLES.values()}
    return [
        "the pages, in a browser on this machine",
        *(
            f"  {home}/{view.name:<12}{', '.join(f'{name} {PINS[name]}' for name in by_role[view.role])}"
            for view in VIEWS.values()
        ),
        f"  {home}/{'overlay':<12}over the stream, without log-in: ?delay=2500&lang=ru",
    ]


class Show:
    """The live picture of a simulated table at real pace."""

    def __init__(self, config: StationConfig, studio: Studio) -> None:
        self._config = config
        self._studio = studio
        self._live = Live(get_renderable=self._picture, refresh_per_second=4, transient=False)

    def refresh(self) -> None:
        """The picture redraws itself."""

    def _picture(self) -> Group:
        now_us = time.time_ns() // 1_000
        folder = self._config.table_dir
        picture = self._studio.dealer.picture
        todo = "" if picture is None else f"next at the table: {picture.prompt.text}"
        where = "\n".join(
            (
                f"journal  {folder}/*.journal",
                f"bus      {self._config.endpoints.live[Audience.PUBLIC]}",
                f"daemon   {folder}/daemon.log",
                "Ctrl-C ends it.",
            )
        )
        watched = render(self._studio.overlay.snapshot, now_us)
        return Group(watched, todo, Panel(self._balances(), title="players"), where)

    def _balances(self) -> Grid:
        across = max(1, min(3, Console().width // 36))
        grid = Grid(box=None, pad_edge=False)
        for column in ("player", "balance", "won or lost") * across:
            grid.add_column(column, justify="left" if column == "player" else "right", no_wrap=True)
        cells = []
        for player, balance in sorted(self._studio.wallet.balances().items()):
            change = balance - OPENING_BALANCE
            colour = "green" if change > 0 else "red" if change < 0 else "dim"
            cells += [player, f"{balance / 100:,.2f}", f"[{colour}]{change / 100:+,.2f}[/]"]
        for first in range(0, len(cells), 3 * across):
            grid.add_row(*cells[first : first + 3 * across])
        return grid

    def __enter__(self) -> Show:
        # Before the picture, which would break these lines at the width of the terminal.
        sys.stdout.write(how_to_listen(self._config) + "\n\n")
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()
        if not self._live.console.is_terminal:
            sys.stdout.write("\n")  # what a terminal gets from `stop`


class Progress:
    """A progress bar over the rounds of a fast simulation."""

    def __init__(self, studio: Studio, rounds: int) -> None:
        self._studio = studio
        self._bar = Bar(TextColumn("rounds"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._task: TaskID = self._bar.add_task("rounds", total=rounds)

    def refresh(self) -> None:
        """Move the bar."""
        picture = self._studio.dealer.picture
        if picture is not None:
            self._bar.update(self._task, completed=picture.round_no)

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
