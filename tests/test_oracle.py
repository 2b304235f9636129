"""The oracle against the worked examples, an independent evaluator and the exact counts of the rules."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, combinations, pairwise, product
from math import comb, prod, sqrt
from pathlib import Path
from typing import Any

import pytest
from oracle import RANKS, Card, bonus_odds, expected_balances, explain, insurance_range, judge, parse, settle
from phevaluator import evaluate_cards

EXAMPLES: list[dict[str, Any]] = [
    example
    for example in json.loads((Path(__file__).parent / "rules/examples.json").read_text())["examples"]
    if example["game"] == "russian_poker_live"
]
SETTLED = [example for example in EXAMPLES if "lines" in example["expected"]]
RANGES = [example for example in EXAMPLES if "checks" in example["expected"]]
BOX_OF = {"main": "box2", "blind1": "box1", "blind3": "box3"}
DECK = tuple(product(range(2, 15), "cdhs"))

# Part 3 of the rules: hands of each main and second combination, in five cards and in six.
COUNTS = {
    "ROYAL+STRAIGHT_FLUSH": (0, 4),
    "ROYAL+FLUSH": (0, 28),
    "ROYAL+STRAIGHT": (0, 72),
    "ROYAL": (4, 84),
    "STRAIGHT_FLUSH+STRAIGHT_FLUSH": (0, 32),
    "STRAIGHT_FLUSH+FLUSH": (0, 220),
    "STRAIGHT_FLUSH+STRAIGHT": (0, 744),
    "STRAIGHT_FLUSH+AK": (0, 12),
    "STRAIGHT_FLUSH": (36, 648),
    "QUADS+FULL_HOUSE": (0, 936),
    "QUADS+AK": (8, 528),
    "QUADS": (616, 13_200),
    "FULL_HOUSE+FULL_HOUSE": (0, 1_248),
    "FLUSH+FLUSH": (0, 6_580),
    "FLUSH+STRAIGHT": (0, 4_152),
    "FULL_HOUSE+AK": (0, 4_224),
    "STRAIGHT+STRAIGHT": (0, 112_380),
    "FULL_HOUSE": (3_744, 160_512),
    "FLUSH+PAIR": (0, 76_620),
    "FLUSH+AK": (0, 7_704),
    "FLUSH": (5_108, 110_736),
    "STRAIGHT+AK": (0, 4_020),
    "STRAIGHT": (10_200, 245_220),
    "TRIPS+AK": (2_112, 56_320),
    "TWO_PAIR+TWO_PAIR": (0, 61_776),
    "TRIPS": (52_800, 675_840),
    "TWO_PAIR+AK": (3_168, 158_400),
    "TWO_PAIR": (120_384, 2_312_640),
    "PAIR+AK": (84_480, 1_249_680),
    "PAIR": (1_013_760, 8_481_060),
    "AK": (167_280, 1_290_420),
    "NO_GAME": (1_135_260, 5_322_480),
}
BONUS_HANDS = {1000: 4, 500: 36, 100: 624, 75: 3_744, 50: 5_108, 40: 10_200, 20: 4_224, 5: 19_008}


def by_suit_class(
    size: int, rank: int = 14, classes: tuple[str, ...] = ("cdhs",)
) -> Iterator[tuple[tuple[Card, ...], int]]:
    """One hand for each class of hands that differ by the names of suits only (COM-03), and the class's size.

    Suits that took part in the same ranks so far are interchangeable: of them only the number taken matters.
    """
    if size == 0:
        yield (), 1
    elif rank >= 2:
        for taken in product(*(range(len(suits) + 1) for suits in classes)):
            if sum(taken) <= size:
                chosen = list(zip(classes, taken, strict=True))
                cards = tuple((rank, suit) for suits, n in chosen for suit in suits[:n])
                ways = prod(comb(len(suits), n) for suits, n in chosen)
                split = tuple(part for suits, n in chosen for part in (suits[:n], suits[n:]) if part)
                for rest, more in by_suit_class(size - sum(taken), rank - 1, split):
                    yield cards + rest, ways * more


def show(cards: Sequence[Card]) -> list[str]:
    return [RANKS[rank - 2] + suit for rank, suit in cards]


def lay(cards: str) -> list[str]:
    return cards.split()


def wagers(example: dict[str, Any]) -> dict[str, Any]:
    """Decisions of a worked example as the plain bets of one player."""
    box: dict[str, Any] = {"ante": 0}
    bets: dict[str, Any] = {"limits": {"max_payout": example["config"].get("max_table_payout")}}
    bets[BOX_OF[example.get("box", "main")]] = box
    for step in example["decisions"]:
        choice = "final" if step["stage"] == "final_options" else "option"
        match step["action"]:
            case "ANTE" | "LATE_BET":
                box["ante"] = step["amount"]
                bets["late"] = step["action"] == "LATE_BET"
            case "BONUS_B" | "BONUS_D" as bonus:
                box[bonus.lower()] = step["amount"]
            case "BET" | "FOLD" as action:
                box[choice] = action.lower()
            case "SIXTH_CARD":
                box["option"] = "sixth"
            case "EXCHANGE":
                box |= {"option": "exchange", "positions": step["positions"]}
            case "INSURANCE":
                box |= {"final": "insurance", "insurance": step["amount"]}
            case "BUY":
                box["bought"] = True
            case "HIDDEN_CARD_EXPOSED" | "WRONG_RESULT":
                bets["cancelled"] = True
            case other:
                assert other in ("BET_AUTO", "TIMEOUT", "NO_BUY")
    return bets | {"anyone_bought": box.get("bought", False)}


def cards_of(example: dict[str, Any]) -> dict[str, Any]:
    cards = example["cards"]
    return {
        BOX_OF[example.get("box", "main")]: cards.get("player_initial", []),
        "dealer": cards.get("dealer_initial", []),
        "switch": cards.get("switch", []),
        "replacement": cards.get("dealer_replacement"),
    }


def test_every_example_of_the_game_is_here() -> None:
    assert (len(EXAMPLES), len(SETTLED), len(RANGES)) == (78, 75, 3)


@pytest.mark.parametrize("example", SETTLED, ids=lambda example: example["id"])
def test_example_wager_by_wager(example: dict[str, Any]) -> None:
    expected = example["expected"]
    lines = explain(cards_of(example), wagers(example))
    assert [(line.wager, line.stake, line.outcome, line.returned) for line in lines] == [
        (line["wager"], line["stake"], line["outcome"], line["returned"]) for line in expected["lines"]
    ]
    result = settle(cards_of(example), wagers(example))
    assert result["staked"] == expected["total_staked"]
    assert result["returned"] == expected["total_returned"] == result[BOX_OF[example.get("box", "main")]]


@pytest.mark.parametrize(
    "example",
    [example for example in SETTLED if "player_combinations" in example["expected"]],
    ids=lambda example: example["id"],
)
def test_example_combinations(example: dict[str, Any]) -> None:
    cards = example["expected"].get("player_final", example["cards"]["player_initial"])
    if "SIXTH_CARD" in [step["action"] for step in example["decisions"]]:
        cards = [*example["cards"]["player_initial"], example["cards"]["switch"][0]]
    kinds = judge([parse(card) for card in cards]).kinds
    assert [kind for kind in kinds if kind != "NO_GAME"] == example["expected"]["player_combinations"]


@pytest.mark.parametrize("example", RANGES, ids=lambda example: example["id"])
def test_example_insurance_range(example: dict[str, Any]) -> None:
    held = judge([parse(card) for card in example["cards"]["player_final"]])
    ante, maximum = example["decisions"][0]["amount"], example["config"].get("max_table_payout")
    accepted = insurance_range(held, ante, maximum)
    assert [check["request"] in accepted for check in example["expected"]["checks"]] == [
        check["accepted"] for check in example["expected"]["checks"]
    ]


@pytest.mark.parametrize("size", [5, 6])
def test_ranks_agree_with_phevaluator(size: int) -> None:
    """Hands from small parts of the deck, where made hands and ties are common, in the order of both."""
    rng = random.Random(size)
    hands = [rng.sample(rng.sample(DECK, 14), size) for _ in range(3_000)]
    hands += [rng.sample(DECK, size) for _ in range(2_000)]
    seen = sorted((-evaluate_cards(*show(cards)), judge(cards).strength) for cards in hands)
    for (value, strength), (next_value, next_strength) in pairwise(seen):
        assert (value < next_value) == (strength < next_strength)
        assert strength <= next_strength
    assert len({value for value, _ in seen}) > 1_000


def test_five_card_counts_and_bonus_rows() -> None:
    kinds: Counter[str] = Counter()
    bonus_b: Counter[int] = Counter()
    bonus_d: Counter[int] = Counter()
    classes = 0
    for cards, ways in by_suit_class(5):
        held = judge(cards)
        kinds["+".join(held.kinds)] += ways
        bonus_b[bonus_odds(held, held.kinds)] += ways
        bonus_d[bonus_odds(held, held.kinds[:1])] += ways
        classes += 1
    assert classes == 134_459
    assert kinds == {name: five for name, (five, _) in COUNTS.items() if five}
    assert bonus_b == BONUS_HANDS | {1: 256_688, 0: 2_299_324}
    assert bonus_d == BONUS_HANDS | {1: 167_280, 0: 2_388_732}


def test_six_card_counts_of_the_dearest_hands() -> None:
    """Every six-card hand that holds a royal or straight flush, or four of a kind."""
    up = [14, *range(2, 15)]
    suited = [[(rank, suit) for rank in up[low : low + 5]] for suit in "cdhs" for low in range(10)]
    fours = [[(rank, suit) for suit in "cdhs"] for rank in range(2, 15)]
    made = {
        frozenset([*core, *rest])
        for core in chain(suited, fours)
        for rest in combinations([card for card in DECK if card not in core], 6 - len(core))
    }
    found = Counter("+".join(judge(sorted(cards)).kinds) for cards in made)
    dear = ("ROYAL", "STRAIGHT_FLUSH", "QUADS")
    assert found == {name: six for name, (_, six) in COUNTS.items() if name.split("+")[0] in dear}


def test_six_card_counts_by_sample() -> None:
    """Each kind's share of a seeded sample within five standard errors, a hand more for the rare ones."""
    rng = random.Random(20_358_520)
    size = 25_000
    found = Counter("+".join(judge(rng.sample(DECK, 6)).kinds) for _ in range(size))
    assert sum(six for _, six in COUNTS.values()) == comb(52, 6)
    assert set(found) <= set(COUNTS)
    for name, (_, six) in COUNTS.items():
        share = six / comb(52, 6)
        assert abs(found[name] - size * share) <= 5 * sqrt(size * share) + 1, name


