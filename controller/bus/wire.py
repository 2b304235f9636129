"""What travels besides messages: `alive`, replay requests and their markers, commands and answers.

All of it is JSON. Unknown fields are ignored. A replay reply is one multipart message: the snapshot if there
is one, the exact bytes of the messages, and the marker as the last frame.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, TypeAlias

import msgspec

from controller.bus.errors import UNREADABLE, MalformedMessage
from controller.table.inputs import AnyCommand

PAGE_MESSAGES_MAX = 1_000
Text = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
Seq = Annotated[int, msgspec.Meta(ge=1, lt=2**31)]
Limit = Annotated[int, msgspec.Meta(ge=1, le=PAGE_MESSAGES_MAX)]


class Alive(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The table runs, and `seq` with `hash` is the last message of this audience. Not numbered, no event.

    `window` is the open window, which ends at `closes_at_us`; None when none is open that this audience
    hears of.
    """

    alive: str
    """The table."""
    source: str
    epoch: int
    seq: int
    hash: str
    phase: str
    at_us: int
    window: str | None = None
    closes_at_us: int | None = None


class AskSnapshot(msgspec.Struct, frozen=True, tag_field="ask", tag="snapshot"):
    """The snapshot after the last message."""

    request: Text


class AskFrom(msgspec.Struct, frozen=True, tag_field="ask", tag="from"):
    """At most `limit` messages from number `seq`."""

    request: Text
    seq: Seq
    limit: Limit = 500


class AskRound(msgspec.Struct, frozen=True, tag_field="ask", tag="round"):
    """Messages of one round, from number `seq` when given; without it the round's state comes first."""

    request: Text
    roundid: Text
    seq: Seq | None = None
    limit: Limit = 500


Ask: TypeAlias = AskSnapshot | AskFrom | AskRound


class Reason(StrEnum):
    """Why the bus itself refuses. The table's reasons are `Refusal`."""

    MALFORMED = "MALFORMED"
    """The bytes are no request of the bus; the text says where and what was expected."""
    BUSY = "BUSY"
    """The table's queue is full; send the same request again."""
    GONE = "GONE"
    """No longer kept."""
    UNKNOWN_ROUND = "UNKNOWN_ROUND"
    """Replay: no round of this id is kept."""
    FOREIGN_ACTOR = "FOREIGN_ACTOR"
    """The key is of another consumer than `actor`; each acknowledges for itself."""
    UNKNOWN_PERSON = "UNKNOWN_PERSON"
    """The people file has nobody of this name."""
    NO_PEOPLE_FILE = "NO_PEOPLE_FILE"
    """The people file is missing or can't be read."""


class Marker(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The end of a replay reply, after `count` messages.

    `next` is the number to ask for next, None at the end of what was asked. `last_seq` is the audience's
    last number. With a `reason` nothing was replayed.
    """

    request: str
    end: bool
    count: int = 0
    snapshot: bool = False
    next: int | None = None
    last_seq: int | None = None
    reason: Reason | None = None
    text: str | None = None


class CommandRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    """One command. `request` makes it idempotent; its right comes from the endpoint, not from here.

    `pin` or `badge` go with a log-in alone. They end in the station and are in no text made of this.
    """

    request: Text
    actor: Text
    round_no: Annotated[int, msgspec.Meta(ge=0, lt=2**31)] = msgspec.field(name="roundno")
    command: AnyCommand
    pin: Text | None = None
    badge: Text | None = None

    def __repr__(self) -> str:
        return f"CommandRequest({self.request!r}, {self.actor!r}, {self.round_no}, {self.command!r})"


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """Whether the table took the command. `reason` is a `Refusal` or a `Reason`; `text` is for people."""

    request: str
    accepted: bool
    reason: str | None = None
    text: str | None = None


class _Named(msgspec.Struct):
    request: str = ""


def encode(value: msgspec.Struct) -> bytes:
    """Return the JSON of anything in this module."""
    return _ENCODER.encode(value)


def request_named_in(raw: bytes) -> str:
    """Return the request id of something malformed, empty when even that cannot be read."""
    try:
        return _NAMED.decode(raw).request[:64]
    except UNREADABLE:
        return ""


def decode_alive(raw: bytes) -> Alive | None:
    """Read a frame of the live feed; None when it is a message. Raises MalformedMessage."""
    if not raw.startswith(b'{"alive":'):
        return None
    try:
        return _ALIVE.decode(raw)
    except UNREADABLE as error:
        raise MalformedMessage(f"alive of {len(raw)} bytes: {error}") from error


def decode_marker(raw: bytes) -> Marker:
    """Read the last frame of a replay reply. Raises MalformedMessage."""
    try:
        return _MARKER.decode(raw)
    except UNREADABLE as error:
        raise MalformedMessage(f"marker of {len(raw)} bytes: {error}") from error


_ENCODER = msgspec.json.Encoder(order="deterministic")
_NAMED = msgspec.json.Decoder(_Named)
_ALIVE = msgspec.json.Decoder(Alive)
_MARKER = msgspec.json.Decoder(Marker)
