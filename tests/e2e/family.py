"""A studio of any game, and what physically lay on its table, for the oracle.

The oracle is told the order of the shoe, which cards were burned, and the bets; nothing of the table, its
events or its ranks.
"""

from __future__ import annotations

import asyncio
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import oracle_cards
from e2e.revisions import (
    as_it_stands,
    as_read,
    check_paid_by_difference,
    corrections_of,
    paid,
    refunded,
)

from controller.cards import Card
from controller.station.config import StationConfig, load
from simulators.faults.catalogue import AFTER_PURCHASE, Amount, Course, Plan
from simulators.faults.courses import course_of
from simulators.links import DirectLink
from simulators.shoe import shuffled
from simulators.simulate_command import START_US
from simulators.studio import OPENING_BALANCE, Studio
from simulators.world import World

LIVE = "russian_poker_live"
TABLE_MAX = "table_max = 4_000"
"""So low that wins are cut every now and then."""
TIED_EVERY = 20
SUITS, RANKS = "cdhs", "AK953"
NO_CHANGES: Mapping[str, str] = {}


def config_in(folder: Path, game: str, changes: Mapping[str, str] = NO_CHANGES) -> StationConfig:
    """Copy the config so that everything the table makes lies in `folder`, and wins are cut early.

    `changes` are settings of the game, key to value as it is spelled in TOML.
    """
    for kind in ("games", "decks", "profiles", "tables"):
        (folder / kind).mkdir()
        for file in (Path("config") / kind).glob("*.toml"):
            text = file.read_text().replace("../../run", "../run")
            (folder / kind / file.name).write_text(re.sub(r"\btable_max = [\d_]+", TABLE_MAX, text))
    file = folder / "games" / f"{game}.toml"
    for key, value in changes.items():
        text, found = re.subn(rf"^{key} = .*$", f"{key} = {value}", file.read_text(), flags=re.MULTILINE)
        assert found == 1, key
        file.write_text(text)
    return load(folder / "tables" / f"{'demo' if game == LIVE else game}.toml")


def whole_course(config: StationConfig) -> Course:
    """The course of the game, for live Russian Poker with the faults after a purchase."""
    course = course_of(config.game, config.settings.boxes_not_told)
    planned = {fault.id for fault in course.faults}
    more = (fault for fault in AFTER_PURCHASE if course.has(fault) and fault.id not in planned)
    return course._replace(faults=(*course.faults, *more))


def stacked(hands: int, pattern: str) -> Any:
    """A shoe that deals every hand the same ranks in every 20th round: Ace-King, 9, 5, 3."""
    single = [(turn, hand) for turn in range(len(RANKS)) for hand in range(hands)]
    order = single if pattern == "single" else sorted(single, key=lambda spot: spot[1])

    def shoe(seed: int, round_no: int, deal: int) -> tuple[Card, ...]:
        cards = shuffled(seed, round_no, deal)
        if round_no % TIED_EVERY:
            return cards
        named = {str(card): card for card in cards}
        top = [named[RANKS[turn] + SUITS[(hand + turn) % 4]] for turn, hand in order]
        return (*top, *(card for card in cards if card not in top))

    return shoe


class Size(NamedTuple):
    """How much is played."""

    rounds: int
    players: int
    seed: int = 3


