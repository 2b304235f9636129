"""The oracle on the other poker games and on the settings: worked examples, cases by rule, properties."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from oracle import expected_balances, explain, insurance_range, judge, parse, settle
from oracle_family import GAMES, LIVE, bonus_stakes, terms_of

COUNTS = {
    "grandmaster_russian_poker": 6,
    "royal_poker": 5,
    "golden_oasis": 4,
    "oasis_with_bonus": 6,
    "caribbean_poker": 3,
    "oasis_poker": 1,
}
RUSSIAN, ROYAL, GOLDEN, BONUS, CARIBBEAN, OASIS = COUNTS
OPTIONS = {"SIXTH_CARD": "sixth", "EXCHANGE": "exchange"}
WORKED = json.loads((Path(__file__).parent / "rules/examples.json").read_text())["examples"]
EXAMPLES = [example for example in WORKED if example["game"] in COUNTS]
CHECKED = [example for example in EXAMPLES if "checks" in example["expected"]]
SETTLED = [example for example in EXAMPLES if "lines" in example["expected"]]

QUALIFIED = "Ah Kd 8c 6s 3h"
NOTHING = "Kh Qd 8c 6s 3h"
NINES = "9s 9h 5d 4c 2s"
POOR = "Js Th 7d 5c 2s"
TRIPS = "9s 9h 9d 4c 2c"
FLUSH = "9s 8s 5s 4s 2s"


def wagers(example: dict[str, Any], by: str | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Cards of an example, and the bets of one of its players: a passenger follows his owner (OAB-15)."""
    lying, box = example["cards"], dict[str, Any]()
    for step in example["decisions"]:
        match step["action"]:
            case "ANTE" if step.get("by") == by:
                box["ante"] = step["amount"]
            case "BONUS_B":
                box["bonus"] = step["amount"]
            case "BET" | "FOLD" as action:
                box["final" if step["stage"] == "final_options" else "option"] = action.lower()
            case "SIXTH_CARD" | "EXCHANGE" as action:
                box |= {"option": OPTIONS[action], "positions": step.get("positions", [])}
            case "BUY":
                box["bought"] = True
            case other:
                assert other in ("NO_BUY", "ANTE")
    cards = {"box1": lying["player_initial"], "box1_drawn": lying.get("switch", [])}
    cards |= {"dealer": lying["dealer_initial"], "replacement": lying.get("dealer_replacement")}
    return cards, {"game": example["game"], "settings": example["config"], "box1": box}


def test_every_example_of_the_games_is_here() -> None:
    assert Counter(example["game"] for example in EXAMPLES) == COUNTS


@pytest.mark.parametrize("example", SETTLED, ids=lambda example: example["id"])
def test_example_wager_by_wager(example: dict[str, Any]) -> None:
    expected = example["expected"]
    seen, total = [], Counter[str]()
    for by in sorted({step.get("by", "") for step in example["decisions"]}):
        cards, bets = wagers(example, by or None)
        lines = explain(cards, bets)
        seen += [(f"{by}:{line.wager}".strip(":"), line.stake, line.outcome, line.returned) for line in lines]
        total += Counter(settle(cards, bets))
    assert seen == [
        (line["wager"], line["stake"], line["outcome"], line["returned"]) for line in expected["lines"]
    ]
    assert (total["staked"], total["returned"]) == (expected["total_staked"], expected["total_returned"])


@pytest.mark.parametrize("example", CHECKED, ids=lambda example: example["id"])
def test_example_bonus_stakes(example: dict[str, Any]) -> None:
    accepted = bonus_stakes(example["decisions"][0]["amount"], GAMES[example["game"]].settings)
    checks = example["expected"]["checks"]
    assert [check["request"] in accepted for check in checks] == [check["accepted"] for check in checks]


def told(
    game: str, dealer: str, box: dict[str, Any], *, drawn: str = "", replacement: str = "", **settings: Any
) -> str:
    """Settle one box, ante 10 unless stated, and tell each wager as outcome and what came back."""
    place = "box2" if game == LIVE else "box1"
    staked = {"ante": 10} | {key: value for key, value in box.items() if key != "hand"}
    texts = {place: box.get("hand", NINES), "dealer": dealer, "replacement": replacement}
    texts["switch" if game == LIVE else f"{place}_drawn"] = drawn
    cards = {name: text.split() for name, text in texts.items()}
    lines = explain(cards, {"game": game, "settings": settings, place: staked})
    return ", ".join(f"{line.wager} {line.stake} {line.outcome} {line.returned}" for line in lines)


