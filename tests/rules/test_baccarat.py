"""Baccarat by its rule sheet: the shared examples, exact counts, real coups, and the oracle.

The real coups are nobody's here and never copied: they are read where `TABLECTL_DATA` says, by default from
the folder of shared data beside the checkout.
"""

from __future__ import annotations

import csv
import os
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import oracle_baccarat as oracle
import pytest
from games.driver import BACCARAT, game, play
from rules.test_examples import WORKED, check_lines

from controller.cards import DECK, Card, Rank, Suit, parse_cards
from controller.games.baccarat import LAYOUT, banker_draws, is_natural, player_draws, total, winner
from controller.games.baccarat_rules import BURN_COUNTS, stake_refusal
from controller.games.procedure import Announce, BoxState, Face
from controller.games.published import Outcome, Result, RowName, Wager, Winner
from controller.games.requests import Refusal
from controller.games.settlement import LateBet, LayoutSlip, refund_layout, settle

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
EXAMPLES = [example for example in WORKED if example["game"] == BACCARAT]
BESIDE = Path(__file__).parents[3] / "shared" / "data"
COUPS = Path(os.environ.get("TABLECTL_DATA") or BESIDE) / "live_baccarat_coups.csv"
IN_PLAY = {LAYOUT: BoxState.DARK}
RANKS = tuple(Rank)


def dealt(player: list[str], banker: list[str]) -> tuple[Card, ...]:
    """The cards in the order in which they leave the shoe (BAC-04)."""
    first = [player[0], banker[0], player[1], banker[1]]
    return parse_cards(" ".join([*first, *player[2:], *banker[2:]]))


def result(cards: tuple[Card, ...], **changes: Any) -> Outcome:
    return play(game(BACCARAT, **changes), states=IN_PLAY, cards=cards).result


def settled(stakes: Mapping[Wager, int], outcome: Outcome) -> dict[str, tuple[str, int]]:
    lines = settle((LayoutSlip(LAYOUT, stakes),), outcome)
    return {line.wager: (line.outcome, line.returned) for line in lines}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["id"])
def test_example(example: dict[str, Any]) -> None:
    outcome = result(dealt(example["cards"]["player_hand"], example["cards"]["banker_hand"]))
    expected = example["expected"]
    assert outcome.coup is not None and outcome.coup.winner == expected["result"]
    assert outcome.coup.player.cards == tuple(example["cards"]["player_hand"])
    assert outcome.coup.banker.cards == tuple(example["cards"]["banker_hand"])
    stakes = {Wager(line["wager"]): line["stake"] for line in expected["lines"]}
    lines = settle((LayoutSlip(LAYOUT, stakes),), outcome)
    told = [
        {**line, "odds": Fraction(str(line["odds"]))} if "odds" in line else line
        for line in expected["lines"]
    ]
    check_lines(lines, {**expected, "lines": told})


def test_every_shared_example_is_here() -> None:
    assert [example["id"] for example in EXAMPLES] == ["EX-201", "EX-202", "EX-204", "EX-205", "EX-207"]


# BAC-04: the deal.


def test_bac_04_cards_are_dealt_face_up_player_first_and_third_cards_last() -> None:
    played = play(game(BACCARAT), states=IN_PLAY, cards=parse_cards("2c 3c 2d 2d 4s Th"))
    order = ["player 1", "banker 1", "player 2", "banker 2", "player 3", "banker 3"]
    deals = [word for word in played.course if word.startswith("deal")]
    assert deals == [f"deal {spot} {Face.UP}" for spot in order]
    told = [(step.place, step.hand.total) for step in played.of(Announce)]
    assert told == [("player", 4), ("banker", 5), ("player", 8), ("banker", 5)]


@pytest.mark.parametrize("state", BoxState)
def test_a_coup_is_dealt_whether_somebody_has_bet_or_not(state: BoxState) -> None:
    outcome = play(game(BACCARAT), states={LAYOUT: state}, cards=parse_cards("9c 3c Td 3d")).result
    assert outcome.coup is not None and outcome.coup.winner is Winner.PLAYER
    fates = {row.outcome for row in outcome.boxes[0].hands[0].rows[RowName.PLAIN].values()}
    assert fates == ({Result.REFUND} if state is BoxState.EMPTY else {Result.WIN, Result.LOSE})


# BAC-05 to BAC-07, R-19: who draws.


def of_total(value: int) -> tuple[Card, Card]:
    """Two cards that make so much."""
    other = {0: Rank.KING, 1: Rank.ACE}.get(value, Rank(value) if value > 1 else Rank.KING)
    return Card(Rank.QUEEN, Suit.CLUBS), Card(other, Suit.CLUBS)


@pytest.mark.parametrize("third", [*RANKS, None])
@pytest.mark.parametrize("value", range(8))
def test_r_19_the_banker_draws_as_the_table_says(value: int, third: Rank | None) -> None:
    column = 10 if third is None else oracle.PIPS["..23456789TJQKA"[third]]
    card = None if third is None else Card(third, Suit.HEARTS)
    assert banker_draws(of_total(value), card) == (oracle.BANKER[value][column] == "D")


