"""Baccarat (BAC-01 to BAC-15): the coup from betting to result, and what becomes of every wager."""

from __future__ import annotations

from collections.abc import Generator

from controller.cards import Card
from controller.games.baccarat_rules import BURN_COUNTS, LONGEST_COUP, PAIR_BETS, BaccaratRules, points
from controller.games.patterns import STAY
from controller.games.procedure import (
    Announce,
    Answer,
    Betting,
    BoxState,
    Deal,
    Decide,
    Decision,
    Face,
    Procedure,
    ShoePlan,
    Step,
    bets,
    card,
)
from controller.games.published import (
    BoxOutcome,
    Coup,
    CoupHand,
    EvaluatedHand,
    Exclusion,
    HandOutcome,
    Outcome,
    Row,
    RowName,
    Wager,
    WagerOutcome,
    Winner,
    card_texts,
)
from controller.games.terms import lose, push, refund, win

PLAYER, BANKER = "player", "banker"
LAYOUT = "layout"
"""The one place of bets: all players share it (BAC-15)."""

Hand = tuple[Card, ...]

BANKER_DRAWS = {0: range(10), 1: range(10), 2: range(10), 3: (*range(8), 9), 4: range(2, 8)}
BANKER_DRAWS |= {5: range(4, 8), 6: range(6, 8), 7: ()}
"""The points of the Player's third card on which the Banker draws, by his own total (BAC-07)."""


def total(hand: Hand) -> int:
    """Return the last digit of the sum (BAC-03)."""
    return sum(points(card.rank) for card in hand) % 10


def is_natural(hand: Hand) -> bool:
    """Whether two cards make eight or nine (BAC-05)."""
    return len(hand) == 2 and total(hand) >= 8


def player_draws(player: Hand) -> bool:
    """BAC-06."""
    return total(player) <= 5


def banker_draws(banker: Hand, third: Card | None) -> bool:
    """Whether the Banker draws; `third` is the Player's third card, None if he stood (BAC-07)."""
    if third is None:
        return total(banker) <= 5
    return points(third.rank) in BANKER_DRAWS[total(banker)]


def winner(player: Hand, banker: Hand) -> Winner:
    """Return who has won (BAC-08)."""
    if total(player) == total(banker):
        return Winner.TIE
    return Winner.PLAYER if total(player) > total(banker) else Winner.BANKER


def is_pair(hand: Hand) -> bool:
    """Whether the first two cards have one rank (BAC-12)."""
    return hand[0].rank == hand[1].rank


class Baccarat:
    """One coup after the other out of one shoe."""

    name = "baccarat"
    redeals = False
    boxes = (LAYOUT,)
    places = (PLAYER, BANKER)
    cards_at_most = LONGEST_COUP
    corrects_results = True

    def __init__(self, rules: BaccaratRules) -> None:
        self.rules = rules
        self.shoe: ShoePlan | None = ShoePlan(
            decks=rules.decks,
            cutting_card_from_end=rules.cutting_card_from_end,
            rounds_after_cutting_card=rules.rounds_after_cutting_card,
            burn_counts=BURN_COUNTS if rules.burn_by_first_card else {},
            spots={f"{side[0].upper()}{n}": (side, n) for side in (PLAYER, BANKER) for n in (1, 2, 3)},
        )

    def script(self) -> Procedure:
        """The coup in the order of the sheet. It is dealt whether somebody has bet or not."""
        states = yield from bets(Betting())  # BAC-01, BAC-15
        player, banker = yield from self._deal()  # BAC-04
        if not (is_natural(player) or is_natural(banker)):  # BAC-05
            third: Card | None = None
            if player_draws(player):  # BAC-06
                third = yield from card(Deal(PLAYER, 3, Face.UP))
                player = (*player, third)
                yield Announce(PLAYER, shown(player))
            if banker_draws(banker, third):  # BAC-07
                banker = (*banker, (yield from card(Deal(BANKER, 3, Face.UP))))
                yield Announce(BANKER, shown(banker))
        return self.outcome(player, banker, in_play=states[LAYOUT] is not BoxState.EMPTY)

    def _deal(self) -> Generator[Step, Answer, tuple[Hand, Hand]]:
        player: Hand = ()
        banker: Hand = ()
        for n in (1, 2):
            player = (*player, (yield from card(Deal(PLAYER, n, Face.UP))))
            banker = (*banker, (yield from card(Deal(BANKER, n, Face.UP))))
        yield Announce(PLAYER, shown(player))
        yield Announce(BANKER, shown(banker))
        return player, banker

    def outcome(self, player: Hand, banker: Hand, *, in_play: bool) -> Outcome:
        """Judge every wager (BAC-08 to BAC-12); a bet that nobody was said to have made comes back."""
        if in_play:
            row = self._row(player, banker)
            hand = HandOutcome(STAY.text, (), rows={RowName.PLAIN: row})
        else:
            nobody: Row = dict.fromkeys(self.rules.wagers, refund("BAC-15"))
            excluded = Exclusion.BOX_EMPTY
            hand = HandOutcome(STAY.text, (), excluded=excluded, rows={RowName.PLAIN: nobody})
        return Outcome(
            game=self.name,
            prices={},
            boxes=(BoxOutcome(LAYOUT, (hand,)),),
            coup=Coup(
                CoupHand(card_texts(player), total(player)),
                CoupHand(card_texts(banker), total(banker)),
                winner(player, banker),
                tuple(
                    wager for wager, pair in zip(PAIR_BETS, (player, banker), strict=True) if is_pair(pair)
                ),
            ),
            rounding=self.rules.rounding,
        )

    def _row(self, player: Hand, banker: Hand) -> Row:
        rules, won = self.rules, winner(player, banker)
        row: Row = {
            Wager.PLAYER: self._main(won, Winner.PLAYER, win(rules.player_odds, "BAC-09")),
            Wager.BANKER: self._main(won, Winner.BANKER, win(rules.banker_odds, "BAC-10")),
            Wager.TIE: win(rules.tie_odds, "BAC-11") if won is Winner.TIE else lose("BAC-08", "BAC-11"),
        }
        if rules.pairs:
            for wager, hand in zip(PAIR_BETS, (player, banker), strict=True):
                row[wager] = win(rules.pair_odds, "BAC-12") if is_pair(hand) else lose("BAC-12")
        return row

    @staticmethod
    def _main(won: Winner, bet_on: Winner, paid: WagerOutcome) -> WagerOutcome:
        if won is Winner.TIE:
            return push(*paid.rules)
        return paid if won is bet_on else lose("BAC-08")

    @property
    def rescans_at_most(self) -> int:
        """How many re-scans the first four cards allow (BAC-14, RPL-75)."""
        return self.rules.max_rescans

    def initial_deal(self, step: Deal) -> bool:
        """The first two cards of each side; third cards come later."""
        return step.n <= 2

    def decision_to_come(self, stages_closed: frozenset[str]) -> bool:  # noqa: ARG002 - the same always
        """Nobody decides anything after his bet."""
        return False

    def is_decision(self, step: Decide, decision: Decision) -> bool:  # noqa: ARG002 - the same always
        """No window asks for one."""
        return False


def shown(hand: Hand) -> EvaluatedHand:
    """Return what everybody may know of a side."""
    return EvaluatedHand(card_texts(hand), (), total=total(hand))
