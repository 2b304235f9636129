"""The station's config: one TOML file a table, which names its game and its decks.

Every key that nobody reads is an error, with the nearest name that would be read. The text of every file
that was used is kept, by hash, in the journal.
"""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

import msgspec

from controller.bus.endpoints import Endpoints
from controller.bus.envelope import Environment
from controller.cards import DECK, CodeMap, Scheme, code_map
from controller.games.procedure import BoxState, Game
from controller.games.registry import GAMES
from controller.station.device_config import BadgeReaderConfig, LightConfig, check_devices, check_port
from controller.station.errors import ConfigError
from controller.station.profile_file import profile_file
from controller.station.readers import check_interlock, second_readers, station_commands
from controller.table.inputs import AnyCommand
from controller.table.profile import Profile, ProfileFile, read_profile
from controller.table.settings import TableSettings
from drivers.contract import SerialSettings, unknown_name
from drivers.families import open_framer

KEY_NAME = "evidence.key"
Milliseconds = Annotated[int, msgspec.Meta(ge=1, le=600_000)]


class Times(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Durations in milliseconds; see `TableSettings`."""

    betting_ms: Milliseconds
    grace_ms: Milliseconds
    guard_ms: Milliseconds
    windows_ms: Mapping[str, Milliseconds]

    def __post_init__(self) -> None:
        if self.guard_ms < self.grace_ms:
            raise ValueError(f"guard_ms {self.guard_ms} is shorter than grace_ms {self.grace_ms}")


class ScannerConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One scanner. `port` is named as in `drivers.port_names`; a path with a dot first begins at the file.

    `reads`: the shoe, whose cards it deals; every card once more; or what lies at `place`.
    """

    family: str
    port: str
    line: SerialSettings = SerialSettings()
    options: dict[str, Any] = {}
    reads: Literal["shoe", "second", "place"] = "shoe"
    place: str | None = None


class EvidenceFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the signing key lies (relative to the table's file when it starts with a dot), and for how many
    days the table's past is kept; None keeps all of it."""

    key: str | None = None
    retention_days: Annotated[int, msgspec.Meta(ge=1, le=36_500)] | None = None


class Evidence(msgspec.Struct, frozen=True):
    """The signing key of the table, and for how many gaming days its past is kept (None: for ever)."""

    key: Path
    retention_days: int | None


class TableFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table's TOML file as it is written."""

    table: str
    environment: Environment
    game: str
    profile: str
    deck: str
    run_dir: str
    people: str
    times: Times
    boxes_not_told: Mapping[str, BoxState]
    scanners: Mapping[str, ScannerConfig]
    badge_readers: Mapping[str, BadgeReaderConfig] = {}
    lights: Mapping[str, LightConfig] = {}
    station_commands: Mapping[str, str] = {}
    spare_decks: tuple[str, ...] = ()
    other_decks: tuple[str, ...] = ()
    day_begins_hour: Annotated[int, msgspec.Meta(ge=0, le=23)] = 6
    evidence: EvidenceFile = EvidenceFile()


class DeckFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A deck's TOML file."""

    scheme: Scheme
    codes: dict[str, str] | None = None
    decks: Annotated[int, msgspec.Meta(ge=1, le=8)] = 1
    """More than one is a shoe. Where codes spell values each is on so many cards."""
    cutting_card: str | None = None
    """The code on the cutting card, where the scanner reads it."""


class StationConfig(msgspec.Struct, frozen=True):
    """Everything a station needs to know, checked.

    `documents` are the texts of all files by folder and name (`decks/blue.toml`), in the order in which
    they were first read: `load_texts` takes them in this order again.
    """

    path: Path
    settings: TableSettings
    environment: Environment
    game: Game
    deck: CodeMap
    spare_decks: tuple[CodeMap, ...]
    other_decks: tuple[CodeMap, ...]
    scanners: Mapping[str, ScannerConfig]
    badge_readers: Mapping[str, BadgeReaderConfig]
    lights: Mapping[str, LightConfig]
    station_commands: Mapping[str, AnyCommand]
    """The codes that are no cards but presses of the dealer on duty."""
    run_dir: Path
    people: Path
    """The people file. It holds hashes of secrets, so it is no document."""
    day_begins_hour: int
    rules: str
    documents: Mapping[str, str]
    evidence: Evidence

    @property
    def kept_texts(self) -> tuple[str, ...]:
        """What the journal keeps by hash: every document, and the procedures as they are in force."""
        return (*self.documents.values(), self.settings.profile.content)

    @property
    def endpoints(self) -> Endpoints:
        """The sockets of this table."""
        return Endpoints.ipc(self.run_dir, self.settings.table)

    @property
    def table_dir(self) -> Path:
        """Where this table's journal, recordings and sockets lie."""
        return self.run_dir / self.settings.table


ReadText = Callable[[Path], str]
"""Gives the text of a file. Raises OSError or UnicodeDecodeError."""


class Files:
    """The files of one config as they are read, each once."""

    def __init__(self, read: ReadText) -> None:
        self._read = read
        self.documents: dict[str, str] = {}

    def text(self, path: Path) -> str:
        name = document_name(path)
        if name not in self.documents:
            self.documents[name] = self._read(path)
        return self.documents[name]


def document_name(path: Path) -> str:
    """Return folder and name: a table and a deck may have files of one name."""
    return f"{path.absolute().parent.name}/{path.name}"


def _from_disk(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def load_texts(texts: Iterable[str]) -> StationConfig:
    """Build a config from the `documents` of an earlier one, in their order. Raises ConfigError.

    A recording and a journal hold these texts; the files that they came from need not exist any more.
    """
    left = iter(texts)

    def next_text(_path: Path) -> str:
        text = next(left, None)
        if text is None:
            raise FileNotFoundError(0, "is not among the documents on record")
        return text

    return load(Path("/on record/tables/table.toml"), next_text)


def load(path: Path, read: ReadText = _from_disk) -> StationConfig:
    """Read a table's config. Raises ConfigError, which names the file, the key and what to do."""
    files = Files(read)
    home = path.resolve().parent
    table = _read(path, TableFile, files)
    game_path = home.parent / "games" / f"{table.game}.toml"
    game = _build_game(table.game, game_path, files)
    decks = {name: _read_deck(home, name, files) for name in _deck_names(table)}
    profile = load_profile(home, table.profile, files)
    _check(path, table, game, profile)
    _check_shoe(path, game, profile, [decks[name] for name in (table.deck, *table.spare_decks)])
    run_dir = (home / table.run_dir).resolve()
    return StationConfig(
        path=path,
        settings=_settings(table, profile, second_readers(path, table.scanners, game, profile)),
        environment=table.environment,
        game=game,
        deck=decks[table.deck],
        spare_decks=tuple(decks[name] for name in table.spare_decks),
        other_decks=tuple(decks[name] for name in table.other_decks),
        scanners={name: _at(home, scanner) for name, scanner in table.scanners.items()},
        badge_readers={name: _at(home, reader) for name, reader in table.badge_readers.items()},
        lights={name: _at(home, light) for name, light in table.lights.items()},
        station_commands=station_commands(path, table.station_commands, decks.values()),
        run_dir=run_dir,
        people=(home / table.people).resolve(),
        day_begins_hour=table.day_begins_hour,
        rules=_rules_hash(files.text(game_path)),
        documents=files.documents,
        evidence=Evidence(_key_path(home, run_dir, table), table.evidence.retention_days),
    )


def load_profile(home: Path, name: str, files: Files | None = None) -> Profile:
    """Read a procedure profile and its base from the folder beside `home`. Raises ConfigError."""
    files = files if files is not None else Files(_from_disk)
    layers: list[ProfileFile] = []
    wanted: str | None = name
    while wanted is not None:
        path = home.parent / "profiles" / f"{wanted}.toml"
        if any(layer.name == wanted for layer in layers):
            chain = " -> ".join((*(layer.name for layer in layers), wanted))
            raise ConfigError(f"{path}: base: a profile can't stand on itself ({chain}); end the chain")
        layer = profile_file(path, _read_toml(path, files))
        if layer.name != wanted:
            raise ConfigError(f"{path}: name: expected {wanted!r} as the file is named, got {layer.name!r}")
        layers.append(layer)
        wanted = layer.base
    try:
        return read_profile(reversed(layers))
    except ValueError as error:
        raise ConfigError(f"{home.parent / 'profiles' / name}.toml: {error}") from None


def shipped(folder: str) -> Path:
    """Return a folder of the config that comes with the program, installed or in its source tree."""
    package = Path(__file__).parents[1]
    homes = (package / "config" / folder, package.parent / "config" / folder)
    return next((home for home in homes if home.is_dir()), homes[-1])


def load_deck(path: Path) -> CodeMap:
    """Read a deck's file alone. Raises ConfigError."""
    return _build_deck(path, Files(_from_disk))


def load_game(path: Path) -> tuple[Game, str]:
    """Read a game's settings alone; return the game and its rules hash. Raises ConfigError."""
    files = Files(_from_disk)
    game = _build_game(path.stem, path, files)
    return game, _rules_hash(files.text(path))


def _rules_hash(text: str) -> str:
    """Return what names a game's settings, in every round and in every approval."""
    return hashlib.sha256(text.encode()).hexdigest()


def _deck_names(table: TableFile) -> tuple[str, ...]:
    return (table.deck, *table.spare_decks, *table.other_decks)


def _settings(table: TableFile, profile: Profile, readers: Mapping[str, str | None]) -> TableSettings:
    return TableSettings(
        table=table.table,
        betting_ms=table.times.betting_ms,
        windows_ms=table.times.windows_ms,
        grace_ms=table.times.grace_ms,
        guard_ms=table.times.guard_ms,
        boxes_not_told=table.boxes_not_told,
        scanners=tuple(table.scanners),
        profile=profile,
        second_readers=readers,
    )


def _key_path(home: Path, run_dir: Path, table: TableFile) -> Path:
    if table.evidence.key is None:
        return run_dir / table.table / KEY_NAME
    return Path(os.path.normpath(home / table.evidence.key))


Device = TypeVar("Device", ScannerConfig, BadgeReaderConfig, LightConfig)


def _at(home: Path, device: Device) -> Device:
    port = os.path.normpath(home / device.port) if device.port.startswith(".") else device.port
    return msgspec.structs.replace(device, port=port)


def _check(path: Path, table: TableFile, game: Game, profile: Profile) -> None:
    """What no single key can say: the parts must fit together."""
    stages = GAMES[table.game].stages
    _check_keys(path, "times.windows_ms", table.times.windows_ms, stages)
    _check_keys(path, "boxes_not_told", table.boxes_not_told, game.boxes)
    for stage in stages:
        if stage not in table.times.windows_ms:
            raise ConfigError(f"{path}: times.windows_ms.{stage}: missing; {table.game} opens this window")
    twice = [name for name, count in Counter(_deck_names(table)).items() if count > 1]
    if twice:
        raise ConfigError(f"{path}: deck {twice[0]!r}: named twice; a deck is loaded here or foreign here")
    for box in game.boxes:
        if table.boxes_not_told.get(box, BoxState.EMPTY) is BoxState.EMPTY:
            raise ConfigError(f"{path}: boxes_not_told.{box}: expected dark or open; not told means in play")
    redealt = [cell.id for row in profile.rows.values() for cell in row.cells if cell.offers("order_redeal")]
    if redealt and not game.redeals:
        where = f"{path}: profile: {profile.name}"
        raise ConfigError(f"{where}: cell {redealt[0]!r} deals anew; the rules of {game.name} never do")
    for name, scanner in table.scanners.items():
        check_port(path, f"scanners.{name}", scanner.port)
        try:
            open_framer(scanner.family, scanner.options)
        except ValueError as error:
            raise ConfigError(f"{path}: scanners.{name}: {error}") from None
    check_devices(path, table.badge_readers, table.lights)
    check_interlock(path, table.station_commands, table.scanners)


def _check_shoe(path: Path, game: Game, profile: Profile, decks: Iterable[CodeMap]) -> None:
    """A game out of a shoe needs decks of its size and procedures of a shoe; another one neither."""
    wanted = 1 if game.shoe is None else game.shoe.decks
    for deck in decks:
        if deck.size != len(DECK) * wanted:
            got = deck.size // len(DECK)
            raise ConfigError(f"{path}: deck {deck.name!r}: {game.name} takes {wanted} decks, this has {got}")
    if profile.shoe != (game.shoe is not None):
        needs = "is dealt out of a shoe" if game.shoe is not None else "is shuffled before every round"
        raise ConfigError(
            f"{path}: profile {profile.name!r}: shoe = {str(profile.shoe).lower()}, but {game.name} {needs}"
        )


def _check_keys(path: Path, where: str, found: Mapping[str, object], valid: tuple[str, ...]) -> None:
    for name in found:
        if name not in valid:
            raise ConfigError(f"{path}: {where}: {unknown_name(name, valid)}")


def _build_game(name: str, path: Path, files: Files) -> Game:
    if name not in GAMES:
        raise ConfigError(f"{path}: game {unknown_name(name, GAMES)}")
    settings = _read_toml(path, files)
    try:
        return GAMES[name].build(settings)
    except (msgspec.ValidationError, ValueError) as error:
        raise ConfigError(f"{path}: {error}") from None


def _read_deck(home: Path, name: str, files: Files) -> CodeMap:
    try:
        return _build_deck(home.parent / "decks" / f"{name}.toml", files)
    except ConfigError as error:
        raise ConfigError(f"deck {name!r}, which the table names: {error}") from None


def _build_deck(path: Path, files: Files) -> CodeMap:
    deck = _read(path, DeckFile, files)
    try:
        return code_map(path.stem, deck.scheme, deck.codes, decks=deck.decks, cutting_card=deck.cutting_card)
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from None


def _read(path: Path, model: type[Any], files: Files) -> Any:
    found = _read_toml(path, files)
    _check_names(path, "", found, model)
    _check_choices(path, "", found, model)
    try:
        return msgspec.convert(found, model)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{path}: {error}") from None


def _check_choices(path: Path, where: str, found: Mapping[str, Any], model: type[Any]) -> None:
    """Refuse a word that is none of a key's choices, and name the choices and the nearest one."""
    for field in msgspec.structs.fields(model):
        value, kind = found.get(field.name), field.type
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and isinstance(value, dict):
            _check_choices(path, f"{where}{field.name}.", value, kind)
        elif isinstance(kind, type) and issubclass(kind, StrEnum):
            _check_choice(path, f"{where}{field.name}", value, kind)
        elif isinstance(value, dict):
            choices = [
                kind for kind in get_args(kind) if isinstance(kind, type) and issubclass(kind, StrEnum)
            ]
            for name, word in value.items() if choices else ():
                _check_choice(path, f"{where}{field.name}.{name}", word, choices[-1])


def _check_choice(path: Path, where: str, word: object, choices: type[StrEnum]) -> None:
    words = [choice.value for choice in choices]
    if isinstance(word, str) and word not in words:
        raise ConfigError(f"{path}: {where}: {unknown_name(word, words)}")


def _read_toml(path: Path, files: Files) -> dict[str, Any]:
    try:
        return tomllib.loads(files.text(path))
    except OSError as error:
        raise ConfigError(f"{path}: can't be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: is no TOML: {error}") from None
    except RecursionError:
        raise ConfigError(f"{path}: is no TOML of a table: its values are nested too deep") from None


def _check_names(path: Path, where: str, found: Mapping[str, Any], model: type[Any]) -> None:
    """Refuse keys that nobody reads, in this table and in the tables inside it."""
    fields = {field.name: field.type for field in msgspec.structs.fields(model)}
    for name, value in found.items():
        if name not in fields:
            raise ConfigError(f"{path}: {where}{unknown_name(name, fields)}")
        kind = fields[name]
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and isinstance(value, dict):
            _check_names(path, f"{where}{name}.", value, kind)
        elif isinstance(value, dict) and (inside := _struct_inside(kind)) is not None:
            for key, inner in value.items():
                if isinstance(inner, dict):
                    _check_names(path, f"{where}{name}.{key}.", inner, inside)


def _struct_inside(kind: object) -> type[msgspec.Struct] | None:
    """Return what a mapping of names maps to, where that is a table of its own."""
    inside = get_args(kind)[-1] if get_args(kind) else None
    return inside if isinstance(inside, type) and issubclass(inside, msgspec.Struct) else None
