"""Envelopes: an event as each audience gets it, a CloudEvents 1.0 message in JSON.

Each audience has its own gapless numbers and its own hash chain, so what it may not see leaves no trace in
them. The same heads and the same events give the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from hashlib import sha256
from typing import Annotated, Any, ClassVar, TypeAlias, get_args

import msgspec

from controller.bus.endpoints import check_name
from controller.bus.errors import UNREADABLE, ForeignSource, MalformedMessage
from controller.table.events import (
    AUDIENCES,
    EVERYBODY,
    AnyEvent,
    Audience,
    Event,
    RoundClosed,
    RoundCorrected,
    RoundOpened,
)

GENESIS = "0" * 64
"""`prevhash` of message 1, and the digest of no messages."""
INTEGER_END = 2**31
"""Bound of a CloudEvents Integer (spec 1.0, Type System)."""
VERSION = 1
"""Major version of every type. A change that an old consumer would misread raises it."""
_UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TYPE = re.compile(r"tablectl\.(?P<tag>[a-z_.]+)\.v(?P<version>[0-9]+)")


Hash: TypeAlias = Annotated[str, msgspec.Meta(extra_json_schema={"pattern": "^[0-9a-f]{64}$"})]
Number: TypeAlias = Annotated[
    int, msgspec.Meta(extra_json_schema={"minimum": 0, "exclusiveMaximum": INTEGER_END})
]


class Environment(StrEnum):
    """How real the table is; the last word of every `source`."""

    LIVE = "live"
    TRAINING = "training"
    SIMULATED = "simulated"
    REPLAY = "replay"


class Envelope(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One message. `data` is the event's own JSON; `event_of` reads it.

    `roundid` and `rev` are None outside rounds. `cause` is the id of a message of the same audience.
    """

    specversion: str
    """Of CloudEvents: 1.0."""
    id: str
    """`<tableid>/<audience>/<seq>`; it never changes."""
    source: str
    """`tablectl/<tableid>/<environment>`; only `live` is played for money."""
    type: str
    """`tablectl.<event>.v<major version>`."""
    subject: str
    """The round, or the table outside rounds."""
    time: str
    """When it happened: RFC 3339, UTC, microseconds."""
    dataschema: str
    """The name of the schema of `data`."""
    tableid: str
    epoch: Number
    """Counts the starts of the controller at this table; it never falls in order of `seq`."""
    seq: Number
    """The number of the message in its audience, from 1, without a gap."""
    roundid: str | None = None
    rev: Number | None = None
    """How the round stands: 1 when it is confirmed or cancelled, one more with each correction."""
    phase: str
    """The phase that the table is in after this step."""
    prevhash: Hash
    """SHA-256 of the exact bytes of the audience's previous message; 64 zeros in message 1."""
    rules: str
    """The hash of the rules in force."""
    cause: str | None = None
    """The id of another message of this audience."""
    data: msgspec.Raw


class SealedRound(Event, frozen=True, kw_only=True, tag="round.closed"):
    """`round.closed` as it travels: the `count` messages directly before it belong to revision `rev`.

    They begin with `round.opened`, `round.corrected` or the first message after the last `round.closed`,
    whichever is latest. `digest` folds their exact bytes from GENESIS:
    `digest = SHA-256(digest + SHA-256(message))` over raw 32-byte values.
    """

    audiences: ClassVar = EVERYBODY
    rev: int
    count: int
    digest: Hash


class Head(msgspec.Struct, frozen=True):
    """Where one audience's stream stands: its last message, and the round revision it is in."""

    seq: int = 0
    hash: str = GENESIS
    count: int = 0
    digest: str = GENESIS


class Heads(msgspec.Struct, frozen=True):
    """The heads of all audiences, as the `carried` record keeps them."""

    public: Head = Head()
    betting: Head = Head()
    settlement: Head = Head()
    audit: Head = Head()

    def of(self, audience: Audience) -> Head:
        """Return the head of one audience."""
        head: Head = getattr(self, audience.value)
        return head


class Stamp(msgspec.Struct, frozen=True, kw_only=True):
    """What all messages of one step share. `rules` is the hash of the settings in force."""

    at_us: int
    epoch: int
    phase: str
    rules: str
    roundid: str | None = None
    rev: int | None = None


