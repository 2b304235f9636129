"""Events: what the table says has happened, and who may hear it.

An event names its audiences in its class; where one audience may know less, `seen_by` says so in the
class too, so that the question "who learns this card?" is answered beside the card. Face-down cards appear
in no event before they are turned, with one exception: `CardShown`, to bettors who paid to see it (RPL-17).
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from controller.table.events.base import (
    AUDIENCES,
    AUDIT_ONLY,
    BETTING_ONLY,
    EVERYBODY,
    SHOW,
    Audience,
    Event,
    OpenedCard,
)
from controller.table.events.cards import (
    CardBurned,
    CardDealt,
    CardEvent,
    CardLaidAside,
    CardShown,
    CardsRevealed,
    CardWithdrawn,
    HandEvaluated,
)
from controller.table.events.day import (
    ClockWasStepped,
    ControllerStarted,
    DayEvent,
    DeckShuffled,
    DeckVerified,
    DiskMeasured,
    InputAccepted,
    InputRefused,
    ReadHeld,
    ReadsUntaken,
    ScannerChanged,
    TableClosed,
    TableOpened,
)
from controller.table.events.incidents import (
    IncidentAsked,
    IncidentClosed,
    IncidentDecided,
    IncidentEvent,
    IncidentOpened,
)
from controller.table.events.reasons import IncidentKind, Refusal, Verdict
from controller.table.events.rounds import (
    BetsClosed,
    BettingOpened,
    DecisionClosed,
    DecisionMade,
    DecisionOpened,
    FactsSettled,
    HandsOffered,
    ResultProposed,
    RoundCancelled,
    RoundClosed,
    RoundConfirmed,
    RoundEvent,
    RoundOpened,
)

AnyEvent: TypeAlias = DayEvent | RoundEvent | CardEvent | IncidentEvent

__all__ = [
    "AUDIENCES",
    "AUDIT_ONLY",
    "BETTING_ONLY",
    "EVERYBODY",
    "SHOW",
    "AnyEvent",
    "Audience",
    "BetsClosed",
    "BettingOpened",
    "CardBurned",
    "CardDealt",
    "CardEvent",
    "CardLaidAside",
    "CardShown",
    "CardWithdrawn",
    "CardsRevealed",
    "ClockWasStepped",
    "ControllerStarted",
    "DayEvent",
    "DecisionClosed",
    "DecisionMade",
    "DecisionOpened",
    "DeckShuffled",
    "DeckVerified",
    "DiskMeasured",
    "Event",
    "FactsSettled",
    "HandEvaluated",
    "HandsOffered",
    "IncidentAsked",
    "IncidentClosed",
    "IncidentDecided",
    "IncidentEvent",
    "IncidentKind",
    "IncidentOpened",
    "InputAccepted",
    "InputRefused",
    "OpenedCard",
    "ReadHeld",
    "ReadsUntaken",
    "Refusal",
    "ResultProposed",
    "RoundCancelled",
    "RoundClosed",
    "RoundConfirmed",
    "RoundEvent",
    "RoundOpened",
    "ScannerChanged",
    "TableClosed",
    "TableOpened",
    "Verdict",
    "encode_events",
]


def encode_events(events: tuple[Event, ...]) -> bytes:
    """Return the events as a JSON array, the form in which the journal keeps them."""
    return _ENCODER.encode(events)


_ENCODER = msgspec.json.Encoder(order="deterministic")
