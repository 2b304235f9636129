"""The devices of a simulated table by the family that its config names: one line for each.

A model in this package knows its line and its own time. Here stands what the people of a table do with any
of them, and what may happen meanwhile.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from drivers import angel_eye, delimited, zebra_ssi
from drivers.feig_obid import framer as feig_obid
from simulators.devices.angel_eye_at_table import AngelEyeAtTable
from simulators.devices.delimited import DelimitedScanner
from simulators.devices.delimited import Fault as DelimitedFault
from simulators.devices.feig_obid import Fault as FeigFault
from simulators.devices.feig_obid import FeigReader
from simulators.devices.mishaps import Handling, Mishap
from simulators.devices.zebra_ssi import SENDS_MAX, ZebraScanner
from simulators.devices.zebra_ssi import Fault as ZebraFault

__all__ = ["DEVICES", "Device", "Handling", "Mishap", "Sink"]

NOISE_COUNT = 3
GIVES_UP_US = 2_000_000
LIES_US = 450_000
"""How long a card lies on an antenna."""
APART_US = 900_000
"""From one card on an antenna to the next; nobody is faster."""

Sink = Callable[[bytes], object]


class Device(Protocol):
    """A device as those see it who use it. It sends into the sink that it was opened with."""

    def scan(self, code: str | None, mishap: Mishap | None, at_us: int) -> None:
        """A card passes; `code` is None when the device can't read it.

        Raises KeyError for a mishap that the family does not have.
        """

    def disturb(self, mishap: Mishap | Handling, at_us: int) -> None:
        """Noise, a loss of power or somebody's hand, while no card passes."""

    def hear(self, data: bytes, at_us: int) -> None:
        """Take what the host has sent."""

    def tick(self, at_us: int) -> None:
        """Do what the device does by itself at its time."""

    def next_deadline_us(self) -> int | None:
        """Return when `tick` is wanted next."""


class DelimitedAtTable:
    """A scanner that sends each read once; with a handshake, again until it is answered or gives up."""

    faults: Mapping[Mishap, DelimitedFault] = {
        Mishap.DOUBLED: DelimitedFault.REPEATED,
        Mishap.MERGED: DelimitedFault.MERGED,
        Mishap.CUT: DelimitedFault.CUT,
        Mishap.LOST_END: DelimitedFault.LOST_TERMINATOR,
        Mishap.NOISE: DelimitedFault.NOISE,
        Mishap.DAMAGED: DelimitedFault.HIGH_BIT,
        Mishap.LOST_ACK: DelimitedFault.LOST_ANSWER,
    }
    """A card that comes merged is seen by nobody until it is shown once more."""

    def __init__(self, sink: Sink, options: Mapping[str, Any]) -> None:
        self._scanner = DelimitedScanner(sink, delimited.open_delimited(options).options)
        self._due_us: int | None = None

    def scan(self, code: str | None, mishap: Mishap | None, at_us: int) -> None:
        """Send the code, or the no-read string."""
        match mishap:
            case _ if code is None:
                self._scanner.no_read()
            case None:
                self._scanner.scan(code)
            case Mishap.LOST:
                pass
            case Mishap.SPLIT:
                self._scanner.scan_split(code, 2)
            case _:
                self._scanner.scan(code, self.faults[mishap])
        self._wait(at_us)

    def _wait(self, at_us: int) -> None:
        patience_us = self._scanner.options.unanswered_ms * 1000 or GIVES_UP_US
        self._due_us = at_us + patience_us if self._scanner.is_waiting else None

    def disturb(self, mishap: Mishap | Handling, at_us: int) -> None:
        """Send noise, or start anew; nobody handles it otherwise."""
        if mishap is Mishap.POWER_CYCLE:
            self._scanner.power_cycle()
        if isinstance(mishap, Mishap):
            self._scanner.noise(NOISE_COUNT)
            self._wait(at_us)

    def hear(self, data: bytes, at_us: int) -> None:
        """Take answers."""
        self._scanner.hear(data)
        self._wait(at_us)

    def tick(self, at_us: int) -> None:
        """Nobody has answered."""
        self._scanner.unanswered()
        self._wait(at_us)

    def next_deadline_us(self) -> int | None:
        """Return when it no longer waits for an answer."""
        return self._due_us