BET: dict[str, Any] = {"option": "bet"}
BUY: dict[str, Any] = {"option": "bet", "bought": True}
SIXTH: dict[str, Any] = {"option": "sixth", "final": "bet"}


def change(*positions: int, **more: Any) -> dict[str, Any]:
    return {"option": "exchange", "positions": list(positions), "final": "bet"} | more


@pytest.mark.parametrize(("game", "bet"), [(RUSSIAN, "BET"), (ROYAL, "RAISE")])
def test_russian_games(game: str, bet: str) -> None:
    """GRP-07 to GRP-17, ROY-05 to ROY-11, D-03, D-18, D-35, D-41."""
    assert told(game, QUALIFIED, BET) == f"ANTE 10 PUSH 10, {bet} 20 WIN 40"
    assert told(game, "Th Td 8c 6s 3h", BET) == f"ANTE 10 LOSE 0, {bet} 20 LOSE 0"
    assert told(game, "9d 9c 5h 4d 2h", BET) == f"ANTE 10 PUSH 10, {bet} 20 PUSH 20"
    assert told(game, NOTHING, BET | {"hand": POOR}) == f"ANTE 10 WIN 20, {bet} 20 PUSH 20"
    assert told(game, QUALIFIED, {"option": "fold"}) == "ANTE 10 LOSE 0"
    sixth = "ANTE 10 PUSH 10, SIXTH_FEE 10 FEE 0, "
    assert told(game, QUALIFIED, SIXTH, drawn="9d") == f"{sixth}{bet} 20 WIN 80"
    straights = SIXTH | {"hand": "9s 8h 7d 6c 5s"}
    assert told(game, QUALIFIED, straights, drawn="4d") == f"{sixth}{bet} 20 WIN 180"
    five = "ANTE 10 PUSH 10, EXCHANGE_FEE 10 FEE 0, "
    assert told(game, QUALIFIED, change(5, 4, 3, 2, 1), drawn="Tc Td Jc Jd 2c") == f"{five}{bet} 20 WIN 60"
    fold = SIXTH | {"final": "fold"}
    assert told(game, QUALIFIED, fold, drawn="9d") == "ANTE 10 LOSE 0, SIXTH_FEE 10 FEE 0"


@pytest.mark.parametrize(("game", "bet"), [(RUSSIAN, "BET"), (ROYAL, "RAISE")])
def test_purchase_in_the_russian_games(game: str, bet: str) -> None:
    """GRP-15 to GRP-17, ROY-09, D-17, D-18, D-35."""
    pushed = f"ANTE 10 PUSH 10, {bet} 20 PUSH 20, BUY_FEE 10 FEE 0"
    assert told(game, NOTHING, BUY, replacement="2c") == pushed
    assert told(game, NOTHING, BUY, replacement="8d") == f"ANTE 10 PUSH 10, {bet} 20 WIN 40, BUY_FEE 10 FEE 0"
    assert told(game, NOTHING, BUY, replacement="Qc") == f"ANTE 10 LOSE 0, {bet} 20 LOSE 0, BUY_FEE 10 FEE 0"
    poor = BUY | {"hand": POOR}
    assert told(game, NOTHING, poor, replacement="2c") == pushed
    assert told(game, NOTHING, poor, replacement="8d").startswith("ANTE 10 LOSE 0")
    refused = told(game, NOTHING, poor, replacement="8d", purchase_needs_combination=True)
    assert refused == f"ANTE 10 WIN 20, {bet} 20 PUSH 20"
    assert told(game, QUALIFIED, BUY) == f"ANTE 10 PUSH 10, {bet} 20 WIN 40"
    offered = told(LIVE, NOTHING, poor, replacement="8d", purchase_needs_combination=False)
    assert offered == "ANTE 10 LOSE 0, BET 20 LOSE 0, BUY_FEE 10 FEE 0"
    folded = {"option": "fold", "bought": True}
    assert told(game, NOTHING, folded, replacement="8d") == "ANTE 10 LOSE 0"


