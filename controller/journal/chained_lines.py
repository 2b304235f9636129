"""A file of JSON lines, each chained to the line before by SHA-256; for what several processes add to.

The chain finds a line that was edited, put in or taken out; lines taken off the end leave no trace in it.
"""

from __future__ import annotations

import fcntl
import os
from hashlib import sha256
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from controller.journal.files import sync_folder

FIRST = "0" * 64
"""What the first line is chained to."""

T = TypeVar("T")


class LinesDamaged(Exception):
    """The file is not what was written. The text says which line, and what is wrong with it."""


class ChainedLines(Generic[T]):
    """One such file. A line is `{"<member>":<value>,"chain":"<hex>"}`; the chain covers the value's bytes."""

    def __init__(self, path: Path, kind: Any, member: str) -> None:
        """`kind` is the type, or union of tagged types, of the values."""
        self.path = path
        self._decoder: msgspec.json.Decoder[T] = msgspec.json.Decoder(kind)
        self._member = member

    def read(self) -> tuple[T, ...]:
        """Return all values, oldest first; none without a file. Raises LinesDamaged, OSError."""
        try:
            raw = self.path.read_bytes()
        except FileNotFoundError:
            return ()
        return self._checked(raw)[0]

    def append(self, value: T) -> None:
        """Append a value durably. Raises LinesDamaged if the file is not whole, OSError."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        is_new = not self.path.exists()
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.fchmod(descriptor, 0o600)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            _, chain = self._checked(self.path.read_bytes())
            data = self._line(value, chain)
            written = os.write(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if written != len(data):
            raise LinesDamaged(f"{self.path}: the disk took {written} of {len(data)} bytes; make room")
        if is_new:
            sync_folder(self.path.parent)

    def _line(self, value: T, chain: str) -> bytes:
        body = msgspec.json.encode(value)
        members = {self._member: msgspec.Raw(body), "chain": _chained(chain, body)}
        return msgspec.json.encode(members) + b"\n"

    def _checked(self, raw: bytes) -> tuple[tuple[T, ...], str]:
        """Return the values and the chain after the last one."""
        values: list[T] = []
        chain = FIRST
        for number, text in enumerate(raw.split(b"\n")[:-1], 1):
            try:
                members = _MEMBERS.decode(text)
                body = bytes(members.pop(self._member))
                values.append(self._decoder.decode(body))
                recorded = msgspec.json.decode(members.pop("chain"), type=str)
            except (msgspec.MsgspecError, KeyError) as error:
                raise self._damaged(number, f"is no {self._member}: {error}") from None
            chain = _chained(chain, body)
            if members or recorded != chain:
                raise self._damaged(number, "is not what was written there: its chain does not match")
        if raw and not raw.endswith(b"\n"):
            raise self._damaged(len(values) + 1, "is cut off")
        return tuple(values), chain

    def _damaged(self, number: int, what: str) -> LinesDamaged:
        return LinesDamaged(f"{self.path}: line {number} {what}")


def _chained(before: str, body: bytes) -> str:
    return sha256(before.encode() + body).hexdigest()


_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])
