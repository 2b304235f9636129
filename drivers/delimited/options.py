"""How one delimited scanner frames its codes and what it waits for; the profiles of the vendors.

More devices, as options on top of a profile, are in `drivers/README.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

import msgspec

STX, ETX, ACK, LF, CR, NAK = 0x02, 0x03, 0x06, 0x0A, 0x0D, 0x15

Length = Annotated[int, msgspec.Meta(ge=1, le=1024)]
Framing = Annotated[str, msgspec.Meta(max_length=16)]
Guard = Annotated[int, msgspec.Meta(ge=0, le=10_000)]


def is_printable(data: bytes) -> bool:
    """Tell whether all of `data` is 0x20-0x7E, the only bytes a code may hold."""
    return all(0x20 <= byte <= 0x7E for byte in data)


def has_printable(data: bytes) -> bool:
    """Tell whether any byte of `data` may belong to a code."""
    return any(0x20 <= byte <= 0x7E for byte in data)


class Terminator(StrEnum):
    """What ends a frame, or what stands before the end of an envelope."""

    LF = "lf"
    CR = "cr"
    CR_LF = "cr-lf"
    NONE = "none"


class Envelope(StrEnum):
    """What stands around a frame and its terminator."""

    NONE = "none"
    STX_ETX = "stx-etx"
    STX_ETX_LRC = "stx-etx-lrc"


class DelimitedOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How one scanner frames its codes. Lengths count the characters of the code alone."""

    profile: str = "generic"
    """The vendor's defaults that the other options were put on."""
    terminator: Terminator = Terminator.LF
    envelope: Envelope = Envelope.NONE
    prefix: Framing = ""
    postfix: Framing = ""
    aim_id: bool = True
    """Drop an AIM symbology id (`]C0`) in front of the code, if one is there."""
    no_read: tuple[str, ...] = ("NOREAD",)
    """What the scanner sends in place of a code it could not read."""
    char_gap_ms: Annotated[int, msgspec.Meta(ge=10, le=10_000)] = 100
    """Silence that ends a started frame; six characters at 9600 baud last 6.3 ms."""
    min_length: Length = 1
    max_length: Length = 64
    handshake: bool = False
    """The scanner waits after each frame for ACK (0x06, once the read is durable) or NAK (0x15, at once)."""
    resend_ms: Annotated[int, msgspec.Meta(ge=20, le=5_000)] = 200
    """How long after a NAK the same frame may begin again. Two cards are never this close to one another, or
    the second one would be taken for the first; a device that answers more slowly only has the dealer asked
    for a re-scan, which its late answer then is."""
    unanswered_ms: Guard = 0
    """After how long the scanner by itself sends a frame again that nobody answered, by its manual; 0: it
    does not (the Honeywell 1202g waits 2000 ms and gives up)."""
    repeat_ms: Guard = 0
    """The same code again in less than this may be one card read twice: a scanner in continuous mode sees a
    card as long as it lies there. Set it below the time in which a dealer draws two cards; 0: off."""

    def __post_init__(self) -> None:
        if self.min_length > self.max_length:
            raise ValueError(f"min_length {self.min_length} is above max_length {self.max_length}")
        for text in self.no_read:
            if not text or not is_printable(text.encode()):
                raise ValueError(f"no_read: {text!r} is not printable ASCII")
        for text in (self.prefix, self.postfix):
            if not text.isascii() or "\r" in text or "\n" in text:
                raise ValueError(f"prefix, postfix: {text!r} is not ASCII without CR and LF")
            if self.envelope is not Envelope.NONE and not is_printable(text.encode()):
                raise ValueError(
                    f"prefix, postfix: {text!r} is not printable, as inside an envelope it must be"
                )
        if self.terminator is Terminator.NONE and self.envelope is Envelope.NONE:
            raise ValueError("terminator none: nothing would end a frame; give an envelope")
        if self.unanswered_ms and not self.handshake:
            raise ValueError("unanswered_ms: the scanner waits for no answer; give handshake = true")
        if 0 < self.unanswered_ms <= self.resend_ms:
            raise ValueError(f"unanswered_ms {self.unanswered_ms} is not above resend_ms {self.resend_ms}")


PROFILES: Mapping[str, DelimitedOptions] = {
    "generic": DelimitedOptions(),
    # Its raw mode is never acknowledged. No-read is off out of the box, and `NR` where it is on.
    "zebra-raw": DelimitedOptions(terminator=Terminator.CR, no_read=("NR",)),
    "honeywell-ack": DelimitedOptions(terminator=Terminator.CR, no_read=(), handshake=True),
    "omron": DelimitedOptions(terminator=Terminator.CR_LF, no_read=("NOREAD", "NO LABEL", "BADCODE")),
    # K140 = 4 with STX, ETX and LRC switched on.
    "omron-ack": DelimitedOptions(
        terminator=Terminator.CR_LF,
        envelope=Envelope.STX_ETX_LRC,
        no_read=("NOREAD", "NO LABEL", "BADCODE"),
        handshake=True,
    ),
}
"""What a vendor's scanner does when it comes out of the box; options of the table's config go on top."""