@pytest.mark.parametrize("game", [GOLDEN, BONUS, CARIBBEAN, OASIS])
def test_games_that_pay_the_ante(game: str) -> None:
    """GOA-08 to GOA-11, OAB-09 to OAB-12, CAR-05 to CAR-08, OAS-06; no second combination, no purchase."""
    assert told(game, QUALIFIED, BET) == "ANTE 10 WIN 20, BET 20 WIN 40"
    assert told(game, "Th Td 8c 6s 3h", BET) == "ANTE 10 LOSE 0, BET 20 LOSE 0"
    assert told(game, "9d 9c 5h 4d 2h", BET) == "ANTE 10 PUSH 10, BET 20 PUSH 20"
    assert told(game, NOTHING, BUY | {"hand": POOR}) == "ANTE 10 WIN 20, BET 20 PUSH 20"
    assert told(game, NOTHING, BUY, replacement="Qc") == "ANTE 10 WIN 20, BET 20 PUSH 20"
    assert told(game, "Qh Qd 8c 6s 3h", BET | {"hand": "As Ac Kd 4c 2s"}) == "ANTE 10 WIN 20, BET 20 WIN 40"
    assert told(game, QUALIFIED, BET | {"hand": "9s 9d 9c Ac Ks"}) == "ANTE 10 WIN 20, BET 20 WIN 80"
    assert told(game, QUALIFIED, {"option": "fold"}) == "ANTE 10 LOSE 0"
    assert "SIXTH_FEE" not in told(game, QUALIFIED, SIXTH)
    assert settle({}, {"game": game, "late": True, "box1": BUY | {"ante": 10}})["staked"] == 30


BY_COUNT, SAME = (10, 20, 30, 20, 10), (10, 10, 10, 10, 10)
PRICES = {GOLDEN: BY_COUNT, OASIS: BY_COUNT, BONUS: (10, 15, 20, 20, 10), RUSSIAN: SAME, ROYAL: SAME}


@pytest.mark.parametrize(("game", "prices"), PRICES.items())
def test_price_of_an_exchange(game: str, prices: tuple[int, ...]) -> None:
    """GOA-06, OAS-04, OAB-06, GRP-10, ROY-05, D-22; the fee is gone in a fold as well."""
    drawn = ["Tc", "Td", "Jc", "Js", "2c"]
    for count, price in enumerate(prices, 1):
        box = change(*range(1, count + 1), final="fold")
        settled = told(game, QUALIFIED, box, drawn=" ".join(drawn[:count]))
        assert settled == f"ANTE 10 LOSE 0, EXCHANGE_FEE {price} FEE 0"
    dear = told(game, QUALIFIED, change(4, 3), drawn="9d Tc", exchange_prices=[1, "5/2", 2, 2, 1])
    assert "EXCHANGE_FEE 25 FEE 0" in dear and dear.endswith(" 20 WIN 80")


def test_balances_at_a_table_with_its_own_game_and_prices() -> None:
    cards = {"box1": NINES.split(), "box1_drawn": ["Tc"], "dealer": QUALIFIED.split()}
    table = {"game": GOLDEN, "settings": {"exchange_prices": (2, 2, 2, 2, 2)}, "cards": cards}
    rounds = [table | {"bets": {"ann": {"box1": change(1, final="fold") | {"ante": 10}}}}]
    assert expected_balances({"ann": 100}, rounds) == {"ann": 70}


def test_ante_without_a_whole_half_is_refused() -> None:
    """D-54: no line at all, whatever the box asks for; whole prices take any Ante."""
    odd = BET | {"ante": 15, "bonus": 5, "hand": "7s 7h 7d 4c 2s"}
    assert told(BONUS, QUALIFIED, odd) == ""
    assert told(GOLDEN, QUALIFIED, odd) == "ANTE 15 WIN 30, BET 30 WIN 120"
    assert told(BONUS, QUALIFIED, odd, exchange_prices=(1, 2, 3, 2, 1)).startswith("ANTE 15 WIN 30")
    assert told(GOLDEN, QUALIFIED, odd, exchange_prices=(1, 1.5, 2, 2, 1)) == ""
    void = {"game": BONUS, "cancelled": True, "box1": odd}
    assert explain({}, void) == []


