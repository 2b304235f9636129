"""What a badge reader reads, for `tablectl doctor`: whose badge it is.

The code of a badge is a secret that a terminal keeps in its scroll-back and people send along with a fault
report, so of the bytes the shape alone is shown, and of a code its holder.
"""

from __future__ import annotations

from collections.abc import Iterator

from controller.station.config import StationConfig
from controller.station.device_config import BadgeReaderConfig
from controller.station.doctor_signs import Heard, line_signs
from controller.station.errors import PeopleError
from controller.station.people import read_people
from drivers.rdm6300 import is_ghost

CONTROL_MAX = 0x1F
SHOWN_MAX = 32
"""Bytes of a chunk that are shown."""


class BadgeSight:
    """The badges at one reader, as the table's people file knows them; a `Sight`."""

    wanted = "Hold a badge to it now, a second long, and another one"

    def __init__(self, reader: BadgeReaderConfig, config: StationConfig) -> None:
        self._reader = reader
        self._path = config.people

    def settings(self) -> Iterator[str]:
        """Yield at whose place it stands."""
        yield f"role: who may work in several logs in here as {self._reader.role}; people: {self._path}"

    def bytes_text(self, data: bytes) -> str:
        """Return what frames the bytes, and how many others there are: they may be the code of a badge.

        Control characters are shown where all else is text; of binary bytes none is.
        """
        shown = data[:SHOWN_MAX]
        is_text = all(byte <= 0x7E for byte in data)
        words = (f"{byte:02x}" if is_text and byte <= CONTROL_MAX else "**" for byte in shown)
        more = " ..." if len(data) > SHOWN_MAX else ""
        return f"{' '.join(words)}{more}  {len(data)} bytes, what may be a badge's code hidden"

    def code_text(self, code: str) -> str:
        """Return whose badge has this code."""
        if is_ghost(code):
            return "read a code that readers invent in an empty field: it logs nobody in"
        try:
            people = read_people(self._path)
        except PeopleError as error:
            return f"read a badge; whose is not known: {error}"
        holder = people.holder_of_code(code)
        if holder is None:
            return f"read a badge that nobody in {self._path} has: tablectl people set-badge gives it to one"
        return f"read the badge of {holder}, who may work as {', '.join(people.people[holder].roles)}"

    def signs(self, heard: Heard) -> Iterator[str]:
        """Yield what the bytes show to be wrong."""
        yield from line_signs(self._reader, heard)

    def config_signs(self) -> Iterator[str]:
        """Yield why badges would log nobody in."""
        try:
            people = read_people(self._path)
        except PeopleError as error:
            yield str(error)
            return
        if all(person.badge is None for person in people.people.values()):
            yield f"people: nobody in {self._path} has a badge: tablectl people set-badge gives one"
