"""The shipped settings of the sister games against their rule sheets: every pay, price and limit, in play."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from games.driver import SISTERS, game, play, settings

from controller.cards import Card, parse_cards
from controller.games.procedure import BoxState, Decide, Decision
from controller.games.published import Outcome, RowName, Wager
from controller.games.registry import GAMES
from controller.games.requests import Action, Refusal, Request, Stage, Standing, refusal
from controller.games.settlement import BoxSlip, settle
from controller.games.settlement import Decision as Decided

PAYS = {  # GRP-12, ROY-10, GOA-10, OAB-12, CAR-06, OAS-06
    "As Ks Qs Js Ts": 100,
    "9s 8s 7s 6s 5s": 50,
    "9s 9h 9d 9c 4s": 20,
    "9s 9h 9d 4c 4s": 7,
    "Ks Js 9s 4s 2s": 5,
    "9s 8h 7d 6c 5s": 4,
    "9s 9h 9d 4c 2s": 3,
    "9s 9h 4d 4c 2s": 2,
    "9s 9h 6d 4c 2s": 1,
    "As Kh 9d 4c 2s": 1,
}
BONUS = {  # OAB-20
    "As Ks Qs Js Ts": ("ROYAL", 1000),
    "9s 8s 7s 6s 5s": ("STRAIGHT_FLUSH", 500),
    "9s 9h 9d 9c 4s": ("QUADS", 300),
    "7s 7h 7d 4c 4s": ("FULL_HOUSE", 100),
    "Ks Js 9s 4s 2s": ("FLUSH", 50),
    "9s 8h 7d 6c 5s": ("STRAIGHT", 40),
    "7s 7h 7d 4c 2s": ("SEVENS_777", 20),
    "7s 7h 4d 4c 2s": ("SEVENS_77_PAIR", 5),
}
NO_BONUS = ("As Kh 9d 4c 2s", "9s 9h 9d 4c 2s", "7s 7h 9d 4c 2s", "As Ah Ks Kh 7s")
LOW_DEALER, DEALER_WITHOUT_GAME = parse_cards("Ad Kc 8d 5h 3h"), parse_cards("Qd Jc 8d 5h 3h")
ANTE_PAID_ON_WIN = ("golden_oasis", "oasis_with_bonus", "oasis_poker", "caribbean_poker")  # D-03
BY_NUMBER = {
    "oasis_poker": (200, 400, 600, 400, 200),  # OAS-04
    "golden_oasis": (200, 400, 600, 400, 200),  # D-22
    "oasis_with_bonus": (200, 300, 400, 400, 200),  # OAB-06
    "grandmaster_russian_poker": (200,) * 5,  # GRP-10
    "royal_poker": (200,) * 5,  # ROY-05
}
RUSSIAN = ("grandmaster_russian_poker", "royal_poker")
BOX = "box1"
FREE = parse_cards("2h 3c 6h Tc Th")


def against(
    name: str, text: str, dealer: tuple[Card, ...], *, first: Decision, second: str = "BET", **changes: Any
) -> Outcome:
    hand = parse_cards(text)
    dealt = [card for pair in zip(hand, dealer, strict=True) for card in pair]
    return play(
        game(name, **changes),
        states={BOX: BoxState.OPEN},
        decisions={("options", BOX): first, ("final_options", BOX): Decision(second)},
        cards=(*dealt, *FREE),
        bought=False,
    ).result


def returned(published: Outcome, **slip: Any) -> dict[str, int]:
    made = BoxSlip(BOX, ante=slip.pop("ante", 200), decision=Decided.BET, **slip)
    return {line.wager: line.returned for line in settle((made,), published)}


def raise_or_bet(name: str) -> str:
    return "RAISE" if name == "royal_poker" else "BET"


@pytest.mark.parametrize("name", SISTERS)
@pytest.mark.parametrize(("text", "odds"), PAYS.items())
def test_a_won_bet_pays_by_the_table(name: str, text: str, odds: int) -> None:
    lines = returned(against(name, text, LOW_DEALER, first=Decision("BET")))
    ante = 400 if name in ANTE_PAID_ON_WIN else 200
    assert lines == {"ANTE": ante, raise_or_bet(name): 400 + odds * 400}


@pytest.mark.parametrize("name", SISTERS)
def test_the_ante_is_paid_when_the_dealer_does_not_qualify(name: str) -> None:
    lines = returned(against(name, "9s 9h 9d 4c 2s", DEALER_WITHOUT_GAME, first=Decision("BET")))
    assert lines == {"ANTE": 400, raise_or_bet(name): 400}


@pytest.mark.parametrize("name", SISTERS)
def test_the_win_on_the_bet_is_limited(name: str) -> None:
    big = against(name, "As Ks Qs Js Ts", LOW_DEALER, first=Decision("BET"))
    assert returned(big, ante=10_000)[raise_or_bet(name)] == 20_000 + 500_000
    with_stake = against(
        name, "As Ks Qs Js Ts", LOW_DEALER, first=Decision("BET"), max_payout_includes_stake=True
    )
    assert returned(with_stake, ante=10_000)[raise_or_bet(name)] == 500_000  # D-21
    unlimited = settings(name)
    del unlimited["limits"]["table_max"]
    hand = parse_cards("As Ks Qs Js Ts")
    dealt = [card for pair in zip(hand, LOW_DEALER, strict=True) for card in pair]
    played = play(GAMES[name].build(unlimited), states={BOX: BoxState.OPEN}, cards=dealt).result
    assert returned(played, ante=10_000)[raise_or_bet(name)] == 20_000 + 2_000_000


@pytest.mark.parametrize(("name", "prices"), BY_NUMBER.items())
@pytest.mark.parametrize("count", range(1, 6))
def test_exchange_fees(name: str, prices: tuple[int, ...], count: int) -> None:
    positions = tuple(range(1, count + 1))
    published = against(
        name, "9s 8h 7d 4c 2s", LOW_DEALER, first=Decision("EXCHANGE", positions), second="FOLD"
    )
    pattern = f"exchange:{','.join(map(str, positions))}"
    lines = settle((BoxSlip(BOX, ante=200, pattern=pattern, decision=Decided.FOLD),), published)
    assert [(line.wager, line.stake, line.returned) for line in lines] == [
        ("ANTE", 200, 0),
        ("EXCHANGE_FEE", prices[count - 1], 0),
    ]
    rules = game(name).rules
    slip = BoxSlip(BOX, ante=200)
    asked = Request(Stage.OPTIONS, Action.EXCHANGE, BOX, positions=positions)
    needed = prices[count - 1] + 400  # GRP-10: the Bet must be possible, too
    assert refusal(asked, Standing(Stage.OPTIONS, slip, needed), rules) is None
    assert refusal(asked, Standing(Stage.OPTIONS, slip, needed - 1), rules) is Refusal.BALANCE


@pytest.mark.parametrize("name", RUSSIAN)
def test_sixth_card_and_purchase_cost_one_ante(name: str) -> None:
    shown = against(name, "9s 9h 7d 4c 2s", LOW_DEALER, first=Decision("BET")).prices
    assert (shown[Wager.SIXTH_FEE], shown[Wager.BUY_FEE]) == ("1", "1")


@pytest.mark.parametrize("name", SISTERS)
def test_the_bet_costs_two_antes(name: str) -> None:
    rules, slip = game(name).rules, BoxSlip(BOX, ante=200)
    asked = Request(Stage.OPTIONS, Action.BET, BOX)
    assert refusal(asked, Standing(Stage.OPTIONS, slip, 400), rules) is None
    assert refusal(asked, Standing(Stage.OPTIONS, slip, 399), rules) is Refusal.BALANCE


@pytest.mark.parametrize("name", SISTERS)
def test_ante_limits(name: str) -> None:
    rules = game(name).rules

    def ask(amount: int) -> Refusal | None:
        request = Request(Stage.BETTING, Action.ANTE, BOX, amount)
        return refusal(request, Standing(Stage.BETTING, BoxSlip(BOX), 1_000_000), rules)

    step = 2 if name == "oasis_with_bonus" else 1  # D-54
    assert ask(100) is None and ask(100 - step) is Refusal.BELOW_MIN
    assert ask(10_000) is None and ask(10_000 + step) is Refusal.ABOVE_MAX
    assert (ask(101) is Refusal.ODD_AMOUNT) == (name == "oasis_with_bonus")


def test_limits_as_written() -> None:
    for name in SISTERS:
        shipped = settings(name)
        assert shipped["limits"] == {"ante_min": 100, "ante_max": 10_000, "table_max": 500_000} | (
            {"stakes_max": 30_000} if name == "royal_poker" else {}
        )
        assert shipped.get("boxes", 1) == (1 if name == "royal_poker" else 3)
        assert shipped["max_rescans"] == 1


def test_royal_poker_limits_ante_and_raise_together() -> None:
    for most, refused in ((30_000, None), (29_999, Refusal.ABOVE_MAX)):
        rules = game("royal_poker", limits={"stakes_max": most}).rules
        request = Request(Stage.BETTING, Action.ANTE, BOX, 10_000)
        assert refusal(request, Standing(Stage.BETTING, BoxSlip(BOX), 1_000_000), rules) is refused  # ROY-02


@pytest.mark.parametrize(("text", "row"), BONUS.items())
def test_bonus_pays(text: str, row: tuple[str, int]) -> None:
    published = against("oasis_with_bonus", text, DEALER_WITHOUT_GAME, first=Decision("BET"))
    bonus = published.box(BOX).bonus
    assert bonus is not None and bonus[Wager.BONUS_B].bonus == row[0]
    assert returned(published, bonus_b=50)["BONUS_B"] == 50 + 50 * row[1]


@pytest.mark.parametrize("text", NO_BONUS)
def test_other_hands_are_no_bonus_hands(text: str) -> None:
    published = against("oasis_with_bonus", text, LOW_DEALER, first=Decision("BET"))
    assert returned(published, bonus_b=50)["BONUS_B"] == 0


@pytest.mark.parametrize("setting", [False, True])
@pytest.mark.parametrize("drew", [False, True])
def test_a_fold_loses_the_bonus_only_by_setting_and_an_exchange_always(setting: bool, drew: bool) -> None:
    first = Decision("EXCHANGE", (5,)) if drew else Decision("FOLD")
    published = against(
        "oasis_with_bonus", "7s 7h 4d 4c 2s", LOW_DEALER, first=first, second="FOLD", fold_loses_bonus=setting
    )
    slip = BoxSlip(BOX, 200, "exchange:5" if drew else "stay", Decided.FOLD, bonus_b=50)
    lines = {line.wager: line.returned for line in settle((slip,), published)}
    assert lines["BONUS_B"] == (0 if drew or setting else 300)  # OAB-21, D-23


def test_bonus_stakes() -> None:
    rules = game("oasis_with_bonus").rules
    ante = BoxSlip(BOX, ante=10_000)

    def ask(amount: int, slip: BoxSlip = ante, balance: int = 100_000) -> Refusal | None:
        request = Request(Stage.BETTING, Action.BONUS_B, BOX, amount)
        return refusal(request, Standing(Stage.BETTING, slip, balance), rules)

    taken = [amount for amount in range(1, 5_001) if ask(amount) is None]
    assert taken == [50, 100, 500, 1_000, 1_500, 2_000, 2_500]  # OAB-19
    assert ask(200) is Refusal.NO_SUCH_STAKE
    assert ask(500, BoxSlip(BOX, ante=1_000)) is None
    assert ask(500, BoxSlip(BOX, ante=998)) is Refusal.ABOVE_MAX
    assert ask(50, BoxSlip(BOX)) is Refusal.NO_ANTE
    assert ask(50, balance=49) is Refusal.BALANCE
    other = Request(Stage.BETTING, Action.BONUS_D, BOX, 50)
    assert refusal(other, Standing(Stage.BETTING, ante, 1_000), rules) is Refusal.NOT_OFFERED
    plain = Standing(Stage.BETTING, ante, 1_000)
    asked = Request(Stage.BETTING, Action.BONUS_B, BOX, 50)
    assert refusal(asked, plain, game("caribbean_poker").rules) is Refusal.NOT_OFFERED


def test_at_most_three_bets_a_box() -> None:
    rules, request = game("oasis_with_bonus").rules, Request(Stage.BETTING, Action.ANTE, BOX, 100)
    for others, refused in ((2, None), (3, Refusal.BOX_FULL)):
        standing = Standing(Stage.BETTING, BoxSlip(BOX), 1_000, others_on_box=others)
        assert refusal(request, standing, rules) is refused  # OAB-17


def test_the_second_combination_is_paid_in_the_russian_games_alone() -> None:
    for name in SISTERS:
        published = against(name, "9s 9h As Kh 2s", LOW_DEALER, first=Decision("BET"))
        hand = published.box(BOX).hands[0]
        assert hand.odds == ("2" if name in RUSSIAN else "1")
        assert len(hand.combinations) == (2 if name in RUSSIAN else 1)


def test_a_paired_straight_by_setting() -> None:
    six = parse_cards("Ts 9s 8h 7d 6c Th")
    for setting, kinds in (("straight", ["STRAIGHT", "STRAIGHT"]), ("pair", ["STRAIGHT", "PAIR"])):
        hand = game("royal_poker", paired_straight=setting).house.hand(six)
        assert [combination.kind for combination in hand.combinations] == kinds  # D-08


@pytest.mark.parametrize("name", SISTERS)
def test_silence_without_the_money_for_the_bet_folds(name: str) -> None:
    hand = parse_cards("9s 9h 9d 4c 2s")
    dealt = [card for pair in zip(hand, DEALER_WITHOUT_GAME, strict=True) for card in pair]
    published = play(game(name), states={BOX: BoxState.OPEN}, cards=(*dealt, *FREE), bought=False).result
    rich, poor = BoxSlip(BOX, ante=200), BoxSlip(BOX, ante=200, can_place_bet=False)
    assert [line.outcome for line in settle((rich,), published)] == ["WIN", "PUSH"]
    assert [line.outcome for line in settle((poor,), published)] == ["LOSE"]  # RPL-81


def test_slips_that_contradict_the_box() -> None:
    bet = against("oasis_poker", "9s 9h 7d 4c 2s", LOW_DEALER, first=Decision("BET"))
    folded = against("oasis_poker", "9s 9h 7d 4c 2s", LOW_DEALER, first=Decision("FOLD"))
    with pytest.raises(ValueError, match="on a box that has bet"):
        settle((BoxSlip(BOX, ante=200, decision=Decided.FOLD),), bet)
    with pytest.raises(ValueError, match="on a box that has folded"):
        settle((BoxSlip(BOX, ante=200, decision=Decided.BET),), folded)
    with pytest.raises(ValueError, match="has no pattern"):
        settle((BoxSlip(BOX, ante=200, pattern="exchange:1", decision=Decided.BET),), bet)
    with pytest.raises(ValueError, match="SIXTH_FEE is not sold"):
        settle((BoxSlip(BOX, ante=200, pattern="sixth", decision=Decided.FOLD),), folded)


@pytest.mark.parametrize(
    ("name", "request_", "slip", "refused"),
    [
        ("caribbean_poker", (Stage.OPTIONS, Action.EXCHANGE), {}, Refusal.NOT_OFFERED),
        ("oasis_poker", (Stage.OPTIONS, Action.SIXTH_CARD), {}, Refusal.NOT_OFFERED),
        ("royal_poker", (Stage.OPTIONS, Action.SIXTH_CARD), {}, None),
        ("royal_poker", (Stage.OPTIONS, Action.INSURANCE), {}, Refusal.NOT_OFFERED),
        ("oasis_poker", (Stage.BUY_TIME, Action.BUY), {}, Refusal.NOT_OFFERED),
        ("oasis_poker", (Stage.FINAL_OPTIONS, Action.BET), {}, Refusal.ALREADY_CHOSEN),
        ("oasis_poker", (Stage.FINAL_OPTIONS, Action.BET), {"pattern": "exchange:1"}, None),
        ("oasis_poker", (Stage.FINAL_OPTIONS, Action.FOLD), {"pattern": "exchange:1,2,3,4,5"}, None),
        ("oasis_poker", (Stage.OPTIONS, Action.FOLD), {"pattern": "exchange:1"}, Refusal.ALREADY_CHOSEN),
        ("oasis_poker", (Stage.OPTIONS, Action.BET), {"ante": 0}, Refusal.NO_ANTE),
    ],
)
def test_requests(name: str, request_: Any, slip: dict[str, Any], refused: Refusal | None) -> None:
    stage, action = request_
    positions = (1,) if action is Action.EXCHANGE else ()
    standing = Standing(stage, BoxSlip(BOX, **({"ante": 200} | slip)), 10_000)
    asked = Request(stage, action, BOX, positions=positions)
    assert refusal(asked, standing, game(name).rules) is refused


def test_five_cards_leave_nothing_to_decide_where_they_force_the_bet() -> None:
    slip = BoxSlip(BOX, ante=200, pattern="exchange:1,2,3,4,5")
    rules = game("oasis_poker", force_bet_after_five=True).rules
    asked = Request(Stage.FINAL_OPTIONS, Action.FOLD, BOX)
    assert refusal(asked, Standing(Stage.FINAL_OPTIONS, slip, 1_000), rules) is Refusal.ALREADY_CHOSEN


def test_a_dark_box_takes_its_bet_along_and_decides_nothing() -> None:
    rules = game("golden_oasis").rules
    request = Request(Stage.BETTING, Action.ANTE, BOX, 200)
    for balance, refused in ((600, None), (599, Refusal.BALANCE)):
        standing = Standing(Stage.BETTING, BoxSlip(BOX), balance, dark=True)
        assert refusal(request, standing, rules) is refused  # GOA-12
    decide = Request(Stage.OPTIONS, Action.FOLD, BOX)
    standing = Standing(Stage.OPTIONS, BoxSlip(BOX, ante=200), 1_000, dark=True)
    assert refusal(decide, standing, rules) is Refusal.BLIND_BOX
    assert refusal(request, Standing(Stage.BETTING, BoxSlip("box9"), 9_999), rules) is None
    unknown = Request(Stage.BETTING, Action.ANTE, "box4", 200)
    assert refusal(unknown, Standing(Stage.BETTING, BoxSlip("box4"), 9_999), rules) is Refusal.NO_SUCH_BOX


def test_the_purchase_needs_money_and_an_offer() -> None:
    hand = parse_cards("9s 9h 9d 4c 2s")
    dealt = [card for pair in zip(hand, DEALER_WITHOUT_GAME, strict=True) for card in pair]
    decisions = {("options", BOX): Decision("BET")}
    played = play(
        game("royal_poker"), states={BOX: BoxState.OPEN}, decisions=decisions, cards=(*dealt, *FREE)
    )
    offer = played.of(Decide)[0].hands[0]
    slip = BoxSlip(BOX, ante=200, decision=Decided.BET)
    asked, rules = Request(Stage.BUY_TIME, Action.BUY, BOX), game("royal_poker").rules
    for balance, refused in ((200, None), (199, Refusal.BALANCE)):
        assert refusal(asked, Standing(Stage.BUY_TIME, slip, balance, offer), rules) is refused
    assert refusal(asked, Standing(Stage.BUY_TIME, slip, 999), rules) is Refusal.NO_COMBINATION
    rows = played.result.box(BOX).hands[0].rows
    assert set(rows) == {RowName.PLAIN, RowName.BOUGHT}


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("caribbean_poker", {"exchange_prices": [1, 1, 1, 1, 1]}, "unknown field `exchange_prices`"),
        ("oasis_poker", {"exchange_prices": [1, 2, 3]}, "length 5"),
        ("oasis_poker", {"exchange_prices": [1, 2, 0, 2, 1]}, "a price is above 0"),
        ("oasis_poker", {"bonus": {}}, "unknown field `bonus`"),
        ("royal_poker", {"boxes": 1}, "unknown field `boxes`"),
        ("royal_poker", {"limits": {"stakes_max": 99}}, "below ante_min"),
        ("oasis_poker", {"limits": {"ante_min": 0}}, "is no range"),
        ("oasis_poker", {"limits": {"table_max": 0}}, "a maximum is above 0"),
        ("oasis_poker", {"up_card": 6}, "up_card"),
        ("oasis_poker", {"odds": {"AK": 0}}, "odds are above 0"),
        ("oasis_with_bonus", {"bonus": {"stakes": []}}, "at least one"),
        ("oasis_with_bonus", {"bonus": {"ante_share_max": 0}}, "a share is above 0"),
        ("oasis_with_bonus", {"bonus": {"odds": {"ROYAL": 1}}}, "no odds for"),
    ],
)
def test_settings_that_cannot_be(name: str, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=message):
        game(name, **changes)
