"""A playbook for the table core: a stacked shoe, two people, a betting system, and a clock that we own.

Everything is deterministic: keys come from a counter, cards from the stacked shoe, time from the calls.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from profiles import profile

from controller.cards import DECK, Card, Scheme, code_map, parse_cards
from controller.games.procedure import BoxState, Game
from controller.games.rules import Rules, load_rules
from controller.games.russian_live import RussianLive
from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import (
    Event,
    IncidentKind,
    InputRefused,
    Refusal,
    RoundCancelled,
    RoundClosed,
    RoundOpened,
)
from controller.table.inputs import Role
from controller.table.past_rounds import PastRound, past_round
from controller.table.picture import draw
from controller.table.settings import TableSettings
from controller.table.state import RequestAnswer
from controller.table.table import Table

E = TypeVar("E", bound=Event)

RULES_FILE = Path(__file__).parents[2] / "config" / "games" / "russian_poker_live.toml"
BLUE = code_map("blue", Scheme.SUIT_DIGIT_RANK)
RED = code_map("red", Scheme.LETTER_NUMBER)
SHOE = "shoe"
ANNA, BORIS, CLARA, DORA, BETS = "anna", "boris", "clara", "dora", "bets"
IN_PLAY = {"box1": BoxState.DARK, "box2": BoxState.OPEN, "box3": BoxState.DARK}
SETTINGS = TableSettings(
    table="rp1",
    betting_ms=15_000,
    windows_ms={"options": 15_000, "final_options": 10_000, "buy_time": 10_000},
    grace_ms=500,
    guard_ms=1_000,
    boxes_not_told=IN_PLAY,
    scanners=(SHOE,),
    profile=profile("russian_poker_live"),
)
STAFF = {ANNA: Role.DEALER, BORIS: Role.SUPERVISOR, CLARA: Role.SUPERVISOR}
ROLES = {**STAFF, DORA: Role.DEALER, BETS: Role.BETTING}
"""Dora is a dealer who comes later."""
MILLISECOND = 1_000
NOON = 1_800_000_000_000_000

PLACES = ("box1", "box2", "box3", "dealer")
HANDS = {
    # Box 1 a pair, main box Ace-King, box 3 nothing.
    "box1": "2c 2d 7h 9s Jc",
    "box2": "As Kd 8c 5d 3h",
    "box3": "4c 6d 8h Ts Qc",
    "switch": "4d 6h 9c Jd 5c",
}
PLAYS = {**HANDS, "dealer": "Ah Kc 9d 7s 3c"}
"""The dealer qualifies with Ace-King: no buy time."""
FAILS = {**HANDS, "dealer": "Kh Qd 9d 7s 3c"}
"""The dealer does not qualify: the purchase is offered, and the king would be replaced."""
DRAWN = "Th"
"""The dealer's replacement after `FAILS`."""


def live_rules(**changed: Any) -> Rules:
    """Return the shipped settings, changed at the top level."""
    return load_rules({**tomllib.loads(RULES_FILE.read_text()), **changed})


def stacked(hands: Mapping[str, str], *, switch: bool = True) -> list[Card]:
    """Return the shoe, first card first, in which `hands` lie in dealing order and the rest follows."""
    laid = {place: parse_cards(text) for place, text in hands.items()}
    first = [laid[place][turn] for turn in range(5) for place in PLACES]
    later = [*(laid["switch"] if switch else ()), Card.parse(DRAWN)]
    used = [*first, *later]
    assert len(set(used)) == len(used)
    return [*used, *(card for card in DECK if card not in used)]


