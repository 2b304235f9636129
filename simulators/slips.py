"""The slips of one round, as the betting system keeps them: every request judged, paid and written down."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from msgspec.structs import replace

from controller.games.offers import HandOffer
from controller.games.patterns import SIXTH, STAY, exchange, parse_pattern
from controller.games.price_list import PriceList
from controller.games.published import Wager
from controller.games.requests import Action, AnyRules, Refusal, Request, Stage, Standing, refusal
from controller.games.settlement import BoxSlip, Decision, LateBet, VoidedBet, price
from simulators.wallet import Bet, Wallet


class Slips:
    """The slips of all players of a round, by player and box. Money is taken when a request is accepted.

    On a `dark` box the Bet goes with the Ante.
    """

    def __init__(self, roundid: str, rules: AnyRules, wallet: Wallet, *, dark: frozenset[str]) -> None:
        self.roundid = roundid
        self._rules = rules
        self._prices = rules.price_list
        self._reserve = reserve_in_antes(self._prices)
        self._wallet = wallet
        self.dark = dark
        self.deal = 1
        """Which deal of the round the answers belong to."""
        self._boxes: dict[str, dict[str, BoxSlip]] = {}
        self._answers: dict[tuple[str, str], list[VoidedBet]] = {}
        """What the answers of this deal have cost, by player and box."""
        self._in_silence: set[tuple[str, str]] = set()
        """Where the rules placed the Bet of this deal for a silent player, by player and box."""

    def stake(self, player: str, request: Request, *, late: bool) -> Refusal | None:
        """Take an Ante or a bonus bet; a late one is taken too, and never part of the round (RPL-04)."""
        why_not = self.why_not_stake(player, request, late=late)
        if why_not is not None:
            return why_not
        slip = self.of(player, request.box)
        for wager, amount in self._wagers(request):
            if not self._take(player, request.box, wager, amount, late=late):
                return Refusal.BALANCE
            if late:
                slip = replace(slip, late=(*slip.late, LateBet(wager, amount)))
        self._keep(player, slip if late else self._staked(slip, request))
        return None

    def why_not_stake(self, player: str, request: Request, *, late: bool = False) -> Refusal | None:
        """Judge an Ante or a bonus bet; nothing is taken."""
        slip = self.of(player, request.box)
        judged = replace(slip, ante=_late_ante(slip)) if late else slip
        why_not = refusal(request, self._standing(player, Stage.BETTING, judged), self._rules)
        if why_not is None and request.action is Action.ANTE:
            why_not = self._reserved(player, request)
        return why_not

    def why_not_choose(self, player: str, request: Request, hand: HandOffer | None) -> Refusal | None:
        """Judge a choice, or a purchase, in an open window; nothing is taken."""
        slip = self.of(player, request.box)
        if not slip.can_place_bet:
            return Refusal.FOLDED  # Silent, and without the money for the Bet (RPL-81).
        return refusal(request, self._standing(player, request.stage, slip, hand), self._rules)

    def choose(self, player: str, request: Request, hand: HandOffer | None) -> Refusal | None:
        """Take a choice, or a purchase, in an open window."""
        why_not = self.why_not_choose(player, request, hand)
        if why_not is not None:
            return why_not
        slip = self.of(player, request.box)
        for wager, amount in self._priced(request, slip.ante):
            if not self._take_answer(player, request.box, wager, amount):
                return Refusal.BALANCE
        self._keep(player, _chosen(slip, request))
        return None

    def go_on_in_silence(self, player: str, box: str, hand: HandOffer | None) -> None:
        """Place the Bet of a silent player with a combination; or fold him (RPL-22, RPL-81, D-52)."""
        slip = self.of(player, box)
        if hand is None or not hand.combinations:
            return
        if self._take_bet(player, slip):
            self._in_silence.add((player, box))
        else:
            self._keep(player, replace(slip, can_place_bet=False))

    def deal_anew(self, deal: int) -> None:
        """Void the answers of a deal (OAB-24); what they have cost comes back when the round ends.

        Antes, bonus stakes and all of a dark box stand.
        """
        for player, slip in self._all():
            if slip.box not in self.dark:
                voided = (*slip.voided, *self._answers.get((player, slip.box), ()))
                fresh = BoxSlip(
                    slip.box, slip.ante, bonus_b=slip.bonus_b, bonus_d=slip.bonus_d, late=slip.late
                )
                self._keep(player, replace(fresh, deal=deal, voided=voided))
        self._answers.clear()
        self._in_silence.clear()
        self.deal = deal

    def of(self, player: str, box: str) -> BoxSlip:
        """Return the slip of a player on a box, an empty one if he has none."""
        return self._boxes.get(player, {}).get(box, BoxSlip(box))

    def of_box(self, box: str) -> tuple[tuple[str, BoxSlip], ...]:
        """Return the players whose Ante lies on a box, with their slips there, the first bettor first."""
        return tuple((player, slip) for player, slip in self._all() if slip.box == box and slip.ante)

    def staked_boxes(self) -> frozenset[str]:
        """Return the boxes on which an Ante lies."""
        return frozenset(slip.box for _, slip in self._all() if slip.ante)

    def anyone_bought(self) -> bool:
        """Whether anybody has bought the dealer's qualification, on any box."""
        return any(slip.bought for _, slip in self._all())

    def final(self) -> dict[str, tuple[BoxSlip, ...]]:
        """Return what the wallet is handed: every player's boxes."""
        return {player: tuple(boxes.values()) for player, boxes in self._boxes.items()}

    def plain(self) -> dict[str, dict[str, Any]]:
        """Return the bets of each player as plain data: what was staked and chosen, box by box.

        A player whose bets came too late has `late`; nothing of them was in play.
        """
        maximum = {"limits": {"max_payout": self._rules.limits.table_max}}
        return {
            player: {slip.box: self._plain_box(player, slip) for slip in boxes.values()}
            | maximum
            | ({"late": True} if any(slip.late for slip in boxes.values()) else {})
            for player, boxes in self._boxes.items()
        }

    def _all(self) -> Iterator[tuple[str, BoxSlip]]:
        for player, boxes in list(self._boxes.items()):
            for slip in list(boxes.values()):
                yield player, slip

    def _keep(self, player: str, slip: BoxSlip) -> None:
        self._boxes.setdefault(player, {})[slip.box] = slip

    def _take(self, player: str, box: str, wager: Wager, amount: int, *, late: bool = False) -> bool:
        return self._wallet.debit(Bet(self.roundid, player, box, wager, late), amount).accepted

    def _take_answer(self, player: str, box: str, wager: Wager, amount: int) -> bool:
        bet = Bet(self.roundid, player, box, wager, deal=self.deal)
        if not self._wallet.debit(bet, amount).accepted:
            return False
        self._answers.setdefault((player, box), []).append(VoidedBet(self.deal, wager, amount))
        return True

    def _take_bet(self, player: str, slip: BoxSlip) -> bool:
        return self._take_answer(
            player, slip.box, self._prices.bet_wager, _antes(slip.ante, self._prices.bet)
        )

    def _standing(self, player: str, stage: Stage, slip: BoxSlip, hand: HandOffer | None = None) -> Standing:
        others = sum(other != player for other, _ in self.of_box(slip.box))
        dark = slip.box in self.dark
        return Standing(stage, slip, self._wallet.balance(player), hand, dark=dark, others_on_box=others)

    def _reserved(self, player: str, request: Request) -> Refusal | None:
        """The boxes that he has opened before must stay payable, too."""
        antes = request.amount + sum(slip.ante for slip in self._boxes.get(player, {}).values())
        return Refusal.BALANCE if antes * self._reserve > self._wallet.balance(player) else None

    def _wagers(self, request: Request) -> Iterator[tuple[Wager, int]]:
        yield Wager(request.action), request.amount
        if request.action is Action.ANTE and request.box in self.dark:
            yield self._prices.bet_wager, _antes(request.amount, self._prices.bet)  # RPL-05, OAB-27

    def _priced(self, request: Request, ante: int) -> Iterator[tuple[Wager, int]]:
        prices = self._prices
        match request.action:
            case Action.SIXTH_CARD:
                yield Wager.SIXTH_FEE, _antes(ante, prices.draw(SIXTH))
            case Action.EXCHANGE:
                yield Wager.EXCHANGE_FEE, _antes(ante, prices.draw(exchange(*request.positions)))
            case Action.BET:
                yield prices.bet_wager, _antes(ante, prices.bet)
            case Action.INSURANCE:
                yield prices.bet_wager, _antes(ante, prices.bet)  # RPL-29
                yield Wager.INSURANCE, request.amount
            case Action.BUY:
                yield Wager.BUY_FEE, _antes(ante, prices.purchase)
            case _:
                pass  # A fold costs nothing.

    def _staked(self, slip: BoxSlip, request: Request) -> BoxSlip:
        match request.action:
            case Action.ANTE:
                return replace(slip, ante=request.amount)
            case Action.BONUS_B:
                return replace(slip, bonus_b=request.amount)
            case _:
                return replace(slip, bonus_d=request.amount)

    def _plain_box(self, player: str, slip: BoxSlip) -> dict[str, Any]:
        silent = {"bet_in_silence": True} if (player, slip.box) in self._in_silence else {}
        return plain_box(slip) | silent


