"""A rough line between the table and a consumer: what is sent is lost, doubled, late and out of order.

It stands where the consumer stands and hands on what gets through: on the consumer's side is the real
`GapKeeper`, on the table's the real replay. The weather comes from the seed: partitions, a consumer that
stops reading, a slow one, one that is restarted. Now and then the line heals, and two seconds later
everything must be where it belongs. Time is the table's.
"""

from __future__ import annotations

import heapq
import random
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol

from controller.bus.envelope import Environment, message_hash, source_of
from controller.bus.gap_keeper import Cursor, GapKeeper
from controller.bus.replay_server import Archive, answered
from controller.bus.snapshot import Snapshot
from controller.bus.wire import Alive, encode
from controller.table.events import Audience
from simulators.actor import Feed, Listener, Planned
from simulators.overlay import Overlay
from simulators.wallet import Wallet

MS = 1_000
SECOND = 1_000_000
POLL_US = 250 * MS
HEALED_US = 2 * SECOND
WEATHERS = 5
SLOW_US = 2 * SECOND
"""A slow consumer takes one frame in so long a time; `alive` alone is more."""
LOST, DOUBLED, SHIFTED, LATE = 0.2, 0.1, 0.1, 0.05
LATE_US = 3 * SECOND
OVERTAKEN_MAX = 50
"""So many later messages may arrive before one."""
KEPT = 20_000
"""Messages that the table keeps for replay; more than any consumer is ever behind."""
BUFFER = 1_000
"""Frames that wait for a consumer that does not read; what comes then is dropped."""
FAIR_US = (20 * SECOND, 120 * SECOND)
FOUL_US = (2 * SECOND, 60 * SECOND)


class Consumer(Protocol):
    """Who stands at the end of a line."""

    def cursor(self) -> Cursor | None:
        """Where it goes on after a restart; None to join at the snapshot."""
        ...

    def joined(self, snapshot: Snapshot) -> None:
        """Start from a snapshot."""
        ...

    def heard(self, message: bytes, now_us: int) -> list[Planned]:
        """Act on a message, and plan what follows."""
        ...

    def stands_at(self, snapshot: Snapshot) -> bool:
        """Whether it knows what the table knows."""
        ...


class WalletEnd:
    """A wallet at the end of a line: it goes on where its books are."""

    def __init__(self, wallet: Wallet) -> None:
        self._wallet = wallet

    def cursor(self) -> Cursor | None:
        """After the last message booked."""
        return Cursor(*self._wallet.cursor) if self._wallet.cursor else Cursor()

    def joined(self, snapshot: Snapshot) -> None:
        """A wallet never joins at a snapshot."""
        raise AssertionError(snapshot.seq)

    def heard(self, message: bytes, now_us: int) -> list[Planned]:
        """Book it, and acknowledge what ends a round."""
        return self._wallet.heard(message, now_us)

    def stands_at(self, snapshot: Snapshot) -> bool:
        """Whether everything is booked."""
        return self.cursor() == Cursor(snapshot.seq, snapshot.hash)


class OverlayEnd:
    """An overlay at the end of a line: it starts from the snapshot."""

    def __init__(self, overlay: Overlay) -> None:
        self._overlay = overlay

    def cursor(self) -> Cursor | None:
        """It keeps none."""
        return None

    def joined(self, snapshot: Snapshot) -> None:
        """Show what lies there."""
        self._overlay.start_from(snapshot)

    def heard(self, message: bytes, now_us: int) -> list[Planned]:
        """Show it."""
        return self._overlay.heard(message, now_us)

    def stands_at(self, snapshot: Snapshot) -> bool:
        """Whether it shows what the table says."""
        return self._overlay.snapshot == snapshot


class Sent:
    """What a table has sent to one audience: the newest messages, for replay."""

    def __init__(self) -> None:
        self._kept: deque[bytes] = deque(maxlen=KEPT)
        self._last = 0

    def take(self, message: bytes) -> None:
        """Take the next message."""
        self._kept.append(message)
        self._last += 1

    def hash_of(self, seq: int) -> str:
        """Return the hash of a kept message."""
        return message_hash(self._kept[seq - self._last - 1])

    def messages(self, audience: Audience, first_seq: int, limit: int) -> Sequence[tuple[int, bytes]]:
        """Return at most `limit` messages from number `first_seq`."""
        until = min(self._last, first_seq + limit - 1)
        return [(seq, self._kept[seq - self._last - 1]) for seq in range(first_seq, until + 1)]

    def first_seq(self, audience: Audience) -> int:
        """Return the number of the oldest kept message."""
        return self._last - len(self._kept) + 1

    def last_seq(self, audience: Audience) -> int:
        """Return the number of the newest message."""
        return self._last


