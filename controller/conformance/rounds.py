"""The rounds that the kit plays: coups of baccarat, because each wager stands by itself there (BAC-15).

A wallet under test needs to know no more than COM-12: what comes back of a stake for an outcome. How games
with choices are settled is shown by the worked examples of the rules.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from fractions import Fraction

from controller.cards import parse_cards
from controller.games.baccarat import LAYOUT, Baccarat
from controller.games.baccarat_rules import BaccaratRules, LayoutLimits, StakeLimits
from controller.games.published import Outcome, Wager, refund_all
from controller.games.settlement import LayoutSlip, settle
from controller.table import events
from controller.table.events import Event, IncidentKind

DURATION_MS = 60_000
RULES = "0" * 64
_LIMITS = StakeLimits(min=1, max=1_000_000)
_GAME = Baccarat(
    BaccaratRules(
        decks=8,
        player_odds=Fraction(1),
        banker_odds=Fraction(19, 20),
        tie_odds=Fraction(8),
        pair_odds=Fraction(11),
        pairs=False,
        burn_by_first_card=False,
        cutting_card_from_end=16,
        rounds_after_cutting_card=1,
        limits=LayoutLimits(main=_LIMITS, tie=_LIMITS, pair=_LIMITS),
    )
)


def _coup(player: str, banker: str) -> Outcome:
    return _GAME.outcome(parse_cards(player), parse_cards(banker), in_play=True)


PLAYER_WINS = _coup("9s Kd", "2c 5h")
BANKER_WINS = _coup("2s Kd 4c", "3c 5h")
TIE = _coup("9s Kd", "4c 5h")


def opening(round_no: int) -> list[Event]:
    """Return how a round begins, before its bets."""
    return [
        events.RoundOpened(
            round_no=round_no, game=_GAME.name, boxes=_GAME.boxes, rules=RULES, procedures=RULES
        )
    ]


def betting(round_no: int, *, duration_ms: int = DURATION_MS, begun_ms_ago: int = 0) -> events.BettingOpened:
    """Return the opening of betting time, which begins now or has begun so long ago."""
    closes_at_us = time.time_ns() // 1_000 + (duration_ms - begun_ms_ago) * 1_000
    return events.BettingOpened(
        window=f"betting/{round_no}",
        prompt="place your bets",
        duration_ms=duration_ms,
        closes_at_us=closes_at_us,
        guard_ms=1_000,
        grace_ms=500,
    )


def no_more_bets(round_no: int, *, ended_by: str = "dealer") -> events.BetsClosed:
    """Return the end of betting time."""
    return events.BetsClosed(
        window=f"betting/{round_no}",
        prompt="no more bets",
        at_us=time.time_ns() // 1_000,
        ended_by=ended_by,
    )


def confirmed(outcome: Outcome) -> list[Event]:
    """Return how a round ends with a result."""
    return [events.RoundConfirmed(rev=1, outcome=outcome), events.RoundClosed(rev=1)]


def cancelled() -> list[Event]:
    """Return how a round ends without one."""
    return [
        events.RoundCancelled(rev=1, reason="TECHNICAL", incident=1),
        events.RoundClosed(rev=1),
    ]


def corrected(roundid: str, outcome: Outcome | None, *, rev: int = 2) -> list[Event]:
    """Return a correction of a round; without an outcome every wager is refunded (RPL-74)."""
    told = refund_all(PLAYER_WINS) if outcome is None else outcome
    return [
        events.RoundCorrected(
            roundid=roundid,
            rev=rev,
            reason="MISREAD",
            cell="36",
            incident=2,
            outcome=told,
            refund="all" if outcome is None else None,
        ),
        events.RoundClosed(rev=rev),
    ]


def halt(incident: int, *, over: bool = False) -> Event:
    """Return an incident that stops betting, or its end."""
    if over:
        return events.IncidentClosed(incident=incident, kind=IncidentKind.EARLY_DRAW, stops_betting=True)
    return events.IncidentOpened(
        incident=incident, kind=IncidentKind.EARLY_DRAW, cell="7", prompt="please wait", stops_betting=True
    )


def returned(outcome: Outcome, stakes: Mapping[Wager, int]) -> int:
    """Return what comes back of one player's stakes, by the reference settlement."""
    return sum(line.returned for line in settle((LayoutSlip(LAYOUT, stakes),), outcome))
