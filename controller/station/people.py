"""The people file: who may log in, in which roles, and the hashes of their PINs and badges.

PINs and badge codes are kept by scrypt with a salt. A PIN has a salt of its own; badges share the file's
salt, so that two people can't be given one badge. The file has mode 0600 and is replaced as a whole; it is
read at every log-in, so that a change counts at once. It is no document of the config: nothing of it is
copied into journals and recordings.
"""

from __future__ import annotations

import hashlib
import hmac
import itertools
import os
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec.structs import replace

from controller.bus.envelope import Environment
from controller.station.config import StationConfig
from controller.station.errors import PeopleError
from controller.station.whole_file import MODE, replace_whole
from controller.table.inputs import Proof, Role
from drivers.rdm6300 import is_ghost

COST = 1 << 14
"""scrypt's n: about 50 ms and 16 MB for one look at a PIN."""
BLOCK_SIZE = 8
SALT_BYTES = 16
PIN_DIGITS_MIN, PIN_DIGITS_MAX = 6, 12
BADGE_CHARACTERS_MIN, BADGE_CHARACTERS_MAX = 8, 64
PERSON_ROLES = (Role.DEALER, Role.SUPERVISOR)

PersonId = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9._-]{0,31}$")]
HexText = Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{2})+$")]
PublicName = Annotated[str, msgspec.Meta(pattern=r"^[^\x00-\x1f\x7f]{1,32}$")]


class Hashed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A PIN or badge code by scrypt; `cost` is its n, a power of two. Salt and hash in hex."""

    salt: HexText
    hash: HexText
    cost: Annotated[int, msgspec.Meta(ge=2, le=1 << 16)] = COST

    def __post_init__(self) -> None:
        if self.cost & (self.cost - 1):
            raise ValueError(f"cost: got {self.cost}, expected a power of two")

    def is_of(self, secret: str) -> bool:
        """Whether this is the hash of `secret`."""
        return hmac.compare_digest(self.hash, hashed(secret, self.salt, self.cost).hash)


class Person(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One person. `name` is the one that players may see."""

    name: PublicName
    roles: tuple[Role, ...]
    pin: Hashed | None = None
    badge: Hashed | None = None

    def proof(self, *, pin: str | None, badge: str | None) -> Proof | None:
        """Return how the person has proven to be this one, None when neither PIN nor badge is right."""
        if pin is not None:
            return Proof.PIN if self.pin is not None and self.pin.is_of(pin) else None
        right = badge is not None and self.badge is not None and self.badge.is_of(badge)
        return Proof.BADGE if right else None

    @property
    def can_log_in(self) -> bool:
        """Whether there is anything to log in with."""
        return self.pin is not None or self.badge is not None


