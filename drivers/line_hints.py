"""What is wrong with a line, told by its bytes for any family: its speed, or a program that probes it.

A device that echoes sends back the modem commands of a program that looks for modems. They are never a read:
no card is concerned, whatever the family makes of their bytes.
"""

from __future__ import annotations

import re

from drivers.contract import Garbage, ReportQueue

PROBE = (
    "a modem command: another program probes the port (ModemManager does); keep it off with the udev rule "
    "of config/udev"
)
FIRST_COUNT = 64
"""So many bytes without a frame are no accident; said again at every doubling."""
COMMAND_MAX = 64
"""A longer line is no modem command, and so is not kept."""
_A = 0x41
_COMMANDS = re.compile(rb"(?:AT(?:[+&^*%$#!][ -~]*+|[EFHILMQVXZ][0-9]?[ -~]*+)?+)++")
"""Possessive throughout, so that no line takes longer than its length."""


class Strays:
    """A run of bytes that belong to no frame: counted, and looked at for modem commands.

    Of the bytes only a line that may still become a command is kept.
    """

    def __init__(self) -> None:
        self.count = 0
        self._line = bytearray()
        self._may_probe = True
        self._has_command = False

    def add(self, data: bytes | bytearray) -> None:
        """Take the next bytes of the run."""
        self.count += len(data)
        for byte in data:
            if not self._may_probe:
                return
            self._look_at(byte)

    @property
    def is_probe(self) -> bool:
        """Whether the run is nothing but modem commands; the last one may lack its end."""
        if not self._line:
            return self._may_probe and self._has_command
        return self._may_probe and _COMMANDS.fullmatch(self._line) is not None

    def garbage(self, hint: str) -> Garbage:
        """Return the run as it is reported: with `hint`, or as a probe."""
        return Garbage(self.count, PROBE if self.is_probe else hint)

    def _look_at(self, byte: int) -> None:
        if byte in b"\r\n":
            if self._line:
                self._has_command = self._may_probe = self.is_probe
                self._line.clear()
        elif (not self._line and byte != _A) or len(self._line) == COMMAND_MAX:
            self._may_probe = False
            self._line.clear()
        else:
            self._line.append(byte)


def is_probe(data: bytes) -> bool:
    """Tell whether `data` is nothing but modem commands, which a device that echoes has sent back."""
    strays = Strays()
    strays.add(data)
    return strays.is_probe


class BaudWatch:
    """Counts the bytes since the last whole frame for a framer, and reports when there are too many."""

    def __init__(self, reports: ReportQueue) -> None:
        self._reports = reports
        self._count = 0
        self._next_count = FIRST_COUNT

    def framed(self) -> None:
        """A whole frame came in: the line is set as the device is."""
        self._count, self._next_count = 0, FIRST_COUNT

    def report(self, garbage: Garbage) -> None:
        """Report bytes that are no frame, and count them; the line of a probe is set as it should be."""
        self._reports.put(garbage)
        if garbage.hint != PROBE:
            self.unframed(garbage.count)

    def unframed(self, count: int) -> None:
        """Count bytes that gave no frame, of which another report has told already."""
        self._count += count
        if self._count < self._next_count:
            return
        while self._next_count <= self._count:
            self._next_count *= 2
        hint = f"{self._count} bytes without a frame: check baud, parity and family"
        self._reports.put(Garbage(0, hint))
