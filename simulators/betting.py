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
from typing import Any

from controller.bus.acknowledging import ending_of
from controller.bus.envelope import Envelope, decode, event_of
from controller.bus.errors import ChainBroken, MalformedMessage
from controller.games.baccarat_rules import BaccaratRules
from controller.games.requests import AnyRules, Refusal, Stage
from controller.games.rules import Rules
from controller.table import events
from controller.table.inputs import BetsTaken, DecisionTaken, WindowFacts
from simulators.acknowledging import acknowledged
from simulators.actor import Feed, Planned, Press, Wake
from simulators.crowd import MILLISECOND, Crowd, People
from simulators.layout_bets import LayoutBets, LayoutCrowd, LayoutSlips
from simulators.live_bets import LiveBets, LiveSlips
from simulators.round_bets import RoundBets, Window
from simulators.sister_bets import SisterBets, SisterSlips
from simulators.sister_crowd import SisterCrowd
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


NOTHING_FOLLOWS = frozenset({"cancel", "redeal"})
"""Ends of a window after which the table asks for nothing."""


@dataclass(slots=True)
class _Round:
    number: int
    bets: RoundBets
    window: Window | None = None
    halts: set[int] = field(default_factory=set)
    """Open incidents that stop betting."""

    @property
    def id(self) -> str:
        return self.bets.slips.roundid


OpenBets = Callable[[int, str, Wallet, Counter[Refusal]], RoundBets]
"""Opens the bets of a round, from its number and id."""


def bets_on(
    rules: AnyRules | BaccaratRules, *, seed: int, players: int, dark: frozenset[str]
) -> tuple[People, OpenBets]:
    """Return the crowd at a table with these rules, and how each of its rounds is opened.

    `dark` are the boxes that take no decisions; in live Russian Poker the rules name them.
    """
    if isinstance(rules, BaccaratRules):
        layout = LayoutCrowd(seed, rules, players)

        def open_layout(number: int, roundid: str, wallet: Wallet, refusals: Counter[Refusal]) -> RoundBets:
            slips = LayoutSlips(roundid, rules, wallet)
            return LayoutBets(number, slips, crowd=layout, refusals=refusals)

        return layout, open_layout
    if isinstance(rules, Rules):
        crowd = Crowd(seed, rules, players)

        def open_live(number: int, roundid: str, wallet: Wallet, refusals: Counter[Refusal]) -> RoundBets:
            return LiveBets(number, LiveSlips(roundid, rules, wallet), crowd=crowd, refusals=refusals)

        return crowd, open_live
    sisters = SisterCrowd(seed, rules, players)

    def open_sister(number: int, roundid: str, wallet: Wallet, refusals: Counter[Refusal]) -> RoundBets:
        slips = SisterSlips(roundid, rules, wallet, dark=dark)
        return SisterBets(number, slips, crowd=sisters, refusals=refusals)

    return sisters, open_sister


