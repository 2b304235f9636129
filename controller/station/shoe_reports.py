"""What a shoe that judges by itself reports, beside cards, as inputs of the table."""

from __future__ import annotations

from controller.table.inputs import (
    AnyInput,
    Complaint,
    ReadFailed,
    ShoeComplained,
    ShoeResulted,
    ShoeStandsBy,
)
from drivers.contract import (
    DeviceFault,
    DeviceReported,
    DeviceState,
    DrawnOutside,
    Fault,
    Report,
    ShoeResult,
)

UNREAD = frozenset({Fault.NOT_READ, Fault.CODE_ERROR})
"""A card left the shoe and its face is not known."""
COMPLAINTS = {
    Fault.OVERDRAW: Complaint.OVERDRAW,
    Fault.PULLED_BACK_AT_EXIT: Complaint.PULLED_BACK,
    Fault.PULLED_BACK_ON_WAY: Complaint.PULLED_BACK,
    Fault.DRAW_TIME_OUT: Complaint.DRAW_TIME_OUT,
}


def shoe_input(report: Report, scanner: str, at: int) -> AnyInput | None:
    """Return the input of a result or a complaint, None for any other report."""
    match report:
        case ShoeResult():
            return ShoeResulted(
                at=at,
                scanner=scanner,
                winner=report.winner,
                player_pair=report.player_pair,
                banker_pair=report.banker_pair,
            )
        case DeviceReported(state=DeviceState.STAND_BY):
            return ShoeStandsBy(at=at, scanner=scanner)
        case DrawnOutside(ended=ended):
            # Whose face the shoe has seen is a read (see `intake`); back in the shoe or not, nothing is read.
            return ShoeComplained(at=at, scanner=scanner, complaint=Complaint.OVERDRAW, cleared=ended)
        case DeviceFault(fault=fault, cleared=False) if fault in UNREAD:
            return ReadFailed(at=at, scanner=scanner, cause=fault)
        case DeviceFault(fault=fault, cleared=cleared):
            complaint = COMPLAINTS.get(fault, Complaint.OTHER)
            return ShoeComplained(at=at, scanner=scanner, complaint=complaint, cleared=cleared)
        case _:
            return None
