"""Every game against the oracle: random houses, cards and wishes; settled wager by wager.

TABLECTL_SOAK=1 plays 100,000 rounds of each game.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from typing import Any

import oracle
import oracle_cards
import pytest
from games.driver import POKER, settings
from oracle_family import GAMES as ORACLE_GAMES
from oracle_family import LIVE
from rules.random_rounds import Round, play_round

from controller.games.registry import GAMES
from controller.games.settlement import settle

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
ROUND_COUNT = 100_000 if SOAK else 300
ONE_IN = 10
"""Of so many rounds one is told to the oracle under other settings, too; in soak, every insured one."""

BET = {"WIN", "WIN_CAPPED", "PUSH", "LOSE"}
BONUS = {"WIN", "LOSE"}
EXCHANGE = {"EXCHANGE_FEE": {"FEE"}}
DRAWS = EXCHANGE | {"SIXTH_FEE": {"FEE"}}
PURCHASE = {"BUY_FEE": {"FEE"}}
INSURANCE = {"INSURANCE": {"WIN", "LOSE", "PUSH", "RETURN_BONUS"}}
ENDINGS: dict[str, dict[str, set[str]]] = {
    "russian_poker_live": {"BET": BET, "BONUS_B": BONUS, "BONUS_D": BONUS} | DRAWS | PURCHASE | INSURANCE,
    "grandmaster_russian_poker": {"BET": BET} | DRAWS | PURCHASE,
    "royal_poker": {"RAISE": BET} | DRAWS | PURCHASE,
    "golden_oasis": {"BET": BET} | EXCHANGE,
    "oasis_with_bonus": {"BET": BET, "BONUS_B": BONUS} | EXCHANGE,
    "oasis_poker": {"BET": BET} | EXCHANGE,
    "caribbean_poker": {"BET": BET},
}
"""How each wager of a game can end, the Ante aside: WIN, PUSH or LOSE in all of them."""

DECIDED = {"russian_poker_live": {"purchase_needs_combination"}, "oasis_with_bonus": {"force_bet_after_five"}}
"""What the oracle could play otherwise, and the product plays as the rules decide (RPL-33, OAB-07)."""


def settled(played: Round) -> list[tuple[Any, ...]]:
    lines = settle(played.slips, played.outcome)
    return sorted((line.box, line.wager, line.stake, line.outcome, line.returned) for line in lines)


def explained(played: Round, **changes: Any) -> list[tuple[Any, ...]]:
    bets = played.bets | {"settings": played.bets["settings"] | changes}
    return sorted(map(tuple, oracle.explain(played.cards, bets)))


def lying(played: Round, name: str) -> dict[str, list[str]]:
    """Lay the cards by hand as they came; the boxes that the player has nothing to do with left out."""
    if name == LIVE:
        lie = oracle_cards.live(played.came, played.pattern)
        lie |= {f"{box}_drawn": [] for box in played.in_play}
    else:
        draws = {box: len(played.cards[f"{box}_drawn"]) for box in played.in_play}
        lie = oracle_cards.sister(played.came, played.in_play, draws, played.pattern) | {"switch": []}
    return {place: cards for place, cards in lie.items() if place in played.cards}


def other(setting: Any) -> Any:
    if isinstance(setting, bool):
        return not setting
    return {"straight": "pair", "pair": "straight", "down": "up", "up": "down"}[setting]


def matters(played: Round, key: str) -> bool:
    """Whether the round would have ended otherwise, or not at all, with this setting the other way."""
    try:
        return explained(played, **{key: other(played.bets["settings"][key])}) != explained(played)
    except ValueError:
        return True


@pytest.mark.parametrize("name", POKER)
def test_the_oracle_agrees_on_random_rounds(name: str) -> None:
    endings, decisive = Counter[tuple[str, str]](), Counter[str]()
    for number in range(ROUND_COUNT):
        rng = random.Random(f"{name} {number}")
        played = play_round(rng, name)
        ours = settled(played)
        assert ours == explained(played), f"round {number} of {name}: {played.bets}, {played.cards}"
        assert lying(played, name) == played.cards, f"round {number} of {name}"
        endings.update((str(wager), str(outcome)) for _, wager, _, outcome, _ in ours)
        if number % ONE_IN == 0 or (SOAK and any(wager == "INSURANCE" for _, wager, *_ in ours)):
            decisive.update(key for key in switches(played) if matters(played, key))
    expected = ENDINGS[name] | {"ANTE": {"WIN", "PUSH", "LOSE"}}
    assert {wager for wager, _ in endings} == set(expected)
    print(name, dict(endings), dict(decisive))
    if SOAK:  # What is rare has happened too, and each setting has decided a round.
        assert set(endings) == {(wager, how) for wager, ways in expected.items() for how in ways}
        assert set(decisive) == set(switches(played))


def switches(played: Round) -> list[str]:
    return [key for key, value in played.bets["settings"].items() if isinstance(value, bool | str)]


@pytest.mark.parametrize("name", POKER)
def test_every_setting_that_both_know_is_varied(name: str) -> None:
    values: dict[str, set[str]] = {}
    for number in range(60):
        told = play_round(random.Random(number), name).bets
        for key, value in (told["settings"] | told["limits"]).items():
            values.setdefault(key, set()).add(repr(value))
    assert set(values) == set(ORACLE_GAMES[name].settings) - DECIDED.get(name, set()) | {"max_payout"}
    assert all(len(seen) > 1 for seen in values.values())


@pytest.mark.parametrize("name", POKER)
def test_what_the_product_decides_is_no_setting_of_it(name: str) -> None:
    assert not DECIDED.get(name, set()) & set(GAMES[name].build(settings(name)).rules.__struct_fields__)
