"""The people of a simulated studio, and the people file that lets them log in.

Their PINs are no secrets, so a table that is not simulated must never read this file.
"""

from __future__ import annotations

from controller.bus.envelope import Environment
from controller.station.config import StationConfig
from controller.station.errors import PeopleError
from controller.station.people import (
    People,
    Person,
    hashed,
    new_salt,
    read_people,
    write_people,
)
from controller.station.whole_file import changed_alone
from controller.table.inputs import Role

DEALER, SUPERVISOR, SECOND_SUPERVISOR = "anna", "boris", "clara"
PINS = {DEALER: "271828", SUPERVISOR: "314159", SECOND_SUPERVISOR: "141421"}
ROLES = {DEALER: Role.DEALER, SUPERVISOR: Role.SUPERVISOR, SECOND_SUPERVISOR: Role.SUPERVISOR}
COST = 16
"""These PINs stand above; hashing them dearly would hide nothing."""


def hire(config: StationConfig) -> None:
    """Write the people file of a simulated table where there is none yet.

    Raises PeopleError when there is one in which the cast can't log in.
    """
    assert config.environment is Environment.SIMULATED, config.environment
    path = config.people
    with changed_alone(path):
        if not path.exists():
            write_people(path, the_cast())
            return
    known = read_people(path).people
    for actor, pin in PINS.items():
        person = known.get(actor)
        if person is None or ROLES[actor] not in person.roles or person.proof(pin=pin, badge=None) is None:
            raise PeopleError(
                f"{path}: {actor} is not the simulated {ROLES[actor]}; name another file under people in "
                f"{config.path}, or remove this one, and a simulation writes its own"
            )


def the_cast(cost: int = COST) -> People:
    """Return the simulated people."""
    people = {
        actor: Person(actor.capitalize(), (ROLES[actor],), hashed(pin, new_salt(), cost))
        for actor, pin in PINS.items()
    }
    return People(new_salt(), people)
