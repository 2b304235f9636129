"""The scripts of the sister games, step by step: who gets cards, who decides when, what is turned."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from games.driver import SISTERS, Played, game, in_words, play

from controller.cards import DECK, Card, parse_cards
from controller.games.procedure import DEALER, BoxState, Deal, Decide, Decision, DecisionOf, Face, Window
from controller.games.published import Exclusion, Result, RowName, Wager

EMPTY, DARK, OPEN = BoxState.EMPTY, BoxState.DARK, BoxState.OPEN
BET, FOLD, SIXTH = Decision("BET"), Decision("FOLD"), Decision("SIXTH_CARD")
DARK_GAMES = ("golden_oasis", "oasis_with_bonus")
EXCHANGING = tuple(name for name in SISTERS if name != "caribbean_poker")

ACE_KING = parse_cards("As Kh 9d 4c 2s")
NOTHING = parse_cards("Qs 9h 7d 5c 3s")
PAIR = parse_cards("8s 8h Jd 6c 3h")
QUALIFIED = parse_cards("Ah Kd 8c 6s 5h")
UNQUALIFIED = parse_cards("Kc Qd 8c 6s 5h")


def exchange(*positions: int) -> Decision:
    return Decision("EXCHANGE", positions)


def shoe(*hands: tuple[Card, ...], drawn: str = "") -> tuple[Card, ...]:
    """The deal in turn of some hands, the dealer's last, then the cards of draws."""
    dealt = tuple(card for turn in zip(*hands, strict=True) for card in turn)
    return dealt + parse_cards(drawn)


def options(**decisions: Decision) -> dict[tuple[str, str], Decision]:
    return {("options", box): decision for box, decision in decisions.items()}


def final(**decisions: Decision) -> dict[tuple[str, str], Decision]:
    return {("final_options", box): decision for box, decision in decisions.items()}


def after_deal(played: Played) -> list[str]:
    """What follows the deal, announcements left out."""
    words = [word for word in played.course if not word.startswith("announce")]
    return [word for word in words[1:] if not (word.startswith("deal") and int(word.split()[2]) <= 5)]


@pytest.mark.parametrize("name", SISTERS)
@pytest.mark.parametrize("shape", list(product((EMPTY, DARK, OPEN), repeat=3)))
def test_one_card_in_turn_to_each_box_in_play_then_the_dealer(name: str, shape: tuple[BoxState]) -> None:
    played_game = game(name)
    states = dict(zip(played_game.boxes, shape, strict=False))
    played = play(played_game, states=states)
    in_play = [box for box in played_game.boxes if states[box] is not EMPTY]
    dealt = [(step.place, step.n) for step in played.of(Deal) if step.n <= 5]
    if not in_play:
        assert played.course == ["betting"]
        assert played.result.dealer.cards == ()
        return
    assert dealt == [(place, n) for n in range(1, 6) for place in (*in_play, DEALER)]  # GRP-18
    for step in played.of(Deal):
        face_up = step.n == played_game.rules.up_card if step.place == DEALER else True
        if name in DARK_GAMES and states.get(step.place) is DARK:
            face_up = False  # D-50
        assert (step.face is Face.UP) == face_up or step.n > 5


@pytest.mark.parametrize(
    ("name", "up"),
    [
        ("grandmaster_russian_poker", 1),  # GRP-05
        ("oasis_poker", 1),  # OAS-03
        ("royal_poker", 5),
        ("golden_oasis", 5),
        ("oasis_with_bonus", 5),
        ("caribbean_poker", 5),
    ],
)
def test_the_dealers_open_card(name: str, up: int) -> None:
    played = play(game(name), states={"box1": OPEN})
    assert next(step.n for step in played.of(Deal) if step.place == DEALER and step.face is Face.UP) == up
    changed = play(game(name, up_card=3), states={"box1": OPEN})
    assert next(step.n for step in changed.of(Deal) if step.place == DEALER and step.face is Face.UP) == 3


def test_caribbean_bets_or_folds() -> None:
    decisions = options(box1=BET, box3=FOLD)
    played = play(game("caribbean_poker"), states={"box1": OPEN, "box3": OPEN}, decisions=decisions)
    assert after_deal(played) == ["options box1 box3", "options of box1", "options of box3", "turn dealer"]
    assert played.of(Decide)[0].actions == ("BET", "FOLD")
    assert played.of(Decide)[0].prices_in_antes == {"BET": "2"}


