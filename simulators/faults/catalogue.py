"""The faults that a simulated studio can commit, each with an id and what the table must make of it.

A fault is planned for a round and carried out once; the incidents of that round must then match its
expectation one to one. Rounds without a fault must have no incident at all.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

import msgspec

from controller.games.deal_pattern import DealPattern, initial_spots
from controller.games.patterns import HAND_SIZE
from controller.games.procedure import DEALER, SWITCH
from controller.games.rules import MAIN
from controller.games.russian_live import PLACES, SWITCH_CARDS
from controller.table.events import IncidentKind as Kind
from controller.table.events import Verdict
from controller.table.inputs import CancelReason as Reason
from controller.table.situations import SITUATIONS


class Moment(StrEnum):
    """When a fault happens: at a card of the deal, or at a station of the round."""

    ANY_CARD = "any card"
    FACE_UP_CARD = "a card of a box that takes decisions"
    FACE_DOWN_CARD = "a card that lies face down"
    DRAWN_CARD = "a card that is drawn after the deal"
    REPLACEMENT = "the dealer's card after a purchase"
    SHUFFLE = "the shuffle"
    READY = "before START"
    BETTING = "betting time"
    OPTIONS = "options"
    FINAL_OPTIONS = "final options"
    RESULT = "result proposed"
    CONFIRMED = "result confirmed"


class Fault(msgspec.Struct, frozen=True):
    """One fault. `incidents` in the order of their closing; `rules` are the ids it exercises."""

    id: str
    moment: Moment
    rules: tuple[str, ...]
    incidents: tuple[tuple[Kind, Verdict], ...] = ()
    cancels: Reason | None = None


def _cancel(kind: Kind, *before: tuple[Kind, Verdict]) -> tuple[tuple[Kind, Verdict], ...]:
    return (*before, (kind, Verdict.CANCELLED))


def _reported(id: str, moment: Moment, kind: Kind, *rules: str) -> Fault:
    return Fault(id, moment, ("RPL-70", "RPL-73", *rules), _cancel(kind), SITUATIONS[kind].reason)


BURNED = ((Kind.SURPLUS_CARD, Verdict.BURNED),)
FLOOR = ((Kind.CARD_ON_FLOOR, Verdict.DECK_OUT),)
RESCANNED = ((Kind.FAILED_READ, Verdict.RESCANNED),)

FAULTS: tuple[Fault, ...] = (
    # RPL-70: what cancels, reported by the dealer and confirmed by a supervisor.
    _reported("hidden-shown", Moment.FACE_DOWN_CARD, Kind.HIDDEN_CARD_SHOWN),
    _reported("extra-placed", Moment.ANY_CARD, Kind.WRONG_NUMBER_OF_CARDS, "RPL-72"),
    _reported("extra-switch", Moment.DRAWN_CARD, Kind.WRONG_NUMBER_OF_CARDS, "RPL-72"),
    _reported("cleared-early", Moment.FINAL_OPTIONS, Kind.TABLE_CLEARED),
    _reported("card-on-floor", Moment.ANY_CARD, Kind.CARD_ON_FLOOR),
    _reported("technical", Moment.OPTIONS, Kind.DEVICE_FAILED),
    # RPL-75: readings.
    Fault("no-read", Moment.ANY_CARD, ("RPL-75",), RESCANNED),
    Fault("damaged-frame", Moment.ANY_CARD, ("RPL-75",), RESCANNED),
    Fault("no-read-switch", Moment.DRAWN_CARD, ("RPL-75",), RESCANNED),
    Fault(
        "no-read-twice",
        Moment.ANY_CARD,
        ("RPL-70", "RPL-73", "RPL-75"),
        _cancel(Kind.FAILED_READ),
        Reason.WRONG_READING,
    ),
    Fault("unreadable", Moment.DRAWN_CARD, ("RPL-75", "row 2"), ((Kind.FAILED_READ, Verdict.ENTERED),)),
    Fault("misread", Moment.FACE_UP_CARD, ("RPL-75",), ((Kind.DISPUTED_READ, Verdict.RESCANNED),)),
    Fault("misread-late", Moment.ANY_CARD, ("RPL-75", "row 2"), ((Kind.MISREAD_LATE, Verdict.RESCANNED),)),
    Fault(
        "read-in-hold",
        Moment.ANY_CARD,
        ("row 2b",),
        ((Kind.DEVICE_FAILED, Verdict.WITHDRAWN), (Kind.HELD_READ, Verdict.RESCANNED)),
    ),
    # The deck: rows 4, 5 and 6.
    Fault("duplicate-read", Moment.ANY_CARD, ("row 4",), ((Kind.SAME_CODE_AGAIN, Verdict.DUPLICATE_READ),)),
    Fault(
        "doubled-card",
        Moment.ANY_CARD,
        ("row 5", "RPL-73"),
        _cancel(Kind.SAME_CODE_AGAIN),
        Reason.DECK_INTEGRITY,
    ),
    Fault(
        "foreign-card",
        Moment.ANY_CARD,
        ("row 6", "RPL-73"),
        _cancel(Kind.FOREIGN_CARD),
        Reason.DECK_INTEGRITY,
    ),
    Fault(
        "unknown-code",
        Moment.ANY_CARD,
        ("row 6", "RPL-73"),
        _cancel(Kind.FOREIGN_CARD),
        Reason.DECK_INTEGRITY,
    ),
    # RPL-71 and row 7: cards that nobody is owed.
    Fault("surplus-called", Moment.FACE_DOWN_CARD, ("RPL-71",), BURNED),
    Fault(
        "surplus-called-seen",
        Moment.FACE_DOWN_CARD,
        ("RPL-70", "RPL-73"),
        _cancel(Kind.SURPLUS_CARD),
        Reason.EXTRA_CARD,
    ),
    Fault("surplus-final-options", Moment.FINAL_OPTIONS, ("RPL-71",), BURNED),
    Fault("surplus-result", Moment.RESULT, ("RPL-71",), BURNED),
    Fault("early-draw", Moment.BETTING, ("RPL-71", "row 7"), ((Kind.EARLY_DRAW, Verdict.BURNED),)),
    Fault(
        "early-draw-seen",
        Moment.BETTING,
        ("RPL-70", "RPL-73", "row 7"),
        _cancel(Kind.EARLY_DRAW),
        Reason.EXTRA_CARD,
    ),
    Fault("early-exchange", Moment.OPTIONS, ("RPL-71", "row 23a"), ((Kind.EARLY_EXCHANGE, Verdict.BURNED),)),
    Fault("late-card", Moment.CONFIRMED, ("RPL-71",), ((Kind.SURPLUS_CARD, Verdict.DECK_CHECK),)),
    Fault("card-before-start", Moment.READY, ("row 7",), ((Kind.EARLY_DRAW, Verdict.SHUFFLE_AGAIN),)),
    # RPL-74 and row 36: a misread card that nobody notices before the result is confirmed.
    Fault(
        "wrong-result",
        Moment.FACE_DOWN_CARD,
        ("RPL-74", "row 36"),
        ((Kind.WRONG_RESULT, Verdict.CORRECTED),),
    ),
    # The deck between rounds: rows 16, 25 and 26, and what is wrong in a set at its load.
    Fault("miscounted", Moment.CONFIRMED, ("row 25",), ((Kind.WRONG_COUNT, Verdict.WENT_ON),)),
    Fault(
        "card-lost",
        Moment.RESULT,
        ("row 25", "RPL-73"),
        _cancel(Kind.WRONG_COUNT),
        Reason.DECK_INTEGRITY,
    ),
    Fault("unshuffled", Moment.SHUFFLE, ("row 26",), ((Kind.ORDER_ALARM, Verdict.DECK_OUT),)),
    Fault("floor-in-shuffle", Moment.SHUFFLE, ("RPL-76", "row 16"), FLOOR),
    Fault(
        "set-short", Moment.SHUFFLE, ("RPL-76", "row 25"), (*FLOOR, (Kind.DECK_REJECTED, Verdict.DECK_OUT))
    ),
    Fault(
        "set-doubled", Moment.SHUFFLE, ("RPL-76", "row 5"), (*FLOOR, (Kind.SAME_CODE_AGAIN, Verdict.DECK_OUT))
    ),
    Fault(
        "set-foreign", Moment.SHUFFLE, ("RPL-76", "row 6"), (*FLOOR, (Kind.DECK_REJECTED, Verdict.DECK_OUT))
    ),
    # People and lines.
    Fault("report-withdrawn", Moment.ANY_CARD, ("RPL-70",), ((Kind.DEVICE_FAILED, Verdict.WITHDRAWN),)),
    Fault("unplugged", Moment.ANY_CARD, ("row 30",), ((Kind.SCANNER_LOST, Verdict.WENT_ON),)),
    Fault("unplugged-card-drawn", Moment.ANY_CARD, ("row 30",), ((Kind.SCANNER_LOST, Verdict.RESCANNED),)),
    Fault(
        "gone-for-long",
        Moment.DRAWN_CARD,
        ("row 30", "RPL-75"),
        (
            (Kind.SCANNER_LOST, Verdict.BY_HAND),
            (Kind.SCANNER_LOST, Verdict.ENTERED),
            (Kind.SCANNER_LOST, Verdict.WENT_ON),
        ),
    ),
    Fault("split-frame", Moment.ANY_CARD, ("driver",)),
    Fault("noise", Moment.ANY_CARD, ("driver",)),
    Fault("press-repeated", Moment.RESULT, ("bus",)),
    Fault("betting-silent", Moment.BETTING, ("bus",)),
)
AFTER_PURCHASE = (_reported("replacement-on-floor", Moment.REPLACEMENT, Kind.CARD_ON_FLOOR),)
"""Faults after a purchase. They stand apart because the order of the others says which round of live Russian
Poker has which."""
MISCOUNTED = ((Kind.WRONG_NUMBER_OF_CARDS, Verdict.REDEALT),)
MISDEALS = (
    Fault("miscount-deal", Moment.ANY_CARD, ("OAB-24",), MISCOUNTED),
    Fault("miscount-options", Moment.OPTIONS, ("OAB-24",), MISCOUNTED),
    Fault("miscount-draw", Moment.DRAWN_CARD, ("OAB-24",), MISCOUNTED),
    Fault("miscount-final-options", Moment.FINAL_OPTIONS, ("OAB-24",), MISCOUNTED),
    Fault("miscount-result", Moment.RESULT, ("OAB-24",), MISCOUNTED),
)
"""A place has a card too many or too few, and the dealer finds it: at tables that deal the round anew."""
BETWEEN_ROUNDS = frozenset(
    {"card-before-start", "unshuffled", "floor-in-shuffle", "set-short", "set-doubled", "set-foreign"}
)
"""Faults whose incidents belong to no round: they come before START, or when the cards are collected."""
SAME_AGAIN = ((Kind.SAME_CODE_AGAIN, Verdict.DUPLICATE_READ),)
OF_A_SHOE = (Fault("read-twice", Moment.ANY_CARD, ("row 4",), SAME_AGAIN),)
"""A scanner reads one card twice within a moment, at tables where a code is on many cards."""
BY_ID = {fault.id: fault for fault in (*FAULTS, *AFTER_PURCHASE, *MISDEALS, *OF_A_SHOE)}

Spot = tuple[str, int]
"""A place and the number of a card there, from 1."""


class Course(NamedTuple):
    """What can go wrong in one game, and at which cards.

    `order` has the spots that may get a card, in an order of their own; `cards` counts in it, from 1.
    """

    faults: tuple[Fault, ...]
    order: tuple[Spot, ...]
    cards: Mapping[Moment, tuple[int, ...]]

    def spot(self, card: int) -> Spot | None:
        """Return the spot of a card, None for 0."""
        return self.order[card - 1] if card else None

    def has(self, fault: Fault) -> bool:
        """Whether the game has a moment for a fault, planned or not."""
        planned = any(fault.id == known.id for known in self.faults)
        return planned or (fault in AFTER_PURCHASE and bool(self.cards.get(fault.moment)))


def course(faults: tuple[Fault, ...], order: tuple[Spot, ...], spots: Mapping[Moment, list[Spot]]) -> Course:
    """Return the course in which a fault of each moment can happen at these spots."""
    numbers = {spot: number for number, spot in enumerate(order, start=1)}
    return Course(
        faults, order, {moment: tuple(map(numbers.__getitem__, of)) for moment, of in spots.items()}
    )


def live_course(pattern: DealPattern) -> Course:
    """Return the course of live Russian Poker (RPL-09, RPL-10, D-10).

    The last card of the initial deal is left out: what is found one card later needs a next one.
    """
    *deal, last = initial_spots(PLACES, pattern)
    switch = [(SWITCH, n) for n in range(1, SWITCH_CARDS + 1)]
    replacement = (DEALER, HAND_SIZE + 1)
    spots = {
        Moment.ANY_CARD: deal,
        Moment.FACE_UP_CARD: [spot for spot in deal if spot[0] == MAIN],
        Moment.FACE_DOWN_CARD: [spot for spot in deal if spot[0] != MAIN],
        Moment.DRAWN_CARD: switch,
        Moment.REPLACEMENT: [replacement],
    }
    return course(FAULTS, (*deal, last, *switch, replacement), spots)


LIVE_COURSES = {pattern: live_course(pattern) for pattern in DealPattern}
LIVE = LIVE_COURSES[DealPattern.SINGLE]


class Amount(StrEnum):
    """How many rounds have a fault."""

    NONE = "none"
    SOME = "some"
    MANY = "many"


EVERY_NTH = {Amount.SOME: 10, Amount.MANY: 1}
"""With `many`, every round has its fault; with `some`, every tenth."""


class Case(msgspec.Struct, frozen=True):
    """A fault planned for a round. `card` counts in the game's course, 0 where the moment is no card."""

    fault: Fault
    card: int = 0


class Plan:
    """Which fault each round has: a pure function of seed, amount and round number.

    Faults are dealt like cards, all of them in a new order each time, so that each comes equally often.
    """

    def __init__(self, seed: int, amount: Amount, only: str | None = None, *, course: Course = LIVE) -> None:
        self.seed = seed
        self.course = course
        self._amount = amount
        known = {fault.id: fault for fault in course.faults}
        self._faults = course.faults if only is None else (known.get(only) or BY_ID[only],)

    def of(self, round_no: int) -> Case | None:
        """Return the round's fault."""
        if self._amount is Amount.NONE or round_no % EVERY_NTH[self._amount]:
            return None
        deal, place = divmod(round_no // EVERY_NTH[self._amount], len(self._faults))
        order = list(self._faults)
        random.Random(f"{self.seed}/faults/{deal}").shuffle(order)
        fault = order[place]
        cards = self.course.cards.get(fault.moment, (0,))
        return Case(fault, random.Random(f"{self.seed}/fault card/{round_no}").choice(cards))
