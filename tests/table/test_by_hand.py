"""Manual mode (row 30): the scanner stays away, and two people enter every card that becomes due."""

from __future__ import annotations

import msgspec
import pytest
from profiles import profile
from table.cells import finish, play_on
from table.dealt import ANNA, BORIS, DORA, FAILS, Dealt, cancelled, every, only, refusal
from table.test_decisions import OPEN, bets_closed

from controller.cards import DECK
from controller.games.procedure import Deal
from controller.table import inputs as i
from controller.table.charts import IncidentState, Phase
from controller.table.events import (
    CardBurned,
    CardDealt,
    CardEntered,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    Refusal,
    ResultProposed,
    RoundConfirmed,
    Verdict,
)
from controller.table.inputs import CancelReason
from controller.table.picture import draw
from controller.table.situations import Axis, Known

GONE_MS = 120_000


def golden() -> Dealt:
    """Golden Oasis with one box, four cards lie."""
    return bets_closed("golden_oasis", box1=OPEN).deal(4)


def gone(d: Dealt) -> Dealt:
    """The scanner has been gone for two minutes."""
    d.unplug()
    d.advance(GONE_MS)
    assert draw(d.table.state).prompt.code == "GONE_TOO_LONG"
    return d


def ordered(d: Dealt) -> Dealt:
    """A supervisor has the round go on without it."""
    gone(d)
    assert refusal(d.press(i.OrderEntry(), BORIS)) is None
    return d


def enter(d: Dealt, *actors: str, card: str | None = None) -> None:
    """Two people enter the next card of the shoe."""
    card = card or str(d.shoe.pop(0))
    incident = d.table.state.incident
    assert incident is not None
    for actor in actors or (ANNA, BORIS):
        assert refusal(d.press(i.EnterCard(incident.number, card), actor)) is None


def prompt(d: Dealt) -> str:
    return draw(d.table.state).prompt.code


def by_hand_to(d: Dealt, phase: Phase) -> Dealt:
    """Play on to this phase; every card is entered."""
    for _ in range(60):
        if d.phase is phase:
            return d
        if prompt(d) == "ENTER_CARD":
            enter(d)
        else:
            play_on_without_cards(d)
    raise AssertionError(d.phase)


def play_on_without_cards(d: Dealt) -> None:
    assert not isinstance(d.table.state.in_play.run.owed, Deal), prompt(d)
    play_on(d)


def test_one_order_lasts_for_the_outage_and_every_card_is_a_case_of_its_own() -> None:
    d = ordered(golden())
    decided = only(d.last, IncidentDecided)
    assert (decided.verdict, decided.cell, decided.by) == (Verdict.BY_HAND, "30 gone", BORIS)
    for n in range(6):
        shown = draw(d.table.state)
        step = d.table.state.in_play.run.owed
        assert isinstance(step, Deal)
        assert (shown.prompt.code, shown.prompt.place, shown.prompt.n) == ("ENTER_CARD", step.place, step.n)
        assert {"enter_card", "confirm_cancel"} <= set(shown.buttons) and "order_rescan" not in shown.buttons
        enter(d)
        assert only(d.last, CardDealt).manual and only(d.last, CardEntered).by == (ANNA, BORIS)
        assert every(d.last, IncidentDecided)[0].verdict is Verdict.ENTERED, n
    assert not d.table.state.halts.blocks, "one outage is one case for the breaker (row 42)"


def test_the_result_is_that_of_the_same_cards_scanned_and_names_those_that_were_entered() -> None:
    scanned = golden()
    finish(scanned, Phase.CONFIRMED)
    d = by_hand_to(ordered(golden()), Phase.CONFIRMED)
    confirmed = only(d.last, RoundConfirmed)
    assert confirmed.outcome == only(scanned.last, RoundConfirmed).outcome
    dealt = every(d.events, CardDealt)
    assert [card.manual for card in dealt] == [False] * 4 + [True] * (len(dealt) - 4)
    assert len(confirmed.manual) == len(dealt) - 4
    hidden = [card for card in dealt if card.face == "down" and card.manual]
    assert hidden and all(card.card is None and card.commitment for card in hidden)


def test_no_round_opens_before_the_scanner_is_back_and_the_deck_is_checked() -> None:
    d = by_hand_to(ordered(golden()), Phase.CONFIRMED)
    d.press(i.ClearTable())
    assert d.phase is Phase.DECK_CHECK
    d.press(i.VerifyDeck(52))
    d.press(i.ConfirmShuffle())
    assert refusal(d.press(i.OpenBetting())) is Refusal.SCANNER_DOWN
    d.plug()
    d.shoe = list(DECK)
    assert refusal(d.press(i.OpenBetting())) is None
    assert not d.table.state.in_play.by_hand