def test_bac_05_bac_06_naturals_and_the_player() -> None:
    assert [value for value in range(10) if player_draws(of_total(value))] == [0, 1, 2, 3, 4, 5]
    assert [value for value in range(10) if is_natural(of_total(value))] == [8, 9]
    assert not is_natural((*of_total(4), Card(Rank.FOUR, Suit.CLUBS)))


def test_bac_13_the_first_card_of_a_shoe_says_how_many_are_burned() -> None:
    assert [BURN_COUNTS[rank] for rank in RANKS] == [2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 1]
    plan = game(BACCARAT).shoe
    assert plan.burned_at_most == 11 and plan.decks == 8 and plan.rounds_after_cutting_card == 1
    assert game(BACCARAT, burn_by_first_card=False).shoe.burned_at_most == 0
    for wrong in (5, 400):
        with pytest.raises(msgspec.ValidationError, match=f"cutting_card_from_end: {wrong} cards"):
            game(BACCARAT, cutting_card_from_end=wrong)


# eight decks, counted out.


SIX_CARDS = 6
CARDS = {
    point: Card(Rank.TEN if point == 0 else Rank.ACE if point == 1 else Rank(point), Suit.CLUBS)
    for point in range(10)
}
THIRDS = (*CARDS, None)


def hand(points: tuple[int, ...]) -> tuple[Card, ...]:
    return tuple(CARDS[point] for point in points)


ENDS = {points: is_natural(hand(points)) for points in product(CARDS, repeat=2)}
PLAYER_DRAWS = {points: player_draws(hand(points)) for points in ENDS}
BANKER_DRAWS = {
    (points, third): banker_draws(hand(points), None if third is None else CARDS[third])
    for points in ENDS
    if not ENDS[points]
    for third in THIRDS
}
"""The product's own rules, asked once for every hand of two cards and every third one."""


def counted() -> Counter[Winner]:
    """Count all coups of eight decks; a shorter one stands for everything that could follow it."""
    shoe = [8 * 4 * (4 if point == 0 else 1) for point in CARDS]
    size, by_totals = sum(shoe), Counter[tuple[int, int]]()

    def drawn(ways: int) -> Iterator[tuple[int, int]]:
        """Yield each point that may come next, and how often."""
        for point, left in enumerate(shoe):
            if left:
                shoe[point] -= 1
                yield point, ways * left
                shoe[point] += 1

    def end(player: int, banker: int, ways: int, count: int) -> None:
        for left in range(size - count, size - SIX_CARDS, -1):
            ways *= left
        by_totals[player % 10, banker % 10] += ways

    def bankers(player: int, banker: tuple[int, int], third: int | None, ways: int) -> None:
        dealt = 4 if third is None else 5
        if not BANKER_DRAWS[banker, third]:
            end(player, sum(banker), ways, dealt)
            return
        for point, more in drawn(ways):
            end(player, sum(banker) + point, more, dealt + 1)

    for a, first in drawn(1):
        for b, second in drawn(first):
            for c, third in drawn(second):
                for d, fourth in drawn(third):
                    player, banker = (a, c), (b, d)
                    if ENDS[player] or ENDS[banker]:
                        end(a + c, b + d, fourth, 4)
                    elif PLAYER_DRAWS[player]:
                        for point, fifth in drawn(fourth):
                            bankers(a + c + point, banker, point, fifth)
                    else:
                        bankers(a + c, banker, None, fourth)
    found: Counter[Winner] = Counter()
    for (player, banker), ways in by_totals.items():
        found[winner(of_total(player), of_total(banker))] += ways
    return found


def test_r_15_r_16_exact_counts_of_eight_decks() -> None:
    found = counted()
    assert found[Winner.BANKER] == 2_292_252_566_437_888
    assert found[Winner.PLAYER] == 2_230_518_282_592_256
    assert found[Winner.TIE] == 475_627_426_473_216
    every = found.total()
    assert every == 4_998_398_275_503_360
    rules = game(BACCARAT).rules
    won = {winner: Fraction(count, every) for winner, count in found.items()}
    banker = won[Winner.BANKER] * rules.banker_odds - won[Winner.PLAYER]
    player = won[Winner.PLAYER] * rules.player_odds - won[Winner.BANKER]
    tie = won[Winner.TIE] * rules.tie_odds - (1 - won[Winner.TIE])
    pair = Fraction(31, 415) * (rules.pair_odds + 1) - 1
    percent = [f"{float(value) * 100:.4f}" for value in (banker, player, tie, pair)]
    assert percent == ["-1.0579", "-1.2351", "-14.3596", "-10.3614"]


# Real coups.


def real_coups() -> list[tuple[tuple[Card, ...], str]]:
    def card(text: str) -> Card:
        suit, number = text.split(".")
        return Card(Rank.ACE if number == "1" else Rank(int(number)), Suit(suit.lower()))

    with COUPS.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [
        (
            tuple(card(row[place]) for place in ("P1", "B1", "P2", "B2", "P3", "B3") if row[place]),
            row["official_winner"] or row["winner_by_cards"],
        )
        for row in rows
    ]


