"""Worn cards and tired scanners, and a shoe with too few cards (procedures, row 28 and "Inventory")."""

from __future__ import annotations

import msgspec
import pytest
from profiles import profile
from table.dealt import (
    BORIS,
    Dealt,
    digest,
    every,
    refusal,
)
from table.played import (
    Played,
    loaded,
)

from controller.cards import DECK, Card
from controller.games.russian_live import RussianLive
from controller.table import inputs as i
from controller.table.events import (
    Refusal,
    WearFound,
    Worn,
)
from controller.table.inputs import ChangeReason
from controller.table.picture import draw


class Greedy(RussianLive):
    """A game that may need more cards than the deck has."""

    most = 52

    @property
    def cards_at_most(self) -> int:
        return self.most


@pytest.mark.parametrize(("most", "opens"), [(52, True), (53, False)])
def test_row_28_no_round_opens_that_the_shoe_may_not_finish(most: int, opens: bool) -> None:
    game = Greedy(Dealt().game.rules)
    game.most = most
    d = Dealt(game=game).to_ready()
    assert ("open_betting" in draw(d.table.state).buttons) is opens
    before = digest(d.table)
    refused = refusal(d.press(i.OpenBetting()))
    assert refused is (None if opens else Refusal.TOO_FEW_CARDS)
    assert opens or digest(d.table) == before


def worn_out(*, limit: int) -> Played:
    """Play until the ace of spades has been scanned again three times."""
    d = loaded(count_every=0)
    shipped = profile(
        "russian_poker_live", count_every_rounds=0, breaker_cases=1_000, retire_rescans_per_10_000=limit
    )
    d.table.state.settings = msgspec.structs.replace(d.settings, profile=shipped)
    ace = Card.parse("As")
    for _ in range(3):
        d.shoe = [ace, *d.random.sample([card for card in DECK if card != ace], 51)]
        d.press(i.ConfirmShuffle())
        d.until(lambda code: code == "DEAL_CARD").fail()
        assert not every(d.events, WearFound)
        d.scan()
        d.round()
    return d


def test_a_card_that_needs_too_many_rescans_is_named_when_its_cards_are_collected() -> None:
    d = worn_out(limit=500)
    found = {(event.worn, event.name, event.rescans) for event in every(d.last, WearFound)}
    assert found == {(Worn.CARD, "As", 3)}
    assert draw(d.table.state).worn == ("CARD/As",)
    d.round()
    assert not every(d.last, WearFound), "named once"
    d.press(i.ChangeDeck(ChangeReason.INTEGRITY), BORIS)
    assert draw(d.table.state).worn == ()


def test_a_tired_scanner_is_named() -> None:
    names = {(event.worn, event.name) for event in every(worn_out(limit=100).events, WearFound)}
    assert names == {(Worn.CARD, "As"), (Worn.SCANNER, "shoe")}


def test_a_worn_card_is_not_shown_while_a_round_is_played() -> None:
    d = worn_out(limit=500)
    d.until(lambda code: code == "DEAL_CARD")
    assert draw(d.table.state).worn == ()
