"""`tablectl verify WHAT`: a journal or a table's folder of them, a dispute bundle, or an export.

A journal: is what it says whole, and does it follow from its inputs? Three proofs, each on its own: the file
(chain, numbers, hashes, signatures), the streams (commitments, what closed rounds say), and the inputs taken
again. The last two stop before a round that is still open; the table may be running.

A bundle or an export: needs the public key, and nothing else of the table.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from controller.journal import Days, Finding, Flaw, JournalError, Reader, verify
from controller.journal.signing import KeyUnusable, read_public_key
from controller.station.bundle_check import BundleReport
from controller.station.evidence_check import (
    LogFault,
    check_evidence,
    evidence_lines,
    is_evidence,
    log_faults,
)
from controller.station.export_check import ExportReport
from controller.station.past_check import check_past
from controller.station.proofs import Broken, Proofs
from controller.station.replay import Difference, UntilOpenRound
from controller.station.replay_command import OPEN_ROUND, difference_lines
from controller.station.retake import Retake
from controller.station.terminal import FINDING, FINE, USAGE, complain, counted, progress, say, say_json
from controller.table.events import AUDIENCES

AnyFinding = Finding | Broken | Difference | LogFault


class Checked(msgspec.Struct, frozen=True):
    """One thing that was found wrong, and in which file."""

    file: str
    proof: str
    finding: AnyFinding


class Report(msgspec.Struct):
    """What `verify` has looked at and found. `not_taken` steps had nothing to be taken again from."""

    files: int = 0
    steps: int = 0
    not_taken: int = 0
    rounds: int = 0
    commitments: int = 0
    open_round: bool = False
    signed: int = 0
    findings: list[Checked] = []

    def add(self, path: Path, finding: AnyFinding) -> None:
        """Note a finding."""
        proofs = {Finding: "file", Broken: "stream", Difference: "inputs", LogFault: "log"}
        proof = proofs[type(finding)]
        self.findings.append(Checked(str(path), proof, finding))


def add_verify(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser("verify", help="verify a journal, a dispute bundle or an export")
    parser.add_argument("what", type=Path, help="a journal, a folder of them, a bundle, an export's folder")
    parser.add_argument(
        "--public-key",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a key that is trusted, PEM or hex; again for a table that has changed its key",
    )
    parser.add_argument("--json", action="store_true", help="the report as one JSON object")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Verify. Returns 1 when anything was found, 2 when there is nothing to verify."""
    where: Path = arguments.what
    paths = Days(where).paths() if where.is_dir() else (where,)
    if not where.is_file() and not (where.is_dir() and (paths or is_evidence(where))):
        complain(f"{where}: no journal there, and no evidence; give a .journal file or the folder of a table")
        return USAGE
    try:
        keys = frozenset(map(read_public_key, arguments.public_key))
        report = _report_of(where, paths, keys)
    except (KeyUnusable, OSError) as error:
        complain(error)
        return USAGE
    if report is None:
        complain(
            f"{where}: evidence is checked with the table's public key: --public-key FILE (tablectl key)"
        )
        return USAGE
    if arguments.json:
        say_json(report)
    else:
        for line in report_lines(report) if isinstance(report, Report) else evidence_lines(report):
            say(line)
    return FINDING if report.findings else FINE


def _report_of(
    where: Path, paths: tuple[Path, ...], keys: frozenset[str]
) -> Report | BundleReport | ExportReport | None:
    """Return the report; None for evidence without a key."""
    if is_evidence(where):
        return check_evidence(where, keys) if keys else None
    report = make_report(paths, keys)
    if where.is_dir():
        for fault in log_faults(where, paths[0]):
            report.add(paths[0], fault)
    return report


def make_report(paths: tuple[Path, ...], keys: frozenset[str] = frozenset()) -> Report:
    """Verify files that follow one another; with `keys` every round must be signed by one of them."""
    report = Report(files=len(paths))
    for path in paths:
        _verify_file(path, keys, report)
    total = None if any(one.proof == "file" for one in report.findings) else report.steps
    report.steps = 0
    with progress("taking inputs again", total) as advance:
        try:
            _take_again(paths, report, advance)
        except JournalError as error:
            if not report.findings:
                report.add(paths[0], Finding(Flaw.UNREADABLE, None, "steps", "a step", str(error)))
    return report


def _verify_file(path: Path, keys: frozenset[str], report: Report) -> None:
    """Recompute the file; where it should end, the file after it says."""
    following = [later for later in Days(path.parent).paths() if later.name > path.name]
    try:
        ends = None
        if following:
            with Reader.open(following[0]) as reader:
                ends = reader.opening
    except JournalError:
        ends = None  # Its own turn says what is wrong with it.
    with progress(f"verifying {path.name}", None) as advance:

        def note(_step: int, _last: int) -> None:
            report.steps += 1
            advance()

        for finding in verify(path, ends=ends, public_keys=keys, progress=note):
            report.add(path, finding)
    with suppress(JournalError), Reader.open(path) as reader:
        report.signed += sum(1 for _ in reader.signatures())


def _take_again(paths: tuple[Path, ...], report: Report, advance: Callable[[], None]) -> None:
    """Check streams and inputs in one pass over the closed rounds."""
    taking = Retake(paths)
    proofs = {audience.value: Proofs(audience) for audience in AUDIENCES}
    for path, steps in taking.files():
        closed = UntilOpenRound(steps, lambda one: b",".join(one.step.events))
        for one in closed:
            advance()
            report.steps += 1
            report.not_taken += one.stepped is None and one.difference is None
            for difference in (one.difference, check_past(path, one.step)):
                if difference is not None:
                    report.add(path, difference)
            for audience, proof in proofs.items():
                for broken in proof.take(one.step.messages.get(audience, ())):
                    report.add(path, broken)
        report.open_round = bool(closed.held)
    report.rounds = proofs["audit"].rounds
    report.commitments = proofs["audit"].checked


def report_lines(report: Report) -> Iterator[str]:
    """Yield the report as people read it."""
    for one in report.findings:
        if isinstance(one.finding, Difference):
            yield f"{one.file}: the inputs make something else of"
            yield from difference_lines(one.finding)
        else:
            yield f"{one.file}: {one.finding}"
    yield (
        f"{counted(report.files, 'file')}, {counted(report.steps, 'step')}, "
        f"{counted(report.rounds, 'round')} closed, "
        f"{report.signed} of them signed, {report.commitments} commitments checked"
    )
    if report.not_taken:
        yield f"{report.not_taken} steps not taken again: what came before them is not at hand"
    if report.open_round:
        yield OPEN_ROUND
    yield "no difference" if not report.findings else counted(len(report.findings), "finding")