NO_GAME_DEALER = lay("Kh Qd 8c 6s 3h")
CARDS: dict[str, Any] = {
    "box1": lay("9s 9h 5d 4c 2s"),
    "box2": lay("Js Jh 4d 7c 9c"),
    "box3": lay("Qs Th 7d 5c 2d"),
    "dealer": NO_GAME_DEALER,
    "switch": lay("Jd Ac Tc 3c 6d"),
    "replacement": None,
}
DRAWN = CARDS | {"replacement": "Kd"}  # Kd Qd 8c 6s 3h: still no game
PAIRED = CARDS | {"replacement": "Qc"}  # Qc Qd 8c 6s 3h: a pair of queens


def outcomes(cards: dict[str, Any], bets: dict[str, Any]) -> dict[str, str]:
    return {f"{line.box} {line.wager}": line.outcome for line in explain(cards, bets)}


def test_purchase_counts_for_those_who_bought_only() -> None:
    """RPL-35, RPL-37: one draw, and a box that did not buy stays with the dealer's first five cards."""
    bets = {"box1": {"ante": 10, "bought": True}, "box2": {"ante": 10, "option": "bet"}}
    lost = {"box1 ANTE": "LOSE", "box1 BET": "LOSE", "box1 BUY_FEE": "FEE"}
    assert outcomes(PAIRED, bets) == lost | {"box2 ANTE": "WIN", "box2 BET": "PUSH"}
    assert settle(PAIRED, bets) == {"box1": 0, "box2": 40, "box3": 0, "returned": 40, "staked": 70}


