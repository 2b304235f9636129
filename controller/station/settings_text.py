"""The settings of every game in words: what each one decides, and the rules and decisions behind it."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from fractions import Fraction
from typing import Any

import msgspec

from controller.games.combinations import PairedStraight
from controller.games.deal_pattern import DealPattern
from controller.games.procedure import Face
from controller.games.published import Rounding, fraction_text


class Setting(msgspec.Struct, frozen=True):
    """One setting in force. `key` is its name in the TOML file, `rules` the ids to look up."""

    key: str
    question: str
    answer: str
    rules: tuple[str, ...]


SETTINGS: dict[str, tuple[str, tuple[str, ...]]] = {
    "decks": ("How many decks are in the shoe?", ("BAC-02",)),
    "pairs": ("Are the pair bets offered?", ("BAC-12",)),
    "burn_by_first_card": ("Does the first card of a new shoe say how many are burned?", ("BAC-13",)),
    "cutting_card_from_end": ("How many cards lie behind the cutting card?", ("BAC-13",)),
    "rounds_after_cutting_card": ("How many rounds follow the one of the cutting card?", ("BAC-13",)),
    "boxes": ("How many boxes are there?", ("D-51",)),
    "up_card": ("Which of the dealer's cards lies open?", ("D-33",)),
    "deal_pattern": ("How does the initial deal go round?", ("D-10",)),
    "open_boxes_in_order": ("Does a second open box wait for the first one's decision?", ("OAB-14",)),
    "bets_per_box_max": ("How many may bet on one box?", ("OAB-17",)),
    "force_bet_after_five": ("Must a box bet that has exchanged five cards?", ("D-22", "OAS-05")),
    "skip_unused_switch_cards": ("Are the switch cards left out when nobody drew?", ("D-25", "RPL-17")),
    "switch_cards_face": ("How do the switch cards lie?", ("D-45", "RPL-17")),
    "paired_straight": ("A sixth card pairs a straight: what is paid beside it?", ("D-08",)),
    "purchase_needs_combination": ("Is the purchase only for hands with a combination?", ("D-35",)),
    "redraw_same_rank": ("Does the dealer draw again after the rank that he laid aside?", ("D-17",)),
    "insurance_in_options": ("Can a hand be insured as it was dealt?", ("D-24", "RPL-16")),
    "insurance_returned_on_tie": ("Does the insurance come back on a tie?", ("D-14",)),
    "insurance_halved_first": ("Is the insurance limit halved before the table maximum?", ("D-16",)),
    "ante_paid_when_insured": ("Is the Ante paid beside a won insurance?", ("D-12",)),
    "fold_loses_bonus": ("Does a fold lose the bonus without an exchange?", ("D-23",)),
    "max_payout_includes_stake": ("Does the table maximum count the stake on the Bet?", ("D-21",)),
    "rounding": ("Who gets the part of a minor unit in a win?", ("D-54",)),
    "max_rescans": ("How many re-scans does an initial deal allow?", ("RPL-75", "D-11")),
}
"""Key to question and ids, in the order in which a round meets them."""

LIMITS = {
    "ante_min": "least Ante",
    "ante_max": "greatest Ante",
    "stakes_max": "Ante and raise together at most",
    "table_max": "greatest win on the Bet of one box",
    "b_min": "least bonus B",
    "b_max": "greatest bonus B",
    "d_min": "least bonus D",
    "d_max": "greatest bonus D",
    "stakes": "bonus stakes",
}
"""Amounts of money, in minor units."""

SHARES = {
    "ante_odds": "the Ante wins, to 1",
    "ante_share_max": "greatest bonus, as a part of the Ante",
    "lowest": "lowest combination that can be insured",
    "minimum": "least insurance, in Antes",
    "maximum_share": "greatest insurance, as a part of the possible win on the Bet",
    "odds": "insurance wins, to 1",
}


def settings_in_force(rules: msgspec.Struct) -> tuple[Setting, ...]:
    """Return what this house has chosen, defaults included."""
    return tuple(
        Setting(key, question, _answer(key, getattr(rules, key)), ids)
        for key, (question, ids) in SETTINGS.items()
        if hasattr(rules, key)
    )


def limits_in_force(rules: Any) -> dict[str, str]:
    """Return limits and shares, name in words to value. Money in minor units."""
    parts = [rules, rules.limits, getattr(rules, "insurance", None), getattr(rules, "bonus", None)]
    told = [LIMITS | SHARES] * len(parts)
    told[0] = {"ante_odds": SHARES["ante_odds"]}
    told[3] = {key: text for key, text in told[3].items() if key != "odds"}
    return {
        text: value
        for part, names in zip(parts, told, strict=True)
        if part is not None
        for text, value in _values(part, names)
    }


def _values(part: msgspec.Struct, names: dict[str, str]) -> Iterator[tuple[str, str]]:
    for key, text in names.items():
        if hasattr(part, key):
            yield text, _spelled(getattr(part, key))


def _spelled(value: Any) -> str:
    match value:
        case None:
            return "no limit"
        case Enum():
            return str(value.value)
        case Fraction():
            return fraction_text(value)
        case tuple():
            return ", ".join(map(_spelled, value))
        case _:
            return f"{value:,}"


def _answer(key: str, value: Any) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case PairedStraight.STRAIGHT:
            return "a second straight"
        case PairedStraight.PAIR:
            return "the pair"
        case DealPattern.SINGLE:
            return "one card in turn"
        case DealPattern.PACKETS:
            return "five cards at once"
        case Face():
            return f"face {value}"
        case Rounding.DOWN:
            return "the house: rounded down"
        case Rounding.UP:
            return "the player: rounded up"
        case _:
            return f"card {value}" if key == "up_card" else str(value)
