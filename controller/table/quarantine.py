"""Inputs that stop the process: named, so that the one that did it twice can be left out.

A bug stops the process before its input is journaled. The station keeps the `name_of` what was being taken
when that happened, and a start brings the names that came twice (`Started.quarantined`): such an input is
then refused, and in a round a supervisor decides. Row 35b.
"""

from __future__ import annotations

from hashlib import sha256

import msgspec

from controller.table import procedures
from controller.table.events import IncidentKind, Refusal, Verdict
from controller.table.gate import refuse
from controller.table.incidents import note_incident
from controller.table.inputs import AnyInput, CardRead, Commanded, Started, TimerExpired, encode_input
from controller.table.situations import SITUATIONS, Axis, Known
from controller.table.state import TableState


def suspect(t: TableState, value: AnyInput) -> str:
    """Return the name of what the table takes first when it is given `value`: a deadline due, or itself.

    A deadline is blamed first: it would stop the table under every input that comes after it.
    """
    due = sorted((deadline.due, name) for name, deadline in t.deadlines.items() if deadline.due <= value.at)
    for at, name in due if not isinstance(value, Started) else ():
        named = name_of(t, TimerExpired(at=at, name=name, number=t.deadlines[name].number))
        if named not in t.quarantined:
            return named
    return name_of(t, value)


def name_of(t: TableState, value: AnyInput) -> str:
    """Return a name that the same input gets when it comes again, from whomever and under any request.

    It holds in this phase of this round, and for this version of the program: another one may take it.
    """
    alike = msgspec.structs.replace(value, at=0)
    match alike:
        case CardRead():
            alike = msgspec.structs.replace(alike, key="", device_seq=None)
        case Commanded():
            alike = msgspec.structs.replace(alike, request="", actor="", past=None, key=None)
        case _:
            pass
    text = f"{t.program}|{t.round_no}|{t.phase}|".encode() + encode_input(alike)
    return sha256(text).hexdigest()


def is_left_out(t: TableState, value: AnyInput) -> bool:
    """Return whether this input has stopped the process twice."""
    # Without a quarantine, nearly always, nothing is hashed.
    return bool(t.quarantined) and name_of(t, value) in t.quarantined


def why_not(t: TableState, value: AnyInput) -> Refusal | None:
    """Return why a press is not taken that has stopped the process twice."""
    return Refusal.QUARANTINED if is_left_out(t, value) else None


def leave_out(t: TableState, value: AnyInput) -> None:
    """Refuse what came from a scanner or a deadline; without it the order of the cards is uncertain."""
    refuse(t, str(value.__struct_config__.tag), Refusal.QUARANTINED)
    _hold(t, certain=Known.NO)


def press_refused(t: TableState, refusal: Refusal | None) -> None:
    """A press was left out; nothing is missing but what it would have done."""
    if refusal is Refusal.QUARANTINED:
        _hold(t, certain=Known.YES)


def _hold(t: TableState, *, certain: Known) -> None:
    """Let the cell decide in a round, one case at a time; between rounds put it on record."""
    kind = IncidentKind.QUARANTINED
    if any(known.kind is kind for known in t.incidents):
        return
    if t.is_round_open and procedures.applies(t, kind):
        procedures.meet(t, kind, {Axis.CERTAIN: certain})
    else:
        prompt = "PRESS_LEFT_OUT" if certain is Known.YES else "INPUT_LEFT_OUT"
        note_incident(t, kind, SITUATIONS[kind].row, Verdict.LEFT_OUT, prompt)