@pytest.mark.parametrize(
    ("name", "box"),
    [
        ("box3", {"ante": 10}),
        ("box2", {"ante": 10, "option": "fold"}),
        ("box2", {"ante": 10, "option": "exchange", "positions": [1, 2], "final": "bet"}),
    ],
    ids=["blind box without a combination", "folded box", "final hand without a combination"],
)
def test_purchase_is_refused(name: str, box: dict[str, Any]) -> None:
    """RPL-33: somebody else bought, this box may not."""
    cards = DRAWN | {"switch": lay("3d Tc 5h 6d 8d")}
    refused = {name: box | {"bought": True}, "anyone_bought": True}
    assert explain(cards, refused) == explain(cards, {name: box, "anyone_bought": True})
    assert all(line.wager != "BUY_FEE" for line in explain(cards, refused))


def test_no_purchase_from_a_qualified_dealer() -> None:
    bets = {"box1": {"ante": 10, "bought": True}, "anyone_bought": False}
    cards = CARDS | {"dealer": lay("Kh Ad 8c 6s 3h")}
    assert outcomes(cards, bets) == {"box1 ANTE": "PUSH", "box1 BET": "WIN"}


def test_drawn_card_and_purchase_must_agree() -> None:
    """RPL-35, RPL-38: no card without a buyer, no buyer without a card."""
    with pytest.raises(ValueError, match="if, and only if"):
        explain(DRAWN, {"box1": {"ante": 10}, "anyone_bought": False})
    with pytest.raises(ValueError, match="if, and only if"):
        explain(CARDS, {"box1": {"ante": 10, "bought": True}, "anyone_bought": True})
    with pytest.raises(ValueError, match="4 cards"):
        explain(CARDS, {"box1": {"ante": 10, "bought": True}})