@pytest.mark.parametrize("name", EXCHANGING)
@pytest.mark.parametrize("count", range(1, 6))
def test_a_box_gets_its_cards_before_the_next_box_and_is_asked_again(name: str, count: int) -> None:
    played_game = game(name)
    boxes = played_game.boxes[:2]
    chosen = exchange(*range(1, count + 1))
    states = dict.fromkeys(boxes, OPEN)
    cards = shoe(*[ACE_KING, PAIR][: len(boxes)], QUALIFIED, drawn="2c 3c 4h 5s 7h 2d 3d 4d 5d 7c")
    decisions = options(**dict.fromkeys(boxes, chosen)) | final(**dict.fromkeys(boxes, BET))
    played = play(played_game, states=states, decisions=decisions, cards=cards)
    drawn = [f"deal {{}} {5 + n} up" for n in range(1, count + 1)]
    expected = ["options " + " ".join(boxes)]
    for box in boxes:
        expected += [f"options of {box}", *(step.format(box) for step in drawn)]  # GRP-19, OAB-08
    expected += ["final_options " + " ".join(boxes), *(f"final_options of {box}" for box in boxes)]
    assert after_deal(played) == [*expected, "turn dealer"]
    first = played.result.box("box1").hands[0]
    assert first.cards == ("2c", "3c", "4h", "5s", "7h")[:count] + tuple(map(str, ACE_KING[count:]))
    assert first.pattern == "exchange:" + ",".join(map(str, range(1, count + 1)))


def test_the_lowest_position_gets_the_first_card() -> None:
    cards = shoe(ACE_KING, QUALIFIED, drawn="3c 4h")
    decisions = options(box1=exchange(5, 2)) | final(box1=BET)
    played = play(game("oasis_poker"), states={"box1": OPEN}, decisions=decisions, cards=cards)
    assert played.result.box("box1").hands[0].cards == ("As", "3c", "9d", "4c", "4h")


@pytest.mark.parametrize("name", ["grandmaster_russian_poker", "royal_poker"])
def test_a_sixth_card_then_bet_or_fold(name: str) -> None:
    cards = shoe(ACE_KING, QUALIFIED, drawn="3c")
    played = play(
        game(name), states={"box1": OPEN}, decisions=options(box1=SIXTH) | final(box1=FOLD), cards=cards
    )
    assert after_deal(played) == [
        "options box1",
        "options of box1",
        "deal box1 6 up",
        "final_options box1",
        "final_options of box1",
        "turn dealer",
    ]
    assert played.of(Decide)[0].actions == ("BET", "SIXTH_CARD", "EXCHANGE", "FOLD")
    fold = played.result.box("box1").fold
    assert fold is not None and list(fold) == [Wager.ANTE, Wager.SIXTH_FEE]
    assert fold[Wager.SIXTH_FEE].outcome is Result.FEE


@pytest.mark.parametrize(
    ("name", "prices"),
    [
        ("oasis_poker", ("1", "2", "3", "2", "1")),  # OAS-04
        ("golden_oasis", ("1", "2", "3", "2", "1")),  # D-22
        ("oasis_with_bonus", ("1", "3/2", "2", "2", "1")),  # OAB-06
    ],
)
def test_exchange_prices_by_number(name: str, prices: tuple[str, ...]) -> None:
    played = play(game(name), states={"box1": OPEN})
    shown = {f"EXCHANGE_FEE:{count}": price for count, price in enumerate(prices, start=1)}
    assert played.of(Decide)[0].prices_in_antes == {"BET": "2"} | shown
    assert played.result.exchange_prices == prices
    assert played.result.prices == {Wager.BET: "2"}


def test_one_price_for_any_number() -> None:
    royal = play(game("royal_poker"), states={"box1": OPEN})
    assert royal.of(Decide)[0].prices_in_antes == {"SIXTH_FEE": "1", "EXCHANGE_FEE": "1", "RAISE": "2"}
    assert royal.result.exchange_prices == ()
    assert royal.result.prices == {"SIXTH_FEE": "1", "EXCHANGE_FEE": "1", "RAISE": "2", "BUY_FEE": "1"}


