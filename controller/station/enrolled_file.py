"""The deck file that an enrolment writes, and the one in which an unfinished enrolment waits."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from controller.cards import Card, Scheme
from controller.cards.card import DECK
from controller.station.deck_file import load_deck
from controller.station.enrolment import Enrolment
from controller.station.errors import ConfigError, StationError

Text = Annotated[str, msgspec.Meta(min_length=1)]


class Unfinished(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an unfinished enrolment keeps: the order of asking, and code to card as far as it came."""

    order: tuple[str, ...]
    codes: dict[Text, str]


def unfinished_path(deck: Path) -> Path:
    """Return where the enrolment of a deck waits for its end."""
    return deck.with_name(f"{deck.name}.unfinished")


def keep(deck: Path, enrolment: Enrolment) -> None:
    """Write down how far an enrolment is. Raises OSError."""
    order = tuple(map(str, enrolment.order))
    codes = {code: str(card) for code, card in enrolment.codes.items()}
    _replace(unfinished_path(deck), msgspec.json.encode(Unfinished(order, codes)).decode() + "\n")


def read_unfinished(deck: Path) -> tuple[tuple[Card, ...], dict[str, Card]] | None:
    """Return order and codes of an enrolment that waits; None without one. Raises StationError."""
    path = unfinished_path(deck)
    try:
        found = msgspec.json.decode(path.read_bytes(), type=Unfinished)
        order = tuple(map(Card.parse, found.order))
        codes = {code: Card.parse(text) for code, text in found.codes.items()}
        whole = sorted(order) == sorted(DECK) and tuple(codes.values()) == order[: len(codes)]
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError, ValueError) as error:
        raise StationError(f"{path}: can't be used: {error}; --discard begins anew") from None
    if not whole:
        raise StationError(f"{path}: its codes do not follow its order; --discard begins anew")
    return order, codes


def discard(deck: Path) -> None:
    """Forget an unfinished enrolment."""
    unfinished_path(deck).unlink(missing_ok=True)


def write_deck(deck: Path, codes: Mapping[str, Card], remark: str) -> None:
    """Write the deck's file, once the loader of the config has read the same deck out of it.

    Raises ConfigError for a file that would not be read, StationError for a name that is taken.
    """
    fresh = _beside(deck)
    fresh.write_text(deck_text(codes, remark), encoding="utf-8")
    try:
        if dict(load_deck(fresh).cards) != dict(codes):
            raise ConfigError(f"{fresh}: read back, the deck is another one than was scanned in")
        os.link(fresh, deck)
    except FileExistsError:
        raise StationError(f"{deck}: has been made meanwhile; move it away, then finish this one") from None
    finally:
        fresh.unlink(missing_ok=True)


def deck_text(codes: Mapping[str, Card], remark: str) -> str:
    """Return a deck file with a table of codes, in the order of DECK."""
    lines = [f"# {remark}", f'scheme = "{Scheme.TABLE}"', "", "[codes]"]
    by_card: Sequence[tuple[str, Card]] = sorted(codes.items(), key=lambda pair: DECK.index(pair[1]))
    # The strings of JSON are strings of TOML.
    lines += [f'{msgspec.json.encode(code).decode()} = "{card}"' for code, card in by_card]
    return "\n".join(lines) + "\n"


def _replace(path: Path, text: str) -> None:
    fresh = _beside(path)
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)


def _beside(path: Path) -> Path:
    """Return a name beside `path` that is nobody else's."""
    return path.with_name(f".{path.name}.{os.getpid()}")
