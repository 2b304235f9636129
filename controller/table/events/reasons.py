"""Why an input was refused, what went wrong, how it was decided: the words that travel in events."""

from __future__ import annotations

from enum import StrEnum


class Refusal(StrEnum):
    """Why an input was not accepted. The prompt on the page says what to do instead."""

    WRONG_PHASE = "WRONG_PHASE"
    """Nothing in this phase takes that input."""
    HELD = "HELD"
    """An incident is open; cards and confirmations wait until it is closed."""
    NOT_OWED = "NOT_OWED"
    """Another place, card or press is due."""
    TOO_LATE = "TOO_LATE"
    """The window, or the time for a correction, is over."""
    TOO_EARLY = "TOO_EARLY"
    STALE_TIMER = "STALE_TIMER"
    WRONG_ROLE = "WRONG_ROLE"
    SAME_PERSON = "SAME_PERSON"
    """Another person than the one who reported must press this."""
    NO_INCIDENT = "NO_INCIDENT"
    WRONG_INCIDENT = "WRONG_INCIDENT"
    WRONG_WINDOW = "WRONG_WINDOW"
    WRONG_DECISION = "WRONG_DECISION"
    """Not an action of this window, or positions that no exchange has."""
    ALREADY_DECIDED = "ALREADY_DECIDED"
    NOT_ITS_TURN = "NOT_ITS_TURN"
    """An earlier box decides first (OAB-14)."""
    WRONG_COUNT = "WRONG_COUNT"
    UNKNOWN_PLACE = "UNKNOWN_PLACE"
    UNKNOWN_SCANNER = "UNKNOWN_SCANNER"
    SCANNER_DOWN = "SCANNER_DOWN"
    EXPIRED_REQUEST = "EXPIRED_REQUEST"
    OTHER_REQUEST = "OTHER_REQUEST"
    """The request id was used for another command."""
    NO_DECK = "NO_DECK"
    """No deck is loaded, or not all of its cards have been scanned."""
    UNKNOWN_DECK = "UNKNOWN_DECK"
    OTHER_RECEIPT = "OTHER_RECEIPT"
    """The first person has named another deck or receipt."""
    COUNT_DUE = "COUNT_DUE"
    """The cards that are not out are counted first."""
    TOO_FEW_CARDS = "TOO_FEW_CARDS"
    """The longest round can't be dealt from what is left."""


class IncidentKind(StrEnum):
    """What went wrong. The row of the procedures' table is in `cell`."""

    FAILED_READ = "FAILED_READ"
    DISPUTED_READ = "DISPUTED_READ"
    SAME_CODE_AGAIN = "SAME_CODE_AGAIN"
    FOREIGN_CARD = "FOREIGN_CARD"
    EARLY_DRAW = "EARLY_DRAW"
    SURPLUS_CARD = "SURPLUS_CARD"
    LATE_CARD = "LATE_CARD"
    CANCEL_REPORTED = "CANCEL_REPORTED"
    SCANNER_LOST = "SCANNER_LOST"
    WRONG_FACT = "WRONG_FACT"
    RESTARTED = "RESTARTED"
    DECK_REJECTED = "DECK_REJECTED"
    DECK_ON_FLOOR = "DECK_ON_FLOOR"
    WRONG_COUNT = "WRONG_COUNT"
    ORDER_ALARM = "ORDER_ALARM"


class Verdict(StrEnum):
    """How an incident was decided."""

    RESCANNED = "RESCANNED"
    DUPLICATE_READ = "DUPLICATE_READ"
    BURNED = "BURNED"
    CANCELLED = "CANCELLED"
    WITHDRAWN = "WITHDRAWN"
    WENT_ON = "WENT_ON"
    DECK_CHECK = "DECK_CHECK"
    SHUFFLE_AGAIN = "SHUFFLE_AGAIN"
    REFUND = "REFUND"
    DECK_OUT = "DECK_OUT"
    """The deck leaves the table; a new one is loaded."""


class Loading(StrEnum):
    """How a deck was registered."""

    SCANNED = "SCANNED"
    RECEIPT = "RECEIPT"


class Rejection(StrEnum):
    """Why a set that was scanned in is not taken."""

    FOREIGN_CARD = "FOREIGN_CARD"
    DOUBLED_CARD = "DOUBLED_CARD"
    MISSING_CARD = "MISSING_CARD"
    EXTRA_CARD = "EXTRA_CARD"
    WITHDRAWN = "WITHDRAWN"
    """A supervisor has sent it away."""


class ShoeEnd(StrEnum):
    """Why a deck goes out of use."""

    INTEGRITY = "INTEGRITY"
    """A foreign or doubled card came out of it, or a supervisor found it defective."""
    COUNT = "COUNT"
    """Cards are missing, or there are too many."""
    ORDER = "ORDER"
    AGE = "AGE"
    FLOOR = "FLOOR"
    CHANGED = "CHANGED"
    """By hand, with nothing wrong."""


class Worn(StrEnum):
    """What has a rate of re-scans."""

    CARD = "CARD"
    SCANNER = "SCANNER"
