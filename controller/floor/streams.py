"""One JetStream stream for each audience of each table, append-only: its messages and nothing else.

`Nats-Expected-Last-Msg-Id` looks at the last message of the whole stream, so tables can't share one. The
stream is the bridge's cursor as well: its last message is the last one that was carried, with number and
hash. Nothing else is stored, so cursor and effect can't part, neither by a kill nor by a power cut that
takes messages back which the server had acknowledged.
"""

from __future__ import annotations

import re

import msgspec
from nats.js import JetStreamContext
from nats.js.api import DiscardPolicy, RetentionPolicy, StorageType, StreamConfig
from nats.js.errors import BadRequestError, NotFoundError

from controller.bus.client import Cursor, Feed
from controller.bus.envelope import Envelope, check_origin, decode, message_hash, source_of
from controller.bus.errors import ForeignSource, MalformedMessage
from controller.floor.errors import BridgeStopped, FloorRefused
from controller.floor.nats_server import text_of
from controller.table.events import Audience

DUPLICATES_S = 120.0
"""How long the server knows ids, its own default. Order is what keeps a message from being stored twice."""
_TYPE = re.compile(r"tablectl\.(?P<family>[a-z_]+(\.[a-z_]+)*)\.v[0-9]+")


class End(msgspec.Struct, frozen=True):
    """The end of a stream: its last sequence, and the message there.

    `id` is None when it has only been read: after a restart the server does not know the id of a last message
    that is older than its window for duplicates (seen with 2.9.10), and would refuse it.
    """

    sequence: int = 0
    cursor: Cursor = Cursor()
    id: str | None = None


def stream_name(table: str, audience: Audience) -> str:
    """Return the name of the stream."""
    return f"tables-{table}-{audience}"


def subjects(table: str, audience: Audience) -> str:
    """Return what the stream takes."""
    return f"tables.{table}.{audience}.>"


def subject_of(envelope: Envelope, audience: Audience) -> str:
    """Return where a message goes: table, audience, and its family, such as `round.confirmed`.

    Raises BridgeStopped for a type that is not of this bus.
    """
    typed = _TYPE.fullmatch(envelope.type)
    if typed is None:
        raise BridgeStopped(f"message {envelope.id}: type {envelope.type!r}, expected tablectl.<family>.v<n>")
    return f"tables.{envelope.tableid}.{audience}.{typed['family']}"


def settings(table: str, audience: Audience) -> StreamConfig:
    """Return how a stream is set up that was missing: on disk, without limits, nothing ever taken out."""
    return StreamConfig(
        name=stream_name(table, audience),
        subjects=[subjects(table, audience)],
        storage=StorageType.FILE,
        retention=RetentionPolicy.LIMITS,
        discard=DiscardPolicy.OLD,
        duplicate_window=DUPLICATES_S,
        deny_delete=True,
        deny_purge=True,
    )


async def open_stream(jetstream: JetStreamContext, feed: Feed) -> End:
    """Return the end of the feed's stream, which is made when it is missing.

    Raises FloorRefused for a stream that is set up otherwise, BridgeStopped for one that holds something
    else, and what `nats_server.AWAY` says.
    """
    name = stream_name(feed.table, feed.audience)
    try:
        info = await jetstream.stream_info(name)
    except NotFoundError:
        try:
            info = await jetstream.add_stream(settings(feed.table, feed.audience))
        except BadRequestError as error:
            raise FloorRefused(f"stream {name}: can't be made: {text_of(error)}") from error
    _check(info.config, feed)
    last = info.state.last_seq
    if last == 0:
        return End()
    try:
        raw = (await jetstream.get_msg(name, last)).data or b""
    except NotFoundError:
        raise BridgeStopped(
            f"stream {name}: its last message, number {last}, is gone, so nobody knows where to go on; "
            "delete the stream to begin anew"
        ) from None
    return End(last, Cursor(_number(name, raw, feed), message_hash(raw)))


def _number(name: str, raw: bytes, feed: Feed) -> int:
    try:
        envelope = decode(raw)
        check_origin(
            envelope, source=source_of(feed.table, feed.environment), stream=f"{feed.table}/{feed.audience}"
        )
    except (MalformedMessage, ForeignSource) as error:
        raise BridgeStopped(
            f"stream {name} ends with what this table has not sent: {error}; somebody else publishes there, "
            "or it is of another table: delete the stream, or name another server"
        ) from error
    return envelope.seq


def _check(found: StreamConfig, feed: Feed) -> None:
    """Refuse what the promise does not survive; limits by size, replicas and the like are the studio's."""
    wanted = settings(feed.table, feed.audience)
    for key in ("subjects", "storage", "retention"):
        got, expected = getattr(found, key), getattr(wanted, key)
        if got != expected:
            raise FloorRefused(f"stream {wanted.name}: {key} {got!r}, expected {expected!r}")
    if found.max_age:
        raise FloorRefused(
            f"stream {wanted.name}: max_age {found.max_age:.0f} s would take away its end, from which "
            "the bridge goes on; limit it by max_bytes or max_msgs"
        )
