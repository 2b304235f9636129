"""A shoe that serves many rounds: its first cards, its cutting card, what waits, and how it closes.

BAC-13; rows 4, 5, 7, 10, 25, 27 and 28 of the procedures.
"""

from __future__ import annotations

import hashlib
import re

import msgspec
import pytest
from profiles import profile
from table.dealt import ANNA, BLUE, BORIS, SHOE, Dealt, cancelled, digest, every, only, refusal
from table.shoe_dealt import CUTTING_CARD, SHOE8, SHOE_SETTINGS, ShoeDealt

from controller.cards import Card
from controller.games.procedure import BURN, HELD
from controller.table import inputs as i
from controller.table.charts import IncidentState, Phase
from controller.table.commitments import commit, commitment_text
from controller.table.events import (
    BurnReason,
    CardBurned,
    CardDealt,
    CardHeld,
    DeckShuffled,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    OpenedCard,
    Refusal,
    RoundCancelled,
    RoundConfirmed,
    RoundOpened,
    RoundsSuspect,
    ShoeClosed,
    ShoeEnd,
    ShoeEnding,
    StubCounted,
    Verdict,
    encode_events,
)
from controller.table.picture import draw
from controller.table.table import Table


def code_of(card: str) -> str:
    return SHOE8.code(Card.parse(card))


def ready() -> ShoeDealt:
    d = ShoeDealt()
    d.to_ready()
    return d


def dealing() -> ShoeDealt:
    d = ShoeDealt()
    d.to_burned()
    return d


def proposed() -> ShoeDealt:
    d = ShoeDealt()
    d.to_result()
    return d


# The beginning of a shoe (BAC-13).


def test_the_first_card_is_shown_and_says_how_many_are_burned() -> None:
    d = ready().open_round()
    assert draw(d.table.state).prompt.code == "SHOW_FIRST_CARD"
    d.scan()
    first = only(d.last, CardBurned)
    assert (first.reason, first.card, first.commitment) == (BurnReason.FIRST_CARD, "As", None)
    prompt = draw(d.table.state).prompt
    assert (prompt.code, prompt.n) == ("BURN_NEXT", 2)
    d.scan()
    second = only(d.last, CardBurned)
    assert (second.reason, second.card, second.n) == (BurnReason.NEW_SHOE, None, 2)
    assert second.commitment is not None and "7h" not in str(d.last)
    d.scan()
    assert only(d.last, CardDealt).place == "player"


def test_a_ten_value_burns_ten() -> None:
    d = ShoeDealt()
    d.to_dealing()
    d.shoe[0] = Card.parse("Kd")
    for _ in range(11):
        d.scan()
    assert len(every(d.events, CardBurned)) == 11 and not every(d.events, CardDealt)
    d.scan()
    assert only(d.last, CardDealt).place == "player"


def test_without_the_rule_nothing_is_burned_unless_the_profile_says_so() -> None:
    d = ShoeDealt(burn_by_first_card=False)
    d.to_dealing()
    d.scan()
    assert only(d.last, CardDealt).n == 1
    burns = msgspec.structs.replace(SHOE_SETTINGS, profile=profile("baccarat", burn_at_shoe_start=True))
    d = ShoeDealt(burn_by_first_card=False, settings=burns)
    d.to_dealing()
    d.scan()
    assert only(d.last, CardBurned).reason is BurnReason.NEW_SHOE
    d.scan()
    assert only(d.last, CardDealt).n == 1


def test_a_cancel_among_the_burned_cards_leaves_the_rest_for_the_next_coup() -> None:
    d = ShoeDealt()
    d.to_dealing()
    d.scan()
    d.press(i.Observed(IncidentKind.DEVICE_FAILED))
    d.supervisor_cancels()
    assert [card.place for card in only(d.last, RoundCancelled).opened] == []
    d.press(i.ClearTable())
    d.open_round()
    d.scan()
    assert only(d.last, CardBurned).reason is BurnReason.NEW_SHOE
    d.scan()
    assert only(d.last, CardDealt).place == "player"


