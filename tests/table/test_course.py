"""The normal course: cards, showdown, purchase, requests, roles, the day."""

from __future__ import annotations

import hashlib
import hmac

import pytest
from table.dealt import (
    ANNA,
    BETS,
    BORIS,
    DRAWN,
    FAILS,
    HANDS,
    IN_PLAY,
    NOON,
    PLAYS,
    Dealt,
    digest,
    every,
    live_rules,
    only,
    refusal,
)

from controller.games.procedure import BoxState
from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import (
    BetsClosed,
    CardBurned,
    CardDealt,
    CardLaidAside,
    CardShown,
    CardsRevealed,
    DecisionOpened,
    FactsSettled,
    HandEvaluated,
    HandsOffered,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    InputAccepted,
    Refusal,
    ResultProposed,
    RoundClosed,
    RoundConfirmed,
    Verdict,
)
from controller.table.inputs import Role


def test_rpl_09_and_10_twenty_cards_clockwise_the_main_box_and_the_last_open() -> None:
    d = Dealt().to_options()
    dealt = every(d.events, CardDealt)
    assert [(card.place, card.n) for card in dealt] == [
        (place, turn) for turn in range(1, 6) for place in ("box1", "box2", "box3", "dealer")
    ]
    shown = {(card.place, card.n) for card in dealt if card.card is not None}
    assert shown == {*(("box2", n) for n in range(1, 6)), ("dealer", 5)}
    assert all((card.card is None) == (card.commitment is not None) for card in dealt)


def test_rpl_17_switch_cards_are_shown_to_the_betting_system_alone() -> None:
    d = Dealt().to_final_options()
    dealt = [card for card in every(d.events, CardDealt) if card.place == "switch"]
    assert len(dealt) == 5 and all(card.card is None and card.commitment for card in dealt)
    assert [shown.card for shown in every(d.events, CardShown)] == HANDS["switch"].split()
    assert CardShown.audiences == {"betting"} and HandsOffered.audiences == {"betting"}


def test_rpl_82_one_hand_with_options_time_all_33_with_final_options() -> None:
    d = Dealt().to_final_options()
    assert [(offer.window, len(offer.hands)) for offer in every(d.events, HandsOffered)] == [
        ("options", 1),
        ("final_options", 33),
    ]


@pytest.mark.parametrize("hands", [PLAYS, FAILS], ids=["plays", "fails"])
def test_commitments_are_hmacs_that_anybody_can_recompute(hands: dict[str, str]) -> None:
    d = Dealt(hands).to_confirmed()
    committed = {
        (card.place, card.n, card.reading): card.commitment
        for card in every(d.events, CardDealt)
        if card.commitment is not None
    }
    opened = [card for shown in every(d.events, CardsRevealed) for card in shown.cards]
    opened += only(d.events, RoundConfirmed).opened
    assert len(committed) == len(opened) == 5 + 5 + 4 + 5
    for card in opened:
        assert card.key is not None
        text = f"tablectl:1|rp1|rp1-1|1|{card.place}|{card.n}|{card.reading}|{card.card}"
        signed = hmac.new(bytes.fromhex(card.key), text.encode(), hashlib.sha256).hexdigest()
        assert committed[card.place, card.n, card.reading] == signed


def test_rpl_32_showdown_order_and_no_other() -> None:
    d = Dealt().to_turns()
    for place in ("box1", "box3", "dealer"):
        assert refusal(d.press(i.TurnCards(place))) is Refusal.NOT_OWED
    d.turn("switch")
    assert refusal(d.press(i.TurnCards("box3"))) is Refusal.NOT_OWED
    d.turn("box1", "box3")
    assert [shown.place for shown in every(d.events, CardsRevealed)] == ["switch", "box1", "box3"]
    d.turn("dealer")
    assert only(d.last, CardsRevealed).place == "dealer"
    assert len(only(d.last, CardsRevealed).cards) == 4  # The fifth lay open from the beginning.
    assert d.phase is Phase.RESULT_PROPOSED


def test_each_place_is_evaluated_once_when_everybody_sees_it() -> None:
    d = Dealt(FAILS).to_confirmed()
    assert [hand.place for hand in every(d.events, HandEvaluated)] == [
        "box2",
        "box1",
        "box3",
        "dealer",
        "dealer",
    ]


def test_rpl_34_the_highest_card_is_laid_aside_and_one_card_drawn() -> None:
    d = Dealt(FAILS).to_buy_time()
    d.all_decided("buy_time", anyone_bought=True)
    assert refusal(d.press(i.TurnCards("dealer"))) is Refusal.NOT_OWED
    d.press(i.LayCardAside())
    assert only(d.last, CardLaidAside).n == 1
    d.deal(1)
    drawn = only(d.last, CardDealt)
    assert (drawn.place, drawn.n, drawn.card) == ("dealer", 6, DRAWN)
    assert d.phase is Phase.RESULT_PROPOSED


