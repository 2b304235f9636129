"""The allow-list: which public keys may connect to a table's bus, each with its roles.

A role is one right: to hear an audience (`settlement`), or to send by a command socket
(`commands.betting`). Both endpoints of an audience, live feed and replay, are of one role. The file is
replaced as a whole; what can't be understood allows nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec.structs import replace

from controller.bus.errors import KeyFileUnusable
from controller.bus.keys import read_whole, what_is_wrong_with_key

FILE_BYTES_MAX = 1 << 20
"""Of the list; thousands of keys."""
KeyName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_-][A-Za-z0-9._-]{0,31}$")]
"""Of a consumer that acknowledges: its name, and after a dot what tells its keys apart."""


class KeyRole(StrEnum):
    """What a key may do. The names are those of the endpoints, without `live.` and `replay.`."""

    PUBLIC = "public"
    BETTING = "betting"
    SETTLEMENT = "settlement"
    AUDIT = "audit"
    COMMANDS_BETTING = "commands.betting"
    COMMANDS_OPERATOR = "commands.operator"
    COMMANDS_CONSUMER = "commands.consumer"


def role_of(door: str) -> KeyRole:
    """Return the role that an endpoint asks for; `live.settlement`, for one, asks for `settlement`."""
    return KeyRole(door.removeprefix("live.").removeprefix("replay."))


class AllowedKey(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One key: who has it is its name in the list."""

    public: str
    roles: tuple[KeyRole, ...]

    def __post_init__(self) -> None:
        problem = what_is_wrong_with_key(self.public.encode())
        if problem is not None:
            raise ValueError(f"public {problem}")


class AllowList(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All allowed keys, by name."""

    keys: Mapping[KeyName, AllowedKey] = {}

    def holder_of(self, public: str) -> str | None:
        """Return the name of a public key."""
        return next((name for name, key in self.keys.items() if key.public == public), None)

    def may(self, role: KeyRole) -> frozenset[str]:
        """Return the public keys that have a role."""
        return frozenset(key.public for key in self.keys.values() if role in key.roles)

    def with_key(self, name: str, key: AllowedKey) -> AllowList:
        """Return this list with one key added or changed."""
        return replace(self, keys={**self.keys, name: key})

    def without(self, name: str) -> AllowList:
        """Return this list but one key."""
        return replace(self, keys={known: key for known, key in self.keys.items() if known != name})


def read_allowed(path: Path) -> AllowList:
    """Read the list; a file that is not there allows nobody. Raises KeyFileUnusable."""
    try:
        raw, mode = read_whole(path, FILE_BYTES_MAX)
    except FileNotFoundError:
        return AllowList()
    except OSError as error:
        raise KeyFileUnusable(f"{path}: can't be read: {error.strerror}; nobody is allowed") from None
    if mode & 0o022:
        raise KeyFileUnusable(
            f"{path}: mode {mode:04o}, expected 0600: others can allow themselves; look through "
            f"tablectl keys list, then chmod 600 {path}"
        )
    try:
        allowed = msgspec.json.decode(raw, type=AllowList)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise KeyFileUnusable(f"{path}: is no list of keys: {error}; restore it from a backup") from None
    publics = [key.public for key in allowed.keys.values()]
    if len(set(publics)) != len(publics):
        raise KeyFileUnusable(
            f"{path}: one key stands under two names, so nobody knows whose it is; revoke one"
        )
    return allowed
