"""What a round publishes: the records inside `confirmed`, in their wire form.

The controller knows no stakes. Each box lists every hand that a player may have played there, and for
each way of playing it what becomes of every wager (COM-12). Where a box decides as one, it is one hand.
Cards are texts, odds exact fractions as texts (`3`, `19/20`), limits minor units.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from fractions import Fraction
from typing import TypeAlias

import msgspec

from controller.cards import DECK, Card, PrintedCard
from controller.games.combinations import Kind
from controller.games.paytables import BonusRow
from controller.games.poker import Combination, Hand

CARD_TEXT = {card: str(card) for card in DECK}


class Wager(StrEnum):
    """What a player stakes or pays for on a box, in the order of settlement lines."""

    ANTE = "ANTE"
    SIXTH_FEE = "SIXTH_FEE"
    EXCHANGE_FEE = "EXCHANGE_FEE"
    BET = "BET"
    RAISE = "RAISE"
    """The Bet of Royal Poker (ROY-04)."""
    INSURANCE = "INSURANCE"
    BUY_FEE = "BUY_FEE"
    BONUS_B = "BONUS_B"
    BONUS_D = "BONUS_D"
    PLAYER = "PLAYER"
    BANKER = "BANKER"
    TIE = "TIE"
    PLAYER_PAIR = "PLAYER_PAIR"
    BANKER_PAIR = "BANKER_PAIR"


class Result(StrEnum):
    """What becomes of a wager; how much comes back is in COM-12."""

    WIN = "WIN"
    PUSH = "PUSH"
    LOSE = "LOSE"
    FEE = "FEE"
    RETURN_BONUS = "RETURN_BONUS"
    REFUND = "REFUND"


class Winner(StrEnum):
    """Who has won a coup of baccarat (BAC-08)."""

    PLAYER = "PLAYER"
    BANKER = "BANKER"
    TIE = "TIE"


class Comparison(StrEnum):
    """The hand against the dealer's, seen from the player."""

    WIN = "vs_dealer_win"
    LOSE = "vs_dealer_lose"
    TIE = "vs_dealer_tie"
    NOT_QUALIFIED = "dealer_not_qualified"


class RowName(StrEnum):
    """The ways of playing one hand that is not folded."""

    PLAIN = "plain"
    INSURED = "insured"
    BOUGHT = "bought"
    INSURED_BOUGHT = "insured_bought"


class Rounding(StrEnum):
    """What becomes of a part of a minor unit in a win or in the greatest insurance (D-54)."""

    DOWN = "down"
    """The house keeps it."""
    UP = "up"
    """The player gets the whole unit."""


class Exclusion(StrEnum):
    """The fact, told by the betting system, after which nobody can have played a hand."""

    BOX_EMPTY = "BOX_EMPTY"
    NOBODY_DREW = "NOBODY_DREW"
    ALL_FOLDED = "ALL_FOLDED"


