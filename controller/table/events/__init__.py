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
    CardAt,
    Event,
    OpenedCard,
)
from controller.table.events.cards import (
    CardBurned,
    CardDealt,
    CardEntered,
    CardEvent,
    CardLaidAside,
    CardShown,
    CardsRevealed,
    CardWithdrawn,
    EntriesVoided,
    HandEvaluated,
)
from controller.table.events.day import (
    ControllerStarted,
    DayEvent,
    DeckShuffled,
    DeckVerified,
    InputAccepted,
    InputRefused,
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
    CorrectionProposed,
    CorrectionVoided,
    DecisionClosed,
    DecisionMade,
    DecisionOpened,
    FactsSettled,
    HandsOffered,
    ManualCard,
    ResultProposed,
    RoundCancelled,
    RoundClosed,
    RoundConfirmed,
    RoundCorrected,
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
    "CardAt",
    "CardBurned",
    "CardDealt",
    "CardEntered",
    "CardEvent",
    "CardLaidAside",
    "CardShown",
    "CardWithdrawn",
    "CardsRevealed",
    "ControllerStarted",
    "CorrectionProposed",
    "CorrectionVoided",
    "DayEvent",
    "DecisionClosed",
    "DecisionMade",
    "DecisionOpened",
    "DeckShuffled",
    "DeckVerified",
    "EntriesVoided",
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
    "ManualCard",
    "OpenedCard",
    "Refusal",
    "ResultProposed",
    "RoundCancelled",
    "RoundClosed",
    "RoundConfirmed",
    "RoundCorrected",
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
