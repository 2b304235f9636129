"""Examining the devices of one table: the port, the line, the set-up, the codes.

What is found goes to `say` as it is found; signs of a wrong set-up are collected and told at the end of each
device. Raw bytes and cards are shown: no table runs meanwhile.
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from controller.cards.misreads import Changes, misreads
from controller.station.config import StationConfig
from controller.station.device_config import ScannerConfig
from controller.station.doctor_signs import (
    Decks,
    Heard,
    code_signs,
    codes_of,
    config_signs,
    line_signs,
    line_text,
    seen,
)
from controller.station.listening import Listening
from controller.station.terminal import clock_time
from drivers.contract import Checksummed, CodeRead, Framer, Garbage, Probe, Report
from drivers.families import open_framer
from drivers.holders import Holder, find_lockers, holder_of

Say = Callable[[str], None]
HEX_SHOWN = 32
"""Bytes of a chunk that are shown."""
SECOND_US = 1_000_000


class Finding(msgspec.Struct, frozen=True):
    """What is wrong with one device, and what to do."""

    scanner: str
    text: str


def daemon_of(config: StationConfig) -> Holder | None:
    """Return the process that runs this table: whoever has locked one of its journals."""
    holders = (holder for lock in config.table_dir.glob("*.lock") for holder in find_lockers(lock))
    return next((holder for holder in holders if holder.pid != os.getpid()), None)


class Examination:
    """One device under examination; a `Hearer` of its line."""

    def __init__(self, name: str, config: StationConfig, say: Say) -> None:
        self.name = name
        self.scanner = config.scanners[name]
        self.decks = Decks(config.deck, (*config.spare_decks, *config.other_decks))
        self._say = say
        self._line: list[tuple[int, bytes]] = []
        self._reports: list[Report] = []
        self._is_open = False
        self._refused: str | None = None

    async def run(self, seconds: int) -> list[Finding]:
        """Examine the device, listening to it for `seconds`; returns what was found."""
        self._say(f"{self.name}: {self.scanner.family} at {self.scanner.port}")
        for text in settings(self.scanner, self.decks):
            self._say(f"  {text}")
        signs = list(port_signs(self.scanner.port))
        if not signs:
            signs = await self._listen(seconds)
        signs += config_signs(self.scanner, self.decks.own)
        for sign in signs:
            self._say(f"  FOUND {sign}")
        return [Finding(self.name, sign) for sign in signs]

    async def _listen(self, seconds: int) -> list[str]:
        """Listen for so long from the open on; return what the bytes show to be wrong."""
        listening = Listening(self.name, self.scanner, self)
        until_us: int | None = None

        def is_done(now_us: int) -> bool:
            nonlocal until_us
            if self._is_open and until_us is None:
                until_us = now_us + seconds * SECOND_US
                if isinstance(listening.framer, Probe):
                    listening.framer.ask_about_itself()
            return self._refused is not None or (until_us is not None and now_us >= until_us)

        await listening.run(is_done)
        heard = list(self._heard_signs(listening.framer)) if self._is_open else []
        return heard if self._refused is None else [self._refused, *heard]

    def _heard_signs(self, framer: Framer) -> Iterator[str]:
        for text in seen(self.scanner, self._line):
            self._say(f"  the device: {text}")
        heard = Heard(self._line, self._reports, codes_of(self.scanner, self._line))
        if isinstance(framer, Probe):
            told = framer.told_about_itself()
            for text in told:
                self._say(f"  the device says: {text}")
            if not told:
                yield "the device answers no question: check cable, baud rate and the device's protocol"
        yield from line_signs(self.scanner, heard)
        yield from code_signs(self.scanner, self.decks, heard.codes)

    # What the line tells.

    def opened(self, node: str) -> None:
        """The port is open: now a card is wanted."""
        self._is_open = True
        self._say(f"  open: {node}. Scan a card now, and a few more")

    def heard(self, at_us: int, data: bytes, *, stale: bool) -> None:
        """Show bytes; stale ones are no evidence, they may be noise of the plug."""
        if not stale:
            self._line.append((at_us, data))
        note = "  (too soon after the open: no table reads them)" if stale else ""
        self._say(f"  {clock_time(at_us)}  {bytes_text(data)}{note}")

    def reported(self, at_us: int, report: Report) -> None:
        """Show what the bytes mean."""
        self._reports.append(report)
        self._say(f"  {clock_time(at_us)}    = {report_text(report, self.decks)}")

    def lost(self, reason: str) -> None:
        """The port does not open, or went away: both end the examination of this device."""
        self._refused = reason


def port_signs(port: str) -> Iterator[str]:
    """Yield what speaks against opening a port: it is not there, not ours to open, or another's."""
    if ":" in port.partition("/")[0]:
        return  # No path: whoever opens it says what is wrong with it.
    path = Path(port)
    if not path.exists():
        leads = f", it leads to {path.readlink()}" if path.is_symlink() else ""
        yield (f"port: no such device{leads}: plug it in, or correct the path; see /dev/serial/by-id")
        return
    if not os.access(path, os.R_OK | os.W_OK):
        yield f"port: no permission to read and write ({owner_text(path)}): add this user to that group"
    holder = holder_of(port)
    if holder is not None:
        yield (
            f"port: held by {holder}, which takes bytes away: stop it; ModemManager and getty open such ports"
        )


