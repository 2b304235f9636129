"""`tablectl enroll CONFIG DECK`: scan a deck in, card by card, from one of a table's scanners.

A deck file that is not there yet is made: each card is asked for, and its code (a tag's UID, say) is written
down. A deck file that is there is the measure: each card as often as it has it.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from controller.cards import Card, CodeMap
from controller.cards.card import DECK, parse_cards
from controller.station.config import StationConfig, load
from controller.station.deck_file import load_deck
from controller.station.doctor import daemon_of
from controller.station.enrolled_file import discard, keep, read_unfinished, unfinished_path, write_deck
from controller.station.enrolment import NEW_DECK, Enrolment, Inspection
from controller.station.errors import StationError
from controller.station.listening import Listening
from controller.station.terminal import FINDING, FINE, USAGE, complain, say_now
from drivers.contract import CodeRead, ReadFailed, Report
from drivers.holders import holder_of

REFUSED_TO_START = 3
SILENCE_S_DEFAULT = 120
SILENCE_HELP = f"seconds without a card that end it; {SILENCE_S_DEFAULT} unless given"
LAST_CARD_US = 1_000_000
"""How long after the last card of a deck one too many, or another tag beside it, is waited for."""


def add_enroll(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser("enroll", help="scan a deck in: make its file, or see that it is whole")
    parser.add_argument("config", type=Path, help="the table's TOML file")
    parser.add_argument(
        "deck", type=Path, help="the deck's TOML file: a new one is made, another one checked"
    )
    parser.add_argument("--scanner", metavar="NAME", help="which one, when there are several")
    parser.add_argument("--order", type=Path, metavar="FILE", help="52 cards as they lie (As 2s ...)")
    parser.add_argument(
        "--back", type=int, default=0, metavar="N", help="go on, but ask for the last N again"
    )
    parser.add_argument("--discard", action="store_true", help="forget what was scanned in before")
    parser.add_argument("--silence", type=int, default=SILENCE_S_DEFAULT, metavar="S", help=SILENCE_HELP)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Scan in. Returns 1 for a deck that is not whole or not finished, 2 for words that make no sense, 3 when
    the scanner is another program's or the config is broken.
    """
    deck_path: Path = arguments.deck
    try:
        config = load(arguments.config)
    except StationError as error:
        complain(f"{error}; while a deck is scanned in, the table's file names decks that are there")
        return REFUSED_TO_START
    name = arguments.scanner or next(iter(config.scanners))
    if name not in config.scanners or (arguments.scanner is None and len(config.scanners) > 1):
        complain(f"--scanner: expected one of {', '.join(config.scanners)}")
        return USAGE
    if deck_path.suffix != ".toml":
        complain(f"{deck_path}: expected a name that ends with .toml, as every deck file has")
        return USAGE
    holder = daemon_of(config) or holder_of(config.scanners[name].port)
    if holder is not None:
        complain(f"{name}: {config.scanners[name].port}: {holder} uses it: stop that first")
        return REFUSED_TO_START
    try:
        if deck_path.exists():
            return _inspect(config, name, arguments)
        return _enroll(config, name, arguments)
    except (StationError, OSError) as error:
        complain(error)
        return FINDING


class Taking:
    """Hands what one scanner reads to an enrolment or an inspection; a `Hearer`."""

    def __init__(self, work: Enrolment | Inspection, *, silence_us: int) -> None:
        self._work = work
        self._silence_us = silence_us
        self._last_us: int | None = None

    def is_done(self, now_us: int) -> bool:
        """Whether it has ended: whole, and nothing more came, or nobody shows a card any more."""
        self._last_us = now_us if self._last_us is None else self._last_us
        limit_us = self._silence_us
        if self._work.is_complete:
            limit_us = LAST_CARD_US
        return now_us - self._last_us >= limit_us

    def opened(self, node: str) -> None:
        """The scanner is there."""
        say_now(f"scanner open: {node}; {self._work.prompt}")

    def heard(self, at_us: int, data: bytes, *, stale: bool) -> None:
        """Bytes alone are nothing here."""

    def reported(self, at_us: int, report: Report) -> None:
        """Take a code; whatever else is said of a card asks for it again."""
        self._last_us = at_us
        if isinstance(report, CodeRead):
            say_now(f"{self._work.take(report.code, at_us)}; {self._work.prompt}")
        elif isinstance(report, ReadFailed):
            say_now(f"not read ({report.cause}): show that card again; {self._work.prompt}")

    def lost(self, reason: str) -> None:
        """Say it, and wait for the scanner."""
        complain(reason)


