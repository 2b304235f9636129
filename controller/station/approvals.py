"""Who has approved which rules: one chained line an approval (`journal/chained_lines.py`).

A table whose environment is live does not start under rules that nobody has approved.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from controller.bus.envelope import Environment
from controller.journal.chained_lines import ChainedLines, LinesDamaged
from controller.station.config import StationConfig
from controller.station.errors import ApprovalsDamaged, StartRefused


class Approval(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One approval. `rules` is the hash of the game's settings file, `program` what told them."""

    who: str
    at_us: int
    table: str
    game: str
    rules: str
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


def approvals_of(approvals: Iterable[Approval], game: str, rules: str) -> tuple[Approval, ...]:
    """Return those of one game under one rules hash."""
    return tuple(one for one in approvals if (one.game, one.rules) == (game, rules))


def check_approved(config: StationConfig) -> None:
    """Refuse to start a live table under rules without an approval. Raises StartRefused."""
    if config.environment is not Environment.LIVE:
        return
    path = approvals_path(config.run_dir)
    game = config.game.name
    if not approvals_of(read_approvals(path), game, config.rules):
        raise StartRefused(
            f"{path}: nobody has approved the rules {config.rules[:12]} of {game}; a supervisor reads them "
            f"and signs: {approve_command(config)}"
        )


def approve_command(config: StationConfig) -> str:
    """Return the command with which a supervisor approves the rules in force."""
    return f"tablectl rules {config.game.name} --config {config.path} --approve NAME"


def _lines(path: Path) -> ChainedLines[Approval]:
    return ChainedLines(path, Approval, "approval")


def _damaged(error: LinesDamaged) -> ApprovalsDamaged:
    return ApprovalsDamaged(f"{error}; keep the file aside as evidence, then approve the rules again")
