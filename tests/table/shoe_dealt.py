"""The playbook of a table that is dealt out of a shoe: baccarat, eight decks whose codes spell values."""

from __future__ import annotations

from typing import Any

import msgspec
from games.driver import BACCARAT, game
from profiles import profile
from table.dealt import ANNA, BETS, BORIS, RED, SETTINGS, SHOE, Dealt, every

from controller.cards import DECK, Card, Scheme, code_map, parse_cards
from controller.games.baccarat import LAYOUT
from controller.games.procedure import BoxState
from controller.table import inputs as i
from controller.table import stub_count
from controller.table.charts import Phase
from controller.table.events import CardDealt, Event
from controller.table.settings import TableSettings
from controller.table.table import Table

CUTTING_CARD = "9990"
SHOE8 = code_map("shoe8", Scheme.SUIT_DIGIT_RANK, decks=8, cutting_card=CUTTING_CARD)
SHOE_SETTINGS = msgspec.structs.replace(
    SETTINGS,
    table="ba1",
    windows_ms={},
    boxes_not_told={LAYOUT: BoxState.DARK},
    profile=profile(BACCARAT, order_run=400),
)
SECOND_MS = 1_000
NATURAL = "9c 3d Th 4s"
"""Player nine, Banker seven: nobody draws."""
SIX_CARDS = "2c 2d 3h 3s 4c 5d"
"""Player five draws a four; Banker five draws a five."""
ACE_FIRST = "As 7h"
"""A new shoe's first card counts one, so one more is burned."""


class ShoeDealt(Dealt):
    """A table out of a shoe. Cards come a second apart, so that none looks like a second reading."""

    def __init__(
        self,
        shoe: str = "",
        *,
        settings: TableSettings = SHOE_SETTINGS,
        table: type[Table] = Table,
        **rules: Any,
    ) -> None:
        super().__init__(game=game(BACCARAT, **rules), settings=settings, table=table)
        self.table = table(settings, self.game, SHOE8, (RED,))
        self.shoe = list(parse_cards(f"{ACE_FIRST} {shoe or ' '.join([NATURAL, SIX_CARDS] * 4)}"))
        self.shoe += [card for card in DECK for _ in range(2)]

    def scan(self, card: str | None = None, *, code: str | None = None) -> tuple[Event, ...]:
        """Scan the next card of the shoe, or the one named, a second after whatever came before."""
        self.advance(SECOND_MS)
        return super().scan(card, code=code)

    def scan_at_once(self, card: str) -> tuple[Event, ...]:
        """The scanner may have read one card twice."""
        code, key = SHOE8.code(Card.parse(card)), self._new_key()
        return self.feed(
            i.CardRead(at=self._tick(), scanner=SHOE, code=code, device_seq=None, key=key, repeat=True)
        )

    def scan_for(self, place: str, card: str | None = None) -> tuple[Event, ...]:
        """Scan the next card, of which the shoe says where it goes."""
        self.advance(SECOND_MS)
        code = SHOE8.code(Card.parse(card) if card is not None else self.shoe.pop(0))
        key = self._new_key()
        return self.feed(
            i.CardRead(at=self._tick(), scanner=SHOE, code=code, device_seq=None, key=key, place=place)
        )

    def judged(
        self, winner: str, *, player_pair: bool = False, banker_pair: bool = False
    ) -> tuple[Event, ...]:
        """The shoe says how the coup has ended."""
        return self.feed(
            i.ShoeResulted(
                at=self._tick(),
                scanner=SHOE,
                winner=winner,
                player_pair=player_pair,
                banker_pair=banker_pair,
            )
        )

    def complain(self, complaint: i.Complaint, *, cleared: bool = False) -> tuple[Event, ...]:
        """The shoe complains."""
        return self.feed(
            i.ShoeComplained(at=self._tick(), scanner=SHOE, complaint=complaint, cleared=cleared)
        )

    def cutting_card(self) -> tuple[Event, ...]:
        """The cutting card passes the scanner."""
        return self.scan(code=CUTTING_CARD)

    def load(self, deck: str = "shoe8") -> Dealt:
        """Two people accept the shoe by its receipt."""
        return super().load(deck)

    def to_ready(self) -> Dealt:
        """Start, open, load, verify, shuffle."""
        self.start()
        self.plug()
        self.press(i.OpenTable())
        return self.new_shoe()

    def new_shoe(self, by: str = ANNA) -> Dealt:
        """Load, verify and shuffle."""
        self.load()
        self.press(i.VerifyDeck(SHOE8.size), by)
        self.press(i.ConfirmShuffle())
        return self

    def bets(self, **states: BoxState) -> tuple[Event, ...]:
        """The betting system answers `bets.closed`."""
        return self.press(i.BetsTaken({LAYOUT: BoxState.DARK, **states}), BETS)

    def to_burned(self) -> Dealt:
        """The first cards of the shoe are burned; the first card of the first coup is owed."""
        self.to_dealing()
        self.scan()
        self.scan()
        return self

    def open_round(self) -> ShoeDealt:
        """START to the end of betting time."""
        self.press(i.OpenBetting())
        self.press(i.CloseBetting())
        self.bets()
        return self

    def coup(self) -> ShoeDealt:
        """Play one coup, with whatever is burned before it, until its result is proposed."""
        if self.phase is Phase.READY:
            self.open_round()
        while self.phase is Phase.DEALING:
            self.scan()
        assert self.phase is Phase.RESULT_PROPOSED, self.phase
        return self

    def finish(self) -> ShoeDealt:
        """RESULT, and the cards are collected."""
        self.press(i.ConfirmResult())
        if stub_count.is_due(self.table.state):
            self.press(i.CountStub(self.table.state.register.left_count))
        self.press(i.ClearTable())
        return self

    def to_result(self) -> Dealt:
        """The first coup is dealt."""
        return (self.to_ready() and self).coup()

    def to_confirmed(self) -> Dealt:
        """The result is confirmed, the cards still lie."""
        self.to_result()
        self.press(i.ConfirmResult())
        return self

    def supervisor_cancels(self) -> None:
        """A supervisor cancels what the dealer has reported."""
        self.press(i.ConfirmCancel(), BORIS)

    def spots(self) -> list[tuple[str, int, str | None]]:
        """Return what was dealt by now, in order: place, number, card."""
        return [(event.place, event.n, event.card) for event in every(self.events, CardDealt)]
