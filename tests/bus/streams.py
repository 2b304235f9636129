"""Hand-written rounds of events, and an outbox in memory, for the tests of the bus."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

from controller.bus.envelope import Envelopes, Environment, Stamp
from controller.games.combinations import Kind
from controller.games.offers import HandOffer
from controller.games.procedure import Face
from controller.games.published import (
    BoxOutcome,
    DealerHand,
    HandOutcome,
    Outcome,
    Result,
    RowName,
    ShownCombination,
    Wager,
    WagerOutcome,
    for_public,
)
from controller.games.russian_live import EvaluatedHand
from controller.table import events as ev
from controller.table.events import AUDIENCES, Audience, BurnReason, Event, IncidentKind, OpenedCard

TABLE = "rp1"
RULES = "c0ffee"
Step = tuple[Sequence[Event], Stamp]
ANTE_WINS = {RowName.PLAIN: {Wager.ANTE: WagerOutcome(Result.WIN, ("RPL-50",), odds="1")}}
OUTCOME = Outcome(
    game="russian",
    prices={Wager.ANTE: "1"},
    dealer=DealerHand(("Kd",), qualified=False),
    boxes=(BoxOutcome("main", (HandOutcome("stay", ("As", "3c"), rows=ANTE_WINS),)),),
)
EVALUATED = EvaluatedHand(("As", "3c"), (ShownCombination(Kind.AK, ("As", "3c")),))
OFFER = HandOffer("stay", "1", purchase=True)


def stamp(at_us: int, phase: str, round_no: int | None = None, *, epoch: int = 1, rev: int = 1) -> Stamp:
    return Stamp(
        at_us=at_us,
        epoch=epoch,
        phase=phase,
        rules=RULES,
        roundid=f"{TABLE}-{round_no}" if round_no else None,
        rev=rev if round_no else None,
    )


def betting(round_no: int) -> list[Event]:
    opened = ev.RoundOpened(
        round_no=round_no, game="russian", boxes=("box1", "main"), rules=RULES, procedures=RULES
    )
    lease = ev.BettingOpened(
        window=f"w{round_no}", prompt="Place your bets", duration_ms=20_000, closes_at_us=round_no * 10**9,
        guard_ms=1_000, grace_ms=800,
    )  # fmt: skip
    return [ev.InputAccepted(request="q", actor="ann", role="dealer", command="open_betting"), opened, lease]


def dealing() -> list[list[Event]]:
    up = ev.CardDealt(place="main", n=1, face=Face.UP, deal=1, reading=1, card="As")
    down = ev.CardDealt(place="dealer", n=1, face=Face.DOWN, deal=1, reading=1, commitment="c1")
    switch = ev.CardDealt(place="switch", n=1, face=Face.DOWN, deal=1, reading=1, commitment="c2")
    shown = ev.CardShown(place="switch", n=1, reading=1, card="7d")
    wrong = ev.CardDealt(place="main", n=2, face=Face.UP, deal=1, reading=1, card="2c")
    incident = ev.IncidentOpened(
        incident=4, kind=IncidentKind.DISPUTED_READ, cell="9", place="main", n=2, prompt="Scan again"
    )
    withdrawn = ev.CardWithdrawn(place="main", n=2, reading=1, reason=IncidentKind.DISPUTED_READ)
    right = ev.CardDealt(place="main", n=2, face=Face.UP, deal=1, reading=2, card="3c")
    burned = ev.CardBurned(n=1, deal=1, reason=BurnReason.SURPLUS_CARD, commitment="c3")
    return [[up], [down], [switch, shown], [wrong], [incident, withdrawn], [right, burned], [
        ev.IncidentClosed(incident=4, kind=IncidentKind.DISPUTED_READ),
        ev.HandEvaluated(place="main", hand=EVALUATED),
    ]]  # fmt: skip


def options(round_no: int) -> list[list[Event]]:
    window = f"o{round_no}"
    opened = ev.DecisionOpened(
        window=window, stage="options", boxes=("main",), actions=("draw", "stand"),
        prices_in_antes={"draw": "1"}, opened_at_us=5, closes_at_us=9, duration_ms=4, guard_ms=1, grace_ms=1,
    )  # fmt: skip
    offered = ev.HandsOffered(window=window, hands=(OFFER,))
    closed = ev.DecisionClosed(window=window, stage="options", at_us=9, ended_by="time")
    return [[opened, offered], [closed], [
        ev.CardLaidAside(place="dealer", n=1),
        ev.CardsRevealed(place="dealer", cards=(OpenedCard("dealer", 1, 1, 1, "Kd", "key1"),)),
    ]]  # fmt: skip


def normal_round(round_no: int, *, epoch: int = 1) -> Iterator[Step]:
    """Yield the steps of one round that is confirmed."""
    at = round_no * 10**9
    confirmed = ev.RoundConfirmed(
        rev=1, outcome=OUTCOME,
        opened=(OpenedCard("switch", 1, 1, 1, "7d", "key2"), OpenedCard("burn", 1, 1, 1, "9h", "key3")),
    )  # fmt: skip
    steps: list[tuple[Sequence[Event], str]] = [
        (betting(round_no), "betting"),
        ([ev.BetsClosed(window=f"w{round_no}", prompt="No more bets", at_us=at, ended_by="time")], "dealing"),
        *[(step, "dealing") for step in dealing()],
        *[(step, "deciding") for step in options(round_no)],
        ([ev.ResultProposed(outcome=for_public(OUTCOME))], "result_proposed"),
        ([confirmed, ev.RoundClosed(rev=1)], "confirmed"),
    ]
    for index, (events, phase) in enumerate(steps):
        yield events, stamp(at + index, phase, round_no, epoch=epoch)
    yield [ev.DeckShuffled()], stamp(at + len(steps), "shuffling", epoch=epoch)


def cancelled_round(round_no: int) -> Iterator[Step]:
    """Yield the steps of one round that an incident stops while bets are open."""
    at = round_no * 10**9
    incident = ev.IncidentOpened(
        incident=9, kind=IncidentKind.EARLY_DRAW, cell="7", prompt="Round void", stops_betting=True
    )
    yield betting(round_no), stamp(at, "betting", round_no)
    yield [incident], stamp(at + 1, "betting", round_no)
    ended: list[Event] = [
        ev.BetsClosed(window=f"w{round_no}", prompt="No more bets", at_us=at, ended_by="cancel"),
        ev.RoundCancelled(rev=1, reason="TECHNICAL", incident=9),
        ev.RoundClosed(rev=1),
        ev.IncidentClosed(incident=9, kind=IncidentKind.EARLY_DRAW),
    ]
    yield ended, stamp(at + 2, "cancelled", round_no)


class MemoryOutbox:
    """An outbox in memory; `kept_from` is the oldest number kept."""

    def __init__(self) -> None:
        self.rows: dict[Audience, list[bytes]] = {audience: [] for audience in AUDIENCES}
        self.kept_from = 1

    def add(self, messages: dict[Audience, tuple[bytes, ...]]) -> None:
        for audience, built in messages.items():
            self.rows[audience].extend(built)

    def messages(self, audience: Audience, first_seq: int, limit: int) -> list[tuple[int, bytes]]:
        assert first_seq >= self.kept_from, "never asked for what is not kept"
        return list(enumerate(self.rows[audience][first_seq - 1 : first_seq - 1 + limit], first_seq))

    def first_seq(self, audience: Audience) -> int:
        return self.kept_from

    def last_seq(self, audience: Audience) -> int:
        return len(self.rows[audience])


def envelopes() -> Envelopes:
    return Envelopes(table=TABLE, environment=Environment.SIMULATED)


def filled(rounds: int, *, source: Envelopes | None = None) -> MemoryOutbox:
    """Return an outbox with `rounds` normal rounds and a cancelled one at the end."""
    builder = source or envelopes()
    outbox = MemoryOutbox()
    for round_no in range(1, rounds + 1):
        for events, at in normal_round(round_no):
            outbox.add(builder.build(events, at))
    for events, at in cancelled_round(rounds + 1):
        outbox.add(builder.build(events, at))
    return outbox


def check_chain(messages: Sequence[bytes]) -> None:
    """Assert numbers from 1 without a gap and a chain from 64 zeros, with no code of the product."""
    previous = "0" * 64
    for seq, raw in enumerate(messages, 1):
        message: dict[str, Any] = json.loads(raw)
        assert message["seq"] == seq
        assert message["prevhash"] == previous
        previous = hashlib.sha256(raw).hexdigest()
