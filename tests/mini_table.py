"""One table inside the test: its dealer, its clock, and actors of the studio who hear its messages."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Sequence
from typing import Any

from profiles import profile
from rules.live_rules import live_rules

from controller.bus.envelope import Envelopes, Environment, Stamp
from controller.cards import DECK, Card, Scheme, code_map
from controller.games.procedure import BoxState, Game
from controller.games.rules import Rules
from controller.games.russian_live import RussianLive
from controller.table import inputs as i
from controller.table.events import AUDIENCES, Audience, Event, InputRefused
from controller.table.picture import Prompt, draw
from controller.table.settings import TableSettings
from controller.table.table import Table
from simulators.actor import Actor, Planned, Press, Wake

NOON = 1_700_000_000_000_000
PACE_US = 700_000
PEOPLE = {"anna": i.Role.DEALER, "boris": i.Role.SUPERVISOR, "bets": i.Role.BETTING}
SETTINGS = TableSettings(
    table="rp1",
    betting_ms=15_000,
    windows_ms={"options": 15_000, "final_options": 10_000, "buy_time": 10_000},
    grace_ms=500,
    guard_ms=1_000,
    boxes_not_told={"box1": BoxState.DARK, "box2": BoxState.OPEN, "box3": BoxState.DARK},
    scanners=("shoe",),
    profile=profile("default"),
)
PRESSES: dict[str, i.AnyCommand] = {
    "OPEN_TABLE": i.OpenTable(),
    "VERIFY_DECK": i.VerifyDeck(52),
    "SHUFFLE": i.ConfirmShuffle(),
    "START": i.OpenBetting(),
    "LAY_ASIDE": i.LayCardAside(),
    "CONFIRM_RESULT": i.ConfirmResult(),
    "CLEAR_TABLE": i.ClearTable(),
}


class MiniTable:
    """A table, its dealer and its actors. Everything that was sent is in `messages`, by audience."""

    def __init__(
        self,
        actors: Sequence[Actor],
        *,
        seed: int = 1,
        rules: Rules | None = None,
        game: Game | None = None,
        settings: TableSettings = SETTINGS,
    ) -> None:
        self.codes = code_map("blue", Scheme.SUIT_DIGIT_RANK)
        self.game = game or RussianLive(rules or live_rules())
        self.table = Table(settings, self.game, self.codes)
        self.actors = actors
        self.now = NOON
        self.seed = seed
        self.epoch = 1
        self.deck: list[Card] = []
        self.messages: dict[Audience, list[bytes]] = {audience: [] for audience in AUDIENCES}
        self.events: list[Event] = []
        self.pressed: list[tuple[int, Press]] = []
        self.cards: dict[str, dict[str, Any]] = {}
        self.no_more_bets_at: int | None = None
        """When the dealer ends betting time by hand."""
        self._envelopes = Envelopes(table="rp1", environment=Environment.SIMULATED)
        self.plans: list[tuple[int, int, Actor, Planned]] = []
        self._count = 0
        self.step(i.Started(at=self.tick(), epoch=1, program="p", rules="r", documents=()))
        self.step(i.ScannerOpened(at=self.tick(), scanner="shoe"))
        for person in ("anna", "boris"):
            self.command(i.LogIn(PEOPLE[person], person, i.Proof.PIN), person)

    def step(self, value: i.AnyInput) -> tuple[Event, ...]:
        events = self.table.step(value)
        self.events.extend(events)
        if any(type(event).__name__ == "RoundOpened" for event in events):
            self.deck = list(DECK)
            random.Random(f"{self.seed}/{self.table.state.round_no}").shuffle(self.deck)
        state = self.table.state
        roundid = self.table.roundid
        stamp = Stamp(
            at_us=self.now,
            epoch=self.epoch,
            phase=state.phase,
            rules="r",
            roundid=roundid,
            rev=1 if roundid else None,
        )
        built = self._envelopes.build(events, stamp)
        for audience, messages in built.items():
            self.messages[audience].extend(messages)
            for actor in self.actors:
                if actor.feed.value == audience.value:
                    for message in messages:
                        self._plan(actor, actor.heard(message, self.now))
        if roundid is not None:
            self.cards[roundid] = self._lying()
        return events

    def command(self, command: i.AnyCommand, actor: str = "anna", request: str = "") -> tuple[Event, ...]:
        self._count += 1
        return self.step(
            i.Commanded(
                at=self.tick(),
                request=request or f"d{self._count}",
                actor=actor,
                role=PEOPLE[actor],
                round_no=self.table.state.round_no,
                command=command,
            )
        )

    def scan(self, card: Card | None = None) -> tuple[Event, ...]:
        """Read a card; the next of the shoe, unless one is named."""
        self._count += 1
        code = self.codes.code(card or self.deck.pop())
        key = f"{self._count:064x}"
        return self.step(i.CardRead(at=self.tick(), scanner="shoe", code=code, device_seq=None, key=key))

    def run(self, until: Callable[[], bool]) -> None:
        """Let everybody act in order of time until something holds."""
        for _ in range(20_000):
            if until():
                return
            self._next()
        raise AssertionError(f"stuck: {draw(self.table.state)}")

    def play(self, rounds: int) -> None:
        """Play until so many rounds more are over and their cards collected."""
        last = self.table.state.round_no + rounds
        self.run(lambda: self.table.state.round_no == last and self.table.state.phase == "shuffling")

    def until(self, phase: str, prompt: str | None = None) -> None:
        """Run to a phase, and to a prompt inside it."""
        state = self.table.state
        self.run(lambda: state.phase == phase and (prompt is None or draw(state).prompt.code == prompt))

    def _next(self) -> None:
        dealer = self._dealers_plan(draw(self.table.state).prompt)
        timers = [(deadline.due, 0, name) for name, deadline in self.table.deadlines.items()]
        due = [*timers, *([(dealer[0], 2, "")] if dealer else [])]
        if self.plans and (not due or self.plans[0][0] <= min(due)[0]):
            at, _, actor, planned = heapq.heappop(self.plans)
            self.now = max(self.now, at)
            self._act(actor, planned)
            return
        at, _, timer = min(due)
        self.now = max(self.now, at)
        if timer:
            number = self.table.deadlines[timer].number
            self.step(i.TimerExpired(at=self.tick(), name=timer, number=number))
        elif dealer:
            dealer[1]()

    def _act(self, actor: Actor, planned: Planned) -> None:
        match planned.act:
            case Wake(note=note):
                self._plan(actor, actor.woken(note, self.now))
            case Press(command=command, request=request) as press:
                self.pressed.append((self.now, press))
                told = self.command(command, press.actor, request or "")
                refused = [event.reason for event in told if isinstance(event, InputRefused)]
                refusal = refused[0] if refused else None
                self._plan(actor, actor.answered(press, refusal is None, refusal, self.now))
            case _:
                raise AssertionError(planned)

    def _plan(self, actor: Actor, plans: list[Planned]) -> None:
        for planned in plans:
            self._count += 1
            heapq.heappush(self.plans, (planned.at_us, self._count, actor, planned))

    def _dealers_plan(self, prompt: Prompt) -> tuple[int, Callable[[], object]] | None:
        at = self.now + PACE_US
        match prompt.code:
            case "DEAL_CARD":
                return max(at, (prompt.not_before_us or 0) + 1), self.scan
            case "TURN":
                place = prompt.place or ""
                return at, lambda: self.command(i.TurnCards(place))
            case "LOAD_DECK":
                return at, lambda: self.command(i.LoadDeck("blue", "R-1"))
            case "ACCEPT_DECK":
                return at, lambda: self.command(i.LoadDeck("blue", "R-1"), "boris")
            case "COUNT_STUB":
                return at, lambda: self.command(i.CountStub(self.table.state.register.left_count))
            case "PLACE_BETS" if self.no_more_bets_at is not None:
                return self.no_more_bets_at, lambda: self.command(i.CloseBetting())
            case code if code in PRESSES:
                return at, lambda: self.command(PRESSES[code])
            case _:
                return None

    def tick(self) -> int:
        self.now += 1
        return self.now

    def _lying(self) -> dict[str, Any]:
        """Return the cards as the oracle takes them: what comes after the fifth was drawn."""
        current = self.table.state.in_play
        places = {
            place: [str(laid.card) for laid in current.at_place(place)]
            for place in (*self.game.boxes, "dealer", "switch")
        }
        drawn = {f"{box}_drawn": places[box][5:] for box in self.game.boxes}
        dealt = {place: cards if place == "switch" else cards[:5] for place, cards in places.items()}
        return {**drawn, **dealt, "replacement": places["dealer"][5] if len(places["dealer"]) > 5 else None}
