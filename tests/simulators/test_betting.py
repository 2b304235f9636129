"""The betting system and the wallet at a table: every balance is what the oracle says it must be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from mini_table import NOON, SETTINGS, MiniTable
from oracle import expected_balances, settle
from rules.live_rules import live_rules

from controller.bus.envelope import decode, event_of
from controller.bus.errors import ChainBroken
from controller.games.procedure import BoxState
from controller.games.requests import Refusal
from controller.table import events as ev
from controller.table import inputs as i
from controller.table.events import Audience, IncidentKind
from controller.table.picture import draw
from simulators.actor import Press, Wake
from simulators.betting import BettingSystem, Quirk, Quirks, no_quirks
from simulators.crowd import Crowd
from simulators.wallet import Wallet

OPENING = 5_000_000


class House(msgspec.Struct):
    """A table with its betting system and wallet."""

    table: MiniTable
    betting: BettingSystem
    wallet: Wallet


def house(seed: int, *, quirks: Quirks = no_quirks, players: int = 12, opening: int = OPENING) -> House:
    wallet = Wallet()
    betting = BettingSystem(wallet, live_rules(), seed=seed, players=players, quirks=quirks)
    for player in betting.crowd.players:
        wallet.deposit(player, opening, player)
    return House(MiniTable([betting, wallet], seed=seed), betting, wallet)


def played_rounds(studio: House) -> list[dict[str, Any]]:
    return [
        {"cards": cards, "bets": studio.betting.bets_of(roundid)}
        for roundid, cards in studio.table.cards.items()
    ]


def check_money(studio: House) -> None:
    """Hold the wallet against the oracle, player by player."""
    opening = dict.fromkeys(studio.betting.crowd.players, OPENING)
    assert studio.wallet.balances() == expected_balances(opening, played_rounds(studio))
    assert studio.wallet.total() == 0
    assert studio.wallet.trial_balance() == ()
    assert studio.wallet.waiting() == ()


def told(studio: House) -> list[tuple[int, str, i.AnyCommand]]:
    return [(press.round_no, press.request or "", press.command) for _, press in studio.table.pressed]


@pytest.mark.parametrize("seed", range(4))
def test_a_day_of_rounds_pays_what_the_oracle_says(seed: int) -> None:
    studio = house(seed)
    studio.table.play(8)
    check_money(studio)
    assert not [event for event in studio.table.events if isinstance(event, ev.InputRefused)]
    assert any(player != OPENING for player in studio.wallet.balances().values())


def test_the_crowd_does_everything_a_player_may_do() -> None:
    studio = house(7)
    studio.table.play(40)
    check_money(studio)
    bets = [bet for played in played_rounds(studio) for bet in played["bets"].values()]
    main = [bet["box2"] for bet in bets if bet.get("box2", {}).get("ante") and not bet.get("late")]
    assert {box.get("option") for box in main} == {None, "sixth", "exchange"}
    assert {box.get("final") for box in main} == {None, "bet", "fold", "insurance"}
    assert any(box.get("bought") for bet in bets for box in bet.values() if isinstance(box, dict))
    assert any(bet.get("late") for bet in bets)
    assert {Refusal.BELOW_MIN, Refusal.NO_ANTE} <= set(studio.betting.refusals)


def test_boxes_are_told_as_they_are_staked_and_the_main_box_is_sometimes_empty() -> None:
    studio = house(3)
    studio.table.play(25)
    states = {number: cmd.boxes for number, _, cmd in told(studio) if isinstance(cmd, i.BetsTaken)}
    assert len(states) == 25
    for number, boxes in states.items():
        bets = [bet for bet in studio.betting.bets_of(f"rp1-{number}").values() if not bet.get("late")]
        staked = {box for bet in bets for box in boxes if bet.get(box, {}).get("ante")}
        open_state = {"box1": BoxState.DARK, "box2": BoxState.OPEN, "box3": BoxState.DARK}
        assert boxes == {box: open_state[box] if box in staked else BoxState.EMPTY for box in boxes}
    assert {boxes["box2"] for boxes in states.values()} == {BoxState.OPEN, BoxState.EMPTY}


def test_every_close_is_acknowledged_inside_the_grace_time() -> None:
    studio = house(5)
    studio.table.play(10)
    closes = [event for event in studio.table.events if isinstance(event, ev.BetsClosed | ev.DecisionClosed)]
    answers = [
        at
        for at, press in studio.table.pressed
        if isinstance(press.command, i.BetsTaken)
        or (isinstance(press.command, i.WindowFacts) and press.command.acknowledges)
    ]
    assert len(answers) == len(closes) > 20
    for close, answered_at in zip(closes, answers, strict=True):
        assert 0 < answered_at - close.at_us < SETTINGS.grace_ms * 1_000
    settled = [event for event in studio.table.events if isinstance(event, ev.FactsSettled)]
    assert all(event.acknowledged for event in settled)
    assert "all_decided" in {close.ended_by for close in closes}


@pytest.mark.parametrize("quirk", Quirk)
def test_a_quirk_silences_its_window_in_its_round_and_nothing_else(quirk: Quirk) -> None:
    every_second = {number: frozenset({quirk}) for number in range(2, 20, 2)}
    studio = house(11, quirks=lambda number: every_second.get(number, frozenset()))
    studio.table.play(12)
    check_money(studio)
    silent = {
        (decode(raw).roundid or "")
        for raw in studio.table.messages[Audience.AUDIT]
        if isinstance(event := event_of(decode(raw)), ev.FactsSettled) and not event.acknowledged
    }
    of_window = {request.split("/")[0] for _, request, _ in told(studio) if f"/{quirk}/" in request}
    assert silent and not silent & of_window
    assert {int(roundid.removeprefix("rp1-")) % 2 for roundid in silent} == {0}


def test_no_more_bets_by_the_dealers_hand_voids_what_comes_later() -> None:
    studio = house(2)
    studio.table.until("betting")
    studio.table.no_more_bets_at = studio.table.now + 6_000_000
    studio.table.until("confirmed")
    bets = studio.betting.bets_of("rp1-1")
    late = {player for player, bet in bets.items() if bet.get("late")}
    assert late and late < set(bets)
    check_money(studio)
    for player in late:
        assert studio.wallet.balance(player) == OPENING


def test_a_cancelled_round_leaves_everybody_as_he_was() -> None:
    studio = house(4)
    studio.table.until("deciding")
    studio.table.run(lambda: studio.table.table.state.in_play.window.is_open is False)
    assert any(amount < OPENING for amount in studio.wallet.balances().values())
    studio.table.command(i.Observed(IncidentKind.DEVICE_FAILED))
    studio.table.command(i.ConfirmCancel(), "boris")
    assert set(studio.wallet.balances().values()) == {OPENING}
    assert all(bet["cancelled"] for bet in studio.betting.bets_of("rp1-1").values())
    studio.table.play(2)
    check_money(studio)


def disputed_switch_card(studio: House) -> None:
    """The fifth switch card is read again, as another one, while the players choose."""
    state = studio.table.table.state
    studio.table.run(
        lambda: state.phase == "deciding" and len(state.in_play.laid) == 25 and state.in_play.window.is_open
    )
    studio.table.command(i.DisputeReading())
    studio.table.scan(studio.table.deck[0])


@pytest.mark.parametrize("seed", range(6))
def test_a_corrected_switch_card_is_what_counts(seed: int) -> None:
    studio = house(seed)
    disputed_switch_card(studio)
    assert studio.table.table.state.incident is None
    studio.table.until("confirmed")
    check_money(studio)


def test_players_wait_while_a_card_is_read_again() -> None:
    studio = house(1)
    state = studio.table.table.state
    studio.table.run(
        lambda: state.phase == "deciding" and len(state.in_play.laid) == 25 and state.in_play.window.is_open
    )
    studio.table.command(i.DisputeReading())
    before = dict(studio.wallet.balances())
    studio.table.run(lambda: not studio.table.plans)
    assert state.in_play.window is not None and state.in_play.window.is_open
    assert studio.wallet.balances() == before
    studio.table.scan(studio.table.deck[0])
    studio.table.until("confirmed")
    assert studio.wallet.balances() != before
    check_money(studio)


def test_bets_rest_while_an_incident_stops_betting() -> None:
    studio = house(6)
    studio.table.until("betting")
    studio.table.step(i.ScannerLost(at=studio.table.tick(), scanner="shoe", reason="unplugged"))
    state = studio.table.table.state
    studio.table.run(lambda: bool(state.in_play.window and state.in_play.window.settled))
    assert studio.betting.bets_of("rp1-1").keys() <= {
        player for player in studio.betting.crowd.players if studio.betting.crowd.is_late(1, player)
    }


def test_the_crowd_can_always_carry_what_it_has_opened() -> None:
    studio = house(8, opening=6_000)
    studio.table.play(15)
    assert studio.betting.refusals[Refusal.BALANCE] > 0
    assert min(studio.wallet.balances().values()) >= 0
    for roundid in studio.table.cards:
        assert studio.wallet.credits(roundid, 1) or not studio.betting.bets_of(roundid)
    opening = dict.fromkeys(studio.betting.crowd.players, 6_000)
    assert studio.wallet.balances() == expected_balances(opening, played_rounds(studio))


def test_choices_do_not_hang_on_the_order_of_calls() -> None:
    forwards, backwards = Crowd(1, live_rules(), 5), Crowd(1, live_rules(), 5)
    asked = [(number, player) for number in range(20) for player in forwards.players]
    there = {key: (forwards.stakes(*key), forwards.option(*key), forwards.is_late(*key)) for key in asked}
    back = {
        key: (backwards.stakes(*key), backwards.option(*key), backwards.is_late(*key))
        for key in reversed(asked)
    }
    assert there == back
    other = Crowd(2, live_rules(), 5)
    assert [other.stakes(*key) for key in asked] != [forwards.stakes(*key) for key in asked]


def test_the_same_messages_make_the_same_presses_at_the_same_times() -> None:
    first, second = house(9), house(9)
    first.table.play(5)
    second.table.play(5)
    assert first.table.pressed == second.table.pressed
    assert first.table.messages == second.table.messages


def test_messages_heard_again_change_nothing_and_a_gap_stops() -> None:
    studio = house(9)
    studio.table.play(2)
    before: Mapping[str, int] = dict(studio.wallet.balances())
    messages = studio.table.messages[Audience.BETTING]
    for message in messages:
        assert studio.betting.heard(message, studio.table.now) == []
    assert studio.wallet.balances() == before
    fresh = BettingSystem(Wallet(), live_rules(), seed=9)
    fresh.heard(messages[0], NOON)
    with pytest.raises(ChainBroken, match="does not follow number 1"):
        fresh.heard(messages[2], NOON)


def test_what_the_table_has_not_answered_is_repeated_when_asked() -> None:
    betting = BettingSystem(Wallet(), live_rules(), seed=1)
    studio = MiniTable([], seed=1)
    studio.until("betting")
    studio.command(i.CloseBetting())
    planned = [plan for raw in studio.messages[Audience.BETTING] for plan in betting.heard(raw, studio.now)]
    presses = [plan.act for plan in planned if isinstance(plan.act, Press)]
    assert [press.request for press in presses] == ["rp1-1/betting/closed"]
    assert [plan.act for plan in betting.repeat(studio.now)] == presses
    betting.answered(presses[0], True, None, studio.now)
    assert betting.repeat(studio.now) == []


def test_the_own_clock_ends_betting_time_when_no_message_comes() -> None:
    wallet = Wallet()
    betting = BettingSystem(wallet, live_rules(), seed=1)
    for player in betting.crowd.players:
        wallet.deposit(player, OPENING, player)
    studio = MiniTable([], seed=1)
    studio.until("betting")
    plans = [plan for raw in studio.messages[Audience.BETTING] for plan in betting.heard(raw, studio.now)]
    for plan in plans:
        assert isinstance(plan.act, Wake)
        betting.woken(plan.act.note, studio.now + SETTINGS.betting_ms * 1_000)
    bets = betting.bets_of("rp1-1")
    assert bets and all(bet["late"] for bet in bets.values())


def test_the_record_is_what_the_oracle_reads() -> None:
    studio = house(3)
    studio.table.play(1)
    (played,) = played_rounds(studio)
    for player, bets in played["bets"].items():
        result = settle(played["cards"], bets)
        assert studio.wallet.balance(player) == OPENING + result["returned"] - result["staked"]


def restart(studio: House) -> None:
    """The table goes down and comes back under a new epoch; the dealer finds everything as it was."""
    table = studio.table
    table.epoch = 2
    table.step(i.Started(at=table.tick(), epoch=2, program="p", rules="r", documents=()))
    table.command(i.ConfirmPicture(draw(table.table.state).lies or ""))
    table.step(i.ScannerOpened(at=table.tick(), scanner="shoe"))
    incident = table.table.state.incident
    assert incident is not None
    table.command(i.AnswerQuestion(incident.number, yes=False))
    assert table.table.state.incident is None


@pytest.mark.parametrize("prompt", ["DEAL_CARD", "TURN"])
def test_after_a_restart_nothing_is_sent_again_and_the_round_goes_on(prompt: str) -> None:
    studio = house(12)
    studio.table.until("dealing", prompt)
    before = len(studio.table.pressed)
    restart(studio)
    assert len(studio.table.pressed) == before
    studio.table.play(1)
    check_money(studio)
    requests = [request for _, request, _ in told(studio)]
    assert len(requests) == len(set(requests))


def test_a_window_that_a_cancel_ends_is_not_acknowledged() -> None:
    studio = house(4)
    studio.table.until("deciding")
    studio.table.command(i.Observed(IncidentKind.DEVICE_FAILED))
    studio.table.command(i.ConfirmCancel(), "boris")
    closes = [event for event in studio.table.events if isinstance(event, ev.DecisionClosed)]
    assert [event.ended_by for event in closes] == ["cancel"]
    studio.table.play(1)
    assert "rp1-1/options/closed" not in [request for _, request, _ in told(studio)]
    check_money(studio)


def test_no_delay_is_longer_than_the_grace_time_allows() -> None:
    crowd = Crowd(1, live_rules(), 1)
    free = [crowd.delay_us(number, "options/closed", at_most_ms=250) for number in range(50)]
    short = [crowd.delay_us(number, "options/closed", at_most_ms=30) for number in range(50)]
    assert len(set(free)) > 10
    assert short == [min(delay, 30_000) for delay in free]
    assert 20_000 <= min(short) < max(short) == 30_000
