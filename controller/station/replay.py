"""Replay: a session recording or a port capture as the source, through the code of the live station.

A recording gives the very same events and messages again; their `source` is therefore that of the day,
not `replay`, and nothing here publishes them. A recording whose last round is open (because it is still
being written, or because the table went down) ends for everybody before that round: what lies face down
in it would come out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from controller.journal import JournalDamaged, Reader, Step
from controller.journal.days import SUFFIX
from controller.journal.recording import FIRST_LINE, Header, Kind, Line, read_header, read_lines
from controller.journal.records import text_hash
from controller.station.config import StationConfig, load_texts
from controller.station.errors import StationError
from controller.station.intake import LAST_SILENCE_US, Intake, open_framers, ticks_until
from controller.station.kernel import Kernel, Stepped
from controller.station.start import documents_of
from controller.table.inputs import AnyInput, Commanded
from drivers.contract import CodeRead, Framer, ReadFailed
from drivers.families import open_framer

T = TypeVar("T")

SQLITE_HEADER = b"SQLite format 3\0"
ROUND_OPENED = b'"event":"round.opened"'
ROUND_ENDED = (b'"event":"round.confirmed"', b'"event":"round.cancelled"')
KEY_DIGITS = 64
HEX = frozenset("0123456789abcdef")
NOT_UNDERSTOOD = (ValueError, KeyError, OverflowError, RecursionError, msgspec.MsgspecError)
"""What a file that nobody vouches for makes the decoders raise."""


class NothingToReplay(StationError):
    """The file is none of the kinds that can be replayed."""


def is_journal(path: Path) -> bool:
    """Tell a journal from a text file by its first bytes. Raises NothingToReplay if it can't be read."""
    try:
        with path.open("rb") as file:
            first = file.read(len(SQLITE_HEADER))
    except OSError as error:
        raise NothingToReplay(f"{path}: can't be read: {error.strerror}") from None
    return first == SQLITE_HEADER or (not first and path.suffix == SUFFIX)


def is_port_capture(header: Header) -> bool:
    """Tell a port capture, which names its scanners, from a session recording, which holds a config."""
    return bool(header.all("scanner")) and not header.all("document")


def read_kind(path: Path) -> Header:
    """Return the header of a capture. Raises NothingToReplay for any other file."""
    try:
        path.stat()
        return read_header(path)
    except OSError as error:
        raise NothingToReplay(f"{path}: can't be read: {error.strerror}") from None
    except JournalDamaged:
        raise NothingToReplay(
            f"{path}: expected a journal (SQLite), or a capture that begins with {FIRST_LINE!r}"
        ) from None


# Stopping before the open round.


class UntilOpenRound(Generic[T]):
    """Passes steps on, those of a round only when it has ended; what is left is in `held`."""

    def __init__(self, steps: Iterable[T], events_of: Callable[[T], bytes]) -> None:
        self._steps = steps
        self._events_of = events_of
        self.held: list[T] = []

    def __iter__(self) -> Iterator[T]:
        for step in self._steps:
            events = self._events_of(step)
            if ROUND_OPENED in events or self.held:
                self.held.append(step)
                if not any(ended in events for ended in ROUND_ENDED):
                    continue
                yield from self.held
                self.held.clear()
            else:
                yield step


# Session recordings.


def config_of(path: Path, header: Header) -> StationConfig:
    """Build the config from the documents in a recording's header. Raises StationError."""
    try:
        return load_texts(documents_of(header.all("document")).values())
    except (*NOT_UNDERSTOOD, StationError) as error:
        raise StationError(f"{path}: the config in its header can't be used: {error}") from None


def open_recording(path: Path) -> Kernel:
    """Return the kernel as it was when the recording began. Raises StationError or JournalDamaged."""
    header = read_header(path)
    kernel = Kernel(config_of(path, header))
    carried = header.one("carried")
    if carried is not None:
        try:
            kernel.restore(carried.encode())
        except NOT_UNDERSTOOD as error:
            raise StationError(f"{path}: the carried record can't be used: {error}") from None
    return kernel


def replay_recording(path: Path, *, on_line: Callable[[], None] = lambda: None) -> Iterator[Stepped]:
    """Yield the steps of a session recording again, up to the round that is open at its end.

    Raises StationError or JournalDamaged, naming the line, for a recording that is damaged.
    """
    return iter(UntilOpenRound(replay_all(path, on_line=on_line), lambda stepped: stepped.events_raw))


def replay_all(path: Path, *, on_line: Callable[[], None] = lambda: None) -> Iterator[Stepped]:
    """Yield every step, an open round's too. Only for what shows nothing; see `UntilOpenRound`."""
    kernel = open_recording(path)
    keys = _Keys()
    framers = open_framers(kernel.config)
    commands = kernel.config.station_commands
    intake = Intake(framers, keys.take, lambda _scanner, _report: None, commands)
    for line, drawn, is_last in _with_keys(read_lines(path), on_line):
        keys.hold(drawn)
        try:
            taken = [one.value for one in intake.take(line)]
        except _NoKey:
            if is_last:
                return  # The process stopped before it had drawn the key: nobody took the read.
            raise StationError(f"{path}: {line.kind} at {line.at_us}: a read without a key") from None
        except (*NOT_UNDERSTOOD, StationError) as error:
            raise _not_understood(path, line, error) from None
        keys.check_used(path, line)
        for value in taken:
            if not _is_repeated(kernel, value):
                yield _step(path, kernel, line, value)