class People(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everybody, by id. `badge_salt` salts all badge codes."""

    badge_salt: HexText
    people: Mapping[PersonId, Person] = {}

    def of_role(self, role: Role) -> tuple[str, ...]:
        """Return the ids of those who may work in this role."""
        return tuple(actor for actor, person in self.people.items() if role in person.roles)

    def with_person(self, actor: str, person: Person) -> People:
        """Return these people with this one added or changed."""
        return replace(self, people={**self.people, actor: person})

    def without(self, actor: str) -> People:
        """Return these people but one."""
        return replace(self, people={known: one for known, one in self.people.items() if known != actor})

    def holder_of(self, badge: Hashed) -> str | None:
        """Return whose badge this is."""
        return next((actor for actor, person in self.people.items() if person.badge == badge), None)

    def holder_of_code(self, code: str) -> str | None:
        """Return whose badge has this code. All badges share a salt, so one look at a code is enough."""
        costs = {person.badge.cost for person in self.people.values() if person.badge is not None}
        holders = (self.holder_of(hashed(code, self.badge_salt, cost)) for cost in sorted(costs))
        return next((actor for actor in holders if actor is not None), None)


def hashed(secret: str, salt: str, cost: int = COST) -> Hashed:
    """Hash a PIN or badge code."""
    raw = hashlib.scrypt(
        secret.encode(), salt=bytes.fromhex(salt), n=cost, r=BLOCK_SIZE, p=1, maxmem=1 << 27, dklen=32
    )
    return Hashed(salt, raw.hex(), cost)


def new_salt() -> str:
    """Return a fresh salt in hex."""
    return secrets.token_hex(SALT_BYTES)


def what_is_wrong_with_pin(pin: str) -> str | None:
    """Return why this is no PIN to give out, without repeating it; None when it is one."""
    if not pin.isascii() or not pin.isdecimal() or not PIN_DIGITS_MIN <= len(pin) <= PIN_DIGITS_MAX:
        return f"expected {PIN_DIGITS_MIN} to {PIN_DIGITS_MAX} digits"
    steps = {int(after) - int(before) for before, after in itertools.pairwise(pin)}
    return "expected digits that are no run and not all the same" if steps in ({0}, {1}, {-1}) else None


def what_is_wrong_with_badge(code: str) -> str | None:
    """Return why this is no badge code, without repeating it; None when it is one.

    A code that badge readers invent would log its holder in with nobody there.
    """
    if is_ghost(code):
        return "expected the code of a badge; readers invent this one in an empty field; use another badge"
    fits = BADGE_CHARACTERS_MIN <= len(code) <= BADGE_CHARACTERS_MAX
    if fits and code.isascii() and code.isprintable():
        return None
    return f"expected {BADGE_CHARACTERS_MIN} to {BADGE_CHARACTERS_MAX} printable ASCII characters"


# The file.


def read_people(path: Path) -> People:
    """Read the file. Raises PeopleError, which says what to do."""
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            raw = file.read()
    except FileNotFoundError:
        raise PeopleError(
            f"{path}: there is no people file; begin one: "
            f"tablectl people {path} add ID --name NAME --role dealer"
        ) from None
    except OSError as error:
        raise PeopleError(f"{path}: can't be read: {error.strerror}") from None
    if mode & 0o077:
        raise PeopleError(
            f"{path}: mode {mode:04o}, expected {MODE:04o}: others can read it; chmod 600 {path}, new PINs"
        )
    try:
        people = msgspec.json.decode(raw, type=People)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise PeopleError(f"{path}: is no people file: {error}; restore it from a backup") from None
    for actor, person in people.people.items():
        if not person.roles or not set(person.roles) <= set(PERSON_ROLES):
            raise PeopleError(
                f"{path}: people.{actor}.roles: got {', '.join(person.roles) or 'none'}, "
                f"expected dealer, supervisor or both"
            )
    return people


def check_staffed(config: StationConfig) -> None:
    """Refuse to start a table that nobody could run, or that everybody could. Raises PeopleError."""
    path = config.people
    people = read_people(path)
    secrets_kept = [one for person in people.people.values() for one in (person.pin, person.badge) if one]
    if config.environment is Environment.LIVE and any(one.cost < COST for one in secrets_kept):
        raise PeopleError(
            f"{path}: holds people of a simulation, whose PINs everybody knows; "
            f"name another file under people in {config.path}"
        )
    able = {actor for actor, person in people.people.items() if person.can_log_in}
    dealers = able.intersection(people.of_role(Role.DEALER))
    supervisors = able.intersection(people.of_role(Role.SUPERVISOR))
    if not dealers or not supervisors or len(dealers | supervisors) < 2:
        raise PeopleError(
            f"{path}: a table needs a dealer and a supervisor, who are two people with a PIN or a badge; "
            f"tablectl people {path} list shows who is there"
        )


def write_people(path: Path, people: People) -> None:
    """Replace the file as a whole, durably; a crash leaves the old one or the new one."""
    replace_whole(path, msgspec.json.format(msgspec.json.encode(people, order="deterministic")) + b"\n")
