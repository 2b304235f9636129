"""A studio with baccarat, and what physically lay on its table, for the oracle."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from e2e.revisions import corrections_of, refunded

from controller.cards import Card
from controller.station.config import StationConfig
from simulators.actor import Actor
from simulators.faults.catalogue import Plan
from simulators.links import Link
from simulators.shoe_dealer import ShoeDealer
from simulators.studio import Studio
from simulators.world import World


class Coups:
    """A run, and what physically lay on its table."""

    def __init__(self, config: StationConfig, plan: Plan, rounds: int, players: int) -> None:
        self.config, self.plan = config, plan
        self.studio = Studio(config, seed=plan.seed, rounds=rounds, plan=plan, players=players)
        self.listeners: tuple[Actor, ...] = ()

    def play(self, link: Link, *listeners: Actor) -> Coups:
        """Play all of it."""
        self.listeners = listeners
        is_done = self.studio.dealer.is_done
        asyncio.run(World(link, (*self.studio.actors, *listeners), is_done=is_done).run())
        return self

    @property
    def dealer(self) -> ShoeDealer:
        assert isinstance(self.studio.dealer, ShoeDealer)
        return self.studio.dealer

    def cards(self, number: int, *, as_read: bool) -> list[str]:
        """Return the cards of a coup in the order of drawing, by what they are or by what was read."""
        laid: list[Card] = list(self.dealer.laid(number))
        misread = self.dealer.misreads.get(number)
        if misread is not None and as_read:
            order = [("player", 1), ("banker", 1), ("player", 2), ("banker", 2)]
            index = order.index((misread.place, misread.n))
            assert laid[index] == misread.card
            laid[index] = misread.read_as
        return [str(card) for card in laid]

    def lay(self, number: int) -> list[str]:
        """Return the cards by which a coup stands in the end, in the order of drawing."""
        corrections = corrections_of(self.studio, number)
        is_true = bool(corrections) and not corrections[-1]
        return self.cards(number, as_read=not is_true)

    def rounds(self) -> Iterator[dict[str, Any]]:
        """Yield every round with bets as it stands in the end."""
        for roundid in self.studio.auditor.rounds:
            bets = self.studio.betting.bets_of(roundid)
            if not bets:
                continue
            number = int(roundid.split("-")[1])
            is_cancelled = any(bet.get("cancelled") for bet in bets.values())
            cards = [] if is_cancelled else self.lay(number)
            yield {"number": number, "cards": cards, "bets": refunded(self.studio, number, bets)}
