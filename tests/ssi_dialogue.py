"""A framer and a simulated scanner that talk to each other in a time of their own."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from drivers.contract import CodeRead, Report
from drivers.zebra_ssi import open_zebra_ssi
from simulators.devices.zebra_ssi import ZebraScanner

SECOND = 1_000_000


class Dialogue:
    """Both ends of a line without delay. `durable_us` after a report its input is durable."""

    def __init__(
        self, options: Mapping[str, object] | None = None, *, seed: int = 0, durable_us: int = 0
    ) -> None:
        self.framer = open_zebra_ssi(options or {})
        self.arriving: deque[bytes] = deque()
        self.scanner = ZebraScanner(self.arriving.append, seed=seed)
        self.durable_us = durable_us
        self.reports: list[Report] = []
        self.sent: list[bytes] = []
        """What the host sent, one entry for each time that it had something to send."""
        self.owed: deque[tuple[int, Report]] = deque()
        self.now_us = 0
        self.framer.opened(0)
        self.settle()

    @property
    def codes(self) -> list[str]:
        return [report.code for report in self.reports if isinstance(report, CodeRead)]

    def run(self, us: int) -> None:
        """Let time pass."""
        until = self.now_us + us
        while (due := self._next_us()) is not None and due <= until:
            self.now_us = max(self.now_us, due)
            self.framer.tick(self.now_us)
            self.scanner.tick(self.now_us)
            self.settle()
        self.now_us = until

    def settle(self) -> None:
        """Let both say what they have to say now."""
        while True:
            while (report := self.framer.next_report()) is not None:
                self.reports.append(report)
                self.owed.append((self.now_us + self.durable_us, report))
            out = self.framer.bytes_to_send()
            if out:
                self.sent.append(out)
                self.scanner.receive(out, self.now_us)
            elif self.arriving:
                self.framer.receive(self.arriving.popleft(), self.now_us)
            elif self.owed and self.owed[0][0] <= self.now_us:
                self.framer.acknowledge(self.owed.popleft()[1])
            else:
                return

    def _next_us(self) -> int | None:
        due = [self.framer.next_deadline_us(), self.scanner.next_deadline_us()]
        due += [at for at, _ in self.owed]
        return min((at for at in due if at is not None), default=None)


def packeted(options: Mapping[str, object] | None = None, *, seed: int = 0, durable_us: int = 0) -> Dialogue:
    """Return a dialogue whose set-up is over, with nothing of it left in the records."""
    dialogue = Dialogue(options, seed=seed, durable_us=durable_us)
    dialogue.run(SECOND)
    assert dialogue.scanner.is_packeted
    dialogue.reports.clear()
    dialogue.sent.clear()
    dialogue.scanner.heard.clear()
    return dialogue
