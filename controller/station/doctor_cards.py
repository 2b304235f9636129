"""What a scanner reads, for `tablectl doctor`: cards, shown with their bytes, and what a misread costs."""

from __future__ import annotations

from collections.abc import Iterator

from controller.cards.misreads import Changes, misreads
from controller.station.config import StationConfig
from controller.station.device_config import ScannerConfig
from controller.station.doctor_signs import Decks, Heard, code_signs, config_signs, line_signs
from drivers.contract import Checksummed
from drivers.families import open_framer

HEX_SHOWN = 32
"""Bytes of a chunk that are shown."""


class CardSight:
    """The codes of one scanner, as the table's decks know them; a `Sight`."""

    wanted = "Scan a card now, and a few more"

    def __init__(self, scanner: ScannerConfig, config: StationConfig) -> None:
        self._scanner = scanner
        self._decks = Decks(config.deck, (*config.spare_decks, *config.other_decks))

    def settings(self) -> Iterator[str]:
        """Yield how many errors of the line pass for another card of the table's deck."""
        framer = open_framer(self._scanner.family, self._scanner.options)
        if isinstance(framer, Checksummed) and framer.has_checksum:
            yield (
                "undetected misreads: 0 of the single changed bits and characters, a checksum finds them all"
            )
            return
        own = self._decks.own
        changed = misreads(own.cards)
        yield (
            f"undetected misreads of deck {own.name}: {_share(changed.bits)} single changed bits and "
            f"{_share(changed.characters)} single changed characters give another card; there is no checksum"
        )

    def bytes_text(self, data: bytes) -> str:
        """Return bytes in hex and as text."""
        shown = data[:HEX_SHOWN]
        text = "".join(chr(byte) if 0x20 <= byte <= 0x7E else "." for byte in shown)
        more = f" ... {len(data)} bytes" if len(data) > HEX_SHOWN else ""
        return f"{shown.hex(' ')}  |{text}|{more}"

    def code_text(self, code: str) -> str:
        """Return which card has this code, and of which deck."""
        return f"read {code!r}: {self._decks.tell(code)}"

    def signs(self, heard: Heard) -> Iterator[str]:
        """Yield what bytes and codes show to be wrong."""
        yield from line_signs(self._scanner, heard)
        yield from code_signs(self._scanner, self._decks, heard.codes)

    def config_signs(self) -> Iterator[str]:
        """Yield what does not fit the deck."""
        yield from config_signs(self._scanner, self._decks.own)


def _share(changes: Changes) -> str:
    tenths = round(1000 * changes.rate)
    return f"{changes.undetected} of {changes.total} ({tenths // 10}.{tenths % 10} %)"