@pytest.mark.parametrize("name", SISTERS)
@pytest.mark.parametrize(("dealt", "folded"), [(ACE_KING, False), (PAIR, False), (NOTHING, True)])
def test_silence_draws_nothing_and_bets_on_a_combination(name: str, dealt: Any, folded: bool) -> None:
    played = play(game(name), states={"box1": OPEN}, cards=shoe(dealt, QUALIFIED))
    box = played.result.box("box1")
    assert after_deal(played)[:3] == ["options box1", "options of box1", "turn dealer"]
    assert (box.hands == ()) == folded  # D-52
    assert box.fold is not None, "who has not the money for the Bet folds (RPL-81)"


@pytest.mark.parametrize("name", EXCHANGING)
@pytest.mark.parametrize(("drawn", "folded"), [("Tc", True), ("5d", False)])
def test_silence_after_a_draw(name: str, drawn: str, folded: bool) -> None:
    cards = shoe(NOTHING, parse_cards("Ah Kd 8c 6s 4h"), drawn=drawn)
    played = play(game(name), states={"box1": OPEN}, decisions=options(box1=exchange(3)), cards=cards)
    assert "final_options of box1" in played.course
    assert (played.result.box("box1").hands == ()) == folded


@pytest.mark.parametrize("name", ["oasis_poker", "golden_oasis"])
@pytest.mark.parametrize("forced", [False, True])
def test_five_cards_force_the_bet_only_by_setting(name: str, forced: bool) -> None:
    states = {"box1": OPEN, "box2": OPEN}
    cards = shoe(ACE_KING, PAIR, QUALIFIED, drawn="2c 3c 5s 7h 9c 2d")
    decisions = options(box1=exchange(1, 2, 3, 4, 5), box2=exchange(1)) | final(box1=FOLD, box2=FOLD)
    played = play(game(name, force_bet_after_five=forced), states=states, decisions=decisions, cards=cards)
    asked = played.of(Decide)[1].boxes
    assert asked == (("box2",) if forced else ("box1", "box2"))  # D-22, OAS-05
    assert bool(played.result.box("box1").hands) == forced
    assert played.result.box("box2").hands == ()


def test_open_boxes_of_oasis_with_bonus_decide_in_order() -> None:
    states = {"box1": OPEN, "box2": OPEN, "box3": DARK}
    played = play(game("oasis_with_bonus"), states=states)
    assert [step.in_order for step in played.of(Decide)] == [True]  # OAB-14
    assert played.of(Decide)[0].boxes == ("box1", "box2")
    free = play(game("oasis_with_bonus", open_boxes_in_order=False), states=states)
    assert not free.of(Decide)[0].in_order
    assert not play(game("golden_oasis"), states=states).of(Decide)[0].in_order


@pytest.mark.parametrize("dealer", [QUALIFIED, UNQUALIFIED])
def test_oasis_with_bonus_turns_the_dealer_and_then_the_dark_boxes(dealer: tuple[Card, ...]) -> None:
    states = {"box1": DARK, "box2": OPEN, "box3": DARK}
    cards = shoe(ACE_KING, PAIR, parse_cards("7s 7h 9s 9c Tc"), dealer)
    played = play(game("oasis_with_bonus"), states=states, decisions=options(box2=BET), cards=cards)
    assert played.course[-6:] == [  # OAB-10
        "turn dealer",
        "announce dealer",
        "turn box1",
        "announce box1",
        "turn box3",
        "announce box3",
    ]
    assert played.steps[-1].hand.bonus == "SEVENS_77_PAIR"
    assert all(box.closed is None for box in played.result.boxes)


@pytest.mark.parametrize(("dealer", "opened"), [(QUALIFIED, True), (UNQUALIFIED, False)])
def test_golden_oasis_shows_no_cards_to_a_dealer_without_a_game(dealer: Any, opened: bool) -> None:
    states = {"box1": DARK, "box2": OPEN}
    cards = shoe(ACE_KING, PAIR, dealer)
    played = play(game("golden_oasis"), states=states, decisions=options(box2=BET), cards=cards)
    assert ("turn box1" in played.course) == opened  # GOA-10
    for box in played.result.boxes[:2]:
        hand = box.hands[0]
        assert box.closed == (None if opened else "GOA-10")
        assert bool(hand.cards) == bool(hand.combinations) == (hand.odds != "0") == opened
        assert hand.rows[RowName.PLAIN][Wager.ANTE].outcome is Result.WIN


