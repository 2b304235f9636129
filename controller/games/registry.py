"""The games that a table may play, by name; a table's config names one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from controller.games.baccarat import Baccarat
from controller.games.baccarat_rules import load_baccarat_rules
from controller.games.caribbean import Caribbean
from controller.games.golden_oasis import GoldenOasis
from controller.games.grandmaster import Grandmaster
from controller.games.oasis import Oasis
from controller.games.oasis_with_bonus import OasisWithBonus
from controller.games.procedure import Game
from controller.games.royal import Royal
from controller.games.rules import GAME, load_rules
from controller.games.russian_live import BUY_TIME, FINAL_OPTIONS, OPTIONS, RussianLive
from controller.games.sister_rules import (
    BonusOasisRules,
    CaribbeanRules,
    GrandmasterRules,
    OasisRules,
    RoyalRules,
    load_sister_rules,
)


class Entry(NamedTuple):
    """How to make a game of its settings, and the windows it opens after betting time.

    `build` takes a plain mapping, such as a decoded TOML file, and raises msgspec.ValidationError for
    settings that cannot be.
    """

    build: Callable[[Mapping[str, Any]], Game]
    stages: tuple[str, ...]


GAMES: Mapping[str, Entry] = {
    GAME: Entry(lambda given: RussianLive(load_rules(given)), (OPTIONS, FINAL_OPTIONS, BUY_TIME)),
    Grandmaster.name: Entry(
        lambda given: Grandmaster(load_sister_rules(given, GrandmasterRules)), Grandmaster.stages
    ),
    Royal.name: Entry(lambda given: Royal(load_sister_rules(given, RoyalRules)), Royal.stages),
    GoldenOasis.name: Entry(
        lambda given: GoldenOasis(load_sister_rules(given, OasisRules)), GoldenOasis.stages
    ),
    OasisWithBonus.name: Entry(
        lambda given: OasisWithBonus(load_sister_rules(given, BonusOasisRules)), OasisWithBonus.stages
    ),
    Oasis.name: Entry(lambda given: Oasis(load_sister_rules(given, OasisRules)), Oasis.stages),
    Caribbean.name: Entry(
        lambda given: Caribbean(load_sister_rules(given, CaribbeanRules)), Caribbean.stages
    ),
    Baccarat.name: Entry(lambda given: Baccarat(load_baccarat_rules(given)), ()),
}
