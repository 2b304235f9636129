"""Acknowledgements: what each registered consumer has acted on, and whether the next round waits for it.

They are inputs, like everything that may keep a round from opening, so they survive a restart and are
replayed with it.
"""

from __future__ import annotations

from msgspec.structs import replace

from controller.table.consumers import ENDS_KEPT, Acknowledgements, End
from controller.table.events import Refusal, RoundAcknowledged
from controller.table.inputs import Acknowledge, Commanded
from controller.table.state import TableState


def registered(t: TableState) -> None:
    """The process starts with the consumers of its config; a new one owes nothing for the past."""
    known = t.acknowledgements
    covered = {one.name: known.covered.get(one.name, known.count) for one in t.settings.consumers}
    t.acknowledgements = replace(known, covered=covered)


def ended(t: TableState, roundid: str, rev: int) -> None:
    """A revision of a round is published."""
    if not t.settings.consumers:
        t.acknowledgements = Acknowledgements()
        return
    known = t.acknowledgements
    newest = (*known.newest, End(roundid, rev))[-ENDS_KEPT:]
    t.acknowledgements = replace(known, count=known.count + 1, newest=newest)


def acknowledge(t: TableState, value: Commanded, command: Acknowledge) -> Refusal | None:
    """A consumer has acted on a revision, and on every one before it; once more changes nothing."""
    known, name = t.acknowledgements, value.actor
    if name not in known.covered:
        return Refusal.UNKNOWN_CONSUMER
    number = known.number_of(End(command.roundid, command.rev))
    if number is None:
        return Refusal.UNKNOWN_ROUND
    if number > known.covered[name]:
        t.acknowledgements = replace(known, covered={**known.covered, name: number})
        t.emit(RoundAcknowledged(consumer=name, roundid=command.roundid, rev=command.rev))
    return None


def is_waited_for(t: TableState) -> bool:
    """Return whether no round opens because a consumer that must acknowledge has not done so."""
    return t.settings.limits.acknowledged_before_start and bool(those_behind(t))


def those_behind(t: TableState) -> tuple[str, ...]:
    """Return the consumers that must acknowledge and have not acknowledged everything."""
    must = [one.name for one in t.settings.consumers if one.must_acknowledge]
    return tuple(name for name in must if t.acknowledgements.behind(name))
