"""What the people of a simulated studio do with a deck: load it, verify it, count it.

The first deck of a table is scanned in; one that replaces another comes sealed, with a receipt that dealer
and supervisor both hold. A bad set is scanned in, found out, and sent away.
"""

from __future__ import annotations

from controller.cards import DECK, Card
from controller.table import inputs as i
from controller.table.picture import Picture

BAD_CARD = 20
"""The place in a bad set, from 1, of the card that does not belong there."""
BAD_SETS = frozenset({"set-short", "set-doubled", "set-foreign"})


def receipt(picture: Picture, deck: str) -> i.LoadDeck:
    """Return what is printed on the seal of the next deck."""
    return i.LoadDeck(deck, f"R-{picture.deck_number + 1}")


def is_scanned_in(picture: Picture, fault: str | None) -> bool:
    """Whether the next set is scanned in card by card."""
    return picture.deck_number == 0 or fault in BAD_SETS


def set_card(picture: Picture, fault: str | None) -> Card | None:
    """Return the card of the set that is scanned next, None when there is none left in a short one."""
    n = picture.prompt.n or 1
    if fault == "set-short" and n == len(DECK):
        return None
    return DECK[0] if fault == "set-doubled" and n == BAD_CARD else DECK[n - 1]


def is_foreign(picture: Picture, fault: str | None) -> bool:
    """Whether the card of the set that is scanned next is of another deck."""
    return fault == "set-foreign" and picture.prompt.n == BAD_CARD


def is_found_out(picture: Picture, fault: str | None) -> bool:
    """Whether the next card, or its lack, shows that the set is bad."""
    return fault in BAD_SETS and picture.prompt.n == (len(DECK) if fault == "set-short" else BAD_CARD)


def lying(picture: Picture) -> int:
    """Return how many cards are out of the shoe, by what lies on the table."""
    return sum(map(len, picture.places.values())) + picture.burned_count + picture.held_count


def stub_count(picture: Picture, fault: str | None) -> int:
    """Return how many cards really are not out."""
    return len(DECK) - lying(picture) - (fault == "card-lost")
