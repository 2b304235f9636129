"""Combinations of five and six cards, worked out from ranks alone wherever no suit matters.

Without five cards of one suit the ranks decide everything, so each of the 24,570 rank patterns is worked
out once and remembered (COM-04 to COM-10, DBL-01 to DBL-07). A place is an index into the hand sorted
high to low.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

from controller.cards import Card, Rank


class Kind(StrEnum):
    """Name of a combination, listed high to low (COM-04). A hand without one is "no game" (COM-08)."""

    ROYAL = "ROYAL"
    STRAIGHT_FLUSH = "STRAIGHT_FLUSH"
    QUADS = "QUADS"
    FULL_HOUSE = "FULL_HOUSE"
    FLUSH = "FLUSH"
    STRAIGHT = "STRAIGHT"
    TRIPS = "TRIPS"
    TWO_PAIR = "TWO_PAIR"
    PAIR = "PAIR"
    AK = "AK"


STRENGTH: Mapping[Kind | None, int] = {None: 0} | {kind: n for n, kind in enumerate(reversed(Kind), start=1)}
"""Kinds in ascending order; no game is 0."""


class PairedStraight(StrEnum):
    """What a straight makes of a sixth card that pairs one of its ranks (D-08)."""

    STRAIGHT = "straight"
    PAIR = "pair"


Places: TypeAlias = tuple[int, ...]
Found: TypeAlias = tuple[Kind, Places]
PlacesByRank: TypeAlias = dict[Rank, Places]


class Shape(NamedTuple):
    """The combinations of all hands with the same ranks and the same places of one suit.

    `main_cards` and `second_cards` pick a combination's cards out of the sorted hand; with no
    combination there is nothing to pick. `rank` orders hands by their best five cards.
    """

    rank: int
    main: Kind | None
    main_cards: Callable[[Sequence[Card]], Any]
    second: Kind | None
    second_cards: Callable[[Sequence[Card]], Any]


# Highest first; the ace is low in the last one alone and no run wraps around (COM-05, COM-06).
RUNS = (
    *(tuple(Rank(high - step) for step in range(5)) for high in range(Rank.ACE, Rank.FIVE, -1)),
    (Rank.FIVE, Rank.FOUR, Rank.THREE, Rank.TWO, Rank.ACE),
)


@cache
def shape_of(ranks: tuple[Rank, ...], suited: Places, paired_straight: PairedStraight) -> Shape:
    """Work out the combinations of a hand.

    `ranks` are those of five or six cards, high to low; `suited` the places of the five or six cards
    that share a suit, empty when no suit has five.
    """
    at = _places_by_rank(ranks)
    if suited:
        main, second, five = _of_a_suit(at, ranks, suited, paired_straight)
    elif runs := _runs(at):
        main, second, five = _straight(at, runs, paired_straight)
    else:
        main, second, five = _of_a_rank(at)
    if main is None:
        return Shape(_rank(None, five), None, tuple, None, tuple)
    kind, places = main
    if second is None and (ace_king := _ace_king(at, beside=places)):
        second = ace_king
    second_kind, second_places = second or (None, ())
    return Shape(
        rank=_rank(kind, five),
        main=kind,
        main_cards=itemgetter(*places),
        second=second_kind,
        second_cards=itemgetter(*second_places) if second_places else tuple,
    )


def _places_by_rank(ranks: Sequence[Rank]) -> PlacesByRank:
    at: PlacesByRank = {}
    for place, rank in enumerate(ranks):
        at[rank] = (*at.get(rank, ()), place)
    return at


def _runs(at: Mapping[Rank, Places]) -> list[tuple[Rank, ...]]:
    """Return the straights that these ranks hold, highest first."""
    return [run for run in RUNS if at.keys() >= set(run)] if len(at) >= 5 else []


def _rank(kind: Kind | None, five: Sequence[Rank]) -> int:
    """Pack the combination and the five cards compared after it into one number (COM-09)."""
    packed = STRENGTH[kind]
    for rank in five:
        packed = packed << 4 | rank
    return packed


def _ace_king(at: PlacesByRank, beside: Places = ()) -> Found | None:
    """Find an ace and a king that do not both lie inside the main combination (COM-07, DBL-03)."""
    for ace in at.get(Rank.ACE, ()):
        for king in at.get(Rank.KING, ()):
            if ace not in beside or king not in beside:
                return Kind.AK, (ace, king)
    return None


Combinations: TypeAlias = tuple[Found | None, Found | None, Sequence[Rank]]
"""Main combination, second one other than Ace-King, and the best five cards in the order of comparison."""


def _of_a_rank(at: PlacesByRank) -> Combinations:
    """Hands without straight and flush: what lies double, treble and fourfold decides."""
    groups = sorted(at.items(), key=lambda group: (len(group[1]), group[0]), reverse=True)
    five = [rank for rank, places in groups for _ in places][:5]
    first, other, third = (*(places for _, places in groups), ())[:3]
    main: Found | None
    second: Found | None = None
    match [len(places) for _, places in groups]:
        case [4, *rest]:
            main = Kind.QUADS, first
            if rest[0] == 2:
                second = Kind.FULL_HOUSE, first[:3] + other
        case [3, 3]:
            main, second = (Kind.FULL_HOUSE, first + other[:2]), (Kind.FULL_HOUSE, other + first[:2])
        case [3, 2, *_]:
            main = Kind.FULL_HOUSE, first + other
        case [3, *_]:
            main = Kind.TRIPS, first
        case [2, 2, *rest]:
            main = Kind.TWO_PAIR, first + other
            if rest == [2]:
                second = Kind.TWO_PAIR, first + third
        case [2, *_]:
            main = Kind.PAIR, first
        case _:
            main = _ace_king(at)
    return main, second, five


def _straight(at: PlacesByRank, runs: Sequence[tuple[Rank, ...]], paired: PairedStraight) -> Combinations:
    """Straights without a flush; in six cards either a second run or a paired rank, never both."""
    main = Kind.STRAIGHT, tuple(at[rank][0] for rank in runs[0])
    second: Found | None = None
    pair = next((places for places in at.values() if len(places) == 2), None)
    if pair and paired is PairedStraight.PAIR:
        second = Kind.PAIR, pair
    elif pair or len(runs) > 1:
        second = Kind.STRAIGHT, tuple(at[rank][-1] for rank in runs[-1])
    return main, second, runs[0]


def _of_a_suit(
    at: PlacesByRank, ranks: Sequence[Rank], suited: Places, paired: PairedStraight
) -> Combinations:
    """Hands with five or six cards of one suit; they hold no more than a pair beside it."""
    in_suit = {ranks[place]: (place,) for place in suited}
    runs = _runs(in_suit)
    if not runs:
        places, five = suited[:5], [ranks[place] for place in suited[:5]]
        return (Kind.FLUSH, places), _beside_a_suit(at, suited, places, paired), five
    places = tuple(in_suit[rank][0] for rank in runs[0])
    kind = Kind.ROYAL if runs[0] == RUNS[0] else Kind.STRAIGHT_FLUSH
    if len(runs) > 1:
        second: Found | None = (Kind.STRAIGHT_FLUSH, tuple(in_suit[rank][0] for rank in runs[1]))
    else:
        second = _beside_a_suit(at, suited, places, paired)
    return (kind, places), second, runs[0]


def _beside_a_suit(at: PlacesByRank, suited: Places, main: Places, paired: PairedStraight) -> Found | None:
    """Find the dearest flush, straight or pair that the sixth card makes beside a (straight) flush."""
    sixth = next((place for places in at.values() for place in places if place not in main), None)
    if sixth is None:
        return None
    if sixth in suited:
        return Kind.FLUSH, tuple(sorted((*sorted(main)[:4], sixth)))
    partners = next(places for places in at.values() if sixth in places)
    if len(partners) == 2 and paired is PairedStraight.PAIR:
        return Kind.PAIR, partners
    for run in _runs(at):
        places = tuple(sixth if sixth in at[rank] else at[rank][0] for rank in run)
        if sixth in places:
            return Kind.STRAIGHT, places
    return (Kind.PAIR, partners) if len(partners) == 2 else None
