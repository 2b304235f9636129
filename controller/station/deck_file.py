"""A deck's TOML file: how its codes are written, and on how many cards each is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from controller.cards import CodeMap, Scheme, code_map
from controller.station.config_files import Files, from_disk, read_as
from controller.station.errors import ConfigError


class DeckFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A deck's TOML file."""

    scheme: Scheme
    codes: dict[str, str] | None = None
    decks: Annotated[int, msgspec.Meta(ge=1, le=8)] = 1
    """More than one is a shoe. Where codes spell values each is on so many cards."""
    cutting_card: str | None = None
    """The code on the cutting card, where the scanner reads it."""


def load_deck(path: Path) -> CodeMap:
    """Read a deck's file alone. Raises ConfigError."""
    return build_deck(path, Files(from_disk))


def build_deck(path: Path, files: Files) -> CodeMap:
    """Read a deck's file as one of a config's. Raises ConfigError."""
    deck = read_as(path, DeckFile, files)
    try:
        return code_map(path.stem, deck.scheme, deck.codes, decks=deck.decks, cutting_card=deck.cutting_card)
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from None
