"""Builds of the station that tell the length of the codes that lie face down, each in another way."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import msgspec
from e2e.exchange import SWITCH

from controller.bus.publisher import Pulse
from controller.bus.snapshot import Snapshot
from controller.bus.wire import Answer
from controller.station.scrape import reading_of
from controller.table import inputs as i
from controller.table.commitments import commit
from controller.table.events import CardDealt, CardShown, Event, InputRefused, Refusal
from controller.table.picture import Picture, draw
from controller.table.state import TableState
from controller.table.table import Table


class Spy(Table):
    """A table that counts the characters of the codes that lie face down."""

    count: ClassVar[int] = 0

    def step(self, value: i.AnyInput) -> tuple[Event, ...]:
        if isinstance(value, i.Started):
            Spy.count = 0
        events = super().step(value)
        if isinstance(value, i.CardRead) and any(is_hidden(event) for event in events):
            Spy.count += len(value.code)
        return self.told(events)

    def told(self, events: tuple[Event, ...]) -> tuple[Event, ...]:
        return events


def is_hidden(event: Event) -> bool:
    """Whether the event lays a card face down."""
    return isinstance(event, CardDealt) and event.commitment is not None


class InAField(Spy):
    def told(self, events: tuple[Event, ...]) -> tuple[Event, ...]:
        return tuple(
            msgspec.structs.replace(event, deal=Spy.count) if isinstance(event, CardDealt) else event
            for event in events
        )


class ByPresence(Spy):
    def told(self, events: tuple[Event, ...]) -> tuple[Event, ...]:
        more = InputRefused(input="card_read", reason=Refusal.HELD)
        return (*events, *[more] * Spy.count) if any(map(is_hidden, events)) else events


class ByOrder(Spy):
    def told(self, events: tuple[Event, ...]) -> tuple[Event, ...]:
        return events[::-1] if Spy.count % 2 else events


class InALogLine(Spy):
    def told(self, events: tuple[Event, ...]) -> tuple[Event, ...]:
        if any(map(is_hidden, events)):
            logging.getLogger("station").info("card read", extra={"facts": {"bytes": Spy.count}})
        return events


class InADeadline(Spy):
    def told(self, events: tuple[Event, ...]) -> tuple[Event, ...]:
        for name, deadline in self.state.deadlines.items():
            self.state.deadlines[name] = msgspec.structs.replace(deadline, due=deadline.due + Spy.count)
        return events


class ToTheBettingSystem(Spy):
    def told(self, events: tuple[Event, ...]) -> tuple[Event, ...]:
        shown = [
            CardShown(place=event.place, n=event.n, reading=1, card=str(self.state.in_play.laid[-1].card))
            for event in events
            if isinstance(event, CardDealt) and event.commitment is not None and event.place != SWITCH
        ]
        return (*events, *shown)


class BesideASwitchCard(Spy):
    def told(self, events: tuple[Event, ...]) -> tuple[Event, ...]:
        return tuple(
            msgspec.structs.replace(event, reading=Spy.count) if isinstance(event, CardShown) else event
            for event in events
        )


def in_a_picture(state: TableState) -> Picture:
    return msgspec.structs.replace(draw(state), rescans_used=Spy.count)


def in_a_page(_snapshot: Snapshot) -> dict[str, tuple[int, ...]]:
    return {"box1": (Spy.count,)}


def in_alive(**facts: Any) -> Pulse:
    return Pulse(**{**facts, "phase": "x" * Spy.count})


def in_an_answer(request: str, accepted: bool, reason: str | None, _text: str | None) -> Answer:
    return Answer(request, accepted, reason, "x" * Spy.count)


def in_a_metric(station: Any) -> Any:
    return msgspec.structs.replace(reading_of(station), queue_depth=Spy.count)


def in_a_commitment(key: str, text: str) -> str:
    return commit(key, text)[: 64 - Spy.count % 64]


class Leak(NamedTuple):
    """A build that tells: what is replaced by what, and by which channel it must be found out."""

    table: type[Spy]
    channel: str
    place: str = "box1"
    patch: tuple[str, Callable[..., Any]] | None = None


LEAKS = {
    "field": Leak(InAField, "live.public"),
    "presence": Leak(ByPresence, ", or "),
    "order": Leak(ByOrder, "moment "),
    "log line": Leak(InALogLine, "log"),
    "deadline": Leak(InADeadline, "due|picture|live.public"),
    "side box to betting": Leak(ToTheBettingSystem, "live.betting"),
    "beside a switch card": Leak(BesideASwitchCard, "live.betting", SWITCH),
    "picture": Leak(Spy, "picture", patch=("controller.station.station.draw", in_a_picture)),
    "page": Leak(Spy, "page", patch=("controller.station.pages.views.laid_aside", in_a_page)),
    "overlay": Leak(Spy, "overlay", patch=("controller.station.pages.overlay_view.laid_aside", in_a_page)),
    "alive": Leak(Spy, "live.public", patch=("controller.station.pulse.Pulse", in_alive)),
    "answer": Leak(Spy, "answer", patch=("controller.station.station.Answer", in_an_answer)),
    "metrics": Leak(Spy, "metrics", patch=("controller.station.station.reading_of", in_a_metric)),
    "commitment": Leak(Spy, "live.public", patch=("controller.table.state.commit", in_a_commitment)),
}
