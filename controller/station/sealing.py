"""What bundles and exports share: the line signed over a whole, and what can be wrong with evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from hashlib import sha256

import msgspec

from controller.journal.signing import Signed, Signer, holds
from controller.table.events import AUDIENCES, Audience

FORMAT = 1


class Flawed(StrEnum):
    """What can be wrong with a bundle or an export."""

    UNREADABLE = "UNREADABLE"
    """A line is no record, a record is out of its place, or a file is missing."""
    HASH = "HASH"
    """The content is not what was signed."""
    SIGNATURE = "SIGNATURE"
    """No signature of the key that is trusted."""
    HEAD = "HEAD"
    """A signed head is missing, or says something else than the messages."""
    CHAIN = "CHAIN"
    """Messages of a stream don't follow one another."""
    SEAL = "SEAL"
    """`round.closed` counts other messages than there are."""
    PROMISE = "PROMISE"
    """A commitment does not hold, or was never opened."""
    TOLD = "TOLD"
    """Cards, windows, incidents or presses are not those of the messages."""
    DOCUMENT = "DOCUMENT"


class Fault(msgspec.Struct, frozen=True):
    """One thing that is wrong with a piece of evidence."""

    flaw: Flawed
    where: str
    expected: str
    got: str

    def __str__(self) -> str:
        return f"{self.flaw} {self.where}: expected {self.expected}, got {self.got}"


class Whole(msgspec.Struct, frozen=True, kw_only=True):
    """What a signature over a whole names: `what` is `bundle` or `export`, `subject` a round or a range."""

    what: str
    table: str
    environment: str
    subject: str
    audience: str
    at_us: int

    def text(self, content: bytes) -> str:
        """Return the line that is signed: `tablectl:bundle:1|rp1|live|rp1-17|audit|1764...|<SHA-256>`."""
        hashed = sha256(content).hexdigest()
        fields = (self.table, self.environment, self.subject, self.audience, str(self.at_us), hashed)
        return "|".join((f"tablectl:{self.what}:{FORMAT}", *fields))

    def sealed(self, content: bytes, signer: Signer) -> Signed:
        """Sign the content."""
        return signer.sign(self.text(content))

    def faults(self, content: bytes, signed: Signed, keys: frozenset[str]) -> Iterator[Fault]:
        """Yield what is wrong with the signature over the content."""
        text = self.text(content)
        if signed.text != text:
            yield Fault(Flawed.HASH, self.what, text, signed.text)
        yield from signature_faults(signed, keys, self.what)


def signature_faults(signed: Signed, keys: frozenset[str], where: str) -> Iterator[Fault]:
    """Yield a fault unless one of the trusted keys has signed."""
    if not any(holds(key, signed) for key in keys):
        known = " or ".join(sorted(keys))
        yield Fault(Flawed.SIGNATURE, where, f"a signature of {known}", "none of such a key")


def streams_for(audience: Audience) -> tuple[Audience, ...]:
    """Return the streams that a piece of evidence for `audience` may hold: audit sees all of them."""
    return AUDIENCES if audience is Audience.AUDIT else (audience,)


def differing(flaw: Flawed, where: str, pairs: Iterable[tuple[str, object, object]]) -> Iterator[Fault]:
    """Yield a fault for each (name, expected, got) that differs."""
    for name, expected, got in pairs:
        if expected != got:
            yield Fault(flaw, f"{where} {name}", str(expected), str(got))
