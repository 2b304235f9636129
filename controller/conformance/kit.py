"""The kit: every case of a kind of consumer, played one after the other, each with fresh books."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from controller.bus.endpoints import Endpoints
from controller.conformance import delivery, doubts, lease_cases, money, origin, overlay_cases, restarts
from controller.conformance.case import Differs, Trial, WalletTrial
from controller.conformance.feed import KitTable
from controller.conformance.overlay_cases import OverlayTrial
from controller.conformance.subject import Subject, SubjectFault
from controller.table.events import Audience

TABLE = "kit"


class Role(StrEnum):
    """What is tested."""

    WALLET = "wallet"
    OVERLAY = "overlay"


class Case(NamedTuple):
    """One case. `clause` is what the contract says."""

    name: str
    clause: str
    play: Callable[[Any], Awaitable[None]]


class Verdict(NamedTuple):
    """What came of a case. `differs` says what the subject did instead; None when it has passed."""

    case: Case
    differs: str | None


def cases_of(role: Role) -> tuple[Case, ...]:
    """Return all cases of a role, in the order of play."""
    wallet = (money.CASES, delivery.CASES, origin.CASES, restarts.CASES, lease_cases.CASES, doubts.CASES)
    plays: Sequence[Sequence[Callable[[Any], Awaitable[None]]]] = (
        wallet if role is Role.WALLET else (overlay_cases.CASES,)
    )
    return tuple(
        Case(play.__name__.replace("_", "-"), (play.__doc__ or "").strip(), play)
        for play in chain.from_iterable(plays)
    )


async def played(role: Role, command: Sequence[str], cases: Sequence[Case]) -> AsyncIterator[Verdict]:
    """Play `cases` against the process that `command` starts, and yield a verdict for each."""
    with tempfile.TemporaryDirectory(prefix="tablectl-") as folder:
        subject = Subject(command, Path(folder))
        try:
            for number, case in enumerate(cases, 1):
                yield Verdict(case, await _differs(role, subject, case, Path(folder) / str(number)))
        finally:
            await subject.kill()


async def _differs(role: Role, subject: Subject, case: Case, folder: Path) -> str | None:
    """Play one case at a table of its own; a subject that has failed it starts anew with the next."""
    audience = Audience.SETTLEMENT if role is Role.WALLET else Audience.PUBLIC
    try:
        async with KitTable(Endpoints.ipc(folder, TABLE), table=TABLE, audience=audience) as table:
            await _play(role, case, table, subject, folder.name)
    except (Differs, SubjectFault) as fault:
        await subject.kill()
        return str(fault)
    return None


async def _play(role: Role, case: Case, table: KitTable, subject: Subject, books: str) -> None:
    trial: Trial
    if role is Role.WALLET:
        trial = WalletTrial(table, subject, books)
        await trial.begin_with_money()
    else:
        trial = OverlayTrial(table, subject, books)
        await trial.begin()
    await case.play(trial)


async def _together(
    role: Role, command: Sequence[str], cases: Sequence[Case], *, jobs: int
) -> AsyncIterator[Verdict]:
    """Play with `jobs` processes at once; verdicts come in the order in which they are known."""
    verdicts: asyncio.Queue[Verdict] = asyncio.Queue()

    async def share(first: int) -> None:
        async for verdict in played(role, command, cases[first::jobs]):
            await verdicts.put(verdict)

    async with asyncio.TaskGroup() as tasks:
        for first in range(jobs):
            tasks.create_task(share(first))
        for _ in cases:
            yield await verdicts.get()


def verdicts_of(
    role: Role, command: Sequence[str], *, cases: Sequence[Case] | None = None, jobs: int = 4
) -> AsyncIterator[Verdict]:
    """Play `cases`, all of the role where none are named, `jobs` at a time."""
    chosen = cases_of(role) if cases is None else cases
    return _together(role, command, chosen, jobs=max(1, min(jobs, len(chosen))))
