"""A tower light: takes one byte a command, and remembers what it shows."""

from __future__ import annotations

from drivers.tower_light import Lamp, Light, Mode

COMMANDS = {lamp | mode: (lamp, mode) for lamp in Lamp for mode in Mode}


class TowerLight:
    """One tower. `history` is what it showed after each feed that changed something."""

    def __init__(self) -> None:
        self.shows = Light()
        self.history: list[Light] = []
        self.unknown_count = 0
        """Bytes that are no command."""

    def feed(self, data: bytes) -> None:
        """Take what the host sends."""
        lamps = {Lamp.RED: self.shows.red, Lamp.YELLOW: self.shows.yellow, Lamp.GREEN: self.shows.green}
        for byte in data:
            if byte in COMMANDS:
                lamp, mode = COMMANDS[byte]
                lamps[lamp] = mode
            else:
                self.unknown_count += 1
        shows = Light(lamps[Lamp.RED], lamps[Lamp.YELLOW], lamps[Lamp.GREEN])
        if shows != self.shows:
            self.shows = shows
            self.history.append(shows)
