"""The dispute bundle: one round as one file, which proves itself to whoever has the table's public key.

JSON Lines, each line a record: the header; the documents of the rules; the approvals; every message of the
round verbatim, as a string; the heads that were signed when the round closed; what all this tells, as rows;
and last the signature over every byte before it. How a reader checks the messages: each carries the
SHA-256 of the one before (`prevhash`), and the signed head names number and SHA-256 of the last.

A bundle for `audit` holds all streams; one for `public` holds the public stream alone, so hands that the
rules never publish stay closed. Inputs are in no bundle: they hold codes of cards that may still be in play.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import msgspec

from controller.bus.envelope import SealedRound, decode, event_of
from controller.journal import Days, JournalDamaged, Reader
from controller.journal.signing import JOURNAL, Head, Signatures, Signed, Signer, read_head
from controller.station.approvals import Approval, approvals_of, approvals_path, read_approvals
from controller.station.sealing import FORMAT, Whole, streams_for
from controller.station.start import PROGRAM
from controller.station.told_rows import Sheet, told_rows
from controller.table.events import Audience, ControllerStarted, RoundOpened

STARTED = b'"event":"controller.started"'
BEGINS = b'{"record":"bundle"'
"""A file that begins so is a bundle."""


class Record(msgspec.Struct, frozen=True, kw_only=True, tag_field="record", forbid_unknown_fields=True):
    """Base of all records."""


class BundleHeader(Record, frozen=True, kw_only=True, tag="bundle"):
    """Which round, for whose eyes, and who took it out when."""

    format: int
    table: str
    environment: str
    roundid: str
    audience: Audience
    at_us: int
    by: str
    program: str
    public_key: str


class Document(Record, frozen=True, kw_only=True, tag="document"):
    """A document whose hash the round names: the settings of its game."""

    hash: str
    text: str


class ConfigUsed(Record, frozen=True, kw_only=True, tag="config"):
    """The hashes of all documents that the table ran under."""

    documents: tuple[str, ...]


class Approved(Record, frozen=True, kw_only=True, tag="approval"):
    """An approval of the round's rules."""

    approval: Approval


class Message(Record, frozen=True, kw_only=True, tag="message"):
    """A message of one stream, verbatim, in the revision that it belongs to."""

    stream: Audience
    rev: int
    text: str


class SignedHead(Record, frozen=True, kw_only=True, tag="head"):
    """A head that was signed when a revision closed."""

    text: str
    signature: str


class Told(Record, frozen=True, kw_only=True, tag="told"):
    """A row of what the messages tell."""

    sheet: Sheet
    row: dict[str, Any]


class End(Record, frozen=True, kw_only=True, tag="end"):
    """The signature over every byte before this line."""

    text: str
    signature: str


AnyRecord: TypeAlias = BundleHeader | Document | ConfigUsed | Approved | Message | SignedHead | Told | End


class Revision(NamedTuple):
    """A revision of a round as a journal holds it: the step that closed it, and its signatures."""

    path: Path
    n: int
    signatures: Signatures
    heads: tuple[Head, ...]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Who takes evidence out, when and for whose eyes; `run_dir` has the approvals."""

    audience: Audience
    by: str
    at_us: int
    run_dir: Path


def revisions_of(paths: Iterable[Path], wanted: frozenset[str]) -> dict[str, list[Revision]]:
    """Return the signed revisions of rounds, by round id, oldest first. Raises JournalError."""
    found: dict[str, list[Revision]] = {}
    for path in paths:
        with Reader.open(path) as reader:
            for n, signatures in reader.signatures():
                heads = tuple(_head(path, n, signed) for signed in signatures.heads)
                if heads and heads[0].roundid in wanted:
                    found.setdefault(heads[0].roundid, []).append(Revision(path, n, signatures, heads))
    return found


def _head(path: Path, n: int, signed: Signed) -> Head:
    try:
        return read_head(signed.text)
    except ValueError as error:
        raise JournalDamaged(f"{path}: signatures of step {n}: {error}; verify it") from None


def compose(revisions: list[Revision], request: Request, signer: Signer) -> bytes:
    """Return the bundle of one round. Raises JournalError, StartRefused for unreadable approvals."""
    first = revisions[0].heads[0]
    header = BundleHeader(
        format=FORMAT,
        table=first.table,
        environment=first.environment,
        roundid=first.roundid,
        audience=request.audience,
        at_us=request.at_us,
        by=request.by,
        program=PROGRAM,
        public_key=signer.public_key,
    )
    streams = streams_for(request.audience)
    messages = [one for revision in revisions for stream in streams for one in _messages(revision, stream)]
    own = [one.text.encode() for one in messages if one.stream is request.audience]
    records: list[AnyRecord] = [header, *_settings(revisions[0], own[0], request), *messages]
    records += _signed_heads(revisions, streams)
    records += told_records(own)
    content = b"".join(msgspec.json.encode(record) + b"\n" for record in records)
    signed = whole_of(header).sealed(content, signer)
    return content + msgspec.json.encode(End(text=signed.text, signature=signed.signature)) + b"\n"


def whole_of(header: BundleHeader) -> Whole:
    """Return what the last line's signature names."""
    return Whole(
        what="bundle",
        table=header.table,
        environment=header.environment,
        subject=header.roundid,
        audience=header.audience.value,
        at_us=header.at_us,
    )