class ZebraAtTable:
    """A scanner that waits for an answer to each packet, and repeats what is not answered."""

    faults: Mapping[Mishap, tuple[ZebraFault, int]] = {
        Mishap.LOST: (ZebraFault.LOST, 1),
        Mishap.DOUBLED: (ZebraFault.DOUBLED, 1),
        Mishap.SPLIT: (ZebraFault.SPLIT, 1),
        Mishap.MERGED: (ZebraFault.MERGED, 1),
        Mishap.CUT: (ZebraFault.CUT, 1),
        Mishap.NOISE: (ZebraFault.NOISE, 1),
        Mishap.FLIPPED: (ZebraFault.FLIPPED, 1),
        Mishap.LENGTH: (ZebraFault.LENGTH, 1),
        Mishap.LOST_ACK: (ZebraFault.LOST_ACK, 1),
        Mishap.DAMAGED: (ZebraFault.FLIPPED, SENDS_MAX),
    }
    """Each with the number of transmissions that it hits."""

    def __init__(self, sink: Sink, options: Mapping[str, Any]) -> None:
        zebra_ssi.open_zebra_ssi(options)
        self._scanner = ZebraScanner(sink)

    def scan(self, code: str | None, mishap: Mishap | None, at_us: int) -> None:
        """Send the code in a packet, or that it could not be read."""
        if code is None:
            self._scanner.no_read(at_us)
        elif mishap is None:
            self._scanner.scan(code, at_us)
        else:
            fault, times = self.faults[mishap]
            self._scanner.scan(code, at_us, fault, times=times)

    def disturb(self, mishap: Mishap | Handling, at_us: int) -> None:
        """Send noise, or start anew."""
        if mishap is Mishap.POWER_CYCLE:
            self._scanner.power_cycle(at_us)
        else:
            self._scanner.noise(NOISE_COUNT)

    def hear(self, data: bytes, at_us: int) -> None:
        """Take answers and commands."""
        self._scanner.receive(data, at_us)

    def tick(self, at_us: int) -> None:
        """Repeat what was not answered."""
        self._scanner.tick(at_us)

    def next_deadline_us(self) -> int | None:
        """Return when it repeats next."""
        return self._scanner.next_deadline_us()


class FeigAtTable:
    """A reader that is asked again and again what lies on its antenna. Cards lie there for a moment."""

    faults: Mapping[Mishap, FeigFault] = {
        Mishap.LOST: FeigFault.LOST_REPLY,
        Mishap.CUT: FeigFault.CUT_REPLY,
        Mishap.FLIPPED: FeigFault.DAMAGED_REPLY,
        Mishap.PARTIAL: FeigFault.PARTIAL,
        Mishap.FLICKER: FeigFault.FLICKER,
        Mishap.BLEED: FeigFault.BLEED,
        Mishap.OTHER_ADDRESS: FeigFault.OTHER_ADDRESS,
        Mishap.ON_AIR: FeigFault.RF_WARNING,
    }
    """What happens to the first answer that would have the card in it."""

    def __init__(self, sink: Sink, options: Mapping[str, Any]) -> None:
        self._options = feig_obid.open_feig(options).options
        self._sink = sink
        self._reader = FeigReader(self._send, ont=self._options.ont)
        self._coming: deque[tuple[int, str, Mishap | None]] = deque()
        self._lying: deque[tuple[int, str]] = deque()
        self._free_us = 0
        self._splits = False

    def scan(self, code: str | None, mishap: Mishap | None, at_us: int) -> None:
        """Lay a card on the antenna, once there is room for it."""
        begin_us = max(at_us, self._free_us)
        self._free_us = begin_us + APART_US
        self._coming.append((begin_us, code or "", mishap))
        self.tick(at_us)

    def disturb(self, mishap: Mishap | Handling, at_us: int) -> None:
        """Send noise, or start anew."""
        if mishap is Mishap.POWER_CYCLE:
            self._reader.disturb(FeigFault.POWER_CYCLE)
        else:
            self._sink(b"\xff\x00\xfe")

    def hear(self, data: bytes, at_us: int) -> None:
        """Take questions."""
        self._reader.hear(data)

    def tick(self, at_us: int) -> None:
        """Lay down and take away what is due."""
        while self._coming and self._coming[0][0] <= at_us:
            begin_us, code, mishap = self._coming.popleft()
            if not code or mishap is Mishap.DAMAGED:
                self._reader.disturb(*[FeigFault.NO_READ] * self._options.no_read_after)
                continue
            if mishap is not None and mishap in self.faults:
                self._reader.disturb(self.faults[mishap])
            self._splits = mishap is Mishap.SPLIT
            self._reader.place(code)
            self._lying.append((begin_us + LIES_US, code))
        while self._lying and self._lying[0][0] <= at_us:
            self._reader.lift(self._lying.popleft()[1])

    def next_deadline_us(self) -> int | None:
        """Return when a card comes or goes next."""
        return min((queue[0][0] for queue in (self._coming, self._lying) if queue), default=None)

    def _send(self, data: bytes) -> None:
        """Answer; where the answer is to be split, behind its second byte."""
        for piece in (data[:2], data[2:]) if self._splits else (data,):
            self._sink(piece)
        self._splits = False


DEVICES: Mapping[str, Callable[[Sink, Mapping[str, Any]], Device]] = {
    angel_eye.FAMILY: AngelEyeAtTable,
    delimited.FAMILY: DelimitedAtTable,
    feig_obid.FAMILY: FeigAtTable,
    zebra_ssi.FAMILY: ZebraAtTable,
}
"""Family name to what a simulated table has of it, from its sink and the options of its driver."""