def test_a_burned_card_that_cannot_be_read_is_scanned_again() -> None:
    d = ShoeDealt()
    d.to_dealing()
    d.scan()
    d.fail()
    asked = only(d.last, IncidentOpened)
    assert (asked.place, asked.n, asked.cell) == (BURN, 2, "1")
    d.scan()
    assert only(d.last, CardBurned).n == 2


# One shoe, many rounds.


def test_the_next_round_opens_without_a_shuffle_and_cards_stay_out() -> None:
    d = proposed().finish()
    assert d.phase is Phase.READY and not every(d.last, DeckShuffled)
    assert d.table.state.register.out_count == 6
    d.coup().finish()
    assert d.table.state.register.out_count == 12
    opened = every(d.events, RoundOpened)
    assert [event.shoe for event in opened] == [1, 1]
    assert len(every(d.events, DeckShuffled)) == 1


def test_a_shoe_that_has_begun_is_not_shuffled_again() -> None:
    d = ready()
    d.press(i.RepeatShuffle())
    assert refusal(d.last) is None and d.phase is Phase.SHUFFLING
    d.press(i.ConfirmShuffle())
    d.coup().finish()
    before = digest(d.table)
    assert refusal(d.press(i.RepeatShuffle())) is Refusal.NOT_OWED
    assert digest(d.table) == before
    assert "repeat_shuffle" not in draw(d.table.state).buttons


def test_no_card_of_a_shoe_that_has_begun_is_scanned_in() -> None:
    d = proposed().finish()
    d.press(i.ChangeDeck(i.ChangeReason.CHANGED), BORIS)
    d.new_shoe().press(i.OpenBetting())
    d = proposed().finish()
    d.press(i.Observed(IncidentKind.CARD_ON_FLOOR))
    assert d.phase is Phase.DECK_CHECK
    assert refusal(d.scan()) is Refusal.NOT_OWED


def test_a_deck_check_counts_what_is_left_and_the_shoe_goes_on() -> None:
    """Row 16 between two rounds: a full recount."""
    d = proposed().finish()
    d.press(i.Observed(IncidentKind.CARD_ON_FLOOR))
    left = d.table.state.register.left_count
    assert left == 416 - 6
    d.press(i.VerifyDeck(left - 1))
    assert only(d.last, IncidentOpened).kind is IncidentKind.WRONG_COUNT
    d.press(i.CountStub(left), BORIS)
    d.press(i.VerifyDeck(left))
    assert d.phase is Phase.READY and d.table.state.register.left_count == left


def test_the_set_is_scanned_in_value_by_value() -> None:
    d = ShoeDealt()
    d.start()
    d.plug()
    d.press(i.OpenTable())
    for code in SHOE8.cards:
        for _ in range(8):
            d.scan(code=code)
    d.press(i.VerifyDeck(416))
    assert d.phase is Phase.SHUFFLING and d.table.state.shoe.deck is not None


def test_the_same_value_at_once_is_asked_about_while_a_set_is_scanned_in() -> None:
    d = ShoeDealt()
    d.start()
    d.plug()
    d.press(i.OpenTable())
    d.scan("As")
    d.scan_at_once("As")
    assert only(d.last, IncidentOpened).kind is IncidentKind.SAME_CODE_AGAIN
    d.answer(True)
    assert len(d.table.state.shoe.scanning) == 1
    d.scan_at_once("As")
    d.answer(False)
    assert len(d.table.state.shoe.scanning) == 2


# Row 4: the same value again.


