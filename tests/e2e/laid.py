"""Which cards lay, as the audit feed tells it."""

from __future__ import annotations

from controller.bus.envelope import decode, event_of
from controller.table.events import CardDealt, CardsRevealed, CardWithdrawn, RoundConfirmed
from simulators.actor import Feed, Listener, Planned


class Laid(Listener):
    """Notes which cards lay by the audit feed when a result was first confirmed, in the order of dealing."""

    feed = Feed.AUDIT

    def __init__(self) -> None:
        self.name = "laid"
        self.confirmed: dict[int, list[str | None]] = {}
        self._cards: dict[tuple[str, int], tuple[int, str | None]] = {}
        """The reading of each place and the card, in order."""
        self._roundid: str | None = None

    def heard(self, message: bytes, now_us: int) -> list[Planned]:
        """Note what becomes of the cards of a round."""
        envelope = decode(message)
        if envelope.roundid != self._roundid:
            self._cards, self._roundid = {}, envelope.roundid
        match event_of(envelope):
            case CardDealt(place=place, n=n, reading=reading, card=card):
                self._cards.pop((place, n), None)
                self._cards[place, n] = reading, card
            case CardWithdrawn(place=place, n=n):
                self._cards.pop((place, n), None)
            case CardsRevealed(cards=cards) | RoundConfirmed(opened=cards):
                # Cards that were burned, or lay there before another reading, are opened as well.
                for one in cards:
                    if self._cards.get((one.place, one.n), (0, ""))[0] == one.reading:
                        self._cards[one.place, one.n] = one.reading, one.card
                if isinstance(event_of(envelope), RoundConfirmed):
                    number = int(str(self._roundid).split("-")[1])
                    self.confirmed.setdefault(number, [card for _, card in self._cards.values()])
        return []