class RoughLine(Listener):
    """One consumer at the end of a rough line, an actor on `feed`."""

    def __init__(
        self, consumer: Consumer, *, feed: Feed, table: str, environment: Environment, seed: int
    ) -> None:
        self.feed = feed
        self.name = f"{feed} over a rough line"
        self.counts: Counter[str] = Counter()
        """What has happened on the line, by its name."""
        self.unequal: list[str] = []
        """Where something was not as it belongs, two seconds after the line had healed."""
        audience = Audience(feed.value)
        self._consumer = consumer
        self._stream = (table, audience)
        self._environment = environment
        self._chance = random.Random(f"{seed}/{feed}")
        self._sent = Sent()
        self._archive = Archive(self._sent, Snapshot(table=table, audience=audience))
        self._due: list[tuple[int, int, Callable[[], None]]] = []
        self._order = 0
        self._shifted: list[tuple[int, bytes]] = []
        self._unread: deque[Callable[[], None]] = deque()
        self._is_fair, self._is_cut, self._reads = True, False, True
        self._polls = False
        self._to_come: list[int] = []
        self._now_us = 0
        self._keeper: GapKeeper | None = None
        self._planned: list[Planned] = []

    @property
    def snapshot(self) -> Snapshot:
        """What the table knows."""
        _finished(self._archive.refresh())
        return self._archive.snapshot

    def heard(self, message: bytes, now_us: int) -> list[Planned]:
        """Take what the table sends, and let it try to get through."""
        if self._keeper is None:
            self._begin(now_us)
        self._pass_time(now_us)
        self._sent.take(message)
        self._shift(message)
        self._pass_time(now_us)
        planned, self._planned = self._planned, []
        return planned

    def heal(self) -> None:
        """Heal the line, and let the two seconds pass after which all must be right."""
        self._heal()
        self._pass_time(self._now_us + HEALED_US)

    # Time, and what it brings.

    def _begin(self, now_us: int) -> None:
        self._now_us = now_us
        self._restart()
        self._beat()
        self._at(self._between(FAIR_US), self._change_weather)

    def _pass_time(self, until_us: int) -> None:
        while self._due and self._due[0][0] <= until_us:
            self._now_us, _, happens = heapq.heappop(self._due)
            happens()
        self._now_us = max(self._now_us, until_us)

    def _at(self, in_us: int, happens: Callable[[], None]) -> None:
        self._order += 1
        heapq.heappush(self._due, (self._now_us + in_us, self._order, happens))

    def _between(self, span: tuple[int, int]) -> int:
        return self._chance.randint(*span)

    def _beat(self) -> None:
        """The table's sign of life, each second."""
        now = self.snapshot
        table, _ = self._stream
        alive = Alive(
            alive=table,
            source=source_of(table, self._environment),
            epoch=now.epoch,
            seq=now.seq,
            hash=now.hash,
            phase=now.phase,
            at_us=self._now_us,
        )
        self._carry(encode(alive))
        self._at(SECOND, self._beat)

    def _change_weather(self) -> None:
        """Something gets worse for a while, each kind once before any comes again; then the line heals."""
        self._to_come = self._to_come or self._chance.sample(range(WEATHERS), WEATHERS)
        match self._to_come.pop():
            case 0:
                self.counts["partitions"] += 1
                self._is_cut = True
            case 1:
                self.counts["stops of the consumer"] += 1
                self._reads = False
            case 2:
                self._restart()
            case 3:
                self.counts["slow times of the consumer"] += 1
                self._reads = False
                self._at(SLOW_US, self._read_slowly)
            case _:
                self.counts["joins at some number"] += 1
                self._follow_from_anywhere()
        self._is_fair = False
        self._at(self._between(FOUL_US), self._heal)
        self._at(self._between(FAIR_US) + FOUL_US[1], self._change_weather)

    def _heal(self) -> None:
        self._is_fair, self._is_cut, self._reads = True, False, True
        for _, message in self._shifted:
            self._carry(message)
        self._shifted.clear()
        while self._unread:
            self._unread.popleft()()
        self._at(HEALED_US, self._must_be_right)

    def _read_slowly(self) -> None:
        """Take one of the frames that wait, until the line heals: more come meanwhile."""
        if self._reads:
            return
        if self._unread:
            self._unread.popleft()()
            self._work()
        self._at(SLOW_US, self._read_slowly)

    def _must_be_right(self) -> None:
        """Hold the consumer against the table, and let the line be rough again."""
        self.counts["times healed"] += 1
        if not self._consumer.stands_at(self.snapshot):
            self.unequal.append(f"{self.name}: at {self._now_us} not at message {self.snapshot.seq}")
        self._is_fair = False

    def _restart(self) -> None:
        """The consumer's process ends, with all that had arrived and was not acted on, and starts again."""
        self.counts["starts of the consumer"] += 1
        self._unread.clear()
        self._keeper = self._new_keeper(self._consumer.cursor())
        self._joined = self._keeper.cursor is not None

    def _new_keeper(self, cursor: Cursor | None) -> GapKeeper:
        return GapKeeper(
            stream=self._stream, environment=self._environment, cursor=cursor, now_us=self._now_us
        )

    def _follow_from_anywhere(self) -> None:
        """Somebody joins at any message that is kept, and must come out where the table is."""
        audience = self._stream[1]
        last = self._sent.last_seq(audience)
        seq = self._chance.randint(self._sent.first_seq(audience), last) if last else 0
        keeper = self._new_keeper(Cursor(seq, self._sent.hash_of(seq)) if seq else Cursor())
        while (request := keeper.ask(self._now_us)) is not None:
            keeper.replayed(_finished(answered(self._archive, request)))
            keeper.ready.clear()
        if keeper.cursor != Cursor(self.snapshot.seq, self.snapshot.hash):
            self.unequal.append(f"{self.name}: joined at {seq}, came out at {keeper.cursor}")

    # The line.

    def _shift(self, message: bytes) -> None:
        """Let a message be overtaken by some that come after it."""
        self._shifted = [(left - 1, held) for left, held in self._shifted]
        if not self._is_fair and self._chance.random() < SHIFTED:
            self.counts["overtaken"] += 1
            self._shifted.append((self._between((1, OVERTAKEN_MAX)), message))
        else:
            self._carry(message)
        for left, held in self._shifted:
            if left == 0:
                self._carry(held)
        self._shifted = [(left, held) for left, held in self._shifted if left > 0]

    def _carry(self, frame: bytes) -> None:
        """Carry a frame of the live feed to the consumer, if it gets through."""
        if self._gets_lost():
            return
        self._at(self._delay(), lambda: self._arrives(frame))
        if not self._is_fair and self._chance.random() < DOUBLED:
            self.counts["doubled"] += 1
            self._at(self._delay(), lambda: self._arrives(frame))

    def _gets_lost(self) -> bool:
        lost = self._is_cut or (not self._is_fair and self._chance.random() < LOST)
        self.counts["lost"] += lost
        return lost

    def _delay(self) -> int:
        if self._is_fair:
            return 0
        is_late = self._chance.random() < LATE
        self.counts["late"] += is_late
        return self._between((0, LATE_US if is_late else 50 * MS))

    def _arrives(self, frame: bytes) -> None:
        keeper = self._keeper
        assert keeper is not None, "the line has begun"
        self._read(lambda: keeper.live(frame, self._now_us))

    def _read(self, takes: Callable[[], None]) -> None:
        """Let the consumer take something, or leave it unread in its buffer."""
        if self._reads:
            takes()
            self._work()
        elif len(self._unread) < BUFFER:
            self._unread.append(takes)
        else:
            self.counts["dropped at a full buffer"] += 1

    def _work(self) -> None:
        """What a subscription does when frames have arrived: hand over, and ask for what is missing."""
        keeper = self._keeper
        assert keeper is not None, "the line has begun"
        if not self._joined and keeper.snapshot is not None:
            self._joined = True
            self._consumer.joined(keeper.snapshot)
        while keeper.ready:
            self._planned += self._consumer.heard(keeper.ready.popleft().raw, self._now_us)
        request = keeper.ask(self._now_us)
        if request is not None:
            self.counts["requests for replay"] += 1
            self._ask(keeper, request)
        if keeper.behind() and not self._polls:
            self._polls = True
            self._at(POLL_US, self._poll)

    def _poll(self) -> None:
        self._polls = False
        if self._reads:
            self._work()

    def _ask(self, keeper: GapKeeper, request: bytes) -> None:
        """Carry a request to the table and the answer back; either may be lost."""
        if self._gets_lost() or self._gets_lost():
            return

        def arrives() -> None:
            if keeper is self._keeper:
                frames = _finished(answered(self._archive, request))
                self._read(lambda: keeper.replayed(frames))

        self._at(self._delay(), arrives)


def _finished(work: Coroutine[Any, Any, Any]) -> Any:
    """Run to its end what only gives others their turn; here nobody else has one."""
    try:
        while True:
            work.send(None)
    except StopIteration as end:
        return end.value
