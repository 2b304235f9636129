"""A consumer in a process of its own, to be stopped, cut off and killed by the tests.

`python subscriber.py CONFIG AUDIENCE OUT JOIN LIMIT` writes each message as a line to OUT; `OUT.ready`
appears with the first message heard live. SIGUSR1 cuts its connections, SIGUSR2 opens them again. It
ends when it has the message whose number stands in `OUT.until`, and leaves `OUT.report`.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import msgspec

from controller.bus.client import Cursor, Feed, Snapshot, Subscription
from controller.bus.endpoints import connect
from controller.bus.gap_keeper import GapKeeper
from controller.bus.wire import decode_alive
from controller.station.config import load
from controller.table.events import Audience

FROM_ONE, AT_SNAPSHOT = "from-one", "at-snapshot"
ASKS_UNTIL_MS = 50


class Report(msgspec.Struct, frozen=True):
    """How it went. `lost` are the numbers that the live feed never brought, from the first that it did bring
    to the end; `snapshot` is what it joined at."""

    first_live: int
    lost: tuple[int, ...]
    gaps: int
    refused: int
    snapshot: Snapshot | None


class _Seq(msgspec.Struct):
    seq: int


class Consumer:
    """One subscription, and what is known of how its messages came."""

    def __init__(self, feed: Feed, out: Path, cursor: Cursor | None) -> None:
        self._feed = feed
        self._out = out
        self._live: set[int] = set()
        self._orders: list[int] = []
        self.subscription = Subscription(feed, cursor=cursor)
        self._hear_live(self.subscription.keeper)
        for number in (signal.SIGUSR1, signal.SIGUSR2):
            signal.signal(number, lambda number, _frame: self._orders.append(number))

    def _hear_live(self, keeper: GapKeeper) -> None:
        take = keeper.live

        def live(raw: bytes, now_us: int) -> None:
            if decode_alive(raw) is None:
                self._live.add(msgspec.json.decode(raw, type=_Seq).seq)
                self._mark("ready", b"")
            take(raw, now_us)

        keeper.live = live  # type: ignore[method-assign]

    def run(self) -> None:
        """Consume to the end."""
        last = 0
        with self._out.open("ab") as file:
            while not self._is_last(last):
                self._obey()
                delivery = self.subscription.next(ASKS_UNTIL_MS)
                while delivery is not None:
                    file.write(delivery.raw + b"\n")
                    last = delivery.cursor.seq
                    delivery = self.subscription.next(0)
        self._mark("report", msgspec.json.encode(self._report(last)))

    def _obey(self) -> None:
        sockets = ((self.subscription._live, self._feed.live), (self.subscription._replay, self._feed.replay))
        while self._orders:
            is_cut = self._orders.pop(0) == signal.SIGUSR1
            for socket, endpoint in sockets:
                if is_cut:
                    socket.disconnect(endpoint)
                else:
                    connect(socket, endpoint)

    def _is_last(self, last: int) -> bool:
        until = self._out.with_suffix(".until")
        return until.exists() and last >= int(until.read_text() or "0") > 0

    def _report(self, last: int) -> Report:
        keeper = self.subscription.keeper
        first = min(self._live)
        lost = tuple(seq for seq in range(first, last + 1) if seq not in self._live)
        return Report(first, lost, keeper.gaps, keeper.refused, keeper.snapshot)

    def _mark(self, kind: str, text: bytes) -> None:
        path = self._out.with_suffix(f".{kind}")
        if not path.exists():
            fresh = path.with_suffix(f".{kind}.new")
            fresh.write_bytes(text)
            fresh.rename(path)


def main(words: list[str]) -> None:
    """Run from the command line of a test."""
    path, audience, out, join, limit = words
    config = load(Path(path))
    feed = Feed.of(
        config.endpoints,
        config.settings.table,
        audience=Audience(audience),
        environment=config.environment,
    )
    feed = msgspec.structs.replace(feed, receive_limit=int(limit))
    consumer = Consumer(feed, Path(out), Cursor() if join == FROM_ONE else None)
    consumer.run()
    consumer.subscription.close()


if __name__ == "__main__":
    os.setpgid(0, 0)
    main(sys.argv[1:])