def test_rpl_38_nobody_bought_and_no_card_is_drawn() -> None:
    d = Dealt(FAILS).to_buy_time()
    events = d.all_decided("buy_time", anyone_bought=False)
    assert only(events, ResultProposed) and d.phase is Phase.RESULT_PROPOSED
    assert refusal(d.press(i.LayCardAside())) is Refusal.WRONG_PHASE


def test_rpl_33_no_buy_time_when_the_dealer_qualifies() -> None:
    d = Dealt(PLAYS).to_result()
    assert "buy_time" not in [window.window for window in every(d.events, DecisionOpened)]


NOTHING = {
    "box1": "2c 4d 7h 9s Jc",
    "box2": "6s Kd 8c 5d 3h",
    "box3": "4c 6d 8h Ts Qc",
    "switch": "2d 3d 9c Jd 2h",
    "dealer": "Qh Jh 9d 7s 3c",
}


def test_rpl_33_no_buy_time_when_no_box_holds_ace_king() -> None:
    d = Dealt(NOTHING).to_final_options()
    d.all_decided("final_options", in_play=False)
    d.turn()
    assert d.phase is Phase.RESULT_PROPOSED


def test_d_53_buy_time_for_the_main_box_if_one_pattern_that_can_still_be_in_play_holds_enough() -> None:
    drew = Dealt(NOTHING).to_turns()
    drew.turn()
    assert only(drew.last, DecisionOpened).boxes == ("box2",)  # Some exchange makes a pair.
    stayed = Dealt(NOTHING).to_options()
    stayed.all_decided("options", anyone_drew=False)
    stayed.deal(5)
    stayed.all_decided("final_options")
    stayed.turn()
    assert stayed.phase is Phase.RESULT_PROPOSED


def test_rpl_83_without_a_main_box_there_are_no_options_and_no_switch_cards() -> None:
    d = Dealt().to_dealing(box2=BoxState.EMPTY)
    d.deal(20)
    assert d.phase is Phase.DEALING
    d.turn("box1", "box3", "dealer")
    assert Phase(d.phase) is Phase.RESULT_PROPOSED
    assert not every(d.events, DecisionOpened)


def test_rpl_17_switch_cards_skipped_by_setting_if_nobody_drew() -> None:
    d = Dealt(rules=live_rules(skip_unused_switch_cards=True)).to_options()
    events = d.all_decided("options", anyone_drew=False)
    assert only(events, DecisionOpened).window == "final_options"


@pytest.mark.parametrize("told", [{}, {"anyone_drew": True}])
def test_rpl_17_the_setting_skips_nothing_if_it_was_not_told(told: dict[str, bool]) -> None:
    d = Dealt(rules=live_rules(skip_unused_switch_cards=True)).to_options()
    d.all_decided("options", **told)
    d.deal(5)
    assert d.phase is Phase.DECIDING


def test_rpl_17_without_the_setting_five_switch_cards_always() -> None:
    d = Dealt().to_options()
    d.all_decided("options", anyone_drew=False, in_play=False)
    d.deal(5)
    assert d.phase is Phase.DEALING  # Nobody is left who could decide in final options time.
    d.turn("switch")


# Timers, requests, roles.


def test_a_timer_that_is_not_armed_so_is_stale() -> None:
    d = Dealt().to_betting()
    deadline = d.table.deadlines["window"]
    before = digest(d.table)
    due = deadline.due
    for name, number, at in (
        ("window", deadline.number + 1, due - 1),
        ("grace", deadline.number, due - 1),
        ("dinner", deadline.number, due - 1),
        ("window", deadline.number, due - 1),
    ):
        other = Dealt().to_betting()
        events = other.feed(i.TimerExpired(at=at, name=name, number=number))
        assert refusal(events) is Refusal.STALE_TIMER and digest(other.table) == before
    d.press(i.CloseBetting())
    assert (
        refusal(d.feed(i.TimerExpired(at=due, name="window", number=deadline.number))) is Refusal.STALE_TIMER
    )


def test_a_window_ends_when_it_was_published_to_end_however_late_the_timer_is() -> None:
    d = Dealt().to_betting()
    due = d.table.deadlines["window"].due
    d.now = due + 4_000_000
    events = d.press(i.CloseBetting())
    closed = only(events, BetsClosed)
    assert (closed.at_us, closed.ended_by) == (due, "time")
    assert refusal(events) is Refusal.WRONG_PHASE
    assert only(events, FactsSettled).boxes is not None, "the grace time is over too"


def test_facts_after_the_grace_time_are_late_however_late_the_timer_is() -> None:
    d = Dealt().to_options()
    d.now = d.table.deadlines["window"].due + 600_000
    assert refusal(d.facts("options", anyone_drew=False)) is Refusal.TOO_LATE


def test_time_rises_strictly() -> None:
    d = Dealt().to_betting()
    with pytest.raises(AssertionError, match="time went"):
        d.feed(i.ScannerOpened(at=d.now, scanner="shoe"))


