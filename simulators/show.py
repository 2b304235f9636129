"""What `tablectl simulate` shows: the table and the players' balances, or a progress bar."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Group
from rich.live import Live
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.table import Table as Grid

from controller.station.config import StationConfig
from controller.table.events import Audience
from simulators.studio import OPENING_BALANCE, Studio


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
        lines = "\n".join(self._studio.overlay.lines(now_us))
        where = "\n".join(
            (
                f"journal  {folder}/*.journal",
                f"bus      {self._config.endpoints.live[Audience.PUBLIC]}",
                f"daemon   {folder}/daemon.log",
                f"Ctrl-C ends it. In another terminal: tablectl watch {self._config.path}",
            )
        )
        table = self._config.settings.table
        return Group(Panel(lines, title=f"table {table}"), Panel(self._balances(), title="players"), where)

    def _balances(self) -> Grid:
        grid = Grid(box=None, pad_edge=False)
        for column in ("player", "balance", "since start") * 3:
            grid.add_column(column, justify="left" if column == "player" else "right")
        cells = []
        for player, balance in sorted(self._studio.wallet.balances().items()):
            change = balance - OPENING_BALANCE
            colour = "green" if change > 0 else "red" if change < 0 else "dim"
            cells += [player, f"{balance / 100:,.2f}", f"[{colour}]{change / 100:+,.2f}[/]"]
        for first in range(0, len(cells), 9):
            grid.add_row(*cells[first : first + 9])
        return grid

    def __enter__(self) -> Show:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()


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
