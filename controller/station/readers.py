"""Several scanners at a table: which one deals, which ones only compare, and which codes are presses.

A scanner `reads` the shoe, every card once more (`second`), or what lies at a `place`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from controller.cards import CodeMap
from controller.games.procedure import BURN, SWITCH, Game
from controller.station.device_config import ScannerConfig
from controller.station.errors import ConfigError
from controller.table.inputs import AnyCommand
from controller.table.profile import NOTICING, Profile
from controller.table.situations import Sensor
from controller.table.station_commands import SCANNABLE
from drivers.contract import Framer, Judging, unknown_name
from drivers.families import CODE_FORMS, open_framer

if TYPE_CHECKING:
    from controller.station.config import StationConfig

ROWS_OF = {"second": ("2",), "place": ("2", "11")}
"""Rows that such a reader notices, so that the profile has to decide them; rows 3 and 10 it always does."""


def second_readers(
    path: Path, scanners: Mapping[str, ScannerConfig], game: Game, profile: Profile
) -> dict[str, str | None]:
    """Return the scanners that deal nothing, and where each looks. Raises ConfigError."""
    if all(scanner.reads != "shoe" for scanner in scanners.values()):
        raise ConfigError(f"{path}: scanners: none reads the shoe; one of them deals, say reads = 'shoe'")
    readers = {name: one for name, one in scanners.items() if one.reads != "shoe"}
    for name, one in scanners.items():
        where = f"{path}: scanners.{name}"
        if (one.reads == "place") != (one.place is not None):
            got = "place is missing" if one.place is None else f"got reads = {one.reads!r}"
            raise ConfigError(f"{where}: place goes with reads = 'place', and only with it; {got}")
        places = dict.fromkeys((*game.places, *game.boxes, SWITCH, BURN))
        if one.place is not None and one.place not in places:
            raise ConfigError(f"{where}.place: {unknown_name(one.place, places)}")
        for row in ROWS_OF.get(one.reads, ()):
            if profile.rows[row].not_applicable is not None:
                raise ConfigError(
                    f"{where}.reads: this reader notices row {row}, but profile {profile.name!r} says "
                    f"that it is not applicable; give the row cells there"
                )
    _check_agreement(path, profile, {one.reads for one in readers.values()})
    return {name: one.place for name, one in readers.items()}


def _check_agreement(path: Path, profile: Profile, kinds: set[str]) -> None:
    """A reader that must agree must be there, or RESULT would wait for nobody."""
    wanted = {
        "second_capture_agrees": ("second", profile.limits.second_capture_agrees),
        "position_readers_agree": ("place", profile.limits.position_readers_agree),
    }
    for limit, (kind, must) in wanted.items():
        if must and kind not in kinds:
            raise ConfigError(
                f"{path}: profile {profile.name!r} says {limit}, but no scanner has reads = {kind!r}; "
                f"add one, or take another profile"
            )


def sensors_of(config: StationConfig) -> frozenset[Sensor]:
    """Return what this table notices by itself; position readers count when every place has one."""
    readers = config.settings.second_readers.values()
    second = {Sensor.SECOND} if None in readers else set()
    everywhere = {Sensor.POSITION} if set(config.game.places) <= set(readers) else set()
    framers = {name: open_framer(one.family, one.options) for name, one in config.scanners.items()}
    judges = any(isinstance(one, Judging) and one.judges_coups for one in dealing_framers(config, framers))
    return NOTICING | second | everywhere | ({Sensor.SHOE} if judges else set())


def dealing_framers(config: StationConfig, framers: Mapping[str, Framer]) -> Iterator[Framer]:
    """Yield the framers of the scanners that deal; the others look at any time."""
    for name, framer in framers.items():
        if name not in config.settings.second_readers:
            yield framer


def station_commands(path: Path, codes: Mapping[str, str], decks: Iterable[CodeMap]) -> dict[str, AnyCommand]:
    """Return the presses that codes stand for. Raises ConfigError for an unknown press or a card's code."""
    decks = tuple(decks)
    for code, press in codes.items():
        where = f"{path}: station_commands.{code}"
        if press not in SCANNABLE:
            raise ConfigError(f"{where}: {unknown_name(press, SCANNABLE)}")
        taken = next((deck.name for deck in decks if deck.card(code) is not None), None)
        cutting = next((deck.name for deck in decks if deck.cutting_card == code), None)
        if cutting is not None:
            raise ConfigError(f"{where}: it is the cutting card of deck {cutting!r}; give the press another")
        if taken is not None:
            raise ConfigError(f"{where}: a card of deck {taken!r} has this code; give the press another one")
    return {code: SCANNABLE[press] for code, press in codes.items()}


def check_interlock(path: Path, codes: Mapping[str, str], scanners: Mapping[str, ScannerConfig]) -> None:
    """Refuse presses that nobody could scan: an interlock keeps a scanner from reading between cards."""
    dealing = {name: one for name, one in scanners.items() if one.reads == "shoe"}
    if codes and all(one.options.get("interlock") is True for one in dealing.values()):
        raise ConfigError(
            f"{path}: station_commands: got interlock = true at {', '.join(dealing)}, which reads nothing "
            f"while no card is due; expected a scanner that reads presses too: take the interlock or them out"
        )


def check_scannable(path: Path, codes: Mapping[str, str], scanners: Mapping[str, ScannerConfig]) -> None:
    """Refuse a press whose code no driver would ever give out; readers that only compare do not count."""
    dealing = {name: one for name, one in scanners.items() if one.reads == "shoe"}
    for code in codes:
        refused = {name: _why_never_read(code, one) for name, one in dealing.items()}
        if all(refused.values()):
            said = "; ".join(f"scanners.{name} {why}" for name, why in refused.items())
            raise ConfigError(
                f"{path}: station_commands.{code}: no scanner that deals would let it through: {said}; "
                "give the press a code that it takes, or change that scanner's options"
            )


def _why_never_read(code: str, scanner: ScannerConfig) -> str | None:
    """Return what the driver expects, and this code is not; None where it would be read."""
    form = CODE_FORMS.get(scanner.family)
    if form is not None and re.fullmatch(form, code) is None:
        return f"reads codes of the form {form}"
    options = getattr(open_framer(scanner.family, scanner.options), "options", None)
    shortest, longest = getattr(options, "min_length", 1), getattr(options, "max_length", len(code))
    if not shortest <= len(code) <= longest:
        return f"expects {shortest} to {longest} characters (min_length, max_length), got {len(code)}"
    if getattr(options, "aim_id", False) and re.match(r"\][A-Za-z][A-Za-z0-9]", code):
        return f"drops {code[:3]!r} as the AIM id of a code (aim_id)"
    if code in getattr(options, "no_read", ()):
        return "takes it for a failed read (no_read)"
    return None
