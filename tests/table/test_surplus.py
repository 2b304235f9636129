"""Surplus cards (RPL-71, RPL-72), and what a cancel opens (RPL-73)."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable

import pytest
from table.dealt import (
    BORIS,
    CLARA,
    FAILS,
    IN_A_ROUND,
    Dealt,
    cancelled,
    every,
    only,
    refusal,
)

from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import (
    CardBurned,
    CardDealt,
    CardWithdrawn,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    OpenedCard,
    Refusal,
    ResultProposed,
    RoundConfirmed,
    Verdict,
)
from controller.table.inputs import CancelReason

NOT_DUE: dict[str, tuple[Callable[[Dealt], object], IncidentKind]] = {
    "betting": (Dealt.to_betting, IncidentKind.EARLY_DRAW),
    "before the guard": (lambda d: (d.to_betting(), d.press(i.CloseBetting())), IncidentKind.EARLY_DRAW),
    "options": (Dealt.to_options, IncidentKind.EARLY_EXCHANGE),
    "final options": (Dealt.to_final_options, IncidentKind.SURPLUS_CARD),
    "turns": (Dealt.to_turns, IncidentKind.SURPLUS_CARD),
    "buy time": (Dealt.to_buy_time, IncidentKind.EARLY_EXCHANGE),
}


@pytest.mark.parametrize("where", NOT_DUE)
def test_rpl_71_a_card_that_is_not_due_and_not_seen_is_burned(where: str) -> None:
    d = Dealt(FAILS)
    reach, kind = NOT_DUE[where]
    reach(d)
    phase = d.phase
    d.scan("2s")
    assert only(d.last, IncidentOpened).kind is kind
    assert refusal(d.scan("2s")) is Refusal.HELD  # The same card once more: it is no further one.
    d.answer(False)
    burned = only(d.last, CardBurned)
    assert (burned.n, burned.reason) == (1, kind)
    assert only(d.last, IncidentDecided).verdict is Verdict.BURNED
    assert d.phase is phase and d.table.state.incident is None


@pytest.mark.parametrize("where", NOT_DUE)
def test_rpl_71_seen_with_a_decision_to_come_it_cancels(where: str) -> None:
    d = Dealt(FAILS)
    NOT_DUE[where][0](d)
    d.scan("2s")
    d.answer(True)
    cancelled(d, CancelReason.EXTRA_CARD)


@pytest.mark.parametrize("seen", [True, False])
def test_rpl_71_after_the_last_decision_it_is_burned_seen_or_not(seen: bool) -> None:
    d = Dealt(FAILS).to_buy_time()
    d.all_decided("buy_time", anyone_bought=True)
    d.scan("2s")
    d.answer(seen)
    assert only(d.last, CardBurned)
    d.press(i.LayCardAside())
    d.deal(1)
    d.scan("2h")  # RPL-34: two cards slide out, the second is burned.
    d.answer(seen)
    assert only(d.last, CardBurned).n == 2
    assert d.phase is Phase.RESULT_PROPOSED


def test_rpl_71_the_proposed_result_stands_and_waits_for_the_answer() -> None:
    d = Dealt().to_result()
    d.scan("2s")
    assert refusal(d.press(i.ConfirmResult())) is Refusal.HELD
    d.answer(True)
    assert only(d.last, CardBurned) and not every(d.last, ResultProposed)
    d.press(i.ConfirmResult())
    opened = only(d.last, RoundConfirmed).opened
    assert [(card.place, card.card) for card in opened] == [("burn", "2s")]


@pytest.mark.parametrize(("dealt", "place"), [(1, "box1"), (4, "dealer"), (19, "box3")])
def test_rpl_71_the_last_card_face_down_may_be_called_surplus(dealt: int, place: str) -> None:
    d = Dealt().to_dealing().deal(dealt)
    card = d.table.state.in_play.laid[-1].card
    d.press(i.CallSurplus())
    d.answer(False)
    withdrawn = only(d.last, CardWithdrawn)
    assert (withdrawn.place, withdrawn.reason) == (place, IncidentKind.SURPLUS_CARD)
    assert only(d.last, CardBurned).n == 1
    d.shoe.append(card)
    d.deal(1)  # The next card goes to the place that is free again, as its second reading.
    again = only(d.last, CardDealt)
    assert (again.place, again.reading) == (place, 2)
    d.scan(str(card))
    assert only(d.last, IncidentOpened).kind is IncidentKind.SAME_CODE_AGAIN


def test_rpl_71_a_called_surplus_card_that_was_seen_is_a_report() -> None:
    d = Dealt().to_dealing().deal(3)
    d.press(i.CallSurplus(), BORIS)
    d.answer(True, BORIS)
    assert d.phase is Phase.DEALING
    assert refusal(d.press(i.ConfirmCancel(), BORIS)) is Refusal.SAME_PERSON
    d.press(i.ConfirmCancel(), CLARA)
    cancelled(d, CancelReason.EXTRA_CARD)


def test_rpl_72_a_surplus_card_that_lies_open_is_a_report() -> None:
    d = Dealt().to_dealing().deal(2)  # The main box lies open: everybody has seen it.
    d.press(i.CallSurplus())
    assert only(d.last, IncidentOpened).kind is IncidentKind.SURPLUS_CARD
    d.press(i.ConfirmCancel(), BORIS)
    cancelled(d, CancelReason.EXTRA_CARD)


@pytest.mark.parametrize("where", ["dealing", "switch"])
def test_rpl_72_extra_cards_on_a_place_are_reported_and_cancel(where: str) -> None:
    d = IN_A_ROUND[where](Dealt())
    d.press(i.Observed(IncidentKind.WRONG_NUMBER_OF_CARDS, "switch" if where == "switch" else "box1"))
    d.press(i.ConfirmCancel(), BORIS)
    cancelled(d, CancelReason.WRONG_NUMBER_OF_CARDS)


def test_rpl_71_no_card_before_the_first_and_none_after_a_press_may_be_called_surplus() -> None:
    first = Dealt().to_dealing()
    assert refusal(first.press(i.CallSurplus())) is Refusal.TOO_LATE
    turned = Dealt().to_turns()
    assert refusal(turned.press(i.CallSurplus())) is Refusal.TOO_LATE


# RPL-73: what a cancel opens.


def test_rpl_73_every_commitment_of_a_cancelled_round_can_be_verified() -> None:
    d = Dealt().to_options()
    d.scan("2s")
    d.answer(False)
    d.all_decided("options")
    d.deal(4)
    d.press(i.CallSurplus())
    d.answer(False)
    d.scan("3d")
    d.press(i.DisputeReading())
    d.scan("3s")
    d.press(i.Observed(IncidentKind.DEVICE_FAILED))
    d.press(i.ConfirmCancel(), BORIS)
    committed = {
        (card.place, card.n, card.reading): card.commitment for card in every(d.events, CardDealt)
    } | {("burn", card.n, 1): card.commitment for card in every(d.events, CardBurned)}
    opened = cancelled(d, CancelReason.TECHNICAL).opened
    assert len(opened) == 5 + 5 + 4 + 6 + 2  # Boxes 1 and 3, dealer, switch cards with two readings, burned.
    for card in opened:
        assert _signed(card) == committed.pop((card.place, card.n, card.reading))
    assert not any(committed.values()), "a commitment stays closed"


def _signed(card: OpenedCard) -> str:
    assert card.key is not None
    text = f"tablectl:1|rp1|rp1-1|{card.deal}|{card.place}|{card.n}|{card.reading}|{card.card}"
    return hmac.new(bytes.fromhex(card.key), text.encode(), hashlib.sha256).hexdigest()


def test_row_23a_an_exchange_dealt_too_early_is_named_so() -> None:
    d = Dealt(FAILS).to_options()
    d.scan("2s")
    assert only(d.last, IncidentOpened).cell == "23a"
    early = Dealt(FAILS).to_betting()
    early.scan("2s")
    assert only(early.last, IncidentOpened).cell == "7"


def test_rpl_71_a_called_surplus_card_may_be_taken_back_before_the_supervisor_decides() -> None:
    d = Dealt().to_dealing().deal(5)
    d.press(i.CallSurplus())
    d.answer(True)
    d.press(i.WithdrawReport())
    assert only(d.last, IncidentDecided).verdict is Verdict.WITHDRAWN
    assert len(d.table.state.in_play.laid) == 5 and d.table.state.incident is None


def test_rpl_73_a_surplus_card_that_cancels_is_bound_and_opened() -> None:
    d = Dealt(FAILS).to_options()
    d.scan("2s")
    d.answer(True)
    burned = only(d.last, CardBurned)
    opened = cancelled(d, CancelReason.EXTRA_CARD).opened
    assert burned.commitment and [card.card for card in opened if card.place == "burn"] == ["2s"]


@pytest.mark.parametrize("how", ["unplugged", "restarted"])
def test_a_surplus_card_scanned_again_after_an_outage_is_the_same_card(how: str) -> None:
    """Found by an attack: its second reading was asked about as another card, and burning both stopped us."""
    d = Dealt(FAILS).to_options()
    d.scan("2s")
    if how == "unplugged":
        d.unplug()
    else:
        d.start()
    d.plug()
    if how == "restarted":
        d.confirm_picture()
        d.all_decided("options")
        d.press(i.GoOn(), BORIS)
    d.answer(True)
    d.scan("2s")
    assert only(d.last, IncidentDecided).verdict is Verdict.DUPLICATE_READ
    d.answer(False)
    assert only(d.last, CardBurned) and d.table.state.incident is None
