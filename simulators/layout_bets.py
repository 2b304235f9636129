"""Bets on a layout where every wager stands by itself (BAC-15): the crowd, its slips, one round of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from controller.games.baccarat import LAYOUT
from controller.games.baccarat_rules import MAIN_BETS, PAIR_BETS, BaccaratRules, stake_refusal
from controller.games.procedure import BoxState
from controller.games.published import Wager
from controller.games.requests import Refusal
from controller.games.settlement import LateBet, LayoutSlip
from simulators.crowd import OUT_OF_LIMITS, SITS_OUT, People
from simulators.round_bets import RoundBets
from simulators.wallet import Bet, Wallet

ON_BOTH = 0.1
"""Share of players who bet on Player and Banker."""
ON_TIE = 0.25
ON_A_PAIR = 0.25
NOBODY_BETS = 0.05
"""Share of the rounds in which the layout stays empty."""


class Stake(NamedTuple):
    """A bet that a player wishes for, in minor units."""

    wager: Wager
    amount: int


class LayoutCrowd(People):
    """Players at a table with these rules."""

    def __init__(self, seed: int, rules: BaccaratRules, count: int) -> None:
        super().__init__(seed, count)
        self._rules = rules

    def stakes(self, round_no: int, player: str) -> tuple[Stake, ...]:
        """Return the bets that a player wishes for; none if he sits out, or if nobody bets."""
        if self._chance(round_no, "", "empty").random() < NOBODY_BETS:
            return ()
        chance = self._chance(round_no, player, "stakes")
        if chance.random() < SITS_OUT:
            return ()
        side = chance.choice(MAIN_BETS)
        wagers = [wager for wager in MAIN_BETS if wager is side or chance.random() < ON_BOTH]
        wagers += [Wager.TIE] if chance.random() < ON_TIE else []
        wagers += [wager for wager in PAIR_BETS if chance.random() < ON_A_PAIR]
        return tuple(
            Stake(wager, self._amount(wager, chance.random(), chance.random()))
            for wager in wagers
            if wager in self._rules.wagers
        )

    def _amount(self, wager: Wager, share: float, slip: float) -> int:
        limits = self._rules.limits.of(wager)
        if slip < OUT_OF_LIMITS:
            return limits.min - 1
        return limits.min + int(share * (min(limits.max, limits.min * 20) - limits.min))


class LayoutSlips:
    """The slips of all players of a round. Money is taken when a stake is accepted."""

    deal = 1
    """A coup is never dealt anew."""

    def __init__(self, roundid: str, rules: BaccaratRules, wallet: Wallet) -> None:
        self.roundid = roundid
        self._rules = rules
        self._wallet = wallet
        self._slips: dict[str, LayoutSlip] = {}

    def stake(self, player: str, stake: Stake, *, late: bool) -> Refusal | None:
        """Take a stake; a late one is taken too, and never part of the round (RPL-04)."""
        why_not = stake_refusal(stake.wager, stake.amount, self._wallet.balance(player), self._rules)
        if why_not is not None:
            return why_not
        bet = Bet(self.roundid, player, LAYOUT, stake.wager, late)
        if not self._wallet.debit(bet, stake.amount).accepted:
            return Refusal.BALANCE
        slip = self._slips.get(player, LayoutSlip(LAYOUT))
        if late:
            self._slips[player] = LayoutSlip(LAYOUT, slip.stakes, (*slip.late, LateBet(*stake)))
        else:
            self._slips[player] = LayoutSlip(LAYOUT, {**slip.stakes, stake.wager: stake.amount}, slip.late)
        return None

    @property
    def are_empty(self) -> bool:
        """Whether nothing is staked in this round."""
        return not any(slip.stakes for slip in self._slips.values())

    def final(self) -> dict[str, tuple[LayoutSlip, ...]]:
        """Return what the wallet is handed."""
        return {player: (slip,) for player, slip in self._slips.items()}

    def plain(self) -> dict[str, dict[str, Any]]:
        """Return the bets of each player as plain data, by wager; `late` where all came too late."""
        return {
            player: {bet.wager.value: bet.stake for bet in slip.late}
            | {wager.value: stake for wager, stake in slip.stakes.items()}
            | ({"late": True} if slip.late else {})
            for player, slip in self._slips.items()
        }


class LayoutBets(RoundBets):
    """The bets of one round; after them nobody chooses anything."""

    slips: LayoutSlips

    def __init__(
        self, number: int, slips: LayoutSlips, *, crowd: LayoutCrowd, refusals: Counter[Refusal]
    ) -> None:
        super().__init__(number, slips, refusals=refusals)
        self._crowd = crowd

    def bet(self, player: str, *, late: bool) -> None:
        """Take the bets as they come."""
        for stake in self._crowd.stakes(self.number, player):
            self.note(self.slips.stake(player, stake, late=late))

    def box_states(self) -> Mapping[str, BoxState]:
        """The layout is in play when anything lies on it."""
        return {LAYOUT: BoxState.EMPTY if self.slips.are_empty else BoxState.DARK}
