"""The capture format: one time-ordered text file of everything that came from outside.

    # tablectl capture 1
    # table rp1
    # environment simulated
    # ... one provenance fact a line
    1764504000000000 chunk shoe 313031300a
    1764504000000000 key shoe 5f...            the key drawn for the card read that the chunk completed
    1764504001000000 command operator {"request":"r1",...}

A line is `at kind source payload`, one blank between; `at` is integer microseconds since 1970 and never
falls; `payload` runs to the end of the line and may be empty. Bytes are lower-case hex. A port capture
is the same file with `chunk` lines alone, and `opened` ones where a line was opened anew, and a header that
names each port's device family.

| kind | source | payload |
|---|---|---|
| chunk, stale | scanner | bytes; stale ones came in while the line settled and are never read |
| opened | scanner | node, and ` is <device>` where the system can tell devices apart |
| lost | scanner | reason |
| tick | scanner | a time-out of its driver passed |
| key | scanner | 32 bytes, for the card read that the line before made |
| command | betting, operator | the request as JSON, with the role that the station gave the sender |
| timer | deadline's name | its number |
| input | journal | an input taken over from the journal at a start, as JSON |
| input | station | what the station itself has to tell (disk, clock), as JSON |
| start | station | the Started input as JSON |
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, TextIO

from controller.journal.errors import JournalDamaged

TIME_DIGITS_MAX = 18
"""Of a line's time; more than any clock shows."""
NEAR_BYTES = 65_536
FIRST_LINE = "# tablectl capture 1"


class Kind(StrEnum):
    """What a line tells."""

    CHUNK = "chunk"
    STALE = "stale"
    OPENED = "opened"
    LOST = "lost"
    TICK = "tick"
    KEY = "key"
    COMMAND = "command"
    TIMER = "timer"
    INPUT = "input"
    START = "start"


class Line(NamedTuple):
    """One line of a capture."""

    at_us: int
    kind: Kind
    source: str
    payload: str = ""

    def __str__(self) -> str:
        return f"{self.at_us} {self.kind} {self.source} {self.payload}".rstrip()


class Header(NamedTuple):
    """The provenance of a capture: facts by name, several with the same name in order."""

    facts: tuple[tuple[str, str], ...]

    def all(self, name: str) -> tuple[str, ...]:
        """Return every fact of this name."""
        return tuple(value for fact, value in self.facts if fact == name)

    def one(self, name: str) -> str | None:
        """Return the first fact of this name, None without one."""
        return next(iter(self.all(name)), None)


class Recorder:
    """Writes a capture line by line; every line is handed to the system before its input is taken."""

    def __init__(self, path: Path, facts: Iterable[tuple[str, str]]) -> None:
        path.touch(mode=0o600, exist_ok=False)
        self._file: TextIO = path.open("a", encoding="utf-8", buffering=1)
        self.path = path
        self._file.write(FIRST_LINE + "\n")
        for name, value in facts:
            assert "\n" not in value, name
            self._file.write(f"# {name} {value}\n")

    def write(self, line: Line) -> None:
        """Append a line."""
        self._file.write(f"{line}\n")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read_header(path: Path) -> Header:
    """Read the provenance. Raises JournalDamaged for a file that is no capture."""
    with _open(path) as file:
        if file.readline().rstrip("\n") != FIRST_LINE:
            raise JournalDamaged(f"{path}: line 1: expected {FIRST_LINE!r}; this is no capture")
        facts = []
        for text in file:
            if not text.startswith("# "):
                break
            name, _, value = text[2:].rstrip("\n").partition(" ")
            facts.append((name, value))
        return Header(tuple(facts))


def read_lines(path: Path, *, since_us: int = 0) -> Iterator[Line]:
    """Read the lines in order, from `since_us` on. Raises JournalDamaged naming the first one not understood.

    Of a long recording only the end is read; its lines are counted from there. A last line without its end
    was being written when the process stopped, and is left out.
    """
    with _open(path) as file:
        if since_us:
            file.seek(_offset_before(path, since_us))
            file.readline()  # A piece of a line, or the first one, which says what the file is.
        number, last = 0, 0
        for text in file:
            number += 1
            if text.startswith("#") or not text.endswith("\n"):
                continue
            line = _parse(path, number, text.rstrip("\n"))
            if line.at_us < since_us:
                continue
            if line.at_us < last:
                raise JournalDamaged(f"{path}: line {number}: time falls from {last} to {line.at_us}")
            last = line.at_us
            yield line


def _offset_before(path: Path, since_us: int) -> int:
    """Find a place in the file with every line from `since_us` on behind it, and little else: times rise."""
    low, high = 0, path.stat().st_size
    with path.open("rb") as file:
        while high - low > NEAR_BYTES:
            middle = (low + high) // 2
            file.seek(middle)
            file.readline()
            stamp, _, _ = file.readline().partition(b" ")
            low, high = (middle, high) if stamp.isdigit() and int(stamp) < since_us else (low, middle)
    return low


def _open(path: Path) -> TextIO:
    try:
        return path.open(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise JournalDamaged(f"{path}: can't be read: {error.strerror}") from None


def _parse(path: Path, number: int, text: str) -> Line:
    fields = text.split(" ", 3)
    is_time = fields[0].isdecimal() and len(fields[0]) <= TIME_DIGITS_MAX
    if len(fields) < 3 or not is_time or fields[1] not in Kind.__members__.values():
        raise JournalDamaged(f"{path}: line {number}: got {text[:60]!r}, expected: at kind source payload")
    return Line(int(fields[0]), Kind(fields[1]), fields[2], fields[3] if len(fields) == 4 else "")
