"""Signatures of a table: Ed25519 over one line of ASCII, so that anybody can check one with any tool.

What is signed when a round closes (`head_text`), once for each stream and once for the journal:

    tablectl:head:1|rp1|live|rp1-17|1|1764504000000000|public|381|9f2c...
    tablectl:head:1|rp1|live|rp1-17|1|1764504000000000|journal|2026-11-30.journal:57|41d0...

table, environment, round, revision, time of the step, then of a stream the number and SHA-256 of its
`round.closed`, and of the journal its file, step and chain. Each stream has a line of its own: the hash of
a stream may be guessed back into the cards of a hand that is never published, so it is shown only to
those who may read that stream.

A key lies in a file of mode 0600 (PKCS 8, PEM). Ed25519 draws nothing: the same head gives the same bytes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from controller.journal.errors import JournalError
from controller.journal.files import sync_folder
from controller.journal.records import AudienceHead

HEAD = "tablectl:head:1"
JOURNAL = "journal"
"""Stands in a head where a stream's name would."""
HEAD_FIELDS = 9


class KeyUnusable(JournalError):
    """A key file is missing or holds no Ed25519 key."""


class Point(msgspec.Struct, frozen=True):
    """Where a journal stands after a step: file name, step, time and chain."""

    file: str
    n: int
    at_us: int
    chain: str


class Signed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of text and its signature, in lower-case hex."""

    text: str
    signature: str


class Signatures(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the journal keeps beside a step that closes a round. `public_key` is hex."""

    public_key: str
    heads: tuple[Signed, ...]


class Head(msgspec.Struct, frozen=True):
    """A head, read. `stream` is an audience or JOURNAL; `where` a number, or file and step."""

    table: str
    environment: str
    roundid: str
    rev: int
    at_us: int
    stream: str
    where: str
    hash: str


class Closing(msgspec.Struct, frozen=True):
    """The round revision that a step closes; `streams` has each one's `round.closed`."""

    roundid: str
    rev: int
    streams: Mapping[str, AudienceHead]


Sign = Callable[[Point], bytes]
"""Makes what is kept of a step in `signatures`, once its chain is known."""


class Signer:
    """The key of one table."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public_key = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex()

    def sign(self, text: str) -> Signed:
        """Sign one line of ASCII."""
        return Signed(text, self._key.sign(text.encode("ascii")).hex())

    def heads(self, table: str, environment: str, closing: Closing) -> Sign:
        """Return what signs the heads of a closing round."""

        def sign(point: Point) -> bytes:
            begins = f"{HEAD}|{table}|{environment}|{closing.roundid}|{closing.rev}|{point.at_us}"
            texts = [f"{begins}|{name}|{head.seq}|{head.hash}" for name, head in closing.streams.items()]
            texts.append(f"{begins}|{JOURNAL}|{point.file}:{point.n}|{point.chain}")
            return msgspec.json.encode(Signatures(self.public_key, tuple(map(self.sign, texts))))

        return sign


def read_head(text: str) -> Head:
    """Take a head apart. Raises ValueError for any other text."""
    fields = text.split("|")
    if len(fields) != HEAD_FIELDS or fields[0] != HEAD:
        raise ValueError(f"expected {HEAD_FIELDS} fields that begin with {HEAD}, got {text[:80]!r}")
    _, table, environment, roundid, rev, at_us, stream, where, hashed = fields
    head = Head(table, environment, roundid, int(rev), int(at_us), stream, where, hashed)
    if (str(head.rev), str(head.at_us)) != (rev, at_us):
        raise ValueError(f"numbers are not written plainly: {text[:80]!r}")
    return head


def holds(public_key: str, signed: Signed) -> bool:
    """Return whether the signature is the key's own over the text."""
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        key.verify(bytes.fromhex(signed.signature), signed.text.encode("ascii"))
    except (InvalidSignature, ValueError):
        return False
    # Hex has two spellings; a signature has one.
    return signed.signature == signed.signature.lower() and len(signed.signature) == 128


def create_key(path: Path) -> Signer:
    """Draw a key and keep it at `path`, durably and whole or not at all. Raises KeyUnusable."""
    signer = Signer(key := Ed25519PrivateKey.generate())
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.new")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.fchmod(descriptor, 0o600)
            os.write(descriptor, pem)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        part.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise KeyUnusable(f"{path}: a signing key can't be kept there: {error.strerror}") from None
    return signer


def load_key(path: Path) -> Signer:
    """Return the key at `path`. Raises KeyUnusable."""
    try:
        if path.stat().st_mode & 0o077:
            raise KeyUnusable(f"{path}: others than its owner can read this key; expected mode 0600 (chmod)")
        key = load_pem_private_key(path.read_bytes(), password=None)
    except OSError as error:
        raise KeyUnusable(f"{path}: the signing key can't be read: {error.strerror}") from None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise KeyUnusable(f"{path}: expected an Ed25519 key, PKCS 8 in PEM") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyUnusable(f"{path}: expected an Ed25519 key, got one of another kind")
    return Signer(key)


def public_pem(public_key: str) -> str:
    """Return a public key in PEM, as other tools want it."""
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def read_public_key(path: Path) -> str:
    """Return the public key of a file, PEM or 64 hex digits, as hex. Raises KeyUnusable."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise KeyUnusable(f"{path}: the public key can't be read: {error.strerror}") from None
    try:
        if content.startswith(b"-----BEGIN"):
            key = load_pem_public_key(content)
        else:
            key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(content.decode("ascii").strip()))
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise KeyUnusable(f"{path}: expected an Ed25519 public key, PEM or 64 hex digits")
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw).hex()


decode_signatures = msgspec.json.Decoder(Signatures).decode
