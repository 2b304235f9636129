"""What a table knows of its people, and of what keeps the next round from opening; all of it is carried.

Who somebody is, the station has checked before the table hears of it: no PIN and no badge code gets here.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from controller.table.events.reasons import BlockReason, HaltReason
from controller.table.inputs import Proof, Role


class OnDuty(msgspec.Struct, frozen=True):
    """A person on duty; `name` is the one that players see, `proof` how they logged in."""

    actor: str
    name: str
    proof: Proof


class Failures(msgspec.Struct, frozen=True):
    """Log-ins of one person that failed in a row, and until when none is taken."""

    count: int
    locked_until: int = 0


class Duty(msgspec.Struct, frozen=True, kw_only=True):
    """Who is on duty at the table, and who dealt the last round."""

    dealer: OnDuty | None = None
    supervisors: tuple[OnDuty, ...] = ()
    last_dealer: str | None = None
    failures: Mapping[str, Failures] = {}

    def role_of(self, actor: str) -> Role | None:
        """Return the role in which `actor` is on duty, None when off duty."""
        if self.dealer is not None and self.dealer.actor == actor:
            return Role.DEALER
        if any(one.actor == actor for one in self.supervisors):
            return Role.SUPERVISOR
        return None

    def is_locked(self, actor: str, at: int) -> bool:
        """Whether no log-in of `actor` is taken now, right or wrong."""
        known = self.failures.get(actor)
        return known is not None and at < known.locked_until


class Halt(msgspec.Struct, frozen=True):
    """A pause, or a close after this round: why, and who ordered it."""

    reason: HaltReason
    by: str
    role: Role


class Block(msgspec.Struct, frozen=True):
    """Why the table is blocked, and the case behind it."""

    reason: BlockReason
    cell: str


class Unlocking(msgspec.Struct, frozen=True):
    """The first of the two presses that unlock a table."""

    by: str
    role: Role


class Halts(msgspec.Struct, frozen=True, kw_only=True):
    """What keeps the next round from opening. In a round it is only due; it holds from the boundary on."""

    pause: Halt | None = None
    close: Halt | None = None
    blocks: tuple[Block, ...] = ()
    unlocking: Unlocking | None = None
    cases: Mapping[str, tuple[int, ...]] = {}
    """When the cases of each cell were opened, as far back as the breaker looks (row 42)."""
