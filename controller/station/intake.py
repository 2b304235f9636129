"""From what comes in to inputs: one code for the live station and for replay.

`Intake` holds the framers and turns each capture line into the inputs it means. A line's first input
has the line's own time, each further one a microsecond more, so that a recording gives the same times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from controller.journal.recording import Kind, Line
from controller.station.config import StationConfig
from controller.station.errors import StationError
from controller.station.shoe_reports import shoe_input
from controller.table.inputs import (
    OUTSIDE,
    AnyCommand,
    AnyInput,
    CardRead,
    CardsTogether,
    Commanded,
    CommandScanned,
    ReadFailed,
    ScannerLost,
    ScannerOpened,
    ScannerRestarted,
    Started,
    TimerExpired,
    decode_input,
)
from drivers import contract
from drivers.contract import Framer
from drivers.families import open_framer

FROM_DEVICES = frozenset({Kind.OPENED, Kind.CHUNK, Kind.TICK})
"""The lines that a framer hears."""
SILENT = "the reader does not answer; check its power and its line settings"
LAST_SILENCE_US = 10_000_000
"""Longer than any frame: what a device had begun to say has ended by then, one way or another."""


def open_framers(config: StationConfig) -> dict[str, Framer]:
    """Return the framers of a table's scanners."""
    return {name: open_framer(scanner.family, scanner.options) for name, scanner in config.scanners.items()}


def ticks_until(framers: Mapping[str, Framer], until_us: int) -> Iterator[Line]:
    """Yield the ticks that are due by `until_us`, the earliest first; each is to be taken before the next."""
    while due := [(at, name) for name, one in framers.items() if (at := one.next_deadline_us()) is not None]:
        at_us, name = min(due)
        if at_us > until_us:
            return
        yield Line(at_us, Kind.TICK, name)


NO_COMMANDS: Mapping[str, AnyCommand] = {}


class Taken(NamedTuple):
    """An input, and the driver report behind it that is acknowledged once the input is durable."""

    value: AnyInput
    report: contract.Report | None = None


class Intake:
    """Turns lines into inputs. `new_key` gives the 64 hex digits for each card read, in order.

    `commands` are the codes that are no cards but presses of the dealer.
    """

    def __init__(
        self,
        framers: Mapping[str, Framer],
        new_key: Callable[[str, int], str],
        on_garbage: Callable[[str, contract.Report], None],
        commands: Mapping[str, AnyCommand] = NO_COMMANDS,
    ) -> None:
        self.framers = framers
        self._commands = commands
        self._new_key = new_key
        self._on_garbage = on_garbage
        self._devices: dict[str, str | None] = {}

    def device(self, scanner: str) -> str | None:
        """Return the device behind a scanner, as its line was opened last."""
        return self._devices.get(scanner)

    def take(self, line: Line) -> list[Taken]:
        """Return the inputs that a line means; none for stale bytes and for a frame that is not complete."""
        at, source = line.at_us, line.source
        match line.kind:
            case Kind.CHUNK:
                self.framers[source].receive(bytes.fromhex(line.payload), at)
                return self._reports(source, at)
            case Kind.TICK:
                self.framers[source].tick(at)
                return self._reports(source, at)
            case Kind.OPENED:
                self.framers[source].opened(at)
                self._devices[source] = _identity(line.payload)
                opened = Taken(ScannerOpened(at=at, scanner=source, device=self._devices[source]))
                return [opened, *self._reports(source, at + 1)]
            case Kind.LOST:
                return [Taken(ScannerLost(at=at, scanner=source, reason=line.payload))]
            case Kind.TIMER:
                return [Taken(TimerExpired(at=at, name=source, number=int(line.payload)))]
            case Kind.COMMAND:
                return [Taken(decode_command(line))]
            case Kind.START | Kind.INPUT:
                return [Taken(decode_input(line.payload.encode()))]
            case Kind.STALE:
                return []
            case Kind.KEY:
                raise StationError(f"capture at {at}: a key of {source} that no card read asked for")

    def _reports(self, scanner: str, at: int) -> list[Taken]:
        taken: list[Taken] = []
        while (report := self.framers[scanner].next_report()) is not None:
            match report:
                case contract.CodeRead(code=code) if code in self._commands:
                    command = self._commands[code]
                    value: AnyInput = CommandScanned(at=at + len(taken), scanner=scanner, command=command)
                case contract.CodeRead() as read:
                    value = self._card_read(read, scanner, at + len(taken))
                case contract.DrawnOutside(code=str(code), ended=False):
                    read = contract.CodeRead(code, place=OUTSIDE)
                    value = self._card_read(read, scanner, at + len(taken))
                case contract.ReadFailed(cause=cause):
                    value = ReadFailed(at=at + len(taken), scanner=scanner, cause=cause)
                case contract.DeviceReported(state=contract.DeviceState.RESTARTED):
                    self._on_garbage(scanner, report)
                    value = ScannerRestarted(at=at + len(taken), scanner=scanner)
                case contract.DeviceReported(state=contract.DeviceState.GONE):
                    value = ScannerLost(at=at + len(taken), scanner=scanner, reason=SILENT)
                case contract.DeviceReported(state=contract.DeviceState.BACK):
                    value = ScannerOpened(at=at + len(taken), scanner=scanner, device=self.device(scanner))
                case contract.ReadTogether(count=count):
                    value = CardsTogether(at=at + len(taken), scanner=scanner, count=count)
                case _:
                    self._on_garbage(scanner, report)
                    judged = shoe_input(report, scanner, at + len(taken))
                    if judged is None:
                        continue
                    value = judged
            taken.append(Taken(value, report))
        return taken

    def _card_read(self, read: contract.CodeRead, scanner: str, at: int) -> CardRead:
        return CardRead(
            at=at,
            scanner=scanner,
            code=read.code,
            device_seq=read.device_seq,
            key=self._new_key(scanner, at),
            repeat=read.repeat,
            place=read.place,
        )


IS = " is "


def opened_text(node: str, identity: str | None) -> str:
    """Return the payload of an opened line: the node, and the device behind it where the system knows it."""
    return node if identity is None else f"{node}{IS}{identity}"


def _identity(payload: str) -> str | None:
    _, found, identity = payload.partition(IS)
    return identity if found else None


def encode_command(value: Commanded) -> str:
    """Return the payload of a command line."""
    return msgspec.json.encode(value, order="deterministic").decode()


def decode_command(line: Line) -> Commanded:
    """Read a command line. Raises StationError for anything else."""
    value = decode_input(line.payload.encode())
    if not isinstance(value, Commanded):
        raise StationError(f"capture at {line.at_us}: expected a command, got {type(value).__name__}")
    return value


def encode_start(value: Started) -> str:
    """Return the payload of a start line."""
    return msgspec.json.encode(value, order="deterministic").decode()