@pytest.mark.parametrize("game", [GOLDEN, BONUS, OASIS, RUSSIAN])
def test_silence(game: str) -> None:
    """D-52: a combination bets, the rest folds; after a draw as well. A refused wish is silence."""
    for option in (None, "split"):
        assert " BET 20 " in told(game, QUALIFIED, {"option": option})
        assert told(game, QUALIFIED, {"option": option, "hand": POOR}) == "ANTE 10 LOSE 0"
    lost = "ANTE 10 LOSE 0, EXCHANGE_FEE 10 FEE 0"
    assert told(game, QUALIFIED, change(1, final=None), drawn="Qc") == lost
    assert told(game, QUALIFIED, change(3, final=None), drawn="9d").endswith("BET 20 WIN 80")
    assert " BET 20 " in told(game, QUALIFIED, {"hand": POOR, "final": "bet"})
    no_exchange = told(CARIBBEAN, QUALIFIED, change(1, 2, final=None))  # CAR-04
    assert no_exchange == "ANTE 10 WIN 20, BET 20 WIN 40"


@pytest.mark.parametrize("game", [GOLDEN, OASIS, BONUS])
def test_forced_bet_after_five_cards(game: str) -> None:
    """OAS-05, GOA-07, D-22: off, unless the table forces it."""
    box, drawn = change(1, 2, 3, 4, 5, final="fold"), "Tc 8d 7c 5h 3c"
    assert told(game, QUALIFIED, box, drawn=drawn) == "ANTE 10 LOSE 0, EXCHANGE_FEE 10 FEE 0"
    forced = "ANTE 10 LOSE 0, EXCHANGE_FEE 10 FEE 0, BET 20 LOSE 0"
    assert told(game, QUALIFIED, box, drawn=drawn, force_bet_after_five=True) == forced
    four = change(1, 2, 3, 4, final="fold")
    assert "BET" not in told(game, QUALIFIED, four, drawn="Tc 8d 7c 5h", force_bet_after_five=True)


def test_dark_boxes() -> None:
    """GOA-12, OAB-27: Ante and Bet at once, no choice counts; the other games know no dark box."""
    dark = change(1, final="fold") | {"dark": True, "hand": POOR}
    assert told(GOLDEN, QUALIFIED, dark) == "ANTE 10 LOSE 0, BET 20 LOSE 0"
    sevens = dark | {"hand": "7s 7h 7d 4c 2s", "bonus": 5}
    assert told(BONUS, QUALIFIED, sevens) == "ANTE 10 WIN 20, BET 20 WIN 80, BONUS_B 5 WIN 105"
    assert told(OASIS, QUALIFIED, {"option": "fold", "dark": True}) == "ANTE 10 LOSE 0"


@pytest.mark.parametrize(
    ("hand", "odds"),
    [
        ("As Ks Qs Js Ts", 1000),
        ("9s 8s 7s 6s 5s", 500),
        ("7s 7h 7d 7c 2s", 300),
        ("7s 7h 7d 2c 2s", 100),
        ("Js 9s 7s 5s 2s", 50),
        ("5s 4h 3d 2c As", 40),
        ("7s 7h 7d Ac Ks", 20),
        ("7s 7h As Ac 2s", 5),
        ("9s 9h As Ac 2s", None),
        ("7s 7h Js Tc 2s", None),
        ("9s 9h 9c Ts 2s", None),
        ("As Kh 9s 5c 2s", None),
    ],
)
def test_oasis_bonus(hand: str, odds: int | None) -> None:
    """OAB-18, OAB-20 to 22, D-23: after a fold it stands, after an exchange and by setting it does not."""
    paid = f"BONUS_B 5 WIN {5 + 5 * odds}" if odds else "BONUS_B 5 LOSE 0"
    dealer, box = "Qh Qd 8c 6d 3h", {"hand": hand, "bonus": 5}
    for choice in ("bet", "fold"):
        assert told(BONUS, dealer, box | {"option": choice}).endswith(paid)
    lost = "BONUS_B 5 LOSE 0"
    assert told(BONUS, dealer, box | {"option": "fold"}, fold_loses_bonus=True).endswith(lost)
    assert told(BONUS, dealer, box | {"option": "bet"}, fold_loses_bonus=True).endswith(paid)
    assert told(BONUS, dealer, box | change(5), drawn="4c").endswith(lost)


