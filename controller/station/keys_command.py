"""`tablectl keys create|list|allow|revoke|rotate|check`: who may reach a table's bus from other machines.

A running table notices a change by itself, within a quarter of a second. The key with which a table signs its
evidence is another one: `tablectl key`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import msgspec

from controller.bus.allowed import AllowedKey, AllowList, KeyRole, read_allowed
from controller.bus.errors import BusError, KeyFileUnusable
from controller.bus.keys import BusKeys, KeyPair, public_path, read_pair, read_public, write_pair
from controller.station.config import load
from controller.station.errors import ConfigError, StationError
from controller.station.keys_check import Asked, findings
from controller.station.terminal import FINDING, FINE, USAGE, complain, say, say_json
from controller.station.whole_file import changed_alone, replace_whole

Change = Callable[[AllowList, argparse.Namespace], tuple[AllowList, str]]
SECTION = "[bus] with addresses, such as [bus.live] public = ... and [bus.replay] public = ..."


def add_keys(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser("keys", help="who may connect to a table's bus from other machines")
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    _verb(verbs, "create", "draw a pair of keys: NAME.key and NAME.key.pub", create).add_argument(
        "where",
        type=Path,
        metavar="CONFIG|FILE",
        help="of a table: its TOML file; of a consumer: its NAME.key",
    )
    listing = _of_table(_verb(verbs, "list", "show the table's public key and who is allowed", list_keys))
    listing.add_argument("--json", action="store_true", help="one line of JSON for each")
    allowing = _change(verbs, "allow", "let a key in, or change its roles", _allow)
    allowing.add_argument("public", type=Path, metavar="FILE", help="its public key, NAME.key.pub")
    allowing.add_argument(
        "--role",
        dest="roles",
        action="append",
        required=True,
        choices=[role.value for role in KeyRole],
        metavar="ROLE",
        help=f"may be given again; {', '.join(KeyRole)}",
    )
    _change(verbs, "revoke", "let a key in no more, and end its connections", _revoke)
    rotating = _of_table(_verb(verbs, "rotate", "put another key in place of one", rotate))
    rotating.add_argument("name", nargs="?", help="whose; left out: the table's own, which is drawn anew")
    rotating.add_argument("public", nargs="?", type=Path, metavar="FILE", help="the other public key")
    _add_check(verbs)


def _add_check(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    checking = _verb(verbs, "check", "say which key is wrong", check)
    checking.add_argument(
        "where", metavar="CONFIG|ENDPOINT", help="a table's TOML file; or tcp://..., to knock there"
    )
    checking.add_argument("--key", type=Path, metavar="FILE", help="a consumer's NAME.key or NAME.key.pub")
    checking.add_argument(
        "--server", type=Path, metavar="FILE", help="what the consumer has as the table's key"
    )
    checking.add_argument(
        "--role",
        choices=[role.value for role in KeyRole],
        metavar="ROLE",
        help="one that the key should have",
    )


def _verb(
    verbs: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    what: str,
    run: Callable[[argparse.Namespace], int],
) -> argparse.ArgumentParser:
    verb = verbs.add_parser(name, help=what)
    verb.set_defaults(run=run)
    return verb


def _of_table(verb: argparse.ArgumentParser) -> argparse.ArgumentParser:
    verb.add_argument("config", type=Path, help="the table's TOML file")
    return verb


def _change(
    verbs: argparse._SubParsersAction[argparse.ArgumentParser], name: str, what: str, change: Change
) -> argparse.ArgumentParser:
    verb = _of_table(_verb(verbs, name, what, change_list))
    verb.add_argument(
        "name",
        help="letters, digits, . _ -; it is in the log, and of a consumer the name by which it acknowledges",
    )
    verb.set_defaults(change=change)
    return verb


def keys_of(config: Path) -> BusKeys:
    """Return where a table's keys lie. Raises ConfigError for a table whose bus stays on its machine."""
    keys = load(config).bus
    if keys is None:
        raise ConfigError(f"{config}: its bus stays on this machine and needs no keys; write {SECTION}")
    return keys


def create(arguments: argparse.Namespace) -> int:
    """Draw a pair; no file is replaced."""
    where: Path = arguments.where
    try:
        path = keys_of(where).key if where.suffix == ".toml" else where
        write_pair(path, KeyPair.draw())
    except (StationError, BusError, OSError) as error:
        complain(error)
        return FINDING
    say(f"{path}: keep it secret; {public_path(path)} is to be given away")
    return FINE