INSURED = {"ante": 10, "option": "exchange", "positions": [3], "final": "insurance", "insurance": 30}


def test_insurance_wins_at_the_showdown_and_stays_won() -> None:
    """RPL-26, RPL-36, RPL-46, D-15."""
    kept = {"box2 EXCHANGE_FEE": "FEE", "box2 INSURANCE": "WIN"}
    alone = {"box2 ANTE": "PUSH", "box2 BET": "PUSH"}
    assert outcomes(CARDS, {"box2": INSURED}) == kept | alone
    bought = {"box2": INSURED | {"bought": True}}
    assert outcomes(PAIRED, bought) == kept | {"box2 ANTE": "PUSH", "box2 BET": "WIN", "box2 BUY_FEE": "FEE"}


def test_insurance_on_a_tie_is_lost() -> None:
    """RPL-27, D-14: two straights to the nine."""
    cards = CARDS | {"box2": lay("9s 8h 7d 6c 2c"), "box1": [], "box3": []}
    cards |= {"dealer": lay("9h 8d 7c 6s 5h"), "switch": lay("5d Ac Tc 3c 6d")}
    bets = {"box2": INSURED | {"positions": [5]}}
    kept = {"box2 ANTE": "PUSH", "box2 EXCHANGE_FEE": "FEE", "box2 BET": "PUSH"}
    assert outcomes(cards, bets) == kept | {"box2 INSURANCE": "LOSE"}


@pytest.mark.parametrize(
    ("change", "dealt", "switch"),
    [
        ({"insurance": 9}, "Js Jh 4d 7c 9c", "Jd"),
        ({"insurance": 31}, "Js Jh 4d 7c 9c", "Jd"),
        ({"option": None}, "Js Jh Jd 7c 9c", "4d"),
        ({"insurance": 10}, "Js Jh 4d 7c 9c", "Ac"),
    ],
    ids=["below one ante", "above half the win", "after silence", "below three of a kind"],
)
def test_refused_insurance_leaves_the_player_silent(change: dict[str, Any], dealt: str, switch: str) -> None:
    """RPL-14, RPL-22, RPL-24, RPL-25: his combination bets by itself."""
    lines = explain(CARDS | {"box2": lay(dealt), "switch": [switch]}, {"box2": INSURED | change})
    assert [line.wager for line in lines if line.wager in ("BET", "INSURANCE")] == ["BET"]


def test_fold_after_a_draw_and_bonus_b_as_dealt() -> None:
    """RPL-23, RPL-54: three sevens made by the exchange are folded and earn B nothing."""
    cards = CARDS | {"box2": lay("7s 7h 4d Jc 9c"), "box3": [], "switch": ["7d"]}
    folded = outcomes(cards, {"box2": INSURED | {"final": "fold", "bonus_b": 5}})
    assert folded == {"box2 ANTE": "LOSE", "box2 EXCHANGE_FEE": "FEE", "box2 BONUS_B": "LOSE"}


def test_silence_bets_a_combination_and_folds_the_rest() -> None:
    """RPL-22."""
    assert outcomes(CARDS, {"box2": {"ante": 10}}) == {"box2 ANTE": "WIN", "box2 BET": "PUSH"}
    nothing = CARDS | {"box2": CARDS["box3"], "box3": CARDS["box2"]}
    assert outcomes(nothing, {"box2": {"ante": 10, "option": None, "final": None}}) == {"box2 ANTE": "LOSE"}


