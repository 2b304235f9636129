"""Two supervisors who look at a round again on video, and correct a result that was wrong (RPL-74, row 36).

Each enters what he has seen for himself. In every third round whose cards are corrected the second one is
mistaken at first: both entries are void, and both enter again.
"""

from __future__ import annotations

import msgspec

from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import CardAt, Refusal
from controller.table.picture import Picture
from simulators.actor import Feed, Planned, Press, Wake
from simulators.dealer import Dealer
from simulators.duty import Arrival

LOOK_US = 400_000
"""A look at the video; twice two of them fit into the time in which the dealer collects the cards."""
MISTAKEN_EVERY = 3
REFUND_INSTEAD = frozenset(
    {Refusal.REFUND_ONLY, Refusal.DECIDED_ON, Refusal.OTHER_COURSE, Refusal.OTHER_RULES}
)


class Video:
    """What can be seen of the rounds afterwards, and which results have been put right."""

    def __init__(self, table: str, dealer: Dealer) -> None:
        self._table = table
        self._dealer = dealer
        self.corrected: set[int] = set()
        self.refunds: set[int] = set()
        """The rounds in which the two have agreed that nothing but a refund is left."""

    def wrong(self, picture: Picture) -> int | None:
        """Return the round whose result is to be corrected now, the oldest first.

        Every other one is noticed while its cards still lie, as is the last; the rest between two rounds.
        """
        for round_no in sorted(self._dealer.misreads.keys() - self.corrected):
            at_once = round_no % 2 == 0 or round_no == self._dealer.rounds
            lies_there = picture.phase is Phase.CONFIRMED and picture.round_no == round_no
            if picture.roundid is None or (at_once and lies_there):
                return round_no
        return None

    def cards(self, round_no: int) -> tuple[CardAt, ...]:
        """Return what really lay where something else was read, nothing where all is refunded."""
        if round_no in self.refunds:
            return ()
        misread = self._dealer.misreads[round_no]
        return (CardAt(misread.place, misread.n, str(misread.card)),)

    def roundid(self, round_no: int) -> str:
        """Return the id of a round."""
        return f"{self._table}-{round_no}"


class Reviewer:
    """One of the two; the first proposes, the second approves. The first is the supervisor at the table."""

    feed = Feed.STATION

    def __init__(self, name: str, video: Video, *, is_first: bool) -> None:
        self.name = name
        self._video = video
        self._is_first = is_first
        self._picture: Picture | None = None
        self._key: tuple[object, ...] = ()
        self._mistaken: set[int] = set()
        self._arrival = Arrival(name)

    def heard(self, message: bytes, now_us: int) -> list[Planned]:
        """Look at the picture; what waits for this one of the two is entered after a look at the video."""
        picture = self._picture = msgspec.json.decode(message, type=Picture)
        planned = [] if self._is_first else self._arrival.look(picture, now_us)
        key = (picture.round_no, picture.phase, picture.correction, self._due(picture))
        if key != self._key:
            self._key = key
            planned += [] if key[-1] is None else [Planned(now_us + LOOK_US, Wake(str(key)))]
        return planned

    def _due(self, picture: Picture) -> int | None:
        waits = picture.correction
        if (
            picture.prompt.incident is not None
            or (waits is None) != self._is_first
            or (waits is not None and waits.by == self.name)
        ):
            return None
        return self._video.wrong(picture)

    def woken(self, note: str, now_us: int) -> list[Planned]:
        """Enter it, if it still waits."""
        picture = self._picture
        due = self._due(picture) if picture is not None else None
        if picture is None or due is None or note != str(self._key):
            return []
        return [Planned(now_us, self._press(picture, due))]

    def _press(self, picture: Picture, round_no: int) -> Press:
        cards = self._video.cards(round_no)
        roundid = self._video.roundid(round_no)
        command: i.AnyCommand
        if self._is_first:
            command = i.ProposeCorrection(roundid, i.CorrectionReason.WRONG_READING, cards)
        else:
            is_mistaken = bool(cards) and round_no % MISTAKEN_EVERY == 0 and round_no not in self._mistaken
            self._mistaken.add(round_no)
            command = i.ApproveCorrection(roundid, () if is_mistaken else cards)
        return Press("operator", self.name, picture.round_no, command)

    def answered(self, press: Press, accepted: bool, reason: str | None, now_us: int) -> list[Planned]:
        """Where cards can't be corrected, a refund is left; what is accepted of the second is corrected."""
        command, picture = press.command, self._picture
        if picture is None or not isinstance(command, i.ProposeCorrection | i.ApproveCorrection):
            return []
        round_no = int(command.roundid.rpartition("-")[2])
        if reason in REFUND_INSTEAD:
            self._video.refunds.add(round_no)
            return [Planned(now_us, self._press(picture, round_no))]
        if accepted and not self._is_first and command.cards == self._video.cards(round_no):
            self._video.corrected.add(round_no)
        return []
