"""What can go wrong with readers that deal nothing, and what the table must make of it.

A `capture` is a second capture, a `pad` the reader of a place. Only tables that have them can have these.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from controller.table.events import IncidentKind as Kind
from controller.table.events import Verdict
from controller.table.inputs import CancelReason as Reason
from simulators.faults.catalogue import BURNED, Course, Fault, Moment

DISPUTED = ((Kind.DISPUTED_READ, Verdict.RESCANNED),)
ROW_3 = ("row 3", "RPL-75")
SHOE_MISREAD = "shoe-misread"
"""The reader that deals takes a card for another one."""
OF_A_CAPTURE = (
    Fault(SHOE_MISREAD, Moment.ANY_CARD, ROW_3, DISPUTED),
    Fault("capture-other", Moment.ANY_CARD, ROW_3, DISPUTED),
    Fault("capture-misses", Moment.ANY_CARD, ("row 3",)),
    Fault("capture-damaged", Moment.ANY_CARD, ("row 3",)),
    Fault("capture-twice", Moment.ANY_CARD, ("row 3",)),
    Fault("capture-unplugged", Moment.ANY_CARD, ("row 30",)),
    Fault("capture-gone", Moment.ANY_CARD, ("row 3", "row 30"), ((Kind.NOT_SEEN_AGAIN, Verdict.WENT_ON),)),
    Fault("capture-surplus", Moment.RESULT, ("row 10", "RPL-71"), BURNED),
    Fault("passed-unread", Moment.ANY_CARD, ("row 2", "RPL-75"), ((Kind.MISREAD_LATE, Verdict.RESCANNED),)),
)
"""What it misses is shown to it before RESULT; without it a supervisor confirms, which is on record."""
OF_PADS = (
    Fault("pad-other", Moment.ANY_CARD, ROW_3, DISPUTED),
    Fault("pad-misses", Moment.ANY_CARD, ("row 3",)),
    Fault("pad-unplugged", Moment.ANY_CARD, ("row 30",)),
    Fault("misplaced", Moment.ANY_CARD, ("row 11",), ((Kind.WRONG_PLACE, Verdict.RESTORED),)),
    Fault(
        "misplaced-late",
        Moment.ANY_CARD,
        ("row 11", "RPL-73"),
        ((Kind.WRONG_PLACE, Verdict.CANCELLED),),
        Reason.EXTRA_CARD,
    ),
)
READER_IDS = frozenset(fault.id for fault in (*OF_A_CAPTURE, *OF_PADS))


def with_readers(course: Course, readers: Mapping[str, str | None]) -> Course:
    """Return the course with what can happen at these readers; at pads, if each place of the deal has one."""
    dealt_to = {course.order[card - 1][0] for card in course.cards[Moment.ANY_CARD]}
    captures = tuple(_in_game(course, fault) for fault in OF_A_CAPTURE) if None in readers.values() else ()
    pads = OF_PADS if dealt_to <= set(readers.values()) else ()
    return course._replace(faults=(*course.faults, *captures, *pads))


def _in_game(course: Course, fault: Fault) -> Fault:
    """Return a fault as this game decides it: a surplus card is one, whoever reads it."""
    surplus = course.find("surplus-result")
    if fault.id != "capture-surplus" or surplus is None:
        return fault
    return replace(fault, incidents=surplus.incidents)
