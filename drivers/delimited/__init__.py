"""Delimited ASCII scanners: `[prefix] [AIM id] data [postfix] terminator`, most barcode and tag readers.

The framing is from the hardware notes, section 2. Most lines have no checksum, so one rule governs: nothing
is salvaged. A frame is a code as it stands between two terminators or it is a failed read:

- Terminator `lf` (default): a frame ends at LF; one CR directly before it belongs to the terminator, a
  CR anywhere else is noise. `cr`: ends at CR; one LF directly behind it is dropped. `cr-lf`: both needed.
- Envelope `stx-etx`: all of that stands between STX and ETX; `stx-etx-lrc`: a byte follows that is the XOR
  of everything behind STX, ETX too. Only in an envelope may the terminator be `none`.
- Ended by its terminator with bytes in it that are not printable ASCII: damaged, the whole of it.
- Ended by silence (`char_gap_ms`) instead: cut short, or damaged if there is noise in it as well.
- Without one printable byte it is garbage however it ended, and so is a terminator with nothing before
  it. Noise that happens to be printable cannot be told from a broken card and counts as a failed read.
- What follows a silence is a frame of its own. The end of a cut frame can be as short as one character:
  give decks with codes of one length `min_length` and `max_length` to refuse it here, not at the register.
- A modem command (`AT+GCAP`) is garbage and no code: another program on this machine probes the port, and
  the device echoes it.

These scanners number nothing, so two reads of one code are two reads. What may be one card twice is marked
(`CodeRead.repeat`) and never dropped: by its value alone nobody can tell; people are asked.
"""

from drivers.delimited.cutters import GARBAGE_RUN_MAX
from drivers.delimited.framer import (
    ASKED_AGAIN,
    FAMILY,
    DelimitedFramer,
    open_delimited,
)
from drivers.delimited.frames import EMPTY, NOISE, SURPLUS, encode
from drivers.delimited.options import PROFILES, DelimitedOptions, Envelope, Terminator

__all__ = [
    "ASKED_AGAIN",
    "EMPTY",
    "FAMILY",
    "GARBAGE_RUN_MAX",
    "NOISE",
    "PROFILES",
    "SURPLUS",
    "DelimitedFramer",
    "DelimitedOptions",
    "Envelope",
    "Terminator",
    "encode",
    "open_delimited",
]