def _is_repeated(kernel: Kernel, value: AnyInput) -> bool:
    """A request that has been answered was recorded when it came again, and never stepped."""
    return isinstance(value, Commanded) and kernel.table.answer_to(value) is not None


def _step(path: Path, kernel: Kernel, line: Line, value: AnyInput) -> Stepped:
    state = kernel.table.state
    if value.at <= state.now and state.epoch > 0:
        raise StationError(f"{path}: {line.kind} at {line.at_us}: time does not rise above {state.now}")
    try:
        return kernel.step(value)
    except NOT_UNDERSTOOD as error:
        raise _not_understood(path, line, error) from None
    except Exception as error:
        # A bug, perhaps the one that ended the recording. Its text may name a face-down card.
        kind = type(error).__name__
        raise StationError(f"{path}: {line.kind} at {line.at_us}: the table stops on it: {kind}") from error


def _not_understood(path: Path, line: Line, error: Exception) -> StationError:
    text = f"{path}: {line.kind} of {line.source} at {line.at_us}: not understood: {error}"
    return StationError(text.encode(errors="backslashreplace").decode())


class _NoKey(Exception):
    """A card was read and the recording has no key for it."""


class _Keys:
    """The keys that were drawn for the reads of one line."""

    def __init__(self) -> None:
        self._left: deque[Line] = deque()

    def hold(self, drawn: list[Line]) -> None:
        self._left.extend(drawn)

    def take(self, scanner: str, at_us: int) -> str:
        if not self._left:
            raise _NoKey
        line = self._left.popleft()
        if (line.source, line.at_us) != (scanner, at_us):
            raise ValueError(f"the key is of {line.source} at {line.at_us}")
        if len(line.payload) != KEY_DIGITS or not HEX.issuperset(line.payload):
            raise ValueError("the key is not 64 hex digits")
        return line.payload

    def check_used(self, path: Path, line: Line) -> None:
        if self._left:
            raise StationError(f"{path}: {line.kind} at {line.at_us}: a key that no card read asked for")


def _with_keys(lines: Iterable[Line], on_line: Callable[[], None]) -> Iterator[tuple[Line, list[Line], bool]]:
    """Yield each line with the keys that follow it, and whether it is the last of the file."""
    current: Line | None = None
    keys: list[Line] = []
    for line in lines:
        on_line()
        if line.kind is Kind.KEY and current is not None:
            keys.append(line)
            continue
        if current is not None:
            yield current, keys, False
        current, keys = line, []
    if current is not None:
        yield current, keys, True


# Port captures.


class CardInput(NamedTuple):
    """What a scanner said of a card. The same bytes, cut otherwise, differ in `at_us` alone."""

    at_us: int
    scanner: str
    report: CodeRead | ReadFailed


def framers_of(path: Path) -> dict[str, Framer]:
    """Return the framers that a capture's header names, of either kind. Raises StationError."""
    header = read_header(path)
    if not is_port_capture(header):
        return open_framers(config_of(path, header))
    framers = {}
    for fact in header.all("scanner"):
        name, _, rest = fact.partition(" ")
        family, _, options = rest.partition(" ")
        try:
            framers[name] = open_framer(family, msgspec.json.decode(options or "{}", type=dict[str, Any]))
        except NOT_UNDERSTOOD as error:
            raise StationError(f"{path}: scanner {name}: {error}") from None
    return framers


def read_card_inputs(path: Path, *, on_line: Callable[[], None] = lambda: None) -> list[CardInput]:
    """Return the card inputs of a capture. Raises StationError, JournalDamaged."""

    def lines() -> Iterator[Line]:
        for line in read_lines(path):
            on_line()
            yield line

    framers = framers_of(path)
    try:
        return card_inputs(framers, lines())
    except KeyError as error:
        known = ", ".join(framers)
        raise StationError(f"{path}: a chunk of scanner {error}, the header has {known}") from None
    except ValueError as error:
        raise StationError(f"{path}: {error}") from None


