"""The state of one table as `tablectl status` shows it, and what of it somebody should look after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from controller.station.terminal import clock_time, counted
from controller.table.charts import Phase
from controller.table.picture import ConsumerPicture, Picture, WindowPicture

HASH_SHOWN = 12
ENDED = frozenset({Phase.CONFIRMED, Phase.CANCELLED})
"""While the cards still lie an acknowledgement may be on its way."""


class StreamHead(msgspec.Struct, frozen=True):
    """The last message of one audience."""

    seq: int
    hash: str


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """One table. `running`: its daemon was heard just now; else the journal says how it was left."""

    table: str
    source: str
    running: bool
    picture: Picture
    heads: Mapping[str, StreamHead]
    scanners: Mapping[str, bool]
    """Which are there."""
    findings: tuple[str, ...] = ()


def findings_of(picture: Picture, *, running: bool) -> Iterator[str]:
    """Yield what somebody should look after; nothing for a table that goes its way."""
    if not running:
        yield "the daemon is not heard; start it, or look at its log"
    if picture.incident_kind is not None:
        yield f"incident {picture.incident_kind} is open and waits for {picture.incident_state}"
    for name in picture.scanners_down if running else ():
        yield f"scanner {name} is not there"
    for cell in picture.blocked:
        yield f"blocked by {cell}: two people unlock the table"
    for one in picture.consumers if picture.phase not in ENDED else ():
        if one.must_acknowledge and one.behind:
            yield f"consumer {one.name} must acknowledge and has not: {_behind(one)}"


def lines(status: Status) -> Iterator[str]:
    """Yield the status as people read it."""
    picture = status.picture
    life = "running" if status.running else "not running"
    yield f"{status.source}: {life}, epoch {picture.epoch}, {clock_time(picture.at_us)} UTC"
    yield _line("phase", f"{picture.phase}, round {picture.roundid or picture.round_no}")
    yield _line("next", picture.prompt.text)
    if picture.window is not None:
        yield _line("window", _window(picture.window))
    if picture.incident_kind is not None:
        yield _line("incident", f"{picture.incident_kind}, waits for {picture.incident_state}")
    halted = [f"{what}: {why}" for what, why in _halts(picture)]
    if halted:
        yield _line("halts", ", ".join(halted))
    yield _line("dealer", picture.dealer or "nobody")
    for name, is_there in status.scanners.items():
        yield _line("scanner", f"{name} {'there' if is_there else 'away'}")
    for one in picture.consumers:
        must = "must acknowledge" if one.must_acknowledge else "may acknowledge"
        yield _line("consumer", f"{one.name} ({one.role}, {must}): {_behind(one)}")
    for audience, head in status.heads.items():
        yield _line("stream", f"{audience} {head.seq} {head.hash[:HASH_SHOWN]}")
    yield from (_line("LOOK", finding) for finding in status.findings)


def _line(what: str, text: str) -> str:
    return f"{what:<10}{text}"


def _behind(one: ConsumerPicture) -> str:
    if not one.behind:
        return "everything acknowledged"
    return f"{counted(one.behind, 'end')} of rounds behind, the oldest {one.oldest} rev {one.oldest_rev}"


def _window(window: WindowPicture) -> str:
    stands = "open" if window.is_open else "settled" if window.settled else "closed"
    return f"{window.window}, closes at {clock_time(window.closes_at_us)} UTC, {stands}"


def _halts(picture: Picture) -> Iterator[tuple[str, str]]:
    if picture.paused is not None:
        yield "paused", picture.paused
    if picture.closing is not None:
        yield "closing", picture.closing
    if picture.blocked:
        yield "blocked", ", ".join(picture.blocked)
