"""Playing a recording: the chunks of one scanner with their spacing, into a pty that any program may open.

What is sent while nobody has the line open is lost, and a host throws away what comes in just after its
open (hardware notes, section 7); so the player waits for its host, then a little longer, and goes on where
it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import msgspec

from controller.journal.recording import Header, Kind, read_lines
from controller.station.errors import StationError
from controller.station.replay import (
    UntilOpenRound,
    framers_of,
    is_port_capture,
    read_kind,
    replay_all,
)
from controller.station.replay_command import input_time
from drivers.pty import PtyDevice

HOST_SETTLES_S = 1.0
"""How long after its open the host is left alone: longer than the default `settle_ms` and a flush."""
LOOK_S = 0.02
DRAIN_S = 5.0
"""How long the host may take to read the last bytes before the line goes away under them."""
ARRIVE_S = 0.2
"""What was written shows as unread only when the kernel has carried it to the other end."""
LOOP_SILENCE_US = 1_000_000
"""Between the last chunk of a loop and the first one of the next."""


class Chunk(NamedTuple):
    """Bytes, and the silence before them."""

    after_us: int
    data: bytes


class Recorded(NamedTuple):
    """What there is to play. `cut` tells a file whose last line was not finished, `open_round` one that
    ends for everybody before a round which is still open."""

    scanner: str
    chunks: tuple[Chunk, ...]
    cut: bool
    open_round: bool


def read_recorded(path: Path, scanner: str | None) -> Recorded:
    """Read the chunks of one scanner; `scanner` may be None if there is only one.

    Raises NothingToReplay for a file of another kind, StationError and JournalDamaged for one that can't be
    played.
    """
    header = read_kind(path)
    scanner = _the_scanner(path, scanner)
    until_us = _open_since(path, header)
    return Recorded(scanner, tuple(_chunks(path, scanner, until_us)), _is_cut(path), until_us is not None)


def _the_scanner(path: Path, wanted: str | None) -> str:
    known = tuple(framers_of(path))
    if wanted is None and len(known) == 1:
        return known[0]
    if wanted not in known:
        got = "no --scanner" if wanted is None else f"--scanner {wanted}"
        raise StationError(f"{path}: got {got}, expected one of {', '.join(known)}")
    return wanted


def _open_since(path: Path, header: Header) -> int | None:
    """Return when the round opened that is open at the end of a session recording, None if there is none."""
    if is_port_capture(header):
        return None
    steps = UntilOpenRound(replay_all(path), lambda stepped: stepped.events_raw)
    for _ in steps:
        pass
    return input_time(steps.held[0].input) if steps.held else None


def _chunks(path: Path, scanner: str, until_us: int | None) -> Iterator[Chunk]:
    before_us: int | None = None
    for line in read_lines(path):
        if until_us is not None and line.at_us >= until_us:
            return
        if line.kind is not Kind.CHUNK or line.source != scanner:
            continue
        try:
            data = bytes.fromhex(line.payload)
        except ValueError:
            raise StationError(
                f"{path}: chunk of {scanner} at {line.at_us}: got {line.payload[:40]!r}, expected hex digits"
            ) from None
        yield Chunk(0 if before_us is None else line.at_us - before_us, data)
        before_us = line.at_us


def _is_cut(path: Path) -> bool:
    return not path.read_bytes().endswith(b"\n")


class Pacing(msgspec.Struct, frozen=True, kw_only=True):
    """How the recorded spacing is played: silences divided by `speed`, then none longer than `gap_us_max`;
    the first `skip_count` chunks left out; for ever if it `loops`."""

    speed: Fraction = Fraction(1)
    gap_us_max: int | None = None
    skip_count: int = 0
    loops: bool = False

    def apply(self, chunks: tuple[Chunk, ...]) -> Iterator[Chunk]:
        """Yield the chunks as they are to be played; the first one comes at once."""
        kept = chunks[self.skip_count :]
        first_us = 0
        while kept:
            yield Chunk(first_us, kept[0].data)
            for after_us, data in kept[1:]:
                yield Chunk(self._silence_us(after_us), data)
            if not self.loops:
                return
            first_us = self._silence_us(LOOP_SILENCE_US)

    def _silence_us(self, recorded_us: int) -> int:
        spaced_us = int(recorded_us / self.speed)
        return spaced_us if self.gap_us_max is None else min(spaced_us, self.gap_us_max)


class Player:
    """Plays chunks into a line. `tell` gets what the person at the terminal waits for."""

    def __init__(self, line: PtyDevice, tell: Callable[[str], None]) -> None:
        self._line = line
        self._tell = tell
        self._hosted = False
        self.chunk_count = 0
        self.byte_count = 0

    def play(self, chunks: Iterable[Chunk]) -> None:
        """Play all of them, and return when the host has read the last byte or left."""
        due_s = time.monotonic()
        for after_us, data in chunks:
            due_s += after_us / 1_000_000
            while (left_s := due_s - time.monotonic()) > 0 and self._hosted:
                self._rest(min(left_s, LOOK_S))
            if not self._send(data):
                due_s = time.monotonic()
            self.chunk_count += 1
            self.byte_count += len(data)
        self._drain()

    def _send(self, data: bytes) -> bool:
        """Send all of `data`; False if the host had to be waited for, so that the spacing begins anew."""
        was_ready = self._hosted
        while data:
            if not self._hosted:
                was_ready = False
                self._await_host()
            data = data[self._line.write(data) :]
            if data:
                was_ready = False
                self._rest(LOOK_S)
        return was_ready

    def _await_host(self) -> None:
        self._tell("waiting for a program to open the line")
        while not self._hosted:
            while not self._line.has_host:
                self._rest(LOOK_S)
            settled_s = time.monotonic() + HOST_SETTLES_S
            self._hosted = True
            while self._hosted and time.monotonic() < settled_s:
                self._rest(LOOK_S)
        self._tell("a program has the line open: playing")

    def _rest(self, seconds: float) -> None:
        """Wait; what the host says meanwhile (acknowledgements, polls) is taken and thrown away."""
        time.sleep(seconds)
        while self._line.read():
            pass
        self._hosted = self._hosted and self._line.has_host

    def _drain(self) -> None:
        until_s = time.monotonic() + DRAIN_S
        self._rest(ARRIVE_S)
        while self._hosted and self._line.unread_count() and time.monotonic() < until_s:
            self._rest(LOOK_S)
