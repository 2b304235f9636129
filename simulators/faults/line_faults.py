"""What can go wrong on the line of each device family, and what the table must make of it.

What a device and its driver repair by themselves leaves no incident. The ids are `line-` and the mishap's
name; one mishap may end differently with each family.
"""

from __future__ import annotations

from collections.abc import Mapping

from controller.table.events import IncidentKind as Kind
from controller.table.events import Verdict
from drivers import delimited, zebra_ssi
from drivers.feig_obid import framer as feig_obid
from simulators.devices.families import Mishap
from simulators.faults.catalogue import RESCANNED, Course, Fault, Moment

GARBLED = "line-garbled"
"""A bit of a code is wrong, and no checksum tells: the code of another card, or of none."""
WENT_ON = ((Kind.SCANNER_LOST, Verdict.WENT_ON),)
SAME_CARD = ((Kind.SAME_CODE_AGAIN, Verdict.DUPLICATE_READ),)


def _fault(mishap: Mishap, incidents: tuple[tuple[Kind, Verdict], ...] = ()) -> Fault:
    return Fault(f"line-{mishap}", Moment.ANY_CARD, ("driver",), incidents)


LINE_FAULTS: Mapping[str, tuple[Fault, ...]] = {
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


def with_line(course: Course, family: str) -> Course:
    """Return the course with what can happen on the line of this family of devices, if it has a moment."""
    more = (fault for fault in LINE_FAULTS[family] if course.cards.get(fault.moment))
    return course._replace(faults=(*course.faults, *more))


LINE_IDS = frozenset(fault.id for faults in LINE_FAULTS.values() for fault in faults)
