"""A whole simulated studio around one table: who is there, and what became of every round."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from controller.bus.envelope import decode, event_of
from controller.games.baccarat import Baccarat
from controller.games.procedure import BoxState
from controller.games.russian_live import RussianLive
from controller.games.sister_game import SisterGame
from controller.station.config import StationConfig
from controller.table.events import (
    IncidentClosed,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    RoundCancelled,
    RoundConfirmed,
    RoundCorrected,
    Verdict,
)
from drivers import angel_eye
from simulators.acknowledging import is_registered
from simulators.actor import Actor, Feed, Listener, Planned
from simulators.angel_eye_dealer import AngelEyeDealer
from simulators.betting import BettingSystem, Quirk
from simulators.cast import DEALER, SECOND_SUPERVISOR, SUPERVISOR, hire
from simulators.dealer import Dealer
from simulators.faults.catalogue import BETWEEN_ROUNDS, Case, Plan
from simulators.faults.hands import Hardware
from simulators.onlookers import Onlookers
from simulators.overlay import Overlay
from simulators.reviewer import Reviewer, Video
from simulators.rough_line import Consumer, OverlayEnd, RoughLine, WalletEnd
from simulators.shoe import Shoe, shuffled
from simulators.shoe_dealer import ShoeDealer
from simulators.supervisor import Supervisor
from simulators.wallet import Wallet

PLAYERS = 12
OPENING_BALANCE = 10_000_000
"""What each player brings, in minor units."""


CORRECTED = (IncidentKind.WRONG_RESULT, Verdict.CORRECTED)


class RoundRecord(msgspec.Struct):
    """What became of a round, as the audit feed tells it.

    `terminals` are confirmed or cancelled; `corrections` say of each later revision whether it has refunded
    all.
    """

    roundid: str
    terminals: list[str] = []
    corrections: list[bool] = []
    reason: str | None = None
    outcome: bytes = b""
    incidents: list[tuple[IncidentKind, Verdict]] = []
    opened_count: int = 0
    closed_count: int = 0


class Line(StrEnum):
    """What wallet and overlay hear the table over."""

    GOOD = "good"
    ROUGH = "rough"
    """Frames are lost, doubled, late and out of order (`rough_line`)."""


class Auditor(Listener):
    """Listens to the audit feed and keeps a record of every round."""

    feed = Feed.AUDIT

    def __init__(self) -> None:
        self.name = "auditor"
        self.rounds: dict[str, RoundRecord] = {}
        self._kinds: dict[int, IncidentKind] = {}

    def heard(self, message: bytes, now_us: int) -> list[Planned]:
        """Note rounds and incidents. What happens before START belongs to the round that follows."""
        envelope = decode(message)
        record = self._record(envelope.roundid or "between")
        match event_of(envelope):
            case IncidentOpened(incident=number, kind=kind):
                self._kinds[number] = kind
                record.opened_count += 1
            case IncidentDecided(incident=number, verdict=verdict):
                record.incidents.append((self._kinds[number], verdict))
            case IncidentClosed():
                record.closed_count += 1
            case RoundConfirmed(outcome=outcome):
                record.terminals.append("confirmed")
                record.outcome = msgspec.json.encode(outcome, order="deterministic")
            case RoundCancelled(reason=reason):
                record.terminals.append("cancelled")
                record.reason = reason
            case RoundCorrected(refund=refund):
                record.corrections.append(refund is not None)
            case _:
                pass
        return []

    def _record(self, roundid: str) -> RoundRecord:
        if roundid not in self.rounds:
            self.rounds[roundid] = RoundRecord(roundid)
        return self.rounds[roundid]


class Studio:
    """The actors of one table; `rounds` are played with the faults of `plan`."""

    def __init__(
        self,
        config: StationConfig,
        *,
        seed: int,
        rounds: int,
        plan: Plan,
        players: int = PLAYERS,
        shoe: Shoe = shuffled,
        books: Path | None = None,
        line: Line = Line.GOOD,
    ) -> None:
        game = config.game
        assert isinstance(game, RussianLive | SisterGame | Baccarat), game
        hire(config)
        self.plan = plan
        self.journal_folder = config.table_dir
        self.dealer = dealer_of(config, seed=seed, rounds=rounds, plan=plan, shoe=shoe)
        self._call_supervisors(config)
        self.wallet = Wallet(
            books,
            table=config.settings.table,
            environment=config.environment,
            acknowledges=is_registered(config, "wallet"),
        )
        self.betting = BettingSystem(
            self.wallet,
            game.rules,
            seed=seed,
            players=players,
            quirks=self._quirks,
            dark=dark_boxes(config),
            acknowledges=is_registered(config, "bets"),
        )
        for player in self.betting.crowd.players:
            self.wallet.deposit(player, OPENING_BALANCE, f"opening/{player}")
        self.overlay = Overlay(table=config.settings.table)
        self.auditor = Auditor()
        self.lines = rough_lines(config, self.wallet, self.overlay, seed=seed) if line is Line.ROUGH else ()

    def _call_supervisors(self, config: StationConfig) -> None:
        """One is at the table; two look at wrong results afterwards."""
        self.order_run = config.settings.limits.order_run
        """So many cards in an order make an alarm."""
        self.supervisor = Supervisor(
            SUPERVISOR,
            deck=config.deck.name,
            sees=self.dealer.shows,
            counts=self.dealer.stub_count,
            whole=self.dealer.whole_count,
        )
        self.video = Video(config.settings.table, self.dealer)
        self.reviewers = (
            Reviewer(SUPERVISOR, self.video, is_first=True),
            Reviewer(SECOND_SUPERVISOR, self.video, is_first=False),
        )

    @property
    def actors(self) -> tuple[Actor, ...]:
        """Everybody, in the order in which they act at the same instant."""
        return (
            self.betting,
            *(self.lines or (self.wallet, self.overlay)),
            self.auditor,
            self.dealer,
            self.supervisor,
            *self.reviewers,
        )

    def heal(self) -> None:
        """Let rough lines heal, so that everybody has heard everything."""
        for line in self.lines:
            line.heal()

    def _quirks(self, round_no: int) -> frozenset[Quirk]:
        case = self.plan.of(round_no)
        return frozenset(Quirk) if case is not None and case.fault.id == "betting-silent" else frozenset()

    def committed(self) -> dict[str, Case]:
        """Return the faults that were committed, by round id."""
        table = self.overlay.snapshot.table
        return {f"{table}-{number}": case for number, case in sorted(self.dealer.committed.items())}


def rough_lines(
    config: StationConfig, wallet: Wallet, overlay: Overlay, *, seed: int
) -> tuple[RoughLine, ...]:
    """Put wallet and overlay at the ends of rough lines."""
    table, environment = config.settings.table, config.environment
    ends: tuple[tuple[Feed, Consumer], ...] = (
        (Feed.SETTLEMENT, WalletEnd(wallet)),
        (Feed.PUBLIC, OverlayEnd(overlay)),
    )
    return tuple(
        RoughLine(end, feed=feed, table=table, environment=environment, seed=seed) for feed, end in ends
    )


def dealer_of(config: StationConfig, *, seed: int, rounds: int, plan: Plan, shoe: Shoe) -> Dealer:
    """Return who deals at this table, with its scanner and what is printed on its cards."""
    deck, scanner = config.deck, dealing_scanner(config)
    foreign = config.other_decks[0] if config.other_decks else deck
    given: dict[str, Any] = {
        "seed": seed,
        "plan": plan,
        "rounds": rounds,
        "scanner": scanner,
        "onlookers": Onlookers(seed, config.settings.second_readers),
        "hardware": Hardware(deck.name, deck.code, foreign.code, deck.card, deck.cutting_card),
    }
    if config.game.shoe is None:
        return Dealer(DEALER, shoe=shoe, **given)
    judges = config.scanners[scanner].family == angel_eye.FAMILY
    return (AngelEyeDealer if judges else ShoeDealer)(DEALER, plan_of_shoe=config.game.shoe, **given)


def dealing_scanner(config: StationConfig) -> str:
    """Return the name of the scanner that deals."""
    return next(name for name in config.scanners if name not in config.settings.second_readers)


def dark_boxes(config: StationConfig) -> frozenset[str]:
    """Return the boxes that take no decisions at this table; in most sister games every box does."""
    game = config.game
    if isinstance(game, SisterGame) and not game.has_dark_boxes:
        return frozenset()
    states = config.settings.boxes_not_told
    return frozenset(box for box in game.boxes if states[box] is BoxState.DARK)


def differences(studio: Studio) -> list[str]:
    """Compare incidents with faults, one to one, and terminal events with rounds; empty when all is right."""
    found = []
    committed = studio.committed()
    last = next(reversed(studio.auditor.rounds.values()), None)
    between = [
        case
        for number, case in sorted(studio.dealer.committed.items())
        if case.fault.id in BETWEEN_ROUNDS and _shows(studio, number, case)
    ]
    for roundid, record in studio.auditor.rounds.items():
        case = committed.get(roundid)
        if roundid == "between":
            expected = [pair for case in between for pair in case.fault.incidents]
        else:
            expected = (
                list(case.fault.incidents) if case is not None and case.fault.id not in BETWEEN_ROUNDS else []
            )
            if case is not None and case.fault.id == "wrong-result":
                expected = expected if _is_corrected(studio, roundid) else []
            if len(record.corrections) != expected.count(CORRECTED):
                found.append(f"{roundid}: corrections {record.corrections} ({_named(case)})")
            if len(record.terminals) != 1 and record is not last:
                found.append(f"{roundid}: terminal events {record.terminals}, expected one")
            cancels = case.fault.cancels if case is not None else None
            if record.reason != cancels:
                found.append(f"{roundid}: cancelled for {record.reason}, expected {cancels} ({_named(case)})")
        if record.incidents != expected:
            found.append(f"{roundid}: incidents {record.incidents}, expected {expected} ({_named(case)})")
        if record.opened_count != record.closed_count:
            found.append(f"{roundid}: {record.opened_count} incidents opened, {record.closed_count} closed")
    return found


def _shows(studio: Studio, number: int, case: Case) -> bool:
    """Whether a fault between rounds can be noticed: an unshuffled deck only by cards that are drawn."""
    drawn = studio.dealer.out.get(number, (0, frozenset()))[0]
    return case.fault.id != "unshuffled" or drawn >= studio.order_run


def _is_corrected(studio: Studio, roundid: str) -> bool:
    """Whether a wrong result has been put right; while the table plays, the last ones may wait for it."""
    number = int(roundid.rpartition("-")[2])
    picture = studio.dealer.picture
    is_over = studio.dealer.is_done() or (picture is not None and picture.round_no > number + 1)
    return is_over or number in studio.video.corrected


def _named(case: Case | None) -> str:
    return f"fault {case.fault.id} at card {case.card}" if case is not None else "no fault"