def test_bonus_stakes() -> None:
    """OAB-19: refused beside too small an Ante or off the list; only this game has the bonus."""
    assert bonus_stakes(20, GAMES[BONUS].settings) == [Fraction(1, 2), 1, 5, 10]
    sevens = BET | {"hand": "7s 7h 7d 4c 2s"}
    for stake in (2, 10):
        assert "BONUS" not in told(BONUS, QUALIFIED, sevens | {"bonus": stake})
    cents = [50, 100, 500, 1000]
    ample = sevens | {"ante": 1000, "bonus": 500}
    assert "BONUS_B 500 WIN" in told(BONUS, QUALIFIED, ample, bonus_stakes=cents)
    for game in (RUSSIAN, GOLDEN, OASIS, CARIBBEAN):
        assert "BONUS" not in told(game, QUALIFIED, sevens | {"bonus": 5})


def test_insurance_settings() -> None:
    """D-12, D-14, D-24."""
    early = {"option": "insurance", "insurance": 10, "hand": TRIPS}
    drawn = {"option": "exchange", "positions": [5], "final": "insurance", "insurance": 10, "hand": TRIPS}
    kept = "BET 20 PUSH 20, INSURANCE 10 WIN 20"
    assert told(LIVE, NOTHING, drawn, drawn="Js") == f"ANTE 10 PUSH 10, EXCHANGE_FEE 10 FEE 0, {kept}"
    paid = told(LIVE, NOTHING, drawn, drawn="Js", ante_paid_when_insured=True)
    assert paid == f"ANTE 10 WIN 20, EXCHANGE_FEE 10 FEE 0, {kept}"
    pat: dict[str, Any] = {"insurance_in_options": True}
    for final in (None, "fold"):  # the Bet is placed with the insurance
        assert told(LIVE, NOTHING, early | {"final": final}, **pat) == f"ANTE 10 PUSH 10, {kept}"
    assert told(RUSSIAN, NOTHING, drawn, drawn="Js").endswith("FEE 0, BET 20 PUSH 20")
    alone = "ANTE 10 WIN 20, BET 20 PUSH 20"
    assert told(LIVE, NOTHING, early) == told(LIVE, NOTHING, early | {"hand": NINES}, **pat) == alone
    straight = early | {"hand": "9s 8h 7d 6c 5c"}
    tie, higher, lower = "9h 8d 7c 6s 5h", "Th 9d 8c 7s 6h", "8s 8d 7c 6s 5h"
    assert told(LIVE, tie, straight, **pat).endswith("INSURANCE 10 LOSE 0")
    settings = pat | {"insurance_returned_on_tie": True}
    assert told(LIVE, tie, straight, **settings).endswith("INSURANCE 10 PUSH 10")
    assert told(LIVE, higher, straight, **settings).endswith("INSURANCE 10 RETURN_BONUS 10")
    assert told(LIVE, lower, straight, **settings).endswith("INSURANCE 10 LOSE 0")
    void = {"cancelled": True, "settings": settings, "box2": early | {"ante": 10}}
    assert settle({}, void)["returned"] == settle({}, void)["staked"] == 40


@pytest.mark.parametrize(
    ("maximum", "settings", "most"),
    [
        (None, {}, 30),
        (45, {}, 22),
        (45, {"rounding": "up"}, 23),
        (45, {"insurance_halved_first": True}, 30),
        (25, {"insurance_halved_first": True}, 25),
        (45, {"max_payout_includes_stake": True}, 12),
    ],
)
def test_most_insurance(maximum: int | None, settings: dict[str, Any], most: int) -> None:
    """RPL-25, D-16, D-21, D-54: three of a kind, Bet 20, possible win 60."""
    held = judge([parse(card) for card in TRIPS.split()])
    assert insurance_range(held, 10, maximum, settings) == range(10, most + 1)


@pytest.mark.parametrize("game", sorted(GAMES))
def test_table_maximum(game: str) -> None:
    """RPL-60 to RPL-63, OAB-23, D-21: the win on the Bet; by setting its stake is part of the maximum."""
    place = "box2" if game == LIVE else "box1"
    cards = {place: FLUSH.split(), "dealer": QUALIFIED.split()}
    limited = [(99, False, 99), (100, True, 80), (119, True, 99), (15, True, 0)]
    for maximum, includes, win in [(100, False, 100), (120, True, 100), *limited]:
        outcome = "WIN" if win == 100 else "WIN_CAPPED"
        bets = {"game": game, "limits": {"max_payout": maximum}, place: BET | {"ante": 10}}
        line = explain(cards, bets | {"settings": {"max_payout_includes_stake": includes}})[1]
        assert (line.stake, line.outcome, line.returned) == (20, outcome, 20 + win)


