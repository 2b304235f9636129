"""Devices that answer no command: as if lost, until they answer again (row 30 of the procedures).

Such a device has no power, or its line is dead one way, so that a card passes it unseen. When a command
counts as not answered hangs on when it could be sent, which a recording does not know: what a silence means
is recorded as an input of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from controller.station.intake import SILENT
from controller.table.inputs import ScannerLost, ScannerOpened
from drivers.contract import DeviceReported, DeviceState, Report

ANSWERS = frozenset({DeviceState.CONFIGURED, DeviceState.REFUSED})


class Silences:
    """The scanners that are silent, and what is to be brought for it."""

    def __init__(self) -> None:
        self._silent: set[str] = set()
        self._news: list[tuple[str, bool]] = []

    def hear(self, scanner: str, report: Report) -> None:
        """Note a device's own state; most say nothing here."""
        if not isinstance(report, DeviceReported):
            return
        if report.state is DeviceState.SILENT and scanner not in self._silent:
            self._silent.add(scanner)
            self._news.append((scanner, False))
        elif report.state in ANSWERS and scanner in self._silent:
            self._silent.remove(scanner)
            self._news.append((scanner, True))

    def opened(self, scanner: str) -> None:
        """The line was opened anew: a device that is still silent will be reported again."""
        self._silent.discard(scanner)

    def take(
        self, stamp: Callable[[], int], device: Callable[[str], str | None]
    ) -> Iterator[ScannerLost | ScannerOpened]:
        """Yield what has to be brought; each is stamped when it is taken."""
        while self._news:
            scanner, is_there = self._news.pop(0)
            if is_there:
                yield ScannerOpened(at=stamp(), scanner=scanner, device=device(scanner))
            else:
                yield ScannerLost(at=stamp(), scanner=scanner, reason=SILENT)
