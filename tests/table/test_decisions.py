"""Windows in which each box decides and its cards follow at once: Oasis with bonus, Grandmaster's, Royal."""

from __future__ import annotations

import tomllib
from pathlib import Path

import msgspec
import pytest
from profiles import profile
from table.dealt import BETS, BORIS, SETTINGS, Dealt, cancelled, every, only, refusal

from controller.cards import DECK, Card
from controller.games.procedure import BoxState
from controller.games.published import Result
from controller.games.registry import GAMES
from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import (
    Audience,
    BoxVoided,
    CardDealt,
    CardHeld,
    CardsRevealed,
    DecisionClosed,
    DecisionMade,
    DecisionOpened,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    Refusal,
    RoundConfirmed,
    Verdict,
)
from controller.table.inputs import CancelReason
from controller.table.picture import draw

CONFIG = Path(__file__).parents[2] / "config" / "games"
OPEN, DARK, EMPTY = BoxState.OPEN, BoxState.DARK, BoxState.EMPTY


def dealt(name: str, shoe: str = "", **boxes: BoxState) -> Dealt:
    """Return a table of this game with its initial deal done; `shoe` comes first."""
    d = bets_closed(name, shoe, **boxes)
    in_play = sum(state is not EMPTY for state in boxes.values())
    return d.deal(5 * (in_play + 1))


def bets_closed(name: str, shoe: str = "", **boxes: BoxState) -> Dealt:
    """Return a table of this game whose first card is due."""
    game = GAMES[name].build(tomllib.loads((CONFIG / f"{name}.toml").read_text()))
    states = {box: boxes.get(box, EMPTY) for box in game.boxes}
    shipped = profile("oasis_with_bonus" if game.redeals else "default", order_run=52)
    settings = msgspec.structs.replace(
        SETTINGS, boxes_not_told=dict.fromkeys(game.boxes, OPEN), profile=shipped
    )
    d = Dealt(game=game, settings=settings)
    first = [Card.parse(text) for text in shoe.split()]
    d.shoe = [*first, *(card for card in DECK if card not in first)]
    d.to_betting()
    d.press(i.CloseBetting())
    d.press(i.BetsTaken(states), BETS)
    return d


def decide(d: Dealt, window: str, box: str, action: str, *positions: int) -> Refusal | None:
    return refusal(d.press(i.DecisionTaken(window, box, action, positions), BETS))


def test_oab_08_a_box_gets_its_cards_while_the_next_one_still_decides() -> None:
    d = dealt("oasis_with_bonus", box1=OPEN, box2=OPEN)
    opened = only(d.events, DecisionOpened)
    assert opened.boxes == ("box1", "box2") and opened.stage == "options"
    assert decide(d, "options", "box1", "EXCHANGE", 2, 4) is None
    assert d.phase is Phase.DECIDING and draw(d.table.state).prompt.code == "DEAL_CARD"
    d.scan()
    assert only(d.last, CardDealt).place == "box1"
    d.scan()
    assert d.phase is Phase.DECIDING and draw(d.table.state).prompt.code == "WAIT_FOR_PLAYERS"
    assert decide(d, "options", "box2", "BET") is None
    assert [event.boxes for event in every(d.events, DecisionOpened)] == [("box1", "box2"), ("box1",)]
    assert every(d.events, DecisionClosed)[-1].ended_by == "all_decided"


def test_oab_14_the_second_open_box_is_refused_before_the_first() -> None:
    d = dealt("oasis_with_bonus", box1=OPEN, box2=OPEN)
    assert decide(d, "options", "box2", "BET") is Refusal.NOT_ITS_TURN
    assert decide(d, "options", "box1", "BET") is None
    assert decide(d, "options", "box2", "BET") is None


def test_grp_19_answers_come_in_any_order_and_cards_in_dealing_order() -> None:
    d = dealt("grandmaster_russian_poker", box1=OPEN, box2=OPEN)
    assert decide(d, "options", "box2", "SIXTH_CARD") is None
    assert draw(d.table.state).prompt.code == "WAIT_FOR_PLAYERS"
    assert decide(d, "options", "box1", "EXCHANGE", 1) is None
    d.scan()
    assert only(d.last, CardDealt).place == "box1"
    d.scan()
    assert only(every(d.last, CardDealt), CardDealt).place == "box2"


