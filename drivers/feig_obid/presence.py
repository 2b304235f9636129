"""Which tags are on an antenna: from inventories, each with its flaws, to cards that came.

One rule governs: a tag is read once when it comes, and again only after it was gone. An inventory that
lists too little (stacked cards, noise) must not make a card go and come; one that lists a neighbour's tag
must not deal a card. What is not known of the order of two cards is said, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

TAGS_MAX = 1024
"""Tags remembered at once; no antenna sees more. Beyond it the one longest unseen is forgotten."""


class Judgement(NamedTuple):
    """How sightings are judged; see the options of the same names."""

    gone_after: int
    real_after: int
    apart_us: int


class Group(NamedTuple):
    """Tags that have come, in the order of their first sighting; with several, or `late`, it is not sure."""

    uids: tuple[str, ...]
    late: bool

    @property
    def in_order(self) -> bool:
        """Whether the order is known."""
        return len(self.uids) == 1 and not self.late


class Sighting(msgspec.Struct):
    """What is known of one tag."""

    first_us: int
    row: int = 0
    """Inventories in a row that list it."""
    missing: int = 0
    """Inventories in a row that should list it and do not."""
    was_read: bool = False


class Presence:
    """The memory of one antenna; it outlives the line, for cards lie where they lie."""

    def __init__(self, judgement: Judgement) -> None:
        self._judgement = judgement
        self._sightings: dict[str, Sighting] = {}
        self._newest_us: int | None = None
        """When the tag that was read last, by order of coming, was first seen."""

    def __len__(self) -> int:
        return len(self._sightings)

    def listed(self, uids: Iterable[str], at_us: int, *, complete: bool) -> list[Group]:
        """Take an inventory of all that is there; return what has come. Not `complete`: more may be there."""
        return self._read(self._note(uids, at_us, complete=complete))

    def entered(self, uids: Iterable[str], at_us: int) -> list[Group]:
        """Take an inventory of what has entered; return what has come.

        A tag that enters twice within `gone_after` inventories has lost its field, not its place.
        """
        self._note((), at_us, complete=True, forget=False)
        for uid in uids:
            known = self._sightings.get(uid)
            if known is not None and known.missing > self._judgement.gone_after:
                del self._sightings[uid]
        return self._read(self._note(uids, at_us, complete=False))

    def _note(
        self, uids: Iterable[str], at_us: int, *, complete: bool, forget: bool = True
    ) -> list[tuple[str, Sighting]]:
        """Note who is there and who is missing; return those who have become real."""
        seen = dict.fromkeys(uids)
        for uid in [uid for uid in self._sightings if complete and uid not in seen]:
            sighting = self._sightings[uid]
            sighting.row, sighting.missing = 0, sighting.missing + 1
            if forget and sighting.missing >= self._judgement.gone_after:
                del self._sightings[uid]
        real = []
        for uid in seen:
            # The one that was seen last goes to the end, so that the first is the longest unseen.
            sighting = self._sightings.pop(uid, Sighting(at_us))
            self._sightings[uid] = sighting
            sighting.row, sighting.missing = sighting.row + 1, 0
            if not sighting.was_read and sighting.row >= self._judgement.real_after:
                sighting.was_read = True
                real.append((uid, sighting))
        while len(self._sightings) > TAGS_MAX:
            del self._sightings[next(iter(self._sightings))]
        return real

    def _read(self, real: list[tuple[str, Sighting]]) -> list[Group]:
        """Order by first sighting; a tag too close behind another one shares its group."""
        groups: list[Group] = []
        for uid, sighting in sorted(real, key=lambda one: one[1].first_us):
            newest = self._newest_us
            is_close = newest is not None and sighting.first_us < newest + self._judgement.apart_us
            is_close = is_close or sighting.first_us == newest
            if is_close and groups:
                groups[-1] = Group((*groups[-1].uids, uid), groups[-1].late)
            else:
                groups.append(Group((uid,), is_close))
            self._newest_us = max(sighting.first_us, newest if newest is not None else sighting.first_us)
        return groups