def test_row_4_the_same_value_within_a_moment_is_asked_about_and_dropped() -> None:
    d = dealing()
    d.scan("9c")
    d.scan_at_once("9c")
    opened = only(d.last, IncidentOpened)
    assert (opened.kind, opened.cell, opened.place, opened.n) == (
        IncidentKind.SAME_CODE_AGAIN,
        "4",
        "player",
        1,
    )
    d.scan_at_once("9c")  # Another look at the card that people are asked about.
    assert refusal(d.last) is Refusal.HELD
    d.answer(True)
    assert only(d.last, IncidentDecided).verdict is Verdict.DUPLICATE_READ
    assert d.table.state.incident is None and len(d.table.state.in_play.laid) == 1


def test_row_4_another_card_of_that_value_is_taken() -> None:
    d = dealing()
    d.scan("9c")
    d.scan_at_once("9c")
    d.answer(False)
    assert only(d.last, IncidentDecided).cell == "4 other"
    laid = only(d.last, CardDealt)
    assert (laid.place, laid.card) == ("banker", "9c")


def test_row_4_after_the_last_card_another_one_is_a_surplus_card() -> None:
    d = proposed()
    last = str(d.table.state.in_play.laid[-1].card)
    d.scan_at_once(last)
    d.answer(False)
    assert only(d.last, IncidentOpened).kind is IncidentKind.SURPLUS_CARD


def test_the_same_value_that_no_scanner_marks_is_a_card_like_any_other() -> None:
    d = dealing()
    d.scan("9c")
    d.scan("9c")
    assert only(d.last, CardDealt).place == "banker"


def test_a_mark_means_nothing_where_a_code_is_on_one_card_alone() -> None:
    d = Dealt().to_dealing()
    code, key = BLUE.code(d.shoe[0]), "ab" * 32
    d.feed(i.CardRead(at=d.now + 1, scanner=SHOE, code=code, device_seq=None, key=key, repeat=True))
    assert only(d.last, CardDealt).n == 1


# Row 5: a card that can't be there.


def eight_of(text: str) -> ShoeDealt:
    """Deal coups until all cards of one value are out, and the next card is due."""
    d = ready()
    d.coup().finish()
    while d.phase is not Phase.DEALING or len(d.table.state.register.places(code_of(text))) < 8:
        if d.phase is Phase.READY:
            d.open_round()
        elif d.phase is Phase.DEALING:
            d.scan(text)
        else:
            d.finish()
    return d


def test_row_5_the_ninth_card_of_a_value_voids_the_round_and_closes_the_shoe() -> None:
    d = eight_of("5s")
    place = draw(d.table.state).prompt
    d.scan("5s")
    opened = only(d.last, IncidentOpened)
    assert (opened.kind, opened.cell) == (IncidentKind.IMPOSSIBLE_CARD, "5")
    assert (opened.place, opened.n) == (place.place, place.n)
    assert opened.other_place is not None and opened.other_n is not None
    cancelled(d, i.CancelReason.DECK_INTEGRITY)
    last = d.table.state.round_no
    d.press(i.ClearTable())
    assert only(d.last, ShoeClosed).reason is ShoeEnd.INTEGRITY
    suspect = only(d.last, RoundsSuspect)
    assert (suspect.first_round, suspect.last_round) == (1, last)
    assert d.phase is Phase.DECK_CHECK


@pytest.mark.parametrize("same", [True, False])
def test_row_5_a_second_look_at_the_last_card_of_a_value_is_asked_about_first(same: bool) -> None:
    d = eight_of("5s")
    d.scan_at_once("5s")
    assert only(d.last, IncidentOpened).kind is IncidentKind.SAME_CODE_AGAIN
    d.answer(same)
    if same:
        assert only(d.last, IncidentDecided).verdict is Verdict.DUPLICATE_READ and d.phase is Phase.DEALING
    else:
        cancelled(d, i.CancelReason.DECK_INTEGRITY)


def test_row_5_an_earlier_card_is_named_by_its_round() -> None:
    d = ready()
    d.coup().finish()
    assert {place for _, (place, _) in d.table.state.register.out()} == {
        "ba1-1/burn",
        "ba1-1/player",
        "ba1-1/banker",
    }