@pytest.mark.parametrize("reason", ["late", "cancelled"])
def test_void_gives_everything_back(reason: str) -> None:
    """RPL-04, RPL-73: net nothing, whatever lies on the table."""
    bets = {"box1": {"ante": 10, "bonus_b": 2}, "box2": INSURED | {"bonus_d": 3, "bought": True}}
    bets |= {"box3": {"ante": 7}, reason: True}
    result = settle(CARDS, bets)
    assert result == {"box1": 32, "box2": 83, "box3": 21, "returned": 136, "staked": 136}
    assert {line.outcome for line in explain({}, bets)} == {"REFUND"}


def test_bonus_needs_an_ante() -> None:
    """RPL-06."""
    assert explain(CARDS, {"box1": {"ante": 0, "bonus_b": 5}, "box2": None}) == []


def test_bonus_d_is_lost_without_a_game_even_if_bought() -> None:
    """RPL-58: the drawn nine makes a straight; D knows the first five cards only."""
    to_straight = CARDS | {"dealer": lay("Kh 7h 8c 6s 5h"), "replacement": "9d"}
    bets = {"box1": {"ante": 10, "bought": True, "bonus_d": 5}}
    assert outcomes(to_straight, bets)["box1 BONUS_D"] == "LOSE"
    assert outcomes(to_straight, bets)["box1 BET"] == "LOSE"


def test_dealer_lays_off_his_highest_card() -> None:
    """RPL-34: the ace goes, even beside 3-4-5, and the six makes a straight to the seven."""
    cards = CARDS | {"dealer": lay("4h Ad 3s 5h 7c"), "replacement": "6s", "box2": [], "switch": []}
    assert outcomes(cards, {"box1": {"ante": 10, "bought": True}})["box1 BET"] == "LOSE"


@pytest.mark.parametrize("text", ["1s", "Ax", "A", "Asx", "10s"])
def test_text_that_is_no_card_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no such card"):
        parse(text)


def test_impossible_cards_and_exchanges_are_refused() -> None:
    with pytest.raises(ValueError, match="lies twice"):
        explain(CARDS | {"box3": CARDS["box1"]}, {"box1": {"ante": 10}})
    for positions in ([0], [6], [1, 1]):
        with pytest.raises(ValueError, match="no such exchange"):
            explain(CARDS, {"box2": {"ante": 10, "option": "exchange", "positions": positions}})
    with pytest.raises(ValueError, match="no such exchange"):
        explain(CARDS | {"switch": []}, {"box2": {"ante": 10, "option": "exchange", "positions": [1]}})


def test_suits_and_order_of_cards_change_nothing() -> None:
    """P-6, over random rounds with every wager on the table."""
    rng = random.Random(6)
    for _ in range(300):
        dealt = rng.sample(DECK, 25)
        suits = dict(zip("cdhs", rng.sample("cdhs", 4), strict=True))
        names = ("box1", "box2", "box3", "dealer", "switch")
        places = {name: dealt[5 * i : 5 * i + 5] for i, name in enumerate(names)}
        renamed = {name: [(rank, suits[suit]) for rank, suit in cards] for name, cards in places.items()}
        for name in ("box1", "box2", "box3", "dealer"):
            rng.shuffle(renamed[name])
        box = {"ante": 10, "bonus_b": 2, "bonus_d": 3}
        bets = {"box1": box, "box2": box | {"option": "sixth", "final": "bet"}, "box3": box}
        first, second = ({name: show(cards) for name, cards in table.items()} for table in (places, renamed))
        assert settle(first, bets) == settle(second, bets)


def test_balances_after_rounds() -> None:
    """P-5: opening balance less stakes plus returns, player by player."""
    folded = {"ante": 5, "option": "fold"}
    rounds = [
        {"cards": CARDS, "bets": {"ann": {"box1": {"ante": 10}}, "bob": {"box2": folded}}},
        {"cards": {}, "bets": {"bob": {"box2": {"ante": 5}, "cancelled": True}}},
    ]
    opening = {"ann": 100, "bob": 100, "cid": 7}
    assert expected_balances(opening, rounds) == {"ann": 110, "bob": 95, "cid": 7}
    assert opening["ann"] == 100
