"""`tablectl rules`: what it says is what the scripts do, and who signs is a supervisor."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from games.driver import POKER, game
from station.recorded import write_config

from controller.cards import Card
from controller.games.procedure import Deal
from controller.games.rules import BonusRules, InsuranceRules
from controller.games.sister_rules import OasisBonus
from controller.station.config import load
from controller.station.prose import fullest, lines, procedure, variations
from controller.station.rules_command import ROWS, WAGERS, add_rules
from controller.station.rules_sheet import make_sheet, settled
from controller.station.sample_round import walk
from controller.station.settings_text import LIMITS, SETTINGS, SHARES

TABLES = Path(__file__).parents[2] / "config" / "tables"
LIVE_POKER = "russian_poker_live"
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in POKER),
    (LIVE_POKER, {"redraw_same_rank": True}),
    (LIVE_POKER, {"switch_cards_face": "up", "deal_pattern": "packets"}),
    ("oasis_with_bonus", {"deal_pattern": "packets"}),
    (LIVE_POKER, {"skip_unused_switch_cards": True, "insurance_in_options": True}),
    ("grandmaster_russian_poker", {"redraw_same_rank": True, "boxes": 1}),
    ("royal_poker", {"purchase_needs_combination": True}),
    ("golden_oasis", {"force_bet_after_five": True, "boxes": 4}),
    ("oasis_with_bonus", {"boxes": 1}),
    ("oasis_with_bonus", {"open_boxes_in_order": False, "boxes": 4}),
    ("oasis_poker", {"boxes": 4, "up_card": 3}),
]
variant = pytest.mark.parametrize(("name", "changes"), VARIANTS)


def told(name: str, **changes: Any) -> list[str]:
    return [step.text for step in procedure(game(name, **changes)).steps]


def left_out(name: str, beginning: str, **changes: Any) -> tuple[str, ...]:
    steps = procedure(game(name, **changes)).steps
    return next(step.left_out_if for step in steps if step.text.startswith(beginning))


def rules(*words: str) -> int:
    parser = argparse.ArgumentParser()
    add_rules(parser.add_subparsers())
    arguments = parser.parse_args(["rules", *words])
    result: int = arguments.run(arguments)
    return result


# The procedure.


@variant
def test_no_round_holds_a_step_that_is_not_told(name: str, changes: dict[str, Any]) -> None:
    played = game(name, **changes)
    sample = fullest(played)
    keys = [line.key for line in lines(played, sample, {})]
    assert len(set(keys)) == len(keys)
    for what, changed in variations(sample):
        other = [line.key for line in lines(played, changed, {})]
        assert [key for key in keys if key in other] == other, what


@variant
def test_every_card_of_the_sample_is_another_one(name: str, changes: dict[str, Any]) -> None:
    played = game(name, **changes)
    for _, sample in variations(fullest(played)):
        walked = walk(played, sample)
        dealt: list[Card] = list(walked.cards.values())
        assert len(set(dealt)) == len(dealt) == sum(isinstance(step, Deal) for step in walked.steps)


def test_live_russian_poker_is_told_in_the_order_of_its_sheet() -> None:
    assert [text.split(":")[0].split(".")[0] for text in told(LIVE_POKER)] == [
        "Betting time",
        "20 cards, one at a time to box 1, box 2, box 3 and the dealer in turn, five rounds",
        "Options time",
        "5 cards face down",
        "Final options time",
        "The dealer turns the switch cards",
        "The dealer turns box 1",
        "The dealer turns box 3",
        "The dealer turns his hidden cards",
        "Extra time for the purchase",
        "The dealer lays his highest card face down on the marked place beside the hand",
        "The dealer draws one card and lays it on the vacant place, face up",
    ]


@pytest.mark.parametrize("name", POKER)
def test_what_a_wrong_number_of_cards_means(name: str) -> None:
    """OAB-24, OAB-25, row 24."""
    miscount = procedure(game(name)).miscount
    assert ("dealt anew" in miscount and "OAB-25" in miscount) == (name == "oasis_with_bonus")
    assert ("cancels the round" in miscount) == (name != "oasis_with_bonus")


def test_faces_and_prices_are_those_of_the_settings() -> None:
    live = told(LIVE_POKER)
    assert "box 1 (dark) and box 3 (dark) face down; box 2 face up" in live[1]
    assert "the dealer face down, but card 5 face up" in live[1]
    assert "Bet (2 A), sixth card (1 A), exchange of one to five cards (1 A) or fold" in live[2]
    assert "Bettors see those that they have paid for" in live[3]
    assert "card 3 face up" in told("oasis_poker", up_card=3)[1]
    assert "(1, 3/2, 2, 2, 1 A)" in told("oasis_with_bonus")[2]
    assert "raise (2 A)" in told("royal_poker")[2]


def test_windows_carry_their_lengths_when_these_are_known() -> None:
    text = procedure(game(LIVE_POKER), {"betting": 15_000, "options": 12_500}).steps
    assert text[0].text.startswith("Betting time (15 s)") and text[2].text.startswith("Options time (12.5 s)")
    assert text[4].text.startswith("Final options time:")


def test_a_step_says_when_it_is_left_out() -> None:
    assert left_out(LIVE_POKER, "The dealer draws") == ("the dealer qualifies", "nobody buys")
    assert left_out(LIVE_POKER, "Extra time") == ("the dealer qualifies",)
    assert left_out(LIVE_POKER, "5 cards") == ("box 2 has no bet",)
    assert "nobody draws" in left_out(LIVE_POKER, "5 cards", skip_unused_switch_cards=True)
    assert left_out("golden_oasis", "The dealer turns box 2") == ("the dealer does not qualify",)
    assert left_out("oasis_with_bonus", "The dealer turns box 3") == ()
    five = "all who draw have exchanged five cards"
    assert five not in left_out("oasis_poker", "Final options")
    assert five in left_out("oasis_poker", "Final options", force_bet_after_five=True)


def test_house_variants_change_what_is_told() -> None:
    assert len(told(LIVE_POKER, redraw_same_rank=True)) == len(told(LIVE_POKER)) + 2
    assert "The dealer lays the card just drawn" in told(LIVE_POKER, redraw_same_rank=True)[-2]
    only = "Only for boxes with Ace-King or better."
    assert only in told(LIVE_POKER)[9]
    assert only not in " ".join(told("royal_poker"))
    assert only in " ".join(told("royal_poker", purchase_needs_combination=True))
    waits = "The next box is asked when the one before it has decided."
    assert waits in told("oasis_with_bonus")[2]
    assert waits not in told("oasis_with_bonus", open_boxes_in_order=False)[2]


@pytest.mark.parametrize("name", POKER)
def test_packets_are_told_as_such(name: str) -> None:
    single, packets = told(name), told(name, deal_pattern="packets")
    assert "one at a time to" in single[1] and "in turn, five rounds" in single[1]
    assert "five at once to" in packets[1] and "and the dealer, out of a shuffling machine: " in packets[1]
    assert single[1].partition(": ")[2] == packets[1].partition(": ")[2]
    assert single[2:] == packets[2:]


def test_open_switch_cards_are_told_as_such() -> None:
    live = told(LIVE_POKER, switch_cards_face="up")
    assert live[3] == "5 cards face up: the switch cards."
    assert [text for text in told(LIVE_POKER) if text not in live][1:] == [
        "The dealer turns the switch cards."
    ]


def test_settings_are_answered_in_words() -> None:
    changed = {"switch_cards_face": "up", "deal_pattern": "packets", "rounding": "up"}
    answers = {
        one.key: one.answer
        for one in make_sheet(game(LIVE_POKER, **changed), "0").settings
        if one.key in changed
    }
    assert answers == {
        "switch_cards_face": "face up",
        "deal_pattern": "five cards at once",
        "rounding": "the player: rounded up",
    }


@pytest.mark.parametrize("name", POKER)
def test_only_the_live_game_deals_without_a_bet(name: str) -> None:
    assert (procedure(game(name)).without_bets is None) == (name == LIVE_POKER)


# Payments and settings.


def cases(name: str, **changes: Any) -> dict[tuple[str, bool], dict[str, str]]:
    return {
        (one.case, one.insured): {WAGERS[wager]: fate for wager, fate in one.wagers.items()}
        for one in settled(game(name, **changes))
    }


def test_live_russian_poker_pays_as_its_sheet_says() -> None:
    live = cases(LIVE_POKER)
    assert len(live) == 15
    assert live["the dealer does not qualify", False] == {"Ante": "wins 1:1", "fee": "kept", "Bet": "back"}
    assert live["the dealer does not qualify", True]["Ante"] == "back"
    assert live["the dealer's hand is higher", True]["insurance"] == "back, as a bonus"
    assert live["a tie", True]["insurance"] == "lost"
    assert live["bought in vain: still not qualified", False]["purchase"] == "kept"
    assert live["the dealer's hand is lower", False] == {"Ante": "back", "fee": "kept", "Bet": "pay table"}


def test_settings_change_what_is_paid() -> None:
    paid = cases(LIVE_POKER, ante_paid_when_insured=True, insurance_returned_on_tie=True)
    assert paid["the dealer does not qualify", True]["Ante"] == "wins 1:1"
    assert paid["a tie", True]["insurance"] == "back"
    assert ("a tie", True) not in cases(LIVE_POKER, insurance={"lowest": "QUADS"})
    assert ("the dealer's hand is higher", True) in cases(LIVE_POKER, insurance={"lowest": "QUADS"})
    assert cases("royal_poker", ante_odds="3/2")["the dealer does not qualify", False]["Ante"] == "wins 3/2:1"


@pytest.mark.parametrize("name", ["golden_oasis", "oasis_with_bonus", "oasis_poker", "caribbean_poker"])
def test_the_oasis_games_pay_the_ante_and_sell_no_purchase(name: str) -> None:
    paid = cases(name)
    assert paid["the dealer's hand is lower", False]["Ante"] == "wins 1:1"
    assert paid["a tie", False]["Bet"] == "back"
    assert not any(case.startswith("bought") for case, _ in paid)
    assert paid["folded", False].get("fee") == (None if name == "caribbean_poker" else "kept")


MONEY = {
    *("odds", "ante_odds", "prices", "bet_price", "exchange_prices", "sixth_card_price", "purchase_price"),
    *("limits", "insurance", "bonus"),
}


@pytest.mark.parametrize("name", POKER)
def test_no_setting_goes_untold(name: str) -> None:
    made = game(name).rules
    fields = {field.name for field in msgspec.structs.fields(made)}
    assert fields - MONEY <= set(SETTINGS)
    sheet = make_sheet(game(name), "0" * 64)
    assert {one.key for one in sheet.settings} == fields - MONEY
    assert all(one.question.endswith("?") and one.answer for one in sheet.settings)
    assert set(sheet.pay_tables[0].odds) <= set(ROWS)


def test_no_limit_goes_untold() -> None:
    for name in POKER:
        fields = {field.name for field in msgspec.structs.fields(game(name).rules.limits)}
        assert fields <= set(LIMITS)
    for record in (InsuranceRules, BonusRules, OasisBonus):
        assert {field.name for field in msgspec.structs.fields(record)} <= set(LIMITS | SHARES)
    assert "no limit" in make_sheet(game("royal_poker", limits={"table_max": None}), "0").limits.values()


def test_limits_of_insurance_and_bonus_stand_beside_those_of_the_ante() -> None:
    limits = make_sheet(game(LIVE_POKER), "0").limits
    assert limits["least Ante"] == "100" and limits["greatest bonus D"] == "2,500"
    assert limits["lowest combination that can be insured"] == "TRIPS"
    assert limits["insurance wins, to 1"] == "1"
    oasis = make_sheet(game("oasis_with_bonus"), "0").limits
    assert oasis["bonus stakes"].startswith("50, 100") and "insurance wins, to 1" not in oasis


# The command.


@pytest.mark.parametrize("path", sorted(TABLES.glob("*.toml")), ids=lambda path: path.stem)
def test_the_hash_is_that_of_the_rounds_with_a_table_and_without(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = load(path)
    assert rules(config.game.name, "--config", str(path)) == 0
    with_table = capsys.readouterr().out
    assert rules(config.game.name) == 0
    assert f"Rules hash {config.rules}" in with_table
    assert f"Rules hash {config.rules}" in capsys.readouterr().out
    assert "House settings in force" in with_table and "NOT APPROVED" in with_table


def test_the_whole_sheet_for_machines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_config(tmp_path)
    assert rules(LIVE_POKER, "--config", str(path), "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["sheet"]["rules"] == load(path).rules and said["approvals"] == []
    assert said["sheet"]["times_ms"]["buy_time"] == 8_000
    assert len(said["sheet"]["procedure"]["steps"]) == 12


def test_a_supervisor_approves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_config(tmp_path, **{'environment = "simulated"': 'environment = "live"'})
    assert rules(LIVE_POKER, "--config", str(path)) == 0
    assert "The table refuses to start" in capsys.readouterr().out
    assert rules(LIVE_POKER, "--config", str(path), "--approve", "boris") == 0
    said = capsys.readouterr().out
    assert re.search(r"Approved by boris, 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC, at table rp1", said)
    assert "NOT APPROVED" not in said
    assert rules(LIVE_POKER, "--config", str(path), "--json") == 0
    (approval,) = json.loads(capsys.readouterr().out)["approvals"]
    assert approval["who"] == "boris" and approval["digest"] == load(path).rules


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("royal_poker", "--config", "TABLE"), "this table plays russian_poker_live, not royal_poker"),
        ((LIVE_POKER, "--approve", "boris"), "--approve needs --config"),
        ((LIVE_POKER, "--config", "TABLE", "--approve", "anna"), "supervisor of table rp1: boris or clara"),
        ((LIVE_POKER, "--config", "TABLE", "--approve", "mallory"), "mallory is no supervisor"),
        ((LIVE_POKER, "--config", "nothing.toml"), "nothing.toml: can't be read"),
    ],
)
def test_misuse_is_named_and_approves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    path = write_config(tmp_path)
    assert rules(*(str(path) if word == "TABLE" else word for word in words)) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "run" / "approvals.jsonl").exists()


def test_a_game_that_nobody_knows_is_a_usage_error() -> None:
    with pytest.raises(SystemExit) as ended:
        rules("bridge")
    assert ended.value.code == 2


def test_damaged_approvals_are_a_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_config(tmp_path)
    assert rules(LIVE_POKER, "--config", str(path), "--approve", "boris") == 0
    approvals = tmp_path / "run" / "approvals.jsonl"
    approvals.write_text(approvals.read_text().replace("boris", "clara"))
    assert rules(LIVE_POKER, "--config", str(path)) == 1
    assert "line 1 is not what was written there" in capsys.readouterr().err


# Baccarat has no boxes, no Ante and no dealer to compare with.


def test_baccarat_is_told_from_its_own_rules(capsys: pytest.CaptureFixture[str]) -> None:
    assert rules("baccarat", "--json") == 0
    sheet = json.loads(capsys.readouterr().out)["sheet"]
    steps = " ".join(step["text"] for step in sheet["procedure"]["steps"])
    assert "The Player draws on 0 to 5 (BAC-06)." in steps
    assert "If the Player drew 8, the Banker draws on 0 to 2 (BAC-07)." in steps
    assert "If the Player drew 6 or 7, the Banker draws on 0 to 6 (BAC-07)." in steps
    fates = {one["case"]: one["wagers"] for one in sheet["settled"]}
    assert fates["a tie"] == {"PLAYER": "back", "BANKER": "back", "TIE": "wins 8:1"}
    assert {key["key"] for key in sheet["settings"]} >= {"decks", "pairs", "rounds_after_cutting_card"}
    assert rules("baccarat") == 0
    said = capsys.readouterr().out
    assert "Ante" not in said and "19/20:1" in said and "100 to 200,000" in said


def test_baccarat_tells_the_pair_bets_where_they_are_offered() -> None:
    sheet = make_sheet(game("baccarat", pairs=True, burn_by_first_card=False), "0" * 64)
    assert sheet.pay_tables[0].odds["Pair"] == "11" and "each pair" in sheet.limits
    assert not any("shown" in step.text for step in sheet.procedure.steps)
    assert "Player pair" in sheet.procedure.steps[1].text
