"""What can go wrong in each game: every fault of its course has a moment, and what is left out has none."""

from __future__ import annotations

import argparse

import pytest
from games.driver import BACCARAT, SISTERS, game

from controller.games.procedure import BoxState
from controller.games.registry import GAMES
from simulators.faults.catalogue import BY_ID, FAULTS, LIVE, MISDEALS, OF_A_SHOE, Amount, Course, Moment, Plan
from simulators.faults.courses import LEFT_OUT, NO_NEW_SET, course_of
from simulators.simulate_command import REFUSED, add_simulate

WINDOWS = {Moment.OPTIONS: "options", Moment.FINAL_OPTIONS: "final_options", Moment.REPLACEMENT: "buy_time"}
OPEN_THEN_DARK = {"box1": BoxState.OPEN, "box2": BoxState.DARK, "box3": BoxState.DARK, "box4": BoxState.DARK}


def course(name: str) -> Course:
    return course_of(game(name), OPEN_THEN_DARK)


def test_live_russian_poker_has_the_whole_catalogue() -> None:
    assert course("russian_poker_live") is LIVE
    assert LIVE.faults == FAULTS
    assert [fault for fault in BY_ID.values() if not LIVE.has(fault)] == [*MISDEALS, *OF_A_SHOE]
    assert [LIVE.spot(card) for card in (0, 1, 6, 20, 21, 26)] == [
        None,
        ("box1", 1),
        ("box2", 2),
        ("dealer", 5),
        ("switch", 1),
        ("dealer", 6),
    ]


@pytest.mark.parametrize("name", SISTERS)
def test_every_fault_of_a_course_has_its_moment(name: str) -> None:
    stages = GAMES[name].stages
    for fault in course(name).faults:
        assert course(name).cards.get(fault.moment, (0,)), fault
        assert WINDOWS.get(fault.moment, "options") in stages, fault


@pytest.mark.parametrize("name", SISTERS)
def test_what_is_left_out_is_named_with_its_rule(name: str) -> None:
    here = {fault.id for fault in course(name).faults}
    purchase = set() if "buy_time" in GAMES[name].stages else {"replacement-on-floor"}
    assert {fault.id for fault in BY_ID.values() if course(name).has(fault)} == here
    misdeals = set() if game(name).redeals else {fault.id for fault in MISDEALS}
    shoe = {fault.id for fault in OF_A_SHOE}
    assert set(BY_ID) - here - NO_NEW_SET - purchase - misdeals - shoe == set(LEFT_OUT.get(name, ()))
    assert all(why.split(":")[0].split("-")[0] in ("OAB", "CAR") for why in LEFT_OUT.get(name, {}).values())


def test_baccarat_has_faults_at_its_first_cards_and_at_third_ones() -> None:
    of = course(BACCARAT)
    assert {of.spot(card) for card in of.cards[Moment.ANY_CARD]} == {
        ("player", 1),
        ("banker", 1),
        ("player", 2),
    }
    assert {of.spot(card) for card in of.cards[Moment.DRAWN_CARD]} == {("player", 3), ("banker", 3)}
    assert all(of.cards.get(fault.moment, (0,)) for fault in of.faults)
    assert not {Moment.OPTIONS, Moment.FINAL_OPTIONS} & {fault.moment for fault in of.faults}


def test_hidden_cards_are_those_of_dark_boxes_and_the_dealers_but_one() -> None:
    def hidden(name: str) -> set[tuple[str, int] | None]:
        of = course(name)
        return {of.spot(card) for card in of.cards[Moment.FACE_DOWN_CARD]}

    dark = {(box, n) for box in ("box2", "box3") for n in range(1, 6)}
    assert hidden("golden_oasis") == dark | {("dealer", n) for n in range(1, 5)}
    assert hidden("grandmaster_russian_poker") == {("dealer", n) for n in range(2, 5)}


def test_a_plan_deals_the_faults_of_its_course_alone() -> None:
    plan = Plan(1, Amount.MANY, course=course("caribbean_poker"))
    planned = {case.fault.id for number in range(1, 200) if (case := plan.of(number))}
    assert planned == {fault.id for fault in course("caribbean_poker").faults}


def test_a_fault_that_a_game_cannot_have_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    add_simulate(parser.add_subparsers())
    words = ["simulate", "config/tables/caribbean_poker.toml", "--only", "early-exchange"]
    arguments = parser.parse_args(words)
    assert arguments.run(arguments) == REFUSED
    assert "--only early-exchange: caribbean_poker has no moment for it" in capsys.readouterr().err
