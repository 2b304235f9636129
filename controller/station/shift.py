"""The report at the end of a shift: how many rounds, what was cancelled and why, what the scanners cost.

It reads events by their names and counts what it meets, so an event of a family that begins with `deck.`,
`shoe.` or `stub.` is counted without a line here. No card and no code is in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from controller.journal import Step
from controller.table.inputs import Role

DECK_FAMILIES = ("deck.", "shoe.", "stub.")
SUSPECT = "rounds.suspect"
SCALE = 10_000
NOBODY = "nobody on record"


class Reads(msgspec.Struct, omit_defaults=True):
    """Reads of a place or scanner; `rescans` that followed, and how many that is in ten thousand."""

    reads: int = 0
    failed: int = 0
    rescans: int = 0

    @property
    def per_10_000(self) -> int:
        """Re-scans in ten thousand reads, rounded down."""
        return self.rescans * SCALE // self.reads if self.reads else 0


class Cancels(msgspec.Struct, frozen=True):
    """Rounds cancelled for one reason, while `dealer` dealt; `by` confirmed it, None where nobody had to."""

    reason: str
    dealer: str
    by: str | None
    count: int


class Cases(msgspec.Struct, frozen=True):
    """Incidents of one kind and cell. `mean_close_ms` is over those that were closed; None if none was."""

    kind: str
    cell: str
    count: int
    closed: int
    mean_close_ms: int | None
    verdicts: dict[str, int]


class Presses(msgspec.Struct, omit_defaults=True):
    """What one person, or the betting system, has sent."""

    taken: dict[str, int] = {}
    refused: dict[str, int] = {}


class Trend(msgspec.Struct, frozen=True):
    """Re-scans of one place or scanner."""

    name: str
    reads: int
    failed: int
    rescans: int
    rescans_per_10_000: int


class Shift(msgspec.Struct, omit_defaults=True):
    """The report. Times are of the first and the last step, microseconds since 1970."""

    range: str
    from_us: int = 0
    to_us: int = 0
    opened: int = 0
    confirmed: int = 0
    cancelled: int = 0
    corrected: int = 0
    starts: int = 0
    cancels: list[Cancels] = []
    places: list[Trend] = []
    scanners: list[Trend] = []
    decks: dict[str, int] = {}
    suspect: list[dict[str, Any]] = []
    incidents: list[Cases] = []
    presses: dict[str, Presses] = {}


class _Case(msgspec.Struct):
    """An incident on its way."""

    kind: str
    cell: str
    place: str | None
    opened_us: int
    by: str | None = None
    verdict: str | None = None
    closed_us: int | None = None


def shift_of(steps: Iterable[Step], told_range: str) -> Shift:
    """Return the report over steps of ended rounds and what lies between. Raises MsgspecError."""
    count = _Count(Shift(told_range))
    for step in steps:
        count.take(step)
    return count.report()


class _Count:
    """Counts step by step."""

    def __init__(self, shift: Shift) -> None:
        self._shift = shift
        self._dealer = NOBODY
        self._cases: dict[int, _Case] = {}
        self._places: dict[str, Reads] = {}
        self._scanners: dict[str, Reads] = {}
        self._cancels: Counter[tuple[str, str, str | None]] = Counter()
        self._decks: Counter[str] = Counter()

    def take(self, step: Step) -> None:
        self._shift.from_us = self._shift.from_us or step.at_us
        self._shift.to_us = step.at_us
        scanner = self._read(step.input)
        for raw in step.events:
            self._event(step.at_us, msgspec.json.decode(raw), scanner)

    def _read(self, raw: bytes) -> str | None:
        """Count a read; return its scanner. The code is not decoded."""
        value = _READ.decode(raw)
        if value.scanner is None or value.input not in ("card_read", "read_failed"):
            return None
        reads = self._scanners.setdefault(value.scanner, Reads())
        reads.reads += 1
        reads.failed += value.input == "read_failed"
        return value.scanner

    def _event(self, at_us: int, event: Mapping[str, Any], scanner: str | None) -> None:
        shift, tag = self._shift, str(event["event"])
        if "dealer" in event and tag.startswith("dealer."):
            self._dealer = str(event["dealer"] or NOBODY)
        if tag.startswith(DECK_FAMILIES):
            self._decks[tag] += 1
        match tag:
            case "round.opened":
                shift.opened += 1
            case "round.confirmed":
                shift.confirmed += 1
            case "round.corrected":
                shift.corrected += 1
            case "round.cancelled":
                self._cancel(event)
            case "controller.started":
                shift.starts += 1
            case "card.dealt":
                self._places.setdefault(event["place"], Reads()).reads += 1
            case "press.accepted" | "input.refused":
                self._press(event)
            case _ if tag == SUSPECT:
                shift.suspect.append({name: value for name, value in event.items() if name != "event"})
            case _ if tag.startswith("incident."):
                self._incident(at_us, tag, event, scanner)

    def _press(self, event: Mapping[str, Any]) -> None:
        actor = event.get("actor")
        if actor is None:
            return  # A read or a timer that was refused.
        pressed = self._shift.presses.setdefault(actor, Presses())
        is_taken = "command" in event
        told, what = (pressed.taken, event["command"]) if is_taken else (pressed.refused, event["reason"])
        told[what] = told.get(what, 0) + 1
        if is_taken and event["role"] == Role.DEALER:
            self._dealer = actor

    def _cancel(self, event: Mapping[str, Any]) -> None:
        self._shift.cancelled += 1
        case = self._cases.get(event["incident"])
        self._cancels[event["reason"], self._dealer, case.by if case is not None else None] += 1

    def _incident(self, at_us: int, tag: str, event: Mapping[str, Any], scanner: str | None) -> None:
        number = event["incident"]
        if tag == "incident.opened":
            self._cases[number] = _Case(event["kind"], event["cell"], event.get("place"), at_us)
        case = self._cases.get(number)
        if case is None:
            return  # It was opened before the range.
        if tag == "incident.decided":
            case.verdict, case.by = event["verdict"], event.get("by")
            if event["verdict"] == "RESCANNED":
                self._places.setdefault(case.place or "-", Reads()).rescans += 1
                if scanner is not None:
                    self._scanners[scanner].rescans += 1
        elif tag == "incident.closed":
            case.closed_us = at_us

    def report(self) -> Shift:
        shift = self._shift
        shift.cancels = [Cancels(*names, count) for names, count in self._cancels.most_common()]
        shift.places, shift.scanners = _trends(self._places), _trends(self._scanners)
        shift.decks = dict(sorted(self._decks.items()))
        shift.incidents = list(self._by_cell())
        return shift

    def _by_cell(self) -> Iterable[Cases]:
        cells: dict[tuple[str, str], list[_Case]] = {}
        for case in self._cases.values():
            cells.setdefault((case.kind, case.cell), []).append(case)
        for (kind, cell), cases in sorted(cells.items()):
            took = [case.closed_us - case.opened_us for case in cases if case.closed_us is not None]
            verdicts = Counter(case.verdict for case in cases if case.verdict is not None)
            mean_ms = sum(took) // len(took) // 1_000 if took else None
            yield Cases(kind, cell, len(cases), len(took), mean_ms, dict(sorted(verdicts.items())))


def _trends(counted: Mapping[str, Reads]) -> list[Trend]:
    return [
        Trend(name, one.reads, one.failed, one.rescans, one.per_10_000)
        for name, one in sorted(counted.items())
    ]


class _Read(msgspec.Struct):
    """What an input tells of a read; its code and key are not looked at."""

    input: str
    scanner: str | None = None


_READ = msgspec.json.Decoder(_Read)
