"""The simulated dealer at a shoe that judges by itself, and so has to be told when a coup begins and ends.

The shoe counts its own places. After whatever it can't know (a card that was burned or entered by hand, a
loss of power) the dealer has it stand by anew, and the table goes by the order of drawing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from controller.games.procedure import ShoePlan
from controller.table.picture import Picture
from simulators import decks
from simulators.actor import Act, Disturb, Planned, Scan, Wake
from simulators.devices.families import Handling, Mishap
from simulators.shoe_dealer import ShoeDealer

LATER_US = 1_000_000
"""Between a press on the shoe and the card."""
FIRST_CARDS = 4
"""After so many a coup may be over, to a shoe that began to count in the middle of one."""
TAKEN_AWAY = frozenset({"SHOW_FIRST_CARD", "BURN_NEXT", "BURN_CARD", "SCAN_TO_BURN"})
"""Prompts at which a card is drawn that is no card of the coup."""
BEFORE_A_PRESS: Mapping[str, list[Mishap | Handling]] = {
    "SHUFFLE": [Mishap.POWER_CYCLE],
    "CLEAR_TABLE": [Handling.COLLECTED],
}
"""What is done to the shoe first: a new set goes into it while it is off."""


class AngelEyeDealer(ShoeDealer):
    """The person at the table, with a shoe that judges."""

    def __init__(self, name: str, *, plan_of_shoe: ShoePlan, **given: Any) -> None:
        super().__init__(name, plan_of_shoe=plan_of_shoe, **given)
        self._stands_by: tuple[int, int] | None = None
        """The round in which the shoe stood by last, and how many cards were burned before that."""
        self._laid_before = 0
        """How many cards of the coup lay then."""

    def woken(self, note: str, now_us: int) -> list[Planned]:
        """Have the shoe stand by before the first card, and whenever it has lost its place."""
        picture = self.picture
        if picture is not None and note == str(self._turn) and picture.prompt.code == "DEAL_CARD":
            due = picture.round_no, picture.burned_count
            laid_count = sum(map(len, picture.places.values()))
            may_be_over = self._laid_before > 0 and laid_count - self._laid_before >= FIRST_CARDS
            if self._stands_by != due or may_be_over:
                self._stands_by, self._laid_before = due, laid_count
                act = Disturb(self.scanner, Handling.STAND_BY)
                return [Planned(now_us, act), Planned(now_us + LATER_US, Wake(note))]
        planned = super().woken(note, now_us)
        if any(isinstance(one.act, Disturb) and one.act.mishap is Mishap.POWER_CYCLE for one in planned):
            self._stands_by = None
        return planned

    def _act(self, picture: Picture) -> list[Act]:
        code = picture.prompt.code
        if code == "LOAD_DECK":  # Nobody draws eight decks out of it to have them counted.
            return [self.press(picture, decks.receipt(picture, self.hardware.deck))]
        if code == "ENTER_CARD":
            self._stands_by = None
        is_again = code == "SCAN_AGAIN" or self._scanned == (
            picture.round_no,
            picture.deal,
            decks.lying(picture),
        )
        acts = super()._act(picture)
        if any(isinstance(act, Scan) for act in acts):
            before: list[Mishap | Handling] = [Handling.PUSHED_BACK] if is_again else []
            after: list[Mishap | Handling] = [Handling.SHOWN] if code in TAKEN_AWAY else []
        else:
            before, after = BEFORE_A_PRESS.get(code, []), []
        return [*map(self._handle, before), *acts, *map(self._handle, after)]

    def _handle(self, what: Mishap | Handling) -> Act:
        return Disturb(self.scanner, what)
