"""The station's config: one TOML file a table, which names its game and its decks.

Every key that nobody reads is an error, with the nearest name that would be read. The text of every file
that was used is kept, by hash, in the journal.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

import msgspec

from controller.bus.endpoints import Endpoints
from controller.bus.envelope import Environment
from controller.bus.keys import BusKeys
from controller.cards import DECK, CodeMap
from controller.games.procedure import BoxState, Game
from controller.games.registry import GAMES
from controller.station.bus_config import BusFile, bus_keys
from controller.station.config_files import Files, ReadText, from_disk, read_as, read_toml
from controller.station.consumers import check_consumers
from controller.station.deck_file import build_deck
from controller.station.device_config import (
    BadgeReaderConfig,
    LightConfig,
    ScannerConfig,
    at_home,
    check_devices,
)
from controller.station.errors import ConfigError
from controller.station.pages_config import PagesFile, check_pages
from controller.station.profile_file import profile_file
from controller.station.readers import check_interlock, check_scannable, second_readers, station_commands
from controller.table.consumers import Consumer
from controller.table.inputs import AnyCommand
from controller.table.profile import Profile, ProfileFile, read_profile
from controller.table.settings import TableSettings
from drivers.contract import unknown_name

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


class EvidenceFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the signing key lies (relative to the table's file when it starts with a dot), and for how many
    days the table's past is kept; None keeps all of it."""

    key: str | None = None
    retention_days: Annotated[int, msgspec.Meta(ge=1, le=36_500)] | None = None


class MetricsFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The port of 127.0.0.1 on which metrics are served; None serves none."""

    port: Annotated[int, msgspec.Meta(ge=1, le=65_535)] | None = None


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
    consumers: tuple[Consumer, ...] = ()
    metrics: MetricsFile = MetricsFile()
    bus: BusFile = BusFile()
    pages: PagesFile | None = None


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
    metrics_port: int | None
    bus: BusKeys | None
    """Keys and doors of the bus; None keeps it on this machine."""
    pages: PagesFile | None
    """Where the pages are served; None: nowhere."""

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


def load(path: Path, read: ReadText = from_disk) -> StationConfig:
    """Read a table's config. Raises ConfigError, which names the file, the key and what to do."""
    files = Files(read)
    home = path.resolve().parent
    table = read_as(path, TableFile, files)
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
        scanners={name: at_home(home, scanner) for name, scanner in table.scanners.items()},
        badge_readers={name: at_home(home, reader) for name, reader in table.badge_readers.items()},
        lights={name: at_home(home, light) for name, light in table.lights.items()},
        station_commands=station_commands(path, table.station_commands, decks.values()),
        run_dir=run_dir,
        people=(home / table.people).resolve(),
        day_begins_hour=table.day_begins_hour,
        rules=_rules_hash(files.text(game_path)),
        documents=files.documents,
        evidence=Evidence(_key_path(home, run_dir, table), table.evidence.retention_days),
        metrics_port=table.metrics.port,
        bus=bus_keys(path, table.bus, run_dir / table.table),
        pages=check_pages(path, table.pages),
    )


def load_profile(home: Path, name: str, files: Files | None = None) -> Profile:
    """Read a procedure profile and its base from the folder beside `home`. Raises ConfigError."""
    files = files if files is not None else Files(from_disk)
    layers: list[ProfileFile] = []
    wanted: str | None = name
    while wanted is not None:
        path = home.parent / "profiles" / f"{wanted}.toml"
        if any(layer.name == wanted for layer in layers):
            chain = " -> ".join((*(layer.name for layer in layers), wanted))
            raise ConfigError(f"{path}: base: a profile can't stand on itself ({chain}); end the chain")
        layer = profile_file(path, read_toml(path, files))
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


def load_game(path: Path) -> tuple[Game, str]:
    """Read a game's settings alone; return the game and its rules hash. Raises ConfigError."""
    files = Files(from_disk)
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
        consumers=table.consumers,
    )


def _key_path(home: Path, run_dir: Path, table: TableFile) -> Path:
    if table.evidence.key is None:
        return run_dir / table.table / KEY_NAME
    return Path(os.path.normpath(home / table.evidence.key))


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
    check_devices(path, table.scanners, table.badge_readers, table.lights)
    check_consumers(path, table.consumers, profile)
    check_interlock(path, table.station_commands, table.scanners)
    check_scannable(path, table.station_commands, table.scanners)


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
    settings = read_toml(path, files)
    try:
        return GAMES[name].build(settings)
    except (msgspec.ValidationError, ValueError) as error:
        raise ConfigError(f"{path}: {error}") from None


def _read_deck(home: Path, name: str, files: Files) -> CodeMap:
    try:
        return build_deck(home.parent / "decks" / f"{name}.toml", files)
    except ConfigError as error:
        raise ConfigError(f"deck {name!r}, which the table names: {error}") from None
