"""All cards scanned again, from the first, in the order of drawing (rows 2 and 3, P5, RPL-75)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest
from table.cells import DARK, EMPTY, finish
from table.dealt import (
    BETS,
    BLUE,
    BORIS,
    FAILS,
    PLAYS,
    RED,
    Dealt,
    cancelled,
    digest,
    every,
    only,
    refusal,
    stacked,
)
from table.invariants import Watcher
from table.test_secrecy import masked

from controller.bus.envelope import Envelopes, Environment, Stamp
from controller.bus.snapshot import Snapshot, fold
from controller.cards import Card
from controller.table import inputs as i
from controller.table.charts import IncidentState, Phase
from controller.table.commitments import commit, commitment_text
from controller.table.events import (
    AUDIENCES,
    Audience,
    CardBurned,
    CardDealt,
    CardShown,
    CardsRevealed,
    CardWithdrawn,
    HandsOffered,
    IncidentAsked,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    OpenedCard,
    Refusal,
    ResultProposed,
    RoundConfirmed,
    Verdict,
    encode_events,
)
from controller.table.inputs import CancelReason
from controller.table.picture import draw
from controller.table.table import Table

TRUE = [str(card) for card in stacked(FAILS)]
"""The cards as they are drawn; card `i` goes to box 1, box 2, box 3, the dealer in turn."""
BOX1, BOX2, BOX3, OF_DEALER = range(4)
OTHER = "2s"
"""Lies in no hand of these rounds."""


def read_as(d: Dealt, count: int, wrong: Mapping[int, str]) -> Dealt:
    """Draw `count` cards; those named are read as others (index from 0)."""
    for index in range(count):
        d.shoe.pop(0)
        events = d.scan(wrong.get(index, TRUE[index]))
        assert every(events, CardDealt), events
    return d


def in_the_deal(count: int, wrong: Mapping[int, str]) -> Dealt:
    return read_as(Dealt(FAILS).to_dealing(), count, wrong)


def noticed(d: Dealt) -> Dealt:
    """The dealer notices it, and the order of drawing is certain."""
    d.press(i.Observed(IncidentKind.MISREAD_LATE))
    d.answer(True)
    return d


def again(d: Dealt, cards: Sequence[str] | None = None) -> Dealt:
    """Scan the cards from the first, by default as they really are."""
    for card in cards if cards is not None else TRUE[: len(d.table.state.in_play.laid)]:
        d.scan(card)
    return d


def lying(d: Dealt) -> list[str]:
    return [str(laid.card) for laid in d.table.state.in_play.laid]


def board(d: Dealt, audience: Audience) -> Snapshot:
    """Fold everything that the audience has heard."""
    builder = Envelopes(table="rp1", environment=Environment.SIMULATED)
    snapshot = Snapshot(table="rp1", audience=audience)
    for value, events in zip(d.inputs, d.steps, strict=True):
        stamp = Stamp(at_us=value.at, epoch=1, phase="dealing", rules="rules", roundid="rp1-1", rev=1)
        snapshot = fold(snapshot, builder.build(events, stamp)[audience])
    return snapshot


def shown(d: Dealt) -> dict[str, tuple[str, ...]]:
    """Return the board as the public can know it, backs for hidden cards, place by place."""
    places = board(d, Audience.PUBLIC).places
    return {place: tuple(card.card or "back" for card in cards) for place, cards in places.items() if cards}


SWAPPED = {
    "two hidden cards": (BOX3, OF_DEALER),
    "an open card and a hidden one": (BOX2, BOX3),
    "a hidden card and an open one": (BOX1, BOX2),
}


@pytest.mark.parametrize("which", SWAPPED)
def test_row_2_two_cards_read_in_the_wrong_order_lie_as_they_were_drawn(which: str) -> None:
    first, second = SWAPPED[which]
    d = in_the_deal(6, {first: TRUE[second], second: TRUE[first]})
    again(noticed(d))
    assert only(d.last, IncidentDecided).verdict is Verdict.RESCANNED
    assert lying(d) == TRUE[:6]
    places = ("box1", "box2", "box3", "dealer")
    moved = [(places[index], 1) for index in (first, second)]
    assert [(event.place, event.n) for event in every(d.last, CardWithdrawn)] == moved
    assert [(event.place, event.n, event.reading) for event in every(d.last, CardDealt)] == [
        (*where, 2) for where in moved
    ]
    assert d.table.state.register.out_count == 6
    assert [
        d.table.state.register.where(BLUE.code(Card.parse(TRUE[index]))) for index in (first, second)
    ] == moved
    d.deal(14)
    finish(d, Phase.CONFIRMED)


@pytest.mark.parametrize("index", range(6))
def test_row_3_one_wrong_card_anywhere_is_withdrawn_and_dealt_again(index: int) -> None:
    d = in_the_deal(6, {index: OTHER})
    wrong = d.table.state.in_play.laid[index]
    again(noticed(d))
    laid = d.table.state.in_play.laid[index]
    withdrawn, dealt = only(d.last, CardWithdrawn), only(d.last, CardDealt)
    assert (withdrawn.place, withdrawn.n, withdrawn.reading) == (wrong.place, wrong.n, 1)
    assert withdrawn.reason is IncidentKind.MISREAD_LATE
    assert (dealt.place, dealt.n, dealt.reading) == (wrong.place, wrong.n, 2)
    assert dealt.card == (TRUE[index] if laid.open else None)
    assert dealt.commitment == laid.commitment != wrong.commitment or laid.open
    assert lying(d) == TRUE[:6]
    d.shoe.insert(0, Card.parse(OTHER))  # The code that was read by mistake is in the shoe again.
    d.deal(1)
    assert lying(d)[-1] == OTHER


def test_row_3_nothing_changes_when_every_card_is_what_was_read() -> None:
    d = in_the_deal(6, {})
    before = [(laid.card, laid.key, laid.reading) for laid in d.table.state.in_play.laid]
    again(noticed(d))
    assert [(laid.card, laid.key, laid.reading) for laid in d.table.state.in_play.laid] == before
    assert not every(d.events, CardWithdrawn)


def test_row_2_before_the_first_card_there_is_nothing_to_scan_again() -> None:
    """The first card could not be read and the second one is out: the first is due, then the second."""
    d = noticed(Dealt(FAILS).to_dealing())
    assert only(d.last, IncidentDecided).verdict is Verdict.RESCANNED
    d.deal(2)
    assert lying(d) == TRUE[:2]


# P5: what people have decided on.


def after_the_options(wrong: Mapping[int, str]) -> Dealt:
    d = in_the_deal(20, wrong)
    d.all_decided("options")
    d.press(i.DisputeReading())
    assert only(d.last, IncidentOpened).prompt == "SCAN_FROM_FIRST"
    return d


@pytest.mark.parametrize("index", [0, 2, 3, 18])
def test_p5_a_wrong_hidden_card_may_be_corrected_after_a_window(index: int) -> None:
    d = again(after_the_options({index: OTHER}))
    assert only(d.last, IncidentDecided).verdict is Verdict.RESCANNED and lying(d) == TRUE[:20]
    assert only(d.last, CardDealt).card is None
    finish(d, Phase.CONFIRMED)


@pytest.mark.parametrize("index", [1, 17, 19])
def test_p5_a_wrong_open_card_that_was_decided_on_cancels(index: int) -> None:
    d = again(after_the_options({index: OTHER}))
    cancelled(d, CancelReason.WRONG_READING)
    assert not every(d.last, CardWithdrawn) and not every(d.last, CardDealt)


def test_p5_a_switch_card_is_decided_on_by_its_buyers() -> None:
    d = Dealt(FAILS).to_switch()
    d.shoe.pop(0)
    d.scan(OTHER)
    d.deal(4)
    d.all_decided("final_options")
    d.press(i.DisputeReading())
    again(d)
    cancelled(d, CancelReason.WRONG_READING)


def test_p5_a_switch_card_before_its_window_is_shown_to_the_buyers_again() -> None:
    d = Dealt(FAILS).to_switch()
    d.shoe.pop(0)
    d.scan(OTHER)
    d.deal(2)
    again(noticed(d))
    assert (only(d.last, CardShown).card, only(d.last, CardDealt).card) == (TRUE[20], None)
    assert not every(d.last, HandsOffered)  # Its window has not opened yet.
    d.deal(2)
    assert every(d.last, HandsOffered)


def test_p5_a_window_that_ends_while_cards_are_scanned_again_has_been_decided_on() -> None:
    for index, stands in ((0, True), (1, False)):
        d = noticed(in_the_deal(20, {index: OTHER}))
        again(d, TRUE[:10])
        d.advance(16_000)
        again(d, TRUE[10:20])
        assert (d.phase is not Phase.CANCELLED) == stands
        if not stands:
            cancelled(d, CancelReason.WRONG_READING)


def test_row_3_a_window_that_is_open_keeps_its_time_and_offers_its_hands_anew() -> None:
    d = noticed(in_the_deal(20, {1: OTHER}))
    closes_at = d.table.deadlines["window"].due
    again(d)
    assert only(d.last, HandsOffered).window == "options" and d.table.deadlines["window"].due == closes_at


# Turned cards: no window has closed over a round in which nobody decides.


def nobody_decides(wrong: Mapping[int, str]) -> Dealt:
    d = Dealt(FAILS).to_betting()
    d.press(i.CloseBetting())
    d.press(i.BetsTaken({"box1": DARK, "box2": EMPTY, "box3": DARK}), BETS)
    d.shoe = [Card.parse(card) for card in TRUE]
    return read_as(d, 20, wrong)


def test_row_3_a_turned_card_that_is_corrected_lies_open_as_what_it_is() -> None:
    d = nobody_decides({0: OTHER})
    d.press(i.TurnCards("box1"))
    d.press(i.DisputeReading())
    again(d)
    assert shown(d)["box1"][0] == draw(d.table.state).places["box1"][0] == TRUE[0]
    (card,) = only(d.last, CardsRevealed).cards
    assert (card.place, card.n, card.reading, card.card) == ("box1", 1, 2, TRUE[0])


def test_row_3_a_correction_that_changes_what_is_owed_cancels() -> None:
    """The dealer was read as one who qualifies; really he fails, and the purchase was never offered."""
    d = nobody_decides({3: "9h"})  # A pair of nines instead of a king.
    finish(d, Phase.RESULT_PROPOSED)
    d.press(i.DisputeReading())
    again(d)
    cancelled(d, CancelReason.WRONG_READING)
    assert not every(d.last, CardWithdrawn)


def test_p5_what_lay_open_when_the_purchase_was_offered_has_been_decided_on() -> None:
    d = nobody_decides({0: OTHER})
    finish(d, Phase.DECIDING)
    d.all_decided("buy_time", anyone_bought=False)
    assert d.phase is Phase.RESULT_PROPOSED
    d.press(i.DisputeReading())
    again(d)
    cancelled(d, CancelReason.WRONG_READING)


def test_row_3_a_correction_before_result_proposes_the_result_anew() -> None:
    """The dealer qualifies, so no window has closed over the cards: a pair of box 1 was read as none."""
    true = [str(card) for card in stacked(PLAYS)[:20]]
    d = nobody_decides({index: card for index, card in enumerate(true) if card != TRUE[index]} | {0: OTHER})
    finish(d, Phase.RESULT_PROPOSED)
    first = only(d.events, ResultProposed).outcome
    d.press(i.DisputeReading())
    again(d, true)
    second = only(d.last, ResultProposed).outcome
    assert second != first and (true[0] in str(second), OTHER in str(first)) == (True, True)
    d.press(i.ConfirmResult())
    assert only(d.last, RoundConfirmed).outcome.box("box1").hands


# Scans that are not what is asked for.


def test_row_4_a_card_that_is_read_twice_is_refused_and_changes_nothing() -> None:
    d = again(noticed(in_the_deal(6, {0: OTHER})), TRUE[:3])
    before = digest(d.table)
    for card in TRUE[:3]:
        assert refusal(d.scan(card)) is Refusal.ALREADY_READ
        assert digest(d.table) == before
    again(d, TRUE[3:6])
    assert lying(d) == TRUE[:6]


@pytest.mark.parametrize("code", ["A01", "nonsense"])
def test_row_6_a_foreign_card_among_them_cancels_and_the_deck_goes_out(code: str) -> None:
    d = again(noticed(in_the_deal(6, {})), TRUE[:3])
    d.scan(code=code)
    cancelled(d, CancelReason.DECK_INTEGRITY)
    d.press(i.ClearTable())
    assert d.phase is Phase.DECK_CHECK


def test_row_3_a_burned_card_can_not_lie_on_a_place() -> None:
    d = Dealt(FAILS).to_betting()
    d.scan(OTHER)
    d.answer(False)
    assert only(d.last, CardBurned)
    d.press(i.CloseBetting())
    d.bets()
    read_as(d, 6, {})
    again(noticed(d), [OTHER, *TRUE[1:6]])
    cancelled(d, CancelReason.WRONG_READING)


def test_no_card_of_the_round_is_dealt_while_they_are_scanned_again() -> None:
    d = again(noticed(in_the_deal(6, {})), TRUE[:3])
    assert not every(d.steps[-1], CardDealt) and len(d.table.state.in_play.laid) == 6
    again(d, TRUE[3:6])
    assert len(d.table.state.in_play.laid) == 6


# RPL-75: it is the one re-scan of the initial deal.


def test_rpl_75_it_counts_as_the_one_re_scan_of_the_initial_deal() -> None:
    d = again(noticed(in_the_deal(6, {0: OTHER})))
    assert draw(d.table.state).rescans_used == 1
    d.fail()
    cancelled(d, CancelReason.WRONG_READING)


def test_rpl_75_it_is_refused_when_the_one_re_scan_is_used() -> None:
    d = in_the_deal(6, {0: OTHER})
    d.fail()
    d.scan(TRUE[6])
    noticed(d)
    assert draw(d.table.state).incident_state == "supervisor"
    d.press(i.ConfirmCancel(), BORIS)
    cancelled(d, CancelReason.WRONG_READING)


def test_rpl_75_a_card_of_the_initial_deal_that_can_not_be_read_again_cancels() -> None:
    d = again(noticed(in_the_deal(6, {0: OTHER})), TRUE[:3])
    d.fail()
    cancelled(d, CancelReason.WRONG_READING)


def test_rpl_75_later_a_supervisor_has_the_card_scanned_that_can_not_be_read() -> None:
    d = read_as(Dealt(FAILS).to_switch(), 0, {})
    d.deal(2)
    again(noticed(d), TRUE[:4])
    d.fail()
    assert only(d.last, IncidentAsked).prompt == "CALL_SUPERVISOR"
    assert refusal(d.scan(TRUE[4])) is Refusal.HELD
    d.press(i.OrderRescan(), BORIS)
    prompt = draw(d.table.state).prompt
    assert (prompt.code, prompt.place, prompt.n) == ("SCAN_FROM_FIRST", "box1", 2)
    again(d, TRUE[4:22])
    assert only(d.last, IncidentDecided).verdict is Verdict.RESCANNED
    assert draw(d.table.state).rescans_used == 0


# Restarts and outages in the middle of it.


def recovered(d: Dealt) -> None:
    """A table that takes the same inputs again is the same table, and has said the same."""
    table = Table(d.settings, d.game, BLUE, (RED,))
    for value, events in zip(d.inputs, d.steps, strict=True):
        assert encode_events(table.step(value)) == encode_events(events)
    assert digest(table) == digest(d.table)


@pytest.mark.parametrize("scanned", range(7))
def test_row_35_after_a_restart_it_goes_on_where_it_was(scanned: int) -> None:
    wrong = {0: TRUE[2], 2: TRUE[0], 4: OTHER}
    d = again(noticed(in_the_deal(7, wrong)), TRUE[:scanned])
    recovered(d)
    d.start()
    d.plug()
    d.confirm_picture()
    d.answer(False)
    prompt = draw(d.table.state).prompt
    place = ("box1", "box2", "box3", "dealer")[scanned % 4]
    assert (prompt.code, prompt.place, prompt.n) == ("SCAN_FROM_FIRST", place, scanned // 4 + 1)
    again(d, TRUE[scanned:7])
    assert lying(d) == TRUE[:7] and d.table.state.incident is None
    assert len(every(d.events, CardWithdrawn)) == 3
    recovered(d)


def test_row_30_a_card_of_them_that_was_scanned_while_the_scanner_was_away_is_scanned_once_more() -> None:
    d = again(noticed(in_the_deal(6, {0: OTHER})), TRUE[:3])
    d.unplug()
    d.plug()
    d.answer(True)
    d.scan(TRUE[3])
    assert only(d.last, IncidentOpened).kind is IncidentKind.SAME_CODE_AGAIN
    d.answer(True)
    assert d.table.state.incident_state is IncidentState.RESCAN
    again(d, TRUE[3:6])
    assert lying(d) == TRUE[:6]


def test_row_30_a_card_that_was_drawn_meanwhile_is_nobodys_and_the_scanning_goes_on() -> None:
    d = again(noticed(in_the_deal(6, {0: OTHER})), TRUE[:3])
    d.unplug()
    d.plug()
    d.answer(True)
    d.scan(TRUE[6])
    assert only(d.last, IncidentOpened).kind is IncidentKind.SURPLUS_CARD
    d.answer(False)
    assert only(d.last, CardBurned) and d.table.state.incident_state is IncidentState.RESCAN
    again(d, TRUE[3:6])
    assert lying(d) == TRUE[:6] and d.table.state.incident is None


# What the others hear.


@pytest.mark.parametrize(
    "wrong", [{0: OTHER}, {1: OTHER}, {3: TRUE[2], 2: TRUE[3]}, {1: TRUE[3], 3: TRUE[1]}]
)
def test_the_board_of_every_audience_is_the_table_again(wrong: Mapping[int, str]) -> None:
    d = again(noticed(in_the_deal(6, wrong)))
    assert shown(d) == draw(d.table.state).places
    for audience in AUDIENCES:
        snapshot = board(d, audience)
        if audience is Audience.SETTLEMENT:
            continue
        assert snapshot.incident is None
        for laid in d.table.state.in_play.laid:
            card = snapshot.places[laid.place][laid.n - 1]
            assert (card.n, card.reading, card.commitment) == (laid.n, laid.reading, laid.commitment)


def test_the_board_shows_the_card_that_is_scanned_now() -> None:
    d = again(noticed(in_the_deal(6, {})), TRUE[:4])
    incident = board(d, Audience.PUBLIC).incident
    assert incident is not None
    assert (incident.cell, incident.prompt, incident.place, incident.n) == (
        "RPL-75",
        "SCAN_FROM_FIRST",
        "box1",
        2,
    )


def proves(card: OpenedCard, commitment: str | None) -> bool:
    assert card.key is not None
    text = commitment_text(
        table="rp1",
        roundid="rp1-1",
        deal=card.deal,
        place=card.place,
        n=card.n,
        reading=card.reading,
        card=str(card.card),
    )
    return commit(card.key, text) == commitment


ENDS: dict[str, Callable[[Dealt], object]] = {
    "confirmed": lambda d: (d.deal(14), finish(d, Phase.CONFIRMED)),
    "cancelled": lambda d: (
        d.press(i.Observed(IncidentKind.DEVICE_FAILED)),
        d.press(i.ConfirmCancel(), BORIS),
    ),
}


@pytest.mark.parametrize("end", ENDS)
def test_every_reading_that_was_withdrawn_is_opened_once_by_the_end(end: str) -> None:
    d = again(noticed(in_the_deal(6, {0: OTHER, 2: TRUE[3], 3: TRUE[2]})))
    ENDS[end](d)
    committed = {
        (event.place, event.n, event.reading): event.commitment
        for event in every(d.events, CardDealt)
        if event.commitment is not None
    }
    turned = [card for event in every(d.events, CardsRevealed) for card in event.cards]
    ended = [event for event in d.events if hasattr(event, "opened")]
    opened = [*turned, *ended[-1].opened]
    assert len({(card.place, card.n, card.reading) for card in opened}) == len(opened) == len(committed)
    for card in opened:
        assert proves(card, committed[card.place, card.n, card.reading])
    first = {(card.place, card.n): card.card for card in opened if card.reading == 1}
    assert (first["box1", 1], first["box3", 1], first["dealer", 1]) == (OTHER, TRUE[3], TRUE[2])


def told(d: Dealt, audience: Audience) -> list[bytes]:
    steps = [tuple(masked(event) for event in events) for events in d.steps]
    seen = [[event.seen_by(audience) for event in events if audience in event.audiences] for events in steps]
    return [encode_events(tuple(event for event in step if event is not None)) for step in seen]


@pytest.mark.parametrize("audience", AUDIENCES)
@pytest.mark.parametrize("index", [0, 2, 3])
def test_nobody_learns_from_the_scanning_which_hidden_card_was_wrong_before_it_is_over(
    index: int, audience: Audience
) -> None:
    right, wrong = (noticed(in_the_deal(6, read)) for read in ({}, {index: OTHER}))
    for d in (right, wrong):
        again(d, TRUE[:5])
    assert told(right, audience) == told(wrong, audience)
    assert draw(right.table.state) == draw(wrong.table.state)


@pytest.mark.parametrize("audience", AUDIENCES)
@pytest.mark.parametrize("index", [0, 2, 3])
def test_nobody_learns_what_a_corrected_hidden_card_was_or_is(index: int, audience: Audience) -> None:
    """The same correction of one hidden card from another one, to another one: the same messages."""
    runs = []
    for was, now in ((OTHER, TRUE[index]), ("2h", TRUE[index]), (OTHER, "2h")):
        d = noticed(in_the_deal(6, {index: was}))
        cards = list(TRUE[:6])
        cards[index] = now
        runs.append(told(again(d, cards), audience))
    assert runs[0] == runs[1] == runs[2]


@pytest.mark.parametrize("seed", range(6))
def test_the_invariants_hold_in_every_step_of_it(seed: int) -> None:
    d = in_the_deal(6, {seed: OTHER})
    watcher = Watcher()
    watcher.check(d)
    noticed(d)
    for card in TRUE[:6]:
        d.scan(card)
        watcher.check(d)
    d.deal(14)
    finish(d, Phase.CONFIRMED)
    watcher.check(d)
    assert only(d.events, RoundConfirmed) and every(d.events, ResultProposed)
