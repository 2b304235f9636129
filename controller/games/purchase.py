"""The dealer changes his highest card: somebody has bought his qualification (RPL-34, GRP-15, ROY-09)."""

from __future__ import annotations

from collections.abc import Generator

from controller.cards import Card
from controller.games.offers import highest_card_position
from controller.games.patterns import HAND_SIZE
from controller.games.procedure import DEALER, Answer, Deal, Face, LayAside, Step, card


def change_highest_card(dealer: tuple[Card, ...], *, second_draw: bool) -> Generator[Step, Answer, Card]:
    """Yield the steps; return the card that counts.

    With `second_draw` a card of the rank just laid aside is changed once more (D-17).
    """
    position = highest_card_position(dealer)
    yield LayAside(DEALER, position)
    drawn = yield from card(Deal(DEALER, HAND_SIZE + 1, Face.UP))
    if second_draw and drawn.rank == dealer[position - 1].rank:
        yield LayAside(DEALER, HAND_SIZE + 1)
        drawn = yield from card(Deal(DEALER, HAND_SIZE + 2, Face.UP))
    return drawn
