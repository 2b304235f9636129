"""What the bytes of a delimited scanner show of its own set-up, where it is not the one configured here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from drivers.delimited import DelimitedFramer, Terminator, open_delimited

ENDS: Mapping[Terminator, tuple[bytes, str]] = {
    Terminator.CR_LF: (b"\r\n", "CR LF"),
    Terminator.CR: (b"\r", "CR"),
    Terminator.LF: (b"\n", "LF"),
}
"""The longest first: CR LF is neither a lone CR nor a lone LF."""
OTHER_ENDS = {b"\t": "TAB", b"\x03": "ETX (0x03)", b"\x04": "EOT (0x04)", b"\x00": "NUL"}
TEXT_SHARE = (7, 10)
"""Seven bytes of ten are text: less is no scanner with another suffix."""


def signs(options: Mapping[str, object], line: Sequence[tuple[int, bytes]]) -> tuple[str, ...]:
    """Return what differs, what was expected, what to change; nothing for bytes that are mostly no text."""
    framer = open_delimited(options)
    data = b"".join(chunk for _, chunk in line)
    text_count = sum(0x20 <= byte <= 0x7E or byte in b"\r\n\t" for byte in data)
    if not data or text_count * TEXT_SHARE[1] < len(data) * TEXT_SHARE[0]:
        return ()
    end, name = ENDS[framer.options.terminator]
    if end not in data:
        return (_other_terminator(framer.options.terminator, name, data),)
    return _frame_signs(framer, data.split(end)[:-1])


def _other_terminator(configured: Terminator, name: str, data: bytes) -> str:
    said = (
        f'terminator: bytes arrive and not one {name}, which ends a frame here (terminator = "{configured}")'
    )
    left = data
    for terminator, (end, found) in ENDS.items():
        if end in left:
            return (
                f"{said}; the scanner ends its frames with {found}: give it the suffix {name}, or set "
                f'terminator = "{terminator}"'
            )
    for end, found in OTHER_ENDS.items():
        if end in left:
            return f"{said}; the scanner ends its frames with {found}: give it the suffix {name}"
    return f"{said}; the scanner ends its frames with nothing at all: give it the suffix {name}"


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
