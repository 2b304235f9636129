"""Scanners that come and go, and the devices behind them: row 30 of the procedures.

In a round whatever happens to a scanner that deals holds the table (`interruptions`); between rounds it only
keeps the next one from opening, and so does one that only compares, at any time.
"""

from __future__ import annotations

from controller.table import interruptions, shoe_opinion
from controller.table.charts import IN_ROUND
from controller.table.events import IncidentKind, ScannerChanged, Verdict
from controller.table.incidents import note_incident
from controller.table.inputs import ScannerLost, ScannerOpened, ScannerRestarted
from controller.table.situations import SITUATIONS
from controller.table.state import TableState


def opened(t: TableState, value: ScannerOpened) -> None:
    """The scanner is there (again): the same device, or another one that a supervisor must accept."""
    t.scanners_up.add(value.scanner)
    t.emit(ScannerChanged(scanner=value.scanner, up=True, device=value.device))
    if t.round is not None and t.scanners_up >= t.settings.dealing_scanners:
        t.round.by_hand = False
    is_strange = _look_at(t, value)
    if t.phase in IN_ROUND and _deals(t, value.scanner):
        interruptions.scanner_back(t)
    elif is_strange:
        row = SITUATIONS[IncidentKind.SCANNER_LOST].row
        note_incident(t, IncidentKind.OTHER_SCANNER, row, Verdict.ACCEPTED_AT_START, "OTHER_SCANNER")


def lost(t: TableState, value: ScannerLost) -> None:
    """The scanner is gone."""
    t.scanners_up.discard(value.scanner)
    t.emit(ScannerChanged(scanner=value.scanner, up=False, reason=value.reason))
    if t.phase in IN_ROUND and _deals(t, value.scanner):
        interruptions.scanner_lost(t)


def restarted(t: TableState, value: ScannerRestarted) -> None:
    """The device started anew under an open port: a card may have passed it unseen."""
    t.emit(ScannerChanged(scanner=value.scanner, up=value.scanner in t.scanners_up, reason="restarted"))
    if t.phase in IN_ROUND and _deals(t, value.scanner):
        shoe_opinion.begins_anew(t)
        interruptions.scanner_back(t)


def _deals(t: TableState, scanner: str) -> bool:
    """Whether cards may pass unread without this scanner; one that only compares is missed at RESULT."""
    return scanner in t.settings.dealing_scanners


def _look_at(t: TableState, value: ScannerOpened) -> bool:
    """Compare the device with the one before; return whether it is a strange one that is new here."""
    known = t.devices.get(value.scanner)
    strange = t.strange_devices.pop(value.scanner, None)
    if known is None:
        if value.device is not None:
            t.devices[value.scanner] = value.device
        return False
    if value.device == known:
        return False
    # A device that had an identity and has none now is as strange as another one.
    t.strange_devices[value.scanner] = value.device or ""
    return strange != t.strange_devices[value.scanner]  # After a restart it is seen again, and known.


def accept(t: TableState) -> None:
    """A supervisor takes the devices that are there now for the table's own."""
    for scanner, device in t.strange_devices.items():
        if device:
            t.devices[scanner] = device
        else:
            del t.devices[scanner]
    t.strange_devices.clear()
