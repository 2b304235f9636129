"""Messages a second: a whole table, fed as fast as it takes it, and a bare PUB with group commit.

Ours takes the inputs of a recorded session one after the other as the station does: the kernel steps, the
journal makes the step durable and signs it when a round closes, the publisher sends what was told, all four
audiences to one subscriber. The measure writes as many messages of the same sizes to SQLite, a hundred in a
transaction, and sends them once they are durable. The subscriber is a process of its own; a message counts
when it is heard there.

Beside the rate stands where ours spends its time, for each message, against the whole time of a bare one.
"""

from __future__ import annotations

import itertools
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

import apsw
import zmq
from latency import TABLE
from replaying import Figures

from controller.bus.endpoints import Endpoints
from controller.bus.envelope import Envelopes, Stamp
from controller.bus.publisher import Publisher
from controller.journal import Journal
from controller.journal.signing import create_key
from controller.station.kernel import Kernel, Stepped, closing_of
from controller.station.replay import open_recording, replay_recording
from controller.station.start import AUDIENCE_NAMES
from controller.table.events import AUDIENCES, Audience, Event
from controller.table.inputs import AnyInput, decode_input

COUNTING = Path(__file__).with_name("counting_subscriber.py")
GROUP = 100
"""Messages in a transaction of the bare publisher."""
PROBE_S = 0.001
PARTS = ("table step", "envelopes", "journal", "publish")


class Listener:
    """The subscriber that counts, and the way to ask it."""

    def __init__(self, endpoints: list[str], send_probes: Callable[[], None]) -> None:
        """Start it, and wait until it hears everything that is sent."""
        words = [sys.executable, str(COUNTING), *endpoints]
        self._child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._child.stdout is not None and self._child.stdin is not None
        while not select.select([self._child.stdout], [], [], PROBE_S)[0]:
            send_probes()
        self._said, self._orders = self._child.stdout, self._child.stdin
        assert self._said.readline() == "joined\n", "the counting subscriber ended; its error stands above"

    def expect(self, count: int) -> None:
        """Tell it how many messages will be sent."""
        self._orders.write(f"{count}\n")
        self._orders.flush()

    def heard(self) -> tuple[int, int]:
        """Return how many messages came, and when the last one did in nanoseconds."""
        count, last_ns = self._said.readline().split()
        return int(count), int(last_ns)

    def close(self) -> None:
        """End it; when all was heard it has ended by itself."""
        self._child.kill()
        self._child.communicate()


class Rates:
    """A recorded session through a table, and as many messages through a bare publisher."""

    def __init__(self, folder: Path, capture: Path) -> None:
        folder.mkdir()
        self._folders = (folder / str(number) for number in itertools.count())
        self._capture = capture
        steps = list(replay_recording(capture))
        self._inputs = [decode_input(step.input) for step in steps]
        told = [raw for step in steps for sent in step.messages.values() for raw in sent]
        self._fillers = [b"x" * len(raw) for raw in told]

    def bare(self) -> Figures:
        """Write and send in groups."""
        folder = next(self._folders)
        folder.mkdir()
        with closing(BarePublisher(folder)) as publisher:
            endpoints, probe = [publisher.endpoint], publisher.probe
            with closing(Listener(endpoints, probe)) as listener:
                listener.expect(len(self._fillers))
                began_ns = time.monotonic_ns()
                for start in range(0, len(self._fillers), GROUP):
                    publisher.send(self._fillers[start : start + GROUP])
                figures = _rate(began_ns, listener.heard())
        return figures | dict.fromkeys(PARTS, 1_000_000 / figures["messages"])

    def ours(self) -> Figures:
        """Take every input."""
        with closing(WholeTable(next(self._folders), self._capture)) as table:
            endpoints, probe = table.endpoints, table.probe
            with closing(Listener(endpoints, probe)) as listener:
                listener.expect(len(self._fillers))
                began_ns = time.monotonic_ns()
                for value in self._inputs:
                    table.take(value)
                figures = _rate(began_ns, listener.heard())
            spent_ns = table.spent_ns()
        return figures | {part: spent_ns[part] / 1_000 / len(self._fillers) for part in PARTS}