class Family:
    """One game, played to its end. `viewer` is who looked on, if anybody."""

    viewer: Any = None

    def __init__(
        self,
        folder: Path,
        game: str,
        size: Size,
        *,
        only: str | None = None,
        changes: Mapping[str, str] = NO_CHANGES,
    ) -> None:
        self.game = game
        self.config = config_in(folder, game, changes)
        self.boxes: tuple[str, ...] = self.config.game.boxes
        self.settings = tomllib.loads((folder / "games" / f"{game}.toml").read_text())
        self.pattern: str = self.settings["deal_pattern"]
        self.shoe = stacked(len(self.boxes) + 1, self.pattern)
        rounds, players, seed = size
        self.plan = Plan(seed, Amount.MANY, only, course=self.course())
        self.studio = Studio(
            self.config, seed=seed, rounds=rounds, plan=self.plan, players=players, shoe=self.shoe
        )

    def course(self) -> Course:
        """What can go wrong, all of it equally often."""
        return whole_course(self.config)

    def play(self, *watchers: Any) -> None:
        studio = self.studio
        actors = (*studio.actors, *watchers)
        asyncio.run(World(DirectLink(self.config, START_US), actors, is_done=studio.dealer.is_done).run())

    @property
    def opening(self) -> dict[str, int]:
        return dict.fromkeys(self.studio.betting.crowd.players, OPENING_BALANCE)

    def rounds(self) -> Iterator[dict[str, Any]]:
        """Every round with bets, as the oracle takes it."""
        told = {key: self.settings[key] for key in ("rounding", "ante_odds")}
        if self.game == "oasis_with_bonus":
            told["bonus_stakes"] = self.settings["bonus"]["stakes"]
        for roundid in self.studio.auditor.rounds:
            bets = self.studio.betting.bets_of(roundid)
            if bets:
                number = int(roundid.split("-")[1])
                shoe = as_it_stands(self.studio, number, self.shoe_of(number))
                yield {
                    "number": number,
                    "game": self.game,
                    "settings": told,
                    "cards": self.cards_of(number, bets, shoe),
                    "bets": refunded(self.studio, number, bets),
                }

    def shoe_of(self, number: int) -> tuple[Card, ...]:
        """Return the shoe of a round as it lay."""
        dealer = self.studio.dealer
        return dealer.shoe_of(number, dealer.deals[number])

    def check_corrections(self) -> Counter[bool]:
        """Check what each correction has paid; returns how many have refunded all, and how many not."""
        found: Counter[bool] = Counter()
        settled = {played["number"]: played for played in self.rounds()}
        for number in self.studio.dealer.misreads.keys() & settled.keys():
            stands = settled[number]
            terms = {"game": self.game, "settings": stands["settings"]}
            then = {player: terms | bet for player, bet in stands["bets"].items()}
            first = {player: bet | {"refunded": False} for player, bet in then.items()}
            read = self.cards_of(number, first, as_read(self.studio, number, self.shoe_of(number)))
            check_paid_by_difference(self.studio, number, paid(read, first), paid(stands["cards"], then))
            found[corrections_of(self.studio, number)[-1]] += 1
        return found

    def cards_of(self, number: int, bets: Mapping[str, Any], shoe: Sequence[Card]) -> dict[str, Any]:
        """Lay the cards by hand, burned ones left out; none for a round in which all bets are void."""
        out_count, burned = self.studio.dealer.out[number]
        laid = [str(card) for index, card in enumerate(shoe[:out_count]) if index not in burned]
        counted = [bet for bet in bets.values() if not bet.get("late")]
        if any(bet.get("cancelled") for bet in bets.values()) or not counted:
            return {}
        if self.game == LIVE:
            return oracle_cards.live(laid, self.pattern)
        case = self.plan.of(number)
        untold = case is not None and case.fault.id == "betting-silent"
        draws = {box: 0 if untold else drawn(box, counted) for box in self.boxes}
        staked = {box for box in self.boxes for bet in counted if bet.get(box, {}).get("ante")}
        in_play = [box for box in self.boxes if untold or box in staked]
        return oracle_cards.sister(laid, in_play, draws, self.pattern)

    def coverage(self) -> Counter[tuple[str, str]]:
        """How often each wager had each outcome, in the wallet's books."""
        credits = (
            credit
            for roundid in self.studio.auditor.rounds
            for credit in self.studio.wallet.credits(roundid, 1)
        )
        return Counter((credit.bet.split("/")[2], credit.outcome) for credit in credits)


def drawn(box: str, bets: list[Mapping[str, Any]]) -> int:
    """How many cards a box has drawn: its owner's choice, which everybody there follows."""
    choices = {
        (bet[box].get("option"), tuple(bet[box].get("positions", ())))
        for bet in bets
        if bet.get(box, {}).get("ante")
    }
    assert len(choices) <= 1, f"{box} did not decide as one: {choices}"
    return sum(1 if option == "sixth" else len(positions) for option, positions in choices)
