"""The simulated supervisor: decides what a dealer may not decide alone, and enters what can't be read."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from controller.cards import Card
from controller.table import inputs as i
from controller.table.events import IncidentKind
from controller.table.picture import Picture
from simulators.actor import Feed, Planned, Press, Wake

SECOND = 1_000_000


class Supervisor:
    """Confirms cancels that somebody else has reported; after a restart lets go on where that is offered.

    `sees` is the card in the dealer's hand, which a supervisor reads without asking the dealer.
    """

    feed = Feed.STATION

    def __init__(self, name: str, sees: Callable[[Picture], Card]) -> None:
        self.name = name
        self._sees = sees
        self.picture: Picture | None = None
        self._key: tuple[object, ...] = ()
        self._planned_at: dict[tuple[object, ...], int] = {}
        """When each question of this round is looked into; a restart that brings it again changes nothing."""

    def heard(self, message: bytes, now_us: int) -> list[Planned]:
        """Look at the picture; what waits for a supervisor is looked into."""
        before, picture = self.picture, msgspec.json.decode(message, type=Picture)
        self.picture = picture
        if before is not None and before.round_no != picture.round_no:
            self._planned_at.clear()
        key = (
            picture.epoch,
            picture.round_no,
            picture.prompt.incident,
            picture.incident_state,
            picture.entered_by,
            picture.buttons,
        )
        if key == self._key:
            return []
        self._key = key
        if picture.incident_state not in ("supervisor", "entry") or picture.entered_by == self.name:
            return []
        # A restart is settled in the instant: the recovered round keeps the times of its plan.
        delay_us = 0 if picture.incident_kind == IncidentKind.RESTARTED else 3 * SECOND
        question = (
            picture.round_no,
            picture.prompt.incident,
            picture.incident_state,
            picture.entered_by,
        )
        at_us = max(now_us, self._planned_at.setdefault(question, now_us + delay_us))
        return [Planned(at_us, Wake(str(key)))]

    def woken(self, note: str, now_us: int) -> list[Planned]:
        """Decide, if the question still stands."""
        picture = self.picture
        if picture is None or note != str(self._key):
            return []
        command = self._decision(picture)
        if command is None:
            return []
        return [Planned(now_us, Press("operator", self.name, picture.round_no, command))]

    def _decision(self, picture: Picture) -> i.AnyCommand | None:
        if "go_on" in picture.buttons:
            return i.GoOn()
        if "order_entry" in picture.buttons:
            return i.OrderEntry()
        if picture.incident_state == "entry":
            return i.EnterCard(picture.prompt.incident or 0, str(self._sees(picture)))
        window = picture.window
        if picture.incident_kind == IncidentKind.RESTARTED and window is not None and not window.settled:
            return None  # The betting system may still say that nobody is undecided.
        return i.ConfirmCancel() if "confirm_cancel" in picture.buttons else None

    def answered(self, press: Press, accepted: bool, reason: str | None, now_us: int) -> list[Planned]:
        """What was refused shows in the picture."""
        return []
