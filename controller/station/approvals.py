"""Who has approved which rules and procedures: one chained line an approval (`journal/chained_lines.py`).

A table whose environment is live does not start under rules or procedures that nobody has approved.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import assert_never

import msgspec

from controller.bus.envelope import Environment
from controller.journal.chained_lines import ChainedLines, LinesDamaged
from controller.station.config import StationConfig
from controller.station.errors import ApprovalsDamaged, StartRefused


class Approved(StrEnum):
    """What is approved; the words of the commands that tell it."""

    RULES = "rules"
    PROCEDURES = "procedures"


class Subject(msgspec.Struct, frozen=True):
    """What is to be approved: a game by the hash of its settings, a procedure profile by its digest."""

    kind: Approved
    name: str
    digest: str


class Approval(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One approval. `kind`, `name` and `digest` are its subject's; `program` is what told it."""

    who: str
    at_us: int
    table: str
    kind: Approved
    name: str
    digest: str
    program: str


def approvals_path(run_dir: Path) -> Path:
    """Return where the approvals of all tables of a house lie."""
    return run_dir / "approvals.jsonl"


def read_approvals(path: Path) -> tuple[Approval, ...]:
    """Return all approvals, oldest first; none without a file. Raises ApprovalsDamaged."""
    try:
        return _lines(path).read()
    except LinesDamaged as error:
        raise _damaged(error) from None
    except OSError as error:
        raise StartRefused(f"{path}: can't be read: {error.strerror}") from None


def add_approval(path: Path, approval: Approval) -> None:
    """Append one, durably. Raises ApprovalsDamaged if the file is not whole."""
    try:
        _lines(path).append(approval)
    except LinesDamaged as error:
        raise _damaged(error) from None


def approvals_of(approvals: Iterable[Approval], name: str, digest: str) -> tuple[Approval, ...]:
    """Return those of one game under one rules hash, or of one profile under its digest."""
    return tuple(one for one in approvals if (one.name, one.digest) == (name, digest))


def rules_of(config: StationConfig) -> Subject:
    """Return the rules in force at a table."""
    return Subject(Approved.RULES, config.game.name, config.rules)


def procedures_of(config: StationConfig) -> Subject:
    """Return the procedures in force at a table."""
    profile = config.settings.profile
    return Subject(Approved.PROCEDURES, profile.name, profile.digest)


def check_approved(config: StationConfig) -> None:
    """Refuse to start a live table under rules or procedures without an approval. Raises StartRefused."""
    if config.environment is not Environment.LIVE:
        return
    path = approvals_path(config.run_dir)
    approvals = read_approvals(path)
    for subject in (rules_of(config), procedures_of(config)):
        if not approvals_of(approvals, subject.name, subject.digest):
            raise StartRefused(
                f"{path}: nobody has approved the {subject.kind} {subject.digest[:12]} of {subject.name}; a "
                f"supervisor reads them and signs: {approve_command(config, subject)}"
            )


def approve_command(config: StationConfig, subject: Subject) -> str:
    """Return the command with which a supervisor approves what is in force."""
    match subject.kind:
        case Approved.RULES:
            return f"tablectl rules {subject.name} --config {config.path} --approve NAME"
        case Approved.PROCEDURES:
            return f"tablectl profile {config.path} --approve NAME"
        case _:
            assert_never(subject.kind)


def _lines(path: Path) -> ChainedLines[Approval]:
    return ChainedLines(path, Approval, "approval")


def _damaged(error: LinesDamaged) -> ApprovalsDamaged:
    return ApprovalsDamaged(f"{error}; keep the file aside as evidence, then approve again what is in force")
