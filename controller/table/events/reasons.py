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
    ALREADY_READ = "ALREADY_READ"
    """This card was scanned already in the re-scan of all cards."""
    UNKNOWN_PLACE = "UNKNOWN_PLACE"
    UNKNOWN_SCANNER = "UNKNOWN_SCANNER"
    SCANNER_DOWN = "SCANNER_DOWN"
    OTHER_SCANNER = "OTHER_SCANNER"
    """A scanner is another device than before; a supervisor accepts it by pressing START."""
    OTHER_PICTURE = "OTHER_PICTURE"
    """The page showed another picture than the one that is to be confirmed."""
    DISK_FULL = "DISK_FULL"
    """There is too little room for the journal of a round."""
    QUARANTINED = "QUARANTINED"
    """This input has stopped the process twice and is left out."""
    EXPIRED_REQUEST = "EXPIRED_REQUEST"
    NOT_OFFERED = "NOT_OFFERED"
    """The procedures offer no such press, or no such report, in this case."""
    OTHER_REQUEST = "OTHER_REQUEST"
    """The request id was used for another command."""
    NO_DEALER = "NO_DEALER"
    """No dealer is on duty (row 32)."""
    NOT_ON_DUTY = "NOT_ON_DUTY"
    DUAL_LOGIN = "DUAL_LOGIN"
    """This person, or another dealer, is on duty already (row 32)."""
    WRONG_SECRET = "WRONG_SECRET"
    """Not the PIN or badge of this person."""
    LOCKED_OUT = "LOCKED_OUT"
    """Too many log-ins failed; none is taken for a while."""
    IN_A_ROUND = "IN_A_ROUND"
    """The dealer of a round leaves after it; until then another one takes over with two signatures."""
    PAUSED = "PAUSED"
    BLOCKED = "BLOCKED"
    NOT_HALTED = "NOT_HALTED"
    """Nothing to resume or to unlock."""
    HALTED_ALREADY = "HALTED_ALREADY"
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
    """What went wrong; `situations` says the row of the procedures and what the verdict depends on."""

    FAILED_READ = "FAILED_READ"
    MISREAD_LATE = "MISREAD_LATE"
    DISPUTED_READ = "DISPUTED_READ"
    SAME_CODE_AGAIN = "SAME_CODE_AGAIN"
    FOREIGN_CARD = "FOREIGN_CARD"
    EARLY_DRAW = "EARLY_DRAW"
    BURN_FORGOTTEN = "BURN_FORGOTTEN"
    TWO_CARDS = "TWO_CARDS"
    SURPLUS_CARD = "SURPLUS_CARD"
    WRONG_PLACE = "WRONG_PLACE"
    HIDDEN_CARD_SHOWN = "HIDDEN_CARD_SHOWN"
    BOXED_CARD = "BOXED_CARD"
    CARD_ON_FLOOR = "CARD_ON_FLOOR"
    TABLE_CLEARED = "TABLE_CLEARED"
    PRESS_FORGOTTEN = "PRESS_FORGOTTEN"
    WRONG_ANNOUNCEMENT = "WRONG_ANNOUNCEMENT"
    EARLY_EXCHANGE = "EARLY_EXCHANGE"
    WRONG_EXCHANGE = "WRONG_EXCHANGE"
    WRONG_NUMBER_OF_CARDS = "WRONG_NUMBER_OF_CARDS"
    DEVICE_FAILED = "DEVICE_FAILED"
    SCANNER_LOST = "SCANNER_LOST"
    LINK_LOST = "LINK_LOST"
    VIDEO_LOST = "VIDEO_LOST"
    RESTARTED = "RESTARTED"
    WRONG_FACT = "WRONG_FACT"
    DEALER_CHANGE = "DEALER_CHANGE"
    DECK_REJECTED = "DECK_REJECTED"
    WRONG_COUNT = "WRONG_COUNT"
    ORDER_ALARM = "ORDER_ALARM"
    HELD_READ = "HELD_READ"
    """A card was read while the table took none."""
    OTHER_SCANNER = "OTHER_SCANNER"
    QUARANTINED = "QUARANTINED"
    DISK_LOW = "DISK_LOW"
    CLOCK_STEPPED = "CLOCK_STEPPED"


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
    ACCEPTED_AT_START = "ACCEPTED_AT_START"
    """Whoever of the supervisors presses START next accepts it."""
    LEFT_OUT = "LEFT_OUT"
    NO_NEW_ROUND = "NO_NEW_ROUND"
    """No round opens until it is repaired."""
    HELD = "HELD"
    """The card waits for the place that it will be due at."""
    RESTORED = "RESTORED"
    """The cards lie again as the picture shows them."""
    BOX_VOIDED = "BOX_VOIDED"
    REDEALT = "REDEALT"
    DEALER_CHANGED = "DEALER_CHANGED"
    DECK_OUT = "DECK_OUT"
    """The deck leaves the table; a new one is loaded."""


class BurnReason(StrEnum):
    """Why a card was burned."""

    EARLY_DRAW = "EARLY_DRAW"
    EARLY_EXCHANGE = "EARLY_EXCHANGE"
    SURPLUS_CARD = "SURPLUS_CARD"
    CARD_ON_FLOOR = "CARD_ON_FLOOR"
    BURN_FORGOTTEN = "BURN_FORGOTTEN"
    RELIEF = "RELIEF"
    """The first card of a new dealer (row 31)."""


class HaltReason(StrEnum):
    """Why somebody pauses the table, or closes it after the round."""

    BREAK = "BREAK"
    SHIFT_END = "SHIFT_END"
    DECK_CHANGE = "DECK_CHANGE"
    TECHNICAL = "TECHNICAL"
    ORDERED = "ORDERED"
    """The house has ordered it."""


class BlockReason(StrEnum):
    """Why the table has blocked itself."""

    BREAKER = "BREAKER"
    """The same case too often (row 42)."""
    NO_SUPERVISOR = "NO_SUPERVISOR"
    """No supervisor has answered in time (row 40)."""


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
