"""Who has approved which rules and which procedures: one line of JSON an approval, each chained to the line
before by SHA-256.

The chain finds a line that was edited, put in or taken out; lines taken off the end leave no trace in it.
A table whose environment is live does not start under rules or procedures that nobody has approved.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import assert_never

import msgspec

from controller.bus.envelope import Environment
from controller.station.config import StationConfig
from controller.station.errors import ApprovalsDamaged, StartRefused

FIRST = "0" * 64
"""What the first line is chained to."""


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


class _Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line as it is written; `chain` covers the line before and the bytes of `approval`."""

    approval: msgspec.Raw
    chain: str


def approvals_path(run_dir: Path) -> Path:
    """Return where the approvals of all tables of a house lie."""
    return run_dir / "approvals.jsonl"


def read_approvals(path: Path) -> tuple[Approval, ...]:
    """Return all approvals, oldest first; none without a file. Raises ApprovalsDamaged."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise StartRefused(f"{path}: can't be read: {error.strerror}") from None
    return _checked(path, raw)[0]


def add_approval(path: Path, approval: Approval) -> None:
    """Append one, durably. Raises ApprovalsDamaged if the file is not whole."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.fchmod(descriptor, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        _, chain = _checked(path, path.read_bytes())
        body = msgspec.json.encode(approval)
        line = _Line(msgspec.Raw(body), _chained(chain, body))
        data = msgspec.json.encode(line) + b"\n"
        written = os.write(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if written != len(data):
        raise ApprovalsDamaged(
            f"{path}: the disk took {written} of {len(data)} bytes; make room, approve again"
        )


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


def _checked(path: Path, raw: bytes) -> tuple[tuple[Approval, ...], str]:
    """Return the approvals and the chain after the last one."""
    approvals: list[Approval] = []
    chain = FIRST
    for number, text in enumerate(raw.split(b"\n")[:-1], 1):
        try:
            line = msgspec.json.decode(text, type=_Line)
            approvals.append(msgspec.json.decode(line.approval, type=Approval))
        except msgspec.MsgspecError as error:
            raise _damaged(path, number, f"is no approval: {error}") from None
        chain = _chained(chain, bytes(line.approval))
        if line.chain != chain:
            raise _damaged(path, number, "is not what was written there: its chain does not match")
    if raw and not raw.endswith(b"\n"):
        raise _damaged(path, len(approvals) + 1, "is cut off")
    return tuple(approvals), chain


def _chained(before: str, body: bytes) -> str:
    return sha256(before.encode() + body).hexdigest()


def _damaged(path: Path, number: int, what: str) -> ApprovalsDamaged:
    return ApprovalsDamaged(
        f"{path}: line {number} {what}; keep the file aside as evidence, then approve again what is in force"
    )
