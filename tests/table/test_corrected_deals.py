"""Corrections of rounds that did not go straight: redeals, voided boxes, cards that waited or were burned."""

from __future__ import annotations

import pytest
from table.dealt import ANNA, BORIS, Dealt, every, only, refusal
from table.test_corrections import correct, propose, wagers
from table.test_decisions import OPEN, dealt, decide
from table.test_redeal import at_options, in_the_deal, played_out, redealt, shuffled

from controller.games.procedure import HELD
from controller.games.published import Outcome, Result
from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import (
    Audience,
    BoxVoided,
    CardAt,
    CardBurned,
    CardDealt,
    CardHeld,
    IncidentKind,
    Refusal,
    RoundClosed,
    RoundConfirmed,
    RoundCorrected,
)
from controller.table.picture import draw

MISCOUNT = i.Observed(IncidentKind.WRONG_NUMBER_OF_CARDS, "box1")


def of_box(outcome: Outcome, name: str) -> set[Result]:
    """Return what became of the wagers of one box."""
    box = outcome.box(name)
    rows = [*(row for hand in box.hands for row in hand.rows.values()), box.fold or {}, box.bonus or {}]
    return {judged.outcome for row in rows for judged in row.values()}


def confirmed_in_deal_2() -> Dealt:
    """Deal 1 is abandoned in options time, while a card waits; deal 2 is confirmed and cleared."""
    d = at_options()
    d.scan()
    d.answer(False)
    return played_out(shuffled(redealt(d)), 2)


def test_oab_24_a_correction_says_again_what_comes_back_of_the_abandoned_deal() -> None:
    d = confirmed_in_deal_2()
    first = only(d.events, RoundConfirmed)
    dealers = next(card for card in every(d.events, CardDealt) if (card.place, card.deal) == ("dealer", 2))
    waited = d.table.state.in_play.abandoned[-1]
    assert waited.place == HELD
    abandoned = str(waited.card)
    corrected = correct(d, (CardAt("dealer", dealers.n, abandoned),))
    assert first.voided and corrected.voided == first.voided
    assert corrected.refund is None and abandoned in corrected.outcome.dealer.cards
    assert only(d.last, RoundClosed).rev == 2
    told = corrected.seen_by(Audience.PUBLIC)
    assert isinstance(told, RoundCorrected) and told.voided == ()
    for audience in (Audience.BETTING, Audience.SETTLEMENT, Audience.AUDIT):
        heard = corrected.seen_by(audience)
        assert isinstance(heard, RoundCorrected) and heard.voided == first.voided


def test_oab_24_a_refund_says_it_too() -> None:
    d = confirmed_in_deal_2()
    d.press(i.ClearTable())
    corrected = correct(d)
    assert corrected.refund == "all" and wagers(corrected.outcome) == {Result.REFUND}
    assert corrected.voided == only(d.events, RoundConfirmed).voided


def test_oab_24_an_older_round_is_not_corrected_in_the_shuffle_of_a_redeal() -> None:
    """The round is in play, and its deck is shuffled as between two rounds."""
    d = confirmed_in_deal_2()
    d.press(i.ClearTable())
    propose(d)
    d.shoe = list(in_the_deal().shoe)
    d.press(i.ConfirmShuffle())
    d.press(i.OpenBetting())
    d.press(i.CloseBetting())
    d.bets()
    redealt(d.deal(4))
    assert d.phase is Phase.SHUFFLING and d.table.state.round_no == 2
    assert not {"approve_correction", "withdraw_correction"} & set(draw(d.table.state).buttons)
    for command in (
        i.ProposeCorrection("rp1-1", i.CorrectionReason.WRONG_RESULT, ()),
        i.ApproveCorrection("rp1-1", ()),
        i.WithdrawCorrection(),
    ):
        assert refusal(d.press(command, "clara")) is Refusal.WRONG_PHASE


def voided_while(decides: bool) -> Dealt:
    """Box 1 is out of the round, before or after it has decided; box 2 bets, the result is confirmed."""
    d = dealt("golden_oasis", box1=OPEN, box2=OPEN)
    if decides:
        decide(d, "options", "box1", "BET")
    d.press(MISCOUNT)
    d.press(i.VoidBox("box1"), BORIS)
    assert only(d.last, BoxVoided).box == "box1"
    decide(d, "options", "box2", "BET")
    d.turn("dealer")
    d.press(i.ConfirmResult())
    return d


@pytest.mark.parametrize("decides", [True, False])
def test_row_24_a_voided_box_stays_refunded_in_a_corrected_result(decides: bool) -> None:
    d = voided_while(decides)
    first = only(d.events, RoundConfirmed).outcome
    hidden = next(card for card in every(d.events, CardDealt) if card.place == "dealer" and card.card is None)
    corrected = correct(d, (CardAt("dealer", hidden.n, str(d.shoe[0])),))
    assert corrected.refund is None and corrected.outcome.dealer != first.dealer
    assert of_box(corrected.outcome, "box1") == {Result.REFUND} == of_box(first, "box1")
    assert of_box(corrected.outcome, "box2") - {Result.REFUND}
    assert correct(d).refund == "all"


def test_row_23a_a_card_that_waited_lies_once() -> None:
    """Its commitment is opened twice, as that of a held card and of the place it went to."""
    d = dealt("royal_poker", box1=OPEN)
    d.scan()
    d.answer(False)
    held = d.table.state.in_play.held[0]
    assert only(d.last, CardHeld).n == 1
    decide(d, "options", "box1", "EXCHANGE", 1)
    finished(d)
    hidden = next(card for card in every(d.events, CardDealt) if card.place == "dealer" and card.card is None)
    assert propose(d, (CardAt("dealer", hidden.n, str(held.card)),)) is Refusal.IMPOSSIBLE_CARD
    assert correct(d, (CardAt("dealer", hidden.n, str(d.shoe[0])),)).refund is None


@pytest.mark.parametrize("waits", [True, False])
def test_a_card_that_lies_aside_cannot_have_lain_on_a_place(waits: bool) -> None:
    d = dealt("royal_poker" if waits else "caribbean_poker", box1=OPEN)
    d.scan()
    d.answer(False)
    aside = d.table.state.in_play.held if waits else d.table.state.in_play.burned
    [card] = [str(laid.card) for laid in aside]
    assert every(d.last, CardHeld if waits else CardBurned)
    finished(d)
    hidden = next(card for card in every(d.events, CardDealt) if card.place == "dealer" and card.card is None)
    assert propose(d, (CardAt("dealer", hidden.n, card),)) is Refusal.IMPOSSIBLE_CARD


def finished(d: Dealt) -> None:
    """Everybody bets who still decides, cards are dealt and turned, the result is confirmed."""
    for _ in range(40):
        prompt, window = draw(d.table.state).prompt, d.table.state.in_play.window
        match prompt.code:
            case "DEAL_CARD":
                d.scan()
            case "WAIT_FOR_PLAYERS":
                assert window is not None and window.decides is not None
                for box in window.decides.boxes:
                    decide(d, window.window, box, "BET")
            case "TURN":
                d.press(i.TurnCards(prompt.place or ""))
            case "CONFIRM_RESULT":
                d.press(i.ConfirmResult(), ANNA)
                return
            case code:
                raise AssertionError(code)
    raise AssertionError("the round does not end")