@pytest.mark.parametrize(
    ("action", "positions"),
    [
        ("INSURANCE", ()),
        ("EXCHANGE", ()),
        ("EXCHANGE", (0,)),
        ("EXCHANGE", (6,)),
        ("EXCHANGE", (1, 1)),
        ("BET", (1,)),
    ],
)
def test_what_no_box_may_decide_is_refused(action: str, positions: tuple[int, ...]) -> None:
    d = dealt("royal_poker", box1=OPEN)
    assert decide(d, "options", "box1", action, *positions) is Refusal.WRONG_DECISION


def test_a_box_decides_once_and_only_in_its_window() -> None:
    d = dealt("grandmaster_russian_poker", box1=OPEN, box2=OPEN)
    assert decide(d, "final_options", "box1", "BET") is Refusal.WRONG_WINDOW
    assert decide(d, "options", "box3", "BET") is Refusal.UNKNOWN_PLACE
    assert decide(d, "options", "box1", "BET") is None
    assert decide(d, "options", "box1", "FOLD") is Refusal.ALREADY_DECIDED
    assert decide(d, "options", "box2", "BET") is None
    assert decide(d, "options", "box2", "BET") is Refusal.TOO_LATE


def test_d_52_silence_draws_nothing_and_is_told() -> None:
    d = dealt("grandmaster_russian_poker", box1=OPEN, box2=OPEN)
    decide(d, "options", "box2", "EXCHANGE", 5)
    d.advance(15_000)
    assert d.phase is Phase.DECIDING, "facts may still come in"
    d.advance(600)
    silent = [event for event in every(d.events, DecisionMade) if event.action is None]
    assert [event.box for event in silent] == ["box1"]
    d.scan()
    assert every(d.last, CardDealt)[0].place == "box2"


def test_a_decision_inside_the_grace_time_counts() -> None:
    d = dealt("royal_poker", box1=OPEN)
    d.advance(15_200)
    assert decide(d, "options", "box1", "EXCHANGE", 1) is None
    d.scan()
    assert only(every(d.last, CardDealt), CardDealt).n == 6


def test_row_23a_an_exchange_dealt_before_the_box_has_decided_is_an_early_draw() -> None:
    d = dealt("royal_poker", box1=OPEN)
    d.scan()
    assert only(d.last, IncidentOpened).cell == "23a"
    d.answer(True)
    assert {"void_box", "confirm_cancel"} <= set(draw(d.table.state).buttons)
    d.press(i.ConfirmCancel(), BORIS)
    cancelled(d, CancelReason.EXTRA_CARD)


def test_row_23a_an_early_exchange_card_that_nobody_saw_waits_for_the_first_exchange() -> None:
    d = dealt("royal_poker", box1=OPEN)
    card = d.scan()
    d.answer(False)
    held = only(d.last, CardHeld)
    assert held.n == 1 and only(d.last, IncidentDecided).verdict is Verdict.HELD
    assert decide(d, "options", "box1", "EXCHANGE", 1, 2) is None
    laid = only(d.last, CardDealt)
    assert (laid.place, laid.n, laid.held) == ("box1", 6, 1)
    d.scan()
    assert only(every(d.last, CardDealt), CardDealt).n == 7
    assert card


def test_row_24_a_box_that_is_voided_has_all_its_wagers_back_and_the_others_play_on() -> None:
    d = dealt("golden_oasis", box1=OPEN, box2=OPEN)
    d.press(i.Observed(IncidentKind.WRONG_NUMBER_OF_CARDS, "box1"))
    assert refusal(d.press(i.VoidBox("dealer"), BORIS)) is Refusal.UNKNOWN_PLACE
    d.press(i.VoidBox("box1"), BORIS)
    assert only(d.last, BoxVoided).box == "box1"
    assert decide(d, "options", "box2", "BET") is None  # Nobody waits for the voided box.
    d.turn("dealer")
    d.press(i.ConfirmResult())
    outcome = only(d.last, RoundConfirmed).outcome
    wagers = [row for hand in outcome.box("box1").hands for row in hand.rows.values()]
    assert wagers or outcome.box("box1").fold
    rows = [*wagers, *([outcome.box("box1").fold] if outcome.box("box1").fold else [])]
    assert all(judged.outcome is Result.REFUND for row in rows for judged in row.values())
    assert any(
        judged.outcome is not Result.REFUND
        for hand in outcome.box("box2").hands
        for row in hand.rows.values()
        for judged in row.values()
    )


def test_rpl_75_a_failed_exchange_card_is_scanned_again() -> None:
    d = dealt("royal_poker", box1=OPEN)
    decide(d, "options", "box1", "EXCHANGE", 1, 2)
    d.fail()
    d.scan()
    assert every(d.last, IncidentDecided)[0].verdict is Verdict.RESCANNED
    assert every(d.last, CardDealt)[0].place == "box1"


