"""What people at the table and the betting system command.

A command is what arrives on the bus; `Commanded` is the input that it becomes, with who sent it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeAlias, get_args

import msgspec

from controller.games.procedure import BoxState
from controller.table.events.base import CardAt, CardText
from controller.table.events.reasons import HaltReason, IncidentKind
from controller.table.inputs.base import Input, snake
from controller.table.inputs.reasons import ChangeReason, CorrectionReason, Proof
from controller.table.past_rounds import PastRound


class Role(StrEnum):
    """Who presses. A person's role is the one in which they are on duty, never what the message says."""

    BETTING = "betting"
    CONSUMER = "consumer"
    """A registered system that acknowledges what it has acted on."""
    DEALER = "dealer"
    SUPERVISOR = "supervisor"


class Command(msgspec.Struct, frozen=True, tag_field="command", tag=snake):
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
