"""What of a table and of its drivers is due, and when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from controller.table.table import Table
from drivers.contract import Framer


def table_due_us(table: Table) -> Iterator[int]:
    """Yield when the deadlines of the table are due."""
    return (deadline.due for deadline in table.deadlines.values())


def passed_timer(table: Table, now_us: int) -> tuple[str, int] | None:
    """Return name and number of the earliest deadline that has passed, None while none has."""
    passed = [
        (deadline.due, name, deadline.number)
        for name, deadline in table.deadlines.items()
        if deadline.due <= now_us
    ]
    return min(passed)[1:] if passed else None


def drivers_due_us(framers: Mapping[str, Framer]) -> Iterator[int]:
    """Yield when the drivers want to be ticked."""
    return (at for framer in framers.values() if (at := framer.next_deadline_us()) is not None)


def due_drivers(framers: Mapping[str, Framer], now_us: int) -> Iterator[str]:
    """Yield the scanners whose drivers want to be ticked by now; each is asked when its turn comes."""
    for name, framer in framers.items():
        due_us = framer.next_deadline_us()
        if due_us is not None and due_us <= now_us:
            yield name
