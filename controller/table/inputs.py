"""Inputs: what happened outside the table. Nothing else ever moves it, not even time.

`at` is the table's clock, integer microseconds since 1970, strictly rising from input to input.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeAlias, get_args

import msgspec

from controller.games.procedure import BoxState
from controller.table.events.base import CardAt, CardText
from controller.table.events.reasons import HaltReason, IncidentKind
from controller.table.past_rounds import PastRound


class Role(StrEnum):
    """Who presses. A person's role is the one in which they are on duty, never what the message says."""

    BETTING = "betting"
    CONSUMER = "consumer"
    """A registered system that acknowledges what it has acted on."""
    DEALER = "dealer"
    SUPERVISOR = "supervisor"


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


def _snake(name: str) -> str:
    return "".join("_" + letter.lower() if letter.isupper() else letter for letter in name).lstrip("_")


class Input(msgspec.Struct, frozen=True, kw_only=True, tag_field="input", tag=_snake):
    """Base of all inputs."""

    at: int


class UntakenRead(msgspec.Struct, frozen=True):
    """A read on the recording that never became durable. `code` is None where the scanner could not read."""

    scanner: str
    code: str | None


class Started(Input, frozen=True, kw_only=True, omit_defaults=True):
    """The process has started; the first input of every run. `documents` are hashes of its config.

    `untaken`: the reads of the run before that came in and were never taken, in order. `quarantined`: names
    of inputs that have stopped the process twice (`table.quarantine`). `disk_free_mb` is told when it is too
    little.
    """

    epoch: int
    program: str
    rules: str
    documents: tuple[str, ...]
    untaken: tuple[UntakenRead, ...] = ()
    quarantined: tuple[str, ...] = ()
    disk_free_mb: int | None = None


OUTSIDE = "outside"
"""The place of a card of which a shoe says that it left it while its coup was due none."""


class CardRead(Input, frozen=True, kw_only=True):
    """A scanner read a code. `key` is 32 fresh random bytes in hex, drawn for every read.

    `repeat` is the driver's word that it may be the same card as just before (row 4); `place` is where a shoe
    that knows the order of drawing says that the card goes.
    """

    scanner: str
    code: str
    device_seq: int | None
    key: str
    repeat: bool = False
    place: str | None = None


class ReadFailed(Input, frozen=True, kw_only=True):
    """A scanner saw a card and could not read it, or its frame came damaged."""

    scanner: str
    cause: str


class ScannerOpened(Input, frozen=True, kw_only=True, omit_defaults=True):
    """The port is open: what arrives from now on is read.

    `device` tells one device from another, None where the system can't (a pty, a plain serial port).
    """

    scanner: str
    device: str | None = None


class ScannerLost(Input, frozen=True, kw_only=True):
    """The port is gone (unplugged, taken by another process, closed)."""

    scanner: str
    reason: str


class CardsTogether(Input, frozen=True, kw_only=True):
    """The `count` reads that come next were made at once: the order of their cards is not known (row 9)."""

    scanner: str
    count: int


class ScannerRestarted(Input, frozen=True, kw_only=True):
    """The device itself says that it has started anew: what it saw just before may be lost."""

    scanner: str


class ShoeResulted(Input, frozen=True, kw_only=True):
    """A shoe that judges by itself says how the coup ended: `PLAYER`, `BANKER`, `TIE`, or no such word."""

    scanner: str
    winner: str
    player_pair: bool
    banker_pair: bool


class ShoeStandsBy(Input, frozen=True, kw_only=True):
    """A shoe that knows the order of drawing waits for a new coup."""

    scanner: str


class Complaint(StrEnum):
    """What a shoe complains about."""

    OVERDRAW = "OVERDRAW"
    """A card left it that the coup was not due."""
    PULLED_BACK = "PULLED_BACK"
    """A card was pushed back into it."""
    DRAW_TIME_OUT = "DRAW_TIME_OUT"
    """The next card has not come for long."""
    OTHER = "OTHER"


class ShoeComplained(Input, frozen=True, kw_only=True):
    """A shoe complains, or says that the cause is gone."""

    scanner: str
    complaint: Complaint
    cleared: bool


class Measured(Input, frozen=True, kw_only=True):
    """Room for the journal, in millions of bytes. Comes when it has become too little, or enough again."""

    disk_free_mb: int


class ClockStepped(Input, frozen=True, kw_only=True):
    """The wall clock was set, by so much, while the process ran; negative: back. The table's own went on."""

    step_ms: int


class TimerExpired(Input, frozen=True, kw_only=True):
    """The deadline `name`, armed with `number`, has passed."""

    name: str
    number: int