def test_the_scanner_comes_back_while_a_card_is_entered() -> None:
    """The usual question, then scanning; what one person has entered counts no more."""
    d = ordered(golden())
    enter(d)
    enter(d, ANNA, card=str(d.shoe[0]))
    d.plug()
    assert prompt(d) == "CARD_DRAWN" and draw(d.table.state).entered_by is None
    d.answer(True)
    assert prompt(d) == "SCAN_DRAWN_CARD"
    d.scan()
    assert not only(d.last, CardDealt).manual and prompt(d) == "DEAL_CARD"
    d.scan()
    assert not only(d.last, CardDealt).manual
    finish(d, Phase.CONFIRMED)
    assert len(only(d.last, RoundConfirmed).manual) == 1


def test_the_scanner_comes_back_as_another_device() -> None:
    d = golden()
    d.unplug()
    d.plug("a")
    d.answer(False)
    ordered(d)
    d.plug("b")
    assert prompt(d) == "OTHER_SCANNER"
    d.press(i.GoOn(), BORIS)
    d.answer(False)
    d.deal(1)


def test_the_scanner_comes_back_while_players_choose_and_goes_again() -> None:
    d = by_hand_to(ordered(golden()), Phase.DECIDING)
    assert d.table.state.incident is None
    d.plug()
    assert prompt(d) == "CARD_DRAWN"
    d.answer(False)
    d.unplug()
    assert d.table.state.incident_state is IncidentState.LOST
    d.advance(GONE_MS)
    assert prompt(d) == "GONE_TOO_LONG", "another outage takes another order"


@pytest.mark.parametrize("entries", [0, 1])
def test_a_restart_goes_on_where_it_was(entries: int) -> None:
    d = ordered(golden())
    enter(d)
    card = str(d.shoe.pop(0))
    if entries:
        enter(d, ANNA, card=card)
    d.start()
    d.advance(GONE_MS - 1_000)
    d.confirm_picture()
    assert prompt(d) == "ENTER_CARD"
    enter(d, *((BORIS,) if entries else ()), card=card)
    assert only(d.last, CardDealt).manual
    by_hand_to(d, Phase.CONFIRMED)


def test_a_restart_brings_the_scanner_back() -> None:
    d = ordered(golden())
    d.start()
    d.plug()
    d.confirm_picture()
    assert prompt(d) == "CARD_DRAWN"
    d.answer(False)
    d.deal(1)


def test_a_supervisor_may_cancel_at_any_card_and_silence_cancels() -> None:
    d = ordered(golden())
    enter(d)
    d.press(i.ConfirmCancel(), BORIS)
    cancelled(d, CancelReason.TECHNICAL)
    d = ordered(golden())
    d.advance(60_000)
    assert draw(d.table.state).escalated
    d.advance(120_000)
    assert d.phase is Phase.CANCELLED


def test_a_result_is_confirmed_without_the_scanner() -> None:
    d = golden()
    finish(d, Phase.RESULT_PROPOSED)
    ordered(d)
    assert prompt(d) == "CONFIRM_RESULT"
    d.press(i.ConfirmResult())
    assert only(d.last, RoundConfirmed).manual == ()


def test_no_card_is_asked_for_before_it_is_due() -> None:
    """Betting time has ended and nobody has acknowledged it: the guard runs."""
    d = golden()
    finish(d, Phase.CONFIRMED)
    d.press(i.ClearTable())
    d.press(i.ConfirmShuffle())
    d.shoe = list(DECK)
    short = profile("default", scanner_gone_s=1, order_run=52)
    d.table.state.settings = msgspec.structs.replace(d.settings, profile=short)
    d.press(i.OpenBetting())
    d.advance(14_400)
    d.unplug()
    d.advance(1_100)  # Grace and guard begin at 15 s; the scanner is gone for too long at 15.4 s.
    assert d.phase is Phase.DEALING and prompt(d) == "GONE_TOO_LONG"
    d.advance(100)
    d.press(i.OrderEntry(), BORIS)
    d.advance(1)
    assert d.table.state.incident is None
    d.advance(1_000)
    assert prompt(d) == "ENTER_CARD"
    enter(d)
    assert only(d.last, CardDealt).manual


