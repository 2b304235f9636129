"""Inputs: what happened outside the table. Nothing else ever moves it, not even time.

`at` is the table's clock, integer microseconds since 1970, strictly rising from input to input.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from controller.table.inputs.base import Input
from controller.table.inputs.commands import (
    PRESS_NAMES,
    Acknowledge,
    AnswerQuestion,
    AnyCommand,
    ApproveCorrection,
    BetsTaken,
    CallSurplus,
    ChangeDeck,
    ClearTable,
    CloseAfterRound,
    CloseBetting,
    CloseTable,
    Command,
    Commanded,
    CommandScanned,
    ConfirmCancel,
    ConfirmPicture,
    ConfirmResult,
    ConfirmShuffle,
    CountStub,
    CuttingCard,
    DecisionTaken,
    DeckPress,
    DisputeReading,
    DutyPress,
    EnterCard,
    ExceptionPress,
    GoOn,
    HaltPress,
    LayCardAside,
    LoadDeck,
    LogIn,
    LogOut,
    Observed,
    OpenBetting,
    OpenTable,
    OrderEntry,
    OrderRedeal,
    OrderRescan,
    PauseTable,
    ProposeCorrection,
    RepeatShuffle,
    ResumeTable,
    Role,
    RoundPress,
    TablePress,
    TurnCards,
    TwoPeoplePress,
    Unblock,
    VerifyDeck,
    VoidBox,
    WindowFacts,
    WithdrawCorrection,
    WithdrawReport,
    command_name,
)
from controller.table.inputs.devices import (
    OUTSIDE,
    CardRead,
    CardsTogether,
    ClockStepped,
    Complaint,
    Measured,
    ReadFailed,
    ScannerLost,
    ScannerOpened,
    ScannerRestarted,
    ShoeComplained,
    ShoeResulted,
    ShoeStandsBy,
    Started,
    TimerExpired,
    UntakenRead,
)
from controller.table.inputs.reasons import CancelReason, ChangeReason, CorrectionReason, Proof

__all__ = [
    "OUTSIDE",
    "PRESS_NAMES",
    "Acknowledge",
    "AnswerQuestion",
    "AnyCommand",
    "AnyInput",
    "ApproveCorrection",
    "BetsTaken",
    "CallSurplus",
    "CancelReason",
    "CardRead",
    "CardsTogether",
    "ChangeDeck",
    "ChangeReason",
    "ClearTable",
    "ClockStepped",
    "CloseAfterRound",
    "CloseBetting",
    "CloseTable",
    "Command",
    "CommandScanned",
    "Commanded",
    "Complaint",
    "ConfirmCancel",
    "ConfirmPicture",
    "ConfirmResult",
    "ConfirmShuffle",
    "CorrectionReason",
    "CountStub",
    "CuttingCard",
    "DecisionTaken",
    "DeckPress",
    "DisputeReading",
    "DutyPress",
    "EnterCard",
    "ExceptionPress",
    "GoOn",
    "HaltPress",
    "Input",
    "LayCardAside",
    "LoadDeck",
    "LogIn",
    "LogOut",
    "Measured",
    "Observed",
    "OpenBetting",
    "OpenTable",
    "OrderEntry",
    "OrderRedeal",
    "OrderRescan",
    "PauseTable",
    "Proof",
    "ProposeCorrection",
    "ReadFailed",
    "RepeatShuffle",
    "ResumeTable",
    "Role",
    "RoundPress",
    "ScannerLost",
    "ScannerOpened",
    "ScannerRestarted",
    "ShoeComplained",
    "ShoeResulted",
    "ShoeStandsBy",
    "Started",
    "TablePress",
    "TimerExpired",
    "TurnCards",
    "TwoPeoplePress",
    "Unblock",
    "UntakenRead",
    "VerifyDeck",
    "VoidBox",
    "WindowFacts",
    "WithdrawCorrection",
    "WithdrawReport",
    "command_name",
    "decode_input",
    "encode_command",
    "encode_input",
]

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
