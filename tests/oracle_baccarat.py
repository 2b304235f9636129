"""Second opinion on baccarat: who has won and what one player gets back, from cards and bets alone.

Written from the rules document (BAC, COM-12, D-54) and sharing no line with the product. Cards are texts in
the order of the deal: player, banker, player, banker, then the third cards as they were due. Bets are the
wagers that were taken, in integer minor units; `late` or `cancelled` voids all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, floor
from typing import Any, NamedTuple

Data = Mapping[str, Any]
PIPS = {"A": 1, "T": 0, "J": 0, "Q": 0, "K": 0} | {str(pips): pips for pips in range(2, 10)}
# BAC-07: one column a third card of the Player (0 to 9, then none), one row a total of the Banker.
BANKER = {
    0: "DDDDDDDDDDD",
    1: "DDDDDDDDDDD",
    2: "DDDDDDDDDDD",
    3: "DDDDDDDDSDD",
    4: "SSDDDDDDSSD",
    5: "SSSSDDDDSSD",
    6: "SSSSSSDDSSS",
    7: "SSSSSSSSSSS",
}
PAYS = {"PLAYER": "1", "BANKER": "19/20", "TIE": "8", "PLAYER_PAIR": "11", "BANKER_PAIR": "11"}


class Coup(NamedTuple):
    player: tuple[str, ...]
    banker: tuple[str, ...]

    @property
    def winner(self) -> str:
        ours, theirs = worth(self.player), worth(self.banker)
        return "TIE" if ours == theirs else "PLAYER" if ours > theirs else "BANKER"


class Line(NamedTuple):
    wager: str
    stake: int
    outcome: str
    returned: int


def worth(cards: Sequence[str]) -> int:
    return sum(PIPS[card[0]] for card in cards) % 10


def coup(cards: Sequence[str]) -> Coup:
    """Lay the cards out; raises ValueError if not exactly the due ones are there."""
    player, banker, due = list(cards[0:3:2]), list(cards[1:4:2]), list(cards[4:])
    if len(banker) != 2:
        raise ValueError(f"four cards are due first, got {len(cards)}")
    if worth(player) < 8 and worth(banker) < 8:
        column = 10
        if worth(player) < 6:
            player.append(taken(due))
            column = PIPS[player[2][0]]
        if BANKER[worth(banker)][column] == "D":
            banker.append(taken(due))
    if due:
        raise ValueError(f"cards that nobody is owed: {due}")
    return Coup(tuple(player), tuple(banker))


def taken(due: list[str]) -> str:
    if not due:
        raise ValueError("a third card is due and missing")
    return due.pop(0)


def fate(wager: str, dealt: Coup) -> str:
    if wager.endswith("_PAIR"):
        first, second = (dealt.player if wager == "PLAYER_PAIR" else dealt.banker)[:2]
        return "WIN" if first[0] == second[0] else "LOSE"
    if wager != "TIE" and dealt.winner == "TIE":
        return "PUSH"
    return "WIN" if wager == dealt.winner else "LOSE"


def explain(cards: Sequence[str], bets: Data, rounding: str = "down") -> list[Line]:
    """One line a wager of one player."""
    stakes = {wager: bets[wager] for wager in PAYS if bets.get(wager)}
    if bets.get("late") or bets.get("cancelled") or bets.get("refunded"):
        return [Line(wager, stake, "REFUND", stake) for wager, stake in stakes.items()]
    dealt, lines = coup(cards), []
    for wager, stake in stakes.items():
        outcome = fate(wager, dealt)
        won = stake * Fraction(PAYS[wager])
        back = {"WIN": stake + (floor(won) if rounding == "down" else ceil(won)), "PUSH": stake, "LOSE": 0}
        lines.append(Line(wager, stake, outcome, back[outcome]))
    return lines


def expected_balances(opening: Mapping[str, int], rounds: Sequence[Data]) -> dict[str, int]:
    """Balances after rounds `{"cards": [...], "bets": {player: his bets}}`."""
    balances = dict(opening)
    for played in rounds:
        for player, bets in played["bets"].items():
            for line in explain(played["cards"], bets):
                balances[player] += line.returned - line.stake
    return balances
