"""What one port tells, brought to the station; and the flood that is cut off like a lost line."""

from __future__ import annotations

import logging
from typing import Protocol

from controller.journal.recording import Kind
from controller.station.intake import opened_text

log = logging.getLogger("station")


class Brings(Protocol):
    """What a line needs of the station."""

    def bring(self, kind: Kind, source: str, payload: str = "") -> int: ...
    def is_flooded(self) -> bool: ...


class ScannerLine:
    """Brings what one port tells."""

    def __init__(self, station: Brings, scanner: str) -> None:
        self._station = station
        self._scanner = scanner
        self._cut_off = False
        self._identity: str | None = None

    def opened(self, device: str, identity: str | None = None) -> None:
        """The port is open."""
        self._cut_off = False
        self._identity = identity
        facts = {"scanner": self._scanner, "device": device, "identity": identity}
        log.info("scanner open", extra={"facts": facts})
        self._station.bring(Kind.OPENED, self._scanner, opened_text(device, identity))

    def chunk(self, data: bytes) -> None:
        """Bring a chunk; a flood is cut off like a lost line, and what it says meanwhile is stale."""
        flooded = self._station.is_flooded()
        if flooded and not self._cut_off:
            self.lost("flooding: more reads than a table can take; check the scanner")
        elif self._cut_off and not flooded:
            self.stale(data)
            self.opened("after a flood", self._identity)
            return
        self._cut_off = flooded
        if flooded:
            self.stale(data)
        else:
            self._station.bring(Kind.CHUNK, self._scanner, data.hex())

    def stale(self, data: bytes) -> None:
        """Bring bytes that must never become a read."""
        self._station.bring(Kind.STALE, self._scanner, data.hex())

    def lost(self, reason: str) -> None:
        """The port is gone."""
        log.warning("scanner lost", extra={"facts": {"scanner": self._scanner, "reason": reason}})
        self._station.bring(Kind.LOST, self._scanner, reason.replace("\n", " "))
