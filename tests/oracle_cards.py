"""Which card lies where: the part of the second opinion that lays out by hand what came from a shoe.

Written from the rules document (RPL-08, RPL-09, RPL-17, RPL-34, GRP-18, GRP-19, D-10). It is told the cards
in the order in which they came, burned ones left out, and knows nothing of scripts or events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

HAND = 5
LIVE_PLACES = ("box1", "box2", "box3", "dealer")
Lying = dict[str, list[str]]


def dealt(cards: Sequence[str], places: Sequence[str], pattern: str) -> Lying:
    """The initial deal: one card in turn, or five at once to each place (D-10)."""
    assert pattern in ("single", "packets"), pattern
    if pattern == "packets":
        return {place: list(cards[HAND * index :][:HAND]) for index, place in enumerate(places)}
    whole = cards[: HAND * len(places)]
    return {place: list(whole[index :: len(places)]) for index, place in enumerate(places)}


def live(cards: Sequence[str], pattern: str = "single") -> Lying:
    """Live Russian Poker: every place is dealt; five switch cards or none; then the dealer's change."""
    after = list(cards[HAND * len(LIVE_PLACES) :])
    switch_count = HAND if len(after) >= HAND else 0
    rest = {"switch": after[:switch_count], "replacement": after[switch_count:]}
    return dealt(cards, LIVE_PLACES, pattern) | rest


def sister(
    cards: Sequence[str], boxes: Sequence[str], draws: Mapping[str, int], pattern: str = "single"
) -> Lying:
    """Boxes in play and the dealer; then each box its new cards, whole before the next, then the change."""
    places = [*boxes, "dealer"]
    lying, rest = dealt(cards, places, pattern), list(cards[HAND * len(places) :])
    for box in boxes:
        lying[f"{box}_drawn"], rest = rest[: draws[box]], rest[draws[box] :]
    return lying | {"replacement": rest}
