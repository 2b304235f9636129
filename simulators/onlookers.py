"""The readers of a simulated table that deal nothing: which cards come before them, and when.

A second capture stands beside the reader that deals: a card passes it a moment later or, now and then, a
moment earlier. A card comes before the reader of a place once it has been laid there. What a fault makes of
the next look is said beforehand.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import NamedTuple

from controller.table.picture import Picture
from simulators.actor import Act, Planned, Scan
from simulators.devices.families import Mishap

EARLIER_US, LATER_US = -200_000, 400_000
"""From the reader that deals to the second capture."""
AGAIN_US = 100_000
LAID_US = 300_000, 600_000
"""From the word that a card is dealt until it lies at its place."""
NEXT_US = 700_000
"""From one card to the next: no dealer has two in hand at once, so each is seen and laid before."""
OF_A_SET = frozenset({"LOAD_DECK", "SCAN_DECK"})
"""A set is scanned in at the reader that deals alone."""
LAID_AGAIN = "SCAN_FROM_FIRST"


class Seen(NamedTuple):
    """What a reader makes of a card."""

    code: str
    mishap: Mishap | None = None


class Onlookers:
    """The readers by their names, each with the place where it looks; None for a second capture."""

    def __init__(self, seed: int, readers: Mapping[str, str | None]) -> None:
        self.capture = next((name for name, place in readers.items() if place is None), None)
        self.pads = {place: name for name, place in readers.items() if place is not None}
        self._seed = seed
        self._in_hand: str | None = None
        """What stands on the card that was taken out last."""
        self._really: str | None = None
        self._captured: tuple[Seen, ...] | None = None
        self._laid: tuple[tuple[str, str], ...] | None = None
        self._counts: dict[str, int] = {}
        self._missed: tuple[int, int] = (0, 0)
        """Round and deal in which the second capture has missed a card."""
        self.free_us = 0
        """When the dealer's hand is free for the next card."""

    def __bool__(self) -> bool:
        """Whether there is any."""
        return self.capture is not None or bool(self.pads)

    # What goes wrong.

    def in_hand(self, code: str) -> None:
        """The card that is scanned next says `code`, whatever the reader that deals makes of it."""
        self._really = code

    def capture_sees(self, *seen: Seen) -> None:
        """Of the card that is scanned next the second capture sees this, in place of what it is."""
        self._captured = seen

    def pads_see(self, *seen: tuple[str, str]) -> None:
        """When the next card is laid, the readers of these places see these codes, and no other one does."""
        self._laid = seen

    # What they see.

    def beside(self, planned: list[Planned], scanner: str, picture: Picture) -> list[Planned]:
        """Return what is planned, and a look of the second capture at each card scanned to be dealt."""
        if picture.prompt.code in OF_A_SET or not self:
            return planned
        found: list[Planned] = []
        for one in planned:
            is_card = isinstance(one.act, Scan) and one.act.device == scanner
            found += self._both(one.at_us, one.act, picture) if is_card else [one]
        return found

    def _both(self, at_us: int, scan: Act, picture: Picture) -> list[Planned]:
        assert isinstance(scan, Scan)
        code, self._really = self._really or scan.code, None
        self._in_hand = code
        seen, self._captured = self._captured, None
        if seen is None:
            seen = (Seen(code),) if code is not None else ()
        if self.capture in picture.scanners_down or not seen or seen[0].mishap is not None:
            self._missed = picture.round_no, picture.deal
        self.free_us = at_us + NEXT_US
        apart_us = self._apart_us(picture)
        looks = self._looks(max(at_us, at_us + apart_us), seen, picture)
        again = self._laid_again(at_us, picture, code) if picture.prompt.code == LAID_AGAIN else []
        return [Planned(max(at_us, at_us - apart_us), scan), *looks, *again]

    def _apart_us(self, picture: Picture) -> int:
        """Return how long after the reader that deals the second capture sees a card.

        With a card missed it stands behind: what it saw a card ahead would be taken for that one (row 3).
        """
        if self.capture is None:
            return 0
        is_behind = self._missed == (picture.round_no, picture.deal)
        return self._random("capture", picture).randrange(0 if is_behind else EARLIER_US, LATER_US)

    def _looks(self, at_us: int, seen: tuple[Seen, ...], picture: Picture) -> list[Planned]:
        if self.capture is None or self.capture in picture.scanners_down:
            return []
        return [
            Planned(at_us + number * AGAIN_US, Scan(self.capture, code, mishap))
            for number, (code, mishap) in enumerate(seen)
        ]

    def _laid_again(self, at_us: int, picture: Picture, code: str | None) -> list[Planned]:
        place = picture.prompt.place or ""
        return [] if code is None else self._at_places(at_us, picture, ((place, code),))

    def laid(self, picture: Picture, now_us: int) -> list[Planned]:
        """Return the looks at a card that the table has just taken: the dealer lays it down."""
        before, self._counts = self._counts, {place: len(cards) for place, cards in picture.places.items()}
        place = next((name for name, count in self._counts.items() if count > before.get(name, 0)), None)
        if place is None or self._in_hand is None:
            return []
        seen, self._laid = self._laid, None
        return self._at_places(now_us, picture, ((place, self._in_hand),) if seen is None else seen)

    def _at_places(self, now_us: int, picture: Picture, seen: tuple[tuple[str, str], ...]) -> list[Planned]:
        at_us = now_us + self._random("pad", picture).randrange(*LAID_US)
        pads = ((self.pads.get(place), code) for place, code in seen)
        return [
            Planned(at_us, Scan(name, code))
            for name, code in pads
            if name is not None and name not in picture.scanners_down
        ]

    def _random(self, reader: str, picture: Picture) -> random.Random:
        out = sum(map(len, picture.places.values()))
        return random.Random(f"{self._seed}/{reader}/{picture.round_no}/{picture.deal}/{out}")

    def show(self, picture: Picture, code: str) -> list[Act]:
        """Show a card that lies there to whoever has not seen it: the prompt names its place."""
        readers = (self.capture, self.pads.get(picture.prompt.place or ""))
        return [
            Scan(name, code) for name in readers if name is not None and name not in picture.scanners_down
        ]