def test_row_5_in_hand_entry_a_card_that_the_shoe_has_no_more_of_cancels() -> None:
    d = eight_of("5s")
    if d.table.state.in_play.laid:  # One that lies open can be told from it by everybody.
        d.coup().finish()
        d.open_round()
    d.fail()
    d.fail()
    d.press(i.OrderEntry(), BORIS)
    number = draw(d.table.state).prompt.incident or 0
    for actor in (ANNA, BORIS):
        assert refusal(d.press(i.EnterCard(number, "5s"), actor)) is None
    cancelled(d, i.CancelReason.DECK_INTEGRITY)


@pytest.mark.parametrize("when", ["ready", "confirmed"])
def test_row_6_a_strange_card_between_two_rounds_closes_the_shoe(when: str) -> None:
    d = proposed()
    d.press(i.ConfirmResult())
    if when == "ready":
        d.press(i.ClearTable())
    d.scan(code="A01")
    opened = only(d.last, IncidentOpened)
    assert (opened.kind, opened.cell) == (IncidentKind.FOREIGN_CARD, "6")
    if when == "confirmed":
        d.press(i.ClearTable())
    assert only(d.last, ShoeClosed).reason is ShoeEnd.INTEGRITY
    assert only(d.last, RoundsSuspect).first_round == 1
    assert d.phase is Phase.DECK_CHECK


# Rows 7 and 10: a card that nobody is owed.


@pytest.mark.parametrize("when", ["result_proposed", "confirmed", "ready"])
def test_row_10a_a_card_that_nobody_saw_is_the_first_of_the_next_coup(when: str) -> None:
    d = proposed()
    if when != "result_proposed":
        d.press(i.ConfirmResult())
    if when == "ready":
        d.press(i.ClearTable())
    d.scan("8h")
    kind = IncidentKind.EARLY_DRAW if when == "ready" else IncidentKind.SURPLUS_CARD
    assert only(d.last, IncidentOpened).kind is kind
    d.answer(False)
    assert only(d.last, IncidentDecided).verdict is Verdict.HELD
    assert draw(d.table.state).held_count == 1 and "8h" not in str(d.events)
    if when == "result_proposed":
        d.press(i.ConfirmResult())
    if when != "ready":
        d.press(i.ClearTable())
    opened = d.press(i.OpenBetting())
    held = only(opened, CardHeld)
    assert held.n == 1 and "8h" not in str(d.events)
    d.press(i.CloseBetting())
    d.bets()
    laid = only(d.last, CardDealt)
    assert (laid.place, laid.n, laid.card, laid.held) == ("player", 1, "8h", 1)
    for _ in range(3):
        d.scan()
    d.coup().press(i.ConfirmResult())
    opening = next(card for card in only(d.last, RoundConfirmed).opened if card.place == HELD)
    assert opens(opening, "ba1-2", held.commitment) and opening.card == "8h"


def test_equal_cards_that_wait_are_registered_each_where_it_lies() -> None:
    """Row 5 names both places of a card too many, so none may be another card's."""
    d = proposed()
    d.press(i.ConfirmResult())
    for seen in (True, False, False):
        d.scan("8h")
        d.answer(seen)
    d.press(i.ClearTable())
    d.press(i.OpenBetting())
    places = d.table.state.register.places
    assert places(code_of("8h")) == ((BURN, 1), (HELD, 1), (HELD, 2))
    d.press(i.CloseBetting())
    d.bets()
    assert places(code_of("8h")) == ((BURN, 1), ("player", 1), ("banker", 1))


def opens(opening: OpenedCard, roundid: str, commitment: str | None) -> bool:
    assert opening.card is not None and opening.key is not None
    text = commitment_text(
        table="ba1",
        roundid=roundid,
        deal=opening.deal,
        place=opening.place,
        n=opening.n,
        reading=opening.reading,
        card=opening.card,
    )
    return commit(opening.key, text) == commitment