def card_inputs(framers: Mapping[str, Framer], lines: Iterable[Line]) -> list[CardInput]:
    """Run the chunks among `lines` through fresh framers, time-outs at their time, and collect the reads.

    A line is opened where the capture says so, and at a first chunk of which it does not: a driver that polls
    its reader asks nothing before. After the last chunk every time-out that is pending passes. Raises
    KeyError for a scanner without a framer and ValueError for a payload that is not hex.
    """
    found: list[CardInput] = []
    intake = Intake(framers, lambda _scanner, _at: "", lambda _scanner, _report: None)

    def feed(line: Line) -> None:
        for taken in intake.take(line):
            if isinstance(taken.report, CodeRead | ReadFailed):
                found.append(CardInput(line.at_us, line.source, taken.report))

    last_us, is_open = 0, dict.fromkeys(framers, False)
    for line in lines:
        if line.kind is Kind.LOST:
            is_open[line.source] = False
        if line.kind not in (Kind.OPENED, Kind.CHUNK):
            continue
        last_us = line.at_us
        for tick in ticks_until(framers, last_us):
            feed(tick)
        if line.kind is Kind.CHUNK and not is_open[line.source]:
            feed(Line(last_us, Kind.OPENED, line.source))
        is_open[line.source] = True
        feed(line)
    for tick in ticks_until(framers, last_us + LAST_SILENCE_US):
        feed(tick)
    return found


# Comparing with a journal.


class Difference(msgspec.Struct, frozen=True):
    """The first thing that came out otherwise. `step` is the journal's; `where` is `input`, `event <index>`,
    `<audience>/<seq>`, `carried`, `past round` or `end`; all texts are JSON as it stands in the file."""

    step: int
    where: str
    input: str
    expected: str
    got: str


def compare(step: Step, stepped: Stepped) -> Difference | None:
    """Return the first difference between a step on record and the same step taken again."""
    for where, expected, got in _pairs(step, stepped):
        if expected != got:
            return Difference(step.n, where, _text(step.input), _text(expected), _text(got))
    return None


def _pairs(step: Step, stepped: Stepped) -> Iterator[tuple[str, bytes | None, bytes | None]]:
    """Yield what must be equal: input, events, the messages of each audience, the carried record."""
    yield "input", step.input, stepped.input
    if b"[" + b",".join(step.events) + b"]" != stepped.events_raw:
        again = [bytes(raw) for raw in msgspec.json.decode(stepped.events_raw, type=list[msgspec.Raw])]
        for index in range(max(len(step.events), len(again))):
            yield f"event {index}", _at(step.events, index), _at(again, index)
    audiences = {*step.messages, *(audience.value for audience in stepped.messages)}
    again_sent = {audience.value: sent for audience, sent in stepped.messages.items()}
    for audience in sorted(audiences):
        recorded, sent = step.messages.get(audience, ()), again_sent.get(audience, ())
        for index in range(max(len(recorded), len(sent))):
            seq = step.first_seq.get(audience, 0) + index
            yield f"{audience}/{seq}", _at(recorded, index), _at(sent, index)
    carried = None if stepped.carried is None else text_hash(stepped.carried).encode()
    yield "carried", None if step.carried is None else step.carried.encode(), carried


def _at(values: tuple[bytes, ...] | list[bytes], index: int) -> bytes | None:
    return values[index] if index < len(values) else None


def _text(raw: bytes | None) -> str:
    return "nothing" if raw is None else raw.decode(errors="backslashreplace")


class Verdict(msgspec.Struct, frozen=True):
    """What a comparison has found. `steps` were compared; `beyond` came after the end of the journal;
    `open_round` is whether it stopped before an open round."""

    steps: int
    beyond: int
    open_round: bool
    difference: Difference | None


def verify_recording(path: Path, *, on_line: Callable[[], None] = lambda: None) -> Verdict:
    """Compare a recording with the journal that its header names. Raises StationError, JournalDamaged.

    The journal lies beside the recording or in the folder above. What the recording has beyond the
    journal's end was not taken (the process stopped first, or has not come to it yet), and is counted.
    """
    recorded = journal_steps(path, read_header(path))
    # Which rounds have ended, the journal says: in an edited recording a round may never end.
    pairs = UntilOpenRound(
        ((next(recorded, None), stepped) for stepped in replay_all(path, on_line=on_line)),
        lambda pair: b"" if pair[0] is None else b",".join(pair[0].events),
    )
    count = beyond = 0
    for step, stepped in pairs:
        if step is None:
            beyond += 1
            continue
        difference = compare(step, stepped)
        if difference is not None:
            return Verdict(count, 0, False, difference)
        count += 1
    return Verdict(count, beyond, bool(pairs.held), None)


def journal_steps(path: Path, header: Header) -> Iterator[Step]:
    """Yield the journal's steps from where the recording begins, on through the files of later days."""
    name, _, after = (header.one("journal") or "").partition(" after ")
    found = [folder / name for folder in (path.parent, path.resolve().parent.parent) if name]
    journal = next((candidate for candidate in found if candidate.is_file()), None)
    if journal is None or not after.isdecimal():
        raise StationError(
            f"{path}: its journal {name or '(none named)'} lies neither beside it nor in the folder above; "
            "put it there to compare"
        )
    return _steps_since(journal, int(after))


def _steps_since(journal: Path, after: int) -> Iterator[Step]:
    for day in sorted(journal.parent.glob(f"*{SUFFIX}")):
        if day.name >= journal.name:
            with Reader.open(day) as reader:
                yield from reader.steps(after if day.name == journal.name else 0)
