"""Journals taken again: the inputs on record, through the code of today, compared step by step.

Every start on record is gone through as the live start was: the last `carried` record, the inputs after
it, then on. The config comes from the documents that the journal holds by hash.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from controller.journal import ZERO_HASH, Days, Reader, Step
from controller.station.config import StationConfig, load_texts
from controller.station.errors import ConfigError
from controller.station.kernel import Kernel, Stepped
from controller.station.replay import NOT_UNDERSTOOD, Difference, compare
from controller.table.inputs import AnyInput, Started, decode_input

STARTED = b'"input":"started"'


class Retaken(NamedTuple):
    """A step on record and the same step taken again; None where what came before it is not at hand."""

    step: Step
    stepped: Stepped | None
    difference: Difference | None


class Retake:
    """Takes journal files again, in order of days.

    A file whose forerunner is missing begins at its first round boundary after its first start. After a
    difference nothing is compared up to the next boundary: one cause is reported once.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        """`paths` follow one another; those before the first are looked for in its folder."""
        self._paths = paths
        self._texts: dict[str, str] = {}
        self._configs: dict[tuple[str, ...], StationConfig | None] = {}
        self._config: StationConfig | None = None
        self._kernel: Kernel | None = None
        self._carried: bytes | None = None
        self._since: list[AnyInput] = []
        self._is_fresh = False

    def files(self) -> Iterator[tuple[Path, Iterator[Retaken]]]:
        """Yield each file and its steps; take all steps of one before the next. Raises JournalDamaged."""
        for index, path in enumerate(self._paths):
            with Reader.open(path) as reader:
                if index == 0:
                    self._begin(reader)
                self._texts |= reader.documents()
                yield path, self._steps(reader)

    def _begin(self, reader: Reader) -> None:
        """Find what the files before the first one leave behind: documents, start, carried record."""
        self._is_fresh = reader.opening.chain == ZERO_HASH
        if self._is_fresh:
            return
        before = [path for path in Days(reader.path.parent).paths() if path.name < reader.path.name]
        for path in reversed(before):
            with Reader.open(path) as earlier:
                self._texts = {**earlier.documents(), **self._texts}
                carried = earlier.last_carried()
                if path == before[-1] and carried is not None and earlier.heads() == reader.opening:
                    self._carried = carried[1]
                started = _last_start(earlier)
            if started is not None:
                self._config = self._config_of(started.documents)
                break
        if self._carried is not None:
            self._kernel = self._restored()

    def _steps(self, reader: Reader) -> Iterator[Retaken]:
        for step in reader.steps():
            yield self._take(step)
            if step.carried is not None:
                self._pass_boundary(reader, step.n)

    def _take(self, step: Step) -> Retaken:
        try:
            value = decode_input(step.input)
            if isinstance(value, Started):
                self._start(value)
            self._since.append(value)
            if self._kernel is None:
                return Retaken(step, None, None)
            stepped = self._kernel.step(value)
        except Exception as error:
            # An input on which the table stops has never been journaled by it.
            self._kernel = None
            told = step.input.decode(errors="backslashreplace")
            refused = Difference(step.n, "input", told, "an input that a table takes", repr(error))
            return Retaken(step, None, refused)
        difference = compare(step, stepped)
        if difference is not None:
            self._kernel = None
        return Retaken(step, stepped, difference)

    def _start(self, value: Started) -> None:
        """Recover as the live start did."""
        self._config = self._config_of(value.documents)
        self._kernel = self._restored() if self._is_fresh or self._carried is not None else None
        if self._kernel is not None:
            for earlier in self._since:
                self._kernel.step(earlier)

    def _restored(self) -> Kernel | None:
        """Return the kernel at the last boundary; None without its config or with a record that is none."""
        if self._config is None:
            return None
        kernel = Kernel(self._config)
        if self._carried is not None:
            try:
                kernel.restore(self._carried)
            except NOT_UNDERSTOOD:
                return None
        return kernel

    def _pass_boundary(self, reader: Reader, n: int) -> None:
        kept = reader.last_carried(n + 1)
        self._since.clear()
        self._is_fresh = False
        if kept is None or kept[0] != n:
            return  # The chain's own verification names a missing record.
        self._carried = kept[1]
        if self._kernel is None:
            self._kernel = self._restored()

    def _config_of(self, hashes: tuple[str, ...]) -> StationConfig | None:
        """Return the config of a start, None when a document is missing or not of this version."""
        if hashes not in self._configs:
            try:
                self._configs[hashes] = load_texts([self._texts[document] for document in hashes])
            except (KeyError, ConfigError):
                self._configs[hashes] = None
        return self._configs[hashes]


def _last_start(reader: Reader) -> Started | None:
    found = None
    for step in reader.steps():
        if STARTED in step.input:
            found = step.input
    value = decode_input(found) if found is not None else None
    return value if isinstance(value, Started) else None


def retake(path: Path, *, on_step: Callable[[], None] = lambda: None) -> Iterator[Retaken]:
    """Yield the steps of one journal file taken again, an open round's too (see `UntilOpenRound`)."""
    for _, steps in Retake([path]).files():
        for retaken in steps:
            on_step()
            yield retaken
