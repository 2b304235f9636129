"""What the process was taking when it stopped: a small file beside the journal that outlives any end.

The name of an input (`table.quarantine`) stands in it while the table takes that input, and no longer: a
process that stops on it, by an exception, in a loop or by the kernel's hand, leaves it there. The next start
counts it; a name that was left twice is left out. A power cut may lose the last name, never invent one.

The file: lines of 64 hex digits. The first is what is being taken now, or blank; the others are what was
left behind, newest first.
"""

from __future__ import annotations

import mmap
import re
from collections import Counter
from pathlib import Path

NAME_BYTES = 64
KEPT_MAX = 15
"""So many stops are remembered; the last ones count."""
FILE_NAME = "stops"
BLANK = b" " * NAME_BYTES
NAME = re.compile(rb"^[0-9a-f]{64}$", re.MULTILINE)


class Stops:
    """The file of one table; the journal's lock keeps a second process away from it."""

    def __init__(self, folder: Path) -> None:
        """Count what the process before has left, and begin anew."""
        path = folder / FILE_NAME
        left = NAME.findall(path.read_bytes())[:KEPT_MAX] if path.exists() else []
        counted = Counter(left)
        self.twice: tuple[str, ...] = tuple(sorted(name.decode() for name in counted if counted[name] > 1))
        """The names of inputs that have stopped the process more than once."""
        fresh = path.with_name(f"{FILE_NAME}.new")
        fresh.unlink(missing_ok=True)
        fresh.touch(mode=0o600)
        fresh.write_bytes(b"".join(name + b"\n" for name in (BLANK, *left)))
        # Counted and cleared in one stroke: a start that dies here neither forgets a stop nor doubles it.
        fresh.replace(path)
        with path.open("r+b") as file:
            self._line = mmap.mmap(file.fileno(), NAME_BYTES)

    def taking(self, name: str) -> None:
        """Say what is being taken from here on."""
        self._line[:] = name.encode()

    def taken(self) -> None:
        """Say that it is taken."""
        self._line[:] = BLANK

    def close(self) -> None:
        """Let go of the file."""
        self._line.close()
