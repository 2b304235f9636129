"""When a fast simulation is at rest: the daemon reports it, and everything it has sent has been heard."""

from __future__ import annotations

import hashlib

import msgspec

from controller.table.events import AUDIENCES
from simulators.actor import Feed
from simulators.clock_link import Report


class Rest:
    """What the daemon's present life has reported, and what went to and fro meanwhile."""

    def __init__(self) -> None:
        self.report: Report | None = None
        self._seqs: dict[str, int] = {audience.value: 0 for audience in AUDIENCES}
        self._picture = ""
        self._written: dict[str, int] = {}
        self._base: dict[str, int] = {}
        self._read: dict[str, int] = {}
        self._unplugged: set[str] = set()

    def begin_life(self) -> None:
        """Forget what the life before has reported and read; what was heard stays heard."""
        self.report = None
        self._written, self._base, self._read = {}, {}, {}

    def heard(self, feed: Feed, raw: bytes) -> None:
        """Note a message that was delivered."""
        if feed is Feed.STATION:
            self._picture = hashlib.sha256(raw).hexdigest()
        else:
            self._seqs[feed.value] = msgspec.json.decode(raw, type=_Numbered).seq

    def wrote(self, device: str, count: int) -> None:
        """Note bytes on their way to a port that is ready."""
        self._written[device] = self._written.get(device, 0) + count

    def read(self, device: str, count: int) -> None:
        """Note bytes that a device has heard."""
        self._read[device] = self._read.get(device, 0) + count

    def take(self, report: Report) -> None:
        """Take a report; bytes are counted from the moment at which a port becomes ready."""
        for name, ready in report.ready.items():
            if ready and not self.is_ready(name):
                self._base[name], self._written[name] = report.received[name], 0
        self.report = report

    def is_ready(self, device: str) -> bool:
        """Whether the daemon reads this device now."""
        return self.report is not None and self.report.ready.get(device, False)

    def plugged(self, device: str, *, is_in: bool) -> None:
        """Note that a cable was pulled or plugged in; how soon a device is read again, no rest waits for."""
        (self._unplugged.discard if is_in else self._unplugged.add)(device)

    def is_short(self) -> bool:
        """Whether more was heard than the last report says was ever sent."""
        return self.report is not None and any(
            heard > self.report.seqs[audience] for audience, heard in self._seqs.items()
        )

    def reached(self, now_us: int, number: int) -> bool:
        """Whether the daemon rests at this time, with order `number` taken, and everybody has heard all."""
        report = self.report
        return (
            report is not None
            and (report.now_us, report.number) == (now_us, number)
            and not any(report.ready[name] for name in self._unplugged)
            and self._seqs == dict(report.seqs)
            and self._picture == report.picture
            and all(
                report.received[name] - self._base.get(name, 0) >= count
                for name, count in self._written.items()
            )
            and all(self._read.get(name, 0) >= count for name, count in report.sent.items())
        )

    def __str__(self) -> str:
        return f"{self.report}, heard {self._seqs}"


class _Numbered(msgspec.Struct):
    seq: int