@pytest.mark.parametrize(("name", "rule"), [("oasis_with_bonus", "OAB-05"), ("golden_oasis", "GOA-10")])
def test_a_folded_hand_is_closed_by_its_rule(name: str, rule: str) -> None:
    played = play(
        game(name), states={"box1": OPEN}, decisions=options(box1=FOLD), cards=shoe(ACE_KING, QUALIFIED)
    )
    box = played.result.box("box1")
    assert (box.closed, box.hands) == (rule, ())
    assert box.fold is not None and list(box.fold) == [Wager.ANTE]
    open_game = play(
        game("oasis_poker"),
        states={"box1": OPEN},
        decisions=options(box1=FOLD),
        cards=shoe(ACE_KING, QUALIFIED),
    )
    assert open_game.result.box("box1").closed is None


@pytest.mark.parametrize("name", ["grandmaster_russian_poker", "royal_poker"])
@pytest.mark.parametrize("bought", [True, False, None])
def test_the_purchase(name: str, bought: bool | None) -> None:
    cards = shoe(PAIR, UNQUALIFIED, drawn="8d")
    played = play(game(name), states={"box1": OPEN}, decisions=options(box1=BET), cards=cards, bought=bought)
    window = played.of(Window)[0]
    assert (window.boxes, window.actions, window.prices_in_antes) == (("box1",), ("BUY",), {"BUY_FEE": "1"})
    changed = ["lay aside dealer 1", "deal dealer 6 up"]
    assert after_deal(played)[3:] == ["buy_time box1", *(changed if bought is not False else [])]
    row = played.result.box("box1").hands[0].rows[RowName.BOUGHT]
    assert row[Wager.BUY_FEE].outcome is (Result.REFUND if bought is False else Result.FEE)


@pytest.mark.parametrize("needs", [False, True])
def test_who_is_offered_the_purchase(needs: bool) -> None:
    states = {"box1": OPEN, "box2": OPEN, "box3": OPEN}
    cards = shoe(NOTHING, PAIR, parse_cards("Ad Ac 9c 4d 2d"), UNQUALIFIED, drawn="8d")
    played = play(
        game("grandmaster_russian_poker", purchase_needs_combination=needs),
        states=states,
        decisions=options(box1=BET, box2=BET, box3=FOLD),
        cards=cards,
    )
    offered = played.of(Window)[0]
    assert offered.boxes == (("box2",) if needs else ("box1", "box2"))  # GRP-17, D-35
    assert all(hand.purchase for hand in offered.hands)
    nothing = played.result.box("box1").hands[0]
    assert (RowName.BOUGHT in nothing.rows) == (not needs)
    if not needs:
        assert nothing.rows[RowName.BOUGHT][Wager.BET].outcome is Result.LOSE  # COM-08


@pytest.mark.parametrize("redraw", [False, True])
@pytest.mark.parametrize("name", ["grandmaster_russian_poker", "royal_poker", "russian_poker_live"])
def test_the_same_rank_is_drawn_again_only_by_setting(name: str, redraw: bool) -> None:
    played_game = game(name, redraw_same_rank=redraw)
    if name == "russian_poker_live":
        cards = shoe(ACE_KING, PAIR, NOTHING, UNQUALIFIED, drawn="2c 2d 3c 3d 4h Kd 8d")
    else:
        cards = shoe(PAIR, UNQUALIFIED, drawn="Kd 8d")
    states = dict.fromkeys(played_game.boxes, OPEN) if name == "russian_poker_live" else {"box1": OPEN}
    played = play(played_game, states=states, decisions=options(box1=BET), cards=cards)
    again = ["lay aside dealer 6", "deal dealer 7 up"] if redraw else []
    assert after_deal(played)[-2 - len(again) :] == ["lay aside dealer 1", "deal dealer 6 up", *again]  # D-17
    after = played.result.dealer_after_purchase
    assert after is not None and after.cards[0] == ("8d" if redraw else "Kd")


def test_no_purchase_when_the_dealer_qualifies_or_all_have_folded() -> None:
    for dealer, choice in ((QUALIFIED, BET), (UNQUALIFIED, FOLD)):
        played = play(
            game("royal_poker"),
            states={"box1": OPEN},
            decisions=options(box1=choice),
            cards=shoe(PAIR, dealer),
        )
        assert not played.of(Window)
        assert "turn dealer" in played.course


