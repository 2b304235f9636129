"""Invariants of rules part 4 over the sister games, on rounds of any shape (P-5 to P-8)."""

from __future__ import annotations

from typing import Any

import msgspec
from games.driver import SISTERS, Played, game, play
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.cards import DECK, Card, Suit
from controller.games.patterns import PATTERNS, final_cards
from controller.games.procedure import BoxState, Deal, Decide, Decision
from controller.games.published import Outcome, Result, RowName, for_public, refund_all
from controller.games.settlement import BoxSlip, Line, LineOutcome, refund, settle
from controller.games.settlement import Decision as Decided

RUSSIAN = ("grandmaster_russian_poker", "royal_poker")
ROUNDS = st.sampled_from(
    [game(name) for name in SISTERS]
    + [game(name, redraw_same_rank=True, purchase_needs_combination=True) for name in RUSSIAN]
)
SHOES = st.permutations(DECK).map(tuple)
POSITIONS = st.sets(st.integers(1, 5), min_size=1).map(lambda chosen: tuple(sorted(chosen)))
ANTE = 200
QUICK = settings(max_examples=150)


@st.composite
def rounds(draw: st.DrawFn) -> dict[str, Any]:
    """How a round of some game goes: states, decisions, shoe, purchase."""
    played = draw(ROUNDS)
    states = {box: draw(st.sampled_from(BoxState)) for box in played.boxes}
    decisions = {}
    for box in played.boxes:
        action = draw(st.sampled_from((None, *played.actions)))
        positions = draw(POSITIONS) if action == "EXCHANGE" else ()
        decisions["options", box] = Decision(action, positions)
        decisions["final_options", box] = Decision(draw(st.sampled_from((None, "BET", "FOLD"))))
    bought = draw(st.sampled_from((None, True, False)))
    return {
        "played": played,
        "states": states,
        "decisions": decisions,
        "bought": bought,
        "cards": draw(SHOES),
    }


def slip_of(round_: dict[str, Any], box: str, published: Outcome, *, bought: bool = False) -> BoxSlip:
    """What a player on this box has to show for the round."""
    options = round_["decisions"]["options", box]
    asked = round_["states"][box] is not BoxState.DARK or not round_["played"].has_dark_boxes
    pattern, decided = "stay", options.action
    if not asked:
        decided = "BET"
    elif options.action == "SIXTH_CARD":
        pattern, decided = "sixth", round_["decisions"]["final_options", box].action
    elif options.action == "EXCHANGE":
        pattern = f"exchange:{','.join(map(str, options.positions))}"
        decided = round_["decisions"]["final_options", box].action
    return BoxSlip(
        box,
        ante=ANTE,
        pattern=pattern,
        decision=decided and Decided(decided),
        bought=bought,
        bonus_b=50 if published.box(box).bonus else 0,
    )


def in_play(round_: dict[str, Any]) -> list[str]:
    return [box for box, state in round_["states"].items() if state is not BoxState.EMPTY]


def settled(round_: dict[str, Any], published: Outcome) -> tuple[Line, ...]:
    """Every box in play, and every box that was offered the purchase once more as a buyer."""
    lines: tuple[Line, ...] = ()
    for box in in_play(round_):
        lines += settle((slip_of(round_, box, published),), published)
        if any(RowName.BOUGHT in hand.rows for hand in published.box(box).hands):
            lines += settle((slip_of(round_, box, published, bought=True),), published)
    return lines


@QUICK
@given(rounds())
def test_p5_what_comes_back_is_the_sum_of_the_lines(round_: dict[str, Any]) -> None:
    published = play(**round_).result
    table_max = round_["played"].rules.limits.table_max
    for line in settled(round_, published):
        match line.outcome:
            case LineOutcome.WIN:
                assert line.returned == line.stake * (1 + int(line.odds or 0))
            case LineOutcome.WIN_CAPPED:
                assert line.returned == line.stake + table_max
            case LineOutcome.LOSE | LineOutcome.FEE:
                assert line.returned == 0
            case _:
                assert line.returned == line.stake


