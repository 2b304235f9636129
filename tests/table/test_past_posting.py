"""Past-posting: no bet is accepted after the first card, whatever lines, clocks and freezes do.

A consumer holds its lease as the contract says (`controller.bus.lease`), with a clock that is wrong by up to
half a second, an opening that arrives late and a close that arrives later or never; the dealer draws as early
as the table takes a card; the controller freezes now and then. TABLECTL_SOAK=1 makes a million bets.
"""

from __future__ import annotations

import heapq
import os
import random
from dataclasses import dataclass, field

import mini_table
import pytest
from mini_table import SETTINGS, MiniTable
from msgspec.structs import replace

from controller.bus.envelope import decode, event_of
from controller.bus.gap_keeper import STALE_US
from controller.bus.lease import Lease
from controller.games.procedure import BoxState
from controller.table import events
from controller.table.inputs import BetsTaken
from simulators.actor import Feed, Listener, Planned, Press

ROUNDS = 10_000 if os.environ.get("TABLECTL_SOAK") else 50
BETS_A_ROUND = 100
MS = 1_000
SECOND = 1_000_000
SKEW_US = 500 * MS
TAKEN = BetsTaken({"box1": BoxState.EMPTY, "box2": BoxState.OPEN, "box3": BoxState.EMPTY})


@dataclass
class Round:
    """When bets of a round were accepted, and when its first card was; true time."""

    accepted_us: list[int] = field(default_factory=list)
    card_us: int | None = None


class Consumer(Listener):
    """Takes bets at random moments by its own clocks, and by what has arrived."""

    name = "bets"
    feed = Feed.BETTING

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.frozen = (0, 0)
        self.rounds: list[Round] = []
        self._arrivals: list[tuple[int, int, events.Event]] = []
        self._lease = Lease()
        self._skew_us = 0
        self._bets: list[int] = []

    def heard(self, message: bytes, now_us: int) -> list[Planned]:
        event = event_of(decode(message))
        match event:
            case events.RoundOpened():
                self.rounds.append(Round())
                self._arrivals.clear()
            case events.BettingOpened():
                self._open(event, now_us)
            case events.BetsClosed():
                return self._close(event, now_us)
            case events.CardDealt() if self.rounds[-1].card_us is None:
                self.rounds[-1].card_us = now_us
                self._bet_until(now_us + 5 * SECOND)
            case _:
                pass
        return []

    def _open(self, event: events.BettingOpened, now_us: int) -> None:
        chance = self.chance
        self._lease = Lease()
        self._skew_us = chance.choice((-SKEW_US, SKEW_US, chance.randint(-SKEW_US, SKEW_US)))
        self._arrives(now_us + chance.randint(0, 2 * SECOND), event)
        span = (event.closes_at_us - 2 * SECOND, event.closes_at_us + 2 * SECOND)
        self._bets = sorted(chance.randint(*span) for _ in range(BETS_A_ROUND))
        freeze_us = now_us + chance.randint(0, event.duration_ms * MS)
        self.frozen = (freeze_us, freeze_us + chance.choice((0, 0, 1, 4, 20)) * SECOND)

    def _close(self, event: events.BetsClosed, now_us: int) -> list[Planned]:
        """It is lost, or arrives at once, or late; some consumers acknowledge the close when it arrives."""
        late_us = self.chance.choice((None, 0, self.chance.randint(0, 5 * SECOND)))
        if late_us is None:
            return []
        self._arrives(now_us + late_us, event)
        if self.chance.random() < 0.5:
            return []
        press = Press("betting", self.name, len(self.rounds), TAKEN, f"round {len(self.rounds)}")
        return [Planned(now_us + late_us + 1, press)]

    def _arrives(self, at_us: int, event: events.Event) -> None:
        heapq.heappush(self._arrivals, (at_us, len(self._arrivals), event))

    def _bet_until(self, end_us: int) -> None:
        """Make the bets of the round, in order of true time with what arrives."""
        for at_us in self._bets:
            while self._arrivals and self._arrivals[0][0] <= at_us:
                arrived_us, _, event = heapq.heappop(self._arrivals)
                self._lease.heard(event, **self._clocks(arrived_us))
            is_stale = at_us - self._last_alive_us(at_us) >= STALE_US
            if at_us < end_us and not is_stale and self._lease.is_open(**self._clocks(at_us)):
                self.rounds[-1].accepted_us.append(at_us)

    def _clocks(self, at_us: int) -> dict[str, int]:
        return {"wall_us": at_us + self._skew_us, "monotonic_us": at_us - mini_table.NOON}

    def _last_alive_us(self, at_us: int) -> int:
        frozen_us, thawed_us = self.frozen
        return at_us - at_us % SECOND if not frozen_us <= at_us < thawed_us else frozen_us


class FreezingTable(MiniTable):
    """A table whose process is frozen while the consumer says so; its clock goes on."""

    def __init__(self, consumer: Consumer, *, guard_ms: int) -> None:
        self._consumer = consumer
        grace_ms = min(SETTINGS.grace_ms, guard_ms)
        super().__init__([consumer], settings=replace(SETTINGS, guard_ms=guard_ms, grace_ms=grace_ms))

    def tick(self) -> int:
        frozen_us, thawed_us = self._consumer.frozen
        if frozen_us <= self.now < thawed_us:
            self.now = thawed_us
        return super().tick()


def played(guard_ms: int, rounds: int, monkeypatch: pytest.MonkeyPatch) -> Consumer:
    """Play rounds with a dealer who draws as soon as the table takes a card."""
    monkeypatch.setattr(mini_table, "PACE_US", 0)
    consumer = Consumer(random.Random(f"past-posting {guard_ms}"))
    table = FreezingTable(consumer, guard_ms=guard_ms)
    for number in range(1, rounds + 1):
        table.no_more_bets_at = None
        table.until("betting")
        if number % 3 == 0:
            table.no_more_bets_at = table.now + consumer.chance.randint(0, 14 * SECOND)
        table.run(lambda: consumer.rounds[-1].card_us is not None)
        table.no_more_bets_at = None
        table.until("shuffling")
        table.events.clear()
        for told in table.messages.values():
            told.clear()
    return consumer


def posted_late(consumer: Consumer) -> int:
    """Count the bets that were accepted when the first card of their round was out."""
    return sum(
        at_us >= each.card_us for each in consumer.rounds for at_us in each.accepted_us if each.card_us
    )


def test_no_bet_is_accepted_after_the_first_card(monkeypatch: pytest.MonkeyPatch) -> None:
    consumer = played(SETTINGS.guard_ms, ROUNDS, monkeypatch)
    accepted = sum(len(each.accepted_us) for each in consumer.rounds)
    print(f"{ROUNDS * BETS_A_ROUND} bets, {accepted} accepted")
    assert len(consumer.rounds) == ROUNDS and accepted > ROUNDS * BETS_A_ROUND // 10
    assert posted_late(consumer) == 0


def test_without_a_guard_bets_are_accepted_after_the_first_card(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check can fail: half a second of skew is enough when no guard stands after the close."""
    assert posted_late(played(0, 30, monkeypatch)) > 0
