"""The options of an SSI scanner, what they ask of it, and what its decoded data say (hardware notes, 3.2)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import msgspec

from drivers.contract import CodeRead, FailedReadCause, ReadFailed
from drivers.ssi.packet import PERMANENT, Opcode, Packet

EXTENDED_HEAD = 4
"""Bytes in front of the characters in the extended format: type, one more, length (2)."""
PACKETED = b"\xee\x01"
BOOT_EVENT = b"\xf0\x02\x01"

Length = Annotated[int, msgspec.Meta(ge=1, le=250)]


class DecodeFormat(StrEnum):
    """How DECODE_DATA is laid out (hardware notes, 3.2)."""

    CLASSIC = "classic"
    """Type, characters."""
    EXTENDED = "extended"
    """Type, one byte, length (2), characters."""


class SetUp(StrEnum):
    """Whether the scanner is told to send packets, at every open and every start of its own."""

    TEMPORARY = "temporary"
    """For as long as the scanner has power."""
    PERMANENT = "permanent"
    """Written into the scanner."""
    NONE = "none"
    """It was set up by other means."""


class ZebraSsiOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What differs between scanners and houses. Lengths count the characters of the code alone."""

    set_up: SetUp = SetUp.TEMPORARY
    set_up_beep: Annotated[int, msgspec.Meta(ge=0, le=255)] = 255
    """The beep with which the scanner takes a setting; 255 is none."""
    set_up_delay_ms: Annotated[int, msgspec.Meta(ge=0, le=60_000)] = 500
    decode_format: DecodeFormat = DecodeFormat.CLASSIC
    interlock: bool = False
    """Let the scanner read only while a card is expected; see `drivers.contract.Interlock`."""
    wakeup: bool = False
    """Send a NUL in front of each command, for scanners that sleep and lines without RTS/CTS."""
    no_read: tuple[str, ...] = ("NR",)
    """What the scanner sends in place of a code it could not read, where that is switched on."""
    min_length: Length = 1
    max_length: Length = 64
    char_timeout_ms: Annotated[int, msgspec.Meta(ge=20, le=1_000)] = 200
    response_timeout_ms: Annotated[int, msgspec.Meta(ge=200, le=10_000)] = 2_000
    """The same number as in the scanner: how long it waits for an answer, and we for its."""

    def __post_init__(self) -> None:
        if self.min_length > self.max_length:
            raise ValueError(f"min_length {self.min_length} is above max_length {self.max_length}")


def set_up_commands(options: ZebraSsiOptions) -> tuple[Packet, ...]:
    """Return the commands after which a scanner sends packets and says when it has started."""
    if options.set_up is SetUp.NONE:
        return ()
    status = PERMANENT if options.set_up is SetUp.PERMANENT else 0
    beep = bytes((options.set_up_beep,))
    return tuple(
        Packet(Opcode.PARAM_SEND, beep + setting, status=status) for setting in (PACKETED, BOOT_EVENT)
    )


def read_decode(data: bytes, options: ZebraSsiOptions) -> CodeRead | ReadFailed:
    """Return what the data of one DECODE_DATA packet say, type byte first, without CR and LF at the end."""
    characters = data[1:]
    if options.decode_format is DecodeFormat.EXTENDED:
        characters = data[EXTENDED_HEAD:]
        if data[2:EXTENDED_HEAD] != len(characters).to_bytes(2, "big"):
            return ReadFailed(FailedReadCause.DAMAGED)
    characters = characters.rstrip(b"\r\n")
    if not all(0x20 <= byte <= 0x7E for byte in characters):
        return ReadFailed(FailedReadCause.DAMAGED)
    code = characters.decode("ascii")
    if code in options.no_read:
        return ReadFailed(FailedReadCause.NO_READ)
    if not options.min_length <= len(code) <= options.max_length:
        return ReadFailed(FailedReadCause.WRONG_LENGTH)
    return CodeRead(code)