def test_the_burn_of_a_new_dealer_is_entered_too() -> None:
    burns = profile("default", scanner_gone_s=1, order_run=52, burn_at_dealer_change=True)
    d = golden()
    finish(d, Phase.CONFIRMED)
    d.press(i.ClearTable())
    d.table.state.settings = msgspec.structs.replace(d.settings, profile=burns)
    d.press(i.ConfirmShuffle())
    d.press(i.LogOut())
    d.log_in(DORA)
    d.shoe = list(DECK)
    d.press(i.OpenBetting(), DORA)
    d.press(i.CloseBetting(), DORA)
    d.unplug()
    d.advance(20_000)
    d.press(i.OrderEntry(), BORIS)
    assert draw(d.table.state).prompt.place == "burn"
    enter(d, DORA, BORIS)
    assert only(d.last, CardBurned).manual and prompt(d) == "ENTER_CARD"


def test_a_wrong_entry_is_noticed_late_and_all_cards_are_entered_again() -> None:
    """The two agreed on another card; a report over the open entry leads to row 2."""
    d = ordered(golden())
    true, wrong = str(d.shoe.pop(0)), str(d.shoe[-1])
    enter(d, card=wrong)
    laid = [str(card.card) for card in d.table.state.in_play.laid]
    d.press(i.Observed(IncidentKind.MISREAD_LATE))
    d.answer(True)
    for card in (*laid[:-1], true):
        assert prompt(d) == "ENTER_CARD"
        enter(d, card=card)
    assert [str(card.card) for card in d.table.state.in_play.laid] == [*laid[:-1], true]
    assert all(card.manual for card in d.table.state.in_play.laid)
    assert prompt(d) == "ENTER_CARD" and draw(d.table.state).incident_kind == IncidentKind.SCANNER_LOST
    by_hand_to(d, Phase.CONFIRMED)


def test_a_surplus_card_is_entered_before_it_is_burned() -> None:
    d = by_hand_to(ordered(golden()), Phase.DECIDING)
    d.press(i.Observed(IncidentKind.SURPLUS_CARD))
    d.answer(False)
    assert prompt(d) == "ENTER_DRAWN_CARD"
    enter(d)
    assert only(d.last, CardBurned).manual and d.table.state.incident is None


def test_a_scan_that_another_case_waits_for_is_an_entry_too() -> None:
    """The scanner fails to read a card and goes away for good."""
    d = golden()
    d.fail()
    d.unplug()
    d.advance(GONE_MS)
    d.press(i.OrderEntry(), BORIS)
    incident = d.table.state.incident
    assert incident is not None and incident.kind is IncidentKind.FAILED_READ
    enter(d)
    assert only(d.last, CardDealt).manual and prompt(d) == "ENTER_CARD"


def test_rpl_75_the_initial_deal_of_live_russian_poker_is_never_entered() -> None:
    d = gone(Dealt(FAILS).to_dealing().deal(19))
    assert draw(d.table.state).buttons == ("confirm_cancel",)
    assert refusal(d.press(i.OrderEntry(), BORIS)) is Refusal.NOT_OFFERED


def test_rpl_75_the_switch_cards_of_live_russian_poker_are() -> None:
    d = ordered(Dealt(FAILS).to_switch())
    for _ in range(5):
        enter(d)
    d.all_decided("final_options")
    d.turn()
    d.all_decided("buy_time")
    d.press(i.LayCardAside())
    enter(d)
    assert [(card.place, card.n) for card in only(d.last, ResultProposed).manual] == [
        *(("switch", n) for n in range(1, 6)),
        ("dealer", 6),
    ]
    d.press(i.ConfirmResult())
    assert d.phase is Phase.CONFIRMED


def test_only_a_supervisor_orders_it_and_only_when_the_scanner_is_gone_for_too_long() -> None:
    d = golden()
    d.unplug()
    assert refusal(d.press(i.OrderEntry(), BORIS)) is Refusal.WRONG_PHASE
    d.advance(GONE_MS)
    assert refusal(d.press(i.OrderEntry(), ANNA)) is Refusal.WRONG_ROLE
    case = d.table.state.incident
    assert case is not None and case.values[Axis.GONE] is Known.YES
    assert only(every(d.events, IncidentOpened), IncidentOpened).cell == "30"


def test_oab_24_a_redeal_waits_for_the_scanner() -> None:
    d = ordered(bets_closed("oasis_with_bonus", box1=OPEN).deal(4))
    enter(d)
    d.press(i.Observed(IncidentKind.WRONG_NUMBER_OF_CARDS, "box1"))
    d.press(i.OrderRedeal(), BORIS)
    assert d.phase is Phase.SHUFFLING and not d.table.state.incidents
    assert refusal(d.press(i.ConfirmShuffle())) is Refusal.SCANNER_DOWN
    d.plug()
    d.shoe = list(DECK)
    assert refusal(d.press(i.ConfirmShuffle())) is None
    d.deal(1)
    assert not only(d.last, CardDealt).manual