@pytest.mark.parametrize("when", ["result_proposed", "confirmed", "ready"])
def test_row_10b_a_card_that_was_seen_is_burned(when: str) -> None:
    d = proposed()
    if when != "result_proposed":
        d.press(i.ConfirmResult())
    if when == "ready":
        d.press(i.ClearTable())
    d.scan("8h")
    d.answer(True)
    assert only(d.last, IncidentDecided).verdict is Verdict.BURNED
    if when == "result_proposed":
        d.press(i.ConfirmResult())
    if when != "ready":
        d.press(i.ClearTable())
    d.open_round()
    burned = every(d.events, CardBurned)[-1]
    reason = BurnReason.EARLY_DRAW if when == "ready" else BurnReason.SURPLUS_CARD
    assert burned.reason is reason and burned.commitment is not None
    d.scan()
    assert only(d.last, CardDealt).held is None


def test_a_card_before_the_first_start_of_a_shoe_is_its_first_card() -> None:
    """Row 7c: it has the burn's place, seen or not."""
    d = ready()
    d.scan("2s")
    d.answer(True)
    d.open_round()
    shown = every(d.events, CardBurned)
    assert [(card.reason, card.card) for card in shown] == [(BurnReason.FIRST_CARD, "2s")]
    assert draw(d.table.state).prompt.code == "BURN_NEXT"


def test_row_7a_a_card_that_nobody_scanned_lies_there_until_it_is_due() -> None:
    d = proposed().finish()
    d.press(i.Observed(IncidentKind.EARLY_DRAW))
    d.answer(False)
    d.open_round().scan()
    assert only(d.last, CardDealt).place == "player"


def test_row_7b_one_that_was_seen_is_scanned_and_burned_first() -> None:
    d = proposed().finish()
    d.press(i.Observed(IncidentKind.EARLY_DRAW))
    d.answer(True)
    d.open_round()
    assert draw(d.table.state).prompt.code == "BURN_CARD"
    d.scan()
    assert only(d.last, CardBurned).reason is BurnReason.EARLY_DRAW


def test_row_7c_a_card_in_betting_time_is_the_first_of_the_coup() -> None:
    d = proposed().finish()
    d.press(i.OpenBetting())
    d.scan("8h")
    d.answer(False)
    held = only(d.last, CardHeld)
    d.press(i.CloseBetting())
    d.bets()
    assert only(d.last, CardDealt).held == held.n


def test_a_card_that_waits_is_kept_when_the_coup_is_cancelled() -> None:
    d = proposed().finish()
    d.press(i.OpenBetting())
    d.scan("8h")
    d.answer(False)
    d.press(i.Observed(IncidentKind.DEVICE_FAILED))
    d.supervisor_cancels()
    assert not only(d.last, RoundCancelled).opened and "8h" not in str(d.events)
    d.press(i.ClearTable())
    d.open_round()
    assert only(d.last, CardDealt).card == "8h"


def test_a_read_between_two_rounds_while_another_one_is_asked_about_is_not_forgotten() -> None:
    d = proposed().finish()
    d.scan("8h")
    d.scan("2c")
    assert refusal(d.last) is Refusal.HELD
    d.answer(False)
    again = only(d.last, IncidentOpened)
    assert again.kind is IncidentKind.EARLY_DRAW
    d.answer(False)
    assert d.table.state.incident is None and draw(d.table.state).held_count == 1


def test_a_read_that_a_stop_has_swallowed_is_asked_about_at_the_start() -> None:
    d = proposed().finish()
    d.start(untaken=(i.UntakenRead(SHOE, code_of("8h")),))
    assert only(d.last, IncidentOpened).kind is IncidentKind.EARLY_DRAW
    d.answer(False)
    d.plug()
    d.open_round().scan("8h")
    assert only(d.last, CardDealt).place == "player"