def test_second_draw_by_setting() -> None:
    """D-17: the king's place gets a king; another rank, or a table that draws once, ends it there."""
    for game in (RUSSIAN, LIVE):
        assert "BET 20 PUSH 20" in told(game, NOTHING, BUY, replacement="Kc")
        assert "BET 20 WIN 40" in told(game, NOTHING, BUY, replacement="Kc 8d", redraw_same_rank=True)
        assert told(game, NOTHING, BUY, replacement="Qc", redraw_same_rank=True).startswith("ANTE 10 LOSE")
        for cards, redraw in (("Kc 8d", False), ("Kc", True), ("Qc 8d", True)):
            with pytest.raises(ValueError, match="the dealer draws"):
                told(game, NOTHING, BUY, replacement=cards, redraw_same_rank=redraw)


def test_paired_straights_as_a_pair() -> None:
    """D-08: all 76,200 + 540 + 60 such hands, and what else holds two straights stays."""
    found: Counter[str] = Counter()
    for low, paired in product(range(10), range(5)):
        ranks = [[14, *range(2, 15)][low + place] for place in (paired, *{*range(5)} - {paired})]
        for suits in product("cdhs", repeat=4):
            cards = [(ranks[0], "c"), (ranks[0], "d"), *zip(ranks[1:], suits, strict=True)]
            found["+".join(judge(cards, "pair").kinds)] += 6  # pairs of other suits are as many each
    assert found == {"STRAIGHT+PAIR": 76_200, "STRAIGHT_FLUSH+PAIR": 540, "ROYAL+PAIR": 60}
    for text in ("9s 8h 7d 6c 5s 4s", "9s 8s 7s 6s 5s Td", "Ks Qs Js Ts As 9h", "9s 8s 7s 6d 5s 4s"):
        cards = [parse(card) for card in text.split()]
        assert judge(cards, "pair") == judge(cards)
    straight = SIXTH | {"hand": "9s 8h 7d 6c 5s"}
    for game in (LIVE, RUSSIAN):
        assert "BET 20 WIN 180" in told(game, QUALIFIED, straight, drawn="5c")
        assert "BET 20 WIN 120" in told(game, QUALIFIED, straight, drawn="5c", paired_straight="pair")


def test_unknown_games_and_settings_are_refused() -> None:
    prices, unfit = {"exchange_prices": (1,) * 5}, {"exchange_prices": (1, 2)}
    straights = [(RUSSIAN, {"paired_straight": "none"}), (GOLDEN, {"paired_straight": "pair"})]
    rest = [(LIVE, {"force_bet_after_five": True}), (GOLDEN, {"rounding": "off"}), (GOLDEN, unfit)]
    for game, settings in [("bridge", {}), (CARIBBEAN, prices), *straights, *rest]:
        with pytest.raises(ValueError, match=f"no such .*{game}"):
            terms_of({"game": game, "settings": settings})


def test_impossible_deals_are_refused() -> None:
    unfit = [(RUSSIAN, change(1, 2), "Tc"), (RUSSIAN, change(1), "Tc Td"), (RUSSIAN, SIXTH, "")]
    for game, box, drawn in [*unfit, (ROYAL, BET, "Tc"), (CARIBBEAN, change(1), "Tc")]:
        with pytest.raises(ValueError, match="cards drawn"):
            told(game, QUALIFIED, box, drawn=drawn)
    for hand, dealer in ((f"{NINES} 2d", QUALIFIED), (NINES, f"{QUALIFIED} 2d")):
        with pytest.raises(ValueError, match="five cards"):
            told(GOLDEN, dealer, BET | {"hand": hand})
    for game, boxes in ((ROYAL, 1), (RUSSIAN, 3), (LIVE, 3), (GOLDEN, 4)):
        assert len(settle({"dealer": QUALIFIED.split()}, {"game": game})) == boxes + 2
        with pytest.raises(ValueError, match="no such box"):
            explain({}, {"game": game, f"box{boxes + 1}": {"ante": 10}})
    with pytest.raises(ValueError, match="no such exchange"):
        told(GOLDEN, QUALIFIED, change())