def _rate(began_ns: int, heard: tuple[int, int]) -> Figures:
    count, last_ns = heard
    return {"messages": count * 1_000_000_000 / (last_ns - began_ns)}


class TimedEnvelopes(Envelopes):
    """The streams of a table, which say how long they have worked."""

    spent_ns = 0

    def build(self, events: Iterable[Event], stamp: Stamp) -> dict[Audience, tuple[bytes, ...]]:
        """Build, and look at the clock."""
        began_ns = time.monotonic_ns()
        messages = super().build(events, stamp)
        self.spent_ns += time.monotonic_ns() - began_ns
        return messages


class WholeTable:
    """Kernel, journal and publisher, as a station holds them."""

    def __init__(self, folder: Path, capture: Path) -> None:
        folder.mkdir(mode=0o700)
        self._kernel: Kernel = open_recording(capture)
        self._journal = Journal.open(folder / "1.journal", audiences=AUDIENCE_NAMES)
        self._signer = create_key(folder / "key")
        config = self._kernel.config
        self._source = (TABLE, config.environment)
        bound = Endpoints.ipc(folder, TABLE)
        heads = self._kernel.envelopes.heads()
        self._envelopes = TimedEnvelopes(table=TABLE, environment=config.environment, heads=heads)
        self._kernel.envelopes = self._envelopes
        self._publisher = Publisher(bound, source=self._source, heads=heads)
        self.endpoints = list(bound.live.values())
        self._kernel_ns = self._journal_ns = self._publish_ns = 0

    def probe(self) -> None:
        """Let a subscriber hear something of each feed."""
        self._publisher.publish({audience: [audience.encode()] for audience in AUDIENCES})

    def take(self, value: AnyInput) -> None:
        """Step, write, send."""
        began_ns = time.monotonic_ns()
        stepped = self._kernel.step(value)
        stepped_ns = time.monotonic_ns()
        self._write(value.at, stepped)
        written_ns = time.monotonic_ns()
        self._publisher.publish(stepped.messages)
        sent_ns = time.monotonic_ns()
        if stepped.carried is not None:
            self._journal.checkpoint()
        self._kernel_ns += stepped_ns - began_ns
        self._journal_ns += written_ns - stepped_ns + time.monotonic_ns() - sent_ns
        self._publish_ns += sent_ns - written_ns

    def spent_ns(self) -> dict[str, int]:
        """Return where the time went."""
        envelopes_ns = self._envelopes.spent_ns
        spent_ns = (self._kernel_ns - envelopes_ns, envelopes_ns, self._journal_ns, self._publish_ns)
        return dict(zip(PARTS, spent_ns, strict=True))

    def _write(self, at_us: int, stepped: Stepped) -> None:
        closed = closing_of(stepped)
        table, environment = self._source
        self._journal.append(
            at_us=at_us,
            input=stepped.input,
            events=stepped.events_raw,
            messages={audience.value: sent for audience, sent in stepped.messages.items()},
            carried=stepped.carried,
            sign=None if closed is None else self._signer.heads(table, environment, closed),
        )

    def close(self) -> None:
        """Close feeds and journal."""
        self._publisher.close()
        self._journal.close()


class BarePublisher:
    """SQLite and a PUB socket, nothing between them."""

    def __init__(self, folder: Path) -> None:
        self.endpoint = f"ipc://{folder}/feed"
        self._database = apsw.Connection(str(folder / "messages"))
        self._database.pragma("journal_mode", "wal")
        self._database.pragma("synchronous", "full")
        self._database.execute("CREATE TABLE messages (n INTEGER PRIMARY KEY, body BLOB NOT NULL)")
        self._feed: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.PUB)
        self._feed.bind(self.endpoint)

    def probe(self) -> None:
        """Let a subscriber hear something."""
        self._feed.send(b"probe", zmq.NOBLOCK)

    def send(self, group: list[bytes]) -> None:
        """Make a group durable, then send it."""
        with self._database:
            self._database.executemany("INSERT INTO messages(body) VALUES (?)", ((raw,) for raw in group))
        for raw in group:
            self._feed.send(raw, zmq.NOBLOCK)

    def close(self) -> None:
        """Close both."""
        self._feed.close(linger=0)
        self._database.close()