class Envelopes:
    """Numbers, chains and encodes the events of one table. Raises EndpointRefused for an unusable name."""

    def __init__(self, *, table: str, environment: Environment, heads: Heads | None = None) -> None:
        check_name(table)
        self.table = table
        self.source = source_of(table, environment)
        known = heads or Heads()
        self._heads = {audience: known.of(audience) for audience in AUDIENCES}

    def heads(self) -> Heads:
        """Return the heads after the last build, for the `carried` record."""
        return Heads(**{audience.value: head for audience, head in self._heads.items()})

    def build(self, events: Iterable[Event], stamp: Stamp) -> dict[Audience, tuple[bytes, ...]]:
        """Return the messages of one step, in order, with an entry for each audience."""
        messages: dict[Audience, list[bytes]] = {audience: [] for audience in AUDIENCES}
        for event in events:
            whole = _ENCODER.encode(event)
            for audience in AUDIENCES:
                told = event.seen_by(audience)
                if told is not None:
                    data = whole if told is event else _ENCODER.encode(told)
                    messages[audience].append(self._message(audience, told, data=data, stamp=stamp))
        return {audience: tuple(built) for audience, built in messages.items()}

    def _message(self, audience: Audience, event: Event, *, data: bytes, stamp: Stamp) -> bytes:
        head = self._heads[audience]
        if isinstance(event, RoundOpened | RoundCorrected):
            head = Head(head.seq, head.hash)
        if isinstance(event, RoundClosed):
            data = _ENCODER.encode(SealedRound(rev=event.rev, count=head.count, digest=head.digest))
        raw = _ENCODER.encode(self._envelope(audience, tag_of(event), head=head, data=data, stamp=stamp))
        hashed = message_hash(raw)
        if isinstance(event, RoundClosed):
            self._heads[audience] = Head(head.seq + 1, hashed)
        else:
            self._heads[audience] = Head(
                head.seq + 1, hashed, head.count + 1, folded_digest(head.digest, hashed)
            )
        return raw

    def _envelope(self, audience: Audience, tag: str, *, head: Head, data: bytes, stamp: Stamp) -> Envelope:
        seq = head.seq + 1
        assert max(seq, stamp.epoch, stamp.rev or 0) < INTEGER_END, "beyond a CloudEvents Integer"
        return Envelope(
            specversion="1.0",
            id=f"{self.table}/{audience}/{seq}",
            source=self.source,
            type=type_of(tag),
            subject=stamp.roundid or self.table,
            time=rfc3339(stamp.at_us),
            dataschema=dataschema_of(tag),
            tableid=self.table,
            epoch=stamp.epoch,
            seq=seq,
            roundid=stamp.roundid,
            rev=stamp.rev,
            phase=stamp.phase,
            prevhash=head.hash,
            rules=stamp.rules,
            data=msgspec.Raw(data),
        )


def tag_of(event: Event | type[Event]) -> str:
    """Return the event's name on the wire, such as `card.dealt`."""
    tag = event.__struct_config__.tag
    assert isinstance(tag, str), f"{event} has no tag"
    return tag


def type_of(tag: str) -> str:
    """Return the `type` of the messages of an event."""
    return f"tablectl.{tag}.v{VERSION}"


def dataschema_of(tag: str) -> str:
    """Return the name of the schema of an event's `data`."""
    return f"urn:tablectl:schema:{tag}:v{VERSION}"


def source_of(table: str, environment: Environment) -> str:
    """Return the `source` of all messages of a table."""
    return f"tablectl/{table}/{environment}"


def message_hash(raw: bytes) -> str:
    """Return what the next message carries as `prevhash`: SHA-256 of the exact bytes, lower-case hex."""
    return sha256(raw).hexdigest()


def folded_digest(digest: str, hashed: str) -> str:
    """Return the digest of a round's messages after one more, whose hash is `hashed`."""
    return sha256(bytes.fromhex(digest) + bytes.fromhex(hashed)).hexdigest()


@lru_cache(maxsize=1)  # All messages of a step have one time.
def rfc3339(at_us: int) -> str:
    """Return microseconds since 1970 as UTC with six decimals (RFC 3339, section 5.6)."""
    moment = _UNIX_EPOCH + timedelta(microseconds=at_us)
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def decode(raw: bytes) -> Envelope:
    """Read a message, ignoring unknown fields. Raises MalformedMessage."""
    try:
        return _DECODER.decode(raw)
    except UNREADABLE as error:
        raise MalformedMessage(f"message of {len(raw)} bytes: {error}") from error


def event_of(envelope: Envelope) -> Event | None:
    """Return the event, SealedRound in the place of RoundClosed; None for a type unknown here.

    A wallet stops on an unknown type. Raises MalformedMessage.
    """
    named = _TYPE.fullmatch(envelope.type)
    if named is None or int(named["version"]) != VERSION or named["tag"] not in _EVENT_DECODERS:
        return None
    try:
        event: Event = _EVENT_DECODERS[named["tag"]].decode(envelope.data)
    except UNREADABLE as error:
        raise MalformedMessage(f"{envelope.id} ({envelope.type}): data: {error}") from error
    return event


def check_origin(envelope: Envelope, *, source: str, stream: str) -> None:
    """Raise ForeignSource unless the message is of `source` and its id is `<stream>/<seq>`."""
    if envelope.source != source or envelope.id != f"{stream}/{envelope.seq}":
        raise ForeignSource(
            f"message {envelope.id} of {envelope.source}, expected {stream}/{envelope.seq} of {source}"
        )


def travelling_events() -> dict[str, type[Event]]:
    """Return every event by its name on the wire, in the form in which it travels."""
    kinds = (SealedRound if kind is RoundClosed else kind for kind in get_args(AnyEvent))
    return {tag_of(kind): kind for kind in kinds}


_ENCODER = msgspec.json.Encoder(order="deterministic")
_DECODER = msgspec.json.Decoder(Envelope)
_EVENT_DECODERS: dict[str, msgspec.json.Decoder[Any]] = {
    tag: msgspec.json.Decoder(kind) for tag, kind in travelling_events().items()
}
