"""The words of the procedures, for people: phases, axes, verdicts, presses, sensors, numbers."""

from __future__ import annotations

from collections.abc import Mapping

from controller.station.prose import listed
from controller.table.cells import Cell, CellVerdict, Deck
from controller.table.charts import Phase
from controller.table.events import IncidentKind as Kind
from controller.table.situations import SITUATIONS, Axis, Known, Sensor
from controller.table.texts import PROMPTS

PHASES = {
    Phase.CLOSED: "while the table is closed",
    Phase.DECK_CHECK: "in the deck check",
    Phase.SHUFFLING: "in the shuffle",
    Phase.READY: "before START",
    Phase.BETTING: "while bets are open",
    Phase.DEALING: "in the deal",
    Phase.DECIDING: "while players choose",
    Phase.RESULT_PROPOSED: "before RESULT",
    Phase.CONFIRMED: "after RESULT",
    Phase.CANCELLED: "after a cancel",
}

VALUES: Mapping[Axis, Mapping[Known, str]] = {
    Axis.SCANNED: {Known.YES: "it was scanned", Known.NO: "it was not scanned"},
    Axis.REVEALED: {Known.YES: "its face was seen", Known.NO: "nobody saw its face"},
    Axis.LATER: {Known.YES: "a later card is out", Known.NO: "no later card is out"},
    Axis.CERTAIN: {Known.YES: "it is certain", Known.NO: "it is not certain"},
    Axis.INITIAL: {Known.YES: "in the initial deal", Known.NO: "after the initial deal"},
    Axis.DECISION: {Known.YES: "a decision is still to come", Known.NO: "no decision is to come"},
    Axis.RESCAN: {Known.YES: "a re-scan is left", Known.NO: "no re-scan is left"},
    Axis.DEALERS: {Known.YES: "the dealer's", Known.NO: "a box's"},
    Axis.HIDDEN: {Known.YES: "it is due face down", Known.NO: "it is due face up"},
    Axis.GONE: {Known.YES: "it has stayed away for too long", Known.NO: "it is back"},
    Axis.OTHER: {Known.YES: "it is another device", Known.NO: "it is the same device"},
}
"""What a value of an axis means."""

OF_KIND: Mapping[tuple[Kind, Axis], Mapping[Known, str]] = {
    (Kind.SAME_CODE_AGAIN, Axis.CERTAIN): {Known.YES: "the same card", Known.NO: "another card"},
    (Kind.RESTARTED, Axis.CERTAIN): {Known.YES: "all lies as shown", Known.NO: "it does not lie as shown"},
    (Kind.WRONG_PLACE, Axis.CERTAIN): {Known.YES: "all cards lie as shown", Known.NO: "they do not"},
    (Kind.SCANNER_LOST, Axis.LATER): {
        Known.YES: "a card was drawn meanwhile",
        Known.NO: "no card was drawn meanwhile",
    },
    (Kind.HELD_READ, Axis.LATER): {
        Known.YES: "that card is out of the shoe",
        Known.NO: "that card is not out",
    },
    (Kind.HELD_READ, Axis.CERTAIN): {
        Known.YES: "the order of drawing is certain",
        Known.NO: "another card than the first was scanned",
    },
    (Kind.QUARANTINED, Axis.CERTAIN): {
        Known.YES: "it was a press",
        Known.NO: "it was a card, or a deadline",
    },
    (Kind.MISREAD_LATE, Axis.CERTAIN): {
        Known.YES: "the order is certain",
        Known.NO: "the order is not certain",
    },
    (Kind.TWO_CARDS, Axis.CERTAIN): {Known.YES: "the order is certain", Known.NO: "the order is not certain"},
    (Kind.BURN_FORGOTTEN, Axis.LATER): {Known.YES: "a card is dealt", Known.NO: "no card is dealt"},
}
"""Where it means something more exact in one row."""