class BettingSystem:
    """The betting system of one table, an actor on the betting feed. `players` is the size of its crowd."""

    feed = Feed.BETTING

    def __init__(
        self,
        wallet: Wallet,
        rules: AnyRules | BaccaratRules,
        *,
        seed: int,
        players: int = 12,
        quirks: Quirks = no_quirks,
        dark: frozenset[str] = frozenset(),
        name: str = "bets",
        acknowledges: bool = False,
    ) -> None:
        self.name = name
        self.crowd, self._open_bets = bets_on(rules, seed=seed, players=players, dark=dark)
        self.refusals: Counter[Refusal] = Counter()
        """How often the crowd was refused, by reason."""
        self._wallet = wallet
        self._quirks = quirks
        self._acknowledges = acknowledges
        self.is_stale: Callable[[], bool] = lambda: False
        """Whether the table has not been heard for three seconds, or may have said more than was heard."""
        self._round: _Round | None = None
        self._seq = 0
        self._records: dict[str, dict[str, Any]] = {}
        self._sent: dict[str, Press] = {}

    def bets_of(self, roundid: str) -> Mapping[str, Mapping[str, Any]]:
        """Return each player's bets and choices of a round as plain data, by player.

        A box has `ante`, `bonus_b`, `bonus_d`, `bought` and, where chosen, `option`, `positions`, `final`,
        `insurance`, or `bet_in_silence` (RPL-22); in a sister game also `dark` and `bonus`. Beside the boxes
        stand `limits`, and `late` or `cancelled` where all of it is void.
        Empty for a round in which nobody has bet.
        """
        if self._round is not None and self._round.id == roundid:
            return self._round.bets.slips.plain()
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
        ending = ending_of(envelope) if self._acknowledges else None
        return [*self._take(envelope, now_us), *acknowledged(self.name, ending, now_us)]

    def _take(self, envelope: Envelope, now_us: int) -> list[Planned]:
        event = event_of(envelope)
        if isinstance(event, events.RoundOpened):
            self._open_round(envelope, event)
            return []
        current = self._round
        if event is None or current is None or envelope.roundid != current.id:
            return []
        return self._in_round(current, event, now_us)

    def woken(self, note: str, now_us: int) -> list[Planned]:
        """Somebody acts. What he wanted in a round or window that is over is nothing any more."""
        roundid, name, who = note.split("|")
        current = self._round
        if current is None or current.id != roundid or current.window is None:
            return []
        if name == Stage.BETTING:
            self._bet(current, who, now_us)
            return []
        window = current.window
        if window.name != name or not window.is_open or now_us >= window.ends_us:
            return []
        return self._choose(current, window, who, now_us)

    def answered(self, press: Press, accepted: bool, reason: str | None, now_us: int) -> list[Planned]:
        """The table has taken the press or refused it for good; either way it is not repeated."""
        self._sent.pop(press.request or "", None)
        return []

    def _open_round(self, envelope: Envelope, event: events.RoundOpened) -> None:
        if envelope.roundid is None:
            raise MalformedMessage(f"{envelope.id}: round {event.round_no} opens without an id")
        self._sent.clear()
        bets = self._open_bets(event.round_no, envelope.roundid, self._wallet, self.refusals)
        self._round = _Round(event.round_no, bets)

    def _in_round(self, current: _Round, event: events.Event, now_us: int) -> list[Planned]:
        match event:
            case events.BettingOpened():
                return self._open_betting(current, event, now_us)
            case events.BetsClosed():
                return self._close_betting(current, event)
            case events.DecisionOpened():
                return self._open_window(current, event, now_us)
            case events.HandsOffered(hands=hands):
                current.bets.take_hands(hands)
                return self._those_who_waited(current, now_us)
            case events.DecisionMade():
                assert current.window is not None
                current.bets.decided(event, current.window.stage)
                return self._those_who_waited(current, now_us)
            case events.DecisionClosed():
                return self._close_window(current, event)
            case events.CardWithdrawn(place=place):
                current.bets.card_withdrawn(place)
            case events.RoundRedealt(deal=deal):
                self._dealt_anew(current, deal)
            case events.ResultProposed():
                slips = current.bets.slips
                self._wallet.close_slips(current.id, slips.final(), deal=slips.deal)
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
        current.window = Window(Stage.BETTING, ends_us, event.grace_ms)
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
        if event.ended_by in NOTHING_FOLLOWS:
            return []
        latecomers = [
            self._wake(current, Stage.BETTING, player, event.at_us, window.grace_ms * MILLISECOND)
            for player in self.crowd.players
            if self.crowd.is_late(current.number, player)
        ]
        taken = BetsTaken(current.bets.box_states())
        return [*self._tell(current, window, taken, event.at_us), *latecomers]

    def _bet(self, current: _Round, player: str, now_us: int) -> None:
        """Take all bets of a player; after the end of betting time all of them are void (RPL-04)."""
        window = current.window
        assert window is not None
        if current.halts or self.is_stale():
            return
        late = window.stage is not Stage.BETTING or not window.is_open or now_us >= window.ends_us
        current.bets.bet(player, late=late)

    # The players' windows.

    def _open_window(self, current: _Round, event: events.DecisionOpened, now_us: int) -> list[Planned]:
        if current.window is not None and current.window.name == event.window:
            return []
        stage = Stage(event.stage)
        duration_us = event.duration_ms * MILLISECOND
        ends_us = min(event.closes_at_us, now_us + duration_us)
        window = Window(stage, ends_us, event.grace_ms, event.boxes, event.actions, name=event.window)
        current.window = window
        current.bets.window_opened()
        choosers = current.bets.choosers(window)
        window.asked.update(choosers)
        wakes = [self._wake(current, event.window, who, event.opened_at_us, duration_us) for who in choosers]
        return [*wakes, *self._all_decided(current, window, event.opened_at_us)]

    def _those_who_waited(self, current: _Round, now_us: int) -> list[Planned]:
        """Let those choose whose time had not come."""
        window = current.window
        if window is None:
            return []
        waiting, window.postponed = window.postponed, []
        return [self._wake(current, window.name, who, now_us, MILLISECOND) for who in waiting]

    def _choose(self, current: _Round, window: Window, who: str, now_us: int) -> list[Planned]:
        if who not in window.asked:
            return []
        if current.bets.must_wait(window, who):
            window.postponed.append(who)
            return []
        choice = current.bets.choose(window, who)
        if not choice.answered:
            return []
        window.asked.discard(who)
        told = [] if choice.decision is None else self._tell(current, window, choice.decision, now_us)
        return [*told, *self._all_decided(current, window, now_us)]

    def _all_decided(self, current: _Round, window: Window, at_us: int) -> list[Planned]:
        if window.asked or window.told:
            return []
        window.told = True
        facts = current.bets.facts(window, acknowledges=False)
        return [] if facts is None else self._tell(current, window, facts, at_us)

    def _close_window(self, current: _Round, event: events.DecisionClosed) -> list[Planned]:
        window = current.window
        if window is None or window.name != event.window or not window.is_open:
            return []
        window.is_open = False
        if event.ended_by in NOTHING_FOLLOWS:
            return []
        current.bets.window_closed(window)
        facts = current.bets.facts(window, acknowledges=True)
        return [] if facts is None else self._tell(current, window, facts, event.at_us)

    # Helpers.

    def _tell(
        self, current: _Round, window: Window, command: BetsTaken | WindowFacts | DecisionTaken, at_us: int
    ) -> list[Planned]:
        """Plan a press half-way into the grace time at the latest, unless it is a window of silence."""
        if Quirk(window.stage.value) in self._quirks(current.number):
            return []
        what = f"{window.name}/{_named(command)}"
        request = f"{current.id}/{what}"
        press = Press("betting", self.name, current.number, command, request)
        self._sent[request] = press
        delay_us = self.crowd.delay_us(current.number, what, at_most_ms=window.grace_ms // 2)
        return [Planned(at_us + delay_us, press)]

    def _wake(self, current: _Round, window: str, who: str, from_us: int, duration_us: int) -> Planned:
        moment = self.crowd.moment(current.number, who, window, duration_us)
        return Planned(from_us + moment, Wake(f"{current.id}|{window}|{who}"))

    def _dealt_anew(self, current: _Round, deal: int) -> None:
        """The answers are void, and what was sent of them is not repeated; bets stand (OAB-24)."""
        current.bets.dealt_anew(deal)
        current.window = None
        self._sent.clear()

    def _end_round(self, current: _Round, *, cancelled: bool) -> None:
        void = {"cancelled": True} if cancelled else {}
        plain = current.bets.slips.plain()
        self._records[current.id] = {player: bets | void for player, bets in plain.items()}
        self._sent.clear()
        self._round = None


def _named(command: BetsTaken | WindowFacts | DecisionTaken) -> str:
    match command:
        case DecisionTaken(box=box):
            return box
        case WindowFacts(acknowledges=False):
            return "all_decided"
        case _:
            return "closed"
