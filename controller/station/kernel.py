"""The kernel: the table and its envelopes, one step at a time, and recovery through the same code.

Live, simulated and replayed tables differ in where inputs come from and where messages go; never here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from controller.bus.envelope import Envelopes, Heads, Stamp, decode, message_hash
from controller.journal import AudienceHead, Reader
from controller.journal.signing import Closing
from controller.station.config import StationConfig
from controller.station.errors import StartRefused
from controller.table.events import (
    Audience,
    Event,
    RoundClosed,
    RoundConfirmed,
    RoundCorrected,
    encode_events,
)
from controller.table.inputs import AnyInput, decode_input, encode_input
from controller.table.table import Table

CLOSED_TYPE = b'"type":"tablectl.round.closed.v'


class Stepped(msgspec.Struct, frozen=True):
    """One step done: its input and events as the journal keeps them, and the finished messages.

    `carried` is there when the step reached a round boundary.
    """

    input: bytes
    events: tuple[Event, ...]
    events_raw: bytes
    messages: Mapping[Audience, tuple[bytes, ...]]
    carried: bytes | None


class Carried(msgspec.Struct, frozen=True):
    """What goes from round to round: the table's record and the heads of the streams."""

    table: msgspec.Raw
    heads: Heads


class Kernel:
    """A table with its streams."""

    def __init__(self, config: StationConfig) -> None:
        self.config = config
        self.table = Table(
            config.settings, config.game, config.deck, config.other_decks, spare_decks=config.spare_decks
        )
        self._stream(None)

    def _stream(self, heads: Heads | None) -> None:
        table = self.config.settings.table
        self.envelopes = Envelopes(table=table, environment=self.config.environment, heads=heads)

    def step(self, value: AnyInput) -> Stepped:
        """Take one input. A bug of ours raises, and the input must not be journaled then."""
        roundid = self.table.roundid
        events = self.table.step(value)
        ended = roundid is not None and self.table.roundid is None
        state = self.table.state
        roundid, rev = self._concerned(events)
        stamp = Stamp(
            at_us=value.at,
            epoch=state.epoch,
            phase=state.phase,
            rules=state.rules,
            roundid=roundid,
            rev=rev,
        )
        return Stepped(
            encode_input(value),
            events,
            encode_events(events),
            self.envelopes.build(events, stamp),
            self._carried() if ended else None,
        )

    def _concerned(self, events: tuple[Event, ...]) -> tuple[str | None, int | None]:
        """Return the round that a step is about, and the revision that it publishes.

        A correction is about an old round, whatever lies on the table.
        """
        for event in events:
            if isinstance(event, RoundCorrected):
                return event.roundid, event.rev
        terminal = any(isinstance(event, RoundConfirmed | RoundClosed) for event in events)
        return self.table.roundid, 1 if terminal else None

    def _carried(self) -> bytes | None:
        record = self.table.carried()
        if record is None:
            return None
        return msgspec.json.encode(Carried(msgspec.Raw(record), self.envelopes.heads()))

    def restore(self, raw: bytes) -> None:
        """Become the kernel that wrote the `carried` record. Raises msgspec.ValidationError."""
        record = msgspec.json.decode(raw, type=Carried)
        self.table.restore(bytes(record.table))
        self._stream(record.heads)


def _again(kernel: Kernel, n: int, raw: bytes) -> Stepped:
    try:
        return kernel.step(decode_input(raw))
    except Exception as error:
        # Whatever it is: its text may name a face-down card.
        raise StartRefused(
            f"step {n}: the program of today stops on this input ({type(error).__name__}); "
            f"start the version that wrote it, or close the day with it"
        ) from error


def closing_of(stepped: Stepped) -> Closing | None:
    """Return the round revision that a step closes, with each stream's `round.closed`; None for no such."""
    if not any(isinstance(event, RoundClosed) for event in stepped.events):
        return None
    streams, names = {}, None
    for audience, sent in stepped.messages.items():
        raw = next(raw for raw in reversed(sent) if CLOSED_TYPE in raw)
        envelope = decode(raw)
        streams[audience.value] = AudienceHead(envelope.seq, message_hash(raw))
        names = envelope.roundid, envelope.rev
    assert names is not None, "a round closes for nobody"
    roundid, rev = names
    assert roundid is not None and rev is not None, f"a round closes without a name: {names}"
    return Closing(roundid, rev, streams)


def recover(kernel: Kernel, reader: Reader, *, on_step: Callable[[], None] = lambda: None) -> int:
    """Bring the kernel to where the journal ends; returns how many steps were taken again.

    Events and messages of every step are compared with those on record. Raises StartRefused naming the
    first step that differs.
    """
    carried = reader.last_carried()
    after = 0
    if carried is not None:
        after, raw = carried
        kernel.restore(raw)
    count = 0
    for step in reader.steps(after):
        on_step()
        again = _again(kernel, step.n, step.input)
        recorded = b"[" + b",".join(step.events) + b"]"
        sent = {audience: messages for audience, messages in again.messages.items() if messages}
        if again.events_raw != recorded or sent != dict(step.messages):
            raise StartRefused(
                f"step {step.n}: the program of today makes other events of this input than those on record; "
                f"start the version that wrote them, or close the day with it"
            )
        count += 1
    return count
