"""An export of rows checked against the table's public key: the manifest, its files, and the signed heads."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import msgspec

from controller.journal.signing import Signed, read_head
from controller.station.export import HEADS, MANIFEST, Form, Manifest
from controller.station.sealing import FORMAT, Fault, Flawed, differing, signature_faults
from controller.station.told_rows import Row, Sheet


class ExportReport(msgspec.Struct):
    """What was looked at in an export, and what was found."""

    folder: str
    range: str = ""
    audience: str = ""
    by: str = ""
    files: int = 0
    rows: int = 0
    heads: int = 0
    findings: list[Fault] = []


def check_export(folder: Path, keys: frozenset[str]) -> ExportReport:
    """Verify an export against the public keys that are trusted. Raises OSError."""
    report = ExportReport(str(folder))
    report.findings.extend(_faults(folder, keys, report))
    return report


def _faults(folder: Path, keys: frozenset[str], report: ExportReport) -> Iterator[Fault]:
    lines = (folder / MANIFEST).read_bytes().split(b"\n")
    try:
        line, last, end = lines
        manifest = msgspec.json.decode(line, type=Manifest)
        signed = msgspec.json.decode(last, type=Signed)
    except (msgspec.MsgspecError, ValueError) as error:
        yield Fault(Flawed.UNREADABLE, MANIFEST, "a manifest and its signature, a line each", str(error))
        return
    report.range, report.audience, report.by = manifest.range, manifest.audience.value, manifest.by
    pairs = [("format", FORMAT, manifest.format), ("end", b"", end)]
    yield from differing(Flawed.UNREADABLE, MANIFEST, pairs)
    yield from manifest.whole().faults(line, signed, keys)
    yield from _files(folder, manifest, report)
    try:
        yield from _heads(folder, manifest, keys, report)
    except (ValueError, KeyError, TypeError, csv.Error, OSError, msgspec.MsgspecError) as error:
        yield Fault(Flawed.HEAD, HEADS, "rounds and their signed heads", str(error))


def _files(folder: Path, manifest: Manifest, report: ExportReport) -> Iterator[Fault]:
    names = {file.name for file in manifest.files}
    wanted = {f"{sheet}.{manifest.form}" for sheet in (*Sheet, HEADS)}
    yield from differing(Flawed.UNREADABLE, MANIFEST, [("files", sorted(wanted), sorted(names))])
    there = {path.name for path in folder.iterdir()} - {MANIFEST}
    for name in sorted(there - names):
        yield Fault(Flawed.UNREADABLE, name, "a file that the manifest names", "another file")
    for file in manifest.files:
        # A name from outside is no path.
        if file.name not in there:
            yield Fault(Flawed.UNREADABLE, file.name, "a file", "none")
            continue
        content = (folder / file.name).read_bytes()
        hashed = sha256(content).hexdigest()
        pairs = [("bytes", file.bytes, len(content)), ("SHA-256", file.sha256, hashed)]
        yield from differing(Flawed.HASH, file.name, pairs)
        report.files += 1
        report.rows += file.rows


def _heads(folder: Path, manifest: Manifest, keys: frozenset[str], report: ExportReport) -> Iterator[Fault]:
    """Every revision of every round has its head, and there is no other."""
    expected = {
        (row["roundid"], rev)
        for row in _rows(folder, Sheet.ROUNDS, manifest.form)
        for rev in range(1, int(row["revisions"]) + 1)
    }
    got = set()
    for row in _rows(folder, HEADS, manifest.form):
        signed = Signed(row["text"], row["signature"])
        yield from signature_faults(signed, keys, f"head of {row['roundid']}")
        head = read_head(signed.text)
        names = [
            ("table", manifest.table, head.table),
            ("environment", manifest.environment, head.environment),
            ("stream", manifest.audience.value, head.stream),
            ("round", row["roundid"], head.roundid),
        ]
        yield from differing(Flawed.HEAD, f"head of {row['roundid']}", names)
        got.add((head.roundid, head.rev))
        report.heads += 1
    yield from differing(Flawed.HEAD, HEADS, [("rounds", sorted(expected), sorted(got))])


def _rows(folder: Path, sheet: str, form: Form) -> Iterator[Row]:
    content = (folder / f"{sheet}.{form}").read_bytes()
    if form is Form.CSV:
        yield from csv.DictReader(io.StringIO(content.decode(), newline=""))
        return
    for line in content.splitlines():
        yield msgspec.json.decode(line, type=Row)