def owner_text(path: Path) -> str:
    """Return mode, owner and group of a device."""
    facts = path.stat()
    try:
        owner, group = pwd.getpwuid(facts.st_uid).pw_name, grp.getgrgid(facts.st_gid).gr_name
    except KeyError:
        owner, group = str(facts.st_uid), str(facts.st_gid)
    return f"{stat.filemode(facts.st_mode)} {owner} {group}"


def settings(scanner: ScannerConfig, decks: Decks) -> Iterator[str]:
    """Yield how this table takes the device to be set, and what a misread costs there."""
    path = Path(scanner.port)
    if path.exists():
        leads = f"leads to {os.path.realpath(path)}, " if path.is_symlink() else ""
        yield f"port: {leads}{owner_text(path)}"
    yield f"line: {line_text(scanner)}; the device must be set to the same"
    framer = open_framer(scanner.family, scanner.options)
    options = getattr(framer, "options", None)
    if isinstance(options, msgspec.Struct):
        facts = msgspec.to_builtins(options)
        yield "options: " + ", ".join(f"{name} {fact!r}" for name, fact in facts.items())
    yield from misread_texts(framer, decks)


def misread_texts(framer: Framer, decks: Decks) -> Iterator[str]:
    """Yield how many errors of the line pass for another card of the table's deck."""
    if isinstance(framer, Checksummed) and framer.has_checksum:
        yield "undetected misreads: 0 of the single changed bits and characters, a checksum finds them all"
        return
    found = misreads(decks.own.cards)
    yield (
        f"undetected misreads of deck {decks.own.name}: {_share(found.bits)} single changed bits and "
        f"{_share(found.characters)} single changed characters give another card; there is no checksum"
    )


def _share(changes: Changes) -> str:
    tenths = round(1000 * changes.rate)
    return f"{changes.undetected} of {changes.total} ({tenths // 10}.{tenths % 10} %)"


def bytes_text(data: bytes) -> str:
    """Return bytes in hex and as text."""
    shown = data[:HEX_SHOWN]
    text = "".join(chr(byte) if 0x20 <= byte <= 0x7E else "." for byte in shown)
    more = f" ... {len(data)} bytes" if len(data) > HEX_SHOWN else ""
    return f"{shown.hex(' ')}  |{text}|{more}"


def report_text(report: Report, decks: Decks) -> str:
    """Return what a report means at this table."""
    match report:
        case CodeRead(code=code):
            return f"read {code!r}: {decks.tell(code)}"
        case Garbage(count=count, hint=hint):
            return f"{count} bytes of no frame: {hint}"
        case _:
            facts = msgspec.to_builtins(report)
            kind = facts.pop("type")
            return f"{kind}: {', '.join(str(fact) for fact in facts.values())}"