class Command(msgspec.Struct, frozen=True, tag_field="command", tag=_snake):
    """Base of all commands, in the form in which they arrive on the bus."""


class BetsTaken(Command, frozen=True):
    """The betting system's answer to `bets.closed`: it takes no more bets, and each box's state."""

    boxes: Mapping[str, BoxState]


class WindowFacts(Command, frozen=True):
    """Facts of a window of this round. None means not told.

    `acknowledges`: the betting system has closed the window too; the facts are final with it.
    """

    window: str
    in_play: bool | None = None
    anyone_drew: bool | None = None
    anyone_bought: bool | None = None
    undecided: bool | None = None
    acknowledges: bool = False


class DecisionTaken(Command, frozen=True):
    """What a box has decided in a window in which cards depend on it; `positions`, from 1, of an exchange."""

    window: str
    box: str
    action: str
    positions: tuple[int, ...] = ()


class Acknowledge(Command, frozen=True):
    """A consumer has acted on revision `rev` of a round, and on everything before it."""

    roundid: str
    rev: int


class OpenTable(Command, frozen=True):
    """The table goes live."""


class LogIn(Command, frozen=True):
    """A person comes on duty.

    `name`, the one that players see, and `proof` are the station's, whatever a message says; None: neither
    PIN nor badge was right.
    """

    role: Role
    name: str = ""
    proof: Proof | None = None


class LogOut(Command, frozen=True):
    """A person goes off duty; with `actor` a supervisor logs out somebody who has left."""

    actor: str | None = None


class PauseTable(Command, frozen=True):
    """No round opens any more, after this one if one is open."""

    reason: HaltReason


class CloseAfterRound(Command, frozen=True):
    """The table closes once the cards of this round are collected."""

    reason: HaltReason


class ResumeTable(Command, frozen=True):
    """Take back a pause, or a close that is to come."""


class Unblock(Command, frozen=True):
    """One of the two presses that unlock a blocked table."""


class CloseTable(Command, frozen=True):
    """The table goes off, between two rounds."""


class VerifyDeck(Command, frozen=True):
    """The deck was verified in view of the camera, `count` cards (RPL-76)."""

    count: int


class LoadDeck(Command, frozen=True):
    """Accept `deck` by its receipt, unopened; it takes two people who name the same (Inventory)."""

    deck: str
    receipt: str


class ChangeDeck(Command, frozen=True):
    """Take the deck out of use between two rounds; also sends away a set that is being scanned in."""

    reason: ChangeReason


class CountStub(Command, frozen=True):
    """The cards that are not out were counted (procedures, row 25)."""

    count: int


class CuttingCard(Command, frozen=True):
    """The cutting card has come out of a shoe that serves many rounds (BAC-13, row 27)."""


class ConfirmShuffle(Command, frozen=True):
    """The deck was shuffled, cut with the cutting card and laid in the shoe (RPL-77)."""


class RepeatShuffle(Command, frozen=True):
    """The shuffle was wrong and is done again (RPL-77)."""


class OpenBetting(Command, frozen=True):
    """START: a round opens and betting time begins."""


class CloseBetting(Command, frozen=True):
    """No more bets."""


class TurnCards(Command, frozen=True):
    """The cards of `place` have been turned face up."""

    place: str


class LayCardAside(Command, frozen=True):
    """The card that the table asked for lies face down on the marked place."""


class ConfirmResult(Command, frozen=True):
    """RESULT: the dealer confirms the proposed result."""


class ClearTable(Command, frozen=True):
    """The cards of the ended round have been collected."""


class DisputeReading(Command, frozen=True):
    """The last card was read as another than the one that lies there (RPL-75)."""


class CallSurplus(Command, frozen=True):
    """The card that came last is surplus and was not laid on a place (RPL-71)."""


class Observed(Command, frozen=True):
    """What no sensor of this table saw: a situation of the procedures, where, and a frame to look it up.

    `kind` is an `IncidentKind` that people may report. A report freezes the table until it is decided.
    """

    kind: IncidentKind
    place: str | None = None
    reference: str | None = None


class VoidBox(Command, frozen=True):
    """A supervisor takes a box out of the round: its wagers go back, the others play on (rows 23, 24)."""

    box: str


class WithdrawReport(Command, frozen=True):
    """Take the report back."""


class ConfirmCancel(Command, frozen=True):
    """A supervisor cancels the round."""


class AnswerQuestion(Command, frozen=True):
    """Answer the question of the open incident."""

    incident: int
    yes: bool


class ConfirmPicture(Command, frozen=True):
    """The table lies exactly as the picture after a restart shows it.

    `picture` is the `lies` of the picture that was looked at: an older page can't confirm a newer table.
    """

    picture: str


class GoOn(Command, frozen=True):
    """A supervisor lets the round go on."""


