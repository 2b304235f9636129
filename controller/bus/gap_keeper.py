"""The gap keeper: what a consumer does with frames, without sockets and without a clock.

Put in frames of the live feed and of the replay server; take out deliveries, in order and without a gap,
and the request that is due. Live messages are judged by number, chain and epoch; replayed ones by number
and chain alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import msgspec

from controller.bus.envelope import (
    GENESIS,
    Envelope,
    Environment,
    check_origin,
    decode,
    event_of,
    message_hash,
    source_of,
)
from controller.bus.errors import ChainBroken, ForeignSource, MalformedMessage, ReplayRefused
from controller.bus.snapshot import Snapshot, decode_snapshot
from controller.bus.wire import Alive, AskFrom, AskSnapshot, decode_alive, decode_marker, encode
from controller.table.events import Audience, Event

STALE_US = 3_000_000
"""Without `alive` for this long, take no new bets."""
RETRY_US = 1_000_000
HELD_MAX = 1_000
"""Messages kept beyond a gap. What comes after is fetched by replay, as if it had been lost."""


class Cursor(msgspec.Struct, frozen=True):
    """The last message a consumer has acted on. Store it in one transaction with the effect."""

    seq: int = 0
    hash: str = GENESIS


class Delivery(msgspec.Struct, frozen=True):
    """One message, and the cursor to store with its effect."""

    cursor: Cursor
    envelope: Envelope
    raw: bytes

    def event(self) -> Event | None:
        """Return the event; None for an unknown type, on which a wallet stops. Raises MalformedMessage."""
        return event_of(self.envelope)


class GapKeeper:
    """One consumer's place in one audience's stream. All times are monotonic microseconds.

    Without a cursor it joins at the snapshot, which is then in `snapshot`; with Cursor() at message 1.
    """

    def __init__(
        self, *, stream: tuple[str, Audience], environment: Environment, cursor: Cursor | None, now_us: int
    ) -> None:
        self._table, self._audience = stream
        self._stream = f"{self._table}/{self._audience}"
        self._source = source_of(self._table, environment)
        self._known = 0
        self._held: dict[int, tuple[Envelope, bytes]] = {}
        self._caught_up = False
        self._request = 0
        self._asked_us: int | None = None
        self._alive_us = now_us
        self.cursor = cursor
        self.epoch = 0
        self.snapshot: Snapshot | None = None
        self.last_alive: Alive | None = None
        self.ready: deque[Delivery] = deque()
        self.gaps = 0
        self.refused = 0

    def stale(self, now_us: int) -> bool:
        """Whether the table has not been heard for STALE_US, whatever else arrives."""
        return now_us - self._alive_us >= STALE_US

    def behind(self) -> bool:
        """Whether messages are known, or possible, that have not been delivered: open no bets."""
        return self.cursor is None or not self._caught_up or self.cursor.seq < self._known

    def ask(self, now_us: int) -> bytes | None:
        """Return the replay request that is due now, None while there is nothing to ask."""
        waiting = self._asked_us is not None and now_us - self._asked_us < RETRY_US
        if waiting or not self.behind():
            return None
        self._asked_us = now_us
        self._request += 1
        if self.cursor is None:
            return encode(AskSnapshot(str(self._request)))
        return encode(AskFrom(str(self._request), self.cursor.seq + 1))

    def live(self, raw: bytes, now_us: int) -> None:
        """Take a frame of the live feed. Raises ForeignSource, ChainBroken, MalformedMessage."""
        alive = decode_alive(raw)
        if alive is not None:
            self._hear(alive, now_us)
            return
        envelope = decode(raw)
        check_origin(envelope, source=self._source, stream=self._stream)
        if envelope.epoch < self.epoch:
            self._doubt()
            return
        self._learn(envelope.seq, delivered_to=envelope.seq - 1)
        if self.cursor is None or envelope.seq > self.cursor.seq + 1:
            self._hold(envelope, raw)
        elif envelope.seq == self.cursor.seq + 1:
            self._accept_live(envelope, raw)
        self._release_held()

    def replayed(self, frames: Sequence[bytes]) -> None:
        """Take a reply of the replay server; one to an older request is ignored.

        Raises ReplayRefused, ForeignSource, ChainBroken, MalformedMessage.
        """
        if not frames:
            raise MalformedMessage("replay reply without frames, expected a marker at its end")
        marker = decode_marker(frames[-1])
        if marker.request != str(self._request) or self._asked_us is None:
            return
        if marker.reason is not None:
            raise ReplayRefused(f"replay of {self._stream}: {marker.reason}: {marker.text}")
        if marker.snapshot:
            self._join(decode_snapshot(frames[0]))
        for raw in frames[marker.snapshot : -1]:
            self._accept_replayed(raw)
        self._finish_page(marker.last_seq or 0, progress=marker.snapshot or marker.count > 0)

    def _hear(self, alive: Alive, now_us: int) -> None:
        if alive.alive != self._table or alive.source != self._source:
            raise ForeignSource(f"alive of {alive.source}, expected {self._source}")
        self._compare(alive)
        if alive.epoch < self.epoch:
            self._doubt()
            return
        cursor = self.cursor
        if cursor is not None and cursor.seq == alive.seq and cursor.hash != alive.hash:
            raise ChainBroken(f"{self._stream}/{alive.seq}: the table says another hash than was received")
        if cursor is not None and alive.seq < cursor.seq and alive.epoch > self.epoch:
            raise ChainBroken(f"{self._stream}: a new run ends at {alive.seq}, {cursor.seq} was received")
        self._alive_us = now_us
        self.epoch = alive.epoch
        self.last_alive = alive
        self._learn(alive.seq, delivered_to=alive.seq)

    def _doubt(self) -> None:
        """Refuse a frame of an older epoch. Two tables may be speaking: no bets until replay has answered."""
        self.refused += 1
        self._caught_up = False

    def _compare(self, alive: Alive) -> None:
        """Later in the table's own time neither epoch nor number is lower, else its journal has lost things.

        So it is noticed at once, and not when the numbers have caught up with what was received.
        """
        last = self.last_alive
        if last is None or alive.at_us <= last.at_us:
            return
        if alive.epoch < last.epoch or alive.seq < last.seq:
            raise ChainBroken(
                f"{self._stream}: the table is at epoch {alive.epoch}, number {alive.seq}; earlier it said "
                f"epoch {last.epoch}, number {last.seq}: its journal has lost what was sent; stop, and "
                "compare what was acted on with the journal"
            )
        if alive.seq == last.seq and alive.hash != last.hash:
            raise ChainBroken(f"{self._stream}/{alive.seq}: the table says another hash than it said before")

    def _learn(self, seq: int, *, delivered_to: int) -> None:
        """Note the highest number heard of; a gap opens when `delivered_to` has not been delivered."""
        if self.cursor is not None and not self.behind() and delivered_to > self.cursor.seq:
            self.gaps += 1
        self._known = max(self._known, seq)

    def _hold(self, envelope: Envelope, raw: bytes) -> None:
        if len(self._held) < HELD_MAX:
            self._held[envelope.seq] = (envelope, raw)

    def _accept_live(self, envelope: Envelope, raw: bytes) -> None:
        """Deliver a live message; one with a wrong `prevhash` waits for what replay says of its number."""
        if self.cursor is not None and envelope.prevhash == self.cursor.hash:
            self._deliver(envelope, raw)
        else:
            self.refused += 1

    def _accept_replayed(self, raw: bytes) -> None:
        envelope = decode(raw)
        check_origin(envelope, source=self._source, stream=self._stream)
        cursor = self.cursor or Cursor()
        if envelope.seq <= cursor.seq:
            return
        if envelope.seq != cursor.seq + 1 or envelope.prevhash != cursor.hash:
            raise ChainBroken(
                f"replay gave {envelope.id} on {envelope.prevhash[:12]}, "
                f"expected number {cursor.seq + 1} on {cursor.hash[:12]}"
            )
        self._deliver(envelope, raw)

    def _join(self, snapshot: Snapshot) -> None:
        if (snapshot.table, snapshot.audience) != (self._table, self._audience) or (
            snapshot.seq > 0 and snapshot.source != self._source
        ):
            raise ForeignSource(f"snapshot of {snapshot.source or snapshot.table}, expected {self._source}")
        self.snapshot = snapshot
        self.cursor = Cursor(snapshot.seq, snapshot.hash)
        self.epoch = max(self.epoch, snapshot.epoch)

    def _finish_page(self, last_seq: int, *, progress: bool) -> None:
        assert self.cursor is not None, "a page is asked for from a cursor, or joins at a snapshot"
        if last_seq < self.cursor.seq:
            raise ChainBroken(f"{self._stream}: the table ends at {last_seq}, {self.cursor.seq} was received")
        self._known = max(self._known, last_seq)
        self._caught_up = True
        self._held = {seq: held for seq, held in self._held.items() if seq > self.cursor.seq}
        if progress or not self.behind():
            self._asked_us = None
        self._release_held()

    def _release_held(self) -> None:
        """Deliver held messages that have become the next."""
        while self._held and self.cursor is not None:
            found = self._held.pop(self.cursor.seq + 1, None)
            if found is None:
                break
            self._accept_live(*found)

    def _deliver(self, envelope: Envelope, raw: bytes) -> None:
        self.cursor = Cursor(envelope.seq, message_hash(raw))
        self.epoch = max(self.epoch, envelope.epoch)
        self.ready.append(Delivery(self.cursor, envelope, raw))
