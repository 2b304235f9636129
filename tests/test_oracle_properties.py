"""What holds for every round of the poker family, whatever was dealt and asked for (part 4 of the rules)."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product
from typing import Any

import pytest
from oracle import PAYS, RANKS, expected_balances, explain, judge, parse, settle
from oracle_family import GAMES, LIVE, terms_of

DECK = [rank + suit for rank, suit in product(RANKS, "cdhs")]
SISTERS = sorted(set(GAMES) - {LIVE})
FACTOR = {"PUSH": 1, "LOSE": 0, "FEE": 0}


def random_round(rng: random.Random, game: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A round of a sister game with every box in play; asked for and allowed by chance."""
    shoe, bets = rng.sample(DECK, 46), dict[str, Any](game=game)
    cards: dict[str, Any] = {"dealer": [shoe.pop() for _ in range(5)]}
    for place in terms_of(bets).boxes:
        option = rng.choice([*GAMES[game].options, "bet", None])
        count = {"exchange": rng.randint(1, 5), "sixth": 1}.get(option or "", 0)
        dark = GAMES[game].dark and rng.random() < 0.2
        cards |= {place: [shoe.pop() for _ in range(5)]}
        cards |= {f"{place}_drawn": [shoe.pop() for _ in range(0 if dark else count)]}
        box = {"ante": 10, "option": option, "positions": rng.sample(range(1, 6), count), "dark": dark}
        box |= {"bonus": rng.choice([0, 5]), "bought": rng.random() < 0.5}
        bets[place] = box | {"final": rng.choice(["bet", "fold", None])}
    bought = GAMES[game].purchase and any(bets[place]["bought"] for place in terms_of(bets).boxes)
    return cards | {"replacement": [shoe.pop()] if bought else []}, bets


@pytest.mark.parametrize("game", SISTERS)
def test_suits_and_order_of_cards_change_nothing(game: str) -> None:
    """P-6: the positions go along with the cards."""
    rng = random.Random(game)
    for _ in range(60):
        cards, bets = random_round(rng, game)
        suits = dict(zip("cdhs", rng.sample("cdhs", 4), strict=True))
        other = {place: [card[0] + suits[card[1]] for card in lying] for place, lying in cards.items()}
        turned = dict(bets)
        for place in terms_of(bets).boxes:
            order = rng.sample(range(5), 5)
            other[place] = [other[place][index] for index in order]
            moved = [order.index(position - 1) + 1 for position in bets[place]["positions"]]
            turned[place] = bets[place] | {"positions": moved}
        rng.shuffle(other["dealer"])
        assert settle(cards, bets) == settle(other, turned)


@pytest.mark.parametrize("game", SISTERS)
def test_money_is_conserved(game: str) -> None:
    """P-5, COM-12: each box for itself, returns by outcome and stake, nothing won or lost in a void round."""
    rng = random.Random(game)
    for _ in range(60):
        cards, bets = random_round(rng, game)
        lines, result = explain(cards, bets), settle(cards, bets)
        for place in terms_of(bets).boxes:
            alone = explain(cards, {"game": game, place: bets[place]})
            assert alone == [line for line in lines if line.box == place]
            assert len({line.wager for line in alone}) == len(alone) > 0
            assert result[place] == sum(line.returned for line in alone)
        for line in lines:
            assert line.returned == FACTOR.get(line.outcome, line.returned // line.stake) * line.stake
            assert (line.outcome == "WIN") == (line.returned > line.stake > 0)
        opening = {"ann": 1_000, "bob": 1_000}
        rounds = [{"game": game, "cards": cards, "bets": {"ann": bets, "bob": bets | {"cancelled": True}}}]
        net = sum(line.returned - line.stake for line in lines)
        assert expected_balances(opening, rounds) == {"ann": 1_000 + net, "bob": 1_000}


def test_games_differ_where_the_rules_say_so() -> None:
    """D-03: the Oasis games pay one Ante more, less the second combination, and in won boxes only."""
    rng, paid = random.Random(3), Counter[str]()
    for _ in range(400):
        dealt = rng.sample(rng.sample(DECK, 14), 10)
        cards, box = {"box1": dealt[:5], "dealer": dealt[5:]}, {"ante": 10, "option": "bet"}
        back = {game: settle(cards, {"game": game, "box1": box})["returned"] for game in SISTERS}
        hand, dealer = (judge([parse(card) for card in cards[place]]) for place in ("box1", "dealer"))
        oasis = back.pop("golden_oasis")
        russian = {back.pop("grandmaster_russian_poker"), back.pop("royal_poker")}
        assert set(back.values()) == {oasis} and len(russian) == 1
        won = dealer.kinds[0] != "NO_GAME" and hand.strength > dealer.strength
        second = hand.odds - PAYS[hand.kinds[0]]
        assert oasis - russian.pop() == (10 - 20 * second if won else 0)
        paid["won" if won else "rest"] += 1
    assert min(paid.values()) > 60
