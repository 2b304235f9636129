"""The sheet that a pit boss signs: one game under one set of settings, told from the game itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from controller.games.baccarat import Baccarat
from controller.games.combinations import Kind
from controller.games.patterns import STAY
from controller.games.paytables import BonusRow
from controller.games.procedure import BoxState, Game
from controller.games.published import (
    BoxOutcome,
    Comparison,
    Outcome,
    Result,
    Row,
    RowName,
    Wager,
    WagerOutcome,
    fraction_text,
)
from controller.games.registry import GAMES
from controller.games.rules import Rules
from controller.games.sister_rules import RussianRules
from controller.station import baccarat_sheet
from controller.station.prose import BETTING, Procedure, procedure
from controller.station.sample_round import (
    FOUR_ACES,
    PAIR_OF_NINES,
    SAME_STRAIGHT,
    STRAIGHT,
    TO_A_STRAIGHT_FLUSH,
    TO_NOTHING,
    Sample,
    usual_states,
    walk,
)
from controller.station.settings_text import Setting, limits_in_force, settings_in_force

TITLES = {
    "russian_poker_live": "Live Russian Poker",
    "grandmaster_russian_poker": "Grandmaster's Russian Poker",
    "royal_poker": "Royal Poker",
    "golden_oasis": "Golden Oasis",
    "oasis_with_bonus": "Oasis with bonus",
    "oasis_poker": "Oasis Poker",
    "caribbean_poker": "Caribbean Poker",
    "baccarat": "Baccarat",
}

PRICES = {
    Wager.SIXTH_FEE: "sixth card",
    Wager.EXCHANGE_FEE: "exchange",
    Wager.BET: "Bet",
    Wager.RAISE: "raise",
    Wager.BUY_FEE: "purchase of the dealer's qualification",
}
BETS = (Wager.BET, Wager.RAISE)
UNBOUGHT = (RowName.PLAIN, RowName.INSURED)
BOUGHT = (RowName.BOUGHT, RowName.INSURED_BOUGHT)
DEFAULT = (RowName.PLAIN, RowName.BOUGHT)


class Settled(msgspec.Struct, frozen=True):
    """What becomes of the wagers in one case. `rules` are the ids that say so."""

    case: str
    insured: bool
    wagers: Mapping[Wager, str]
    rules: tuple[str, ...]


class PayTable(msgspec.Struct, frozen=True):
    """Odds to 1, dearest first. `note` says what the rows alone do not."""

    title: str
    odds: Mapping[str, str]
    note: str


class Sheet(msgspec.Struct, frozen=True):
    """All of it. `rules` is the hash of the settings file; prices in Antes; times in milliseconds."""

    game: str
    title: str
    rules: str
    boxes: tuple[str, ...]
    procedure: Procedure
    settled: tuple[Settled, ...]
    pay_tables: tuple[PayTable, ...]
    prices: Mapping[str, str]
    limits: Mapping[str, str]
    settings: tuple[Setting, ...]
    times_ms: Mapping[str, int]


def make_sheet(game: Game, rules_hash: str, times_ms: Mapping[str, int] | None = None) -> Sheet:
    """Write the sheet of `game`; `times_ms` are the lengths of its windows, betting time among them."""
    rules = rules_of(game)
    stages = (BETTING, *GAMES[game.name].stages)
    given = times_ms or {}
    if isinstance(game, Baccarat):
        return _baccarat(game, rules_hash, given)
    return Sheet(
        game=game.name,
        title=TITLES[game.name],
        rules=rules_hash,
        boxes=game.boxes,
        procedure=procedure(game, given),
        settled=tuple(settled(game)),
        pay_tables=tuple(_pay_tables(rules)),
        prices=_prices(rules),
        limits=limits_in_force(rules),
        settings=settings_in_force(rules),
        times_ms={stage: given[stage] for stage in stages if stage in given},
    )


def _baccarat(game: Baccarat, rules_hash: str, times_ms: Mapping[str, int]) -> Sheet:
    return Sheet(
        game=game.name,
        title=TITLES[game.name],
        rules=rules_hash,
        boxes=game.boxes,
        procedure=baccarat_sheet.procedure(game, times_ms),
        settled=tuple(
            Settled(case, False, wagers, ids) for case, wagers, ids in baccarat_sheet.settled(game)
        ),
        pay_tables=(
            PayTable("layout", baccarat_sheet.odds(game), "The commission is in the Banker's odds."),
        ),
        prices={},
        limits=baccarat_sheet.limits(game),
        settings=settings_in_force(game.rules),
        times_ms={stage: given for stage, given in times_ms.items() if stage == BETTING},
    )


def rules_of(game: Any) -> Any:
    """Return the settings record that the game was built of."""
    return game.rules


# What is paid: sample rounds again, this time for their results.


class Case(NamedTuple):
    """A sample round whose result stands for all like it."""

    text: str
    sample: Sample
    comparison: Comparison
    bought: bool = False


def sample_cases(game: Game) -> Iterator[Case]:
    """Yield the rounds whose results tell what is paid; where nothing is sold, three change nothing."""
    usual = Sample(states=usual_states(game))
    none, lower, higher = Comparison.NOT_QUALIFIED, Comparison.WIN, Comparison.LOSE
    tied = replace(usual, player=SAME_STRAIGHT, dealer=STRAIGHT, drawn=())
    yield Case("the dealer does not qualify", replace(usual, buys=False), none)
    yield Case("bought: the dealer's new hand is lower", usual, lower, bought=True)
    yield Case(
        "bought: the dealer's new hand is higher", replace(usual, drawn=TO_A_STRAIGHT_FLUSH), higher, True
    )
    yield Case("bought in vain: still not qualified", replace(usual, drawn=TO_NOTHING), none, bought=True)
    yield Case("the dealer's hand is lower", replace(usual, dealer=PAIR_OF_NINES), lower)
    yield Case("a tie", tied, Comparison.TIE)
    yield Case("the dealer's hand is higher", replace(usual, dealer=FOUR_ACES), higher)


def settled(game: Game) -> Iterator[Settled]:
    """Yield what becomes of the wagers on a box that drew, case by case, as the game settles them."""
    folded = Sample(states=usual_states(game), give_up=True)
    row = _player(walk(game, folded).outcome, folded).fold
    assert row is not None, "a box that decides can fold"
    yield _settled("folded", row, insured=False)
    for case in sample_cases(game):
        hands = _player(walk(game, case.sample).outcome, case.sample).hands
        drawn = next((hand for hand in hands if hand.pattern != STAY.text), hands[0])
        found = drawn.bought_comparison if case.bought else drawn.comparison
        rows = {
            name: row for name, row in drawn.rows.items() if name in (BOUGHT if case.bought else UNBOUGHT)
        }
        assert not rows or found is case.comparison, (game.name, case.text, found)
        for name, row in rows.items():
            yield _settled(case.text, row, insured=name not in DEFAULT)


def _player(outcome: Outcome, sample: Sample) -> BoxOutcome:
    return next(box for box in outcome.boxes if sample.states[box.box] is BoxState.OPEN)


def _settled(case: str, row: Row, *, insured: bool) -> Settled:
    rules = dict.fromkeys(rule for one in row.values() for rule in one.rules)
    return Settled(case, insured, {wager: _fate(wager, one) for wager, one in row.items()}, tuple(rules))


def _fate(wager: Wager, one: WagerOutcome) -> str:
    match one.outcome:
        case Result.WIN if wager in BETS:
            return "pay table"
        case Result.WIN:
            return f"wins {one.odds}:1"
        case Result.PUSH | Result.REFUND:
            return "back"
        case Result.RETURN_BONUS:
            return "back, as a bonus"
        case Result.FEE:
            return "kept"
        case _:
            return "lost"


# Pay tables and prices.


def _pay_tables(rules: Any) -> Iterator[PayTable]:
    double = isinstance(rules, Rules | RussianRules)
    note = "Two combinations pay both rows together." if double else "One combination is paid."
    bet = "raise" if rules.price_list.bet_wager is Wager.RAISE else "Bet"
    yield PayTable(bet, _odds(rules.odds, Kind), note)
    bonus = getattr(rules, "bonus", None)
    if bonus is None:
        return
    if isinstance(rules, Rules):
        note = "B on the five dealt cards of the box, D on those of the dealer; one row is paid."
        yield PayTable("bonus B and D", _odds(bonus.odds, BonusRow), note)
    else:
        yield PayTable("bonus", _odds(bonus.odds, BonusRow), "On the five dealt cards; an exchange loses it.")


def _odds(table: Mapping[Any, Fraction], rows: Iterable[str]) -> dict[str, str]:
    return {row: fraction_text(table[row]) for row in rows if row in table}


def _prices(rules: Any) -> dict[str, str]:
    prices = rules.price_list
    told = {PRICES[wager]: text for wager, text in prices.shown().items()}
    for count, text in enumerate(prices.exchange_shown(), start=1):
        told[f"exchange of {count}"] = text
    return told
