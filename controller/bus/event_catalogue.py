"""The page that lists every event: who hears it, who is told less, and whether it may hold a card."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator
from typing import get_args

from controller.bus.envelope import VERSION, tag_of, travelling_events
from controller.bus.schema import audiences_of, bus_schemas, may_hold_a_card
from controller.bus.schema_docs import one_line
from controller.table import events
from controller.table.events import AUDIENCES, Audience, Event

FAMILIES = (
    events.RoundEvent,
    events.CardEvent,
    events.IncidentEvent,
    events.DeckEvent,
    events.PeopleEvent,
    events.DayEvent,
)
HEAD = f"""# Events of the bus

Made by `tablectl schema` from the types in `controller/table/events`. An event is the `data` of a message
whose `type` is `tablectl.<event>.v{VERSION}`; `schemas.json` has the fields of each, `README.md` says how to
listen.

**yes**: told whole. **part**: told less than the audit, or not always; the lines below the table say what is
kept back. **card**: whether a card may stand in it. A card that lies face down stands in none of them before
it is turned, with one exception: `card.shown`, and the `hands.offered` made of it, tell the betting system
the switch cards that players have paid to see. "None" is a field that is absent.
"""
COLUMNS = ("event", "what it says", *AUDIENCES, "card")


def event_catalogue() -> str:
    """Return the page, in Markdown."""
    known = bus_schemas()["$defs"]
    lines = [HEAD]
    for family in FAMILIES:
        kinds: tuple[type[Event], ...] = get_args(family)
        module = sys.modules[kinds[0].__module__]
        lines += [
            f"## {module.__name__.rpartition('.')[2].capitalize()}",
            "",
            one_line(module.__doc__ or ""),
            "",
        ]
        lines += [_row(COLUMNS), _row("---" for _ in COLUMNS)]
        for kind in kinds:
            travels = travelling_events()[tag_of(kind)]
            told = (_told(kind, audience) for audience in AUDIENCES)
            card = "yes" if may_hold_a_card(travels, known) else ""
            lines.append(_row((f"`{tag_of(kind)}`", one_line(kind.__doc__ or ""), *told, card)))
        lines += ["", *_kept_back(kinds)]
    return "\n".join(lines).rstrip() + "\n"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _told(kind: type[Event], audience: Audience) -> str:
    if audience not in audiences_of(kind):
        return ""
    return "part" if audience is not Audience.AUDIT and _tells_less(kind) else "yes"


def _tells_less(kind: type[Event]) -> bool:
    return inspect.getattr_static(kind, "seen_by") is not inspect.getattr_static(Event, "seen_by")


def _kept_back(kinds: Iterable[type[Event]]) -> Iterator[str]:
    """Yield what each event that not everybody hears whole keeps from whom."""
    less = [kind for kind in kinds if _tells_less(kind)]
    for kind in less:
        yield f"- `{tag_of(kind)}`: {one_line(kind.seen_by.__doc__ or '')}"
    if less:
        yield ""
