"""Why people press, and how they have shown who they are."""

from __future__ import annotations

from enum import StrEnum


class CancelReason(StrEnum):
    """Why a round is cancelled: the six of RPL-70, a deck that is wrong or too short, a miscount."""

    HIDDEN_CARD_SHOWN = "HIDDEN_CARD_SHOWN"
    WRONG_READING = "WRONG_READING"
    EXTRA_CARD = "EXTRA_CARD"
    TABLE_CLEARED = "TABLE_CLEARED"
    CARD_ON_FLOOR = "CARD_ON_FLOOR"
    TECHNICAL = "TECHNICAL"
    DECK_INTEGRITY = "DECK_INTEGRITY"
    WRONG_NUMBER_OF_CARDS = "WRONG_NUMBER_OF_CARDS"
    """A place has not its due number (OAB-24, row 24); the report names it."""
    INSUFFICIENT = "INSUFFICIENT"
    """No card is left for one that is due (row 28)."""


class Proof(StrEnum):
    """How a person has proven who they are."""

    PIN = "pin"
    BADGE = "badge"


class ChangeReason(StrEnum):
    """Why a deck is changed between two rounds."""

    INTEGRITY = "INTEGRITY"
    """It is not what it should be."""
    CHANGED = "CHANGED"
    """Nothing is wrong with it."""


class CorrectionReason(StrEnum):
    """Why a confirmed result is corrected (row 36, RPL-74)."""

    WRONG_RESULT = "WRONG_RESULT"
    WRONG_READING = "WRONG_READING"
    WRONG_RULES = "WRONG_RULES"
    """The rules that were shown are not those in force (row 37)."""
    DECK_INTEGRITY = "DECK_INTEGRITY"
    TECHNICAL = "TECHNICAL"
