"""Examining the devices of one table: the port, the line, the set-up, what is read.

What is found goes to `say` as it is found; signs of a wrong set-up are collected and told at the end of each
device. No table runs meanwhile. What a reader reads, cards or badges, is told by a `Sight` of its own module.
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from controller.station.config import StationConfig
from controller.station.device_config import LightConfig, Reader
from controller.station.doctor_signs import Heard, codes_of, line_text, seen
from controller.station.listening import Listening
from controller.station.terminal import clock_time, counted
from drivers.contract import CodeRead, Framer, Garbage, Probe, Report
from drivers.families import open_framer
from drivers.holders import Holder, find_lockers, holder_of

Say = Callable[[str], None]
SECOND_US = 1_000_000
NO_ANSWER = "the device answers no question: check cable, baud rate and the device's protocol"


class Finding(msgspec.Struct, frozen=True):
    """What is wrong with one device, and what to do."""

    device: str
    text: str


class Sight(Protocol):
    """What is read at a device: how it is told, and what it shows to be wrong."""

    wanted: str
    """What people are asked to do while the line is listened to."""

    def settings(self) -> Iterator[str]:
        """Yield how this table takes what is read."""

    def bytes_text(self, data: bytes) -> str:
        """Return bytes as they may be shown."""

    def code_text(self, code: str) -> str:
        """Return what a code means at this table."""

    def signs(self, heard: Heard) -> Iterator[str]:
        """Yield what the line shows to be wrong, some bytes or none having come in."""

    def config_signs(self) -> Iterator[str]:
        """Yield what the config alone shows to be wrong."""


def daemon_of(config: StationConfig) -> Holder | None:
    """Return the process that runs this table: whoever has locked one of its journals."""
    holders = (holder for lock in config.table_dir.glob("*.lock") for holder in find_lockers(lock))
    return next((holder for holder in holders if holder.pid != os.getpid()), None)


class Examination:
    """One reader under examination; a `Hearer` of its line."""

    def __init__(self, name: str, reader: Reader, sight: Sight, say: Say) -> None:
        self.name = name
        self.reader = reader
        self.sight = sight
        self._say = say
        self._line: list[tuple[int, bytes]] = []
        self._reports: list[Report] = []
        self._shown: tuple[bytes, bool] | None = None
        """The bytes that were shown last: a device that is asked all the time answers the same."""
        self._again_count = 0
        self._is_open = False
        self._refused: str | None = None

    async def run(self, seconds: int) -> list[Finding]:
        """Examine the device, listening to it for `seconds`; returns what was found."""
        self._say(f"{self.name}: {self.reader.family} at {self.reader.port}")
        for text in self._settings():
            self._say(f"  {text}")
        signs = list(port_signs(self.reader.port))
        if not signs:
            signs = await self._listen(seconds)
        return found(self.name, [*signs, *self.sight.config_signs()], self._say)

    def _settings(self) -> Iterator[str]:
        yield from line_settings(self.reader)
        options = getattr(open_framer(self.reader.family, self.reader.options), "options", None)
        if isinstance(options, msgspec.Struct):
            facts = msgspec.to_builtins(options)
            yield "options: " + ", ".join(f"{name} {fact!r}" for name, fact in facts.items())
        yield from self.sight.settings()

    async def _listen(self, seconds: int) -> list[str]:
        """Listen for so long from the open on; return what the bytes show to be wrong."""
        listening = Listening(self.name, self.reader, self)
        until_us: int | None = None

        def is_done(now_us: int) -> bool:
            nonlocal until_us
            if self._is_open and until_us is None:
                until_us = now_us + seconds * SECOND_US
                if isinstance(listening.framer, Probe):
                    listening.framer.ask_about_itself()
            return self._refused is not None or (until_us is not None and now_us >= until_us)

        await listening.run(is_done)
        self._tell_repeated()
        heard = list(self._heard_signs(listening.framer)) if self._is_open else []
        return heard if self._refused is None else [self._refused, *heard]

    def _heard_signs(self, framer: Framer) -> Iterator[str]:
        for text in seen(self.reader, self._line):
            self._say(f"  the device: {text}")
        told = framer.told_about_itself() if isinstance(framer, Probe) else ()
        for text in told:
            self._say(f"  the device says: {text}")
        if isinstance(framer, Probe) and not told:
            yield NO_ANSWER
        yield from self.sight.signs(Heard(self._line, self._reports, codes_of(self.reader, self._line), told))

    # What the line tells.

    def opened(self, node: str) -> None:
        """The port is open: now something is to be read."""
        self._is_open = True
        self._say(f"  open: {node}. {self.sight.wanted}")

    def heard(self, at_us: int, data: bytes, *, stale: bool) -> None:
        """Show bytes; stale ones are no evidence, they may be noise of the plug."""
        if not stale:
            self._line.append((at_us, data))
        note = "  (too soon after the open: no table reads them)" if stale else ""
        if self._shown == (data, stale):
            self._again_count += 1
            return
        self._tell_repeated()
        self._shown = (data, stale)
        self._say(f"  {clock_time(at_us)}  {self.sight.bytes_text(data)}{note}")

    def reported(self, at_us: int, report: Report) -> None:
        """Show what the bytes mean."""
        self._reports.append(report)
        self._tell_repeated()
        self._shown = None
        self._say(f"  {clock_time(at_us)}    = {self._report_text(report)}")

    def lost(self, reason: str) -> None:
        """The port does not open, or went away: both end the examination of this device."""
        self._refused = reason

    def _tell_repeated(self) -> None:
        if self._again_count:
            self._say(f"    the same bytes {counted(self._again_count, 'time')} more")
            self._again_count = 0

    def _report_text(self, report: Report) -> str:
        match report:
            case CodeRead(code=code):
                return self.sight.code_text(code)
            case Garbage(count=count, hint=hint):
                return f"{count} bytes of no frame: {hint}"
            case _:
                facts = msgspec.to_builtins(report)
                kind = facts.pop("type")
                return f"{kind}: {', '.join(str(fact) for fact in facts.values())}"


def found(name: str, signs: Sequence[str], say: Say) -> list[Finding]:
    """Say what was found at a device, and return it."""
    for sign in signs:
        say(f"  FOUND {sign}")
    return [Finding(name, sign) for sign in signs]


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


def line_settings(device: Reader | LightConfig) -> Iterator[str]:
    """Yield whose the port is, and how this table opens it."""
    path = Path(device.port)
    if path.exists():
        leads = f"leads to {os.path.realpath(path)}, " if path.is_symlink() else ""
        yield f"port: {leads}{owner_text(path)}"
    yield f"line: {line_text(device.line)}; the device must be set to the same"


def owner_text(path: Path) -> str:
    """Return mode, owner and group of a device."""
    facts = path.stat()
    try:
        owner, group = pwd.getpwuid(facts.st_uid).pw_name, grp.getgrgid(facts.st_gid).gr_name
    except KeyError:
        owner, group = str(facts.st_uid), str(facts.st_gid)
    return f"{stat.filemode(facts.st_mode)} {owner} {group}"
