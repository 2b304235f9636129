"""Bets on a sister game: a box decides as one, its owner for everybody who bets there.

The first bettor on a box is its owner, the others follow what he decides (OAB-15, D-55). A decision counts,
and its price is taken, when the table says that it has been made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace

from controller.games.offers import HandOffer
from controller.games.patterns import HAND_SIZE
from controller.games.procedure import BoxState
from controller.games.requests import Action, Refusal, Request, Stage
from controller.games.settlement import BoxSlip, Decision
from controller.games.sister_rules import BonusOasisRules, OasisRules, RussianRules, SisterRules
from controller.table import events
from controller.table.inputs import DecisionTaken, WindowFacts
from simulators.round_bets import Choice, PokerBets, Window
from simulators.sister_crowd import SisterCrowd
from simulators.slips import Slips
from simulators.wallet import Wallet


class Seats(NamedTuple):
    """Who may bet where. `most` bets lie on a box, None for any number.

    With `together` a player has one Ante for all his open boxes, and who bets along on an open box bets the
    owner's Ante on all the owner's open boxes, if he consents (OAB-15, OAB-16).
    """

    most: int | None
    together: bool = False


def seats_of(rules: SisterRules) -> Seats:
    """Return how the boxes are shared in the game of these rules."""
    match rules:
        case BonusOasisRules():
            return Seats(rules.bets_per_box_max, together=True)  # OAB-17
        case RussianRules():
            return Seats(1)  # GRP-03, ROY-02: one player against the dealer
        case _:
            return Seats(None)  # CAR-09; the sheets of the other two are silent


class SisterSlips(Slips):
    """Slips on boxes that decide as one, and on dark ones."""

    def __init__(
        self, roundid: str, rules: SisterRules, wallet: Wallet, *, dark: frozenset[str] = frozenset()
    ) -> None:
        super().__init__(roundid, rules, wallet, dark=dark)
        self.rules = rules
        self._most = seats_of(rules).most

    def owner(self, box: str) -> str | None:
        """Return the first bettor on a box."""
        return next((player for player, _ in self.of_box(box)), None)

    def why_not_stake(self, player: str, request: Request, *, late: bool = False) -> Refusal | None:
        """Judge an Ante or a bonus bet; no more bets than seats go on a box."""
        why_not = super().why_not_stake(player, request, late=late)
        if why_not is None and request.action is Action.ANTE and self._most is not None:
            others = sum(other != player for other, _ in self.of_box(request.box))
            return Refusal.BOX_FULL if others >= self._most else None
        return why_not

    def bet_with_draw(self, player: str, box: str) -> None:
        """The draw was the Bet too (OAS-05)."""
        slip = self.of(player, box)
        taken = self._take_bet(player, slip)
        assert taken, "a draw is refused without the money for the Bet"
        self._keep(player, replace(slip, decision=Decision.BET))

    def _staked(self, slip: BoxSlip, request: Request) -> BoxSlip:
        staked = super()._staked(slip, request)
        return replace(staked, decision=Decision.BET) if slip.box in self.dark else staked

    def _plain_box(self, player: str, slip: BoxSlip) -> dict[str, Any]:
        plain = super()._plain_box(player, slip)
        return plain | {"dark": slip.box in self.dark, "bonus": plain["bonus_b"]}


class SisterBets(PokerBets):
    """The bets of one round."""

    slips: SisterSlips

    def __init__(
        self, number: int, slips: SisterSlips, *, crowd: SisterCrowd, refusals: Counter[Refusal]
    ) -> None:
        super().__init__(number, slips, crowd=crowd, refusals=refusals)
        self._crowd = crowd
        self._rules = slips.rules
        self._dark = slips.dark
        self._together = seats_of(slips.rules).together
        self._hands: dict[str, HandOffer] = {}
        self._decided: set[tuple[str, str]] = set()
        """Windows and boxes."""

    # Betting time.

    def bet(self, player: str, *, late: bool) -> None:
        """Take the bets of a player; those on open boxes all or none, where they belong together."""
        requests = self._crowd.stakes(self.number, player)
        if self._together and not late:
            requests = self._seated(player, requests)
        for request in requests:
            self.note(self.slips.stake(player, request, late=late))

    def box_states(self) -> Mapping[str, BoxState]:
        """A box without an Ante is empty."""
        staked = self.slips.staked_boxes()
        return {box: self._state(box) if box in staked else BoxState.EMPTY for box in self._rules.box_names}

    def _state(self, box: str) -> BoxState:
        return BoxState.DARK if box in self._dark else BoxState.OPEN

    def _seated(self, player: str, requests: tuple[Request, ...]) -> tuple[Request, ...]:
        """Put the Antes on open boxes right, or leave the open boxes out if one of them is refused."""
        wished = [each for each in requests if each.action is Action.ANTE and each.box not in self._dark]
        if not wished:
            return requests
        antes = self._party(player, wished)
        if not all(self.note(self.slips.why_not_stake(player, ante)) for ante in antes):
            antes = ()
        boxes = {ante.box for ante in antes}
        others = (
            each
            for each in requests
            if each.box in self._dark or (each.box in boxes and each.action is not Action.ANTE)
        )
        return (*antes, *others)

    def _party(self, player: str, wished: list[Request]) -> tuple[Request, ...]:
        """Return the Antes of a player who opens boxes, or joins the owner of one; none without consent."""
        owners = [owner for ante in wished if (owner := self.slips.owner(ante.box)) is not None]
        if not owners:
            return tuple(replace(ante, amount=wished[0].amount) for ante in wished)
        owner = owners[0]
        if not self._crowd.consents(self.number, owner, player):
            return ()
        opened = [box for box in self._rules.box_names if box not in self._dark]
        owned = [self.slips.of(owner, box) for box in opened if self.slips.owner(box) == owner]
        return tuple(Request(Stage.BETTING, Action.ANTE, slip.box, slip.ante) for slip in owned)

    # The players' windows.

    def take_hands(self, hands: tuple[HandOffer, ...]) -> None:
        """Each box has one hand."""
        self._hands |= {hand.box: hand for hand in hands}

    def choosers(self, window: Window) -> list[str]:
        """Owners, each for his box; in buy time every player."""
        if window.stage is Stage.BUY_TIME:
            return self.buyers(window)
        owners = [(box, self.slips.owner(box)) for box in window.boxes]
        return [f"{owner}/{box}" for box, owner in owners if owner is not None]

    def must_wait(self, window: Window, who: str) -> bool:
        """Where the boxes decide in order, the boxes before come first (OAB-14)."""
        if not (isinstance(self._rules, BonusOasisRules) and self._rules.open_boxes_in_order):
            return False
        if window.stage is not Stage.OPTIONS:
            return False
        before = window.boxes[: window.boxes.index(who.partition("/")[2])]
        return any((window.name, box) not in self._decided for box in before)

    def choose(self, window: Window, who: str) -> Choice:
        """Let an owner decide; his passengers must be able to pay for it, too."""
        if window.stage is Stage.BUY_TIME:
            return Choice(self.buys(window, who))
        player, _, box = who.partition("/")
        request = self._wish(window, player, box)
        if request is None:
            return Choice(answered=False)
        hand = self._hands.get(box)
        for bettor, _ in self.slips.of_box(box):
            if not self.note(self.slips.why_not_choose(bettor, request, hand)):
                return Choice(answered=False)
        return Choice(True, DecisionTaken(window.name, box, request.action, request.positions))

    def _wish(self, window: Window, player: str, box: str) -> Request | None:
        if window.stage is Stage.OPTIONS:
            return self._crowd.option(self.number, player, box, window.actions, deal=self.slips.deal)
        return self._crowd.final_option(self.number, player, self._hands[box], deal=self.slips.deal)

    def dealt_anew(self, deal: int) -> None:
        """No hand of the abandoned deal is worth anything, and nobody has decided."""
        self.slips.deal_anew(deal)
        self._hands.clear()
        self._decided.clear()

    def decided(self, event: events.DecisionMade, stage: Stage) -> None:
        """Take the price of the decision from everybody on the box; in silence the rules decide (D-52)."""
        self._decided.add((event.window, event.box))
        hand = self._hands.get(event.box)
        for player, _ in self.slips.of_box(event.box):
            if event.action is None:
                self.slips.go_on_in_silence(player, event.box, hand)
                continue
            request = Request(stage, Action(event.action), event.box, positions=event.positions)
            why_not = self.slips.choose(player, request, hand)
            assert why_not is None, f"{player} cannot follow {event}: {why_not}"
            if self._is_bet_too(request):
                self.slips.bet_with_draw(player, event.box)

    def _is_bet_too(self, request: Request) -> bool:
        forced = isinstance(self._rules, OasisRules) and self._rules.force_bet_after_five
        return forced and len(request.positions) == HAND_SIZE

    def facts(self, window: Window, *, acknowledges: bool) -> WindowFacts | None:
        """Boxes decide one by one; after the time is over the table is told that no decision follows."""
        if window.stage is Stage.BUY_TIME:
            undecided = bool(window.asked) and not acknowledges
            bought = self.slips.anyone_bought()
            return WindowFacts(
                window.name, anyone_bought=bought, undecided=undecided, acknowledges=acknowledges
            )
        if not acknowledges or all((window.name, box) in self._decided for box in window.boxes):
            return None
        return WindowFacts(window.name, undecided=False, acknowledges=True)

    def hand(self, slip: BoxSlip) -> HandOffer | None:
        """Return the hand of the box."""
        return self._hands.get(slip.box)
