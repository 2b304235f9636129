"""What the bytes of a badge reader show of its own make, where it is not the one configured here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from drivers.contract import Signs
from drivers.rdm6300 import Checksum, RdmOptions, open_rdm6300, read_frame

FRAME = re.compile(rb"\x02[^\x02\x03]{12}\x03")
ALONE = "no frame came twice: a badge is read when it is held there; hold it for a second"


def signs(options: Mapping[str, object], line: Sequence[tuple[int, bytes]]) -> Signs:
    """Return what the frames show; a code is a secret, and no sign holds any of it."""
    own = open_rdm6300(options).options
    frames = FRAME.findall(b"".join(chunk for _, chunk in line))
    if not frames:
        return Signs()
    if any(read_frame(frame, own) is not None for frame in frames):
        alone = len(set(frames)) == len(frames)
        return Signs((f"frames carry {_make(own)}",), (ALONE,) if alone else ())
    for checksum in Checksum:
        for lower_case in (False, True):
            other = replace(own, checksum=checksum, lower_case=lower_case)
            if any(read_frame(frame, other) is not None for frame in frames):
                return Signs((f"frames carry {_make(other)}",), (_set(own, other),))
    return Signs((), (f"{len(frames)} frames with a wrong checksum: check cable, plug and shield",))


def _make(options: RdmOptions) -> str:
    sums = "the XOR" if options.checksum is Checksum.XOR else "the sum"
    return f"{sums} of their bytes{', and small letters' if options.lower_case else ''}"


def _set(own: RdmOptions, other: RdmOptions) -> str:
    changed = []
    if other.checksum is not own.checksum:
        changed.append(f'checksum = "{other.checksum}"')
    if other.lower_case and not own.lower_case:
        changed.append("lower_case = true")
    return f"the frames carry {_make(other)}, and {_make(own)} is expected: set {', '.join(changed)}"
