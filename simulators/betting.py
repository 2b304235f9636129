"""The betting system: takes the bets and choices of a crowd, and tells the table the facts it asks for.

It hears the betting feed, closes each window at the earlier of its published time and its own clock, and
answers every close with one acknowledgement inside the grace time. It does nothing of its own accord after
a restart of the table: what was sent is repeated only when somebody asks (`repeat`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, assert_never

from msgspec.structs import replace

from controller.bus.envelope import Envelope, decode, event_of
from controller.bus.errors import ChainBroken, MalformedMessage
from controller.games.offers import HandOffer
from controller.games.procedure import SWITCH, BoxState
from controller.games.requests import Action, Refusal, Request, Stage
from controller.games.rules import BOXES, MAIN, Rules
from controller.games.settlement import BoxSlip, Decision
from controller.table import events
from controller.table.inputs import BetsTaken, WindowFacts
from simulators.actor import Feed, Planned, Press, Wake
from simulators.crowd import MILLISECOND, Crowd
from simulators.slips import Slips, drew, folds, may_buy
from simulators.wallet import Wallet


class Quirk(StrEnum):
    """A window of which the betting system tells the table nothing, so that grace and guard run out."""

    SILENT_BETTING = "betting"
    SILENT_OPTIONS = "options"
    SILENT_FINAL_OPTIONS = "final_options"
    SILENT_BUY_TIME = "buy_time"


Quirks = Callable[[int], frozenset[Quirk]]
"""The quirks of a round, by its number."""


def no_quirks(round_no: int) -> frozenset[Quirk]:  # noqa: ARG001 - the same in every round
    """A betting system that always answers."""
    return frozenset()


@dataclass(slots=True)
class _Window:
    """The window that was opened last."""

    stage: Stage
    ends_us: int
    grace_ms: int
    boxes: tuple[str, ...] = BOXES
    is_open: bool = True
    asked: set[str] = field(default_factory=set)
    """Players who may choose in it and have not answered."""
    postponed: list[str] = field(default_factory=list)
    """Players who wanted to choose while a card was withdrawn."""
    told: bool = False
    """The table was told that nobody is undecided."""


@dataclass(slots=True)
class _Round:
    number: int
    slips: Slips
    window: _Window | None = None
    hands: dict[str, HandOffer] = field(default_factory=dict)
    """The hands of the main box, by pattern (RPL-82)."""
    blind: dict[str, HandOffer] = field(default_factory=dict)
    """The opened hands of the blind boxes."""
    withdrawn: bool = False
    """A card that the hands were made of is being read again."""
    halts: set[int] = field(default_factory=set)
    """Open incidents that stop betting."""


class BettingSystem:
    """The betting system of one table, an actor on the betting feed. `players` is the size of its crowd."""

    feed = Feed.BETTING

    def __init__(
        self,
        wallet: Wallet,
        rules: Rules,
        *,
        seed: int,
        players: int = 12,
        quirks: Quirks = no_quirks,
        name: str = "bets",
    ) -> None:
        self.name = name
        self.crowd = Crowd(seed, rules, players)
        self.refusals: Counter[Refusal] = Counter()
        """How often the crowd was refused, by reason."""
        self._wallet = wallet
        self._rules = rules
        self._quirks = quirks
        self._round: _Round | None = None
        self._seq = 0
        self._records: dict[str, dict[str, Any]] = {}
        self._sent: dict[str, Press] = {}

    def bets_of(self, roundid: str) -> Mapping[str, Mapping[str, Any]]:
        """Return each player's bets and choices of a round as plain data, by player.

        A box has `ante`, `bonus_b`, `bonus_d`, `bought` and, where chosen, `option`, `positions`, `final`,
        `insurance`; beside the boxes stand `limits`, and `late` or `cancelled` where all of it is void.
        Empty for a round in which nobody has bet.
        """
        if self._round is not None and self._round.slips.roundid == roundid:
            return self._round.slips.plain()
        return self._records.get(roundid, {})

    def repeat(self, now_us: int) -> list[Planned]:
        """Send again, under the same request ids, what the table has not answered in this round."""
        return [Planned(now_us, press) for press in self._sent.values()]

    # What the table says.

    def heard(self, message: bytes, now_us: int) -> list[Planned]:
        """Take one message of the betting feed; one that was heard before changes nothing.

        Raises ChainBroken for a gap, and MalformedMessage.
        """
        envelope = decode(message)
        if envelope.seq <= self._seq:
            return []
        if self._seq and envelope.seq != self._seq + 1:
            raise ChainBroken(f"{envelope.id} does not follow number {self._seq}")
        self._seq = envelope.seq
        event = event_of(envelope)
        if isinstance(event, events.RoundOpened):
            self._open_round(envelope, event)
            return []
        current = self._round
        if event is None or current is None or envelope.roundid != current.slips.roundid:
            return []
        return self._in_round(current, event, now_us)

    def woken(self, note: str, now_us: int) -> list[Planned]:
        """A player acts. What he wanted in a round or window that is over is nothing any more."""
        roundid, stage, player = note.split("|")
        current = self._round
        if current is None or current.slips.roundid != roundid or current.window is None:
            return []
        if stage == Stage.BETTING:
            self._bet(current, player, now_us)
            return []
        window = current.window
        if window.stage != stage or not window.is_open or now_us >= window.ends_us:
            return []
        return self._choose(current, window, player, now_us)

    def answered(self, press: Press, accepted: bool, reason: str | None, now_us: int) -> list[Planned]:
        """The table has taken the press or refused it for good; either way it is not repeated."""
        self._sent.pop(press.request or "", None)
        return []

    def _open_round(self, envelope: Envelope, event: events.RoundOpened) -> None:
        if envelope.roundid is None:
            raise MalformedMessage(f"{envelope.id}: round {event.round_no} opens without an id")
        self._sent.clear()
        self._round = _Round(event.round_no, Slips(envelope.roundid, self._rules, self._wallet))

    def _in_round(self, current: _Round, event: events.Event, now_us: int) -> list[Planned]:
        match event:
            case events.BettingOpened():
                return self._open_betting(current, event, now_us)
            case events.BetsClosed():
                return self._close_betting(current, event)
            case events.DecisionOpened():
                return self._open_window(current, event, now_us)
            case events.HandsOffered(hands=hands):
                return self._take_hands(current, hands, now_us)
            case events.DecisionClosed():
                return self._close_window(current, event)
            case events.CardWithdrawn(place=place) if place in (MAIN, SWITCH):
                current.withdrawn = True
            case events.ResultProposed():
                self._wallet.close_slips(current.slips.roundid, current.slips.final())
            case events.RoundConfirmed() | events.RoundCancelled():
                self._end_round(current, cancelled=isinstance(event, events.RoundCancelled))
            case events.IncidentOpened(incident=number, stops_betting=True):
                current.halts.add(number)
            case events.IncidentClosed(incident=number):
                current.halts.discard(number)
            case _:
                pass  # It is for the eyes of the players.
        return []

    # Betting time.

    def _open_betting(self, current: _Round, event: events.BettingOpened, now_us: int) -> list[Planned]:
        duration_us = event.duration_ms * MILLISECOND
        ends_us = min(event.closes_at_us, now_us + duration_us)
        current.window = _Window(Stage.BETTING, ends_us, event.grace_ms)
        opened_us = event.closes_at_us - duration_us
        return [
            self._wake(current, Stage.BETTING, player, opened_us, duration_us)
            for player in self.crowd.players
            if not self.crowd.is_late(current.number, player)
        ]

    def _close_betting(self, current: _Round, event: events.BetsClosed) -> list[Planned]:
        window = current.window
        if window is None or not window.is_open:
            return []
        window.is_open = False
        if event.ended_by == "cancel":
            return []
        staked = current.slips.staked_boxes()
        boxes = {box: _box_state(box, staked) for box in BOXES}
        latecomers = [
            self._wake(current, Stage.BETTING, player, event.at_us, window.grace_ms * MILLISECOND)
            for player in self.crowd.players
            if self.crowd.is_late(current.number, player)
        ]
        return [*self._tell(current, window, BetsTaken(boxes), event.at_us), *latecomers]

    def _bet(self, current: _Round, player: str, now_us: int) -> None:
        """Take all bets of a player; after the end of betting time all of them are void (RPL-04)."""
        window = current.window
        assert window is not None
        if current.halts:
            return
        late = window.stage is not Stage.BETTING or not window.is_open or now_us >= window.ends_us
        for request in self.crowd.stakes(current.number, player):
            self._note(current.slips.stake(player, request, late=late))

    # The players' windows.

    def _open_window(self, current: _Round, event: events.DecisionOpened, now_us: int) -> list[Planned]:
        if current.window is not None and current.window.stage == event.window:
            return []
        stage = Stage(event.stage)
        duration_us = event.duration_ms * MILLISECOND
        ends_us = min(event.closes_at_us, now_us + duration_us)
        window = _Window(stage, ends_us, event.grace_ms, event.boxes)
        window.asked.update(self._choosers(current, window))
        current.window, current.withdrawn = window, False
        wakes = [
            self._wake(current, stage, player, event.opened_at_us, duration_us)
            for player in self.crowd.players
            if player in window.asked
        ]
        return [*wakes, *self._all_decided(current, window, event.opened_at_us)]

    def _choosers(self, current: _Round, window: _Window) -> list[str]:
        if window.stage is not Stage.BUY_TIME:
            return [player for player, slip in current.slips.of_main() if slip.decision is None]
        return [player for player in self.crowd.players if self._buyable(current, window, player)]

    def _buyable(self, current: _Round, window: _Window, player: str) -> list[str]:
        """Return the boxes of the player that may buy the dealer's qualification (RPL-33)."""
        slips = [current.slips.of(player, box) for box in window.boxes]
        return [slip.box for slip in slips if may_buy(slip, _hand(current, slip))]

    def _take_hands(self, current: _Round, hands: tuple[HandOffer, ...], now_us: int) -> list[Planned]:
        current.hands |= {hand.pattern: hand for hand in hands if hand.box == MAIN}
        current.blind |= {hand.box: hand for hand in hands if hand.box != MAIN}
        current.withdrawn = False
        current.slips.check_insurance(current.hands)
        window = current.window
        if window is None:
            return []
        waiting, window.postponed = window.postponed, []
        return [self._wake(current, window.stage, player, now_us, MILLISECOND) for player in waiting]

    def _choose(self, current: _Round, window: _Window, player: str, now_us: int) -> list[Planned]:
        if player not in window.asked:
            return []
        if current.withdrawn:
            window.postponed.append(player)
            return []
        if not self._answers(current, window, player):
            return []
        window.asked.discard(player)
        return self._all_decided(current, window, now_us)

    def _answers(self, current: _Round, window: _Window, player: str) -> bool:
        """Let a player choose; False when he stays silent, or is refused and does not try again."""
        slips, crowd, number = current.slips, self.crowd, current.number
        request: Request | None
        match window.stage:
            case Stage.OPTIONS:
                request = crowd.option(number, player)
            case Stage.FINAL_OPTIONS:
                slip = slips.of(player, MAIN)
                request = crowd.final_option(number, player, current.hands[slip.pattern], slip.ante)
            case Stage.BUY_TIME:
                return self._buys(current, window, player)
            case Stage.BETTING:
                raise AssertionError("bets are taken elsewhere")
            case _:
                assert_never(window.stage)
        if request is None:
            return False
        hand = _hand(current, slips.of(player, MAIN))
        return self._note(slips.choose(player, request, hand))

    def _buys(self, current: _Round, window: _Window, player: str) -> bool:
        """Let a player buy, or decline, for each of his boxes; False when he stays silent."""
        if self.crowd.is_silent(current.number, player, window.stage):
            return False
        for box in self._buyable(current, window, player):
            if self.crowd.purchase(current.number, player, box):
                hand = _hand(current, current.slips.of(player, box))
                request = Request(Stage.BUY_TIME, Action.BUY, box)
                self._note(current.slips.choose(player, request, hand))
        return True

    def _all_decided(self, current: _Round, window: _Window, at_us: int) -> list[Planned]:
        if window.asked or window.told:
            return []
        window.told = True
        facts = self._facts(current, window, acknowledges=False)
        return self._tell(current, window, facts, at_us)

    def _close_window(self, current: _Round, event: events.DecisionClosed) -> list[Planned]:
        window = current.window
        if window is None or window.stage != event.stage or not window.is_open:
            return []
        window.is_open = False
        if event.ended_by == "cancel":
            return []
        if window.stage is Stage.FINAL_OPTIONS:
            current.slips.bet_for_the_silent(current.hands)
        facts = self._facts(current, window, acknowledges=True)
        return self._tell(current, window, facts, event.at_us)

    def _facts(self, current: _Round, window: _Window, *, acknowledges: bool) -> WindowFacts:
        """Return everything that is true of the window by now."""
        main = [slip for _, slip in current.slips.of_main()]
        # After its own close the rules have decided for everybody who was silent.
        undecided = bool(window.asked) and not acknowledges
        told = WindowFacts(window.stage, undecided=undecided, acknowledges=acknowledges)
        match window.stage:
            case Stage.OPTIONS:
                in_play = any(slip.decision is not Decision.FOLD for slip in main)
                return replace(told, in_play=in_play, anyone_drew=any(map(drew, main)))
            case Stage.FINAL_OPTIONS:
                in_play = any(not folds(slip, _hand(current, slip)) for slip in main)
                return replace(told, in_play=in_play)
            case _:
                return replace(told, anyone_bought=current.slips.anyone_bought())

    # Helpers.

    def _tell(
        self, current: _Round, window: _Window, command: BetsTaken | WindowFacts, at_us: int
    ) -> list[Planned]:
        """Plan a press half-way into the grace time at the latest, unless it is a window of silence."""
        if Quirk(window.stage.value) in self._quirks(current.number):
            return []
        closed = isinstance(command, BetsTaken) or command.acknowledges
        what = f"{window.stage}/{'closed' if closed else 'all_decided'}"
        request = f"{current.slips.roundid}/{what}"
        press = Press("betting", self.name, current.number, command, request)
        self._sent[request] = press
        delay_us = self.crowd.delay_us(current.number, what, at_most_ms=window.grace_ms // 2)
        return [Planned(at_us + delay_us, press)]

    def _wake(self, current: _Round, stage: Stage, player: str, from_us: int, duration_us: int) -> Planned:
        moment = self.crowd.moment(current.number, player, stage, duration_us)
        return Planned(from_us + moment, Wake(f"{current.slips.roundid}|{stage}|{player}"))

    def _note(self, why_not: Refusal | None) -> bool:
        """Count a refusal; whether the request was taken."""
        if why_not is not None:
            self.refusals[why_not] += 1
        return why_not is None

    def _end_round(self, current: _Round, *, cancelled: bool) -> None:
        void = {"cancelled": True} if cancelled else {}
        self._records[current.slips.roundid] = {
            player: bets | void for player, bets in current.slips.plain().items()
        }
        self._sent.clear()
        self._round = None


def _box_state(box: str, staked: frozenset[str]) -> BoxState:
    if box not in staked:
        return BoxState.EMPTY
    return BoxState.OPEN if box == MAIN else BoxState.DARK


def _hand(current: _Round, slip: BoxSlip) -> HandOffer | None:
    """Return the player's hand as it was published."""
    return current.hands.get(slip.pattern) if slip.box == MAIN else current.blind.get(slip.box)
