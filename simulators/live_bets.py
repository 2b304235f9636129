"""Bets on live Russian Poker: everybody chooses for himself, and the table is told facts alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import assert_never

from msgspec.structs import replace

from controller.games.offers import HandOffer
from controller.games.procedure import SWITCH, BoxState
from controller.games.published import Wager
from controller.games.requests import Refusal, Request, Stage, insurance_limits
from controller.games.rules import BLIND, BOXES, MAIN, Rules
from controller.games.settlement import BoxSlip, Decision
from controller.table import events
from controller.table.inputs import WindowFacts
from simulators.crowd import Crowd
from simulators.round_bets import Choice, PokerBets, Window
from simulators.slips import Slips, drew, folds
from simulators.wallet import Bet, Wallet


class LiveSlips(Slips):
    """Slips on the main box and the blind ones, insurance among them."""

    def __init__(self, roundid: str, rules: Rules, wallet: Wallet) -> None:
        super().__init__(roundid, rules, wallet, dark=frozenset(BLIND))
        self._live = rules

    def of_main(self) -> tuple[tuple[str, BoxSlip], ...]:
        """Return the players whose Ante lies on the main box, with their slips there."""
        return self.of_box(MAIN)

    def bet_for_the_silent(self, hands: Mapping[str, HandOffer]) -> None:
        """Place the Bet of every silent player with a combination; or fold him (RPL-22, RPL-81)."""
        for player, slip in self.of_main():
            if slip.decision is None:
                self.go_on_in_silence(player, MAIN, hands[slip.pattern])

    def check_insurance(self, hands: Mapping[str, HandOffer]) -> None:
        """A corrected card has changed the hands: insurance that is not open any more goes back.

        The Bet that was placed with it stands.
        """
        for player, slip in self.of_main():
            if slip.insurance and not self._insurable(slip, hands[slip.pattern]):
                self._wallet.withdraw(Bet(self.roundid, player, MAIN, Wager.INSURANCE))
                self._keep(player, replace(slip, decision=Decision.BET, insurance=0))

    def _insurable(self, slip: BoxSlip, hand: HandOffer) -> bool:
        if hand.insurance is None:
            return False
        least, greatest = insurance_limits(hand.insurance, slip.ante, self._live)
        return least <= slip.insurance <= greatest


class LiveBets(PokerBets):
    """The bets of one round."""

    slips: LiveSlips

    def __init__(self, number: int, slips: LiveSlips, *, crowd: Crowd, refusals: Counter[Refusal]) -> None:
        super().__init__(number, slips, crowd=crowd, refusals=refusals)
        self._crowd = crowd
        self._hands: dict[str, HandOffer] = {}
        """The hands of the main box, by pattern (RPL-82)."""
        self._blind: dict[str, HandOffer] = {}
        """The opened hands of the blind boxes."""
        self._withdrawn = False
        """A card that the hands were made of is being read again."""

    def bet(self, player: str, *, late: bool) -> None:
        """Take the bets as they come; after the end of betting time all of them are void (RPL-04)."""
        for request in self._crowd.stakes(self.number, player):
            self.note(self.slips.stake(player, request, late=late))

    def box_states(self) -> Mapping[str, BoxState]:
        """The main box takes decisions, the others are blind (RPL-02)."""
        staked = self.slips.staked_boxes()
        played = {box: BoxState.OPEN if box == MAIN else BoxState.DARK for box in BOXES}
        return {box: state if box in staked else BoxState.EMPTY for box, state in played.items()}

    def take_hands(self, hands: tuple[HandOffer, ...]) -> None:
        """Take the hands of all patterns; a correction may have closed an insurance."""
        self._hands |= {hand.pattern: hand for hand in hands if hand.box == MAIN}
        self._blind |= {hand.box: hand for hand in hands if hand.box != MAIN}
        self._withdrawn = False
        self.slips.check_insurance(self._hands)

    def choosers(self, window: Window) -> list[str]:
        """Players on the main box who have not decided; in buy time on any box."""
        if window.stage is Stage.BUY_TIME:
            return self.buyers(window)
        undecided = {player for player, slip in self.slips.of_main() if slip.decision is None}
        return [player for player in self._crowd.players if player in undecided]

    def must_wait(self, window: Window, who: str) -> bool:
        """Nobody chooses while a card of his hand is read again."""
        return self._withdrawn

    def card_withdrawn(self, place: str) -> None:
        """Only what lies on the main box or belongs to it matters to choices."""
        self._withdrawn = self._withdrawn or place in (MAIN, SWITCH)

    def window_opened(self) -> None:
        """Its hands come with it."""
        self._withdrawn = False

    def choose(self, window: Window, who: str) -> Choice:
        """Let a player choose for himself."""
        request: Request | None
        match window.stage:
            case Stage.OPTIONS:
                request = self._crowd.option(self.number, who)
            case Stage.FINAL_OPTIONS:
                slip = self.slips.of(who, MAIN)
                hand = self._hands[slip.pattern]
                request = self._crowd.final_option(self.number, who, hand, slip.ante)
            case Stage.BUY_TIME:
                return Choice(self.buys(window, who))
            case Stage.BETTING:
                raise AssertionError("bets are taken elsewhere")
            case _:
                assert_never(window.stage)
        if request is None:
            return Choice(answered=False)
        own = self.hand(self.slips.of(who, MAIN))
        return Choice(self.note(self.slips.choose(who, request, own)))

    def dealt_anew(self, deal: int) -> None:
        """This game cancels (RPL-70)."""
        raise AssertionError(deal)

    def decided(self, event: events.DecisionMade, stage: Stage) -> None:
        """No box of this game decides as one."""
        raise AssertionError(event)

    def window_closed(self, window: Window) -> None:
        """After final options the rules decide for the silent."""
        if window.stage is Stage.FINAL_OPTIONS:
            self.slips.bet_for_the_silent(self._hands)

    def facts(self, window: Window, *, acknowledges: bool) -> WindowFacts | None:
        """After its own close the rules have decided for everybody who was silent."""
        main = [slip for _, slip in self.slips.of_main()]
        undecided = bool(window.asked) and not acknowledges
        told = WindowFacts(window.name, undecided=undecided, acknowledges=acknowledges)
        match window.stage:
            case Stage.OPTIONS:
                in_play = any(slip.decision is not Decision.FOLD for slip in main)
                return replace(told, in_play=in_play, anyone_drew=any(map(drew, main)))
            case Stage.FINAL_OPTIONS:
                in_play = any(not folds(slip, self.hand(slip)) for slip in main)
                return replace(told, in_play=in_play)
            case _:
                return replace(told, anyone_bought=self.slips.anyone_bought())

    def hand(self, slip: BoxSlip) -> HandOffer | None:
        """The main box has a hand for each pattern, a blind box one."""
        return self._hands.get(slip.pattern) if slip.box == MAIN else self._blind.get(slip.box)
