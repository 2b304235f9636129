"""What a journal file holds, and the bytes it holds it in.

Row 0 of `steps` is the first record: the heads at which the file of the day before ended. Every later
row is one step. A row's body is one JSON object; inputs, events and messages lie in it verbatim, so
what is read back is identical to the byte, and `sqlite3` shows it to anybody.

chain(n) = SHA-256(chain(n - 1) as 64 hex digits, body(n)); before row 0 stands the chain head of the file
before, or 64 zeros.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256

import msgspec

MESSAGE_BYTES_MAX = 1 << 20
"""Twenty times the largest message there is (`confirmed` of live Russian Poker, 48 kB)."""
BODY_BYTES_MAX = 8 << 20
ZERO_HASH = "0" * 64
"""Stands where nothing came before: `prevhash` of an audience's first message, the first chain head."""


class AudienceHead(msgspec.Struct, frozen=True):
    """Where an audience's numbering stands: its last message's `seq` (0: none yet) and SHA-256."""

    seq: int
    hash: str


class Heads(msgspec.Struct, frozen=True):
    """Where a file ends, and so where the next one begins.

    `epoch` is the highest that a message carries; `at_us` the time of the last step, 0 before any;
    `audiences` is in the order of the file's columns.
    """

    chain: str
    epoch: int
    at_us: int
    audiences: Mapping[str, AudienceHead]

    @classmethod
    def of_nothing(cls, audiences: Sequence[str]) -> Heads:
        """Return the heads before a table's very first step."""
        return cls(ZERO_HASH, 0, 0, {audience: AudienceHead(0, ZERO_HASH) for audience in audiences})


class Step(msgspec.Struct, frozen=True):
    """One step as it was written. `input`, each event and each message are exact JSON bytes.

    `messages` has the audiences that got any; `first_seq` has the `seq` of the first message of every
    audience, or of its next one where the step has none. `carried` and `documents` are SHA-256.
    """

    n: int
    at_us: int
    input: bytes
    events: tuple[bytes, ...]
    messages: Mapping[str, tuple[bytes, ...]]
    first_seq: Mapping[str, int]
    chain: str
    carried: str | None
    documents: tuple[str, ...]


class Link(msgspec.Struct, frozen=True):
    """The members of a message's envelope that join it to the one before."""

    seq: int
    epoch: int
    prevhash: str


class Body(msgspec.Struct, frozen=True, omit_defaults=True):
    """The body of a step, as JSON. `n` and `at_us` are in it so that the chain covers them."""

    n: int
    at_us: int
    input: msgspec.Raw
    events: tuple[msgspec.Raw, ...]
    messages: dict[str, tuple[msgspec.Raw, ...]] = {}
    carried: str | None = None
    documents: tuple[str, ...] = ()


class Outbox(msgspec.Struct, frozen=True):
    """The messages of a body, when nothing else is wanted."""

    messages: dict[str, tuple[msgspec.Raw, ...]] = {}


encode = msgspec.json.Encoder().encode
decode_body = msgspec.json.Decoder(Body).decode
decode_outbox = msgspec.json.Decoder(Outbox).decode
decode_heads = msgspec.json.Decoder(Heads).decode
decode_link = msgspec.json.Decoder(Link).decode
decode_events = msgspec.json.Decoder(tuple[msgspec.Raw, ...]).decode
decode_raw = msgspec.json.Decoder(msgspec.Raw).decode


def text_hash(content: bytes) -> str:
    """Return the SHA-256 of `content` in lower-case hex."""
    return sha256(content).hexdigest()


def chain_after(chain: str, body: bytes) -> str:
    """Return the chain head after a row with this body."""
    return sha256(chain.encode() + body).hexdigest()


def exact(content: bytes) -> msgspec.Raw:
    """Check that `content` is one JSON value with nothing around it, so that it comes back identical."""
    raw = decode_raw(content)
    assert len(memoryview(raw)) == len(content), f"blanks around {content[:80]!r}"
    return raw
