"""The life of a deck: how it is loaded, and what a record keeps of it (procedures, "Inventory").

TABLECTL_SOAK=1 takes a thousand decks of each fault.
"""

from __future__ import annotations

import os

import msgspec
import pytest
from table.dealt import (
    ANNA,
    BLUE,
    BORIS,
    RED,
    SETTINGS,
    Dealt,
    digest,
    every,
    only,
    refusal,
)
from table.played import (
    BadSet,
    Played,
    doubled_card,
    extra_card,
    foreign_card,
    loaded,
    missing_card,
    prompt_of,
)

from controller.cards import DECK, Scheme, code_map
from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import (
    AUDIENCES,
    Audience,
    DeckLoaded,
    DeckOffered,
    DeckRejected,
    DeckVerified,
    IncidentDecided,
    IncidentOpened,
    Loading,
    Refusal,
    Rejection,
    ShoeClosed,
    ShoeEnd,
    Verdict,
    encode_events,
)
from controller.table.inputs import ChangeReason
from controller.table.limits import Limits
from controller.table.picture import draw
from controller.table.table import Table

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
DECKS = 1_000 if SOAK else 15


def test_a_deck_that_is_scanned_in_is_loaded_when_it_is_verified() -> None:
    d = Played()
    assert prompt_of(d) == "LOAD_DECK"
    d.scan_set(d.codes()[:51])
    assert prompt_of(d) == "SCAN_DECK" and draw(d.table.state).prompt.n == 52
    assert draw(d.table.state).prompt.text == "Scan card 52 of the deck, which has 52"
    assert refusal(d.press(i.VerifyDeck(52))) is Refusal.WRONG_COUNT
    assert refusal(d.press(i.LoadDeck("blue", "R-1"))) is Refusal.NOT_OWED
    last = next(card for card in DECK if BLUE.code(card) not in d.table.state.shoe.scanning)
    d.scan(str(last))
    assert prompt_of(d) == "VERIFY_DECK"
    d.press(i.VerifyDeck(52))
    assert only(d.last, DeckLoaded) == DeckLoaded(deck="blue", number=1, loading=Loading.SCANNED)
    assert only(d.last, DeckVerified).count == 52 and d.phase is Phase.SHUFFLING


def test_nothing_is_verified_before_a_deck_is_loaded() -> None:
    d = Played()
    assert refusal(d.press(i.VerifyDeck(52))) is Refusal.NO_DECK
    assert "verify_deck" not in draw(d.table.state).buttons


def test_a_receipt_takes_two_people_who_name_the_same() -> None:
    d = Played()
    d.press(i.LoadDeck("blue", "R-7"), ANNA)
    assert only(d.last, DeckOffered) == DeckOffered(deck="blue", receipt="R-7", by=ANNA)
    d.press(i.LoadDeck("blue", "R-7"), ANNA)
    assert not every(d.events, DeckLoaded), "one person is not two"
    assert prompt_of(d) == "ACCEPT_DECK"
    before = digest(d.table)
    assert refusal(d.press(i.LoadDeck("blue", "R-8"), BORIS)) is Refusal.OTHER_RECEIPT
    assert refusal(d.press(i.LoadDeck("moon", "R-7"), BORIS)) is Refusal.UNKNOWN_DECK
    assert refusal(d.press(i.VerifyDeck(52))) is Refusal.NO_DECK
    assert digest(d.table) == before
    d.press(i.LoadDeck("blue", "R-7"), BORIS)
    assert only(d.last, DeckLoaded).loading is Loading.RECEIPT
    assert d.phase is Phase.DECK_CHECK and prompt_of(d) == "VERIFY_DECK"


def test_a_scan_drops_a_receipt_that_one_person_has_named() -> None:
    d = Played()
    d.press(i.LoadDeck("blue", "R-7"))
    d.scan("As")
    assert d.table.state.shoe.receipt is None and prompt_of(d) == "SCAN_DECK"


def test_a_second_look_at_a_card_is_dropped_and_the_scan_goes_on() -> None:
    d = Played()
    codes = d.codes()
    d.scan_set(codes[:10]).scan(code=codes[3])
    opened = only(d.last, IncidentOpened)
    assert (opened.place, opened.n, opened.cell) == ("deck", 4, "4"), "named by its number alone"
    assert refusal(d.scan(code=codes[10])) is Refusal.HELD
    d.answer(True)
    assert only(d.last, IncidentDecided).verdict is Verdict.DUPLICATE_READ
    d.scan_set(codes[10:]).press(i.VerifyDeck(52))
    assert d.phase is Phase.SHUFFLING


def test_a_spare_deck_is_loaded_by_its_first_card_and_the_other_is_foreign_then() -> None:
    table = Table(SETTINGS, Dealt().game, BLUE, spare_decks=(RED,))
    d = Dealt()
    d.table = table
    d.start()
    d.press(i.OpenTable())
    for card in DECK:
        d.scan(code=RED.code(card))
    d.press(i.VerifyDeck(52))
    assert only(d.last, DeckLoaded).deck == "red" and table.state.register.deck is RED
    d.press(i.ChangeDeck(ChangeReason.CHANGED), BORIS)
    for card in DECK[:3]:
        d.scan(code=BLUE.code(card))
    d.scan(code=RED.code(DECK[0]))
    assert only(d.last, DeckRejected).reason is Rejection.FOREIGN_CARD