# Row 2b: a read in a hold, where a code is on many cards.


def test_row_2b_two_equal_cards_in_a_hold_are_both_asked_about() -> None:
    d = dealing()
    d.scan("9c")
    d.press(i.Observed(IncidentKind.VIDEO_LOST))
    d.scan("9c")
    d.scan("9c")
    d.press(i.GoOn(), BORIS)
    assert draw(d.table.state).read_meanwhile == 2
    for n in (1, 2):
        d.answer(True)
        d.scan("9c")
        assert len(d.table.state.in_play.laid) == n + 1
    assert d.table.state.incident is None


# Rows 27 and 28: the cutting card.


@pytest.mark.parametrize("pressed", [True, False])
def test_row_27_the_coup_is_finished_one_more_is_dealt_and_the_shoe_closes(pressed: bool) -> None:
    d = dealing()
    d.scan()
    if pressed:
        d.press(i.CuttingCard())
    else:
        d.cutting_card()
    assert only(d.last, ShoeEnding).last_round == 2
    d.coup().finish()
    assert d.phase is Phase.READY and draw(d.table.state).last_round == 2
    d.coup().press(i.ConfirmResult())
    assert draw(d.table.state).prompt.code == "COUNT_STUB"
    assert refusal(d.press(i.ClearTable())) is Refusal.COUNT_DUE
    d.press(i.CountStub(d.table.state.register.left_count))
    assert only(d.last, StubCounted).expected == 416 - 12
    d.press(i.ClearTable())
    assert only(d.last, ShoeClosed).reason is ShoeEnd.CUTTING_CARD
    assert not every(d.last, RoundsSuspect) and d.phase is Phase.DECK_CHECK


def test_row_27_as_the_first_card_it_belongs_to_the_coup_before() -> None:
    d = proposed().finish()
    d.open_round().cutting_card()
    assert only(d.last, ShoeEnding).last_round == 2
    d.coup().finish()
    assert d.phase is Phase.DECK_CHECK
    d = proposed().finish()
    d.press(i.CuttingCard())
    assert only(d.last, ShoeEnding).last_round == 2


def test_row_27_by_setting_the_coup_of_the_cutting_card_is_the_last_or_more_follow() -> None:
    for more, last in ((0, 1), (1, 2), (2, 3)):
        d = ShoeDealt(rounds_after_cutting_card=more)
        d.to_burned()
        d.scan()
        d.cutting_card()
        assert only(d.last, ShoeEnding).last_round == last


def test_row_27_what_speaks_against_a_cutting_card() -> None:
    d = ready()
    assert refusal(d.press(i.CuttingCard())) is Refusal.NOT_OWED
    d = dealing()
    d.cutting_card()
    assert refusal(d.cutting_card()) is Refusal.NOT_OWED
    assert "cutting_card" not in draw(d.table.state).buttons
    poker = Dealt().to_dealing()
    assert refusal(poker.press(i.CuttingCard())) is Refusal.NOT_OFFERED
    assert "cutting_card" not in draw(poker.table.state).buttons


def test_row_27_the_cutting_card_is_known_in_a_hold_and_after_a_stop() -> None:
    d = dealing()
    d.scan()
    d.unplug()
    d.scan(code=CUTTING_CARD)
    assert only(d.last, ShoeEnding).last_round == 2 and d.table.state.incident is not None
    d = dealing()
    d.scan()
    d.start(untaken=(i.UntakenRead(SHOE, CUTTING_CARD),))
    assert only(d.last, ShoeEnding).last_round == 2
    assert not d.table.state.in_play.unplaced_reads.foreign


