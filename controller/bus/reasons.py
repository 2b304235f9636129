"""The catalogue of reasons: why a command, a read or a replay request was refused, and what to do then.

The table's own reasons are `Refusal`, those of the bus and the station `Reason`. An answer carries the text;
the page `docs/reasons.md` is made of it.
"""

from __future__ import annotations

from controller.bus.wire import Reason
from controller.table.events import Refusal

OF_THE_BUS: dict[Reason, str] = {
    Reason.MALFORMED: "The bytes are no request; the answer's text says where and what was expected.",
    Reason.BUSY: "The table's queue is full, nothing was taken. Send the same request again.",
    Reason.GONE: "Replay: these messages are not kept any more. Join at the snapshot.",
    Reason.UNKNOWN_ROUND: "Replay: no round of this id is kept.",
    Reason.UNKNOWN_PERSON: "The people file has nobody of this name. Add them with tablectl people.",
    Reason.NO_PEOPLE_FILE: "The people file is missing or can't be read. Make one with tablectl people.",
}

OF_THE_TABLE: dict[Refusal, str] = {
    Refusal.WRONG_PHASE: "Nothing in this phase of the round takes that input.",
    Refusal.HELD: "An incident is open. Do what its prompt says first.",
    Refusal.NOT_OWED: "Another place, card or press is due. Do what the prompt says.",
    Refusal.TOO_LATE: "The window, or the time for a correction, is over; what was known then stands.",
    Refusal.TOO_EARLY: "Another program opened the round, or a window of the players was interrupted.",
    Refusal.STALE_TIMER: "The deadline has passed already or was replaced.",
    Refusal.WRONG_ROLE: "This endpoint, or this person's role, has no right to that command.",
    Refusal.SAME_PERSON: "Another person than the first one must press this.",
    Refusal.NO_INCIDENT: "No incident is open that this could answer.",
    Refusal.WRONG_INCIDENT: "Another incident is asked about. Answer the one that the picture shows.",
    Refusal.WRONG_WINDOW: "That window is not the one whose facts are due.",
    Refusal.WRONG_DECISION: "No action of this window, or positions that no exchange has.",
    Refusal.ALREADY_DECIDED: "This box has decided; a decision is never changed.",
    Refusal.NOT_ITS_TURN: "An earlier box decides first.",
    Refusal.WRONG_COUNT: "That is not the number of cards of a deck that is whole. Count again.",
    Refusal.ALREADY_READ: "This card was scanned already in the re-scan of all cards. Scan the next one.",
    Refusal.UNKNOWN_PLACE: "This game has no place or box of that name, or it can't be told of here.",
    Refusal.UNKNOWN_SCANNER: "No scanner of that name is in the table's file.",
    Refusal.SCANNER_DOWN: "A scanner is not there. Plug it in; the picture names it.",
    Refusal.DEALS_NOTHING: "That scanner only compares what was dealt.",
    Refusal.NOT_SEEN_AGAIN: "A reader that must agree has missed a card. Show it, or a supervisor presses.",
    Refusal.OTHER_SCANNER: "Another device than before. A supervisor presses START to accept it.",
    Refusal.OTHER_PICTURE: "The page showed another picture than the one to be confirmed. Look again.",
    Refusal.DISK_FULL: "There is too little room for the journal of a round. Free some.",
    Refusal.QUARANTINED: "This input has stopped the process twice and is left out.",
    Refusal.EXPIRED_REQUEST: "It names another round than this one. It was not done; do not repeat it.",
    Refusal.NOT_OFFERED: "The procedures offer no such press, or no such report, in this case.",
    Refusal.OTHER_REQUEST: "The request id was used for another command. Use a fresh one.",
    Refusal.IMPOSSIBLE_CARD: "That card lies on the table already.",
    Refusal.UNKNOWN_ROUND: "No such round and revision has ended here, or it is not kept any more.",
    Refusal.ROUND_CANCELLED: "A cancelled round is refunded; nothing of it can be corrected.",
    Refusal.REFUND_ONLY: "This game refunds a wrong result. Correct it without cards.",
    Refusal.OTHER_RULES: "The round was dealt under other rules. Correct it without cards.",
    Refusal.DECIDED_ON: "Players have decided on that card as it was shown. Correct it without cards.",
    Refusal.OTHER_COURSE: "The round would have gone on otherwise. Correct it without cards.",
    Refusal.NO_CHANGE: "The round stands like this already.",
    Refusal.CORRECTION_WAITS: "One is proposed. Approve it, withdraw it, or wait for its end.",
    Refusal.NO_CORRECTION: "No correction of that round waits for a second person.",
    Refusal.NO_DEALER: "No dealer is on duty. A dealer logs in.",
    Refusal.NOT_ON_DUTY: "The person is not on duty. Log in first.",
    Refusal.DUAL_LOGIN: "This person, or another dealer, is on duty already.",
    Refusal.WRONG_SECRET: "Not the PIN or badge of this person.",
    Refusal.LOCKED_OUT: "Too many log-ins failed; none is taken for a while.",
    Refusal.IN_A_ROUND: "The dealer leaves after the round, or another one takes over with two signatures.",
    Refusal.UNKNOWN_CONSUMER: "No such consumer. List it under [[consumers]] in the table's file.",
    Refusal.UNACKNOWLEDGED: "A consumer that must acknowledge is behind; the picture names it.",
    Refusal.PAUSED: "The table pauses. Resume it first.",
    Refusal.BLOCKED: "The table is blocked. Two people unlock it, one of them a supervisor.",
    Refusal.NOT_HALTED: "There is nothing to resume or to unlock.",
    Refusal.HALTED_ALREADY: "A pause or a close is ordered already.",
    Refusal.NO_DECK: "No deck is loaded, or not all of its cards have been scanned.",
    Refusal.UNKNOWN_DECK: "The table's file names no deck of that name to be loaded here.",
    Refusal.OTHER_RECEIPT: "The first person has named another deck or receipt.",
    Refusal.COUNT_DUE: "The cards that are not out are counted first.",
    Refusal.SHOE_NOT_READY: "The shoe has not said that it waits for a new coup.",
    Refusal.TOO_FEW_CARDS: "The longest round can't be dealt from what is left.",
}


def text_of(refusal: Refusal | None) -> str | None:
    """Return the text of a table's refusal for the answer, None where nothing was refused."""
    return None if refusal is None else OF_THE_TABLE[refusal]


def page() -> str:
    """Return the catalogue as a page in Markdown."""
    lines = [
        "# Why something was refused",
        "",
        "The `reason` of an answer, of a replay marker, and of `input.refused` in `audit`. A refused command",
        "has changed nothing, and the same request id gets the same answer.",
    ]
    for title, rows in (("By the table", OF_THE_TABLE), ("By the bus and the station", OF_THE_BUS)):
        lines += ["", f"## {title}", "", "| reason | what it says |", "|---|---|"]
        lines += [f"| `{reason.value}` | {text} |" for reason, text in rows.items()]
    return "\n".join(lines) + "\n"
