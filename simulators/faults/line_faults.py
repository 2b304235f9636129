"""What can go wrong on the line of each device family, and what the table must make of it.

What a device and its driver repair by themselves leaves no incident. The ids are `line-` and the mishap's
name; one mishap may end differently with each family.
"""

from __future__ import annotations

from collections.abc import Mapping

from controller.table.events import IncidentKind as Kind
from controller.table.events import Verdict
from controller.table.situations import SITUATIONS
from drivers import angel_eye, delimited, zebra_ssi
from drivers.feig_obid import framer as feig_obid
from simulators.devices.families import Mishap
from simulators.faults.catalogue import RESCANNED, Course, Fault, Moment

GARBLED = "line-garbled"
"""A bit of a code is wrong, and no checksum tells: the code of another card, or of none."""
WENT_ON = ((Kind.SCANNER_LOST, Verdict.WENT_ON),)
SAME_CARD = ((Kind.SAME_CODE_AGAIN, Verdict.DUPLICATE_READ),)


def _fault(mishap: Mishap, incidents: tuple[tuple[Kind, Verdict], ...] = ()) -> Fault:
    return Fault(f"line-{mishap}", Moment.ANY_CARD, ("driver",), incidents)


def _cancels(mishap: Mishap, kind: Kind, row: str) -> Fault:
    incidents = ((kind, Verdict.CANCELLED),)
    return Fault(f"line-{mishap}", Moment.ANY_CARD, (f"row {row}",), incidents, SITUATIONS[kind].reason)


LINE_FAULTS: Mapping[str, tuple[Fault, ...]] = {
    angel_eye.FAMILY: (
        _fault(Mishap.LOST, RESCANNED),
        _fault(Mishap.LOST_COPY),
        _fault(Mishap.DOUBLED),
        _fault(Mishap.SPLIT),
        _fault(Mishap.MERGED),
        _fault(Mishap.CUT),
        _fault(Mishap.FLIPPED),
        _fault(Mishap.NOISE),
        _fault(Mishap.STORM),
        _fault(Mishap.TIME_OUT),
        _fault(Mishap.CODE_ERROR, RESCANNED),
        _fault(Mishap.NO_STAND_BY),
        _fault(Mishap.POWER_CYCLE, WENT_ON),
        _cancels(Mishap.PULLED_BACK, Kind.DEVICE_FAILED, "29"),
        _cancels(Mishap.LIES, Kind.SHOE_DISAGREES, "19b"),
    ),
    delimited.FAMILY: (
        _fault(Mishap.LOST),
        _fault(Mishap.DOUBLED, SAME_CARD),
        _fault(Mishap.SPLIT),
        _fault(Mishap.MERGED, SAME_CARD),
        _fault(Mishap.CUT, RESCANNED),
        _fault(Mishap.LOST_END, RESCANNED),
        _fault(Mishap.NOISE, RESCANNED),
        _fault(Mishap.POWER_CYCLE),
        Fault(GARBLED, Moment.FACE_DOWN_CARD, ("driver",)),
    ),
    feig_obid.FAMILY: (
        _fault(Mishap.LOST),
        _fault(Mishap.SPLIT),
        _fault(Mishap.CUT),
        _fault(Mishap.FLIPPED),
        _fault(Mishap.PARTIAL),
        _fault(Mishap.FLICKER),
        _fault(Mishap.BLEED),
        _fault(Mishap.OTHER_ADDRESS),
        _fault(Mishap.ON_AIR),
        _fault(Mishap.POWER_CYCLE),
    ),
    zebra_ssi.FAMILY: (
        _fault(Mishap.LOST),
        _fault(Mishap.DOUBLED, SAME_CARD),
        _fault(Mishap.SPLIT),
        _fault(Mishap.MERGED),
        _fault(Mishap.CUT),
        _fault(Mishap.NOISE),
        _fault(Mishap.FLIPPED),
        _fault(Mishap.LENGTH),
        _fault(Mishap.LOST_ACK),
        _fault(Mishap.POWER_CYCLE, WENT_ON),
    ),
}


CAN_NOT_HAPPEN: Mapping[str, Mapping[str, str]] = {
    angel_eye.FAMILY: {
        "read-twice": "a frame has a number; two equal cards have two",
        "foreign-card": "it reads the cards of its maker alone, and of them rank and suit",
        "unknown-code": "what is no card is a failed read",
    },
}
"""Faults of a game that a family of devices makes impossible, and why."""


def with_line(course: Course, family: str) -> Course:
    """Return the course with what can happen on the line of this family of devices, if it has a moment.

    What this family makes impossible is left out.
    """
    left_out = CAN_NOT_HAPPEN.get(family, {})
    faults = (fault for fault in course.faults if fault.id not in left_out)
    more = (fault for fault in LINE_FAULTS[family] if course.cards.get(fault.moment))
    return course._replace(faults=(*faults, *more))


LINE_IDS = frozenset(fault.id for faults in LINE_FAULTS.values() for fault in faults)