class OrderRescan(Command, frozen=True):
    """A supervisor orders the card to be scanned once more."""


class OrderEntry(Command, frozen=True):
    """A supervisor has the card that can't be read entered by two people (row 2)."""


class EnterCard(Command, frozen=True):
    """One of two people says which card it is, without seeing what the other has said."""

    incident: int
    card: CardText


class ProposeCorrection(Command, frozen=True):
    """Correct the result of a round that was confirmed: `cards` lay there as others than were read.

    No cards: every wager is refunded (RPL-74).
    """

    roundid: str
    reason: CorrectionReason
    cards: tuple[CardAt, ...]


class ApproveCorrection(Command, frozen=True):
    """Another person enters the same correction, without seeing the first one's cards."""

    roundid: str
    cards: tuple[CardAt, ...]


class WithdrawCorrection(Command, frozen=True):
    """The correction that waits for its second person is dropped."""


class OrderRedeal(Command, frozen=True):
    """A supervisor has the round dealt anew (OAB-24)."""


DeckPress: TypeAlias = LoadDeck | VerifyDeck | ChangeDeck | CountStub | CuttingCard
TablePress: TypeAlias = OpenTable | CloseTable | ConfirmShuffle | RepeatShuffle | ClearTable
RoundPress: TypeAlias = OpenBetting | CloseBetting | TurnCards | LayCardAside | ConfirmResult
ExceptionPress: TypeAlias = (
    DisputeReading
    | CallSurplus
    | Observed
    | WithdrawReport
    | ConfirmCancel
    | VoidBox
    | ConfirmPicture
    | GoOn
    | OrderRescan
    | OrderEntry
    | OrderRedeal
)
TwoPeoplePress: TypeAlias = EnterCard | ProposeCorrection | ApproveCorrection | WithdrawCorrection
DutyPress: TypeAlias = LogIn | LogOut
HaltPress: TypeAlias = PauseTable | CloseAfterRound | ResumeTable | Unblock
AnyCommand: TypeAlias = (
    BetsTaken
    | WindowFacts
    | DecisionTaken
    | Acknowledge
    | AnswerQuestion
    | TablePress
    | DeckPress
    | RoundPress
    | ExceptionPress
    | TwoPeoplePress
    | DutyPress
    | HaltPress
)


PRESS_NAMES: tuple[str, ...] = tuple(
    str(press.__struct_config__.tag)
    for press in (
        *get_args(TablePress),
        *get_args(DeckPress),
        *get_args(RoundPress),
        AnswerQuestion,
        *get_args(ExceptionPress),
        *get_args(TwoPeoplePress),
        *get_args(HaltPress),
    )
)
"""The presses of people at the table, in the order in which a page shows them; log-ins are no buttons."""


def command_name(command: Command) -> str:
    """Return the name of a command on the wire, such as `turn_cards`."""
    return str(command.__struct_config__.tag)


class Commanded(Input, frozen=True, kw_only=True, omit_defaults=True):
    """A command came in from `actor`.

    `request` makes it idempotent; it is remembered for the round `round_no`, which the sender names,
    and the one after, and refused as expired later (an acknowledgement names its own round instead). What
    a command needs and no sender may choose, the station adds: 32 fresh random bytes in hex as the `key`
    of an entered card, and the `past` round that is to be corrected, as the journal has it (None: it has
    none of that id).
    """

    request: str
    actor: str
    role: Role
    round_no: int
    command: AnyCommand
    key: str | None = None
    past: PastRound | None = None


class CommandScanned(Input, frozen=True, kw_only=True):
    """A scanner read a code that is no card but a press of the dealer on duty."""

    scanner: str
    command: AnyCommand


AnyInput: TypeAlias = (
    Started
    | CardRead
    | ReadFailed
    | ScannerOpened
    | ScannerLost
    | CardsTogether
    | ScannerRestarted
    | ShoeResulted
    | ShoeComplained
    | ShoeStandsBy
    | Measured
    | ClockStepped
    | TimerExpired
    | Commanded
    | CommandScanned
)


def encode_command(command: AnyCommand) -> bytes:
    """Return a command as JSON, always the same bytes for the same command."""
    return _ENCODER.encode(command)


def encode_input(value: AnyInput) -> bytes:
    """Return the input as JSON, the form in which the journal keeps it."""
    return _ENCODER.encode(value)


def decode_input(raw: bytes) -> AnyInput:
    """Read an input from the journal. Raises msgspec.ValidationError for anything else."""
    return _DECODER.decode(raw)


_ENCODER = msgspec.json.Encoder(order="deterministic")
_DECODER: msgspec.json.Decoder[AnyInput] = msgspec.json.Decoder(AnyInput)
