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
    CardHeld,
    CardLaidAside,
    CardShown,
    CardsRestored,
    CardsRevealed,
    CardWithdrawn,
    HandEvaluated,
    PositionCorrected,
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
from controller.table.events.decks import (
    DeckEvent,
    DeckLoaded,
    DeckOffered,
    DeckRejected,
    DeckScanned,
    RoundsSuspect,
    ShoeClosed,
    StubCounted,
    WearFound,
)
from controller.table.events.incidents import (
    IncidentAsked,
    IncidentClosed,
    IncidentDecided,
    IncidentEscalated,
    IncidentEvent,
    IncidentOpened,
)
from controller.table.events.people import (
    DealerChanged,
    LoggedIn,
    LoggedOut,
    PeopleEvent,
    TableBlocked,
    TableClosing,
    TablePaused,
    TablePausing,
    TableResumed,
    TableUnblocked,
)
from controller.table.events.reasons import (
    BlockReason,
    BurnReason,
    HaltReason,
    IncidentKind,
    Loading,
    Refusal,
    Rejection,
    ShoeEnd,
    Verdict,
    Worn,
)
from controller.table.events.rounds import (
    BetsClosed,
    BettingOpened,
    BoxVoided,
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
    RoundRedealt,
)

AnyEvent: TypeAlias = DayEvent | DeckEvent | RoundEvent | CardEvent | IncidentEvent | PeopleEvent

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
    "BlockReason",
    "BoxVoided",
    "BurnReason",
    "CardBurned",
    "CardDealt",
    "CardEvent",
    "CardHeld",
    "CardLaidAside",
    "CardShown",
    "CardWithdrawn",
    "CardsRestored",
    "CardsRevealed",
    "ClockWasStepped",
    "ControllerStarted",
    "DayEvent",
    "DealerChanged",
    "DecisionClosed",
    "DecisionMade",
    "DecisionOpened",
    "DeckEvent",
    "DeckLoaded",
    "DeckOffered",
    "DeckRejected",
    "DeckScanned",
    "DeckShuffled",
    "DeckVerified",
    "DiskMeasured",
    "Event",
    "FactsSettled",
    "HaltReason",
    "HandEvaluated",
    "HandsOffered",
    "IncidentAsked",
    "IncidentClosed",
    "IncidentDecided",
    "IncidentEscalated",
    "IncidentEvent",
    "IncidentKind",
    "IncidentOpened",
    "InputAccepted",
    "InputRefused",
    "Loading",
    "LoggedIn",
    "LoggedOut",
    "OpenedCard",
    "PeopleEvent",
    "PositionCorrected",
    "ReadHeld",
    "ReadsUntaken",
    "Refusal",
    "Rejection",
    "ResultProposed",
    "RoundCancelled",
    "RoundClosed",
    "RoundConfirmed",
    "RoundEvent",
    "RoundOpened",
    "RoundRedealt",
    "RoundsSuspect",
    "ScannerChanged",
    "ShoeClosed",
    "ShoeEnd",
    "StubCounted",
    "TableBlocked",
    "TableClosed",
    "TableClosing",
    "TableOpened",
    "TablePaused",
    "TablePausing",
    "TableResumed",
    "TableUnblocked",
    "Verdict",
    "WearFound",
    "Worn",
    "encode_events",
]


def encode_events(events: tuple[Event, ...]) -> bytes:
    """Return the events as a JSON array, the form in which the journal keeps them."""
    return _ENCODER.encode(events)


_ENCODER = msgspec.json.Encoder(order="deterministic")
