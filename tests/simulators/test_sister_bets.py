"""The betting system at a sister game: owners decide for their boxes, and the table's word is what counts."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import pytest
from games.driver import SISTERS, game
from mini_table import SETTINGS, MiniTable
from oracle import expected_balances

from controller.games.procedure import BoxState
from controller.games.published import Wager
from controller.games.requests import Action, Refusal, Request, Stage
from controller.games.settlement import Decision
from controller.games.sister_rules import SisterRules
from controller.table import events as ev
from controller.table import inputs as i
from controller.table.events import IncidentKind
from simulators.betting import BettingSystem, Quirk, Quirks, no_quirks
from simulators.round_bets import Choice, Window
from simulators.sister_bets import SisterBets, SisterSlips
from simulators.sister_crowd import SisterCrowd
from simulators.slips import reserve_in_antes
from simulators.wallet import Bet, Wallet

OPENING = 5_000_000
DARK = {"golden_oasis": frozenset({"box2", "box3"}), "oasis_with_bonus": frozenset({"box3"})}
BONUS = "oasis_with_bonus"


class House:
    """A table of a sister game with its betting system and wallet."""

    def __init__(self, name: str, seed: int, *, quirks: Quirks = no_quirks, **changes: Any) -> None:
        self.game = game(name, **changes)
        self.wallet = Wallet()
        self.dark = DARK.get(name, frozenset())
        self.betting = BettingSystem(self.wallet, self.game.rules, seed=seed, quirks=quirks, dark=self.dark)
        for player in self.betting.crowd.players:
            self.wallet.deposit(player, OPENING, player)
        states = {box: BoxState.DARK if box in self.dark else BoxState.OPEN for box in self.game.boxes}
        settings = msgspec.structs.replace(SETTINGS, boxes_not_told=states)
        self.table = MiniTable([self.betting, self.wallet], seed=seed, game=self.game, settings=settings)

    def check_money(self, **settings: Any) -> None:
        """Hold the wallet against the oracle, player by player."""
        if self.game.name == BONUS:
            settings["bonus_stakes"] = self.game.rules.bonus.stakes
        rounds = [
            {"game": self.game.name, "settings": settings, "cards": cards, "bets": bets}
            for roundid, cards in self.table.cards.items()
            if (bets := self.betting.bets_of(roundid))
        ]
        opening = dict.fromkeys(self.betting.crowd.players, OPENING)
        assert self.wallet.balances() == expected_balances(opening, rounds)
        assert self.wallet.total() == 0 and self.wallet.trial_balance() == ()
        assert self.wallet.waiting() == ()

    def decisions(self) -> list[ev.DecisionMade]:
        return [event for event in self.table.events if isinstance(event, ev.DecisionMade)]

    def refused(self) -> list[ev.InputRefused]:
        return [event for event in self.table.events if isinstance(event, ev.InputRefused)]


@pytest.mark.parametrize("name", SISTERS)
def test_a_day_of_rounds_pays_what_the_oracle_says(name: str) -> None:
    studio = House(name, 4)
    studio.table.play(12)
    studio.check_money()
    assert studio.refused() == []
    actions = {event.action for event in studio.decisions()}
    assert {"BET", "FOLD"} <= actions
    assert any(amount != OPENING for amount in studio.wallet.balances().values())


@pytest.mark.parametrize("name", ["caribbean_poker", "oasis_poker", "golden_oasis", BONUS])
def test_four_boxes_are_as_many_as_there_may_be(name: str) -> None:
    """D-51."""
    studio = House(name, 9, boxes=4)
    studio.table.play(8)
    studio.check_money()
    assert any(cards["box4"] for cards in studio.table.cards.values())


@pytest.mark.parametrize("name", SISTERS)
def test_every_close_by_time_is_acknowledged_and_no_other(name: str) -> None:
    studio = House(name, 6)
    studio.table.play(12)
    closes = [event for event in studio.table.events if isinstance(event, ev.DecisionClosed)]
    assert {event.ended_by for event in closes} == {"time", "all_decided"}
    acknowledged = Counter(
        press.command.window
        for _, press in studio.table.pressed
        if isinstance(press.command, i.WindowFacts) and press.command.acknowledges
    )
    expected = Counter(
        event.stage for event in closes if event.ended_by == "time" or event.stage == "buy_time"
    )
    assert acknowledged == expected
    requests = [press.request for _, press in studio.table.pressed]
    assert len(requests) == len(set(requests))


def test_boxes_decide_in_order_where_the_sheet_says_so() -> None:
    """OAB-14: the second open box waits, however early its owner wanted to decide."""
    studio = House(BONUS, 2)
    studio.table.play(25)
    assert not [event for event in studio.refused() if event.reason is ev.Refusal.NOT_ITS_TURN]
    told = [
        (press.round_no, press.command.box)
        for _, press in studio.table.pressed
        if isinstance(press.command, i.DecisionTaken) and press.command.window == "options"
    ]
    both = [number for number, box in told if box == "box2" and (number, "box1") in told]
    assert len(both) > 3
    assert all(told.index((number, "box1")) < told.index((number, "box2")) for number in both)
    early = [number for number in both if _wants(studio, number, "box2") < _wants(studio, number, "box1")]
    assert early, "in no round did the second owner want to be first"


def _wants(studio: House, number: int, box: str) -> int:
    bets = studio.betting.bets_of(f"rp1-{number}")
    owner = next(
        player for player, bet in bets.items() if not bet.get("late") and bet.get(box, {}).get("ante")
    )
    return studio.betting.crowd.moment(number, f"{owner}/{box}", Stage.OPTIONS, 1_000_000)


@pytest.mark.parametrize("name", SISTERS)
def test_a_silent_betting_system_takes_no_decision_that_the_table_has_not_heard(name: str) -> None:
    every_second = {number: frozenset(Quirk) for number in range(2, 20, 2)}
    studio = House(name, 5, quirks=lambda number: every_second.get(number, frozenset()))
    studio.table.play(10)
    studio.check_money()
    for number in range(2, 12, 2):
        bets = studio.betting.bets_of(f"rp1-{number}")
        counted = [bet[box] for bet in bets.values() for box in studio.game.boxes if box in bet]
        assert not any("option" in box for box in counted)
    assert {event.action for event in studio.decisions()} >= {None, "BET"}


def test_a_decision_that_the_dealer_enters_binds_the_box() -> None:
    studio = House("oasis_poker", 1)
    studio.table.until("deciding")
    window = studio.table.table.state.in_play.window
    assert window is not None and window.decides is not None
    box = window.decides.boxes[0]
    studio.table.command(i.DecisionTaken("options", box, "FOLD"))
    bets = studio.betting.bets_of("rp1-1")
    assert {bet[box].get("final") for bet in bets.values() if bet.get(box, {}).get("ante")} == {"fold"}
    studio.table.play(1)
    studio.check_money()


def test_five_cards_bet_too_where_the_house_says_so() -> None:
    """OAS-05."""
    studio = House("oasis_poker", 3, force_bet_after_five=True)
    studio.table.play(25)
    studio.check_money(force_bet_after_five=True)
    boxes = [
        box
        for number in range(1, 26)
        for bet in studio.betting.bets_of(f"rp1-{number}").values()
        for box in bet.values()
        if isinstance(box, dict) and len(box.get("positions", ())) == 5
    ]
    assert boxes and {box["final"] for box in boxes} == {"bet"}


def test_a_cancelled_round_leaves_everybody_as_he_was() -> None:
    studio = House("grandmaster_russian_poker", 4)
    studio.table.until("deciding")
    studio.table.run(lambda: bool(studio.decisions()))
    assert any(amount < OPENING for amount in studio.wallet.balances().values())
    studio.table.command(i.Observed(IncidentKind.DEVICE_FAILED))
    studio.table.command(i.ConfirmCancel(), "boris")
    assert set(studio.wallet.balances().values()) == {OPENING}
    studio.table.play(1)
    studio.check_money()


# Seats.


class Fixed(SisterCrowd):
    """A crowd that wants what the test says."""

    wishes: dict[str, tuple[Request, ...]]
    choice: Request
    agrees = True

    def stakes(self, round_no: int, player: str) -> tuple[Request, ...]:
        return self.wishes[player]

    def option(
        self, round_no: int, player: str, box: str, actions: tuple[str, ...], *, deal: int = 1
    ) -> Request | None:
        return self.choice

    def consents(self, round_no: int, owner: str, player: str) -> bool:
        return self.agrees


def ante(box: str, amount: int) -> Request:
    return Request(Stage.BETTING, Action.ANTE, box, amount)


def bonus(box: str, amount: int) -> Request:
    return Request(Stage.BETTING, Action.BONUS_B, box, amount)


def seated(
    name: str, *bettors: tuple[Request, ...], agrees: bool = True
) -> tuple[SisterSlips, Counter[Refusal]]:
    """Let players bet, one after the other: p01, p02 and so on."""
    rules: SisterRules = game(name).rules
    wallet, refusals = Wallet(), Counter[Refusal]()
    crowd = Fixed(1, rules, len(bettors))
    crowd.agrees = agrees
    crowd.wishes = dict(zip(crowd.players, bettors, strict=True))
    slips = SisterSlips("rp1-1", rules, wallet, dark=DARK.get(name, frozenset()))
    bets = SisterBets(1, slips, crowd=crowd, refusals=refusals)
    for player in crowd.players:
        wallet.deposit(player, OPENING, player)
        bets.bet(player, late=False)
    return slips, refusals


def test_one_player_has_one_ante_for_all_his_open_boxes() -> None:
    """OAB-16; a dark box may have another one (OAB-27)."""
    slips, _ = seated(BONUS, (ante("box1", 200), ante("box2", 600), ante("box3", 800)))
    assert [slips.of("p01", box).ante for box in ("box1", "box2", "box3")] == [200, 200, 800]
    assert slips.of("p01", "box3").decision is Decision.BET


def test_who_bets_along_bets_the_owners_ante_on_all_the_owners_open_boxes() -> None:
    """OAB-15, OAB-16."""
    first = (ante("box1", 200), ante("box2", 200))
    slips, _ = seated(BONUS, first, (ante("box2", 900), bonus("box2", 50), bonus("box1", 100)))
    assert [slips.of("p02", box).ante for box in ("box1", "box2")] == [200, 200]
    assert [slips.of("p02", box).bonus_b for box in ("box1", "box2")] == [100, 50]
    assert slips.owner("box1") == slips.owner("box2") == "p01"


def test_without_consent_only_dark_boxes_are_free() -> None:
    """OAB-15."""
    wishes = (ante("box1", 200), bonus("box1", 50), ante("box3", 400))
    slips, refusals = seated(BONUS, (ante("box1", 200), ante("box3", 600)), wishes, agrees=False)
    assert (slips.of("p02", "box1").ante, slips.of("p02", "box3").ante) == (0, 400)
    assert not refusals


def test_three_bets_lie_on_a_box_and_a_party_is_seated_whole() -> None:
    """OAB-17: box 2 has a seat left, and who must be on both gets neither."""
    both = (ante("box1", 200), ante("box2", 200))
    slips, refusals = seated(BONUS, both, both, both, (ante("box2", 200),), (ante("box3", 300),))
    assert [len(slips.of_box(box)) for box in ("box1", "box2", "box3")] == [3, 3, 1]
    assert refusals == {Refusal.BOX_FULL: 1}


def test_one_of_the_open_antes_refused_refuses_them_all() -> None:
    """COM-13."""
    slips, refusals = seated(BONUS, (ante("box1", 98), ante("box2", 400), ante("box3", 400)))
    assert slips.staked_boxes() == {"box3"}
    assert refusals == {Refusal.BELOW_MIN: 1}


@pytest.mark.parametrize(
    ("name", "seats"),
    [("grandmaster_russian_poker", 1), ("royal_poker", 1), ("caribbean_poker", 4), ("golden_oasis", 4)],
)
def test_how_many_may_bet_on_a_box(name: str, seats: int) -> None:
    """GRP-03, ROY-02, CAR-09."""
    slips, refusals = seated(name, *[(ante("box1", 100 + number),) for number in range(4)])
    assert len(slips.of_box("box1")) == seats
    assert refusals[Refusal.BOX_FULL] == 4 - seats


@pytest.mark.parametrize(("left", "followed"), [(400, True), (399, False)])
def test_a_decision_is_told_only_if_everybody_on_the_box_can_pay_for_it(left: int, followed: bool) -> None:
    """D-40: an exchange of two takes the money for the Bet too."""
    rules = game("oasis_poker").rules
    wallet, refusals = Wallet(), Counter[Refusal]()
    crowd = Fixed(1, rules, 2)
    crowd.wishes = dict.fromkeys(crowd.players, (ante("box1", 100),))
    crowd.choice = Request(Stage.OPTIONS, Action.EXCHANGE, "box1", positions=(1, 2))
    slips = SisterSlips("rp1-1", rules, wallet)
    bets = SisterBets(1, slips, crowd=crowd, refusals=refusals)
    for player in crowd.players:
        wallet.deposit(player, OPENING, player)
        bets.bet(player, late=False)
    assert wallet.debit(Bet("rp1-0", "p02", "box1", Wager.ANTE), OPENING - 100 - left).accepted
    window = Window(Stage.OPTIONS, 0, 500, ("box1",), ("BET", "EXCHANGE", "FOLD"))
    told = i.DecisionTaken("options", "box1", "EXCHANGE", (1, 2)) if followed else None
    assert bets.choose(window, "p01/box1") == Choice(followed, told)
    assert refusals[Refusal.BALANCE] == (0 if followed else 1)
    assert slips.of("p01", "box1").pattern == "stay", "only the table's word makes it count"


@pytest.mark.parametrize(
    ("name", "antes"), [("caribbean_poker", 3), ("oasis_poker", 6), (BONUS, 5), ("royal_poker", 5)]
)
def test_a_box_is_opened_by_who_can_carry_it_to_its_end(name: str, antes: int) -> None:
    """Ante, Bet, the dearest draw and the purchase (CAR-04, OAS-04, OAB-06, ROY-05, ROY-09)."""
    assert reserve_in_antes(game(name).rules.price_list) == antes


@pytest.mark.parametrize("name", SISTERS)
def test_choices_do_not_hang_on_the_order_of_calls(name: str) -> None:
    rules = game(name).rules
    one, two = SisterCrowd(1, rules, 5), SisterCrowd(1, rules, 5)
    actions = game(name).actions
    asked = [(number, player) for number in range(20) for player in one.players]

    def all_of(crowd: SisterCrowd, key: tuple[int, str]) -> Any:
        return crowd.stakes(*key), crowd.option(*key, "box1", actions), crowd.consents(*key, "p01")

    there = {key: all_of(one, key) for key in asked}
    assert there == {key: all_of(two, key) for key in reversed(asked)}
    options = {option.action for _, option, _ in there.values() if option is not None}
    assert options == set(actions)
    assert any(option is None for _, option, _ in there.values())