def test_request_ids_are_answered_from_store_for_this_round_and_the_one_before() -> None:
    d = Dealt()
    d.to_ready()
    d.press(i.OpenBetting(), request="open")
    assert refusal(d.press(i.OpenBetting(), request="again")) is Refusal.WRONG_PHASE
    opened, again = d.answer_of("open"), d.answer_of("again")
    assert opened is not None and opened.refusal is None
    assert again is not None and again.refusal is Refusal.WRONG_PHASE
    assert d.answer_of("never") is None
    known = []
    for _ in range(3):
        d.press(i.Observed(IncidentKind.DEVICE_FAILED))
        d.press(i.ConfirmCancel(), BORIS)
        d.press(i.ClearTable())
        known.append(d.answer_of("again") is not None)
        d.press(i.ConfirmShuffle())
        d.press(i.OpenBetting())
    assert known == [True, True, False]


def test_a_command_for_another_round_has_expired() -> None:
    d = Dealt().to_betting()
    before = digest(d.table)
    for round_no in (0, 2):
        assert refusal(d.press(i.CloseBetting(), round_no=round_no)) is Refusal.EXPIRED_REQUEST
    assert digest(d.table) == before


def test_presses_are_refused_to_the_wrong_role() -> None:
    d = Dealt().to_options()
    before = digest(d.table)
    assert refusal(d.press(i.Observed(IncidentKind.DEVICE_FAILED), BETS)) is Refusal.WRONG_ROLE
    for command in (i.WindowFacts("options", undecided=False), i.BetsTaken(IN_PLAY)):
        for actor in (ANNA, BORIS):
            assert refusal(d.press(command, actor)) is Refusal.WRONG_ROLE
    for supervised in (i.ConfirmCancel(), i.GoOn(), i.OrderRescan()):
        assert refusal(d.press(supervised, ANNA)) is Refusal.WRONG_ROLE
        assert refusal(d.press(supervised, BETS, role=Role.BETTING)) is Refusal.WRONG_ROLE
    assert digest(d.table) == before


def test_an_accepted_press_is_on_record_before_what_it_does() -> None:
    d = Dealt().to_betting()
    accepted = d.press(i.CloseBetting(), request="no more")[0]
    assert accepted == InputAccepted(request="no more", actor=ANNA, role="dealer", command="close_betting")


# The day.


def test_rpl_76_a_deck_with_a_wrong_count_is_not_verified() -> None:
    d = Dealt()
    d.start()
    d.press(i.OpenTable())
    d.load()
    d.press(i.VerifyDeck(51))
    assert only(d.last, IncidentOpened).kind is IncidentKind.WRONG_COUNT
    assert d.phase is Phase.DECK_CHECK and refusal(d.press(i.VerifyDeck(52))) is Refusal.HELD


def test_rpl_77_a_card_out_of_the_shoe_before_the_round_means_shuffle_again() -> None:
    d = Dealt().to_ready()
    d.scan()
    assert only(d.last, IncidentDecided).verdict is Verdict.SHUFFLE_AGAIN
    assert d.phase is Phase.SHUFFLING
    d.press(i.ConfirmShuffle())
    assert Phase(d.phase) is Phase.READY


def test_rpl_77_a_wrong_shuffle_is_repeated() -> None:
    d = Dealt().to_ready()
    d.press(i.RepeatShuffle())
    assert d.phase is Phase.SHUFFLING
    d.press(i.RepeatShuffle())
    assert d.phase is Phase.SHUFFLING


def test_no_round_opens_without_its_scanner() -> None:
    d = Dealt().to_ready()
    d.unplug()
    assert refusal(d.press(i.OpenBetting())) is Refusal.SCANNER_DOWN
    d.plug()
    assert refusal(d.press(i.OpenBetting())) is None


def test_rpl_71_a_card_after_the_result_means_a_deck_check() -> None:
    d = Dealt().to_confirmed()
    d.scan("As")
    assert refusal(d.last) is Refusal.WRONG_PHASE  # A card of this round, seen while it is collected.
    d.scan()
    assert only(d.last, IncidentDecided).verdict is Verdict.DECK_CHECK
    assert not every(d.last, CardBurned)
    d.scan()
    assert not every(d.last, IncidentOpened)
    d.press(i.ClearTable())
    assert d.phase is Phase.DECK_CHECK


def test_a_confirmed_round_closes_with_one_terminal_event() -> None:
    d = Dealt(FAILS).to_confirmed()
    assert only(d.last, RoundConfirmed).rev == only(d.last, RoundClosed).rev == 1
    assert only(d.events, ResultProposed).outcome.boxes[0].hands[0].rows == {}
    assert only(d.last, RoundConfirmed).outcome.boxes[0].hands[0].rows
    assert refusal(d.press(i.ConfirmResult())) is Refusal.WRONG_PHASE
    d.press(i.ClearTable())
    assert d.phase is Phase.SHUFFLING and d.table.roundid is None
    assert d.now > NOON
