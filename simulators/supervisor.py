"""The simulated supervisor: decides what a dealer may not decide alone."""

from __future__ import annotations

import msgspec

from controller.table import inputs as i
from controller.table.events import IncidentKind
from controller.table.picture import Picture
from simulators.actor import Feed, Planned, Press, Wake

SECOND = 1_000_000


class Supervisor:
    """Confirms cancels that somebody else has reported, or has the round dealt anew where that is offered.

    After a restart lets go on where that is offered.
    """

    feed = Feed.STATION

    def __init__(self, name: str) -> None:
        self.name = name
        self.picture: Picture | None = None
        self._key: tuple[object, ...] = ()
        self._planned_at: dict[int, int] = {}
        """When each incident is looked into; it keeps its time when a restart brings it again."""

    def heard(self, message: bytes, now_us: int) -> list[Planned]:
        """Look at the picture; what waits for a supervisor is looked into."""
        picture = self.picture = msgspec.json.decode(message, type=Picture)
        key = (
            picture.epoch,
            picture.round_no,
            picture.prompt.incident,
            picture.incident_state,
            picture.buttons,
        )
        if key == self._key:
            return []
        self._key = key
        if picture.incident_state != "supervisor":
            return []
        # A restart is settled in the instant: the recovered round keeps the times of its plan.
        if picture.incident_kind == IncidentKind.RESTARTED:
            return [Planned(now_us, Wake(str(key)))]
        due_us = self._planned_at.setdefault(picture.prompt.incident or 0, now_us + 3 * SECOND)
        return [Planned(max(now_us, due_us), Wake(str(key)))]

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
        restarted = picture.incident_kind == IncidentKind.RESTARTED
        if restarted and "go_on" in picture.buttons:
            return i.GoOn()
        if "order_redeal" in picture.buttons:
            return i.OrderRedeal()
        window = picture.window
        if restarted and window is not None and not window.settled:
            return None  # The betting system may still say that nobody is undecided.
        if "confirm_cancel" in picture.buttons:
            return i.ConfirmCancel()
        return i.GoOn() if "go_on" in picture.buttons else None  # A row that never cancels.

    def answered(self, press: Press, accepted: bool, reason: str | None, now_us: int) -> list[Planned]:
        """What was refused shows in the picture."""
        return []