class Dealt:
    """A table being played. `events` and `inputs` are all so far."""

    def __init__(
        self,
        hands: Mapping[str, str] = PLAYS,
        *,
        settings: TableSettings = SETTINGS,
        rules: Rules | None = None,
        table: type[Table] = Table,
        game: Game | None = None,
        staffed: bool = True,
    ) -> None:
        self.staffed = staffed
        self.game = game or RussianLive(rules if rules is not None else live_rules())
        self.settings = settings
        self.table = table(settings, self.game, BLUE, (RED,))
        self.hands = hands
        self.shoe = stacked(hands) if game is None else []
        self.now = NOON
        self.keys = 0
        self.requests = 0
        self.inputs: list[i.AnyInput] = []
        self.events: list[Event] = []
        self.steps: list[tuple[Event, ...]] = []

    # Inputs.

    def feed(self, value: i.AnyInput) -> tuple[Event, ...]:
        """Step the table with a finished input."""
        self.now = value.at
        self.inputs.append(value)
        events = self.table.step(value)
        self.events.extend(events)
        self.steps.append(events)
        return events

    def _tick(self) -> int:
        """Every input comes a millisecond after the one before."""
        return self.now + MILLISECOND

    def start(self, *, program: str = "1.0", rules: str = "rules", **found: Any) -> tuple[Event, ...]:
        """The process starts (again), the first time everybody logs in; `found` is the rest of `Started`."""
        epoch = self.table.state.epoch + 1
        at = self._tick()
        events = self.feed(i.Started(at=at, epoch=epoch, program=program, rules=rules, documents=(), **found))
        if epoch == 1 and self.staffed:
            for actor in STAFF:
                self.log_in(actor)
        return events

    def log_in(self, actor: str, role: Role | None = None, *, right: bool = True) -> tuple[Event, ...]:
        """Somebody logs in; the station has found PIN or badge right or wrong."""
        wanted = role or ROLES[actor]
        proof = i.Proof.PIN if right else None
        return self.press(i.LogIn(wanted, actor.capitalize(), proof), actor, role=wanted)

    def press(
        self,
        command: i.AnyCommand,
        actor: str = ANNA,
        *,
        round_no: int | None = None,
        request: str | None = None,
        role: Role | None = None,
    ) -> tuple[Event, ...]:
        """Send a command as `actor`, by default the dealer; the table gets what a station adds to it."""
        self.requests += 1
        entered = isinstance(command, i.EnterCard)
        corrects = isinstance(command, i.ProposeCorrection | i.ApproveCorrection)
        return self.feed(
            i.Commanded(
                at=self._tick(),
                request=request or f"r{self.requests}",
                actor=actor,
                role=role or ROLES[actor],
                round_no=self.table.state.round_no if round_no is None else round_no,
                command=command,
                key=self._new_key() if entered else None,
                past=self.past(command.roundid) if corrects else None,
            )
        )

    def past(self, roundid: str) -> PastRound | None:
        """Return a round that has ended as its events tell it."""
        told: list[Event] = []
        for event in self.events:
            if isinstance(event, RoundOpened):
                if told:
                    break
                told = [event] if f"{self.settings.table}-{event.round_no}" == roundid else []
            elif told:
                told.append(event)
        return past_round(roundid, told)

    def answer_of(self, request: str) -> RequestAnswer | None:
        """Return the stored answer to the first command that was sent under this id."""
        for value in self.inputs:
            if isinstance(value, i.Commanded) and value.request == request:
                return self.table.answer_to(value)
        return None

    def scan(self, card: str | None = None, *, code: str | None = None) -> tuple[Event, ...]:
        """Scan the next card of the shoe, or the one named."""
        if code is None:
            code = BLUE.code(Card.parse(card) if card is not None else self.shoe.pop(0))
        key = self._new_key()
        return self.feed(i.CardRead(at=self._tick(), scanner=SHOE, code=code, device_seq=None, key=key))

    def _new_key(self) -> str:
        self.keys += 1
        return sha256(f"key {self.keys}".encode()).hexdigest()

    def fail(self) -> tuple[Event, ...]:
        """The scanner saw a card and could not read it."""
        return self.feed(i.ReadFailed(at=self._tick(), scanner=SHOE, cause="checksum"))

    def unplug(self) -> tuple[Event, ...]:
        """The scanner is gone."""
        return self.feed(i.ScannerLost(at=self._tick(), scanner=SHOE, reason="unplugged"))

    def plug(self, device: str | None = None) -> tuple[Event, ...]:
        """The scanner is there (again)."""
        return self.feed(i.ScannerOpened(at=self._tick(), scanner=SHOE, device=device))

    def confirm_picture(self, actor: str = ANNA) -> tuple[Event, ...]:
        """The table lies as the picture of now shows it."""
        return self.press(i.ConfirmPicture(draw(self.table.state).lies or "none"), actor)

    def advance(self, ms: int) -> tuple[Event, ...]:
        """Let time pass; deadlines fire in order, each at its time."""
        until = self.now + ms * MILLISECOND
        events: list[Event] = []
        while due := sorted((d.due, name, d.number) for name, d in self.table.deadlines.items()):
            at, name, number = due[0]
            if at > until:
                break
            events += self.feed(i.TimerExpired(at=max(at, self.now + 1), name=name, number=number))
        self.now = max(until, self.now)
        return tuple(events)

    def bets(self, **states: BoxState) -> tuple[Event, ...]:
        """The betting system answers `bets.closed`."""
        return self.press(i.BetsTaken({**IN_PLAY, **states}), BETS)

    def facts(self, window: str, **told: bool) -> tuple[Event, ...]:
        """The betting system tells facts of a window."""
        return self.press(i.WindowFacts(window, **told), BETS)

    def all_decided(self, window: str, **told: bool) -> tuple[Event, ...]:
        """Nobody is undecided; the betting system closes the window too and tells its facts."""
        return self.facts(window, undecided=False) + self.facts(window, acknowledges=True, **told)

    def answer(self, yes: bool, actor: str = ANNA) -> tuple[Event, ...]:
        """Answer the question of the newest incident."""
        incident = self.table.state.incident
        return self.press(i.AnswerQuestion(incident.number if incident else 0, yes), actor)

    # Whole phases; each starts where the one before ends.

    def to_ready(self) -> Dealt:
        """Start, open, load, verify, shuffle."""
        self.start()
        self.plug()
        self.press(i.OpenTable())
        self.load()
        self.press(i.VerifyDeck(52))
        self.press(i.ConfirmShuffle())
        return self

    def reopen(self) -> Dealt:
        """Open the table on another day: everybody logs in again."""
        for actor in (ANNA, BORIS, CLARA):
            self.log_in(actor)
        self.press(i.OpenTable())
        return self

    def load(self, deck: str = "blue") -> Dealt:
        """Two people accept a deck by its receipt."""
        for actor in (ANNA, BORIS):
            self.press(i.LoadDeck(deck, "R-1"), actor)
        return self

    def to_betting(self) -> Dealt:
        """A round is open, bets are taken."""
        self.to_ready()
        self.press(i.OpenBetting())
        return self

    def to_dealing(self, **states: BoxState) -> Dealt:
        """Bets are closed and acknowledged; card 1 is owed."""
        self.to_betting()
        self.press(i.CloseBetting())
        self.bets(**states)
        return self

    def deal(self, count: int) -> Dealt:
        """Scan the next `count` cards of the shoe; each must be taken."""
        for _ in range(count):
            events = self.scan()
            assert any(event.__class__.__name__ == "CardDealt" for event in events), events
        return self

    def to_options(self) -> Dealt:
        """Twenty cards lie, options time runs."""
        return self.to_dealing().deal(20)

    def to_switch(self) -> Dealt:
        """Options time is over; switch card 1 is owed."""
        self.to_options()
        self.all_decided("options")
        return self

    def to_final_options(self) -> Dealt:
        """Five switch cards lie, final options time runs."""
        return self.to_switch().deal(5)

    def to_turns(self) -> Dealt:
        """The players have decided; the switch cards are to be turned."""
        self.to_final_options()
        self.all_decided("final_options")
        return self

    def turn(self, *places: str) -> Dealt:
        """Turn these places, by default all that are left to turn."""
        for place in places or ("switch", "box1", "box3", "dealer"):
            self.press(i.TurnCards(place))
        return self

    def to_buy_time(self) -> Dealt:
        """All is open and the purchase is offered (with the hands `FAILS`)."""
        self.to_turns().turn()
        assert self.phase is Phase.DECIDING
        return self

    def to_result(self) -> Dealt:
        """The result is proposed; with `FAILS` somebody has bought and the replacement lies."""
        self.to_turns().turn()
        if self.phase is Phase.DECIDING:
            self.all_decided("buy_time")
            self.press(i.LayCardAside())
            self.deal(1)
        return self

    def to_confirmed(self) -> Dealt:
        """The result is confirmed, the cards still lie."""
        self.to_result()
        self.press(i.ConfirmResult())
        return self

    def to_cancelled(self, kind: IncidentKind = IncidentKind.DEVICE_FAILED) -> Dealt:
        """The round was cancelled in the deal."""
        self.to_dealing().deal(3)
        self.press(i.Observed(kind))
        self.press(i.ConfirmCancel(), BORIS)
        return self

    # What can be seen.

    @property
    def phase(self) -> Phase:
        """The phase of the round."""
        return self.table.state.phase

    @property
    def last(self) -> tuple[Event, ...]:
        """The events of the last input."""
        return self.steps[-1]


