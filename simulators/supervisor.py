"""The simulated supervisor: decides what a dealer may not decide alone, and enters what can't be read."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from controller.cards import Card
from controller.table import inputs as i
from controller.table.events import IncidentKind
from controller.table.picture import Picture
from simulators import decks
from simulators.actor import Feed, Planned, Press, Wake
from simulators.duty import Arrival, Unlocker

SECOND = 1_000_000
OF_THE_DECK = frozenset({"ACCEPT_DECK", "SUPERVISOR_VERIFIES"})


def _is_for_supervisor(picture: Picture) -> bool:
    """Whether a prompt waits for a supervisor: of a deck, or a card that its second reader can't see now."""
    code = picture.prompt.code
    return code in OF_THE_DECK or (code == "SHOW_CARD" and bool(picture.scanners_down))


class Supervisor:
    """Logs in; confirms cancels that somebody else has reported, or has the round dealt anew where offered.

    After a restart lets go on where that is offered. Accepts and verifies decks with the dealer, counts
    again what he has counted wrong, and has a card entered that can't be read. Confirms without a second
    reader that is gone.
    """

    feed = Feed.STATION

    def __init__(
        self,
        name: str,
        *,
        deck: str,
        sees: Callable[[Picture], Card | None],
        counts: Callable[[Picture], int],
        whole: Callable[[Picture], int],
    ) -> None:
        """What a supervisor looks at himself: the card in the dealer's hand, and how many cards there are.

        `sees` is None where nobody holds a card; `counts` counts those that are not out, `whole` those of the
        deck that is verified.
        """
        self.name = name
        self.deck = deck
        self.sees = sees
        self.counts = counts
        self.whole = whole
        self.picture: Picture | None = None
        self._key: tuple[object, ...] = ()
        self._planned_at: dict[tuple[object, ...], int] = {}
        """When each question is looked into, and each deck seen to; a restart does not change it."""
        self._unlocker = Unlocker(name)
        self._arrival = Arrival(name)

    def heard(self, message: bytes, now_us: int) -> list[Planned]:
        """Look at the picture; what waits for a supervisor is looked into."""
        picture = self.picture = msgspec.json.decode(message, type=Picture)
        planned = self._unlocker.look(picture, now_us) + self._arrival.look(picture, now_us)
        return planned + self._incident(picture, now_us)

    def _incident(self, picture: Picture, now_us: int) -> list[Planned]:
        key = (
            picture.epoch,
            picture.round_no,
            picture.prompt.incident,
            picture.incident_state,
            picture.entered_by,
            picture.buttons,
            picture.prompt.code if _is_for_supervisor(picture) else None,
        )
        if key == self._key:
            return []
        self._key = key
        if _is_for_supervisor(picture):
            asked = (picture.round_no, picture.prompt.code, picture.deck_number)
            at_us = self._planned_at.setdefault(asked, now_us + 3 * SECOND)
            return [Planned(max(now_us, at_us), Wake(str(key)))]
        if picture.incident_state not in ("supervisor", "entry") or picture.entered_by == self.name:
            return []
        # A restart is settled in the instant: the recovered round keeps the times of its plan.
        if picture.incident_kind == IncidentKind.RESTARTED:
            return [Planned(now_us, Wake(str(key)))]
        question = (picture.prompt.incident, picture.incident_state, picture.entered_by)
        due_us = self._planned_at.setdefault(question, now_us + 3 * SECOND)
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
        match picture.prompt.code:
            case "ACCEPT_DECK":
                return decks.receipt(picture, self.deck)
            case "SUPERVISOR_VERIFIES":
                return i.VerifyDeck(self.whole(picture))
            case "COUNT_AGAIN":
                return i.CountStub(self.counts(picture))
            case "SHOW_CARD":
                return i.ConfirmResult()
        restarted = picture.incident_kind == IncidentKind.RESTARTED
        if restarted and "go_on" in picture.buttons:
            return i.GoOn()
        if "order_redeal" in picture.buttons:
            return i.OrderRedeal()
        if "order_entry" in picture.buttons:
            return i.OrderEntry()
        if picture.incident_state == "entry":
            card = self.sees(picture)
            return None if card is None else i.EnterCard(picture.prompt.incident or 0, str(card))
        window = picture.window
        if restarted and window is not None and not window.settled:
            return None  # The betting system may still say that nobody is undecided.
        if "confirm_cancel" in picture.buttons:
            return i.ConfirmCancel()
        return i.GoOn() if "go_on" in picture.buttons else None  # A row that never cancels.

    def answered(self, press: Press, accepted: bool, reason: str | None, now_us: int) -> list[Planned]:
        """What was refused shows in the picture."""
        return []
