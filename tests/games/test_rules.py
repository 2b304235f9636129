"""The settings file: what it holds, and every key it refuses."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import msgspec
import pytest
from rules.live_rules import live_rules, settings

from controller.cards import parse_cards
from controller.games.combinations import Kind
from controller.games.paytables import BonusRow, bonus_row, total_odds
from controller.games.poker import evaluate
from controller.games.rules import load_rules


def test_shipped_pay_tables_are_those_of_the_rules() -> None:
    rules = live_rules()
    assert [rules.odds[kind] for kind in Kind] == [100, 50, 20, 7, 5, 4, 3, 2, 1, 1]  # RPL-50
    assert rules.bonus is not None
    assert [rules.bonus.odds[row] for row in BonusRow] == [1000, 500, 100, 75, 50, 40, 20, 5, 1]  # RPL-51
    assert (rules.prices.bet, rules.prices.sixth_card, rules.prices.exchange, rules.prices.purchase) == (
        2,
        1,
        1,
        1,
    )
    assert not rules.skip_unused_switch_cards and rules.max_rescans == 1


def test_fractions_are_exact() -> None:
    rules = live_rules(ante_odds="19/20")
    assert rules.ante_odds == Fraction(19, 20)


def change(path: str, value: Any) -> dict[str, Any]:
    """The shipped settings with one key set, or removed when `value` is None."""
    changed = settings()
    *tables, key = path.split(".")
    table = changed
    for name in tables:
        table = table[name]
    table.pop(key, None)
    if value is not None:
        table[key] = value
    return changed


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("house_edge", 1, r"unknown field `house_edge`"),
        ("limits.ante_step", 1, r"unknown field `ante_step` - at `\$.limits`"),
        ("prices.insurance", 1, r"unknown field `insurance` - at `\$.prices`"),
        ("insurance.in_options", True, r"unknown field"),
        ("bonus.e_min", 1, r"unknown field"),
        ("odds.FIVE_OF_A_KIND", 1, r"FIVE_OF_A_KIND"),
        ("limits", None, r"missing required field `limits`"),
        ("limits.table_max", None, r"missing required field `table_max`"),
        ("bonus.b_max", None, r"missing required field `b_max`"),
        ("ante_odds", 0.95, r'texts such as "19/20", got 0.95 - at `\$.ante_odds`'),
        ("ante_odds", True, r"got True"),
        ("ante_odds", "one", r"Invalid literal"),
        ("ante_odds", "1/0", r"divides by zero"),
        ("odds.FLUSH", None, r"odds: no odds for FLUSH"),
        ("odds.AK", 0, r"odds: AK pays 0"),
        ("odds.FLUSH", 3, r"odds: FLUSH pays 3, less than STRAIGHT, 4"),
        ("bonus.odds.AK", None, r"bonus.odds: no odds for AK"),
        ("prices.bet", 0, r"prices.bet: 0 Antes"),
        ("limits.ante_min", 0, r"ante_min 0 to ante_max 10000 is no range"),
        ("limits.ante_max", 99, r"is no range"),
        ("limits.table_max", 0, r"limits.table_max: 0"),
        ("bonus.d_max", 49, r"d_min 50 to d_max 49 is no range"),
        ("max_rescans", -1, r"max_rescans: -1"),
        ("paired_straight", "both", r"Invalid enum value 'both'"),
    ],
)
def test_settings_that_are_refused(path: str, value: Any, message: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=message):
        load_rules(change(path, value))


def test_bonus_bets_may_be_left_out() -> None:
    assert load_rules(change("bonus", None)).bonus is None  # RPL-59


@pytest.mark.parametrize(
    ("text", "player", "dealer"),
    [
        ("7s 7h 7d Ac Ks", "SEVENS_777", "SEVENS_777"),  # RPL-55: the higher row only
        ("7s 7h As Ad Kc", "SEVENS_77_PAIR", "SEVENS_77_PAIR"),
        ("7s 7h 7d Kc Ks", "FULL_HOUSE", "FULL_HOUSE"),
        ("6s 6h 6d Ac Ks", "AK", None),  # RPL-57: the dealer has one combination
        ("As Ah Kd Kc 9s", None, None),  # D-19
        ("As Kh 9d 4c 2s", "AK", "AK"),
        ("7s 7h 9d 4c 2s", None, None),
        ("6s 6h 9d 9c 7s", None, None),
        ("Qs 9h 7d 5c 2s", None, None),
    ],
)
def test_bonus_rows(text: str, player: str | None, dealer: str | None) -> None:
    hand = evaluate(parse_cards(text))
    assert bonus_row(hand, doubles=True) == player
    assert bonus_row(hand, doubles=False) == dealer


def test_both_combinations_are_paid_together() -> None:
    odds = live_rules().odds
    assert total_odds(evaluate(parse_cards("As Ah Ad 8s 8c Kh")), odds) == 8
    assert total_odds(evaluate(parse_cards("Qs 9h 7d 5c 2s")), odds) == 0
