"""`tablectl people CONFIG|FILE add|list|remove|set-pin|set-badge`: who may log in at the tables.

PINs and badge codes are read from the terminal, twice and unseen, or from a line of standard input; never
from the command line, which other processes can read.
"""

from __future__ import annotations

import argparse
import getpass
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from controller.station.config import load
from controller.station.errors import PeopleError, StationError
from controller.station.people import (
    PERSON_ROLES,
    Hashed,
    People,
    Person,
    hashed,
    new_salt,
    read_people,
    what_is_wrong_with_badge,
    what_is_wrong_with_pin,
    write_people,
)
from controller.station.terminal import FINDING, FINE, complain, say, say_json
from controller.station.whole_file import changed_alone

Change = Callable[[People, argparse.Namespace], tuple[People, str]]


def add_people(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser("people", help="who may log in at a table, with which PIN or badge")
    parser.add_argument(
        "where", metavar="CONFIG|FILE", type=Path, help="a table's TOML file, or the people file"
    )
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    listing = verbs.add_parser("list", help="show everybody")
    listing.add_argument("--json", action="store_true", help="one line of JSON, without hashes")
    listing.set_defaults(run=list_people)
    adding = verbs.add_parser("add", help="add a person, or change name and roles")
    adding.add_argument("--name", required=True, help="as players see it")
    adding.add_argument(
        "--role",
        dest="roles",
        action="append",
        required=True,
        choices=[role.value for role in PERSON_ROLES],
        help="may be given again",
    )
    removing = verbs.add_parser("remove", help="take a person out")
    pin = verbs.add_parser("set-pin", help="set a PIN; an empty one takes it away")
    badge = verbs.add_parser("set-badge", help="set a badge code; an empty one takes it away")
    changes: tuple[tuple[argparse.ArgumentParser, Change], ...] = (
        (adding, _add),
        (removing, _remove),
        (pin, _set_pin),
        (badge, _set_badge),
    )
    for verb, change in changes:
        verb.add_argument("id", metavar="ID", help="small letters, digits, . _ -; part of every record")
        verb.set_defaults(run=change_people, change=change)


def people_path(where: Path) -> Path:
    """Return the people file that a table's config names, or the file itself. Raises ConfigError."""
    return load(where).people if where.suffix == ".toml" else where


def list_people(arguments: argparse.Namespace) -> int:
    """Show everybody: id, roles, what they log in with, name."""
    try:
        people = read_people(people_path(arguments.where)).people
    except StationError as error:
        complain(error)
        return FINDING
    for actor, person in sorted(people.items()):
        means = [kind for kind, known in (("pin", person.pin), ("badge", person.badge)) if known is not None]
        if arguments.json:
            say_json({"id": actor, "name": person.name, "roles": person.roles, "logs_in_with": means})
        else:
            roles = ", ".join(person.roles)
            say(f"{actor:16} {roles:20} {' and '.join(means) or 'can not log in yet':20} {person.name}")
    return FINE


def change_people(arguments: argparse.Namespace) -> int:
    """Do one change and say so."""
    try:
        path = people_path(arguments.where)
        change: Change = arguments.change
        with changed_alone(path):
            before = People(new_salt()) if _begins(path, change) else read_people(path)
            after, told = change(before, arguments)
            write_people(path, after)
    except (StationError, OSError) as error:
        complain(error)
        return FINDING
    say(f"{path}: {told}")
    return FINE


def _begins(path: Path, change: Change) -> bool:
    return change is _add and not path.exists()


def _add(people: People, arguments: argparse.Namespace) -> tuple[People, str]:
    known = people.people.get(arguments.id)
    roles = tuple(role for role in PERSON_ROLES if role in arguments.roles)
    person = (
        Person(arguments.name, roles) if known is None else replace(known, name=arguments.name, roles=roles)
    )
    after = people.with_person(arguments.id, person)
    try:
        msgspec.json.decode(msgspec.json.encode(after), type=People)
    except msgspec.ValidationError as error:
        raise PeopleError(f"{arguments.id}: {error}") from None
    return after, f"{arguments.id} is {' and '.join(roles)}" + ("" if person.can_log_in else "; now set-pin")


def _remove(people: People, arguments: argparse.Namespace) -> tuple[People, str]:
    _person(people, arguments.id)
    return people.without(arguments.id), f"{arguments.id} is out"


def _set_pin(people: People, arguments: argparse.Namespace) -> tuple[People, str]:
    person = _person(people, arguments.id)
    secret = _ask("PIN", what_is_wrong_with_pin)
    pin = hashed(secret, new_salt()) if secret else None
    return people.with_person(arguments.id, replace(person, pin=pin)), _told(arguments.id, "PIN", pin)


def _set_badge(people: People, arguments: argparse.Namespace) -> tuple[People, str]:
    person = _person(people, arguments.id)
    secret = _ask("badge code", what_is_wrong_with_badge)
    badge = hashed(secret, people.badge_salt) if secret else None
    holder = people.holder_of(badge) if badge is not None else None
    if holder not in (None, arguments.id):
        raise PeopleError(f"this badge is {holder}'s; take it away there first, or use another one")
    return people.with_person(arguments.id, replace(person, badge=badge)), _told(arguments.id, "badge", badge)


def _told(actor: str, kind: str, secret: Hashed | None) -> str:
    return f"{actor} has a new {kind}" if secret is not None else f"{actor} has no {kind} any more"


def _person(people: People, actor: str) -> Person:
    if actor not in people.people:
        known = ", ".join(sorted(people.people)) or "nobody"
        raise PeopleError(f"{actor}: is not in the people file; there is {known}")
    return people.people[actor]


def _ask(what: str, wrong: Callable[[str], str | None]) -> str:
    """Ask for a secret; empty when it is to be taken away. Raises PeopleError, which never repeats it."""
    if not sys.stdin.isatty():
        secret = sys.stdin.readline().rstrip("\r\n")
    else:
        secret = getpass.getpass(f"{what}: ")
        if getpass.getpass(f"{what} again: ") != secret:
            raise PeopleError(f"{what}: the two entries differ; nothing was changed")
    problem = wrong(secret) if secret else None
    if problem is not None:
        raise PeopleError(f"{what}: {problem}; nothing was changed")
    return secret
