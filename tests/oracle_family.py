"""The poker family for the oracle: what each game allows, its settings, what was asked and what it costs.

Written from parts 1 and 2 of the rules document alone. A game's settings are the keys it knows, their values
the defaults decided (D); another key is an error. A setting that the document does not name has a name here:
`insurance_returned_on_tie` (D-14), `insurance_halved_first` (D-16), `redraw_same_rank` (D-17; once),
`ante_odds` (RPL-41), `fold_loses_bonus` (D-23), `bonus_stakes` (OAB-19, minor units, before half the Ante).
Prices are in Antes: whole numbers, fractions or texts such as "3/2".
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil, floor
from typing import Any, NamedTuple

Data = Mapping[str, Any]
LIVE, MAIN_BOX = "russian_poker_live", "box2"
FEES = {"sixth": "SIXTH_FEE", "exchange": "EXCHANGE_FEE"}
LIVE_BONUS = {"ROYAL": 1000, "STRAIGHT_FLUSH": 500, "QUADS": 100, "FULL_HOUSE": 75, "FLUSH": 50,
              "STRAIGHT": 40, "SEVENS_777": 20, "SEVENS_77_PAIR": 5, "AK": 1}  # RPL-51
OASIS_BONUS = {"ROYAL": 1000, "STRAIGHT_FLUSH": 500, "QUADS": 300, "FULL_HOUSE": 100, "FLUSH": 50,
               "STRAIGHT": 40, "SEVENS_777": 20, "SEVENS_77_PAIR": 5}  # OAB-20
VALUES = {"paired_straight": ("straight", "pair"), "rounding": ("down", "up")}

COMMON = {"max_payout_includes_stake": False, "rounding": "down", "ante_odds": 1}  # D-21, D-54, RPL-41
RUSSIAN = COMMON | {"paired_straight": "straight", "exchange_prices": (1, 1, 1, 1, 1),  # D-08; RPL-13, GRP-10
                    "purchase_needs_combination": False, "redraw_same_rank": False}  # D-35, D-17
INSURED = {"purchase_needs_combination": True, "ante_paid_when_insured": False,  # RPL-33, D-12
           "insurance_returned_on_tie": False, "insurance_halved_first": False, "insurance_in_options": False}
OASIS = COMMON | {"exchange_prices": (1, 2, 3, 2, 1), "force_bet_after_five": False}  # D-22, OAS-04, OAS-05
WITH_BONUS = {"exchange_prices": (1, "3/2", 2, 2, 1), "fold_loses_bonus": False,  # OAB-06, D-23
              "bonus_stakes": ("1/2", 1, 5, 10, 15, 20, 25)}  # OAB-19


class Game(NamedTuple):
    """One game; in `dark` ones a box may bet unseen, in those with `doubles` a second combination is paid."""

    boxes: int  # RPL-02, D-28, ROY-02, D-51
    options: tuple[str, ...]
    settings: Data
    ante_beaten: str = "WIN"  # outcome of the Ante if a qualified dealer is beaten (D-03)
    bet: str = "BET"
    doubles: bool = False
    purchase: bool = False
    dark: bool = False
    bonus: Mapping[str, int] = {}


SIMPLE, CHANGE, BUY = ("bet", "fold"), ("bet", "fold", "exchange"), ("bet", "fold", "exchange", "sixth")
GAMES = {
    LIVE: Game(3, BUY, RUSSIAN | INSURED, "PUSH", doubles=True, purchase=True, bonus=LIVE_BONUS),
    "grandmaster_russian_poker": Game(3, BUY, RUSSIAN, "PUSH", doubles=True, purchase=True),
    "royal_poker": Game(1, BUY, RUSSIAN, "PUSH", "RAISE", doubles=True, purchase=True),
    "golden_oasis": Game(4, CHANGE, OASIS, dark=True),  # GOA-12
    "oasis_with_bonus": Game(4, CHANGE, OASIS | WITH_BONUS, dark=True, bonus=OASIS_BONUS),  # OAB-27
    "oasis_poker": Game(4, CHANGE, OASIS),
    "caribbean_poker": Game(4, SIMPLE, COMMON),
}


class Line(NamedTuple):
    """One wager: what was staked and what came back, stake included."""

    box: str
    wager: str
    stake: int
    outcome: str
    returned: int


class Terms(NamedTuple):
    """A game as one table plays it: its settings, and the table maximum if there is one."""

    game: Game
    settings: Data
    maximum: int | None = None

    @property
    def live(self) -> bool:
        return self.game is GAMES[LIVE]

    @property
    def boxes(self) -> list[str]:
        return [f"box{number}" for number in range(1, self.game.boxes + 1)]

    def whole(self, amount: Fraction) -> int:
        """The one place where an amount is rounded (D-54)."""
        return ceil(amount) if self.settings["rounding"] == "up" else floor(amount)

    def most_won(self, stake: int) -> int | None:
        """Most that this Bet may win, its stake not counted (RPL-61, D-21)."""
        if self.maximum is None or not self.settings["max_payout_includes_stake"]:
            return self.maximum
        return max(0, self.maximum - stake)

    def most_insured(self, win: int, stake: int) -> int:
        """Most insurance for a possible win of the Bet: half of it, the table maximum first (D-16)."""
        limit, halved = self.most_won(stake), self.settings["insurance_halved_first"]
        wins = [Fraction(win, 2 if halved else 1), *([] if limit is None else [Fraction(limit)])]
        return self.whole(min(wins) / (1 if halved else 2))


def terms_of(bets: Data) -> Terms:
    """The game, settings and limits of a player's bets; live Russian Poker as decided if they name none."""
    name, changes = bets.get("game") or LIVE, bets.get("settings") or {}
    if name not in GAMES:
        raise ValueError(f"no such game: {name}")
    known = GAMES[name].settings
    settings = {**known, **changes}
    wrong = sorted(set(changes) - set(known)) or [
        key for key, values in VALUES.items() if settings.get(key, values[0]) not in values]
    if wrong or len(settings.get("exchange_prices", range(5))) != 5:
        raise ValueError(f"no such settings of {name}: {wrong or 'exchange_prices'}")
    return Terms(GAMES[name], settings, bets.get("limits", {}).get("max_payout"))


