"""What keeps the next round from opening: no dealer, a pause, a close, a block (rows 32, 40 and 42).

What is ordered or found in a round takes hold at its boundary; a round that is open is always finished.
"""

from __future__ import annotations

from msgspec.structs import replace

from controller.table.events import (
    BlockReason,
    Refusal,
    TableBlocked,
    TableClosing,
    TablePaused,
    TablePausing,
    TableResumed,
    TableUnblocked,
)
from controller.table.inputs import CloseAfterRound, Commanded, PauseTable, Role
from controller.table.staff import Block, Halt, Unlocking
from controller.table.state import TableState

MINUTE = 60_000_000


def why_no_round(t: TableState) -> Refusal | None:
    """Return what speaks against START, None when nothing does."""
    if t.duty.dealer is None:
        return Refusal.NO_DEALER
    if t.halts.blocks:
        return Refusal.BLOCKED
    return Refusal.PAUSED if t.halts.pause is not None else None


def may_halt(t: TableState) -> bool:
    """Whether a pause or a close may be ordered."""
    return t.halts.pause is None and t.halts.close is None


def pause(t: TableState, value: Commanded, command: PauseTable) -> Refusal | None:
    """Pause now, or after the round that is open."""
    if not may_halt(t):
        return Refusal.HALTED_ALREADY
    t.halts = replace(t.halts, pause=Halt(command.reason, value.actor, value.role))
    kind = TablePaused if t.round is None else TablePausing
    t.emit(kind(reason=command.reason, by=value.actor))
    return None


def close_after_round(t: TableState, value: Commanded, command: CloseAfterRound) -> Refusal | None:
    """Close the table once the cards of this round are collected."""
    if not may_halt(t):
        return Refusal.HALTED_ALREADY
    t.halts = replace(t.halts, close=Halt(command.reason, value.actor, value.role))
    t.emit(TableClosing(reason=command.reason, by=value.actor))
    return None


def resume(t: TableState, value: Commanded) -> Refusal | None:
    """Take back a pause, or a close that was to come; what a supervisor has ordered, only a supervisor."""
    halt = t.halts.pause or t.halts.close
    if halt is None:
        return Refusal.NOT_HALTED
    if halt.role is Role.SUPERVISOR and value.role is not Role.SUPERVISOR:
        return Refusal.WRONG_ROLE
    t.halts = replace(t.halts, pause=None, close=None)
    t.emit(TableResumed(by=value.actor))
    return None


def take_hold(t: TableState) -> None:
    """The round is over and its cards are collected: what was to come after it has come."""
    for block in t.halts.blocks:
        t.emit(TableBlocked(reason=block.reason, cell=block.cell))
    if t.halts.pause is not None:
        t.emit(TablePaused(reason=t.halts.pause.reason, by=t.halts.pause.by))


def drop_orders(t: TableState) -> None:
    """The table is closed: pauses and closes are done with, blocks are not."""
    t.halts = replace(t.halts, pause=None, close=None)


# Blocks.


def count_case(t: TableState, cell: str) -> None:
    """Row 42: more of the same case than the profile bears block the table after the round."""
    limits = t.settings.limits
    since = t.now - limits.breaker_minutes * MINUTE
    recent = {
        known: times
        for known, all_times in t.halts.cases.items()
        if (times := tuple(at for at in all_times if at > since))
    }
    recent[cell] = (*recent.get(cell, ()), t.now)[-limits.breaker_cases - 1 :]
    t.halts = replace(t.halts, cases=recent)
    if len(recent[cell]) > limits.breaker_cases:
        block(t, BlockReason.BREAKER, cell)


def block(t: TableState, reason: BlockReason, cell: str) -> None:
    """Block the table, once a case."""
    if any(known.cell == cell for known in t.halts.blocks):
        return
    t.halts = replace(t.halts, blocks=(*t.halts.blocks, Block(reason, cell)), unlocking=None)
    if t.round is None:
        t.emit(TableBlocked(reason=reason, cell=cell))


def unblock(t: TableState, value: Commanded) -> Refusal | None:
    """Two people unlock the table, one of them a supervisor; then the breaker counts from nothing."""
    if not t.halts.blocks:
        return Refusal.NOT_HALTED
    first = t.halts.unlocking
    if first is None:
        t.halts = replace(t.halts, unlocking=Unlocking(value.actor, value.role))
        return None
    if first.by == value.actor:
        return Refusal.SAME_PERSON
    if Role.SUPERVISOR not in (first.role, value.role):
        return Refusal.WRONG_ROLE
    cells = tuple(known.cell for known in t.halts.blocks)
    cases = {cell: times for cell, times in t.halts.cases.items() if cell not in cells}
    t.halts = replace(t.halts, blocks=(), unlocking=None, cases=cases)
    t.emit(TableUnblocked(cells=cells, by=(first.by, value.actor)))
    return None
