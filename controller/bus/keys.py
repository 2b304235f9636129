"""Keys of the bus: CURVE pairs in small files, a secret one in `NAME.key`, its public one in `NAME.key.pub`.

A file holds the 40 characters that libzmq takes (Z85) and nothing else, so that a program in any language can
read it; white space around them, such as the newline of an editor, does not count.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import zmq
from zmq.utils import z85

from controller.bus.errors import KeyFileUnusable

KEY_LENGTH = 40
SECRET_SUFFIX, PUBLIC_SUFFIX = ".key", ".pub"
MODE = 0o600
FILE_BYTES_MAX = 4_096


class KeyPair(msgspec.Struct, frozen=True):
    """A pair in Z85. `repr` never shows the secret."""

    public: str
    secret: str

    def __repr__(self) -> str:
        return f"KeyPair(public={self.public!r})"

    @classmethod
    def draw(cls) -> KeyPair:
        """Draw a fresh pair."""
        public, secret = zmq.curve_keypair()
        return cls(public.decode(), secret.decode())

    @classmethod
    def of(cls, secret: str) -> KeyPair:
        """Return the pair of a secret key."""
        return cls(zmq.curve_public(secret.encode()).decode(), secret)


class ClientKeys(msgspec.Struct, frozen=True):
    """What a consumer needs: its own pair, and the public key by which it knows the table."""

    own: KeyPair
    server: str

    @classmethod
    def read(cls, secret: Path, server: Path) -> ClientKeys:
        """Read the consumer's secret key and the table's public one. Raises KeyFileUnusable."""
        return cls(read_pair(secret), read_public(server))

    def secure(self, socket: zmq.Socket[Any]) -> None:
        """Have the next connection of `socket` use these keys."""
        socket.setsockopt(zmq.CURVE_SERVERKEY, self.server.encode())
        socket.setsockopt(zmq.CURVE_PUBLICKEY, self.own.public.encode())
        socket.setsockopt(zmq.CURVE_SECRETKEY, self.own.secret.encode())


class BusKeys(msgspec.Struct, frozen=True):
    """Where a table's keys lie, and its doors: endpoints by name (`live.public`, `commands.betting`)."""

    key: Path
    allowed: Path
    doors: Mapping[str, str]


def public_path(secret: Path) -> Path:
    """Return where the public key of a pair lies: beside the secret one."""
    return secret.with_name(secret.name + PUBLIC_SUFFIX)


def read_pair(path: Path) -> KeyPair:
    """Read a secret key that nobody else can read. Raises KeyFileUnusable, which never repeats it."""
    text, mode = _read(path)
    if mode & 0o077:
        raise KeyFileUnusable(
            f"{path}: mode {mode:04o}, expected {MODE:04o}: others can read this secret key; "
            f"chmod 600 {path}, and draw another one if they may have"
        )
    if _holds(public_path(path), text):
        raise KeyFileUnusable(f"{path}: holds the public key, expected the secret one; restore it")
    return KeyPair.of(text)


def read_public(path: Path) -> str:
    """Read a public key. Raises KeyFileUnusable, also when a secret key is given by mistake."""
    if path.suffix == SECRET_SUFFIX:
        raise KeyFileUnusable(f"{path}: is a secret key, expected a public one: {public_path(path)}")
    return _read(path)[0]


def write_pair(path: Path, pair: KeyPair) -> None:
    """Write both files of a new pair, mode 0600. Raises KeyFileUnusable when one is there."""
    if path.suffix != SECRET_SUFFIX:
        raise KeyFileUnusable(f"{path}: expected a name that ends in {SECRET_SUFFIX}, which git ignores")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    files = {path: pair.secret, public_path(path): pair.public}
    for file in files:
        if file.exists():
            raise KeyFileUnusable(f"{file}: is there, and no key is replaced; choose another name")
    for file, text in files.items():
        try:
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, MODE)
        except OSError as error:
            raise KeyFileUnusable(f"{file}: can't be made: {error.strerror}") from None
        with os.fdopen(descriptor, "w", encoding="ascii") as opened:
            opened.write(text + "\n")
            opened.flush()
            os.fsync(opened.fileno())


def _read(path: Path) -> tuple[str, int]:
    """Return the key in a file and the file's mode."""
    try:
        raw, mode = read_whole(path, FILE_BYTES_MAX)
    except OSError as error:
        raise KeyFileUnusable(
            f"{path}: can't be read: {error.strerror}; tablectl keys create makes a pair"
        ) from None
    raw = raw.strip()
    problem = what_is_wrong_with_key(raw)
    if problem is not None:
        raise KeyFileUnusable(f"{path}: {problem}")
    return raw.decode("ascii"), mode


def _holds(path: Path, text: str) -> bool:
    try:
        return read_public(path) == text
    except KeyFileUnusable:
        return False


def read_whole(path: Path, limit: int) -> tuple[bytes, int]:
    """Return what is in a small file, and its mode. Never waits, as a table with doors reads while it runs.

    Raises KeyFileUnusable for what is no file, such as a pipe, and for a longer one; OSError.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise KeyFileUnusable(f"{path}: is no file, expected one with keys; move it away")
        raw = os.read(descriptor, limit + 1)
    finally:
        os.close(descriptor)
    if len(raw) > limit:
        raise KeyFileUnusable(f"{path}: is longer than {limit} bytes, so it holds something else than keys")
    return raw, stat.S_IMODE(mode)


def what_is_wrong_with_key(raw: bytes) -> str | None:
    """Return why this is no key in Z85, without repeating it; None when it is one."""
    if len(raw) != KEY_LENGTH:
        return f"holds {len(raw)} characters, expected the {KEY_LENGTH} of a key in Z85"
    try:
        z85.decode(raw)
    except (KeyError, struct.error):  # A character, or a group of five beyond 32 bits.
        return "is no Z85; fetch the key again, whole"
    return None
