"""How one FEIG reader is asked, and how its inventories are judged."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from drivers.feig_obid.frames import ANY_ADDRESS

Count = Annotated[int, msgspec.Meta(ge=1, le=100)]


class FeigOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How one reader is asked, and how its inventories are judged.

    A reader comes with 38400 8E1: `baud = 38400`, `parity = "E"` under the scanner's `line`.
    """

    address: Annotated[int, msgspec.Meta(ge=0, le=255)] = ANY_ADDRESS
    """The reader's; 255 reaches any, and its first answer tells which."""
    advanced: bool = False
    """Ask in advanced frames. Answers are read in both."""
    ont: Literal[0, 1] = 0
    """Bit ONT of the reader's CFG5."""
    poll_ms: Annotated[int, msgspec.Meta(ge=20, le=10_000)] = 100
    """From one inventory to the next; a reader that needs longer is asked when it has answered."""
    reply_ms: Annotated[int, msgspec.Meta(ge=50, le=10_000)] = 3_500
    """How long an inventory may take; the reader itself gives up after 3 s (its TR-RESPONSE-TIME)."""
    link_ms: Annotated[int, msgspec.Meta(ge=50, le=10_000)] = 300
    """How long any other answer may take."""
    char_gap_ms: Annotated[int, msgspec.Meta(ge=20, le=1_000)] = 50
    """Silence that ends a reply; USB adapters alone make pauses of 16 ms."""
    gone_after: Count = 3
    """A tag is gone when so many inventories in a row lack it: tags flicker, and stacked cards hide."""
    real_after: Count = 1
    """A tag has come when so many inventories in a row list it; above 1 where antennas hear each other."""
    apart_ms: Annotated[int, msgspec.Meta(ge=0, le=5_000)] = 300
    """Cards that come closer together than this have no certain order."""
    silent_after: Count = 3
    """So many questions in a row without a usable answer: the reader is silent."""
    no_read_after: Count = 5
    """So many inventories in a row in which something could not be read: a failed read."""

    def __post_init__(self) -> None:
        if self.ont == 1 and self.real_after > 1:
            raise ValueError("real_after above 1 needs ont = 0: with ont = 1 a tag is listed only once")