def test_row_2b_a_re_scan_that_a_stop_has_swallowed_is_no_other_card() -> None:
    """The card was read, the process went down; it was scanned again, and the process went down again."""
    d = dealing()
    lost = i.UntakenRead(SHOE, code_of("9c"))
    for _ in range(2):
        d.start(untaken=(lost,))
        d.plug()
        d.confirm_picture()
        d.answer(True)
    d.scan("9c")
    assert only(d.last, CardDealt).place == "player" and d.table.state.incident is None
    d.start(untaken=(lost, lost))  # Now it is another card, and one more.
    assert d.table.state.in_play.unplaced_reads.codes == [lost.code] * 2


@pytest.mark.parametrize("report", [i.Observed(IncidentKind.MISREAD_LATE), i.DisputeReading()])
def test_row_2b_nor_is_a_card_that_lies_and_was_scanned_again(report: i.AnyCommand) -> None:
    d = dealing()
    d.scan("9c")
    d.press(report)
    if d.table.state.incident_state is IncidentState.QUESTION:
        d.answer(True)
    d.start(untaken=(i.UntakenRead(SHOE, code_of("9c")),))
    assert d.table.state.in_play.unplaced_reads.codes == []


def play_down(d: ShoeDealt, left: int) -> ShoeDealt:
    """Deal coups until fewer cards are left."""
    while d.table.state.register.left_count >= left:
        d.coup()
        if d.table.state.register.left_count >= left:
            d.finish()
    return d


def whole(**rules: int) -> ShoeDealt:
    """A shoe that holds exactly its 416 cards, shuffled."""
    d = ShoeDealt(**rules)
    cards = [card for card in SHOE8.cards.values() for _ in range(8)]
    cards.sort(key=lambda card: hashlib.sha256(f"{card}".encode()).digest())
    d.shoe = [cards[(index * 149) % 416] for index in range(416)]
    d.to_ready()
    return d


def test_row_27_the_count_shows_that_the_cutting_card_has_passed_unseen() -> None:
    d = play_down(whole(), 16)
    d.press(i.ConfirmResult())
    assert draw(d.table.state).prompt.code == "COUNT_STUB"
    d.press(i.CountStub(d.table.state.register.left_count))
    d.press(i.ClearTable())
    opened = only(d.last, IncidentOpened)
    assert (opened.kind, opened.cell) == (IncidentKind.CUTTING_CARD, "27")
    assert only(d.last, ShoeClosed).reason is ShoeEnd.CUTTING_CARD and d.phase is Phase.DECK_CHECK


def test_row_28_a_shoe_that_is_too_short_closes_before_a_round_could_not_be_finished() -> None:
    d = whole(cutting_card_from_end=6, rounds_after_cutting_card=5)
    while d.table.state.register.left_count >= 12:
        d.coup().finish()
    assert d.phase is Phase.READY
    d.open_round().scan()
    d.cutting_card()
    while d.phase is not Phase.DECK_CHECK:
        left = d.coup().table.state.register.left_count
        d.finish()
    end = every(d.events, ShoeClosed)[-1]
    assert end.reason is ShoeEnd.TOO_SHORT and left < 6


def test_row_25_a_wrong_count_at_the_close_makes_the_rounds_of_the_shoe_suspect() -> None:
    d = dealing()
    d.cutting_card()
    d.coup()
    d.press(i.ConfirmResult())
    right = d.table.state.register.left_count
    d.press(i.CountStub(right - 1))
    d.press(i.CountStub(right - 1), BORIS)
    d.press(i.ClearTable())
    assert only(d.last, ShoeClosed).reason is ShoeEnd.COUNT
    suspect = only(d.last, RoundsSuspect)
    assert (suspect.first_round, suspect.last_round) == (1, 1)
    d.load()
    assert refusal(d.press(i.VerifyDeck(416))) is Refusal.WRONG_ROLE  # A supervisor verifies the next.


