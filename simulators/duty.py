"""What every simulated person at the table does: log in, and help to unlock a blocked table."""

from __future__ import annotations

from controller.table import inputs as i
from controller.table.picture import Picture
from simulators.actor import Planned, Press
from simulators.cast import PINS


def log_in(picture: Picture, name: str, role: i.Role) -> Press:
    """Return the log-in of a person of the cast."""
    return Press("operator", name, picture.round_no, i.LogIn(role), pin=PINS[name])


class Arrival:
    """Logs a supervisor in who is not on duty, once a round."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._sent_in: int | None = None

    def look(self, picture: Picture, now_us: int) -> list[Planned]:
        """Plan the log-in, if the picture shows that it is needed."""
        if self._name in picture.supervisors or self._sent_in == picture.round_no:
            return []
        self._sent_in = picture.round_no
        return [Planned(now_us, log_in(picture, self._name, i.Role.SUPERVISOR))]


class Unlocker:
    """Presses once for each block, in the instant: what comes after keeps the times of its plan."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._pressed: tuple[int, tuple[str, ...]] | None = None

    def look(self, picture: Picture, now_us: int) -> list[Planned]:
        """Plan the press, if a block has taken hold that is new."""
        seen = (picture.round_no, picture.blocked)
        is_open = "unblock" in picture.buttons and picture.prompt.incident is None
        if not is_open or picture.roundid is not None or self._pressed == seen:
            return []
        self._pressed = seen
        return [Planned(now_us, Press("operator", self._name, picture.round_no, i.Unblock()))]