def reserve_in_antes(prices: PriceList) -> Fraction:
    """Return what the Ante, the dearest draw, Bet and purchase cost together.

    Who can't carry a box to its end may not open it.
    """
    draws = (*prices.exchange, prices.sixth_card or Fraction(0))
    return 1 + max(draws) + prices.bet + (prices.purchase or 0)


def plain_box(slip: BoxSlip) -> dict[str, Any]:
    """Return one box of a slip as plain data; the wagers of a late one are what was asked for."""
    late = {bet.wager: bet.stake for bet in slip.late}
    box: dict[str, Any] = {
        "ante": slip.ante or late.get(Wager.ANTE, 0),
        "bonus_b": slip.bonus_b or late.get(Wager.BONUS_B, 0),
        "bonus_d": slip.bonus_d or late.get(Wager.BONUS_D, 0),
        "bought": slip.bought,
    }
    pattern = parse_pattern(slip.pattern)
    if pattern.draws:
        box["option"] = "sixth" if pattern == SIXTH else "exchange"
        box["positions"] = list(pattern.positions)
    if slip.decision is not None:
        box["final"] = slip.decision.lower()
        box["insurance"] = slip.insurance
    return box


def _antes(ante: int, antes: Fraction | None) -> int:
    assert antes is not None, "a request for what is not sold is refused before"
    return price(ante, str(antes))