def test_a_window_that_a_restart_interrupts_goes_on_when_every_box_has_decided() -> None:
    d = dealt("grandmaster_russian_poker", box1=OPEN, box2=OPEN)
    decide(d, "options", "box1", "BET")
    d.start()
    d.plug()
    d.confirm_picture()
    assert refusal(d.press(i.GoOn(), BORIS)) is Refusal.TOO_EARLY
    assert decide(d, "options", "box2", "BET") is None
    assert refusal(d.press(i.GoOn(), BORIS)) is None
    d.answer(False)
    assert draw(d.table.state).prompt.code == "TURN"


def test_behind_an_interrupted_window_no_other_opens_before_the_supervisor_goes_on() -> None:
    """Row 35: the cards of box 1 lie already, so the last decision would open the final options at once."""
    d = dealt("oasis_with_bonus", box1=OPEN, box2=OPEN)
    decide(d, "options", "box1", "EXCHANGE", 2)
    d.scan()
    d.start()
    d.plug()
    d.confirm_picture()
    assert decide(d, "options", "box2", "BET") is None
    assert only(d.last, DecisionClosed).ended_by == "all_decided"
    assert [event.stage for event in every(d.events, DecisionOpened)] == ["options"]
    assert refusal(d.press(i.GoOn(), BORIS)) is None
    assert only(d.last, DecisionOpened).stage == "final_options"
    d.answer(False)
    assert decide(d, "final_options", "box1", "BET") is None
    assert draw(d.table.state).prompt.code == "TURN"


def test_goa_10_hands_without_a_showdown_are_opened_in_audit_alone() -> None:
    # Box 1 dark; the dealer (every second card) has nothing: K Q 9 7 3.
    shoe = "2c Kh 2d Qd 7h 9d 9s 7s Jc 3c"
    d = dealt("golden_oasis", shoe, box1=DARK)
    d.press(i.TurnCards("dealer"))
    assert d.phase is Phase.RESULT_PROPOSED
    d.press(i.ConfirmResult())
    confirmed = only(d.last, RoundConfirmed)
    for audience in (Audience.PUBLIC, Audience.BETTING):
        seen = confirmed.seen_by(audience)
        assert isinstance(seen, RoundConfirmed)
        closed = [card for card in seen.opened if card.place == "box1"]
        assert [(card.card, card.key, card.closed_by) for card in closed] == [(None, None, "GOA-10")] * 5
    audit = confirmed.seen_by(Audience.AUDIT)
    assert isinstance(audit, RoundConfirmed)
    assert {card.card for card in audit.opened} >= {"2c", "2d", "7h", "9s", "Jc"}
    assert not [event for event in every(d.events, CardsRevealed) if event.place == "box1"]


def surplus_cell(d: Dealt) -> str:
    """Scan a card that nobody is owed; return the cell of the incident."""
    d.scan()
    opened = only(d.last, IncidentOpened)
    assert opened.prompt == "FACE_SEEN"
    return opened.cell


def test_rpl_71_after_the_last_decision_a_card_is_surplus() -> None:
    """All boxes have decided long before the published end of the window: no card is early any more."""
    d = dealt("grandmaster_russian_poker", box1=OPEN)
    assert decide(d, "options", "box1", "BET") is None
    assert draw(d.table.state).prompt.code == "TURN"
    assert surplus_cell(d) == "10"


def test_rpl_71_in_final_options_a_card_is_surplus() -> None:
    d = dealt("oasis_poker", box1=OPEN)
    decide(d, "options", "box1", "EXCHANGE", 1)
    d.scan()
    assert every(d.last, DecisionOpened)[-1].stage == "final_options"
    assert surplus_cell(d) == "10"


def test_rpl_71_where_nothing_is_drawn_a_card_in_options_is_surplus() -> None:
    assert surplus_cell(dealt("caribbean_poker", box1=OPEN)) == "10"


def test_cards_that_a_decision_has_freed_wait_for_nothing() -> None:
    """The window ran out over another box: the prompt names no time before which a card would be early."""
    d = dealt("grandmaster_russian_poker", box1=OPEN, box2=OPEN)
    decide(d, "options", "box2", "EXCHANGE", 5)
    d.advance(15_000)
    d.advance(600)
    asked = draw(d.table.state).prompt
    assert (asked.code, asked.place, asked.not_before_us) == ("DEAL_CARD", "box2", None)
