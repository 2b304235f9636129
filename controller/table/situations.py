"""What can go wrong at a table: every situation of the procedures, and what it has to be judged by.

A situation is a row of the procedures' table. Its axes are what a verdict may depend on; a profile says
the verdict for every combination of them that can occur (`profile`). Axes beyond the six of the
procedures' key are what the games' own rules ask: the initial deal (RPL-70, RPL-75), a decision still to
come (RPL-71), whose card it is (OAB-25), whether it is due face down (row 15).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from controller.table.charts import Phase
from controller.table.events import IncidentKind as Kind
from controller.table.inputs import CancelReason


class Axis(StrEnum):
    """What a verdict may depend on, the phase aside."""

    SCANNED = "scanned"
    """The table has the card's identity."""
    REVEALED = "revealed"
    """Somebody could have seen a face that is nobody's business yet."""
    LATER = "later"
    """A later card has been dealt, or has come out."""
    CERTAIN = "certain"
    """Identity or order is certain."""
    INITIAL = "initial"
    """The card belongs to the initial deal."""
    DECISION = "decision"
    """A decision of this round is still to come."""
    RESCAN = "rescan"
    """A re-scan is left."""
    DEALERS = "dealers"
    """The card is the dealer's."""
    HIDDEN = "hidden"
    """The card is due face down."""
    GONE = "gone"
    """A scanner has stayed away for too long."""
    OTHER = "other"
    """A scanner is another device than before, which nobody has accepted."""


class Known(StrEnum):
    """A value of an axis; `unknown` is asked about."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


def known(value: bool | None) -> Known:
    """Return the value of an axis."""
    return Known.UNKNOWN if value is None else Known.YES if value else Known.NO


class Sensor(StrEnum):
    """What notices a situation by itself."""

    TABLE = "table"
    """Order, register, time and presses: every table has it."""
    SCANNER = "scanner"
    BEAM = "beam"
    CAMERA = "camera"
    SECOND = "second"
    """A second capture: a reader that sees every card once more."""
    POSITION = "position"
    """A reader at every place."""
    COUNT = "count"
    """Counting the stub, at the profile's interval."""
    SHOE = "shoe"
    """A shoe that judges by itself."""
    PERSON = "person"
    """A person only: `Observed(kind, place)`."""


TOLD = (Known.YES, Known.NO)
ASKED = (Known.UNKNOWN, Known.YES, Known.NO)


class Situation(msgspec.Struct, frozen=True):
    """One row. `questions` are the prompts for axes that a person answers."""

    row: str
    phases: frozenset[Phase]
    axes: Mapping[Axis, tuple[Known, ...]] = {}
    sensors: tuple[Sensor, ...] = (Sensor.PERSON,)
    questions: Mapping[Axis, str] = {}
    reason: CancelReason | None = CancelReason.TECHNICAL
    """Why a round is cancelled for it; None where the case is no reason to."""

    @property
    def observable(self) -> bool:
        """Whether a person may report it."""
        return Sensor.PERSON in self.sensors


DEAL = frozenset({Phase.DEALING, Phase.DECIDING})
CARDS_LIE = DEAL | {Phase.RESULT_PROPOSED}
ROUND = CARDS_LIE | {Phase.BETTING}
BETWEEN = frozenset({Phase.SHUFFLING, Phase.READY})
SEEN = {Axis.REVEALED: "FACE_SEEN"}
NOTICED = (Sensor.CAMERA, Sensor.PERSON)

