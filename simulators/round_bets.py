"""What differs from game to game in taking bets: one object a round, which the betting system asks.

The betting system knows windows, leases and the table; `RoundBets` knows who may choose and what it costs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from controller.games.offers import HandOffer
from controller.games.procedure import BoxState
from controller.games.requests import Action, Refusal, Request, Stage
from controller.games.settlement import BoxSlip, Slip
from controller.table import events
from controller.table.inputs import DecisionTaken, WindowFacts
from simulators.crowd import People
from simulators.slips import Slips, may_buy


@dataclass(slots=True)
class Window:
    """The window that was opened last."""

    stage: Stage
    ends_us: int
    grace_ms: int
    boxes: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    is_open: bool = True
    asked: set[str] = field(default_factory=set)
    """Those who may choose in it and have not answered."""
    postponed: list[str] = field(default_factory=list)
    """Those who wanted to choose when it was not their time."""
    told: bool = False
    """The table was told that nobody is undecided."""
    name: str = ""
    """How the table calls it; the stage, unless the round was dealt anew."""

    def __post_init__(self) -> None:
        self.name = self.name or self.stage


class Choice(NamedTuple):
    """What came of asking somebody: whether he has answered, and what the table must hear of it."""

    answered: bool
    decision: DecisionTaken | None = None


class RoundSlips(Protocol):
    """What the betting system needs of the slips of a round."""

    roundid: str
    deal: int

    def final(self) -> Mapping[str, tuple[Slip, ...]]: ...
    def plain(self) -> dict[str, dict[str, Any]]: ...


class RoundBets:
    """The bets of one round. A chooser is a player, or in some windows a player for one box.

    Where a game has windows after betting time more than the bets is asked for.
    """

    def __init__(self, number: int, slips: RoundSlips, *, refusals: Counter[Refusal]) -> None:
        self.number = number
        self.slips = slips
        self._refusals = refusals

    # Betting time.

    def bet(self, player: str, *, late: bool) -> None:
        """Take all bets of a player."""
        raise NotImplementedError

    def box_states(self) -> Mapping[str, BoxState]:
        """Return what the table is told when bets are closed."""
        raise NotImplementedError

    # The players' windows.

    def take_hands(self, hands: tuple[HandOffer, ...]) -> None:
        """Note what hands are worth by now."""
        raise NotImplementedError

    def choosers(self, window: Window) -> list[str]:
        """Return who may choose in a window that opens, in the order of the crowd or of the boxes."""
        raise NotImplementedError

    def must_wait(self, window: Window, who: str) -> bool:
        """Whether it is not his time yet; he is asked again after the next hands or decision."""
        raise NotImplementedError

    def choose(self, window: Window, who: str) -> Choice:
        """Let somebody choose; one who is silent, or refused, does not try again."""
        raise NotImplementedError

    def card_withdrawn(self, place: str) -> None:
        """A card of `place` is being read again."""

    def window_opened(self) -> None:
        """A window of the players has opened."""

    def dealt_anew(self, deal: int) -> None:
        """The round begins again with its bets; all answers are void (OAB-24)."""
        raise NotImplementedError

    def decided(self, event: events.DecisionMade, stage: Stage) -> None:
        """The table has taken a box's decision, or its silence."""
        raise NotImplementedError

    def window_closed(self, window: Window) -> None:
        """Do what the rules do for those who were silent."""

    def facts(self, window: Window, *, acknowledges: bool) -> WindowFacts | None:
        """Return everything that is true of the window by now; None where the table asks for nothing."""
        raise NotImplementedError

    def note(self, why_not: Refusal | None) -> bool:
        """Count a refusal; whether the request was taken."""
        if why_not is not None:
            self._refusals[why_not] += 1
        return why_not is None


class PokerBets(RoundBets):
    """The bets of one round of poker: what all these games share."""

    slips: Slips

    def __init__(self, number: int, slips: Slips, *, crowd: People, refusals: Counter[Refusal]) -> None:
        super().__init__(number, slips, refusals=refusals)
        self._people = crowd

    # Buy time is the same in all games that have it.

    def hand(self, slip: BoxSlip) -> HandOffer | None:
        """Return the hand that a slip plays, as it was published."""
        raise NotImplementedError

    def buyers(self, window: Window) -> list[str]:
        """Return the players who may buy the dealer's qualification."""
        return [player for player in self._people.players if self._buyable(window, player)]

    def buys(self, window: Window, player: str) -> bool:
        """Let a player buy, or decline, for each of his boxes; False when he stays silent."""
        if self._people.is_silent(self.number, player, window.stage):
            return False
        for box in self._buyable(window, player):
            if self._people.purchase(self.number, player, box):
                hand = self.hand(self.slips.of(player, box))
                self.note(self.slips.choose(player, Request(Stage.BUY_TIME, Action.BUY, box), hand))
        return True

    def _buyable(self, window: Window, player: str) -> list[str]:
        """Return the boxes of the player that may buy (RPL-33, GRP-17)."""
        slips = [self.slips.of(player, box) for box in window.boxes]
        return [slip.box for slip in slips if may_buy(slip, self.hand(slip))]
