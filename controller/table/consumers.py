"""The systems that act on what a table publishes, and what each of them has acknowledged.

Whoever is listed in the table's file is registered from the next start on: what ended before that is none of
its business. An acknowledgement covers every earlier end too, since each consumer acts in order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

from controller.table.events.base import Audience

ENDS_KEPT = 100
"""So many of the newest ends of rounds are known by name; older ones are only counted."""
Name = Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9_-]{1,32}$")]


class Consumer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One `[[consumers]]` entry of a table's file.

    `name` is the one under which it acknowledges, `role` what it is to the people who read the page, and
    `audience` the stream that it acts on.
    """

    name: Name
    role: Name
    audience: Audience
    must_acknowledge: bool


class End(msgspec.Struct, frozen=True):
    """A revision of a round that was published: confirmed, cancelled or corrected."""

    roundid: str
    rev: int


class Acknowledgements(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How many ends a table has published, the newest of them, and how many each consumer has covered."""

    count: int = 0
    newest: tuple[End, ...] = ()
    covered: Mapping[str, int] = {}

    def behind(self, consumer: str) -> int:
        """Return how many ends `consumer` has not acknowledged."""
        return self.count - self.covered.get(consumer, self.count)

    def waiting(self, consumer: str) -> tuple[End, ...]:
        """Return those of them that are known by name, the oldest first."""
        behind = self.behind(consumer)
        return self.newest[-behind:] if behind else ()

    def number_of(self, end: End) -> int | None:
        """Return the number of an end, from 1; None when it is not known (any more)."""
        if end not in self.newest:
            return None
        return self.count - len(self.newest) + self.newest.index(end) + 1