def _late_ante(slip: BoxSlip) -> int:
    return sum(bet.stake for bet in slip.late if bet.wager is Wager.ANTE)


def drew(slip: BoxSlip) -> bool:
    """Whether the player has paid for a draw."""
    return slip.pattern != STAY.text


def folds(slip: BoxSlip, hand: HandOffer | None) -> bool:
    """Whether the main box is folded, by word or by silence to the end (RPL-22, RPL-81)."""
    if slip.decision is not None:
        return slip.decision is Decision.FOLD
    return hand is None or not hand.combinations or not slip.can_place_bet


def may_buy(slip: BoxSlip, hand: HandOffer | None) -> bool:
    """Whether the purchase is offered to this player: a staked, unfolded box with a combination (RPL-33)."""
    folded = slip.decision is Decision.FOLD or not slip.can_place_bet
    return bool(slip.ante) and not folded and hand is not None and hand.purchase


def _chosen(slip: BoxSlip, request: Request) -> BoxSlip:
    match request.action:
        case Action.SIXTH_CARD:
            return replace(slip, pattern=SIXTH.text)
        case Action.EXCHANGE:
            return replace(slip, pattern=exchange(*request.positions).text)
        case Action.INSURANCE:
            return replace(slip, decision=Decision.INSURANCE, insurance=request.amount)
        case Action.BUY:
            return replace(slip, bought=True)
        case _:
            assert slip.pattern == STAY.text or request.stage is Stage.FINAL_OPTIONS
            return replace(slip, decision=Decision(request.action))
