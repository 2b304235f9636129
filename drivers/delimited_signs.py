"""What the bytes of a delimited scanner show of its own set-up, where it is not the one configured here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from drivers.contract import Signs
from drivers.delimited import DelimitedFramer, Envelope, Terminator, open_delimited

ENDS: Mapping[Terminator, tuple[bytes, str]] = {
    Terminator.CR_LF: (b"\r\n", "CR LF"),
    Terminator.CR: (b"\r", "CR"),
    Terminator.LF: (b"\n", "LF"),
}
"""The longest first: CR LF is neither a lone CR nor a lone LF."""
OTHER_ENDS = {b"\t": "TAB", b"\x03": "ETX (0x03)", b"\x04": "EOT (0x04)", b"\x00": "NUL"}
TEXT_SHARE = (7, 10)
"""Seven bytes of ten are text: less is no scanner with another suffix."""


def signs(options: Mapping[str, object], line: Sequence[tuple[int, bytes]]) -> Signs:
    """Return what the bytes show; nothing for bytes that are mostly no text."""
    framer = open_delimited(options)
    data = b"".join(chunk for _, chunk in line)
    text_count = sum(0x20 <= byte <= 0x7E or byte in b"\r\n\t" for byte in data)
    if not data or text_count * TEXT_SHARE[1] < len(data) * TEXT_SHARE[0]:
        return Signs()
    if framer.options.envelope is not Envelope.NONE:
        return Signs()  # What stands around the frame ends it.
    seen = _seen_end(data)
    end, name = ENDS[framer.options.terminator]
    if end in data:
        return Signs((f"frames end with {seen}",), _frame_signs(framer, data.split(end)[:-1]))
    same = next((other for other, (_, found) in ENDS.items() if found == seen), None)
    advice = "" if same is None else f', or set terminator = "{same}"'
    return Signs(
        (f"frames end with {seen}",),
        (
            f"terminator: bytes arrive and not one {name}, which ends a frame here (terminator = "
            f'"{framer.options.terminator}"); the scanner ends its frames with {seen}: give it the suffix '
            f"{name}{advice}",
        ),
    )


def _seen_end(data: bytes) -> str:
    ends = (*ENDS.values(), *OTHER_ENDS.items())
    return next((name for end, name in ends if end in data), "nothing at all")


def _frame_signs(framer: DelimitedFramer, frames: Sequence[bytes]) -> tuple[str, ...]:
    """Return what every frame begins or ends with, and should not, or the other way round."""
    bodies = [frame.strip(b"\r\n") for frame in frames if frame.strip(b"\r\n")]
    found = []
    prefix, postfix = framer.options.prefix.encode(), framer.options.postfix.encode()
    if bodies and prefix and not any(body.startswith(prefix) for body in bodies):
        found.append(
            f"prefix: no frame begins with {framer.options.prefix!r}: take it out, or set the scanner"
        )
    if bodies and postfix and not any(body.endswith(postfix) for body in bodies):
        found.append(
            f"postfix: no frame ends with {framer.options.postfix!r}: take it out, or set the scanner"
        )
    firsts = {body[0] for body in bodies}
    if len(bodies) > 1 and len(firsts) == 1 and not 0x20 <= bodies[0][0] <= 0x7E and not prefix:
        found.append(
            f"prefix: every frame begins with the byte 0x{bodies[0][0]:02x}: switch the scanner's prefix "
            "off, or set prefix to it"
        )
    return tuple(found)