def staked_boxes(bets: Data, terms: Terms) -> list[str]:
    """Boxes whose Ante stands; one that makes a price no whole minor unit is refused (D-54)."""
    asked = [name for name, box in bets.items() if name.startswith("box") and (box or {}).get("ante")]
    if not set(asked) <= set(terms.boxes):
        raise ValueError(f"no such box: {asked}")
    parts = [Fraction(price).denominator for price in terms.settings.get("exchange_prices", ())]
    return [name for name in sorted(asked) if all(bets[name]["ante"] % part == 0 for part in parts)]


def choice(name: str, box: Data, terms: Terms) -> str:
    """The option that stands: a dark box bets, a refused wish is silence (RPL-05, RPL-14, OAB-27, D-52)."""
    if name != MAIN_BOX if terms.live else terms.game.dark and box.get("dark"):
        return "bet"
    early = ("insurance",) if terms.settings.get("insurance_in_options") else ()
    option = str(box.get("option") or "")
    return option if option in (*terms.game.options, *early) else ""


def exchanged(box: Data, option: str) -> list[int]:
    """Chosen positions, lowest first (RPL-18, GRP-19)."""
    if option != "exchange":
        return []
    positions = sorted(box.get("positions") or [0])
    if not set(positions) <= {1, 2, 3, 4, 5} or len(set(positions)) < len(positions):
        raise ValueError(f"no such exchange: {positions}")
    return positions


def fee(box: Data, option: str, terms: Terms) -> int:
    """Price of the draw (RPL-13, GRP-09, GRP-10, D-22, OAB-06)."""
    places = exchanged(box, option)
    price = terms.settings["exchange_prices"][len(places) - 1] if places else int(option == "sixth")
    return int(Fraction(price) * box["ante"])


def insurance_asked(box: Data, option: str, terms: Terms) -> int:
    """Insurance asked for where it is offered: after a draw, by setting with a pat hand (RPL-16, D-24)."""
    offered = option == "insurance" or (option in FEES and box.get("final") == "insurance")
    return (box.get("insurance") or 0) if terms.live and offered else 0


def bonus_asked(box: Data, terms: Terms) -> tuple[int, int]:
    """Bonus stakes on the box's hand and on the dealer's (RPL-06, OAB-19); a refused one is none."""
    if terms.live:
        return box.get("bonus_b") or 0, box.get("bonus_d") or 0
    stake = box.get("bonus") or 0
    return (stake if stake in bonus_stakes(box["ante"], terms.settings) else 0), 0


def bonus_stakes(ante: int, settings: Data) -> list[Fraction]:
    """Accepted stakes of the Oasis bonus beside this Ante (OAB-19); none where there is no such bonus."""
    return [stake for stake in map(Fraction, settings.get("bonus_stakes", ())) if 2 * stake <= ante]


def stays(box: Data, option: str, terms: Terms, *, combination: bool) -> bool:
    """Whether an uninsured box has a Bet in the end (RPL-13, RPL-14, RPL-22, D-52, OAS-05)."""
    if option in SIMPLE:
        return option == "bet"
    forced = terms.settings.get("force_bet_after_five") and len(exchanged(box, option)) == 5
    return bool(forced) or box.get("final") == "bet" or (box.get("final") != "fold" and combination)


def bonus_forfeited(option: str, terms: Terms, *, in_play: bool) -> bool:
    """Whether an Oasis bonus is lost whatever was dealt (OAB-21, D-23); the live one is not (RPL-53)."""
    folded = not in_play and terms.settings.get("fold_loses_bonus")
    return not terms.live and (option == "exchange" or bool(folded))


def credit(stake: int, outcome: str, odds: str | int, most: int | None, terms: Terms) -> int:
    """What comes back for one wager (COM-12, D-54)."""
    gain = {"WIN": Fraction(odds) * stake, "WIN_CAPPED": most or 0, "LOSE": -stake, "FEE": -stake}
    return stake + terms.whole(Fraction(gain.get(outcome, 0)))


def void_lines(name: str, box: Data, terms: Terms) -> list[Line]:
    """A void bet or round (RPL-04, RPL-73, RPL-74, ROY-13): whatever was asked for comes back."""
    option, final, bonuses = choice(name, box, terms), box.get("final"), bonus_asked(box, terms)
    in_play = option in ("bet", "insurance") or (option != "fold" and final in ("bet", "insurance"))
    in_play = in_play or box.get("bet_in_silence", False)  # RPL-22: of a void round the cards do not tell
    stakes = {"ANTE": box["ante"], FEES.get(option, ""): fee(box, option, terms)}
    stakes |= {terms.game.bet: 2 * box["ante"] * in_play, "INSURANCE": insurance_asked(box, option, terms)}
    stakes["BUY_FEE"] = box["ante"] if box.get("bought") and terms.game.purchase else 0
    stakes |= {"BONUS_B": bonuses[0], "BONUS_D": bonuses[1]}
    return [Line(name, wager, stake, "REFUND", stake) for wager, stake in stakes.items() if stake]
