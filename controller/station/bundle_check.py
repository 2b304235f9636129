"""A bundle checked where there is no table, no journal and no config: the public key is enough.

Nothing that the bundle says is taken on trust: the streams are chained, counted and opened again, the heads
compared with them, and the rows folded anew. The outer signature alone would find a changed byte; the rest
finds a bundle that was changed by somebody who holds the table's key, short of signing new heads.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

import msgspec

from controller.bus.envelope import (
    GENESIS,
    Envelope,
    SealedRound,
    decode,
    event_of,
    folded_digest,
    message_hash,
)
from controller.bus.errors import MalformedMessage
from controller.journal.records import text_hash
from controller.journal.signing import JOURNAL, Head, Signed, read_head
from controller.station.bundle import (
    AnyRecord,
    Approved,
    BundleHeader,
    ConfigUsed,
    Document,
    End,
    Message,
    SignedHead,
    Told,
    decode_record,
    named_documents,
    told_records,
    whole_of,
)
from controller.station.proofs import Proofs
from controller.station.sealing import FORMAT, Fault, Flawed, differing, signature_faults, streams_for
from controller.station.selection import parse_time
from controller.table.events import Audience, RoundOpened

Heads = dict[tuple[str, int], Head]
"""By stream and revision."""
ORDER = (BundleHeader, Document, ConfigUsed, Approved, Message, SignedHead, Told, End)
"""Records come in this order."""


class BundleReport(msgspec.Struct):
    """What was looked at in a bundle, and what was found."""

    file: str
    round: str = ""
    audience: str = ""
    by: str = ""
    records: int = 0
    messages: int = 0
    revisions: int = 0
    heads: int = 0
    commitments: int = 0
    findings: list[Fault] = []


def check_bundle(path: Path, keys: frozenset[str]) -> BundleReport:
    """Verify a bundle against the public keys that are trusted. Raises OSError."""
    report = BundleReport(str(path))
    report.findings.extend(_faults(path.read_bytes(), keys, report))
    return report


def _faults(raw: bytes, keys: frozenset[str], report: BundleReport) -> Iterator[Fault]:
    lines = raw.split(b"\n")
    if lines.pop() != b"":
        yield Fault(Flawed.UNREADABLE, "end", "a line feed at the end", "a file that is cut off")
        return
    records: list[AnyRecord] = []
    for number, line in enumerate(lines, 1):
        try:
            records.append(decode_record.decode(line))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            yield Fault(Flawed.UNREADABLE, f"line {number}", "a record", str(error))
    report.records = len(records)
    if not records or not isinstance(records[0], BundleHeader) or not isinstance(records[-1], End):
        yield Fault(Flawed.UNREADABLE, "file", "a header first and an end last", "another file, or a part")
        return
    header, end = records[0], records[-1]
    report.round, report.audience, report.by = header.roundid, header.audience.value, header.by
    content = raw[: len(raw) - len(lines[-1]) - 1]
    yield from whole_of(header).faults(content, Signed(end.text, end.signature), keys)
    yield from differing(Flawed.UNREADABLE, "header", [("format", FORMAT, header.format)])
    yield from _order(records)
    yield from _Checking(header, records, keys, report).faults()


def _order(records: Sequence[AnyRecord]) -> Iterator[Fault]:
    last = 0
    for number, record in enumerate(records, 1):
        at = ORDER.index(type(record))
        if at < last or (at == last and isinstance(record, BundleHeader | End) and number > 1):
            name = type(record).__struct_config__.tag
            yield Fault(Flawed.UNREADABLE, f"line {number}", "the order of records", f"{name} here")
        last = max(last, at)


class _Checking:
    """What a bundle says inside, against itself."""

    def __init__(
        self, header: BundleHeader, records: Sequence[AnyRecord], keys: frozenset[str], report: BundleReport
    ) -> None:
        self._header = header
        self._keys = keys
        self._report = report
        self._documents = [record for record in records if isinstance(record, Document)]
        self._messages = [record for record in records if isinstance(record, Message)]
        self._told = [record for record in records if isinstance(record, Told)]
        self._heads = [record for record in records if isinstance(record, SignedHead)]

    def faults(self) -> Iterator[Fault]:
        self._report.messages, self._report.heads = len(self._messages), len(self._heads)
        try:
            heads = yield from self._read_heads()
            for stream in streams_for(self._header.audience):
                yield from self._stream(stream, heads)
            yield from self._strays(heads)
            yield from self._rows()
        except (MalformedMessage, ValueError) as error:
            yield Fault(Flawed.UNREADABLE, "messages", "messages of a table", str(error))

    def _read_heads(self) -> Generator[Fault, None, Heads]:
        """Check the signatures and return the heads by stream and revision."""
        heads: Heads = {}
        for record in self._heads:
            signed = Signed(record.text, record.signature)
            yield from signature_faults(signed, self._keys, f"head {record.text[:100]}")
            head = read_head(record.text)
            if (head.stream, head.rev) in heads:
                yield Fault(Flawed.HEAD, f"{head.stream} rev {head.rev}", "one head", "two")
            heads[head.stream, head.rev] = head
        self._report.revisions = len({rev for _, rev in heads})
        return heads

    def _stream(self, stream: Audience, heads: Heads) -> Iterator[Fault]:
        """One stream of the round, revision by revision."""
        runs: dict[int, list[bytes]] = {}
        for message in self._messages:
            if message.stream is stream:
                runs.setdefault(message.rev, []).append(message.text.encode())
        revisions = list(range(1, self._report.revisions + 1))
        yield from differing(Flawed.SEAL, str(stream), [("revisions", revisions, list(runs))])
        for rev, run in runs.items():
            where = f"{stream} rev {rev}"
            envelopes = [decode(raw) for raw in run]
            yield from self._chain(stream, run, envelopes)
            yield from self._seal(where, run, envelopes[-1])
            yield from self._head(where, heads.get((stream, rev)), run[-1], envelopes[-1])
        proofs = Proofs(stream)
        for broken in proofs.take(runs.get(1, ())):
            yield Fault(Flawed.PROMISE, f"{broken.message} {broken.where}", broken.expected, broken.got)
        if stream is self._header.audience:
            self._report.commitments = proofs.checked

    def _chain(self, stream: Audience, run: list[bytes], envelopes: list[Envelope]) -> Iterator[Fault]:
        source = f"tablectl/{self._header.table}/{self._header.environment}"
        before: tuple[int, str] | None = None
        for raw, envelope in zip(run, envelopes, strict=True):
            seq, prevhash = before or (envelope.seq, envelope.prevhash)
            named = f"{self._header.table}/{stream}/{seq}"
            pairs = [("source", source, envelope.source), ("prevhash", prevhash, envelope.prevhash)]
            yield from differing(Flawed.CHAIN, envelope.id, [("id", named, envelope.id), *pairs])
            before = envelope.seq + 1, message_hash(raw)

    def _seal(self, where: str, run: list[bytes], closing: Envelope) -> Iterator[Fault]:
        sealed = event_of(closing)
        if not isinstance(sealed, SealedRound):
            yield Fault(Flawed.SEAL, where, "round.closed last", closing.type)
            return
        digest = GENESIS
        for raw in run[:-1]:
            digest = folded_digest(digest, message_hash(raw))
        counts = [("count", sealed.count, len(run) - 1), ("digest", sealed.digest, digest)]
        names = [("round", self._header.roundid, closing.roundid), ("rev", sealed.rev, closing.rev)]
        yield from differing(Flawed.SEAL, where, [*counts, *names])

    def _head(self, where: str, head: Head | None, raw: bytes, closing: Envelope) -> Iterator[Fault]:
        if head is None:
            yield Fault(Flawed.HEAD, where, "a signed head", "none")
            return
        yield from self._names(where, head)
        yield from differing(
            Flawed.HEAD,
            where,
            [
                ("rev", head.rev, closing.rev),
                ("seq", head.where, str(closing.seq)),
                ("hash", head.hash, message_hash(raw)),
                ("time", head.at_us, parse_time(closing.time)),
            ],
        )

    def _names(self, where: str, head: Head) -> Iterator[Fault]:
        got = [("table", head.table), ("environment", head.environment), ("roundid", head.roundid)]
        pairs = [(name, getattr(self._header, name), value) for name, value in got]
        yield from differing(Flawed.HEAD, where, pairs)

    def _strays(self, heads: Heads) -> Iterator[Fault]:
        """Streams that are not for these eyes, and the head of the journal, which audit has."""
        streams = streams_for(self._header.audience)
        for stream in {message.stream for message in self._messages} - set(streams):
            yield Fault(Flawed.UNREADABLE, f"messages of {stream}", "none for this audience", "some")
        expected = {*streams, *([JOURNAL] if len(streams) > 1 else [])}
        for rev in range(1, self._report.revisions + 1):
            got = {stream for stream, of in heads if of == rev}
            yield from differing(Flawed.HEAD, f"rev {rev}", [("heads", sorted(expected), sorted(got))])
            if (JOURNAL, rev) in heads:
                yield from self._names(f"{JOURNAL} rev {rev}", heads[JOURNAL, rev])
                times = {head.at_us for (_, of), head in heads.items() if of == rev}
                yield from differing(Flawed.HEAD, f"rev {rev}", [("times", 1, len(times))])

    def _rows(self) -> Iterator[Fault]:
        """The rows, and the documents that the round names, against the messages of the audience."""
        own = [one.text.encode() for one in self._messages if one.stream is self._header.audience]
        told = [msgspec.json.encode(record) for record in told_records(own)]
        got = [msgspec.json.encode(record) for record in self._told]
        for number, (expected, row) in enumerate(zip_longest(told, got, fillvalue=b"no row"), 1):
            if expected != row:
                yield Fault(Flawed.TOLD, f"row {number}", expected.decode(), row.decode())
        opened = event_of(decode(own[0])) if own else None
        if not isinstance(opened, RoundOpened):
            yield Fault(Flawed.SEAL, "first message", "round.opened", "another")
            return
        hashes, named = {document.hash for document in self._documents}, set(named_documents(opened))
        none: set[str] = set()
        pairs = [("missing", none, named - hashes), ("not named by the round", none, hashes - named)]
        yield from differing(Flawed.DOCUMENT, "documents", pairs)
        for document in self._documents:
            got_hash = text_hash(document.text.encode())
            yield from differing(Flawed.DOCUMENT, "document", [("hash", document.hash, got_hash)])