def only(events: Iterable[Event], kind: type[E]) -> E:
    """Return the one event of this kind. Fails when there is none or more than one."""
    found = [event for event in events if isinstance(event, kind)]
    assert len(found) == 1, f"{len(found)} {kind.__name__} in {list(events)}"
    return found[0]


def every(events: Iterable[Event], kind: type[E]) -> list[E]:
    """Return all events of this kind."""
    return [event for event in events if isinstance(event, kind)]


def refusal(events: Iterable[Event]) -> Refusal | None:
    """Return why the input was refused, None if it was taken."""
    refused = every(events, InputRefused)
    return refused[0].reason if refused else None


IN_A_ROUND: dict[str, Callable[[Dealt], Dealt]] = {
    "betting": Dealt.to_betting,
    "dealing": lambda d: d.to_dealing().deal(7),
    "options": Dealt.to_options,
    "switch": lambda d: d.to_switch().deal(2),
    "final_options": Dealt.to_final_options,
    "turns": lambda d: d.to_turns().turn("switch"),
    "buy_time": Dealt.to_buy_time,
    "result": Dealt.to_result,
}
"""How to reach every stage of a round, with the hands `FAILS`."""


def cancelled(d: Dealt, reason: i.CancelReason) -> RoundCancelled:
    """Check that the last input has cancelled the round, for this reason and completely."""
    found = only(d.last, RoundCancelled)
    assert (found.reason, found.refund, found.rev) == (reason, "all", 1)
    assert only(d.last, RoundClosed).rev == 1
    assert d.phase is Phase.CANCELLED and not d.table.deadlines and not d.table.state.incidents
    return found