def test_row_25_a_cancelled_last_round_is_counted_too() -> None:
    d = dealing()
    d.cutting_card()
    d.scan()
    d.press(i.Observed(IncidentKind.DEVICE_FAILED))
    d.supervisor_cancels()
    assert refusal(d.press(i.ClearTable())) is Refusal.COUNT_DUE
    d.press(i.CountStub(d.table.state.register.left_count))
    d.press(i.ClearTable())
    assert only(d.last, ShoeClosed).reason is ShoeEnd.CUTTING_CARD


def test_row_26_cards_in_new_deck_order_close_the_shoe() -> None:
    settings = msgspec.structs.replace(SHOE_SETTINGS, profile=profile("baccarat"))
    d = ShoeDealt("2c 3c 4c 5c 6c 7c 8c", settings=settings)
    d.to_ready()
    d.coup().finish()
    while d.phase is Phase.READY:
        d.coup().finish()
    assert only(d.last, ShoeClosed).reason is ShoeEnd.ORDER


def test_row_8_a_forgotten_burn_makes_the_shoe_invalid() -> None:
    d = dealing()
    d.scan()
    d.press(i.Observed(IncidentKind.BURN_FORGOTTEN))
    d.supervisor_cancels()
    d.press(i.ClearTable())
    assert only(d.last, ShoeClosed).reason is ShoeEnd.BURN_FORGOTTEN


# Face-down cards.


def test_burned_cards_are_opened_when_the_shoe_closes() -> None:
    d = dealing()
    burned = [event for event in every(d.events, CardBurned) if event.commitment is not None]
    d.scan()
    d.cutting_card()
    d.coup().press(i.ConfirmResult())
    assert only(d.last, RoundConfirmed).opened == ()
    d.press(i.ClearTable())
    d.coup().finish()
    (opening,) = only(d.last, ShoeClosed).opened
    assert (opening.roundid, opening.card) == ("ba1-1", "7h")
    assert opens(opening, "ba1-1", burned[0].commitment)


def told(second: str, kept: str) -> tuple[bytes, bytes]:
    """Play two coups with these hidden cards; return what was said before the shoe closed, and as it did."""
    d = ShoeDealt()
    d.shoe[1] = Card.parse(second)
    d.to_burned()
    d.cutting_card()
    d.scan()
    d.coup()
    d.scan(kept)
    d.answer(False)
    d.press(i.Observed(IncidentKind.DEVICE_FAILED))
    d.supervisor_cancels()
    before = b"".join(map(encode_events, d.steps))
    d.press(i.CountStub(d.table.state.register.left_count))
    d.press(i.ClearTable())
    return re.sub(rb'"commitment":"[0-9a-f]{64}"', b'"commitment":""', before), encode_events(d.last)


def test_nothing_tells_a_card_that_lies_face_down_before_the_shoe_closes() -> None:
    """The differential proof: burned cards, and one that waits when its coup is cancelled."""
    one, closed_one = told("7h", "8h")
    other, closed_other = told("Kd", "2c")
    assert one == other
    assert b"7h" in closed_one and b"Kd" in closed_other


# What is carried from round to round.


def test_a_record_restores_a_shoe_and_replays_to_the_same_bytes() -> None:
    d = proposed()
    d.scan("8h")
    d.answer(False)
    d.finish()
    d.press(i.CuttingCard())
    record = d.table.carried()
    assert record is not None
    steps = len(d.inputs)
    d.coup().finish()
    assert d.phase is Phase.DECK_CHECK
    table = Table(d.settings, d.game, SHOE8, ())
    table.restore(record)
    replayed = [encode_events(table.step(value)) for value in d.inputs[steps:]]
    assert replayed == [encode_events(events) for events in d.steps[steps:]]


def test_a_day_ends_and_the_shoe_goes_on_the_next() -> None:
    d = proposed().finish()
    d.press(i.CloseTable())
    d.reopen()
    assert d.phase is Phase.DECK_CHECK
    d.press(i.VerifyDeck(d.table.state.register.left_count))
    assert d.phase is Phase.READY
    d.coup()