def scanned(seed: int, bad: BadSet | None) -> Played:
    """Scan a set in and verify it as honest people do, who hold every card in their hands."""
    d = Played(seed)
    codes = d.codes() if bad is None else bad(d.codes(), d.random)
    d.scan_set(codes)
    if d.table.state.incident is not None:
        d.answer(False)
    elif not every(d.events, DeckRejected):
        d.press(i.VerifyDeck(len(codes)))
    return d


FOUND = {
    missing_card: Rejection.MISSING_CARD,
    extra_card: Rejection.DOUBLED_CARD,
    foreign_card: Rejection.FOREIGN_CARD,
    doubled_card: Rejection.DOUBLED_CARD,
}


@pytest.mark.parametrize("bad", FOUND)
def test_what_is_wrong_in_the_set_at_load_is_found_before_round_1(bad: BadSet) -> None:
    """Must show 3; a whole set is taken by the same people."""
    for seed in range(DECKS):
        d = scanned(seed, bad)
        assert only(d.events, DeckRejected).reason is FOUND[bad]
        assert d.phase is Phase.DECK_CHECK and not every(d.events, DeckLoaded)
        for command in (i.VerifyDeck(52), i.ConfirmShuffle(), i.OpenBetting()):
            assert refusal(d.press(command, BORIS)) is not None
        assert scanned(seed, None).phase is Phase.SHUFFLING


@pytest.mark.parametrize(("count", "reason"), [(51, Rejection.MISSING_CARD), (53, Rejection.EXTRA_CARD)])
def test_a_count_at_the_load_that_says_more_or_less_rejects_the_set(count: int, reason: Rejection) -> None:
    """A card that no scanner reads is counted by hand; whatever the count, 52 alone is a deck."""
    d = Played()
    d.scan_set(d.codes()[: min(count, 52)]).press(i.VerifyDeck(count))
    assert only(d.last, DeckRejected).reason is reason and d.phase is Phase.DECK_CHECK
    assert only(d.last, IncidentDecided).verdict is Verdict.DECK_OUT


@pytest.mark.parametrize("count", [0, 1, 50, 52])
def test_a_count_that_is_not_what_was_scanned_is_refused(count: int) -> None:
    d = Played()
    d.scan_set(d.codes()[:51])
    before = digest(d.table)
    assert refusal(d.press(i.VerifyDeck(count))) is Refusal.WRONG_COUNT
    assert digest(d.table) == before


def test_the_events_of_a_deck_name_people_and_counts_to_the_back_office_alone() -> None:
    d = loaded(count_every=1).round().count(BORIS)
    heard = {
        audience: b"".join(encode_events((seen,)) for event in d.events if (seen := event.seen_by(audience)))
        for audience in AUDIENCES
    }
    for audience in AUDIENCES:
        told = b"stub.counted" in heard[audience] or b"deck.scanned" in heard[audience]
        assert told is (audience is Audience.AUDIT)
        assert (b"deck.loaded" in heard[audience]) is (audience is not Audience.SETTLEMENT)


def test_a_record_in_the_middle_of_a_load_restores_it() -> None:
    d = Played()
    codes = d.codes()
    d.scan_set(codes[:20])
    record = d.table.carried()
    assert record is not None
    again = Table(d.settings, d.game, BLUE, (RED,))
    again.restore(record)
    assert again.carried() == record
    d.table = again
    d.scan_set(codes[20:]).press(i.VerifyDeck(52))
    assert d.phase is Phase.SHUFFLING


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_table_whose_config_has_lost_the_deck_loads_another(shuffled: bool) -> None:
    d = loaded().round()
    if shuffled:
        d.shuffle()
    record = d.table.carried()
    assert record is not None
    d.table = Table(d.settings, d.game, code_map("green", Scheme.PLAIN), (BLUE,))
    d.table.restore(record)
    d.start()
    assert only(d.last, ShoeClosed).reason is ShoeEnd.CHANGED
    assert d.phase is Phase.DECK_CHECK and prompt_of(d) == "LOAD_DECK"


def test_a_record_from_before_decks_were_registered_asks_for_one() -> None:
    d = loaded().round()
    record = d.table.carried()
    assert record is not None
    fields = msgspec.json.decode(record)
    del fields["shoe"]
    d.table = Table(d.settings, d.game, BLUE, (RED,))
    d.table.restore(msgspec.json.encode(fields))
    d.start()
    assert d.phase is Phase.DECK_CHECK and prompt_of(d) == "LOAD_DECK"


def test_the_limits_are_those_of_the_procedures() -> None:
    limits = Limits()
    assert (limits.count_every_rounds, limits.order_run) == (5, 7)