class WagerOutcome(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The outcome of one wager and the rules behind it.

    `odds` go with WIN: the win per unit of stake. `limit` is the most that this win may be, in minor
    units (RPL-60, RPL-61); with `limit_includes_stake`, win and stake together (D-21). `bonus` names the
    row of a won bonus bet.
    """

    outcome: Result
    rules: tuple[str, ...]
    odds: str | None = None
    limit: int | None = None
    bonus: BonusRow | None = None
    limit_includes_stake: bool = False


Row: TypeAlias = dict[Wager, WagerOutcome]
Rows: TypeAlias = dict[RowName, Row]


class ShownCombination(msgspec.Struct, frozen=True, gc=False):
    """A combination and the cards that form it."""

    kind: Kind
    cards: tuple[PrintedCard, ...]


class EvaluatedHand(msgspec.Struct, frozen=True, omit_defaults=True):
    """A hand that lies open: its combinations, and the bonus row of its five dealt cards (RPL-52, RPL-57).

    `qualified` is told of the dealer's hand alone (RPL-31), `total` where points count (BAC-03).
    """

    cards: tuple[PrintedCard, ...]
    combinations: tuple[ShownCombination, ...]
    bonus: BonusRow | None = None
    qualified: bool | None = None
    total: int | None = None


class HandOutcome(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One hand that a box can end with.

    A blind box has the one pattern `stay`. `cards` is empty for a draw in a round without switch cards, on
    an empty box that got none, and on a closed one. `odds` is what both combinations pay together.
    `bought_comparison` is the one after the purchase. A row is absent where the rules never allow it; an
    excluded hand has REFUND in all its rows.
    """

    pattern: str
    cards: tuple[PrintedCard, ...]
    combinations: tuple[ShownCombination, ...] = ()
    odds: str = "0"
    comparison: Comparison | None = None
    bought_comparison: Comparison | None = None
    excluded: Exclusion | None = None
    rows: Rows = {}


class BoxOutcome(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One box. `fold` is there where somebody may have folded; `bonus` where bonus bets are offered.

    A box that has folded as one has no hands. `closed` is the rule by which its cards are never
    published (OAB-05, GOA-10); its hands then have none.
    """

    box: str
    hands: tuple[HandOutcome, ...]
    fold: Row | None = None
    bonus: Row | None = None
    closed: str | None = None

    def hand(self, pattern: str) -> HandOutcome:
        """Return the hand of a pattern. Raises ValueError when the box has no such pattern."""
        for hand in self.hands:
            if hand.pattern == pattern:
                return hand
        raise ValueError(f"{self.box} has no pattern {pattern!r}")


class DealerHand(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The dealer's five cards; without a combination he does not qualify (RPL-31)."""

    cards: tuple[PrintedCard, ...]
    qualified: bool
    combination: ShownCombination | None = None


class CoupHand(msgspec.Struct, frozen=True, gc=False):
    """One side of a coup, its cards as dealt and their points (BAC-03)."""

    cards: tuple[PrintedCard, ...]
    total: int


class Coup(msgspec.Struct, frozen=True, gc=False):
    """Both sides of a coup of baccarat. `pairs` are those of the pair bets that would win (BAC-12)."""

    player: CoupHand
    banker: CoupHand
    winner: Winner
    pairs: tuple[Wager, ...] = ()


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True, gc=False, kw_only=True):
    """The whole result of a round: against the `dealer`, or of a `coup`.

    `prices` are in Antes; `exchange_prices` are those of one to five cards, where the number matters.
    `dealer_after_purchase` is the hand that counts for those who bought (RPL-35). `rounding` is how every
    win of the round becomes whole minor units (D-54).
    """

    game: str
    prices: dict[Wager, str]
    dealer: DealerHand | None = None
    boxes: tuple[BoxOutcome, ...]
    dealer_after_purchase: DealerHand | None = None
    exchange_prices: tuple[str, ...] = ()
    rounding: Rounding = Rounding.DOWN
    coup: Coup | None = None

    def box(self, name: str) -> BoxOutcome:
        """Return the outcome of a box. Raises ValueError for an unknown box."""
        for box in self.boxes:
            if box.box == name:
                return box
        raise ValueError(f"no box {name!r} in this outcome")


class VoidedDeal(msgspec.Struct, frozen=True, gc=False):
    """What comes back of a deal that was abandoned: by box, the wagers that its answers may have placed.

    Antes, bonus stakes and the Bets of dark boxes are not among them: they stand in the next deal (OAB-24).
    """

    deal: int
    boxes: dict[str, Row]

    def row(self, box: str) -> Row:
        """Return the wagers of a box, none where no answer was asked for."""
        return self.boxes.get(box, {})


VOIDED = (Wager.EXCHANGE_FEE, Wager.BET)
"""What answers may cost in the game that deals anew."""


def voided_deal(deal: int, boxes: Iterable[str], rule: str = "OAB-24") -> VoidedDeal:
    """Return the wagers of the `boxes` that take decisions, all refunded."""
    refunded = WagerOutcome(Result.REFUND, (rule,))
    return VoidedDeal(deal, {box: dict.fromkeys(VOIDED, refunded) for box in boxes})


def card_texts(cards: Iterable[Card]) -> tuple[str, ...]:
    """Spell cards as they are on the wire."""
    return tuple(map(CARD_TEXT.__getitem__, cards))


def shown(combination: Combination) -> ShownCombination:
    """Spell one combination."""
    return ShownCombination(combination.kind, card_texts(combination.cards))


def shown_combinations(hand: Hand) -> tuple[ShownCombination, ...]:
    """Spell the combinations that are paid, main first."""
    if hand.main is None:
        return ()
    return (shown(hand.main),) if hand.second is None else (shown(hand.main), shown(hand.second))


def shown_dealer(cards: tuple[Card, ...], hand: Hand) -> DealerHand:
    """Spell a dealer's hand, its main combination alone (DBL-05)."""
    return DealerHand(card_texts(cards), hand.qualifies, None if hand.main is None else shown(hand.main))


def fraction_text(value: Fraction) -> str:
    """Spell odds and prices exactly: `3`, `19/20`."""
    return str(value)


def for_public(outcome: Outcome) -> Outcome:
    """Return the outcome without what only wallets and the betting system need: rows, prices, rounding."""

    def without_rows(box: BoxOutcome) -> BoxOutcome:
        hands = tuple(msgspec.structs.replace(hand, rows={}) for hand in box.hands)
        return msgspec.structs.replace(box, fold=None, bonus=None, hands=hands)

    boxes = tuple(map(without_rows, outcome.boxes))
    bare = msgspec.structs.replace(outcome, prices={}, exchange_prices=(), rounding=Rounding.DOWN)
    return msgspec.structs.replace(bare, boxes=boxes)


def refund_all(outcome: Outcome, rule: str = "RPL-74") -> Outcome:
    """Return the outcome in which every wager is refunded: the correction of a wrong result."""
    boxes = tuple(_refunded(box, rule) for box in outcome.boxes)
    return msgspec.structs.replace(outcome, boxes=boxes)


def refund_box(outcome: Outcome, name: str, cell: str) -> Outcome:
    """Return the outcome in which every wager of one box is refunded; `cell` of the procedures says why."""
    boxes = tuple(_refunded(box, cell) if box.box == name else box for box in outcome.boxes)
    return msgspec.structs.replace(outcome, boxes=boxes)


def _refunded(box: BoxOutcome, rule: str) -> BoxOutcome:
    refunded = WagerOutcome(Result.REFUND, (rule,))

    def refund_row(row: Row | None) -> Row | None:
        return None if row is None else dict.fromkeys(row, refunded)

    def refund_hand(hand: HandOutcome) -> HandOutcome:
        rows = {name: dict.fromkeys(row, refunded) for name, row in hand.rows.items()}
        return msgspec.structs.replace(hand, rows=rows)

    return msgspec.structs.replace(
        box,
        hands=tuple(map(refund_hand, box.hands)),
        fold=refund_row(box.fold),
        bonus=refund_row(box.bonus),
    )
