"""Who sends a command: the endpoint, the table's duty, and for a log-in the people file.

The PIN or badge code of a log-in ends here. What goes on to the recording, the table and the journal is
only whether it was right.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from controller.bus.wire import Answer, CommandRequest, Reason
from controller.station.errors import PeopleError
from controller.station.people import People, Person, read_people
from controller.table.inputs import AnyCommand, LogIn, Role
from controller.table.staff import Duty

log = logging.getLogger("station")


class Sender(NamedTuple):
    """In which role a command is taken, and the command as the table gets it."""

    role: Role
    command: AnyCommand


def identify(
    endpoint: str, request: CommandRequest, *, duty: Duty, now_us: int, people: Path
) -> Sender | Answer:
    """Return who sends `request`, or the answer that refuses it."""
    command = request.command
    if endpoint in (Role.BETTING, Role.CONSUMER):
        return Sender(Role(endpoint), _unproven(command))
    role = duty.role_of(request.actor)
    if role is not None and not isinstance(command, LogIn):
        return Sender(role, command)
    known = _known(request, people)
    if isinstance(known, Answer):
        return known
    if isinstance(command, LogIn):
        refused_anyway = role is not None or duty.is_locked(request.actor, now_us)
        return _log_in(request, command, known, refused_anyway=refused_anyway)
    return Sender(known.roles[0], command)  # The table refuses a press of somebody who is off duty.


def _known(request: CommandRequest, path: Path) -> Person | Answer:
    try:
        people: People = read_people(path)
    except PeopleError as error:
        log.error(str(error))
        return Answer(request.request, False, Reason.NO_PEOPLE_FILE, str(error))
    person = people.people.get(request.actor)
    if person is None:
        text = f"actor: got {request.actor!r}, expected somebody of {path}; tablectl people {path} list"
        return Answer(request.request, False, Reason.UNKNOWN_PERSON, text)
    return person


def _log_in(request: CommandRequest, command: LogIn, person: Person, *, refused_anyway: bool) -> Sender:
    """Look at PIN or badge; not where the table refuses either way, so that guessing costs no time here."""
    proof = None if refused_anyway else person.proof(pin=request.pin, badge=request.badge)
    role = command.role if command.role in person.roles else person.roles[0]
    return Sender(role, LogIn(command.role, person.name, proof))


def _unproven(command: AnyCommand) -> AnyCommand:
    return replace(command, name="", proof=None) if isinstance(command, LogIn) else command