def told_records(messages: Iterable[bytes]) -> list[Told]:
    """Return what messages of one audience tell. Raises MalformedMessage."""
    told = told_rows(messages)
    return [Told(sheet=sheet, row=row) for sheet in Sheet for row in told.rows(sheet)]


def _messages(revision: Revision, stream: Audience) -> list[Message]:
    """Return the messages of a revision in one stream: those that its `round.closed` counts, and that."""
    last = next(int(head.where) for head in revision.heads if head.stream == stream)
    with Reader.open(revision.path) as reader:
        ((_, closed),) = reader.messages(stream.value, last, 1)
        sealed = event_of(decode(closed))
        if not isinstance(sealed, SealedRound):
            raise JournalDamaged(
                f"{revision.path}: {stream}/{last}: expected round.closed; verify the journal"
            )
        first = last - sealed.count
        # A correction's messages may have begun on the day before it was approved.
        if first >= reader.first_seq(stream.value):
            found = reader.messages(stream.value, first, sealed.count + 1)
        else:
            found = Days(revision.path.parent).messages(stream.value, first, sealed.count + 1)
    return [Message(stream=stream, rev=sealed.rev, text=raw.decode()) for _, raw in found]


def _settings(revision: Revision, opening: bytes, request: Request) -> Iterator[AnyRecord]:
    """Yield the documents that the round names; for audit the config's hashes and the approvals too."""
    opened = event_of(decode(opening))
    if not isinstance(opened, RoundOpened):
        raise JournalDamaged(
            f"{revision.path}: the first message of the round is not round.opened; verify it"
        )
    with Reader.open(revision.path) as reader:
        for named in named_documents(opened):
            yield Document(hash=named, text=reader.document(named))
        if request.audience is not Audience.AUDIT:
            return
        yield ConfigUsed(documents=_config_hashes(reader, revision.n))
    for approval in approvals_of(read_approvals(approvals_path(request.run_dir)), opened.game, opened.rules):
        yield Approved(approval=approval)


def named_documents(opened: RoundOpened) -> tuple[str, ...]:
    """Return the hashes of documents that a round names: its rules, and whatever else is a hash there."""
    values = msgspec.to_builtins(opened).values()
    return tuple(value for value in values if isinstance(value, str) and _is_hash(value))


def _is_hash(value: str) -> bool:
    return len(value) == 64 and set(value) <= set("0123456789abcdef")


def _config_hashes(reader: Reader, n: int) -> tuple[str, ...]:
    """Return the documents of the last start before step `n`; those of the day if none was on that day."""
    documents = tuple(sorted(reader.documents()))
    for step in reader.steps():
        if step.n > n:
            break
        for event in step.events:
            if STARTED in event:
                documents = _STARTED.decode(event).documents
    return documents


def _signed_heads(revisions: list[Revision], streams: tuple[Audience, ...]) -> Iterator[SignedHead]:
    shown = {*streams, *([JOURNAL] if Audience.AUDIT in streams else [])}
    for revision in revisions:
        for signed, head in zip(revision.signatures.heads, revision.heads, strict=True):
            if head.stream in shown:
                yield SignedHead(text=signed.text, signature=signed.signature)


_STARTED = msgspec.json.Decoder(ControllerStarted)
decode_record: msgspec.json.Decoder[AnyRecord] = msgspec.json.Decoder(AnyRecord)