@QUICK
@given(rounds())
def test_p5_a_cancelled_and_a_corrected_round_come_to_nothing(round_: dict[str, Any]) -> None:
    published = play(**round_).result
    slips = tuple(slip_of(round_, box, published) for box in in_play(round_))
    returned = refund(slips, published.prices, exchange_prices=published.exchange_prices, blind=())
    assert all(line.returned == line.stake for line in returned)
    corrected = settle(slips, refund_all(published))
    assert all(line.outcome is LineOutcome.REFUND and line.returned == line.stake for line in corrected)


@QUICK
@given(rounds(), st.permutations(Suit))
def test_p6_the_names_of_suits_do_not_matter(round_: dict[str, Any], suits: list[Suit]) -> None:
    renamed = dict(zip(Suit, suits, strict=True))
    cards = tuple(Card(card.rank, renamed[card.suit]) for card in round_["cards"])
    one, other = play(**round_).result, play(**round_ | {"cards": cards}).result
    assert settled(round_, one) == settled(round_, other)


@QUICK
@given(rounds())
def test_p8_no_card_twice_and_no_more_than_cards_at_most(round_: dict[str, Any]) -> None:
    played = play(**round_)
    dealt = played.of(Deal)
    assert len(dealt) <= round_["played"].cards_at_most <= 52
    assert len({(step.place, step.n) for step in dealt}) == len(dealt)


@QUICK
@given(rounds())
def test_a_box_has_one_hand_or_a_fold_and_closed_ones_no_cards(round_: dict[str, Any]) -> None:
    played = play(**round_)
    published = played.result
    assert msgspec.json.decode(msgspec.json.encode(published), type=Outcome) == published
    for box in published.boxes:
        assert len(box.hands) <= 1
        assert box.hands or box.fold
        for hand in box.hands:
            if box.closed or hand.excluded:
                assert not hand.cards and not hand.combinations
            else:
                assert hand.cards == expected_cards(played, round_, box.box)
    public = for_public(published)
    assert not public.prices and not public.exchange_prices
    assert all(box.fold is None and box.bonus is None for box in public.boxes)
    assert all(not hand.rows for box in public.boxes for hand in box.hands)


def expected_cards(played: Played, round_: dict[str, Any], box: str) -> tuple[str, ...]:
    laid = [card for step, card in zip(played.of(Deal), round_["cards"], strict=False) if step.place == box]
    slip = slip_of(round_, box, played.result)
    pattern = next(pattern for pattern in PATTERNS if pattern.text == slip.pattern)
    return tuple(map(str, final_cards(pattern, tuple(laid[:5]), tuple(laid[5:]))))


@QUICK
@given(rounds())
def test_each_box_is_asked_before_it_decides_and_once_more_if_it_drew(round_: dict[str, Any]) -> None:
    played = play(**round_)
    asked = played.of(Decide)
    dark = round_["played"].has_dark_boxes
    may_decide = [box for box in in_play(round_) if not dark or round_["states"][box] is BoxState.OPEN]
    assert [step.boxes for step in asked[:1]] == ([tuple(may_decide)] if may_decide else [])
    drew = tuple(
        box for box in may_decide if round_["decisions"]["options", box].action in ("SIXTH_CARD", "EXCHANGE")
    )
    assert [step.boxes for step in asked[1:]] == ([drew] if drew else [])


@QUICK
@given(rounds())
def test_the_ante_and_the_bet_agree_with_the_comparison(round_: dict[str, Any]) -> None:
    """A dealer without a game never takes a stake, except from a fold."""
    published = play(**round_).result
    if published.dealer.qualified:
        return
    for box in published.boxes:
        for hand in box.hands:
            plain = hand.rows[RowName.PLAIN]
            assert all(outcome.outcome is not Result.LOSE for outcome in plain.values())
