"""Exports: a span of a table's past as sheets of rows, with a manifest that signs them all.

A folder: one file a sheet in CSV or JSON Lines, the signed heads of the rounds, and `manifest.jsonl`: a line
that names every file with size and SHA-256, a line with the signature over it. The rows are folded from the
messages of one audience, so they hold what that audience may know and nothing else.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from enum import StrEnum
from hashlib import sha256
from pathlib import Path

import msgspec

from controller.journal.files import sync_folder
from controller.journal.signing import Signer
from controller.station.bundle import Request, compose, revisions_of
from controller.station.errors import StationError
from controller.station.sealing import FORMAT, Whole
from controller.station.selection import Selection, round_opened, selected
from controller.station.start import PROGRAM
from controller.station.told_rows import COLUMNS, Row, Sheet, ToldRows, as_csv, as_jsonl
from controller.table.events import Audience

MANIFEST = "manifest.jsonl"
HEADS = "heads"
HEAD_COLUMNS = ("roundid", "rev", "text", "signature")


class Form(StrEnum):
    """How an export is written."""

    JSONL = "jsonl"
    CSV = "csv"
    BUNDLE = "bundle"


class FileSigned(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of an export. `rows` without the line of columns."""

    name: str
    sha256: str
    bytes: int
    rows: int


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an export holds, for whose eyes, and who took it out when. `range` is as it was asked for."""

    format: int
    table: str
    environment: str
    audience: Audience
    form: Form
    range: str
    at_us: int
    by: str
    program: str
    public_key: str
    files: tuple[FileSigned, ...]

    def whole(self) -> Whole:
        """Return what the signature names."""
        return Whole(
            what="export",
            table=self.table,
            environment=self.environment,
            subject=self.range,
            audience=self.audience.value,
            at_us=self.at_us,
        )


class Source(msgspec.Struct, frozen=True):
    """The journals of one table, its names and its key."""

    paths: tuple[Path, ...]
    table: str
    environment: str
    signer: Signer


class Made(msgspec.Struct, frozen=True):
    """A finished export: its files by name, and the rounds in it."""

    files: Mapping[str, bytes]
    roundids: tuple[str, ...]


def make_sheets(source: Source, selection: Selection, form: Form, request: Request) -> Made:
    """Make the files of an export of rows. Raises StationError, JournalError."""
    told, roundids = _told(source, selection, request.audience)
    heads = _head_rows(source, roundids, request.audience)
    sheets: dict[str, tuple[tuple[str, ...], list[Row]]] = {
        sheet.value: (COLUMNS[sheet], told.rows(sheet)) for sheet in Sheet
    }
    sheets[HEADS] = HEAD_COLUMNS, heads
    files: dict[str, bytes] = {}
    signed = []
    for sheet, (columns, rows) in sheets.items():
        content = as_jsonl(rows) if form is Form.JSONL else as_csv(columns, rows)
        files[f"{sheet}.{form}"] = content
        hashed = sha256(content).hexdigest()
        signed.append(FileSigned(f"{sheet}.{form}", hashed, len(content), len(rows)))
    manifest = Manifest(
        format=FORMAT,
        table=source.table,
        environment=source.environment,
        audience=request.audience,
        form=form,
        range=str(selection),
        at_us=request.at_us,
        by=request.by,
        program=PROGRAM,
        public_key=source.signer.public_key,
        files=tuple(signed),
    )
    line = msgspec.json.encode(manifest)
    sealed = manifest.whole().sealed(line, source.signer)
    files[MANIFEST] = line + b"\n" + msgspec.json.encode(sealed) + b"\n"
    return Made(files, tuple(roundids))


def make_bundles(source: Source, selection: Selection, request: Request) -> Made:
    """Make a bundle of each round. Raises StationError, JournalError."""
    roundids = [
        f"{source.table}-{opened.round_no}"
        for one in selected(source.paths, selection)
        if (opened := round_opened(one.step)) is not None
    ]
    revisions = revisions_of(source.paths, frozenset(roundids))
    for roundid in roundids:
        _check_signed(roundid, roundid in revisions)
    files = {
        f"{roundid}.{request.audience}.bundle.jsonl": compose(revisions[roundid], request, source.signer)
        for roundid in roundids
    }
    return Made(files, tuple(roundids))


def write_export(made: Made, out: Path) -> None:
    """Write the files into a new folder, whole or not at all; mode 0700, files 0600. Raises StationError."""
    part = out.with_name(f".{out.name}.part")
    try:
        part.mkdir(mode=0o700, parents=True)
        for name, content in made.files.items():
            descriptor = os.open(part / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        sync_folder(part)
        part.rename(out)
        sync_folder(out.parent)
    except OSError as error:
        shutil.rmtree(part, ignore_errors=True)
        raise StationError(f"{out}: can't be written: {error.strerror}; name a new folder") from None


def _told(source: Source, selection: Selection, audience: Audience) -> tuple[ToldRows, list[str]]:
    told = ToldRows()
    roundids = []
    for one in selected(source.paths, selection):
        opened = round_opened(one.step)
        if opened is not None:
            roundids.append(f"{source.table}-{opened.round_no}")
        for raw in one.step.messages.get(audience.value, ()):
            told.take(raw)
    return told, roundids


def _head_rows(source: Source, roundids: list[str], audience: Audience) -> list[Row]:
    """Return the heads of the audience's own stream, in the order of rounds."""
    revisions = revisions_of(source.paths, frozenset(roundids))
    rows: list[Row] = []
    for roundid in roundids:
        _check_signed(roundid, roundid in revisions)
        for revision in revisions[roundid]:
            for signed, head in zip(revision.signatures.heads, revision.heads, strict=True):
                if head.stream == audience:
                    cells = (roundid, head.rev, signed.text, signed.signature)
                    rows.append(dict(zip(HEAD_COLUMNS, cells, strict=True)))
    return rows


def _check_signed(roundid: str, is_signed: bool) -> None:
    if not is_signed:
        raise StationError(
            f"round {roundid} is not signed: it was closed by an older program, or its signatures were taken "
            "away; leave it out, and verify the journal"
        )