class Kept(Taking):
    """An enrolment that is written down after every card."""

    def __init__(self, deck: Path, enrolment: Enrolment, *, silence_us: int) -> None:
        super().__init__(enrolment, silence_us=silence_us)
        self._deck, self._enrolment = deck, enrolment

    def reported(self, at_us: int, report: Report) -> None:
        """Take a code, and write down how far it is."""
        before = dict(self._enrolment.codes)
        super().reported(at_us, report)
        if self._enrolment.codes != before:
            keep(self._deck, self._enrolment)


def _others(config: StationConfig, path: Path) -> list[CodeMap]:
    """Return the decks of the house, without the one that is scanned in."""
    known = (config.deck, *config.spare_decks, *config.other_decks)
    return [deck for deck in known if deck.name != path.stem]


def _inspect(config: StationConfig, name: str, arguments: argparse.Namespace) -> int:
    deck = load_deck(arguments.deck)
    inspection = Inspection(deck, _others(config, arguments.deck))
    taking = Taking(inspection, silence_us=arguments.silence * 1_000_000)
    say_now(f"deck {deck.name} is in {arguments.deck}: show all its cards, in any order")
    asyncio.run(Listening(name, config.scanners[name], taking).run(taking.is_done))
    wrong = list(inspection.wrong())
    for text in wrong or [f"deck {deck.name}: {deck.size} cards, none too many"]:
        say_now(text)
    return FINDING if wrong else FINE


def _enroll(config: StationConfig, name: str, arguments: argparse.Namespace) -> int:
    path: Path = arguments.deck
    enrolment = _begin(config, arguments)
    taking = Kept(path, enrolment, silence_us=arguments.silence * 1_000_000)
    asyncio.run(Listening(name, config.scanners[name], taking).run(taking.is_done))
    if not enrolment.codes:
        complain(f"{path}: not begun: no card was scanned in")
        return FINDING
    if not enrolment.is_complete:
        complain(
            f"{path}: not finished: {len(enrolment.codes)} of 52 cards are kept in {unfinished_path(path)}; "
            "the same command goes on there, --discard begins anew"
        )
        return FINDING
    remark = f"Scanned in at table {config.settings.table}, scanner {name} ({config.scanners[name].family})."
    write_deck(path, enrolment.codes, remark)
    discard(path)
    say_now(f"{path}: 52 cards; name it in the table's file, and run this again to see that it is whole")
    return FINE


def _begin(config: StationConfig, arguments: argparse.Namespace) -> Enrolment:
    """Begin an enrolment, or go on with the one that waits. Raises StationError, OSError."""
    path: Path = arguments.deck
    if arguments.discard:
        discard(path)
    wanted = _order(arguments.order)
    waiting = read_unfinished(path)
    if waiting is None:
        return Enrolment(_others(config, path), wanted or NEW_DECK)
    order, codes = waiting
    if wanted not in (None, order):
        raise StationError(f"{unfinished_path(path)}: has another order than {arguments.order}; or --discard")
    enrolment = Enrolment(_others(config, path), order, codes)
    enrolment.go_back(arguments.back)
    say_now(f"goes on with {unfinished_path(path)}: {len(enrolment.codes)} cards are in it")
    return enrolment


def _order(path: Path | None) -> tuple[Card, ...] | None:
    if path is None:
        return None
    try:
        order = parse_cards(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise StationError(f"{path}: {error}") from None
    if sorted(order) != sorted(DECK):
        raise StationError(f"{path}: got {len(order)} cards, expected each of the 52 once")
    return order