VERDICTS = {
    CellVerdict.ASK: "the dealer is asked",
    CellVerdict.RESCAN: "the card is scanned again",
    CellVerdict.RESCAN_ALL: "all cards of the round are scanned again, from the first",
    CellVerdict.SUPERVISOR: "a supervisor decides",
    CellVerdict.CANCEL: "the round is cancelled, every stake goes back",
    CellVerdict.BURN: "the card is burned; one that was not scanned is scanned first",
    CellVerdict.NEXT_DUE: "the card waits face down and is the next one that is due",
    CellVerdict.DROP: "the second reading counts as never made",
    CellVerdict.RESTORE: "the cards lie again as the picture shows them; the round goes on",
    CellVerdict.GO_ON: "it is on record; the round goes on",
    CellVerdict.CHECK_DECK: "the deck is checked before the next round",
    CellVerdict.SHUFFLE: "the deck is shuffled again",
    CellVerdict.TAKE: "it is another card: it is taken as it came",
}

PRESSES = {
    "confirm_cancel": "cancel and refund",
    "go_on": "go on",
    "order_rescan": "have it scanned again",
    "order_entry": "have two people enter the card",
    "order_redeal": "have the round dealt anew",
    "void_box": "take a box out and refund it",
}

SENSORS = {
    Sensor.TABLE: "the table itself",
    Sensor.SCANNER: "the scanner",
    Sensor.BEAM: "a beam in the slot of the shoe",
    Sensor.CAMERA: "a camera",
    Sensor.SECOND: "a second capture",
    Sensor.POSITION: "a position reader at every place",
    Sensor.COUNT: "the count of the stub",
    Sensor.SHOE: "a shoe that judges by itself",
    Sensor.PERSON: "a person",
}

LIMITS = {
    "read_tries": "re-scans of one card after the initial deal",
    "count_every_rounds": "rounds between counts of the stub (1: before every settlement, 0: none)",
    "order_run": "cards in an order that raise the order alarm",
    "deck_age_days": "days that a deck is used",
    "scanner_gone_s": "seconds until a lost scanner is a supervisor's matter",
    "escalate_after_s": "seconds until a supervisor is called again",
    "give_up_after_s": "seconds until the round of an unanswered case is cancelled",
    "breaker_cases": "cases of one kind that a table bears within the next number",
    "breaker_minutes": "minutes in which so many block the table",
    "burn_at_dealer_change": "a new dealer burns the first card",
    "stand_by_needed": "no round opens before the shoe says that it stands by",
    "burn_at_shoe_start": "the first card of a fresh shoe is burned",
    "second_capture_agrees": "RESULT waits for a second capture to have read every card",
    "position_readers_agree": "RESULT waits for position readers to have read every card of their places",
    "acknowledged_before_start": "no round opens before the consumers that must have acknowledged the last",
    "retire_rescans_per_10_000": "re-scans in 10,000 readings that name a worn card",
    "disk_free_mb": "megabytes that must be free before a round opens",
    "approve_within_s": "seconds in which a correction is approved",
    "login_tries": "failed log-ins that lock a person out",
    "login_locked_s": "seconds for which nobody may try again then",
    "clock_step_ms": "milliseconds by which a wall clock that was set is put on record",
}


def when(kind: Kind, cell: Cell) -> tuple[str, ...]:
    """Return the conditions of a cell; none for one that decides all the rest of its row."""
    situation = SITUATIONS[kind]
    phases = () if cell.phases is None else (listed([PHASES[phase] for phase in cell.phases], "or"),)
    values = ((axis, cell.value(axis)) for axis in situation.axes)
    return (*phases, *(value_text(kind, axis, value) for axis, value in values if value is not None))


def value_text(kind: Kind, axis: Axis, value: Known) -> str:
    """Return what a value of an axis means in this row."""
    words = OF_KIND.get((kind, axis), VALUES[axis])
    return f"not known whether {words[Known.YES]}" if value is Known.UNKNOWN else words[value]


def then(kind: Kind, cell: Cell) -> str:
    """Return what a cell does."""
    text = VERDICTS[cell.verdict]
    if cell.asks is not None:
        question = PROMPTS[SITUATIONS[kind].questions[cell.asks]].format(place="PLACE", n="N")
        text = f"{text}: {question}"
    if cell.presses is not None:
        presses = listed([PRESSES[press] for press in cell.presses], "or")
        text = f"{text}: {presses}"
    reported = SITUATIONS[kind].observable or kind is Kind.DISPUTED_READ
    if cell.verdict is CellVerdict.CANCEL and reported:
        text += "; on a person's report when a supervisor presses"
    return text if cell.deck is Deck.KEEP else f"{text}; the deck is changed and verified in view"
