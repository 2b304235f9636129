"""A shoe between its rounds, when several things go wrong at once."""

from __future__ import annotations

import pytest
from table.dealt import ANNA, BORIS, only, refusal
from table.shoe_dealt import SHOE8, ShoeDealt

from controller.cards import Scheme, code_map, parse_cards
from controller.table import inputs as i
from controller.table.charts import IncidentState, Phase
from controller.table.events import (
    CardBurned,
    DeckScanned,
    IncidentKind,
    Refusal,
    RoundOpened,
    ShoeClosed,
    ShoeEnd,
    encode_events,
)
from controller.table.picture import draw
from controller.table.table import Table


def between() -> ShoeDealt:
    """One coup is over, the next one is not open."""
    d = ShoeDealt()
    d.to_ready()
    return d.coup().finish()


def closed() -> ShoeDealt:
    """The shoe has gone out of use; the next one is not loaded."""
    d = between()
    d.press(i.ChangeDeck(i.ChangeReason.INTEGRITY), BORIS)
    assert only(d.last, ShoeClosed) and d.phase is Phase.DECK_CHECK
    return d


def test_a_marked_repeat_that_begins_a_set_is_its_first_card() -> None:
    """The scanner has read it just before, when nobody was scanning a set in."""
    d = ShoeDealt()
    d.start()
    d.plug()
    d.press(i.OpenTable())
    d.scan_at_once("As")
    assert only(d.last, DeckScanned).n == 1


def test_a_new_shoe_is_scanned_in_after_one_that_was_begun() -> None:
    d = closed()
    d.scan("As")
    assert only(d.last, DeckScanned).n == 1


def test_a_restart_between_two_shoes_is_no_difference() -> None:
    d = closed()
    record, steps = d.table.carried(), len(d.inputs)
    assert record is not None
    for card in ("As", "7h", "Kd"):
        d.scan(card)
    again = Table(d.settings, d.game, SHOE8, ())
    again.restore(record)
    assert [encode_events(again.step(value)) for value in d.inputs[steps:]] == [
        encode_events(events) for events in d.steps[steps:]
    ]


@pytest.mark.parametrize("meanwhile", [False, True])
def test_a_deck_check_settles_what_people_were_being_asked_about(meanwhile: bool) -> None:
    """A card fell while the dealer was asked about another one; that one goes out with the next round."""
    d = between()
    d.scan("8h")
    assert draw(d.table.state).prompt.code == "FACE_SEEN"
    if meanwhile:
        d.scan("9h")
    assert refusal(d.press(i.Observed(IncidentKind.CARD_ON_FLOOR), ANNA)) is None
    assert d.phase is Phase.DECK_CHECK and not d.table.state.incidents
    d.press(i.VerifyDeck(d.table.state.register.left_count))
    d.press(i.OpenBetting())
    assert only(d.last, RoundOpened) and only(d.last, CardBurned).card is None


def test_a_shoe_that_the_config_does_not_know_any_more_is_closed_by_the_start() -> None:
    d = between()
    record = d.table.carried()
    assert record is not None
    d.table = Table(d.settings, d.game, code_map("other", Scheme.LETTER_NUMBER, decks=8), ())
    d.table.restore(record)
    d.start()
    assert only(d.last, ShoeClosed).reason is ShoeEnd.CHANGED and d.phase is Phase.DECK_CHECK


@pytest.mark.parametrize(("burned", "refused"), [("7h", None), ("8h", None), (None, Refusal.IMPOSSIBLE_CARD)])
def test_a_refused_entry_tells_nothing_of_a_card_that_was_burned(
    burned: str | None, refused: Refusal | None
) -> None:
    """Seven cards of a value lie open or did; whether the eighth is the burned one nobody learns."""
    sevens = "7h 7h 7h 7h Kc" + (" Ks 7h 7h 7h" if burned else " 7h 7h 7h 7h")
    d = ShoeDealt(burn_by_first_card=False) if burned is None else ShoeDealt()
    d.shoe = [*parse_cards(f"As {burned} {sevens}" if burned else sevens), *d.shoe[20:]]
    d.to_ready()
    d.coup().finish().open_round()
    for _ in range(4):
        d.scan()
    assert d.phase is Phase.DEALING
    while d.table.state.incident_state in (IncidentState.NONE, IncidentState.RESCAN):
        d.fail()
    assert refusal(d.press(i.OrderEntry(), BORIS)) is None
    number = draw(d.table.state).prompt.incident or 0
    assert refusal(d.press(i.EnterCard(number, "7h"), ANNA)) is refused
