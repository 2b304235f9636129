"""`--dealer me`: a person at the dealer's page deals, and the shoe here deals when they press.

The daemon of such a table is the ordinary one, with a wire to this process: `Draw` of the page becomes one
empty message on it. Everybody else in the studio is simulated, and the person does all presses of the dealer.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import zmq
import zmq.asyncio

from controller.cards import DECK
from controller.station.config import StationConfig
from controller.station.errors import StationError
from controller.station.run_command import run_daemon
from controller.table.picture import Picture
from simulators.actor import Actor, Feed, Listener, Planned, Scan
from simulators.dealer import Dealer
from simulators.link import Deliver
from simulators.links import LiveLinks
from simulators.tied import tie

SCANS = frozenset(
    {
        "BURN_CARD",
        "BURN_NEXT",
        "DEAL_CARD",
        "LOAD_DECK",
        "SCAN_AGAIN",
        "SCAN_DECK",
        "SCAN_DRAWN_CARD",
        "SCAN_FROM_FIRST",
        "SCAN_TO_BURN",
        "SHOW_FIRST_CARD",
    }
)
"""Prompts that ask for a scan and nothing else."""
HELD_MAX = 4
"""So many draws may be on their way; a person presses no faster."""


def check_page(config: StationConfig, arguments: argparse.Namespace) -> None:
    """Raise StationError where nobody could deal at a page."""
    if config.pages is None:
        raise StationError(f"{config.path}: pages: missing; --dealer me needs [pages] with a port")
    if arguments.pace != "real" or arguments.faults != "none" or arguments.only:
        raise StationError("--dealer me: a person deals at real pace and makes mistakes of their own")


class AtThePage(Listener):
    """The simulated dealer looks on, to know which cards are out, and goes on scanning a set in."""

    feed = Feed.STATION

    def __init__(self, dealer: Dealer) -> None:
        self.name = dealer.name
        self._dealer = dealer

    def heard(self, message: bytes, now_us: int) -> list[Planned]:
        """Look at the picture."""
        planned = self._dealer.heard(message, now_us)
        return planned if self._is_scanning_in() else []

    def woken(self, note: str, now_us: int) -> list[Planned]:
        """Scan the next card of the set; nobody wants to press for each of them."""
        return self._dealer.woken(note, now_us) if self._is_scanning_in() else []

    def _is_scanning_in(self) -> bool:
        picture = self._dealer.picture
        return picture is not None and picture.prompt.code == "SCAN_DECK"


class Hand(Listener):
    """Draws a card when the person presses: the one that is asked for, else the next one of the shoe."""

    feed = Feed.HAND

    def __init__(self, dealer: Dealer) -> None:
        self.name = f"{dealer.name}'s hand"
        self._dealer = dealer

    def heard(self, _message: bytes, now_us: int) -> list[Planned]:
        """Draw."""
        picture = self._dealer.picture
        return [] if picture is None else [Planned(now_us, drawn(self._dealer, picture))]


def drawn(dealer: Dealer, picture: Picture) -> Scan:
    """Scan what the prompt asks for; the next card of the shoe, too early, if it asks for none."""
    if picture.prompt.code == "LOAD_DECK":
        return dealer.show(dealer.hardware.spell(DECK[0]))
    for act in dealer._act(picture) if picture.prompt.code in SCANS else ():
        if isinstance(act, Scan):
            return act
    return dealer.scan(picture)


def at_the_page(actors: Sequence[Actor], dealer: Dealer) -> tuple[Actor, ...]:
    """Return everybody, with a person in the place of the dealer."""
    others = tuple(AtThePage(dealer) if actor is dealer else actor for actor in actors)
    return (*others, Hand(dealer))


class HandLinks(LiveLinks):
    """Real links at real pace, and the wire on which the daemon tells that a card is drawn."""

    def __init__(self, config: StationConfig) -> None:
        super().__init__(config)
        self._address = f"ipc://{config.table_dir}/hand"

    def words(self) -> list[str]:
        """Return the command of the daemon."""
        return [
            sys.executable,
            "-m",
            "simulators.page_dealer",
            str(os.getpid()),
            str(self.config.path),
            self._address,
        ]

    async def open(self, deliver: Deliver) -> None:
        """Open, and listen to the hand."""
        await super().open(deliver)
        self._tasks.append(asyncio.create_task(self._hear_hand()))

    async def _hear_hand(self) -> None:
        socket = zmq.asyncio.Context.instance().socket(zmq.PULL)
        socket.bind(self._address)
        try:
            while True:
                self.heard(Feed.HAND, await socket.recv())
        finally:
            socket.close(linger=0)


def main(words: list[str]) -> int:
    """Run the daemon of a table at whose page a person deals."""
    parent, config, address = words
    tie(int(parent))
    socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.PUSH)
    socket.setsockopt(zmq.SNDHWM, HELD_MAX)
    socket.setsockopt(zmq.LINGER, 0)
    socket.connect(address)

    def draw_card() -> None:
        with suppress(zmq.Again):  # The simulation is stuck; a card is never drawn later.
            socket.send(b"", zmq.NOBLOCK)

    return run_daemon(Path(config), draw_card=draw_card)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