@pytest.mark.parametrize("name", EXCHANGING)
@pytest.mark.parametrize("changes", [{}, {"redraw_same_rank": True}])
def test_the_longest_round_takes_cards_at_most(name: str, changes: dict[str, Any]) -> None:
    russian = name in ("grandmaster_russian_poker", "royal_poker")
    if changes and not russian:
        return
    played_game = game(name, **changes)
    boxes = played_game.boxes
    drawn = [card for card in DECK if card not in (*UNQUALIFIED, Card.parse("Kd"), Card.parse("8d"))]
    hands = [tuple(drawn[5 * index : 5 * index + 5]) for index in range(len(boxes))]
    rest = [*drawn[5 * len(boxes) : 10 * len(boxes)], Card.parse("Kd"), Card.parse("8d")]
    cards = (*shoe(*hands, UNQUALIFIED), *rest)
    five = dict.fromkeys(boxes, exchange(1, 2, 3, 4, 5))
    played = play(
        played_game,
        states=dict.fromkeys(boxes, OPEN),
        decisions=options(**five) | final(**dict.fromkeys(boxes, BET)),
        cards=cards,
    )
    assert len(played.of(Deal)) == played_game.cards_at_most


@pytest.mark.parametrize("name", ["golden_oasis", "oasis_with_bonus", "oasis_poker", "caribbean_poker"])
def test_four_boxes_fit_one_deck_and_five_are_refused(name: str) -> None:
    assert game(name, boxes=4).cards_at_most <= 46  # D-51
    with pytest.raises(ValueError, match="boxes"):
        game(name, boxes=5)
    with pytest.raises(ValueError, match="boxes"):
        game("grandmaster_russian_poker", boxes=4)  # GRP-02


def test_an_empty_box_refunds_a_bet_that_is_there_all_the_same() -> None:
    played = play(game("oasis_with_bonus"), states={"box1": OPEN})
    box = played.result.box("box2")
    assert box.hands[0].excluded is Exclusion.BOX_EMPTY
    rows = (box.fold, box.bonus, box.hands[0].rows[RowName.PLAIN])
    assert all(wager.outcome is Result.REFUND for row in rows if row for wager in row.values())


@pytest.mark.parametrize(
    ("action", "positions", "taken"),
    [
        ("BET", (), True),
        ("BET", (1,), False),
        ("FOLD", (), True),
        ("EXCHANGE", (1, 5), True),
        ("EXCHANGE", (), False),
        ("EXCHANGE", (2, 2), False),
        ("EXCHANGE", (6,), False),
        ("SIXTH_CARD", (), False),
        ("BUY", (), False),
        (None, (), False),
    ],
)
def test_decisions_that_a_box_may_take(action: str | None, positions: tuple[int, ...], taken: bool) -> None:
    oasis = game("oasis_poker")
    step = play(oasis, states={"box1": OPEN}).of(Decide)[0]
    assert oasis.is_decision(step, Decision(action, positions)) == taken


@pytest.mark.parametrize("name", SISTERS)
def test_what_the_table_asks_of_a_game(name: str) -> None:
    asked = game(name)
    assert asked.name == name
    assert asked.places == (*asked.boxes, DEALER)
    assert asked.rescans_at_most == 1
    assert asked.initial_deal(Deal("box1", 5, Face.UP)) and not asked.initial_deal(Deal("box1", 6, Face.UP))
    assert asked.decision_to_come(frozenset()) and not asked.decision_to_come(frozenset(asked.stages))


def test_hands_offered_name_their_box_and_the_way_of_drawing() -> None:
    states = {"box1": OPEN, "box3": OPEN}
    cards = shoe(ACE_KING, PAIR, QUALIFIED, drawn="8d")
    decisions = options(box1=BET, box3=exchange(5)) | final(box3=BET)
    played = play(game("oasis_poker"), states=states, decisions=decisions, cards=cards)
    first, second = played.of(Decide)
    assert [(hand.box, hand.pattern, hand.odds) for hand in first.hands] == [
        ("box1", "stay", "1"),
        ("box3", "stay", "1"),
    ]
    assert [(hand.box, hand.pattern, hand.odds) for hand in second.hands] == [("box3", "exchange:5", "3")]
    assert not any(hand.purchase for hand in first.hands)
    assert [in_words(step) for step in played.of(DecisionOf)] == [
        "options of box1",
        "options of box3",
        "final_options of box3",
    ]