def digest(table: Table) -> bytes:
    """Return everything a table knows, except what a refused input may change.

    That is clock, requests, events, and what is remembered of reads that a hold keeps back.
    """
    t = table.state
    r = t.round
    return msgspec.json.encode(
        {
            "phase": t.phase,
            "counters": [t.epoch, t.program, t.rules, t.round_no, t.incidents_count, t.timers_count],
            "suspect": t.deck_suspect,
            "corrections": [repr(t.corrections), repr(t.proposal)],
            "shoe": repr(t.shoe),
            "incidents": [[repr(_slots(x)), x.state] for x in t.incidents],
            "deadlines": repr(sorted(t.deadlines.items())),
            "scanners": [sorted(t.scanners_up), t.devices, t.strange_devices],
            "guards": [sorted(t.quarantined), t.disk_free_mb],
            "duty": repr(msgspec.structs.replace(t.duty, failures={})),
            "halts": repr(t.halts),
            "register": repr(t.register.__dict__["_out"]),
            "round": None if r is None else repr(_slots(r, "run", "unplaced_reads")),
            "run": None
            if r is None
            else [repr(r.run.facts), repr(r.run.asked), repr(r.run.owed), repr(r.run.outcome)],
        }
    )


def _slots(record: Any, *but: str) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__slots__ if name not in but}
