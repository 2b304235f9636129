"""Baccarat on the sheet that a pit boss signs: the coup, who draws, and what becomes of the wagers.

Who draws and what is paid are asked of the game's own rules, card by card.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from controller.cards import DECK, Card, Rank, parse_cards
from controller.games.baccarat import Baccarat, banker_draws, player_draws
from controller.games.baccarat_rules import PAIR_BETS, points
from controller.games.published import Result, RowName, Wager, WagerOutcome
from controller.station.prose import BETTING, Procedure, ToldStep, listed, seconds

WAGERS = {
    Wager.PLAYER: "Player",
    Wager.BANKER: "Banker",
    Wager.TIE: "Tie",
    Wager.PLAYER_PAIR: "Player pair",
    Wager.BANKER_PAIR: "Banker pair",
}
CASES = {
    "the Player is nearer to nine": ("9c 8d", "2c 4d"),
    "the Banker is nearer to nine": ("2c 4d", "9c 8d"),
    "a tie": ("2c 4d", "3c 3d"),
}
"""Two hands on which nobody draws. A pair wins or loses by itself, so its bets are no part of the cases."""


def procedure(game: Baccarat, times_ms: Mapping[str, int]) -> Procedure:
    """Tell the coup and the life of the shoe."""
    betting = f", {seconds(times_ms[BETTING])}" if BETTING in times_ms else ""
    steps = [
        *_new_shoe(game),
        f"Betting time{betting}; {listed([WAGERS[wager] for wager in game.rules.wagers])}.",
        "Four cards face up, in turn: player, banker, player, banker (BAC-04).",
        "Nobody draws when a side has eight or nine (BAC-05).",
        f"The Player draws on {_numbers(player_totals())} (BAC-06).",
        f"If the Player stood, the Banker draws on {_numbers(banker_totals(None))} (BAC-07).",
        *(
            f"If the Player drew {_numbers(thirds)}, the Banker draws on {_numbers(totals)} (BAC-07)."
            for totals, thirds in _banker_rows()
        ),
        "The higher total wins (BAC-08). Result proposed by the controller, confirmed by the dealer.",
        f"After the cutting card: this coup, {game.rules.rounds_after_cutting_card} more, then a new shoe.",
    ]
    misread = "A card too many is kept for the next coup if nobody saw it, else burned; one missing is drawn."
    return Procedure(tuple(ToldStep(step) for step in steps), None, misread)


def _new_shoe(game: Baccarat) -> Iterator[str]:
    yield f"A new shoe: {game.rules.decks} decks, shuffled and cut (BAC-02)."
    if game.rules.burn_by_first_card:
        yield "Its first card is shown, and as many are burned as it counts, ten for ten-values (BAC-13)."


def settled(game: Baccarat) -> Iterator[tuple[str, Mapping[Wager, str], tuple[str, ...]]]:
    """Yield what becomes of the wagers, case by case, as the game judges them, and the rules behind it."""
    for case, (player, banker) in CASES.items():
        row = game.outcome(parse_cards(player), parse_cards(banker), in_play=True).boxes[0].hands[0]
        wagers = row.rows[RowName.PLAIN]
        rules = dict.fromkeys(rule for one in wagers.values() for rule in one.rules)
        told = {wager: _fate(one) for wager, one in wagers.items() if wager not in PAIR_BETS}
        yield case, told, tuple(rules)


def odds(game: Baccarat) -> dict[str, str]:
    """Return what each wager pays, to 1."""
    rules = game.rules
    paid = {"Player": rules.player_odds, "Banker": rules.banker_odds, "Tie": rules.tie_odds}
    if rules.pairs:
        paid["Pair"] = rules.pair_odds
    return {name: str(value) for name, value in paid.items()}


def limits(game: Baccarat) -> dict[str, str]:
    """Return least and greatest stakes, in minor units."""
    of = {"Player and Banker": game.rules.limits.main, "Tie": game.rules.limits.tie}
    if game.rules.pairs:
        of["each pair"] = game.rules.limits.pair
    return {name: f"{one.min:,} to {one.max:,}" for name, one in of.items()}


def player_totals() -> list[int]:
    """Return the totals on which the Player draws."""
    return [total for total in range(8) if player_draws(_hand(total))]


def banker_totals(third: int | None) -> list[int]:
    """Return the totals on which the Banker draws after a third card of so many points, None for none."""
    card = None if third is None else _card(third)
    return [total for total in range(8) if banker_draws(_hand(total), card)]


def _banker_rows() -> Iterator[tuple[list[int], list[int]]]:
    by_totals: dict[tuple[int, ...], list[int]] = {}
    for third in range(10):
        by_totals.setdefault(tuple(banker_totals(third)), []).append(third)
    for totals, thirds in by_totals.items():
        yield list(totals), thirds


def _card(worth: int) -> Card:
    return next(card for card in DECK if points(card.rank) == worth)


def _hand(total: int) -> tuple[Card, ...]:
    king = next(card for card in DECK if card.rank is Rank.KING)
    return (king, _card(total))


def _numbers(values: list[int]) -> str:
    if len(values) > 2 and values == list(range(values[0], values[-1] + 1)):
        return f"{values[0]} to {values[-1]}"
    return listed([str(value) for value in values], "or")


def _fate(one: WagerOutcome) -> str:
    match one.outcome:
        case Result.WIN:
            return f"wins {one.odds}:1"
        case Result.PUSH:
            return "back"
        case _:
            return "lost"
