"""Two tables of one kind, one of which has a stopped subscriber on its public feed.

The subscriber is a process that has subscribed and was then stopped, so libzmq holds what is sent to it until
its high-water mark, and drops the rest. Before anything is measured both tables play so many messages that it
must be full; when all is measured the subscriber goes on, and what it misses shows whether it was.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from latency import STUCK_MS, LiveTable

SUBSCRIBER = Path(__file__).with_name("stopped_subscriber.py")
FILLS = 1_100
"""The publisher's high-water mark, and some: by measure the first message is lost after 1,000."""


class StoppedSubscriber:
    """A process that has subscribed to a feed, and was stopped then."""

    def __init__(self, endpoint: str) -> None:
        self._child = subprocess.Popen(
            [sys.executable, str(SUBSCRIBER), endpoint], stdout=subprocess.PIPE, text=True
        )
        assert self._child.stdout is not None
        self._said = self._child.stdout
        heard = self._said.readline()
        self._child.send_signal(signal.SIGSTOP)
        assert heard == "heard\n", "the subscriber heard nothing; its error stands above"

    def last_before_gap(self) -> int:
        """Let it go on; returns the number of the last message that it got before one was dropped."""
        self._child.send_signal(signal.SIGCONT)
        told, _ = self._child.communicate(timeout=STUCK_MS / 1_000)
        return int(told)

    def close(self) -> None:
        """End it, stopped or not."""
        self._child.kill()
        self._child.wait()
        self._said.close()


class Neighbours:
    """The two tables, ready to be measured."""

    def __init__(self, folder: Path) -> None:
        with ExitStack() as undo:
            self.alone = LiveTable(folder / "alone")
            undo.callback(self.alone.close)
            self.beside = LiveTable(folder / "beside")
            undo.callback(self.beside.close)
            self._stopped = StoppedSubscriber(self.beside.feed_endpoint)
            undo.callback(self._stopped.close)
            with ThreadPoolExecutor() as pool:
                list(pool.map(play_on, (self.alone, self.beside)))
            self._full_from = self.beside.seq
            self._undo = undo.pop_all()

    def check(self) -> None:
        """Make sure that the stopped subscriber's queue was full before the first card that was measured."""
        last = self._stopped.last_before_gap()
        if last >= self._full_from:
            raise RuntimeError(
                f"the stopped subscriber got message {last}, measured was from {self._full_from} on: "
                "its queue was not full, so the figures say nothing; raise FILLS"
            )

    def close(self) -> None:
        """End both tables and the subscriber."""
        self._undo.close()


def play_on(table: LiveTable) -> None:
    """Deal until a queue that takes nothing must be full."""
    until = table.seq + FILLS
    while table.seq < until:
        table.deal(0)