SITUATIONS: Mapping[Kind, Situation] = {
    Kind.FAILED_READ: Situation(
        "1",
        DEAL,
        {Axis.INITIAL: TOLD, Axis.RESCAN: TOLD},
        (Sensor.SCANNER,),
        reason=CancelReason.WRONG_READING,
    ),
    Kind.MISREAD_LATE: Situation(
        "2",
        CARDS_LIE,
        {Axis.CERTAIN: ASKED, Axis.INITIAL: TOLD, Axis.RESCAN: TOLD},
        (Sensor.BEAM, Sensor.SECOND, Sensor.POSITION, Sensor.PERSON),
        {Axis.CERTAIN: "ORDER_CERTAIN"},
        CancelReason.WRONG_READING,
    ),
    Kind.HELD_READ: Situation(
        "2b",
        ROUND,
        {Axis.CERTAIN: TOLD, Axis.LATER: ASKED},
        (Sensor.SCANNER,),
        {Axis.LATER: "CARD_READ_MEANWHILE"},
        CancelReason.WRONG_READING,
    ),
    Kind.DISPUTED_READ: Situation(
        "3",
        CARDS_LIE,
        {Axis.LATER: TOLD, Axis.INITIAL: TOLD, Axis.RESCAN: TOLD},
        (Sensor.CAMERA, Sensor.SECOND, Sensor.POSITION, Sensor.TABLE),
        reason=CancelReason.WRONG_READING,
    ),
    Kind.SAME_CODE_AGAIN: Situation(
        "4",
        ROUND,
        {Axis.CERTAIN: ASKED},
        (Sensor.SCANNER,),
        {Axis.CERTAIN: "SAME_CARD"},
        CancelReason.DECK_INTEGRITY,
    ),
    Kind.FOREIGN_CARD: Situation("6", ROUND, {}, (Sensor.SCANNER,), reason=CancelReason.DECK_INTEGRITY),
    Kind.EARLY_DRAW: Situation(
        "7",
        frozenset({Phase.READY, Phase.BETTING, Phase.DEALING}),
        {Axis.SCANNED: TOLD, Axis.REVEALED: ASKED},
        (Sensor.SCANNER, Sensor.BEAM, Sensor.SECOND, Sensor.PERSON),
        SEEN,
        CancelReason.EXTRA_CARD,
    ),
    Kind.BURN_FORGOTTEN: Situation("8", DEAL, {Axis.LATER: TOLD}, (Sensor.PERSON,)),
    Kind.TWO_CARDS: Situation(
        "9",
        DEAL,
        {Axis.CERTAIN: ASKED, Axis.REVEALED: ASKED, Axis.DECISION: TOLD},
        (Sensor.BEAM, Sensor.PERSON),
        {Axis.CERTAIN: "ORDER_CERTAIN", **SEEN},
        CancelReason.EXTRA_CARD,
    ),
    Kind.SURPLUS_CARD: Situation(
        "10",
        CARDS_LIE | {Phase.CONFIRMED},
        {Axis.SCANNED: TOLD, Axis.REVEALED: ASKED, Axis.DECISION: TOLD},
        (Sensor.SCANNER, Sensor.SECOND, Sensor.POSITION, Sensor.COUNT, Sensor.PERSON),
        SEEN,
        CancelReason.EXTRA_CARD,
    ),
    Kind.WRONG_PLACE: Situation(
        "11",
        CARDS_LIE,
        {Axis.LATER: ASKED, Axis.CERTAIN: ASKED},
        (Sensor.POSITION, Sensor.CAMERA, Sensor.PERSON),
        {Axis.LATER: "LATER_CARD", Axis.CERTAIN: "MOVE_CARD"},
        CancelReason.EXTRA_CARD,
    ),
    Kind.HIDDEN_CARD_SHOWN: Situation(
        "14", CARDS_LIE, {Axis.DEALERS: TOLD}, NOTICED, reason=CancelReason.HIDDEN_CARD_SHOWN
    ),
    Kind.BOXED_CARD: Situation(
        "15", DEAL, {Axis.HIDDEN: TOLD, Axis.DEALERS: TOLD}, NOTICED, reason=CancelReason.HIDDEN_CARD_SHOWN
    ),
    Kind.CARD_ON_FLOOR: Situation(
        "16",
        ROUND | BETWEEN,
        {Axis.SCANNED: ASKED, Axis.REVEALED: ASKED},
        (*NOTICED, Sensor.COUNT),
        {Axis.SCANNED: "WAS_DEALT", Axis.REVEALED: "FACE_SEEN"},
        CancelReason.CARD_ON_FLOOR,
    ),
    Kind.TABLE_CLEARED: Situation("17", CARDS_LIE, {}, NOTICED, reason=CancelReason.TABLE_CLEARED),
    Kind.PRESS_FORGOTTEN: Situation("18", CARDS_LIE, {}, (Sensor.PERSON,)),
    Kind.WRONG_ANNOUNCEMENT: Situation("19", frozenset({Phase.RESULT_PROPOSED}), {}, NOTICED),
    Kind.SHOE_DISAGREES: Situation(
        "19b", frozenset({Phase.RESULT_PROPOSED}), {}, (Sensor.SHOE,), reason=CancelReason.WRONG_READING
    ),
    Kind.EARLY_EXCHANGE: Situation(
        "23a",
        DEAL,
        {Axis.REVEALED: ASKED, Axis.DECISION: TOLD},
        (Sensor.SCANNER,),
        SEEN,
        CancelReason.EXTRA_CARD,
    ),
    Kind.WRONG_EXCHANGE: Situation("23b", CARDS_LIE, {}, NOTICED, reason=CancelReason.WRONG_NUMBER_OF_CARDS),
    Kind.WRONG_NUMBER_OF_CARDS: Situation(
        "24",
        CARDS_LIE,
        {Axis.DEALERS: TOLD},
        (*NOTICED, Sensor.COUNT),
        reason=CancelReason.WRONG_NUMBER_OF_CARDS,
    ),
    Kind.DECK_EMPTY: Situation(
        "28", DEAL, {}, (Sensor.TABLE, Sensor.PERSON), reason=CancelReason.INSUFFICIENT
    ),
    Kind.DEVICE_FAILED: Situation("29", ROUND, {}, (Sensor.PERSON,)),
    Kind.SCANNER_LOST: Situation(
        "30",
        ROUND,
        {Axis.GONE: TOLD, Axis.OTHER: TOLD, Axis.INITIAL: TOLD, Axis.LATER: ASKED},
        (Sensor.SCANNER,),
        {Axis.LATER: "CARD_DRAWN"},
    ),
    Kind.DEALER_CHANGE: Situation("31", ROUND, {}, (Sensor.TABLE,), reason=None),
    Kind.LINK_LOST: Situation("33", ROUND, {}, (Sensor.PERSON,)),
    Kind.VIDEO_LOST: Situation("34", ROUND, {}, (Sensor.PERSON,)),
    Kind.RESTARTED: Situation(
        "35", ROUND, {Axis.CERTAIN: ASKED}, (Sensor.TABLE,), {Axis.CERTAIN: "CONFIRM_PICTURE"}
    ),
    Kind.QUARANTINED: Situation("35b", ROUND, {Axis.CERTAIN: TOLD}, (Sensor.TABLE,)),
    Kind.WRONG_FACT: Situation("41", CARDS_LIE, {}, (Sensor.TABLE,)),
}
"""Every kind of incident that a profile decides."""

OBSERVABLE = frozenset(kind for kind, situation in SITUATIONS.items() if situation.observable)


def cancel_reason(kind: Kind) -> CancelReason:
    """Return why a round is cancelled that this case has led to."""
    return SITUATIONS[kind].reason or CancelReason.TECHNICAL
