"""Worn cards and tired scanners: re-scans in 10,000 reads (procedures, "Inventory").

Counted when the cards of a round are collected, so that no count tells of a card that lies face down.
"""

from __future__ import annotations

from controller.table.events import WearFound, Worn
from controller.table.shoe_state import Reads
from controller.table.state import TableState

RESCANS_AT_LEAST = 3
"""Fewer re-scans than this are chance, however few the reads."""


def note_read(t: TableState, scanner: str, *, failed: bool) -> None:
    """A scanner has read a card of the round, or failed to."""
    known = t.in_play.scanner_reads.get(scanner, Reads())
    t.in_play.scanner_reads[scanner] = Reads(known.reads + 1, known.rescans + failed)


def note_rescan(t: TableState, place: str, n: int) -> None:
    """A card of the round has to be scanned again."""
    t.in_play.rescanned.append((place, n))


def note_round(t: TableState) -> None:
    """Count the reads and re-scans of a round whose cards have been collected, and name what is worn."""
    current = t.in_play
    for laid in current.laid:
        rescans = current.rescanned.count((laid.place, laid.n))
        _count(t, Worn.CARD, str(laid.card), Reads(1 + rescans, rescans))
    for scanner, reads in current.scanner_reads.items():
        _count(t, Worn.SCANNER, scanner, reads)


def _count(t: TableState, worn: Worn, name: str, more: Reads) -> None:
    shoe, key = t.shoe, f"{worn}/{name}"
    known = shoe.wear.get(key, Reads())
    now = shoe.wear[key] = Reads(known.reads + more.reads, known.rescans + more.rescans)
    limit = t.settings.limits.retire_rescans_per_10_000
    if key in shoe.worn or now.rescans < RESCANS_AT_LEAST or now.rescans * 10_000 <= limit * now.reads:
        return
    shoe.worn = (*shoe.worn, key)
    t.emit(WearFound(worn=worn, name=name, rescans=now.rescans, reads=now.reads))


def forget_cards(t: TableState) -> None:
    """A deck has gone; scanners stay."""
    shoe = t.shoe
    shoe.wear = {key: reads for key, reads in shoe.wear.items() if not _is_card(key)}
    shoe.worn = tuple(key for key in shoe.worn if not _is_card(key))


def _is_card(key: str) -> bool:
    return key.startswith(f"{Worn.CARD}/")
