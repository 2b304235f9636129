"""Verify's part that needs no table: bundles and exports by their public key, and the log of evidence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from controller.journal import ZERO_HASH, JournalError, Reader
from controller.station.bundle import BEGINS
from controller.station.bundle_check import BundleReport, check_bundle
from controller.station.evidence_log import DayRemoved, EvidenceDamaged, EvidenceLog
from controller.station.export import MANIFEST
from controller.station.export_check import ExportReport, check_export
from controller.station.terminal import counted


class LogFault(msgspec.Struct, frozen=True):
    """What the log of evidence does not say as it should."""

    where: str
    text: str

    def __str__(self) -> str:
        return f"LOG {self.where}: {self.text}"


def is_evidence(path: Path) -> bool:
    """Tell a bundle or an export from journals. Raises OSError."""
    if path.is_dir():
        return (path / MANIFEST).is_file()
    with path.open("rb") as file:
        return file.read(len(BEGINS)) == BEGINS


def check_evidence(path: Path, keys: frozenset[str]) -> BundleReport | ExportReport:
    """Verify a bundle or an export. Raises OSError."""
    return check_export(path, keys) if path.is_dir() else check_bundle(path, keys)


def evidence_lines(report: BundleReport | ExportReport) -> Iterator[str]:
    """Yield the report as people read it."""
    yield from map(str, report.findings)
    taken = f"for {report.audience}, taken out by {report.by}"
    if isinstance(report, BundleReport):
        yield (
            f"round {report.round} {taken}: {counted(report.revisions, 'revision')}, "
            f"{report.messages} messages, {report.heads} signed heads, "
            f"{report.commitments} commitments checked"
        )
    else:
        yield (
            f"{report.range} {taken}: {counted(report.files, 'file')}, {report.rows} rows, "
            f"{report.heads} signed heads"
        )
    yield "no difference" if not report.findings else counted(len(report.findings), "finding")


def log_faults(folder: Path, first: Path) -> Iterator[LogFault]:
    """Yield what is wrong with a folder's log; `first` is the oldest journal kept.

    A table's past begins with its first day, or where the log says that retention has cut it.
    """
    log = EvidenceLog(folder)
    try:
        entries = log.read()
    except EvidenceDamaged as error:
        yield LogFault(str(log.path), str(error))
        return
    if not entries:
        return
    try:
        with Reader.open(first) as reader:
            opening = reader.opening
    except JournalError:
        return  # The file's own turn says what is wrong with it.
    cuts = [entry.ends for entry in entries if isinstance(entry, DayRemoved)]
    if opening.chain != ZERO_HASH and opening not in cuts:
        yield LogFault(str(first), "days before it are missing, and no entry says that they were removed")
