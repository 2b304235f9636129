"""Invariants of rules part 4 (P-1 to P-7), and the quick evaluation against the definition."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from rules.by_definition import all_combinations, different, kind_of, main_and_second, mains
from rules.live_rules import facts_of_deal, live_rules

from controller.cards import DECK, Card, Rank, Suit
from controller.games.combinations import STRENGTH, Kind
from controller.games.offers import highest_card_position, replaced
from controller.games.outcome import Facts, outcome, purchase_offered
from controller.games.patterns import PATTERNS, SIXTH, exchange, final_cards
from controller.games.paytables import total_odds
from controller.games.poker import evaluate
from controller.games.published import Outcome
from controller.games.rules import BOXES, MAIN
from controller.games.settlement import BoxSlip, Decision, Line, LineOutcome, settle

RULES = live_rules()

# Hands of the whole deck rarely hold two combinations; narrow decks make them common.
DECKS = (
    DECK,
    tuple(card for card in DECK if card.suit in (Suit.HEARTS, Suit.SPADES)),
    tuple(card for card in DECK if card.suit is Suit.HEARTS or card.rank >= Rank.QUEEN),
    tuple(card for card in DECK if card.rank in (2, 3, 4, 5, 6, 13, 14) and card.suit is not Suit.CLUBS),
    tuple(card for card in DECK if card.rank in (7, 8, 13, 14)),
)


def distinct_cards(count: int) -> st.SearchStrategy[tuple[Card, ...]]:
    hands = (st.lists(st.sampled_from(deck), min_size=count, max_size=count, unique=True) for deck in DECKS)
    return st.one_of(*hands).map(tuple)


FIVE = distinct_cards(5)
SIX = distinct_cards(6)
DEALS = st.permutations(DECK).map(lambda deck: tuple(deck[:26]))
DECISIONS = st.sampled_from((None, Decision.BET, Decision.FOLD))


@given(FIVE | SIX)
def test_both_combinations_are_those_of_the_definition(cards: tuple[Card, ...]) -> None:
    hand = evaluate(cards)
    found = tuple(combination.kind for combination in hand.combinations)
    assert found == tuple(kind for kind in main_and_second(cards) if kind is not None)


@given(FIVE | SIX)
def test_combinations_are_made_of_the_cards_that_form_them(cards: tuple[Card, ...]) -> None:
    hand = evaluate(cards)
    sets = [frozenset(combination.cards) for combination in hand.combinations]
    for combination in hand.combinations:
        assert kind_of(combination.cards) is combination.kind
        assert set(combination.cards) <= set(cards)
    if hand.main:
        assert (hand.main.kind, sets[0]) in mains(cards)
    if hand.second:
        assert different(*sets)


@given(FIVE | SIX)
def test_p1_two_way_and_one_way_rule_agree_and_pay_the_dearest_sum(cards: tuple[Card, ...]) -> None:
    found = all_combinations(cards)
    choices = mains(cards)
    two_way = [kind for kind, some in found for _, main in choices if different(some, main)]
    one_way = [kind for kind, some in found for _, main in choices if some - main]
    assert max(map(STRENGTH.__getitem__, two_way), default=0) == max(
        map(STRENGTH.__getitem__, one_way), default=0
    )
    odds = RULES.odds
    singles = [odds[kind] for kind, _ in found]
    pairs = [odds[one] + odds[two] for one, a in found for two, b in found if different(a, b)]
    assert total_odds(evaluate(cards), odds) == max(singles + pairs, default=0)


@given(FIVE, st.data())
def test_p2_a_replaced_card_never_gives_the_dealer_more_than_this(
    dealer: tuple[Card, ...], data: st.DataObject
) -> None:
    if evaluate(dealer).qualifies:
        return
    drawn = data.draw(st.sampled_from([card for card in DECK if card not in dealer]))
    main = evaluate(replaced(dealer, drawn)).main
    assert (main and main.kind) in (None, Kind.PAIR, Kind.STRAIGHT, Kind.FLUSH, Kind.STRAIGHT_FLUSH)
    assert dealer[highest_card_position(dealer) - 1] == max(dealer)


@given(SIX, st.integers(1, 5))
def test_p3_the_sixth_card_is_never_worse_than_exchanging_one(cards: tuple[Card, ...], position: int) -> None:
    dealt, switch = cards[:5], cards[5:]
    six = evaluate(final_cards(SIXTH, dealt, switch))
    one = evaluate(final_cards(exchange(position), dealt, switch))
    assert six.rank >= one.rank
    assert total_odds(six, RULES.odds) >= total_odds(one, RULES.odds)


@given(SIX)
def test_p4_pay_and_height_never_fall_when_a_card_is_added(cards: tuple[Card, ...]) -> None:
    five, six = evaluate(cards[:5]), evaluate(cards)
    assert total_odds(six, RULES.odds) >= total_odds(five, RULES.odds)
    assert six.rank >= five.rank


@given(FIVE | SIX, st.permutations(Suit), st.randoms(use_true_random=False))
def test_p6_names_of_suits_and_order_of_cards_do_not_matter(cards, suits, random) -> None:
    renamed = dict(zip(Suit, suits, strict=True))
    shuffled = [Card(card.rank, renamed[card.suit]) for card in cards]
    random.shuffle(shuffled)
    one, other = evaluate(cards), evaluate(tuple(shuffled))
    assert one.rank == other.rank
    assert [found.kind for found in one.combinations] == [found.kind for found in other.combinations]


@given(DEALS, st.permutations(Suit), st.sampled_from(PATTERNS), DECISIONS)
def test_p6_settlement_does_not_know_the_names_of_suits(cards, suits, pattern, decision) -> None:
    renamed = dict(zip(Suit, suits, strict=True))
    slip = every_box(pattern.text, decision)
    other = tuple(Card(card.rank, renamed[card.suit]) for card in cards)
    assert settle(slip, outcome(facts_of_deal(cards), RULES)) == settle(
        slip, outcome(facts_of_deal(other), RULES)
    )


def every_box(pattern: str, decision: Decision | None) -> tuple[BoxSlip, ...]:
    return tuple(
        BoxSlip(box, ante=100, bonus_b=50, bonus_d=70, pattern=pattern, decision=decision)
        if box == MAIN
        else BoxSlip(box, ante=200, bonus_d=50)
        for box in BOXES
    )


def factor(line: Line, limit: int) -> int:
    """What a line returns by COM-12, worked out from its published odds alone."""
    win = line.stake * int(line.odds or 0)
    match line.outcome:
        case LineOutcome.WIN:
            return line.stake + win
        case LineOutcome.WIN_CAPPED:
            return line.stake + min(win, limit)
        case LineOutcome.LOSE | LineOutcome.FEE:
            return 0
        case _:
            return line.stake


@given(DEALS, st.sampled_from(PATTERNS), DECISIONS)
def test_p5_what_comes_back_is_the_sum_of_the_lines(cards, pattern, decision) -> None:
    published = outcome(facts_of_deal(cards), RULES)
    for line in settle(every_box(pattern.text, decision), published):
        assert line.returned == factor(line, RULES.limits.table_max)
        assert (line.odds is not None) == (line.outcome in (LineOutcome.WIN, LineOutcome.WIN_CAPPED))


@given(DEALS)
def test_every_published_row_can_be_settled_and_survives_the_wire(cards: tuple[Card, ...]) -> None:
    facts = facts_of_deal(cards)
    published = outcome(facts, RULES)
    assert msgspec.json.decode(msgspec.json.encode(published), type=Outcome) == published
    assert (published.dealer_after_purchase is not None) == bool(purchase_offered(facts))
    for box in published.boxes:
        for hand in box.hands:
            for name in hand.rows:
                insured = "insured" in name
                slip = BoxSlip(
                    box.box,
                    ante=100,
                    pattern=hand.pattern,
                    decision=Decision.INSURANCE if insured else Decision.BET,
                    insurance=100 if insured else 0,
                    bought="bought" in name,
                )
                lines = settle((slip,), published)
                assert {line.wager for line in lines} == set(hand.rows[name])


@given(DEALS)
def test_p8_a_round_takes_at_most_26_different_cards(cards: tuple[Card, ...]) -> None:
    facts: Facts = facts_of_deal(cards)
    drawn = () if facts.replacement is None else (facts.replacement,)
    lying = [*(card for box in BOXES for card in facts.boxes[box]), *facts.dealer, *facts.switch, *drawn]
    assert len(lying) == len(set(lying)) <= 26
