"""The devices of a simulated table by the family that its config names: one line for each.

A model in this package knows its line and its own time. Here stands what the people of a table do with any
of them, and what may happen meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Protocol

from drivers import delimited, zebra_ssi
from simulators.devices.delimited import DelimitedScanner
from simulators.devices.delimited import Fault as DelimitedFault
from simulators.devices.zebra_ssi import SENDS_MAX, ZebraScanner
from simulators.devices.zebra_ssi import Fault as ZebraFault

NOISE_COUNT = 3

Sink = Callable[[bytes], object]


class Mishap(StrEnum):
    """What can happen to a read on its way, or to a device. Each family has some of them."""

    LOST = "lost"
    """Nothing of it arrives."""
    DOUBLED = "doubled"
    """It arrives twice, and nothing marks the second as the same."""
    SPLIT = "split"
    """It comes in two pieces that belong together."""
    MERGED = "merged"
    """It comes in one piece with what follows it."""
    CUT = "cut"
    """Only its beginning arrives."""
    LOST_END = "lost-end"
    """It comes without its terminator."""
    NOISE = "noise"
    """A burst of noise in front of it; of a device that nothing passes, noise alone."""
    FLIPPED = "flipped"
    """One bit of it is wrong the first time."""
    LENGTH = "length"
    """Its length byte is wrong the first time."""
    LOST_ACK = "lost-ack"
    """It arrives, the answer does not."""
    DAMAGED = "damaged"
    """Bytes of it are wrong each time that it is sent, so that nobody can read it."""
    POWER_CYCLE = "power-cycle"
    """The device loses its power for a moment."""


class Device(Protocol):
    """A device as those see it who use it. It sends into the sink that it was opened with."""

    def scan(self, code: str | None, mishap: Mishap | None, at_us: int) -> None:
        """A card passes; `code` is None when the device can't read it.

        Raises KeyError for a mishap that the family does not have.
        """

    def disturb(self, mishap: Mishap, at_us: int) -> None:
        """Noise or a loss of power, while no card passes."""

    def hear(self, data: bytes, at_us: int) -> None:
        """Take what the host has sent."""

    def tick(self, at_us: int) -> None:
        """Do what the device does by itself at its time."""

    def next_deadline_us(self) -> int | None:
        """Return when `tick` is wanted next."""


class DelimitedAtTable:
    """A scanner without a handshake: it sends each read once and has no time of its own."""

    faults: Mapping[Mishap, DelimitedFault] = {
        Mishap.MERGED: DelimitedFault.MERGED,
        Mishap.CUT: DelimitedFault.CUT,
        Mishap.LOST_END: DelimitedFault.LOST_TERMINATOR,
        Mishap.NOISE: DelimitedFault.NOISE,
        Mishap.DAMAGED: DelimitedFault.HIGH_BIT,
    }

    def __init__(self, sink: Sink, options: Mapping[str, Any]) -> None:
        self._scanner = DelimitedScanner(sink, delimited.open_delimited(options).options)

    def scan(self, code: str | None, mishap: Mishap | None, at_us: int) -> None:
        """Send the code, or the no-read string."""
        match mishap:
            case _ if code is None:
                self._scanner.no_read()
            case None:
                self._scanner.scan(code)
            case Mishap.LOST:
                pass
            case Mishap.DOUBLED:
                self._scanner.scan(code, DelimitedFault.MERGED)
                self._scanner.scan(code)
            case Mishap.SPLIT:
                self._scanner.scan_split(code, 2)
            case _:
                self._scanner.scan(code, self.faults[mishap])

    def disturb(self, mishap: Mishap, at_us: int) -> None:
        """Send noise; without power it forgets nothing."""
        if mishap is Mishap.NOISE:
            self._scanner.noise(NOISE_COUNT)

    def hear(self, data: bytes, at_us: int) -> None:
        """Nobody tells it anything."""

    def tick(self, at_us: int) -> None:
        """Nothing is due."""

    def next_deadline_us(self) -> int | None:
        """Nothing is ever due."""
        return None


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

    def disturb(self, mishap: Mishap, at_us: int) -> None:
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


DEVICES: Mapping[str, Callable[[Sink, Mapping[str, Any]], Device]] = {
    delimited.FAMILY: DelimitedAtTable,
    zebra_ssi.FAMILY: ZebraAtTable,
}
"""Family name to what a simulated table has of it, from its sink and the options of its driver."""


def open_device(family: str, sink: Sink, options: Mapping[str, Any]) -> Device:
    """Return a device of the family. Raises ValueError for one that has no model."""
    if family not in DEVICES:
        raise ValueError(f"family {family}: there is no simulated device; expected {', '.join(DEVICES)}")
    return DEVICES[family](sink, options)