@pytest.mark.skipif(not COUPS.exists(), reason=f"no data at {COUPS}; TABLECTL_DATA names another folder")
def test_two_hundred_real_coups_have_two_hundred_right_winners() -> None:
    coups, baccarat = real_coups(), game(BACCARAT)
    assert len(coups) == 200
    for cards, official in coups:
        played = play(baccarat, states=IN_PLAY, cards=cards)
        assert played.result.coup is not None
        assert played.result.coup.winner[0] == official, cards
        assert sum(word.startswith("deal") for word in played.course) == len(cards)


# The oracle.


def random_bets(rng: random.Random) -> dict[Wager, int]:
    bets = [Wager.PLAYER, Wager.BANKER, Wager.TIE, Wager.PLAYER_PAIR, Wager.BANKER_PAIR]
    return {wager: rng.randint(1, 5_000) for wager in bets if rng.random() < 0.6}


def test_the_oracle_agrees_on_random_coups() -> None:
    rng, met = random.Random("baccarat"), Counter[tuple[str, str]]()
    shoe = [card for card in DECK for _ in range(8)]
    for number in range(100_000 if SOAK else 2_000):
        rounding = rng.choice(("down", "up"))
        cards, bets = tuple(rng.sample(shoe, 6)), random_bets(rng)
        outcome = result(cards, pairs=True, rounding=rounding)
        coup = outcome.coup
        assert coup is not None
        count = len(coup.player.cards) + len(coup.banker.cards)
        texts = [str(card) for card in cards[:count]]
        assert (coup.player.cards, coup.banker.cards) == tuple(oracle.coup(texts)), number
        theirs = {line.wager: (line.outcome, line.returned) for line in oracle.explain(texts, bets, rounding)}
        assert settled(bets, outcome) == theirs, (texts, bets)
        met.update((wager, fate) for wager, (fate, _) in theirs.items())
    mains = {(wager, fate) for wager in ("PLAYER", "BANKER") for fate in ("WIN", "LOSE", "PUSH")}
    sides = {(wager, fate) for wager in ("TIE", "PLAYER_PAIR", "BANKER_PAIR") for fate in ("WIN", "LOSE")}
    assert set(met) == mains | sides


# Wagers.


def test_d_54_the_house_rounds_the_commission() -> None:
    cards = parse_cards("2s 5h 4d 2c")
    assert settled({Wager.BANKER: 101}, result(cards)) == {"BANKER": ("WIN", 196)}
    assert settled({Wager.BANKER: 101}, result(cards, rounding="up")) == {"BANKER": ("WIN", 197)}


def test_bac_12_pairs_are_offered_by_setting_alone() -> None:
    cards = parse_cards("9s 9h 9d 2c")
    outcome = result(cards, pairs=True)
    assert outcome.coup is not None and outcome.coup.pairs == (Wager.PLAYER_PAIR,)
    assert settled({Wager.PLAYER_PAIR: 10, Wager.BANKER_PAIR: 10}, outcome) == {
        "PLAYER_PAIR": ("WIN", 120),
        "BANKER_PAIR": ("LOSE", 0),
    }
    with pytest.raises(ValueError, match="layout: PLAYER_PAIR is not offered"):
        settled({Wager.PLAYER_PAIR: 10}, result(cards))


def test_com_13_bac_15_stakes_have_limits_of_their_own() -> None:
    rules = game(BACCARAT).rules
    assert stake_refusal(Wager.PLAYER, 200_000, 200_000, rules) is None
    assert stake_refusal(Wager.BANKER, 200_001, 900_000, rules) is Refusal.ABOVE_MAX
    assert stake_refusal(Wager.TIE, 20_001, 900_000, rules) is Refusal.ABOVE_MAX
    assert stake_refusal(Wager.TIE, 99, 900_000, rules) is Refusal.BELOW_MIN
    assert stake_refusal(Wager.PLAYER, 101, 100, rules) is Refusal.BALANCE
    assert stake_refusal(Wager.PLAYER_PAIR, 100, 100, rules) is Refusal.NOT_OFFERED
    with pytest.raises(msgspec.ValidationError, match="min 5 to max 4 is no range"):
        game(BACCARAT, limits={"tie": {"min": 5, "max": 4}})


def test_late_and_cancelled_stakes_come_back() -> None:
    slip = LayoutSlip(LAYOUT, {Wager.PLAYER: 50}, (LateBet(Wager.TIE, 7),))
    lines = settle((slip,), result(parse_cards("2s 5h 4d 2c")))
    assert [(line.wager, line.outcome, line.returned) for line in lines] == [
        ("PLAYER", "LOSE", 0),
        ("TIE", "REFUND", 7),
    ]
    assert [(line.wager, line.outcome, line.returned) for line in refund_layout(slip)] == [
        ("PLAYER", "REFUND", 50),
        ("TIE", "REFUND", 7),
    ]


def test_a_total_is_the_last_digit() -> None:
    assert total(parse_cards("9s 8d 7c")) == 4 and total(parse_cards("Ks Qd Ac")) == 1