def list_keys(arguments: argparse.Namespace) -> int:
    """Show the table's public key and doors, and everybody who is allowed."""
    try:
        keys = keys_of(arguments.config)
        own, allowed = read_pair(keys.key).public, read_allowed(keys.allowed)
    except (StationError, BusError) as error:
        complain(error)
        return FINDING
    if arguments.json:
        say_json({"table": own, "doors": keys.doors})
        for name, key in sorted(allowed.keys.items()):
            say_json({"name": name, "roles": key.roles, "public": key.public})
        return FINE
    say(f"the table's public key: {own}")
    for door, endpoint in keys.doors.items():
        say(f"  {door:20} {endpoint}")
    for name, key in sorted(allowed.keys.items()):
        say(f"{name:22} {', '.join(key.roles):40} {key.public}")
    return FINE


def change_list(arguments: argparse.Namespace) -> int:
    """Do one change of the allow-list and say so."""
    change: Change = arguments.change
    try:
        path = keys_of(arguments.config).allowed
        with changed_alone(path):
            after, told = change(read_allowed(path), arguments)
            _write(path, after)
    except (StationError, BusError, OSError) as error:
        complain(error)
        return FINDING
    say(f"{path}: {told}")
    return FINE


def rotate(arguments: argparse.Namespace) -> int:
    """Put another key in place of a consumer's, or of the table's own."""
    if arguments.name is None:
        return _rotate_own(arguments.config)
    if arguments.public is None:
        complain("rotate NAME needs the other public key: NAME.key.pub")
        return USAGE
    arguments.change = _rotate
    return change_list(arguments)


def _rotate_own(config: Path) -> int:
    try:
        keys = keys_of(config)
        with changed_alone(keys.key):
            read_pair(keys.key)
            pair = KeyPair.draw()
            # The public one first: a crash between the two is found by `check`, and no consumer is lost.
            replace_whole(public_path(keys.key), pair.public.encode() + b"\n")
            replace_whole(keys.key, pair.secret.encode() + b"\n")
    except (StationError, BusError, OSError) as error:
        complain(error)
        return FINDING
    say(f"{keys.key}: drawn anew; every consumer needs {public_path(keys.key)} to come in again")
    return FINE


def check(arguments: argparse.Namespace) -> int:
    """Say which key is wrong; nothing wrong is one line."""
    asked = Asked(arguments.key, arguments.server, KeyRole(arguments.role) if arguments.role else None)
    where: str = arguments.where
    if "://" in where and (asked.key is None or asked.server is None):
        complain("to knock at an endpoint it takes both: --key NAME.key --server TABLE.key.pub")
        return USAGE
    try:
        found = findings(where if "://" in where else keys_of(Path(where)), asked)
    except (StationError, BusError) as error:
        complain(error)
        return FINDING
    for one in found:
        complain(one)
    if not found:
        say(f"{where}: the keys are right")
    return FINDING if found else FINE


def _allow(allowed: AllowList, arguments: argparse.Namespace) -> tuple[AllowList, str]:
    name, public = arguments.name, read_public(arguments.public)
    known = allowed.keys.get(name)
    if known is not None and known.public != public:
        raise KeyFileUnusable(
            f"{name}: has another key; tablectl keys rotate CONFIG {name} {arguments.public}"
        )
    _check_free(allowed, name, public)
    roles = tuple(role for role in KeyRole if role in arguments.roles)
    return allowed.with_key(name, AllowedKey(public, roles)), f"{name} may: {', '.join(roles)}"


def _revoke(allowed: AllowList, arguments: argparse.Namespace) -> tuple[AllowList, str]:
    _known(allowed, arguments.name)
    return allowed.without(arguments.name), f"{arguments.name} is out"


def _rotate(allowed: AllowList, arguments: argparse.Namespace) -> tuple[AllowList, str]:
    name, public = arguments.name, read_public(arguments.public)
    known = _known(allowed, name)
    _check_free(allowed, name, public)
    return allowed.with_key(
        name, AllowedKey(public, known.roles)
    ), f"{name} has the other key, the old is out"


def _known(allowed: AllowList, name: str) -> AllowedKey:
    if name not in allowed.keys:
        raise KeyFileUnusable(
            f"{name}: is not allowed; there is {', '.join(sorted(allowed.keys)) or 'nobody'}"
        )
    return allowed.keys[name]


def _check_free(allowed: AllowList, name: str, public: str) -> None:
    holder = allowed.holder_of(public)
    if holder not in (None, name):
        raise KeyFileUnusable(f"this key is {holder}'s; each consumer has a key of its own")


def _write(path: Path, allowed: AllowList) -> None:
    """Write the list, once it has been seen that it can be read."""
    body = msgspec.json.encode(allowed, order="deterministic")
    try:
        msgspec.json.decode(body, type=AllowList)
    except msgspec.ValidationError as error:
        raise KeyFileUnusable(f"{error}; nothing was changed") from None
    replace_whole(path, msgspec.json.format(body) + b"\n")
